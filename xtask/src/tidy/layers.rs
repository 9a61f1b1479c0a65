//! Which module of the engine may use which: only those before it in the list of `ARCHITECTURE.md`.
//!
//! A use is a path that begins with `crate::` or with as many `super::` as leave the module, in a `use` or anywhere
//! else, macros included. Tests may use what they like.

mod paths;

use std::collections::BTreeMap;

use self::paths::Paths;
use super::Finding;
use crate::repository::File;

const DOCUMENT: &str = "ARCHITECTURE.md";
/// Begins the list: modules between `·`, each of which may use those before it.
const FENCE: &str = "```layers";
const SOURCES: &str = "crates/engine/src/";

/// Arrows against the order, modules without a place in it, and places without a module.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    let modules: BTreeMap<&str, &File> =
        files.iter().filter_map(|file| Some((top_level(&file.path)?, file))).collect();
    let Some(document) = files.iter().find(|file| file.path == DOCUMENT) else { return Vec::new() };
    let order = order(document);
    let place = |name: &str| order.iter().position(|(_, listed)| *listed == name);

    let mut findings = Vec::new();
    for (at, (line, name)) in order.iter().enumerate() {
        if !modules.contains_key(name) {
            findings.push(Finding::new(DOCUMENT, *line, format!("`{SOURCES}` has no module `{name}`")));
        } else if place(name) != Some(at) {
            findings.push(Finding::new(DOCUMENT, *line, format!("`{name}` is listed twice")));
        }
    }
    for (name, file) in &modules {
        if place(name).is_none() {
            let what = format!("`{name}` has no place in the layers of {DOCUMENT}");
            findings.push(Finding::new(&file.path, 1, what));
        }
    }

    let paths = Paths::of(files, SOURCES);
    for used in paths.outside_of_tests() {
        let (Some(from), Some(to)) = (place(used.by), place(&used.name)) else { continue };
        if to > from {
            let line = order.get(to).map_or(1, |(line, _)| *line);
            let what = format!(
                "`{}` must not use `{}`, which is above it in the layers ({DOCUMENT}:{line}): move the name that is \
                 needed down",
                used.by, used.name
            );
            findings.push(Finding::new(used.path, used.line, what));
        }
    }
    findings
}

/// The name of a module that is declared in `lib.rs`, by the path of its file.
fn top_level(path: &str) -> Option<&str> {
    let name = path.strip_prefix(SOURCES)?.strip_suffix(".rs")?;
    (!name.contains('/') && name != "lib").then_some(name)
}

/// The modules in their order, with the lines of the document that list them.
fn order(document: &File) -> Vec<(usize, &str)> {
    let lines = document.lines().skip_while(|(_, line)| *line != FENCE).skip(1);
    let lines = lines.take_while(|(_, line)| !line.starts_with("```"));
    lines
        .flat_map(|(number, line)| line.split('·').map(move |name| (number, name.trim())))
        .filter(|(_, name)| !name.is_empty())
        .collect()
}

#[cfg(test)]
mod tests;
