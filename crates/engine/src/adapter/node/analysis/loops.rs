//! The loops of a source: whether they can end, and what decides that.
//!
//! A verdict about a loop can end a program that is considered hung, so uncertain facts are not claimed. Reading
//! order: `leaving` (statements that exit a loop), `condition` (its condition), `names` (what the file shows about
//! its variables), `certainty` (whether it runs forever).

mod certainty;
mod closed;
mod condition;
mod ends;
mod leaving;
mod names;

use oxc_ast::ast::{
    AssignmentTargetPropertyIdentifier, BindingIdentifier, CallExpression, CatchParameter, Class,
    DoWhileStatement, Expression, ForInStatement, ForOfStatement, ForStatement, ForStatementInit,
    ForStatementLeft, FormalParameters, Function, IdentifierReference, LabeledStatement, Program,
    SimpleAssignmentTarget, Statement, VariableDeclarator, WhileStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::Span;
use oxc_syntax::scope::ScopeFlags;

use self::names::NameTable;
use crate::javascript::LineStarts;
use crate::model::source::Loop;

/// The loops of a program, in the order of their first lines; an outer one before those in it.
pub(super) fn of(program: &Program<'_>, starts: &LineStarts) -> Vec<Loop> {
    let names = NameTable::of(program);
    let mut loops = Loops { text: program.source_text, starts, names, labels: Vec::new(), found: Vec::new() };
    loops.visit_program(program);
    loops.found.sort_by_key(|found| found.start);
    loops.found
}

/// A loop whose condition is an expression.
struct ConditionalLoop<'e, 'a> {
    span: Span,
    init: Option<&'e ForStatementInit<'a>>,
    /// None runs forever.
    test: Option<&'e Expression<'a>>,
    update: Option<&'e Expression<'a>>,
    body: &'e Statement<'a>,
    /// The first turn comes before the condition.
    begins_unasked: bool,
}

impl<'e, 'a> ConditionalLoop<'e, 'a> {
    fn of_while(it: &'e WhileStatement<'a>) -> Self {
        let (test, body) = (Some(&it.test), &it.body);
        Self { span: it.span, init: None, test, update: None, body, begins_unasked: false }
    }

    fn of_do(it: &'e DoWhileStatement<'a>) -> Self {
        let (test, body) = (Some(&it.test), &it.body);
        Self { span: it.span, init: None, test, update: None, body, begins_unasked: true }
    }

    fn of_for(it: &'e ForStatement<'a>) -> Self {
        let (init, test, update) = (it.init.as_ref(), it.test.as_ref(), it.update.as_ref());
        Self { span: it.span, init, test, update, body: &it.body, begins_unasked: false }
    }

    /// The names in its head.
    fn variables(&self) -> Vec<String> {
        let mut read = ReferencedNames::default();
        if let Some(init) = self.init {
            read.visit_for_statement_init(init);
        }
        let tests = self.test.into_iter().chain(self.update);
        tests.for_each(|part| read.visit_expression(part));
        read.0
    }

    /// The names that it assigns to, at each turn.
    fn assigned(&self) -> Vec<String> {
        let mut assigned = AssignedNames::default();
        if let Some(ForStatementInit::VariableDeclaration(init)) = self.init {
            assigned.visit_variable_declaration(init);
        }
        self.test.into_iter().chain(self.update).for_each(|part| assigned.visit_expression(part));
        assigned.visit_statement(self.body);
        assigned.0
    }
}

struct Loops<'t> {
    text: &'t str,
    starts: &'t LineStarts,
    names: NameTable,
    /// Those of the current statement.
    labels: Vec<String>,
    found: Vec<Loop>,
}

impl Loops<'_> {
    fn counted(&mut self, it: &ConditionalLoop<'_, '_>) {
        let labels = std::mem::take(&mut self.labels);
        let assigned = it.assigned();
        let has_exit = leaving::has_exit(it, &labels);
        let is_always = it.test.is_none_or(condition::is_always_true);
        self.found.push(Loop {
            start: self.starts.line(it.span.start),
            end: self.starts.last_line(it.span),
            goes_through: false,
            end_known: None,
            has_exit,
            is_endless: is_always && !has_exit,
            is_certain: !has_exit && certainty::runs_forever(it, is_always, &assigned, &self.names),
            is_closed: closed::is_closed(it),
            condition: it.test.map(|test| condition::comparisons(test, self.text)).unwrap_or_default(),
            variables: it.variables(),
            assigned,
        });
    }

    /// A loop over something ends with it, as far as is known.
    fn through(
        &mut self,
        span: Span,
        end_known: Option<String>,
        left: &ForStatementLeft<'_>,
        right: &Expression<'_>,
        body: &Statement<'_>,
    ) {
        self.labels.clear();
        let (mut read, mut assigned) = (ReferencedNames::default(), AssignedNames::default());
        read.visit_for_statement_left(left);
        read.visit_expression(right);
        match left {
            ForStatementLeft::VariableDeclaration(it) => {
                it.declarations.iter().for_each(|declared| assigned.visit_binding_pattern(&declared.id));
            }
            left => assigned.visit_for_statement_left(left),
        }
        assigned.visit_statement(body);
        self.found.push(Loop {
            goes_through: true,
            end_known,
            start: self.starts.line(span.start),
            end: self.starts.last_line(span),
            variables: read.0,
            assigned: assigned.0,
            ..Loop::default()
        });
    }
}

impl<'a> VisitJs<'a> for Loops<'_> {
    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        self.labels.push(it.label.name.to_string());
        self.visit_statement(&it.body);
        self.labels.clear();
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.counted(&ConditionalLoop::of_while(it));
        walk_js::walk_while_statement(self, it);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.counted(&ConditionalLoop::of_do(it));
        walk_js::walk_do_while_statement(self, it);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.counted(&ConditionalLoop::of_for(it));
        walk_js::walk_for_statement(self, it);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.through(it.span, Some(Loop::HAS_END.to_owned()), &it.left, &it.right, &it.body);
        walk_js::walk_for_in_statement(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.through(it.span, ends::end_known(&it.right, &it.body, self.text), &it.left, &it.right, &it.body);
        walk_js::walk_for_of_statement(self, it);
    }
}

/// The variables that are named, each once, in the order of the text.
#[derive(Default)]
struct ReferencedNames(Vec<String>);

impl<'a> VisitJs<'a> for ReferencedNames {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if !matches!(it.name.as_str(), "undefined" | "NaN" | "Infinity") {
            note(&mut self.0, it.name.as_str());
        }
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        note(&mut self.0, it.name.as_str());
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        // A loop does not count or test a function.
        if !matches!(it.callee, Expression::Identifier(_)) {
            self.visit_expression(&it.callee);
        }
        it.arguments.iter().for_each(|argument| self.visit_argument(argument));
    }
}

/// The variables that get a value, each once, in the order of the text. Of `order.total = 1` it is `order`.
#[derive(Default)]
struct AssignedNames(Vec<String>);

impl<'a> VisitJs<'a> for AssignedNames {
    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        let member_root = || it.as_member_expression().and_then(|member| root(member.object()));
        if let Some(name) = names::target(it).or_else(member_root) {
            note(&mut self.0, name);
        }
        walk_js::walk_simple_assignment_target(self, it);
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        note(&mut self.0, it.binding.name.as_str());
        walk_js::walk_assignment_target_property_identifier(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.init.is_some() {
            walk_js::walk_variable_declarator(self, it);
        }
    }

    fn visit_for_statement_left(&mut self, it: &ForStatementLeft<'a>) {
        match it {
            ForStatementLeft::VariableDeclaration(it) => {
                it.declarations.iter().for_each(|declared| self.visit_binding_pattern(&declared.id));
            }
            other => walk_js::walk_for_statement_left(self, other),
        }
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        note(&mut self.0, it.name.as_str());
    }

    fn visit_function(&mut self, it: &Function<'a>, _: ScopeFlags) {
        // What a function declares is nothing of the loop's, what it assigns to may be.
        if let Some(body) = &it.body {
            self.visit_function_body(body);
        }
    }

    fn visit_formal_parameters(&mut self, _: &FormalParameters<'a>) {}

    fn visit_catch_parameter(&mut self, _: &CatchParameter<'a>) {}

    fn visit_class(&mut self, it: &Class<'a>) {
        self.visit_class_body(&it.body);
    }
}

fn root<'e>(expression: &'e Expression<'_>) -> Option<&'e str> {
    match expression {
        Expression::Identifier(it) => Some(it.name.as_str()),
        other => root(other.as_member_expression()?.object()),
    }
}

fn note(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests;
