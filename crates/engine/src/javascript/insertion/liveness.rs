//! What V8 makes no code of, because it can tell that it is never reached. When in doubt, there is none.

use oxc_ast::ast::{Expression, LabeledStatement, Statement, UnaryOperator};

use crate::javascript::endings::{can_reach_end, is_always_true};
use crate::javascript::positions;

/// Whether the program can come to what follows a statement.
pub(super) fn is_left_for_the_next(statement: &Statement<'_>) -> bool {
    let is_known = match statement {
        Statement::IfStatement(it) => is_certain(&it.test),
        Statement::WhileStatement(it) => is_certain(&it.test) && !is_always_true(&it.test),
        Statement::DoWhileStatement(it) => {
            is_certain(&it.test) || !can_reach_end(std::slice::from_ref(&it.body))
        }
        Statement::ForStatement(it) => {
            it.test.as_ref().is_some_and(|test| is_certain(test) && !is_always_true(test))
        }
        Statement::BlockStatement(it) => !it.body.iter().all(is_left_for_the_next),
        Statement::LabeledStatement(it) => !is_left_labeled(it),
        Statement::TryStatement(it) => {
            it.finalizer.as_ref().is_some_and(|it| !it.body.iter().all(is_left_for_the_next))
        }
        _ => false,
    };
    !is_known && can_reach_end(std::slice::from_ref(statement))
}

/// A block that has a label may be left from its middle.
fn is_left_labeled(it: &LabeledStatement<'_>) -> bool {
    matches!(it.body, Statement::BlockStatement(_)) || is_left_for_the_next(&it.body)
}

/// Whether the body of a loop with this test is code.
pub(super) fn is_entered(test: &Expression<'_>) -> bool {
    is_always_true(test) || !is_certain(test)
}

/// Whether V8 may know what comes of a test, or of a part of it, when it compiles it.
pub(super) fn is_certain(test: &Expression<'_>) -> bool {
    match positions::bare(test) {
        Expression::UnaryExpression(it) => it.operator == UnaryOperator::Void || is_certain(&it.argument),
        Expression::BinaryExpression(it) => is_certain(&it.left) && is_certain(&it.right),
        Expression::LogicalExpression(it) => is_certain(&it.left) || is_certain(&it.right),
        Expression::ConditionalExpression(it) => {
            is_certain(&it.test) || is_certain(&it.consequent) || is_certain(&it.alternate)
        }
        Expression::SequenceExpression(it) => it.expressions.iter().any(is_certain),
        Expression::AssignmentExpression(it) => is_certain(&it.right),
        Expression::TemplateLiteral(it) => it.expressions.is_empty(),
        Expression::ObjectExpression(_)
        | Expression::ArrayExpression(_)
        | Expression::FunctionExpression(_)
        | Expression::ArrowFunctionExpression(_)
        | Expression::ClassExpression(_) => true,
        other => other.is_literal(),
    }
}
