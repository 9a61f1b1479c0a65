//! What a file says of the names in it.
//!
//! A name means every variable of that name in the file: which of several is meant does not matter if all of them are
//! numbers. A name from outside the file, such as a global variable or an import, may be anything, and reading it may
//! run code.

use std::collections::{HashMap, HashSet};

use oxc_ast::AstKind;
use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, AssignmentTargetPropertyIdentifier, BindingIdentifier,
    BindingPattern, CallExpression, Declaration, ExportDeclaration, ExportSpecifier, Expression,
    ForStatementLeft, ImportDeclaration, Program, SimpleAssignmentTarget, UnaryOperator, UpdateExpression,
    VariableDeclaration, VariableDeclarationKind, WithStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};

use crate::javascript::positions::bare;

/// What is known about all names of a file.
#[derive(Default)]
pub(super) struct NameTable {
    declared: HashMap<String, Vec<NameDeclaration>>,
    /// Those that hold nothing but numbers.
    numbers: HashSet<String>,
    /// Those that other modules know as well.
    shared: HashSet<String>,
    /// Something in the file makes names mean what they do not say.
    has_dynamic_names: bool,
}

struct NameDeclaration {
    /// Where it is.
    at: u32,
    /// Where the name is known.
    scope: Span,
    /// It may get another value.
    is_variable: bool,
}

impl NameTable {
    pub(super) fn of(program: &Program<'_>) -> Self {
        let mut reader = NameCollector { scopes: vec![program.span], ..NameCollector::default() };
        reader.visit_program(program);
        let mut numbers = reader.numeric;
        numbers.retain(|name| !reader.others.contains(name));
        // A name that gets what another one holds is a number as long as that is one.
        loop {
            let is_number = |name: &String| numbers.contains(name);
            let wrong =
                |(name, from): &&(String, Vec<String>)| is_number(name) && !from.iter().all(is_number);
            let Some(name) = reader.written.iter().find(wrong).map(|(name, _)| name.clone()) else { break };
            numbers.remove(&name);
        }
        let NameCollector { declared, shared, has_dynamic_names, .. } = reader;
        Self { declared, numbers, shared, has_dynamic_names }
    }

    /// A `with` or an `eval` makes names mean what they do not say.
    pub(super) fn has_dynamic_names(&self) -> bool {
        self.has_dynamic_names
    }

    /// Whether the name is one that reading does not throw for, nor run code: it was declared around the place,
    /// before it, and what a compiler may make a property of is not.
    pub(super) fn is_known(&self, name: &str, at: u32) -> bool {
        !self.shared.contains(name) && self.around(name, at).next().is_some()
    }

    /// Whether it is certain that the name may get another value there.
    pub(super) fn is_variable(&self, name: &str, at: u32) -> bool {
        self.is_known(name, at) && self.around(name, at).all(|declared| declared.is_variable)
    }

    /// Whether it is certain that the name holds a number there.
    pub(super) fn is_number(&self, name: &str, at: u32) -> bool {
        self.numbers.contains(name) && self.is_known(name, at)
    }

    fn around(&self, name: &str, at: u32) -> impl Iterator<Item = &NameDeclaration> {
        let all = self.declared.get(name).into_iter().flatten();
        all.filter(move |it| it.scope.start <= at && at < it.scope.end && it.at < at)
    }
}

/// The names that an expression takes its value from, when it is a number as long as these are.
pub(super) fn numeric(expression: &Expression<'_>) -> Option<Vec<(String, u32)>> {
    match bare(expression) {
        Expression::NumericLiteral(_) => Some(Vec::new()),
        Expression::Identifier(it) => Some(vec![(it.name.to_string(), it.span.start)]),
        Expression::UnaryExpression(it)
            if matches!(
                it.operator,
                UnaryOperator::UnaryNegation | UnaryOperator::UnaryPlus | UnaryOperator::BitwiseNot
            ) =>
        {
            numeric(&it.argument)
        }
        Expression::BinaryExpression(it) if it.operator.is_arithmetic() || it.operator.is_bitwise() => {
            Some([numeric(&it.left)?, numeric(&it.right)?].concat())
        }
        _ => None,
    }
}

#[derive(Default)]
struct NameCollector {
    scopes: Vec<Span>,
    declared: HashMap<String, Vec<NameDeclaration>>,
    /// Names that begin as numbers somewhere.
    numeric: HashSet<String>,
    /// Names that are certainly, or possibly, something else somewhere.
    others: HashSet<String>,
    /// Names that get a number as long as the others are numbers.
    written: Vec<(String, Vec<String>)>,
    shared: HashSet<String>,
    has_dynamic_names: bool,
}

impl NameCollector {
    fn declare(&mut self, it: &BindingIdentifier<'_>, is_variable: bool) {
        let scope = self.scopes.last().copied().unwrap_or_default();
        let declared = NameDeclaration { at: it.span.start, scope, is_variable };
        self.declared.entry(it.name.to_string()).or_default().push(declared);
    }

    fn write(&mut self, name: &str, value: Option<Vec<(String, u32)>>) {
        match value {
            Some(from) => {
                self.written.push((name.to_owned(), from.into_iter().map(|(name, _)| name).collect()));
            }
            None => {
                self.others.insert(name.to_owned());
            }
        }
    }
}

impl<'a> VisitJs<'a> for NameCollector {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        if is_scope(&kind) {
            self.scopes.push(kind.span());
        }
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        if is_scope(&kind) {
            self.scopes.pop();
        }
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.declare(it, false);
        self.others.insert(it.name.to_string());
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        for declarator in &it.declarations {
            match &declarator.id {
                BindingPattern::BindingIdentifier(id) if !disposes(it.kind) => {
                    self.declare(id, it.kind != VariableDeclarationKind::Const);
                    self.numeric.insert(id.name.to_string());
                    if let Some(init) = &declarator.init {
                        self.write(id.name.as_str(), numeric(init));
                        self.visit_expression(init);
                    }
                }
                _ => self.visit_variable_declarator(declarator),
            }
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

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        let AssignmentTarget::AssignmentTargetIdentifier(target) = &it.left else {
            return walk_js::walk_assignment_expression(self, it);
        };
        let value = if it.operator.is_logical() { None } else { numeric(&it.right) };
        self.write(target.name.as_str(), value);
        self.visit_expression(&it.right);
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        if target(&it.argument).is_none() {
            walk_js::walk_update_expression(self, it);
        }
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        if let Some(name) = target(it) {
            self.others.insert(name.to_owned());
        }
        walk_js::walk_simple_assignment_target(self, it);
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        self.others.insert(it.binding.name.to_string());
        walk_js::walk_assignment_target_property_identifier(self, it);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        let specifiers = it.specifiers.iter().flatten();
        self.shared.extend(specifiers.map(|specifier| specifier.local().name.to_string()));
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        walk_js::walk_export_declaration(self, it);
        if let Declaration::VariableDeclaration(declared) = &it.declaration {
            let ids = declared.declarations.iter().flat_map(|it| it.id.get_binding_identifiers());
            self.shared.extend(ids.map(|id| id.name.to_string()));
        }
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        self.shared.insert(it.local.name().to_string());
    }

    fn visit_with_statement(&mut self, _: &WithStatement<'a>) {
        self.has_dynamic_names = true;
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.has_dynamic_names |= it.callee.is_specific_id("eval");
        walk_js::walk_call_expression(self, it);
    }
}

/// The name that is assigned to.
pub(super) fn target<'e>(it: &'e SimpleAssignmentTarget<'_>) -> Option<&'e str> {
    match it {
        SimpleAssignmentTarget::AssignmentTargetIdentifier(it) => Some(it.name.as_str()),
        other => Some(bare(other.get_expression()?).get_identifier_reference()?.name.as_str()),
    }
}

/// What is declared so runs code where its block ends.
pub(super) fn disposes(kind: VariableDeclarationKind) -> bool {
    matches!(kind, VariableDeclarationKind::Using | VariableDeclarationKind::AwaitUsing)
}

fn is_scope(kind: &AstKind<'_>) -> bool {
    matches!(
        kind,
        AstKind::Function(_)
            | AstKind::ArrowFunctionExpression(_)
            | AstKind::BlockStatement(_)
            | AstKind::ForStatement(_)
            | AstKind::ForInStatement(_)
            | AstKind::ForOfStatement(_)
            | AstKind::SwitchCase(_)
            | AstKind::CatchClause(_)
            | AstKind::StaticBlock(_)
            | AstKind::Class(_)
            | AstKind::TSModuleBlock(_)
    )
}
