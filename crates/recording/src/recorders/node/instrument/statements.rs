//! Statements: the event of each line, and the variables that declarations and loops write.

use oxc_ast::ast::{
    ArrowFunctionExpression, AssignmentTarget, BlockStatement, CatchClause, Class, ClassElement, Declaration,
    DoWhileStatement, Expression, ForInStatement, ForOfStatement, ForStatement, ForStatementInit,
    ForStatementLeft, Function, IfStatement, LabeledStatement, Program, ReturnStatement, Statement,
    SwitchStatement, ThrowStatement, TryStatement, VariableDeclaration, VariableDeclarationKind,
    WhileStatement, WithStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;

use super::super::scopes::{Declaring, Scope, is_foreign_module, names_of, names_of_declaration};
use super::functions::Kind;
use super::targets::targets_of;
use super::{Instrumenter, NO_HEADING, text};

impl Instrumenter<'_> {
    /// The statements of a list.
    pub(super) fn statements(&mut self, statements: &[Statement<'_>]) {
        let head = self.head_line;
        let mut before = head;
        for statement in statements {
            let line = self.line(statement.span().start);
            if has_event(statement) {
                if line != before && line > 0 {
                    let mut event = self.line_event(line);
                    event.insert(0, text(";"));
                    event.push(text(";"));
                    self.put(statement.span().start, event);
                }
                before = line;
                self.head_line = line;
            } else {
                self.head_line = 0;
            }
            let hidden = self.hidden.len();
            self.visit_statement(statement);
            self.written_by(statement);
            let mut shown = self.shown_again(hidden, ";");
            if !shown.is_empty() {
                shown.insert(0, text(";"));
                self.put(statement.span().end, shown);
            }
        }
        self.head_line = head;
    }

    /// A statement that is alone where a list could be, such as after `if (x)`.
    fn only(&mut self, statement: &Statement<'_>, first: Vec<super::Piece>) {
        let span = statement.span();
        match statement {
            Statement::BlockStatement(block) => {
                if !first.is_empty() {
                    self.put(block.span.start + 1, first);
                }
                self.visit_statement(statement);
            }
            Statement::EmptyStatement(_) if first.is_empty() => {}
            Statement::FunctionDeclaration(_) => self.visit_statement(statement),
            _ => {
                let line = self.line(span.start);
                let mut pieces = vec![text("{")];
                pieces.extend(first);
                if line != self.head_line && line > 0 && has_event(statement) {
                    pieces.extend(self.line_event(line));
                    pieces.push(text(";"));
                }
                self.put(span.start, pieces);
                self.on_line(line, |this| this.visit_statement(statement));
                self.written_by(statement);
                self.put_text(span.end, "}");
            }
        }
    }

    /// What a declaration writes, after it.
    fn written_by(&mut self, statement: &Statement<'_>) {
        let names = match Declaring::of(statement) {
            Some(Declaring::Variables(it, _)) => self.variables(it),
            Some(Declaring::Class(it)) => class_name(it),
            Some(Declaring::Function(it)) => self.function_name(it),
            None => return,
        };
        let mut pieces = vec![text(";")];
        pieces.extend(self.writes_of(&names));
        self.put(statement.span().end, pieces);
    }

    /// The variables that a declaration writes, but for what Node or a package provides.
    fn variables(&self, it: &VariableDeclaration<'_>) -> Vec<String> {
        if it.declare {
            return Vec::new();
        }
        let written = it.declarations.iter().flat_map(|each| match &each.init {
            Some(Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_)) => {
                self.with_properties(names_of(&each.id))
            }
            Some(init) if is_foreign_module(init) => self.hiding(names_of(&each.id)),
            None if it.kind != VariableDeclarationKind::Let => Vec::new(),
            _ => names_of(&each.id),
        });
        written.collect()
    }

    fn function_name(&self, it: &Function<'_>) -> Vec<String> {
        let name = it.id.as_ref().filter(|_| it.body.is_some());
        self.with_properties(name.map(|id| id.name.to_string()).into_iter().collect())
    }

    /// Those of some functions that are recorded as variables. Most functions are not, for they never change, unless they
    /// hide something that does.
    fn with_properties(&self, names: Vec<String>) -> Vec<String> {
        names.into_iter().filter(|name| self.facts.changed.contains(name) || self.is_hiding(name)).collect()
    }

    /// Those that hide other variables.
    fn hiding(&self, names: Vec<String>) -> Vec<String> {
        names.into_iter().filter(|name| self.is_hiding(name)).collect()
    }

    fn block(&mut self, statements: &[Statement<'_>]) {
        let mut scope = Scope::new(self.level());
        scope.lexical(statements);
        self.in_block(scope, |this| this.statements(statements));
    }

    /// An event of a line before an expression that is part of a loop.
    fn event_before(&mut self, expression: &Expression<'_>, line: u32) {
        let mut event = self.line_event(line);
        event.push(text(","));
        self.put(expression.span().start, event);
        self.visit_expression(expression);
    }

    /// `for (x of xs)` and `for (x in xs)`: each time, the line is reached again and its variables are written.
    fn for_each(
        &mut self,
        left: &ForStatementLeft<'_>,
        right: &Expression<'_>,
        body: &Statement<'_>,
        line: u32,
    ) {
        let names = match left {
            ForStatementLeft::VariableDeclaration(it) => names_of_declaration(it),
            other => other.as_assignment_target().map(targets_of).unwrap_or_default(),
        };
        let members =
            left.as_assignment_target().map(|target| self.member_writes(target)).unwrap_or_default();
        let mut scope = Scope::new(self.level());
        if let ForStatementLeft::VariableDeclaration(it) = left
            && it.kind != VariableDeclarationKind::Var
        {
            scope.variables(names.clone());
        }
        self.visit_expression(right);
        self.in_block(scope, |this| {
            if let ForStatementLeft::VariableDeclaration(it) = left {
                for each in &it.declarations {
                    this.visit_binding_pattern(&each.id);
                }
            } else if let Some(target) = left.as_assignment_target() {
                this.visit_assignment_target(target);
            }
            let mut first = this.line_event(line);
            first.push(text(";"));
            first.extend(this.writes_of(&names));
            for write in members {
                first.extend(write);
                first.push(text(";"));
            }
            let (round, hidden) = (this.put(body.span().start, Vec::new()), this.hidden.len());
            this.on_line(line, |this| this.only(body, first));
            let mut shown = this.shown_again(hidden, ";");
            if !shown.is_empty() {
                shown.insert(0, text("{"));
                this.edits.extend(round, shown);
                this.put_text(body.span().end, "}");
            }
        });
    }

    /// A handler of exceptions, after a block in which variables were hidden since there were so many.
    fn catch(&mut self, it: &CatchClause<'_>, hidden: usize) {
        let mut scope = Scope::new(self.level());
        let call = self.call();
        let mut pieces = Vec::new();
        match &it.param {
            None => {
                self.put_text(it.span.start + 5, "(__$0)");
                pieces.push(text(format!("__$g({call},__$0);")));
                pieces.extend(self.shown_again(hidden, ";"));
            }
            Some(param) => {
                let names = names_of(&param.pattern);
                scope.variables(names.clone());
                if let oxc_ast::ast::BindingPattern::BindingIdentifier(id) = &param.pattern {
                    pieces.push(text(format!("__$g({call},{});", id.name)));
                } else {
                    pieces.push(text(format!("__$g({call});")));
                }
                pieces.extend(self.shown_again(hidden, ";"));
                self.scopes.push(scope);
                self.visit_binding_pattern(&param.pattern);
                pieces.extend(self.writes_of(&names));
                scope = self.scopes.pop().unwrap_or_default();
            }
        }
        self.put(it.body.span.start + 1, pieces);
        self.on_line(0, |this| this.in_block(scope, |this| this.block(&it.body.body)));
    }
}

/// Whether a statement is an event of its own. Loops have theirs at each round.
fn has_event(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::LabeledStatement(it) => has_event(&it.body),
        Statement::ExportDeclaration(it) => {
            matches!(it.declaration, Declaration::VariableDeclaration(_) | Declaration::ClassDeclaration(_))
        }
        Statement::ExportDefaultDeclaration(it) => it.declaration.as_expression().is_some(),
        Statement::FunctionDeclaration(_)
        | Statement::ImportDeclaration(_)
        | Statement::ExportAllDeclaration(_)
        | Statement::ExportFromDeclaration(_)
        | Statement::ExportNamedDeclaration(_)
        | Statement::EmptyStatement(_)
        | Statement::BlockStatement(_)
        | Statement::TryStatement(_)
        | Statement::WhileStatement(_)
        | Statement::DoWhileStatement(_) => false,
        _ => true,
    }
}

fn class_name(it: &Class<'_>) -> Vec<String> {
    let name = it.id.as_ref().filter(|_| !it.declare);
    name.map(|id| id.name.to_string()).into_iter().collect()
}

impl<'a> VisitJs<'a> for Instrumenter<'_> {
    fn visit_program(&mut self, it: &Program<'a>) {
        self.program(it);
    }

    fn visit_function(&mut self, it: &Function<'a>, _: ScopeFlags) {
        self.function(it, Kind::default());
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.arrow(it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        walk_js::walk_class_element(self, it);
    }

    fn visit_block_statement(&mut self, it: &BlockStatement<'a>) {
        self.block(&it.body);
    }

    fn visit_if_statement(&mut self, it: &IfStatement<'a>) {
        self.visit_expression(&it.test);
        self.only(&it.consequent, Vec::new());
        if let Some(alternate) = &it.alternate {
            self.only(alternate, Vec::new());
        }
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        let line = self.line(it.span.start);
        let (round, hidden) = (self.put(it.test.span().start, Vec::new()), self.hidden.len());
        self.event_before(&it.test, line);
        self.on_line(line, |this| this.only(&it.body, Vec::new()));
        let shown = self.shown_again(hidden, ",");
        self.edits.extend(round, shown);
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        let hidden = self.hidden.len();
        self.only(&it.body, Vec::new());
        let shown = self.shown_again(hidden, ",");
        self.put(it.test.span().start, shown);
        let line = self.line(it.test.span().start);
        self.event_before(&it.test, line);
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        let line = self.line(it.span.start);
        let mut scope = Scope::new(self.level());
        if let Some(ForStatementInit::VariableDeclaration(init)) = &it.init
            && init.kind != VariableDeclarationKind::Var
        {
            scope.variables(names_of_declaration(init));
        }
        self.in_block(scope, |this| {
            match &it.init {
                Some(ForStatementInit::VariableDeclaration(init)) => {
                    this.visit_variable_declaration(init);
                    let names = this.variables(init);
                    if !names.is_empty() && !init.kind.is_using() {
                        // One more variable of the loop, for what its value does.
                        let mut pieces = vec![text(format!(",__$i{}=(", this.level()))];
                        for name in names {
                            pieces.extend(this.write_of(&name).into_iter().flatten());
                            pieces.push(text(","));
                        }
                        pieces.push(text("0)"));
                        this.put(init.span.end, pieces);
                    }
                }
                Some(other) => {
                    if let Some(init) = other.as_expression() {
                        this.visit_expression(init);
                    }
                }
                None => {}
            }
            if let Some(test) = &it.test {
                this.visit_expression(test);
            }
            let hidden = this.hidden.len();
            let round = if let Some(update) = &it.update {
                let round = this.put(update.span().start, Vec::new());
                this.event_before(update, line);
                Some(round)
            } else {
                // The parenthesis before the body.
                let from = it.test.as_ref().map_or(it.span.start, |test| test.span().end);
                let between = this.source(from, it.body.span().start);
                let at = between.rfind(')').and_then(|at| u32::try_from(at).ok());
                at.map(|at| {
                    let event = this.line_event(line);
                    let round = this.put(from + at, Vec::new());
                    this.put(from + at, event);
                    round
                })
            };
            this.on_line(line, |this| this.only(&it.body, Vec::new()));
            if let Some(round) = round {
                let shown = this.shown_again(hidden, ",");
                this.edits.extend(round, shown);
            }
        });
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        let line = self.line(it.span.start);
        self.for_each(&it.left, &it.right, &it.body, line);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        let line = self.line(it.span.start);
        self.for_each(&it.left, &it.right, &it.body, line);
    }

    fn visit_with_statement(&mut self, it: &WithStatement<'a>) {
        self.visit_expression(&it.object);
        self.withs += 1;
        self.visit_statement(&it.body);
        self.withs -= 1;
    }

    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        match &it.body {
            // A label must be just before its loop.
            Statement::ForStatement(_)
            | Statement::ForInStatement(_)
            | Statement::ForOfStatement(_)
            | Statement::WhileStatement(_)
            | Statement::DoWhileStatement(_)
            | Statement::LabeledStatement(_)
            | Statement::SwitchStatement(_) => self.visit_statement(&it.body),
            other => self.only(other, Vec::new()),
        }
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.visit_expression(&it.discriminant);
        let mut scope = Scope::new(self.level());
        for case in &it.cases {
            scope.lexical(&case.consequent);
        }
        self.in_block(scope, |this| {
            for case in &it.cases {
                if let Some(test) = &case.test {
                    this.visit_expression(test);
                }
                this.statements(&case.consequent);
            }
        });
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        let Some(function) = self.functions.last() else { return };
        let call = self.call();
        let (level, ends_in_finally) = (function.level, function.ends_in_finally);
        match (&it.argument, ends_in_finally) {
            (Some(value), true) => self.visit_in(value, format!("__$t{level}_1=(")),
            (Some(value), false) => self.visit_in(value, format!("__$r({call},")),
            (None, true) => {}
            (None, false) => self.put_text(it.span.start + 6, format!(" __$r({call})")),
        }
    }

    fn visit_throw_statement(&mut self, it: &ThrowStatement<'a>) {
        self.visit_in(&it.argument, format!("__$t({},", self.call()));
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        let hidden = self.hidden.len();
        self.visit_block_statement(&it.block);
        if let Some(handler) = &it.handler {
            self.catch(handler, hidden);
        } else {
            // Where an exception came from is known before the lines of the `finally`.
            let call = self.call();
            self.put_text(it.block.span.end, format!("catch(__$0){{throw __$tt({call},__$0)}}{NO_HEADING}"));
        }
        if let Some(finalizer) = &it.finalizer {
            let shown = self.shown_again(hidden, ";");
            self.put(finalizer.span.start + 1, shown);
            self.visit_block_statement(finalizer);
        }
    }

    fn visit_variable_declarator(&mut self, it: &oxc_ast::ast::VariableDeclarator<'a>) {
        self.visit_binding_pattern(&it.id);
        if let Some(init) = &it.init {
            if let oxc_ast::ast::BindingPattern::BindingIdentifier(id) = &it.id {
                self.hint = Some(id.name.to_string());
            }
            self.visit_expression(init);
            self.hint = None;
        }
    }

    fn visit_object_property(&mut self, it: &oxc_ast::ast::ObjectProperty<'a>) {
        if it.computed {
            self.visit_property_key(&it.key);
        }
        if it.shorthand {
            return;
        }
        self.hint = it.key.static_name().map(|name| name.to_string());
        self.visit_expression(&it.value);
        self.hint = None;
    }

    fn visit_this_expression(&mut self, _: &oxc_ast::ast::ThisExpression) {
        if let Some(function) = self.functions.last_mut() {
            function.uses_this = true;
        }
    }

    fn visit_assignment_target(&mut self, it: &AssignmentTarget<'a>) {
        walk_js::walk_assignment_target(self, it);
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        self.expression(it);
    }

    fn visit_tagged_template_expression(&mut self, it: &oxc_ast::ast::TaggedTemplateExpression<'a>) {
        self.hint = None;
        walk_js::walk_tagged_template_expression(self, it);
    }
}
