//! A loop's condition.

use oxc_ast::ast::{
    BinaryExpression, BinaryOperator, ChainElement, Expression, LogicalOperator, MemberExpression,
    UnaryOperator,
};
use oxc_span::GetSpan;

use crate::javascript::endings;
use crate::javascript::positions::{self, bare};
use crate::model::source::Comparison;

/// Whether this is true whatever happens.
pub(super) fn is_always_true(test: &Expression<'_>) -> bool {
    match bare(test) {
        Expression::StringLiteral(it) => !it.value.is_empty(),
        Expression::UnaryExpression(it) if it.operator == UnaryOperator::LogicalNot => {
            is_never_true(&it.argument)
        }
        other => endings::is_always_true(other),
    }
}

fn is_never_true(test: &Expression<'_>) -> bool {
    match bare(test) {
        Expression::BooleanLiteral(it) => !it.value,
        Expression::NumericLiteral(it) => it.value == 0.0,
        Expression::StringLiteral(it) => it.value.is_empty(),
        Expression::NullLiteral(_) => true,
        Expression::UnaryExpression(it) if it.operator == UnaryOperator::LogicalNot => {
            is_always_true(&it.argument)
        }
        _ => false,
    }
}

/// The comparisons that all have to hold for the loop to go on, of those that can be evaluated by reading alone.
/// Others may decide with them.
pub(super) fn comparisons(test: &Expression<'_>, text: &str) -> Vec<Comparison> {
    match bare(test) {
        Expression::LogicalExpression(it) if it.operator == LogicalOperator::And => {
            [comparisons(&it.left, text), comparisons(&it.right, text)].concat()
        }
        test if bare(test).is_literal() => Vec::new(),
        Expression::BinaryExpression(it) if is_comparison(it.operator) => {
            compared(it, text).into_iter().collect()
        }
        test if is_read(test) => {
            let comparison = |left| Comparison { left, operator: "!=".to_owned(), right: "0".to_owned() };
            written(test, text).map(comparison).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn compared(it: &BinaryExpression<'_>, text: &str) -> Option<Comparison> {
    if !is_read(&it.left) || !is_read(&it.right) {
        return None;
    }
    let (left, right) = (written(&it.left, text)?, written(&it.right, text)?);
    Some(Comparison { left, operator: it.operator.as_str().to_owned(), right })
}

fn is_comparison(operator: BinaryOperator) -> bool {
    operator.is_equality() || operator.is_compare()
}

/// Whether the expression reads variables and properties, and does nothing else. It may throw, and a property may
/// be one that is computed. Types inside do not belong to the language that evaluates it.
pub(super) fn is_read(expression: &Expression<'_>) -> bool {
    match bare(expression) {
        Expression::Identifier(_) | Expression::ThisExpression(_) => true,
        Expression::UnaryExpression(it) if it.operator != UnaryOperator::Delete => is_plain(&it.argument),
        Expression::BinaryExpression(it) if it.operator.is_arithmetic() || it.operator.is_bitwise() => {
            is_plain(&it.left) && is_plain(&it.right)
        }
        Expression::ChainExpression(it) => match &it.expression {
            ChainElement::CallExpression(_) | ChainElement::TSNonNullExpression(_) => false,
            other => other.as_member_expression().is_some_and(is_member_read),
        },
        other if other.is_literal() => true,
        other => other.as_member_expression().is_some_and(is_member_read),
    }
}

fn is_member_read(member: &MemberExpression<'_>) -> bool {
    let index = match member {
        MemberExpression::ComputedMemberExpression(it) => is_plain(&it.expression),
        MemberExpression::StaticMemberExpression(_) | MemberExpression::PrivateFieldExpression(_) => true,
    };
    index && is_plain(member.object())
}

/// Read, and written without types.
fn is_plain(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::ParenthesizedExpression(it) => is_plain(&it.expression),
        other => positions::inner(other).is_none() && is_read(other),
    }
}

pub(super) fn written(expression: &Expression<'_>, text: &str) -> Option<String> {
    let span = bare(expression).span();
    let place = |offset: u32| usize::try_from(offset).ok();
    text.get(place(span.start)?..place(span.end)?).map(str::to_owned)
}
