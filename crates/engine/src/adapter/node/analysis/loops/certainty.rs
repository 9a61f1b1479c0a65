//! Whether a loop runs forever once it has started.
//!
//! Nothing in it may throw or run user code: no call, no property, no operator on something that may not be a number.
//! What is not known to be harmless counts as harmful.

use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, BinaryExpression, BinaryOperator, Expression, ForStatementInit,
    IdentifierReference, SimpleAssignmentTarget, Statement, UnaryOperator, UpdateExpression,
    VariableDeclaration,
};
use oxc_ast_visit::VisitJs;

use super::names::{self, NameTable};
use super::{ConditionalLoop, ReferencedNames};
use crate::javascript::positions::bare;

/// Whether a loop without an exiting statement runs forever. `is_always` means that its condition is always true;
/// otherwise, nothing that the condition reads may be in `assigned`.
pub(super) fn runs_forever(
    it: &ConditionalLoop<'_, '_>,
    is_always: bool,
    assigned: &[String],
    names: &NameTable,
) -> bool {
    let judge = PurityCheck { names };
    !names.has_dynamic_names()
        && (is_always || (is_constant(it, assigned) && !it.begins_unasked))
        && judge.is_harmless_loop(it)
}

fn is_constant(it: &ConditionalLoop<'_, '_>, assigned: &[String]) -> bool {
    let mut read = ReferencedNames::default();
    it.test.into_iter().for_each(|test| read.visit_expression(test));
    !read.0.is_empty() && !read.0.iter().any(|name| assigned.contains(name))
}

struct PurityCheck<'n> {
    names: &'n NameTable,
}

impl PurityCheck<'_> {
    fn is_harmless_loop(&self, it: &ConditionalLoop<'_, '_>) -> bool {
        let init = match it.init {
            Some(ForStatementInit::VariableDeclaration(init)) => self.is_harmless_declaration(init),
            Some(init) => init.as_expression().is_some_and(|init| self.is_harmless(init)),
            None => true,
        };
        init && it.test.into_iter().chain(it.update).all(|part| self.is_harmless(part))
            && self.is_harmless_statement(it.body)
    }

    fn is_harmless_statement(&self, statement: &Statement<'_>) -> bool {
        match statement {
            Statement::EmptyStatement(_) | Statement::ContinueStatement(_) | Statement::BreakStatement(_) => {
                true
            }
            Statement::BlockStatement(it) => it.body.iter().all(|it| self.is_harmless_statement(it)),
            Statement::ExpressionStatement(it) => self.is_harmless(&it.expression),
            Statement::VariableDeclaration(it) => self.is_harmless_declaration(it),
            Statement::LabeledStatement(it) => self.is_harmless_statement(&it.body),
            Statement::IfStatement(it) => {
                self.is_harmless(&it.test)
                    && self.is_harmless_statement(&it.consequent)
                    && it.alternate.as_ref().is_none_or(|it| self.is_harmless_statement(it))
            }
            Statement::WhileStatement(it) => self.is_harmless_loop(&ConditionalLoop::of_while(it)),
            Statement::DoWhileStatement(it) => self.is_harmless_loop(&ConditionalLoop::of_do(it)),
            Statement::ForStatement(it) => self.is_harmless_loop(&ConditionalLoop::of_for(it)),
            _ => false,
        }
    }

    fn is_harmless_declaration(&self, it: &VariableDeclaration<'_>) -> bool {
        !names::disposes(it.kind)
            && it.declarations.iter().all(|declared| {
                declared.id.is_binding_identifier()
                    && declared.init.as_ref().is_none_or(|init| self.is_harmless(init))
            })
    }

    fn is_harmless(&self, expression: &Expression<'_>) -> bool {
        match bare(expression) {
            Expression::BooleanLiteral(_)
            | Expression::NullLiteral(_)
            | Expression::NumericLiteral(_)
            | Expression::StringLiteral(_) => true,
            Expression::Identifier(it) => self.is_known(it),
            Expression::UnaryExpression(it) => match it.operator {
                UnaryOperator::LogicalNot | UnaryOperator::Typeof | UnaryOperator::Void => {
                    self.is_harmless(&it.argument)
                }
                UnaryOperator::Delete => false,
                _ => self.is_number(expression),
            },
            Expression::LogicalExpression(it) => self.is_harmless(&it.left) && self.is_harmless(&it.right),
            Expression::ConditionalExpression(it) => {
                [&it.test, &it.consequent, &it.alternate].into_iter().all(|part| self.is_harmless(part))
            }
            Expression::SequenceExpression(it) => it.expressions.iter().all(|part| self.is_harmless(part)),
            Expression::BinaryExpression(it) => self.is_harmless_operation(it),
            Expression::UpdateExpression(it) => self.is_harmless_update(it),
            Expression::AssignmentExpression(it) => self.is_harmless_assignment(it),
            _ => false,
        }
    }

    fn is_harmless_operation(&self, it: &BinaryExpression<'_>) -> bool {
        match it.operator {
            // They look at their operands as they are.
            BinaryOperator::StrictEquality | BinaryOperator::StrictInequality => {
                self.is_harmless(&it.left) && self.is_harmless(&it.right)
            }
            BinaryOperator::In | BinaryOperator::Instanceof => false,
            _ => self.is_number(&it.left) && self.is_number(&it.right),
        }
    }

    fn is_harmless_update(&self, it: &UpdateExpression<'_>) -> bool {
        match &it.argument {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(target) => {
                self.is_variable(target) && self.names.is_number(&target.name, target.span.start)
            }
            _ => false,
        }
    }

    fn is_harmless_assignment(&self, it: &AssignmentExpression<'_>) -> bool {
        let AssignmentTarget::AssignmentTargetIdentifier(target) = &it.left else { return false };
        let is_plain = it.operator.is_assign() || it.operator.is_logical();
        let value = if is_plain {
            self.is_harmless(&it.right)
        } else {
            self.names.is_number(&target.name, target.span.start) && self.is_number(&it.right)
        };
        value && self.is_variable(target)
    }

    fn is_known(&self, it: &IdentifierReference<'_>) -> bool {
        self.names.is_known(&it.name, it.span.start)
    }

    fn is_variable(&self, it: &IdentifierReference<'_>) -> bool {
        self.names.is_variable(&it.name, it.span.start)
    }

    /// A string that grows on each iteration runs out of memory, and a bigint cannot be mixed with a number.
    fn is_number(&self, expression: &Expression<'_>) -> bool {
        names::numeric(expression)
            .is_some_and(|names| names.iter().all(|(name, at)| self.names.is_number(name, *at)))
    }
}
