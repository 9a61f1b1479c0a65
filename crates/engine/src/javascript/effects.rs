//! What an expression does first.
//!
//! The position of a statement is that of its first instruction, and an instruction that can throw has its own
//! position. So a statement that begins with `list` on one line and continues with `.map()` on the next has no
//! position on its first line if `list` is a local: reading a local needs no instruction.

use oxc_ast::ast::{
    ArrayExpressionElement, AssignmentTarget, CallExpression, ChainElement, Expression, MemberExpression,
    ObjectPropertyKind, SequenceExpression, SpreadElement, TemplateLiteral,
};
use oxc_span::GetSpan;

use super::positions;

/// The first instruction of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// There may be none.
    Nothing,
    /// One that has the place of the statement.
    Plain,
    /// One that has this place.
    At(u32),
}

impl Effect {
    fn or(self, next: impl FnOnce() -> Self) -> Self {
        if self == Self::Nothing { next() } else { self }
    }
}

/// What an expression does first.
pub(crate) fn first(expression: &Expression<'_>, text: &str) -> Effect {
    let own = || Effect::At(positions::of(expression, text));
    match expression {
        Expression::Identifier(_) | Expression::ThisExpression(_) | Expression::Super(_) => Effect::Nothing,
        Expression::BinaryExpression(it) => first(&it.left, text).or(|| first(&it.right, text)).or(own),
        Expression::LogicalExpression(it) => first(&it.left, text).or(own),
        Expression::ConditionalExpression(it) => first(&it.test, text).or(own),
        Expression::SequenceExpression(it) => of_sequence(it, text),
        Expression::AssignmentExpression(it) => {
            of_target(&it.left, text).or(|| first(&it.right, text)).or(own)
        }
        Expression::CallExpression(it) => of_call(it, text),
        Expression::NewExpression(it) => first(&it.callee, text).or(own),
        Expression::ChainExpression(it) => of_chain(&it.expression, text),
        Expression::TaggedTemplateExpression(it) => first(&it.tag, text).or(|| Effect::Plain),
        Expression::TemplateLiteral(it) => of_template(it, text),
        Expression::AwaitExpression(it) => first(&it.argument, text).or(own),
        Expression::UnaryExpression(it) => first(&it.argument, text).or(own),
        Expression::ObjectExpression(it) => match it.properties.first() {
            Some(ObjectPropertyKind::SpreadProperty(spread)) => of_spread(spread, text),
            _ => Effect::Plain,
        },
        Expression::ArrayExpression(it) => match it.elements.first() {
            Some(ArrayExpressionElement::SpreadElement(spread)) => of_spread(spread, text),
            _ => Effect::Plain,
        },
        other => match (positions::inner(other), other.as_member_expression()) {
            (Some(inner), _) => first(inner, text),
            (None, Some(member)) => first(member.object(), text).or(own),
            (None, None) => Effect::Plain,
        },
    }
}

/// An unused value is not even loaded, as in `(0, f.call)()`.
fn of_sequence(sequence: &SequenceExpression<'_>, text: &str) -> Effect {
    let Some((last, before)) = sequence.expressions.split_last() else { return Effect::Nothing };
    let wanted = before.iter().filter(|part| !positions::bare(part).is_literal()).chain([last]);
    let mut effects = wanted.map(|part| first(part, text));
    effects.find(|effect| *effect != Effect::Nothing).unwrap_or(Effect::Nothing)
}

/// What is copied from is read before anything is made.
fn of_spread(spread: &SpreadElement<'_>, text: &str) -> Effect {
    first(&spread.argument, text).or(|| Effect::At(spread.span.start))
}

fn of_call(call: &CallExpression<'_>, text: &str) -> Effect {
    let argument = || {
        let first_argument = call.arguments.first().and_then(|argument| argument.as_expression());
        first_argument.map_or(Effect::Nothing, |argument| first(argument, text))
    };
    first(&call.callee, text).or(argument).or(|| Effect::At(positions::called(call, text)))
}

fn of_chain(element: &ChainElement<'_>, text: &str) -> Effect {
    match element {
        ChainElement::CallExpression(it) => of_call(it, text),
        ChainElement::TSNonNullExpression(it) => first(&it.expression, text),
        other => other.as_member_expression().map_or(Effect::Nothing, |member| of_member(member, text)),
    }
}

fn of_member(member: &MemberExpression<'_>, text: &str) -> Effect {
    let place = match member {
        MemberExpression::StaticMemberExpression(it) => it.property.span.start,
        MemberExpression::PrivateFieldExpression(it) => it.field.span.start,
        MemberExpression::ComputedMemberExpression(it) => it.expression.span().start,
    };
    first(member.object(), text).or(|| Effect::At(place))
}

/// An assignment evaluates its target, then the value.
fn of_target(target: &AssignmentTarget<'_>, text: &str) -> Effect {
    target.as_member_expression().map_or(Effect::Nothing, |member| first(member.object(), text))
}

fn of_template(template: &TemplateLiteral<'_>, text: &str) -> Effect {
    let begins_with_text = template.quasis.first().is_some_and(|quasi| !quasi.value.raw.is_empty());
    match template.expressions.first() {
        Some(expression) if !begins_with_text => first(expression, text).or(|| Effect::Plain),
        _ => Effect::Plain,
    }
}
