//! The functions of a source and what they are called.
//!
//! A name has those of the classes, objects and functions around it in front: `Account.deposit`,
//! `outer.inner`, `api.get`. A function without a name of its own has that of the variable or property that it
//! is assigned to; what is exported as default without a name is `default`. Others have none, and are not
//! listed.

use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, AssignmentExpression, AssignmentTarget, Class,
    ExportDefaultDeclaration, ExportDefaultDeclarationKind, Expression, Function, MemberExpression,
    MethodDefinition, ObjectExpression, ObjectProperty, Program, PropertyDefinition, PropertyKey, Statement,
    VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::javascript::{LineStarts, positions};
use crate::model::source;

/// The functions of a program.
pub(super) struct FunctionList {
    /// In the order of their first lines.
    pub(super) functions: Vec<source::Function>,
    /// The first and last lines of those without a name.
    pub(super) nameless: Vec<(u32, u32)>,
}

pub(super) fn of(program: &Program<'_>, starts: &LineStarts) -> FunctionList {
    let text = program.source_text;
    let found = FunctionList { functions: Vec::new(), nameless: Vec::new() };
    let mut functions = Functions { text, starts, around: String::new(), found };
    functions.visit_program(program);
    functions.found.functions.sort_by_key(|function| function.start);
    functions.found
}

struct Functions<'t> {
    text: &'t str,
    starts: &'t LineStarts,
    /// The names around, each with a full stop.
    around: String,
    found: FunctionList,
}

/// What something is called, and where that is written.
struct Name {
    text: String,
    /// Where the whole begins, with decorators.
    start: u32,
    /// Where the name is.
    place: u32,
}

impl Name {
    fn new(text: impl Into<String>, start: u32, place: u32) -> Self {
        Self { text: text.into(), start, place }
    }
}

impl Functions<'_> {
    fn inside(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.around.len();
        self.around.push_str(name);
        self.around.push('.');
        visit(self);
        self.around.truncate(length);
    }

    fn add_nameless(&mut self, span: Span) {
        self.found.nameless.push((self.starts.line(span.start), self.starts.last_line(span)));
    }

    fn add(&mut self, name: &Name, body: u32, end: Span) {
        self.found.functions.push(source::Function {
            name: format!("{}{}", self.around, name.text),
            start: self.starts.line(name.start),
            header: self.starts.line(name.place),
            body: self.starts.line(body),
            body_column: self.starts.column(self.starts.line(body), body, self.text),
            end: self.starts.last_line(end),
        });
    }

    /// A value that gets a name.
    fn named(&mut self, name: &Name, value: &Expression<'_>) {
        match positions::bare(value) {
            Expression::FunctionExpression(it) => self.function(name, it),
            Expression::ArrowFunctionExpression(it) => self.arrow(name, it),
            Expression::ClassExpression(it) => self.inside(&name.text, |all| walk_js::walk_class(all, it)),
            Expression::ObjectExpression(it) => self.object(name, it),
            other => self.visit_expression(other),
        }
    }

    fn function(&mut self, name: &Name, it: &Function<'_>) {
        let Some(body) = &it.body else { return };
        self.add(name, first_statement(&body.statements, body.span), it.span);
        self.inside(&name.text, |all| walk_js::walk_function(all, it, ScopeFlags::Function));
    }

    fn arrow(&mut self, name: &Name, it: &ArrowFunctionExpression<'_>) {
        let body = match &it.body {
            ArrowFunctionBody::FunctionBody(body) => first_statement(&body.statements, body.span),
            expression => expression.span().start,
        };
        self.add(name, body, it.span);
        self.inside(&name.text, |all| walk_js::walk_arrow_function_expression(all, it));
    }

    fn object(&mut self, name: &Name, it: &ObjectExpression<'_>) {
        self.inside(&name.text, |all| walk_js::walk_object_expression(all, it));
    }
}

/// Where the first statement is that runs; the closing brace when there is none.
fn first_statement(statements: &[Statement<'_>], body: Span) -> u32 {
    let runs = |statement: &&Statement<'_>| !matches!(statement, Statement::FunctionDeclaration(_));
    let end = body.end.saturating_sub(1);
    statements.iter().find(runs).map_or(end, |statement| statement.span().start)
}

fn key_name(key: &PropertyKey<'_>) -> Option<String> {
    match key {
        PropertyKey::PrivateIdentifier(it) => Some(format!("#{}", it.name)),
        key => key.static_name().map(|name| name.to_string()),
    }
}

/// `module.exports.get`, `Account.prototype.deposit`; without a leading `this`.
fn member_name(member: &MemberExpression<'_>) -> Option<String> {
    let last = match member {
        MemberExpression::PrivateFieldExpression(it) => format!("#{}", it.field.name),
        member => member.static_property_name()?.to_string(),
    };
    match member.object() {
        Expression::ThisExpression(_) => Some(last),
        Expression::Identifier(it) => Some(format!("{}.{last}", it.name)),
        object => Some(format!("{}.{last}", member_name(object.as_member_expression()?)?)),
    }
}

impl<'a> VisitJs<'a> for Functions<'_> {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if let Some(id) = &it.id {
            return self.function(&Name::new(id.name.as_str(), it.span.start, id.span.start), it);
        }
        self.add_nameless(it.span);
        walk_js::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.add_nameless(it.span);
        walk_js::walk_arrow_function_expression(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        match &it.id {
            Some(id) => self.inside(id.name.as_str(), |all| walk_js::walk_class(all, it)),
            None => walk_js::walk_class(self, it),
        }
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        match key_name(&it.key) {
            Some(text) => {
                let start = it.decorators.first().map_or(it.span.start, |first| first.span.start);
                let name = Name::new(text, start.min(it.span.start), it.key.span().start);
                self.function(&name, &it.value);
            }
            None => walk_js::walk_method_definition(self, it),
        }
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        match (key_name(&it.key), &it.value) {
            (Some(text), Some(value)) => {
                self.named(&Name::new(text, it.span.start, it.key.span().start), value);
            }
            _ => walk_js::walk_property_definition(self, it),
        }
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        match key_name(&it.key) {
            Some(text) => self.named(&Name::new(text, it.span.start, it.key.span().start), &it.value),
            None => walk_js::walk_object_property(self, it),
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        match (it.id.get_identifier_name(), &it.init) {
            (Some(text), Some(init)) => {
                self.named(&Name::new(text.as_str(), it.span.start, it.span.start), init);
            }
            _ => walk_js::walk_variable_declarator(self, it),
        }
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        let text = match &it.left {
            AssignmentTarget::AssignmentTargetIdentifier(it) => Some(it.name.to_string()),
            left => left.as_member_expression().and_then(member_name),
        };
        match text {
            Some(text) => self.named(&Name::new(text, it.span.start, it.left.span().start), &it.right),
            None => walk_js::walk_assignment_expression(self, it),
        }
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        let start = it.span.start;
        let name = |span: Span| Name::new("default", start, span.start);
        match &it.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.id.is_none() => {
                self.function(&name(function.span), function);
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) if class.id.is_none() => {
                self.inside("default", |all| walk_js::walk_class(all, class));
            }
            other => match other.as_expression() {
                Some(value) => self.named(&name(value.span()), value),
                None => walk_js::walk_export_default_declaration(self, it),
            },
        }
    }
}
