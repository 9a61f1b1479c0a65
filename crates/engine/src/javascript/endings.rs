//! Whether the end of a block can be reached. V8 gives the closing brace of a function a place only then.

use oxc_ast::ast::{
    BreakStatement, Class, Expression, Function, IfStatement, Statement, SwitchStatement, TryStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_syntax::scope::ScopeFlags;

/// Whether the program can come to the end of these statements. When in doubt, it cannot.
pub(crate) fn can_reach_end(statements: &[Statement<'_>]) -> bool {
    statements.iter().all(can_complete)
}

/// Whether this is true whatever happens; V8 does not look at such a condition.
pub(crate) fn is_always_true(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::BooleanLiteral(it) => it.value,
        Expression::NumericLiteral(it) => it.value != 0.0,
        Expression::ParenthesizedExpression(it) => is_always_true(&it.expression),
        _ => false,
    }
}

fn can_complete(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::ReturnStatement(_)
        | Statement::ThrowStatement(_)
        | Statement::BreakStatement(_)
        | Statement::ContinueStatement(_) => false,
        Statement::BlockStatement(it) => can_reach_end(&it.body),
        Statement::IfStatement(it) => can_if_complete(it),
        Statement::LabeledStatement(it) => can_complete(&it.body) || has_break(&it.body),
        Statement::WhileStatement(it) => !is_always_true(&it.test) || has_break(&it.body),
        Statement::DoWhileStatement(it) => !is_always_true(&it.test) || has_break(&it.body),
        Statement::ForStatement(it) => {
            it.test.as_ref().is_some_and(|test| !is_always_true(test)) || has_break(&it.body)
        }
        Statement::SwitchStatement(it) => can_switch_complete(it),
        Statement::TryStatement(it) => can_try_complete(it),
        _ => true,
    }
}

fn can_if_complete(it: &IfStatement<'_>) -> bool {
    can_complete(&it.consequent) || it.alternate.as_ref().is_none_or(can_complete)
}

fn can_switch_complete(it: &SwitchStatement<'_>) -> bool {
    let has_default = it.cases.iter().any(|case| case.test.is_none());
    let falls_out = it.cases.last().is_none_or(|last| can_reach_end(&last.consequent));
    !has_default || falls_out || it.cases.iter().flat_map(|case| &case.consequent).any(has_break)
}

fn can_try_complete(it: &TryStatement<'_>) -> bool {
    let block = can_reach_end(&it.block.body);
    let handler = it.handler.as_ref().is_some_and(|handler| can_reach_end(&handler.body.body));
    let finalizer = it.finalizer.as_ref().is_none_or(|block| can_reach_end(&block.body));
    finalizer && (block || handler)
}

/// Whether a `break` without a label leaves this statement: a loop or a switch.
pub(crate) fn takes_breaks(statement: &Statement<'_>) -> bool {
    matches!(
        statement,
        Statement::WhileStatement(_)
            | Statement::DoWhileStatement(_)
            | Statement::ForStatement(_)
            | Statement::ForInStatement(_)
            | Statement::ForOfStatement(_)
            | Statement::SwitchStatement(_)
    )
}

/// Whether there is a `break` that leaves the statement. One that leaves an inner loop does not count.
fn has_break(statement: &Statement<'_>) -> bool {
    let mut seen = BreakFinder { inside: 0, found: false };
    seen.visit_statement(statement);
    seen.found
}

struct BreakFinder {
    /// Loops and switches inside the current statement.
    inside: usize,
    found: bool,
}

impl<'a> VisitJs<'a> for BreakFinder {
    fn visit_break_statement(&mut self, it: &BreakStatement<'a>) {
        self.found |= it.label.is_some() || self.inside == 0;
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        let inside = usize::from(takes_breaks(it));
        self.inside += inside;
        walk_js::walk_statement(self, it);
        self.inside -= inside;
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_class(&mut self, _: &Class<'a>) {}

    fn visit_expression(&mut self, _: &Expression<'a>) {}
}
