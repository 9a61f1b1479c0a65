//! What an expression stores its value in.

use oxc_allocator::Allocator;
use oxc_ast::ast::Expression;
use oxc_parser::Parser;
use oxc_span::{GetSpan, SourceType};
use serde_json::json;

use super::{AFTER, BEFORE, check_length, deeply, only_statement};

/// What an expression stores its value in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// A variable.
    Variable,
    /// A property: an expression for the object, and one for the key.
    Property {
        /// The object.
        object: String,
        /// The key.
        key: String,
    },
    /// None, or one that the program cannot reach from outside.
    Other,
}

/// What a text stores its value in.
pub(crate) fn storage(text: &str) -> Storage {
    if check_length(text).is_err() {
        return Storage::Other;
    }
    deeply(|| find(text)).unwrap_or(Storage::Other)
}

fn find(text: &str) -> Storage {
    let allocator = Allocator::default();
    let wrapped = format!("{BEFORE}{text}{AFTER}");
    let parsed = Parser::new(&allocator, &wrapped, SourceType::script()).parse();
    let part = |expression: &Expression<'_>| {
        let span = expression.span();
        wrapped.get(span.start as usize..span.end as usize).unwrap_or_default().to_owned()
    };
    match only_statement(&parsed.program).map(Expression::get_inner_expression) {
        Some(Expression::Identifier(_)) => Storage::Variable,
        Some(Expression::StaticMemberExpression(member)) if !member.optional => Storage::Property {
            object: part(&member.object),
            key: json!(member.property.name.as_str()).to_string(),
        },
        Some(Expression::ComputedMemberExpression(member)) if !member.optional => {
            Storage::Property { object: part(&member.object), key: part(&member.expression) }
        }
        _ => Storage::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_taken_apart() {
        let property = |object: &str, key: &str| Storage::Property { object: object.into(), key: key.into() };
        let table = [
            ("cart.total", property("cart", "\"total\"")),
            ("(this.carts[0]).total", property("(this.carts[0])", "\"total\"")),
            ("items[i + 1]", property("items", "i + 1")),
            ("total", Storage::Variable),
            ("a + b", Storage::Other),
            ("cart?.total", Storage::Other),
            ("cart.#total", Storage::Other),
            ("cart.", Storage::Other),
        ];
        for (text, expected) in table {
            assert_eq!(storage(text), expected, "{text}");
        }
    }
}
