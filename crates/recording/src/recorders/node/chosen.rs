//! Which code is recorded, if files, packages or functions were named.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use oxc_span::Span;

/// What was named; everything if nothing was.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// Absolute paths, and what files, packages and functions may be called.
    pub(super) names: Vec<String>,
    /// The folder that the program runs in.
    pub(super) folder: PathBuf,
}

impl Chosen {
    /// The functions of a script that stay as they are; none if all of the script does. A function that was named is recorded
    /// with those in it and around it.
    pub(super) fn skipped(&self, paths: [&Path; 2], functions: &[(String, Span)]) -> Option<Vec<Span>> {
        if self.names.is_empty() || paths.iter().any(|path| self.has_file(path)) {
            return Some(Vec::new());
        }
        let is_named = |function: &str| {
            let dotted = format!(".{function}.");
            self.names.iter().any(|name| dotted.contains(&format!(".{name}.")))
        };
        let named: Vec<Span> =
            functions.iter().filter(|(name, _)| is_named(name)).map(|(_, span)| *span).collect();
        let is_near = |span: Span| {
            named.iter().any(|one| one.contains_inclusive(span) || span.contains_inclusive(*one))
        };
        let others = functions.iter().map(|(_, span)| *span).filter(|span| !is_near(*span));
        (!named.is_empty()).then(|| others.collect())
    }

    fn has_file(&self, path: &Path) -> bool {
        let inside = path.strip_prefix(&self.folder).unwrap_or(path);
        let stem = inside.with_extension("");
        self.names.iter().any(|name| {
            let wanted: Vec<&OsStr> = Path::new(name).iter().collect();
            if Path::new(name).is_absolute() {
                return path.starts_with(name);
            }
            [inside, &stem].into_iter().any(|path| {
                let parts: Vec<&OsStr> = path.iter().collect();
                match parts.iter().rposition(|part| *part == "node_modules") {
                    Some(at) => parts.get(at + 1..).is_some_and(|package| package.starts_with(&wanted)),
                    None => parts.windows(wanted.len().max(1)).any(|part| part == wanted),
                }
            })
        })
    }
}
