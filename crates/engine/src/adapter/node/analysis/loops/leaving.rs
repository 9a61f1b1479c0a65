//! The statements that leave a loop.

use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, BreakStatement, ContinueStatement, ForOfStatement, Function,
    LabeledStatement, ReturnStatement, Statement, ThrowStatement, VariableDeclaration,
    VariableDeclarationKind, YieldExpression,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_syntax::scope::ScopeFlags;

use super::ConditionalLoop;
use crate::javascript::endings::takes_breaks;

/// Whether a loop with these labels contains a statement that exits it, or that yields its thread to others. An error
/// that is thrown and caught in the loop counts as well: the analysis does not follow it.
pub(super) fn has_exit(it: &ConditionalLoop<'_, '_>, labels: &[String]) -> bool {
    let mut seen = ExitFinder { own: labels, inner: Vec::new(), inside: 0, found: false };
    it.test.into_iter().chain(it.update).for_each(|part| seen.visit_expression(part));
    seen.visit_statement(it.body);
    seen.found
}

struct ExitFinder<'l> {
    /// The labels of the loop itself.
    own: &'l [String],
    /// The labels of the statements around, in the loop.
    inner: Vec<String>,
    /// How many loops and switches are around, in the loop.
    inside: usize,
    found: bool,
}

impl ExitFinder<'_> {
    fn is_inner(&self, label: &str) -> bool {
        self.inner.iter().any(|inner| inner == label)
    }
}

impl<'a> VisitJs<'a> for ExitFinder<'_> {
    fn visit_break_statement(&mut self, it: &BreakStatement<'a>) {
        self.found |= match &it.label {
            Some(label) => !self.is_inner(&label.name),
            None => self.inside == 0,
        };
    }

    fn visit_continue_statement(&mut self, it: &ContinueStatement<'a>) {
        let is_own = |label: &str| self.own.iter().any(|own| own == label);
        self.found |=
            it.label.as_ref().is_some_and(|label| !self.is_inner(&label.name) && !is_own(&label.name));
    }

    fn visit_return_statement(&mut self, _: &ReturnStatement<'a>) {
        self.found = true;
    }

    fn visit_throw_statement(&mut self, _: &ThrowStatement<'a>) {
        self.found = true;
    }

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.found = true;
    }

    fn visit_yield_expression(&mut self, _: &YieldExpression<'a>) {
        self.found = true;
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.found |= it.r#await;
        walk_js::walk_for_of_statement(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        self.found |= it.kind == VariableDeclarationKind::AwaitUsing;
        walk_js::walk_variable_declaration(self, it);
    }

    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        self.inner.push(it.label.name.to_string());
        self.visit_statement(&it.body);
        self.inner.pop();
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        let inside = usize::from(takes_breaks(it));
        self.inside += inside;
        walk_js::walk_statement(self, it);
        self.inside -= inside;
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
}
