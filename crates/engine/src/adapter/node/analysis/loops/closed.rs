//! Whether what a loop does next depends on variables alone.

use oxc_ast::ast::{
    AwaitExpression, CallExpression, ForInStatement, ForOfStatement, ImportExpression, MemberExpression,
    NewExpression, TaggedTemplateExpression, YieldExpression,
};
use oxc_ast_visit::VisitJs;

use super::ConditionalLoop;

/// Whether a loop calls nothing, never yields its thread and reads nothing from objects.
pub(super) fn is_closed(it: &ConditionalLoop<'_, '_>) -> bool {
    let mut seen = Opening(false);
    it.test.into_iter().chain(it.update).for_each(|part| seen.visit_expression(part));
    seen.visit_statement(it.body);
    !seen.0
}

/// Something in it is not closed.
struct Opening(bool);

impl<'a> VisitJs<'a> for Opening {
    fn visit_call_expression(&mut self, _: &CallExpression<'a>) {
        self.0 = true;
    }

    fn visit_new_expression(&mut self, _: &NewExpression<'a>) {
        self.0 = true;
    }

    fn visit_tagged_template_expression(&mut self, _: &TaggedTemplateExpression<'a>) {
        self.0 = true;
    }

    fn visit_import_expression(&mut self, _: &ImportExpression<'a>) {
        self.0 = true;
    }

    fn visit_member_expression(&mut self, _: &MemberExpression<'a>) {
        self.0 = true;
    }

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.0 = true;
    }

    fn visit_yield_expression(&mut self, _: &YieldExpression<'a>) {
        self.0 = true;
    }

    fn visit_for_of_statement(&mut self, _: &ForOfStatement<'a>) {
        self.0 = true;
    }

    fn visit_for_in_statement(&mut self, _: &ForInStatement<'a>) {
        self.0 = true;
    }
}
