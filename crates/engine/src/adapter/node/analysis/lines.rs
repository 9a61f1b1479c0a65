//! Where in a source V8 can stop.
//!
//! V8 has places for statements, for calls, for `await` and for the ends of functions. A line that is named
//! here has one. Some that have one are not named: V8 leaves code out that it finds to do nothing, and where it
//! is not certain that there is a place, none is claimed.

use std::collections::BTreeSet;

use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, AwaitExpression, BreakStatement, CallExpression, Class,
    ContinueStatement, DebuggerStatement, Declaration, DoWhileStatement, Expression, ExpressionStatement,
    ForInStatement, ForOfStatement, ForStatement, ForStatementInit, ForStatementLeft, Function, FunctionBody,
    IfStatement, NewExpression, Program, PropertyDefinition, ReturnStatement, SwitchStatement,
    TaggedTemplateExpression, ThrowStatement, TryStatement, VariableDeclaration, VariableDeclarationKind,
    WhileStatement, YieldExpression,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::javascript::effects::{self, Effect};
use crate::javascript::endings::{can_reach_end, is_always_true};
use crate::javascript::{LineStarts, positions};

/// Where a program can stop; lines and columns are 1-based.
pub(super) struct ExecutableLines {
    /// The lines that hold code, ascending.
    pub(super) lines: Vec<u32>,
    /// Lines with the columns where it begins, as far as that is certain; ascending.
    pub(super) places: Vec<(u32, u32)>,
    /// The first of these that is in no function.
    pub(super) first: Option<(u32, Option<u32>)>,
}

/// Finds the places of a program.
pub(super) fn of(program: &Program<'_>, text: &str, starts: &LineStarts) -> ExecutableLines {
    let (found, places) = (BTreeSet::new(), BTreeSet::new());
    let mut lines = LineCollector { text, starts, found, places, first: None, functions: 0, in_finally: 0 };
    lines.visit_program(program);
    let LineCollector { found, places, first, .. } = lines;
    // The column is needed only where something else is before it.
    let is_alone = |line, column| places.range((line, 0)..(line, column)).next().is_none();
    let first = first.map(|(line, column)| (line, column.filter(|column| !is_alone(line, *column))));
    ExecutableLines { lines: found.into_iter().collect(), places: places.into_iter().collect(), first }
}

struct LineCollector<'t> {
    text: &'t str,
    starts: &'t LineStarts,
    found: BTreeSet<u32>,
    places: BTreeSet<(u32, u32)>,
    /// The first place outside of functions.
    first: Option<(u32, Option<u32>)>,
    /// How many functions are around.
    functions: usize,
    /// How many `try` with `finally` are around: a `return` there happens later, elsewhere.
    in_finally: usize,
}

impl LineCollector<'_> {
    fn at(&mut self, offset: u32) {
        let line = self.starts.line(offset);
        let column = self.starts.column(line, offset, self.text);
        self.found.insert(line);
        self.places.insert((line, column));
        self.begins(line, Some(column));
    }

    /// Somewhere on the line of this place.
    fn near(&mut self, offset: u32) {
        let line = self.starts.line(offset);
        self.found.insert(line);
        self.begins(line, None);
    }

    fn begins(&mut self, line: u32, column: Option<u32>) {
        let is_earlier = self.first.is_none_or(|first| (line, column) < first);
        if self.functions == 0 && is_earlier {
            self.first = Some((line, column));
        }
    }

    /// V8 returns right after what is returned.
    fn add_end(&mut self, span: Span) {
        let line = self.starts.last_line(span);
        self.found.insert(line);
        self.places.insert((line, self.starts.column(line, span.end, self.text)));
    }

    fn at_expression(&mut self, expression: &Expression<'_>) {
        self.at(positions::of(expression, self.text));
    }

    /// A statement that begins at `start` and first does this.
    fn at_statement(&mut self, start: u32, does: &Expression<'_>) {
        match effects::first(does, self.text) {
            Effect::At(place) if self.starts.line(place) != self.starts.line(start) => {}
            // The place is a little further on the line where it begins with a local. V8 takes it from there.
            Effect::At(_) | Effect::Plain => self.at(start),
            Effect::Nothing => self.near(start),
        }
    }

    fn is_inert_below(&self, start: u32, value: &Expression<'_>) -> bool {
        is_inert(value) && self.starts.line(start) != self.starts.line(value.span().start)
    }

    fn at_condition(&mut self, test: &Expression<'_>) {
        if !is_always_true(test) && !positions::bare(test).is_literal() {
            self.at_expression(test);
        }
    }

    /// What is declared by a loop gets its values at each turn.
    fn at_loop_variable(&mut self, left: &ForStatementLeft<'_>) {
        let span = left.span();
        if self.starts.line(span.start) == self.starts.last_line(span) {
            let declared = match left {
                ForStatementLeft::VariableDeclaration(it) => it.declarations.first(),
                _ => None,
            };
            self.at(declared.map_or(span.start, |declarator| declarator.id.span().start));
        }
    }

    fn at_end(&mut self, body: &FunctionBody<'_>) {
        if can_reach_end(&body.statements) {
            // At the bracket.
            self.at(body.span.end.saturating_sub(1).max(body.span.start));
        }
    }

    /// A function begins anew with what is around a `return`.
    fn inside_function(&mut self, visit: impl FnOnce(&mut Self)) {
        let around = std::mem::take(&mut self.in_finally);
        self.functions += 1;
        visit(self);
        self.functions -= 1;
        self.in_finally = around;
    }
}

/// Whether V8 generates no code for it when its value is unused, or when it is only tested.
fn is_inert(expression: &Expression<'_>) -> bool {
    match positions::bare(expression) {
        Expression::SequenceExpression(it) => it.expressions.iter().all(is_inert),
        Expression::Identifier(_) | Expression::ThisExpression(_) => true,
        other => other.is_literal(),
    }
}

impl<'a> VisitJs<'a> for LineCollector<'_> {
    fn visit_declaration(&mut self, it: &Declaration<'a>) {
        if !it.declare() {
            walk_js::walk_declaration(self, it);
        }
    }

    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        if !is_inert(&it.expression) {
            self.at_statement(it.span.start, &it.expression);
        }
        walk_js::walk_expression_statement(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        for declarator in &it.declarations {
            match &declarator.init {
                // What is taken out of a local has the place of the first name that it gets.
                Some(init) if self.is_inert_below(declarator.span.start, init) => {}
                Some(init) => self.at_statement(init.span().start, init),
                None if it.kind == VariableDeclarationKind::Let => self.at(declarator.span.start),
                None => {}
            }
        }
        walk_js::walk_variable_declaration(self, it);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        match &it.argument {
            Some(value) => self.at_statement(it.span.start, value),
            None => self.at(it.span.start),
        }
        if self.in_finally == 0 {
            self.add_end(it.span);
        }
        walk_js::walk_return_statement(self, it);
    }

    fn visit_throw_statement(&mut self, it: &ThrowStatement<'a>) {
        self.at_statement(it.span.start, &it.argument);
        walk_js::walk_throw_statement(self, it);
    }

    fn visit_break_statement(&mut self, it: &BreakStatement<'a>) {
        self.at(it.span.start);
    }

    fn visit_continue_statement(&mut self, it: &ContinueStatement<'a>) {
        self.at(it.span.start);
    }

    fn visit_debugger_statement(&mut self, it: &DebuggerStatement) {
        self.at(it.span.start);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        if !positions::bare(&it.test).is_literal() {
            self.at_statement(it.span.start, &it.test);
        }
        walk_js::walk_if_statement(self, it);
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.at_statement(it.span.start, &it.discriminant);
        walk_js::walk_switch_statement(self, it);
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.at_condition(&it.test);
        walk_js::walk_while_statement(self, it);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.at_condition(&it.test);
        walk_js::walk_do_while_statement(self, it);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        if let Some(init) = it.init.as_ref().and_then(ForStatementInit::as_expression) {
            self.at(init.span().start);
        }
        if let Some(test) = &it.test {
            self.at_condition(test);
        }
        if let Some(update) = &it.update {
            self.at_expression(update);
        }
        walk_js::walk_for_statement(self, it);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.at_loop_variable(&it.left);
        self.at_expression(&it.right);
        self.visit_expression(&it.right);
        self.visit_statement(&it.body);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.at_loop_variable(&it.left);
        self.at_expression(&it.right);
        self.visit_expression(&it.right);
        self.visit_statement(&it.body);
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        let deferred = usize::from(it.finalizer.is_some());
        self.in_finally += deferred;
        self.visit_block_statement(&it.block);
        if let Some(handler) = &it.handler {
            self.visit_catch_clause(handler);
        }
        self.in_finally -= deferred;
        if let Some(finalizer) = &it.finalizer {
            self.visit_block_statement(finalizer);
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.at(positions::called(it, self.text));
        walk_js::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.at(it.span.start);
        walk_js::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        if self.starts.line(it.span.start) == self.starts.line(it.quasi.span.start) {
            self.at(it.span.start);
        }
        walk_js::walk_tagged_template_expression(self, it);
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        self.near(it.span.start);
        walk_js::walk_await_expression(self, it);
    }

    fn visit_yield_expression(&mut self, it: &YieldExpression<'a>) {
        self.at(it.span.start);
        walk_js::walk_yield_expression(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if it.declare {
            return;
        }
        self.inside_function(|lines| {
            if let Some(value) = &it.value {
                lines.at_expression(value);
            }
            walk_js::walk_property_definition(lines, it);
        });
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if !it.declare {
            walk_js::walk_class(self, it);
        }
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        let Some(body) = &it.body else { return };
        self.inside_function(|lines| {
            // The end of an asynchronous generator has a place or has none, depending on the version.
            if !(it.r#async && it.generator) {
                lines.at_end(body);
            }
            walk_js::walk_function(lines, it, flags);
        });
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.inside_function(|lines| {
            match &it.body {
                ArrowFunctionBody::FunctionBody(body) => lines.at_end(body),
                body => {
                    if let Some(expression) = body.as_expression() {
                        lines.at_expression(expression);
                    }
                    lines.add_end(it.span);
                }
            }
            walk_js::walk_arrow_function_expression(lines, it);
        });
    }
}
