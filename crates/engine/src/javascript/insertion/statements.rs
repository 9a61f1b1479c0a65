//! At which statements V8 stops before anything of them has run, on the line where they begin.

use oxc_ast::ast::{
    AssignmentExpression, AssignmentOperator, AssignmentTarget, BindingPattern, Declaration, Expression,
    Statement, SwitchStatement, UnaryOperator, VariableDeclaration, VariableDeclarationKind,
    VariableDeclarator,
};
use oxc_span::{GetSpan, Span};

use super::liveness::is_certain;
use crate::javascript::effects::{self, Effect};
use crate::javascript::{LineStarts, positions};

/// Whether V8 has a place for the statement on the line where it begins, before anything of it that can be
/// noticed, and passes there once each time that the statement is executed.
pub(super) fn is_passed_before(statement: &Statement<'_>, source: &str, starts: &LineStarts) -> bool {
    let head = StatementHead { source, starts, line: starts.line(statement.span().start) };
    match statement {
        Statement::ExpressionStatement(it) => does_something(&it.expression) && head.is_at(&it.expression),
        Statement::VariableDeclaration(it) => head.declares(it),
        Statement::ExportDeclaration(it) => match &it.declaration {
            Declaration::VariableDeclaration(it) => head.declares(it),
            _ => false,
        },
        Statement::ReturnStatement(it) => it.argument.as_ref().is_none_or(|value| head.is_at(value)),
        Statement::ThrowStatement(it) => head.is_at(&it.argument),
        Statement::IfStatement(it) => !is_certain(&it.test) && head.is_at(&it.test),
        Statement::SwitchStatement(it) => head.switches(it),
        Statement::BreakStatement(_) | Statement::ContinueStatement(_) | Statement::DebuggerStatement(_) => {
            true
        }
        _ => false,
    }
}

/// The line where a statement begins.
struct StatementHead<'t> {
    source: &'t str,
    starts: &'t LineStarts,
    line: u32,
}

impl StatementHead<'_> {
    /// Whether the first instruction of an expression has a place on the line. One that may have none of its
    /// own leaves the place to the next, which is that of the whole.
    fn is_at(&self, expression: &Expression<'_>) -> bool {
        match effects::first(expression, self.source) {
            Effect::At(place) => self.starts.line(place) == self.line,
            Effect::Plain => self.starts.line(expression.span().start) == self.line,
            Effect::Nothing => self.holds(expression.span()),
        }
    }

    fn holds(&self, span: Span) -> bool {
        self.starts.line(span.start) == self.line && self.starts.last_line(span) == self.line
    }

    /// A declaration has the place of the first name that gets a value.
    fn declares(&self, declaration: &VariableDeclaration<'_>) -> bool {
        let gets_value = |declarator: &&VariableDeclarator<'_>| {
            declarator.init.is_some() || declaration.kind == VariableDeclarationKind::Let
        };
        let disposes =
            matches!(declaration.kind, VariableDeclarationKind::Using | VariableDeclarationKind::AwaitUsing);
        if disposes || declaration.declare {
            return false;
        }
        let Some(first) = declaration.declarations.iter().find(gets_value) else { return false };
        match &first.init {
            None => self.holds(first.span),
            Some(init) => self.holds(first.id.span()) && has_no_code(&first.id) && self.is_at(init),
        }
    }

    /// The discriminant may be a local, and then the first instruction belongs to the first case.
    fn switches(&self, it: &SwitchStatement<'_>) -> bool {
        let first = it.cases.first().and_then(|case| case.test.as_ref());
        match effects::first(&it.discriminant, self.source) {
            Effect::Nothing => first.is_some_and(|test| positions::bare(test).is_literal()),
            _ => self.is_at(&it.discriminant),
        }
    }
}

/// Whether what is in a pattern runs nothing of its own. It is written before the value, and runs after it.
fn has_no_code(pattern: &BindingPattern<'_>) -> bool {
    match pattern {
        BindingPattern::BindingIdentifier(_) => true,
        BindingPattern::ObjectPattern(it) => {
            it.properties.iter().all(|property| !property.computed && has_no_code(&property.value))
                && it.rest.as_ref().is_none_or(|rest| has_no_code(&rest.argument))
        }
        BindingPattern::ArrayPattern(it) => {
            it.elements.iter().flatten().all(has_no_code)
                && it.rest.as_ref().is_none_or(|rest| has_no_code(&rest.argument))
        }
        BindingPattern::AssignmentPattern(it) => it.right.is_literal() && has_no_code(&it.left),
    }
}

/// Whether V8 generates code for an expression whose value is unused.
fn does_something(expression: &Expression<'_>) -> bool {
    match positions::bare(expression) {
        Expression::AssignmentExpression(it) => !is_copy(it),
        Expression::UnaryExpression(it) => match it.operator {
            UnaryOperator::Delete => true,
            UnaryOperator::Void | UnaryOperator::LogicalNot => does_something(&it.argument),
            _ => false,
        },
        Expression::LogicalExpression(it) => !is_certain(&it.left) && does_something(&it.right),
        Expression::ConditionalExpression(it) => {
            !is_certain(&it.test) && does_something(&it.consequent) && does_something(&it.alternate)
        }
        Expression::SequenceExpression(it) => it.expressions.first().is_some_and(does_something),
        Expression::UpdateExpression(_)
        | Expression::CallExpression(_)
        | Expression::NewExpression(_)
        | Expression::ChainExpression(_)
        | Expression::AwaitExpression(_)
        | Expression::YieldExpression(_)
        | Expression::TaggedTemplateExpression(_)
        | Expression::ImportExpression(_) => true,
        _ => false,
    }
}

/// Whether it assigns one variable to another. V8 knows when they are already equal, and then does nothing.
fn is_copy(it: &AssignmentExpression<'_>) -> bool {
    it.operator == AssignmentOperator::Assign
        && matches!(it.left, AssignmentTarget::AssignmentTargetIdentifier(_))
        && is_variable(&it.right)
}

fn is_variable(value: &Expression<'_>) -> bool {
    match positions::bare(value) {
        Expression::Identifier(_) | Expression::ThisExpression(_) => true,
        Expression::AssignmentExpression(it) => is_copy(it),
        Expression::SequenceExpression(it) => it.expressions.last().is_some_and(is_variable),
        _ => false,
    }
}
