//! Which names a piece of code declares, and to which function a name belongs.

use std::collections::{HashMap, HashSet};

use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentTargetPropertyIdentifier, BindingIdentifier, BindingPattern,
    CallExpression, Class, Declaration, ExportDefaultDeclarationKind, Expression, FormalParameters, Function,
    IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier, MethodDefinition, Program,
    PropertyKey, SimpleAssignmentTarget, Statement, VariableDeclaration, VariableDeclarationKind,
    VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_syntax::scope::ScopeFlags;

/// What a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    Variable,
    /// A property of the global object, which a script assigns to.
    Global,
    /// A function or a class of the program, whose own code is recorded.
    Code,
    /// What Node or a package provides.
    Foreign,
}

/// A statement that declares something, exported or not. Of variables, whether they are.
pub(super) enum Declaring<'s, 'a> {
    Function(&'s Function<'a>),
    Class(&'s Class<'a>),
    Variables(&'s VariableDeclaration<'a>, bool),
}

impl<'s, 'a> Declaring<'s, 'a> {
    pub(super) fn of(statement: &'s Statement<'a>) -> Option<Self> {
        Some(match statement {
            Statement::FunctionDeclaration(it) => Self::Function(it),
            Statement::ClassDeclaration(it) => Self::Class(it),
            Statement::VariableDeclaration(it) => Self::Variables(it, false),
            Statement::ExportDeclaration(it) => match &it.declaration {
                Declaration::FunctionDeclaration(it) => Self::Function(it),
                Declaration::ClassDeclaration(it) => Self::Class(it),
                Declaration::VariableDeclaration(it) => Self::Variables(it, true),
                _ => return None,
            },
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::FunctionDeclaration(it) => Self::Function(it),
                ExportDefaultDeclarationKind::ClassDeclaration(it) => Self::Class(it),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// The names of a block, or of a function.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: HashMap<String, Declared>,
    /// How deep the function is nested that they belong to; none while its call has no number.
    pub(super) level: Option<usize>,
}

impl Scope {
    pub(super) fn new(level: usize) -> Self {
        Self { names: HashMap::new(), level: Some(level) }
    }

    pub(super) fn get(&self, name: &str) -> Option<Declared> {
        self.names.get(name).copied()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    pub(super) fn code(&mut self, name: Option<&BindingIdentifier<'_>>) {
        self.names.extend(name.map(|id| (id.name.to_string(), Declared::Code)));
    }

    pub(super) fn variables(&mut self, names: Vec<String>) {
        self.all(names, Declared::Variable);
    }

    pub(super) fn globals(&mut self, names: Vec<String>) {
        self.all(names, Declared::Global);
    }

    fn all(&mut self, names: Vec<String>, what: Declared) {
        for name in names {
            self.names.entry(name).or_insert(what);
        }
    }

    fn declaration(&mut self, it: &VariableDeclaration<'_>) {
        for each in &it.declarations {
            let is_foreign = each.init.as_ref().is_some_and(is_foreign_module);
            self.all(names_of(&each.id), if is_foreign { Declared::Foreign } else { Declared::Variable });
        }
    }

    /// What the statements of a block declare for it: not what `var` in them does.
    pub(super) fn lexical(&mut self, statements: &[Statement<'_>]) {
        for statement in statements {
            match Declaring::of(statement) {
                Some(Declaring::Function(it)) => self.code(it.id.as_ref()),
                Some(Declaring::Class(it)) => self.code(it.id.as_ref()),
                Some(Declaring::Variables(it, is_exported))
                    if is_exported || it.kind != VariableDeclarationKind::Var =>
                {
                    self.declaration(it);
                }
                _ => {}
            }
            if let Statement::ImportDeclaration(it) = statement {
                let is_foreign = is_foreign_name(&it.source.value);
                let what = if is_foreign { Declared::Foreign } else { Declared::Variable };
                self.all(imported_names(it).collect(), what);
            }
        }
    }

    /// What `var` declares anywhere in a function, outside of functions in it.
    pub(super) fn hoisted(&mut self, statements: &[Statement<'_>]) {
        let mut found = HoistedNames(Vec::new());
        for statement in statements {
            found.visit_statement(statement);
        }
        self.variables(found.0);
    }
}

/// Names that `var` declares, in any depth.
struct HoistedNames(Vec<String>);

impl<'a> VisitJs<'a> for HoistedNames {
    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.kind == VariableDeclarationKind::Var {
            self.0.extend(names_of_declaration(it));
        }
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}

    fn visit_class(&mut self, _: &Class<'a>) {}
}

/// What Node gives each file that is not a module. It finds what a file exports by its text, in which these must stay.
pub(super) const OF_FILES: [&str; 3] = ["exports", "module", "require"];

/// What a script has somewhere.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The variables of whose values a property is assigned to.
    pub(super) changed: HashSet<String>,
    /// The variables to which it gives functions that are bound to an object.
    pub(super) bound: HashSet<String>,
    /// The private names that are getters or setters in one of its classes.
    pub(super) private_accessors: HashSet<String>,
    /// The variables that are read or written, and not only types.
    pub(super) used: HashSet<String>,
    assigned: HashSet<String>,
    declared: HashSet<String>,
}

impl Facts {
    pub(super) fn of(program: &Program<'_>) -> Self {
        let mut facts = Self::default();
        facts.visit_program(program);
        facts
    }

    /// The names that it assigns to and declares nowhere: outside of strict mode, that makes them variables of all scripts.
    /// They count as variables of the script that assigns them.
    pub(super) fn undeclared(&self) -> Vec<String> {
        let assigned = self.assigned.difference(&self.declared);
        assigned.filter(|name| !OF_FILES.contains(&name.as_str())).cloned().collect()
    }

    fn change(&mut self, object: &Expression<'_>) {
        if let Expression::Identifier(id) = object {
            self.changed.insert(id.name.to_string());
        }
    }
}

impl<'a> VisitJs<'a> for Facts {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.used.insert(it.name.to_string());
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.declared.insert(it.name.to_string());
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        match it {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(id) => {
                self.assigned.insert(id.name.to_string());
            }
            SimpleAssignmentTarget::StaticMemberExpression(member) => self.change(&member.object),
            SimpleAssignmentTarget::ComputedMemberExpression(member) => self.change(&member.object),
            _ => {}
        }
        walk_js::walk_simple_assignment_target(self, it);
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        self.assigned.insert(it.binding.name.to_string());
        walk_js::walk_assignment_target_property_identifier(self, it);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if let (PropertyKey::PrivateIdentifier(key), true) = (&it.key, it.kind.is_accessor()) {
            self.private_accessors.insert(key.name.to_string());
        }
        walk_js::walk_method_definition(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (BindingPattern::BindingIdentifier(id), Some(Expression::CallExpression(call))) =
            (&it.id, &it.init)
            && is_bind(call)
        {
            self.bound.insert(id.name.to_string());
        }
        walk_js::walk_variable_declarator(self, it);
    }
}

/// `push.bind(list)`, which makes a function of another one.
pub(super) fn is_bind(call: &CallExpression<'_>) -> bool {
    let is_method =
        matches!(&call.callee, Expression::StaticMemberExpression(it) if it.property.name == "bind");
    // With a text it is another method of that name.
    is_method && !matches!(call.arguments.first(), Some(Argument::StringLiteral(_)))
}

/// The names that an import gives to what it imports.
pub(super) fn imported_names(it: &ImportDeclaration<'_>) -> impl Iterator<Item = String> {
    it.specifiers.iter().flatten().map(|specifier| match specifier {
        ImportDeclarationSpecifier::ImportSpecifier(it) => it.local.name.to_string(),
        ImportDeclarationSpecifier::ImportDefaultSpecifier(it) => it.local.name.to_string(),
        ImportDeclarationSpecifier::ImportNamespaceSpecifier(it) => it.local.name.to_string(),
    })
}

/// Whether Node or a package provides what is imported by this name.
pub(super) fn is_foreign_name(name: &str) -> bool {
    !name.starts_with(['.', '/', '#']) && !name.starts_with("file:")
}

/// `require('fs')`, and what is in it.
pub(super) fn is_foreign_module(init: &Expression<'_>) -> bool {
    match init {
        Expression::CallExpression(call) => {
            let is_require = matches!(&call.callee, Expression::Identifier(id) if id.name == "require");
            let named = call.arguments.first().and_then(Argument::as_expression);
            is_require
                && matches!(named, Some(Expression::StringLiteral(name)) if is_foreign_name(&name.value))
        }
        Expression::StaticMemberExpression(member) => is_foreign_module(&member.object),
        _ => false,
    }
}

pub(super) fn names_of(pattern: &BindingPattern<'_>) -> Vec<String> {
    pattern.get_binding_identifiers().into_iter().map(|id| id.name.to_string()).collect()
}

pub(super) fn names_of_declaration(declaration: &VariableDeclaration<'_>) -> Vec<String> {
    declaration.declarations.iter().flat_map(|each| names_of(&each.id)).collect()
}

pub(super) fn names_of_parameters(parameters: &FormalParameters<'_>) -> Vec<String> {
    let rest = parameters.rest.iter().flat_map(|rest| names_of(&rest.rest.argument));
    parameters.items.iter().flat_map(|each| names_of(&each.pattern)).chain(rest).collect()
}
