//! What a module imports from others of the program, and which of its own variables others see change.

use std::collections::HashSet;

use oxc_ast::ast::{Declaration, ImportDeclaration, ModuleExportName, Program, Statement};

use super::scopes::{Facts, imported_names, is_foreign_name, names_of_declaration};

/// Names of a module.
#[derive(Debug, Default)]
pub(super) struct ModuleNames {
    /// Those that it imports and uses, and where the import is. One that is not used may be a type.
    pub(super) imports: Vec<(String, u32)>,
    /// The variables that it exports.
    pub(super) exports: HashSet<String>,
}

impl ModuleNames {
    pub(super) fn of(program: &Program<'_>, facts: &Facts) -> Self {
        let mut names = Self::default();
        for statement in &program.body {
            match statement {
                Statement::ImportDeclaration(it) => names.imports.extend(imports_of(it, &facts.used)),
                Statement::ExportDeclaration(it) => {
                    if let Declaration::VariableDeclaration(it) = &it.declaration {
                        names.exports.extend(names_of_declaration(it));
                    }
                }
                Statement::ExportNamedDeclaration(it) => {
                    let local = it.specifiers.iter().filter_map(|specifier| match &specifier.local {
                        ModuleExportName::IdentifierReference(it) => Some(it.name.to_string()),
                        _ => None,
                    });
                    names.exports.extend(local);
                }
                _ => {}
            }
        }
        names
    }
}

fn imports_of(it: &ImportDeclaration<'_>, used: &HashSet<String>) -> Vec<(String, u32)> {
    // To read what is imported as `defer` would run that module.
    let is_value = !it.import_kind.is_type() && it.phase.is_none();
    if !is_value || is_foreign_name(&it.source.value) {
        return Vec::new();
    }
    let names = imported_names(it).filter(|name| used.contains(name));
    names.map(|name| (name, it.span.start)).collect()
}
