//! What a source imports. A compiler that makes `require` of `import` gives these names up: `price` becomes
//! `(0, pricing_1.price)`.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_ast::ast::{IdentifierReference, ImportDeclarationSpecifier, Statement};
use oxc_ast_visit::VisitJs;
use oxc_span::SourceType;

use super::line_starts::LineStarts;
use crate::source_map::Position;

/// The uses of a name that are inspected.
const MOST_USES: usize = 20;

/// A name that a source imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) local: String,
    /// What it is in its module; none for all of that.
    pub(crate) exported: Option<String>,
    /// Where the source uses it, 0-based.
    pub(crate) uses: Vec<Position>,
}

/// The names that a source imports.
pub(crate) fn imports(text: &str, path: &Path) -> Vec<Import> {
    let read = || {
        let allocator = Allocator::default();
        let kind = SourceType::from_path(path).unwrap_or_default();
        let program = super::parse(&allocator, text, kind).program;
        let mut uses = Uses { text, lines: LineStarts::of(text), imports: Vec::new() };
        for statement in &program.body {
            let Statement::ImportDeclaration(import) = statement else { continue };
            for specifier in import.specifiers.iter().flatten() {
                let exported = match specifier {
                    ImportDeclarationSpecifier::ImportSpecifier(it) => Some(it.imported.name().to_string()),
                    ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => Some("default".to_owned()),
                    ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => None,
                };
                let local = specifier.local().name.to_string();
                uses.imports.push(Import { local, exported, uses: Vec::new() });
            }
        }
        uses.visit_program(&program);
        uses.imports
    };
    super::parsing(text, read).unwrap_or_default()
}

struct Uses<'t> {
    text: &'t str,
    lines: LineStarts,
    imports: Vec<Import>,
}

impl<'a> VisitJs<'a> for Uses<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let place = || self.lines.position(it.span.start, self.text);
        let import = self.imports.iter_mut().find(|import| it.name == import.local.as_str());
        if let Some(import) = import.filter(|import| import.uses.len() < MOST_USES) {
            import.uses.push(place());
        }
    }
}

impl Import {
    /// What a script calls it, by the text that it has for a use of it. None where it has the same name.
    pub(crate) fn in_script(&self, text: &str) -> Option<String> {
        let text = text.strip_prefix("(0,").map_or(text, str::trim_start);
        let (module, rest) = word(text);
        if module.is_empty() || module == self.local {
            return None;
        }
        let Some(exported) = &self.exported else {
            // A bundler writes `rate(x)` for `all.rate(x)`.
            return rest.starts_with('.').then(|| module.to_owned());
        };
        let (property, _) = word(rest.strip_prefix('.')?);
        (property == exported).then(|| format!("{module}.{property}"))
    }
}

/// A name at the start of a text, and what follows.
fn word(text: &str) -> (&str, &str) {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    text.split_at(text.find(|letter| !is_part(letter)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_with_their_uses() {
        let text = "import _, { sum as add, type T } from 'lodash';\nimport * as all from './all';\n\
                    let x: T = add(_.max([1]));\nall.f({ add });";
        let found = imports(text, Path::new("a.ts"));
        let uses = |name: &str| found.iter().find(|import| import.local == name).unwrap().clone();
        assert_eq!(uses("_").exported.as_deref(), Some("default"));
        assert_eq!((uses("add").exported.as_deref(), uses("add").uses), (Some("sum"), vec![(2, 11), (3, 8)]));
        assert_eq!((uses("all").exported, uses("all").uses), (None, vec![(3, 0)]));
    }

    #[test]
    fn compilers_write_imports_as_members_of_modules() {
        let import = |exported: Option<&str>| {
            let exported = exported.map(str::to_owned);
            Import { local: "price".to_owned(), exported, uses: Vec::new() }
        };
        for (exported, text, expected) in [
            (Some("price"), "(0, pricing_1.price)(x)", Some("pricing_1.price")),
            (Some("price"), "(0,import_pricing.price)(x)", Some("import_pricing.price")),
            (Some("default"), "__vi_import_0__.default.sum", Some("__vi_import_0__.default")),
            (None, "__vi_import_2__.sum(x)", Some("__vi_import_2__")),
            (None, "rate(x)", None),
            (Some("price"), "price(x)", None),
            (Some("price"), "pricing_1.other", None),
        ] {
            assert_eq!(import(exported).in_script(text).as_deref(), expected, "{text}");
        }
    }
}
