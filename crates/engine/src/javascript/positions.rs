//! Where V8 says that an expression is. It is not where the expression begins: a sum is at its `+`, a call at
//! the name that is called. It matters where an expression spans several lines.
//!
//! The rules are those of V8's parser, and were checked against what V8 answers to
//! `Debugger.getPossibleBreakpoints`; the test of `adapter/node/analysis.rs` does that again.

use oxc_ast::ast::{CallExpression, ChainElement, Expression, TSNonNullExpression};
use oxc_span::{GetSpan, Span};
use oxc_syntax::keyword::is_reserved_keyword;

use super::CONTEXTUAL;

/// The place of an expression, in bytes from the beginning of `text`.
pub(crate) fn of(expression: &Expression<'_>, text: &str) -> u32 {
    match expression {
        Expression::BinaryExpression(_) | Expression::LogicalExpression(_) => {
            after(first_operand(expression), text)
        }
        Expression::AssignmentExpression(it) => after(it.left.span(), text),
        Expression::SequenceExpression(it) => {
            it.expressions.first().map_or(it.span.start, |first| after(first.span(), text))
        }
        Expression::UpdateExpression(it) if !it.prefix => after(it.argument.span(), text),
        Expression::CallExpression(it) => called(it, text),
        Expression::ChainExpression(it) => of_chain(&it.expression, text),
        Expression::StaticMemberExpression(it) => it.property.span.start,
        Expression::PrivateFieldExpression(it) => it.field.span.start,
        Expression::ComputedMemberExpression(it) => after(it.object.span(), text),
        other => inner(other).map_or(other.span().start, |inner| of(inner, text)),
    }
}

/// The place of a call: the name right before the parenthesis, else the parenthesis.
pub(crate) fn called(call: &CallExpression<'_>, text: &str) -> u32 {
    match bare_of_types(&call.callee) {
        other if call.optional => {
            let chain = after(other.span(), text);
            after(Span::new(chain, chain.saturating_add(2)), text)
        }
        Expression::Identifier(it) => it.span.start,
        Expression::StaticMemberExpression(it) if is_keyword(&it.property.name) => {
            after(it.property.span, text)
        }
        Expression::StaticMemberExpression(it) => it.property.span.start,
        Expression::PrivateFieldExpression(it) => it.field.span.start,
        Expression::Super(it) => it.span.start,
        other => after(other.span(), text),
    }
}

/// V8 takes a name right before a parenthesis for the place of the call only where it can be a variable's, or `super`.
fn is_keyword(name: &str) -> bool {
    is_reserved_keyword(name) && name != "super" && !CONTEXTUAL.contains(&name)
}

fn bare_of_types<'e, 'a>(expression: &'e Expression<'a>) -> &'e Expression<'a> {
    match expression {
        Expression::TSNonNullExpression(it) => bare_of_types(&it.expression),
        other => other,
    }
}

/// The expression behind parentheses and types, which V8 does not see.
pub(crate) fn inner<'e, 'a>(expression: &'e Expression<'a>) -> Option<&'e Expression<'a>> {
    match expression {
        Expression::ParenthesizedExpression(it) => Some(&it.expression),
        Expression::TSAsExpression(it) => Some(&it.expression),
        Expression::TSSatisfiesExpression(it) => Some(&it.expression),
        Expression::TSNonNullExpression(it) => Some(&it.expression),
        Expression::TSTypeAssertion(it) => Some(&it.expression),
        Expression::TSInstantiationExpression(it) => Some(&it.expression),
        _ => None,
    }
}

/// The same, until there is nothing more to take away.
pub(crate) fn bare<'e, 'a>(expression: &'e Expression<'a>) -> &'e Expression<'a> {
    inner(expression).map_or(expression, bare)
}

fn of_chain(element: &ChainElement<'_>, text: &str) -> u32 {
    match element {
        ChainElement::CallExpression(it) => called(it, text),
        ChainElement::TSNonNullExpression(it) => of_non_null(it, text),
        ChainElement::StaticMemberExpression(it) => it.property.span.start,
        ChainElement::PrivateFieldExpression(it) => it.field.span.start,
        ChainElement::ComputedMemberExpression(it) => after(it.object.span(), text),
    }
}

fn of_non_null(expression: &TSNonNullExpression<'_>, text: &str) -> u32 {
    of(&expression.expression, text)
}

/// V8 makes one node of `a + b + c`, and takes the place of the first operator.
fn first_operand(expression: &Expression<'_>) -> Span {
    match expression {
        Expression::BinaryExpression(it) => match &it.left {
            Expression::BinaryExpression(left) if left.operator == it.operator => first_operand(&it.left),
            left => left.span(),
        },
        Expression::LogicalExpression(it) => match &it.left {
            Expression::LogicalExpression(left) if left.operator == it.operator => first_operand(&it.left),
            left => left.span(),
        },
        other => other.span(),
    }
}

/// The first token after a span.
fn after(span: Span, text: &str) -> u32 {
    let from = usize::try_from(span.end).unwrap_or(usize::MAX);
    let rest = text.get(from..).unwrap_or_default();
    let skipped = rest.len() - without_trivia(rest).len();
    span.end.saturating_add(u32::try_from(skipped).unwrap_or(0))
}

/// A text without the blanks and comments in front.
fn without_trivia(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let comment_end = match rest.get(..2) {
            Some("//") => rest.find('\n'),
            Some("/*") => rest.find("*/").map(|end| end + 2),
            _ => return rest,
        };
        rest = comment_end.and_then(|end| rest.get(end..)).unwrap_or_default().trim_start();
    }
}
