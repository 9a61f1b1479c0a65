//! Whether what a loop goes through has a known end.

use oxc_ast::ast::{Expression, MemberExpression};

use super::condition::{is_read, written};
use crate::javascript::positions::bare;
use crate::model::source::Loop;

/// Methods whose results have an end.
const FINITE: [&str; 8] = ["concat", "entries", "keys", "slice", "sort", "split", "toSorted", "values"];

/// [`Loop::end_known`] of a loop over this expression. Arrays, strings, maps and sets have a length or size, and iterators
/// have none.
pub(super) fn end_known(over: &Expression<'_>, text: &str) -> Option<String> {
    let is_known = match bare(over) {
        Expression::ArrayExpression(_) | Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => {
            true
        }
        Expression::CallExpression(call) => {
            let method = call.callee.as_member_expression().and_then(MemberExpression::static_property_name);
            method.is_some_and(|name| FINITE.contains(&name))
        }
        read if is_read(read) => {
            let read = written(read, text)?;
            return Some(format!("(({read}).length ?? ({read}).size) >= 0"));
        }
        _ => false,
    };
    is_known.then(|| Loop::HAS_END.to_owned())
}
