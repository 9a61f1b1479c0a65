//! The files of packages, by the rules of Node's resolution.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::adapter::Host;
use crate::adapter::by_name::{Lookup, NamedFile, is_there};

/// Folders below the home that Node searches last.
const OF_HOME: [&str; 2] = [".node_modules", ".node_libraries"];
/// What may be left out at the end of a file's name.
const ENDINGS: [&str; 9] =
    ["", ".js", ".json", ".node", ".cjs", ".mjs", "/index.js", "/index.json", "/index.node"];
/// Fields of a `package.json` that name files of the package.
const FIELDS: [&str; 5] = ["main", "module", "bin", "exports", "imports"];

/// The files that are read for a package or a command of one, and what leads to them.
pub(super) fn files(lookup: &Lookup<'_>, specifier: &str) -> Vec<NamedFile> {
    let Some((name, subpath)) = parts(specifier) else { return Vec::new() };
    let mut found = Vec::new();
    for base in lookup.folder.ancestors() {
        let modules = base.join("node_modules");
        let mut paths = in_folder(lookup.host, &modules, name, subpath);
        paths.extend([modules.join(".bin").join(specifier)].into_iter().filter(|path| is_there(path)));
        if !paths.is_empty() {
            paths.insert(0, modules);
        }
        if let Some(manifest) = manifest(lookup.host, base)
            && (name.starts_with('#') || manifest.get("name").and_then(Value::as_str) == Some(name))
        {
            paths.extend(targets(base, &manifest));
        }
        found.extend(paths.into_iter().map(|path| NamedFile { base: base.to_owned(), path }));
    }
    let home = lookup.folders_in("HOME").into_iter().flat_map(|home| OF_HOME.map(|name| home.join(name)));
    for base in lookup.folders_in("NODE_PATH").into_iter().chain(home) {
        let paths = in_folder(lookup.host, &base, name, subpath);
        found.extend(paths.into_iter().map(|path| NamedFile { base: base.clone(), path }));
    }
    found
}

/// The package of a specifier, and the file in it: `@scope/name/file`. None of a path, an option or an address.
fn parts(specifier: &str) -> Option<(&str, &str)> {
    let is_name = !specifier.starts_with(['.', '/', '-'])
        && !specifier.is_empty()
        && !specifier.contains(|char: char| char.is_whitespace() || char == ':');
    let slashes = usize::from(specifier.starts_with('@'));
    let end = specifier.match_indices('/').nth(slashes).map_or(specifier.len(), |(at, _)| at);
    let (name, rest) = specifier.split_at_checked(end)?;
    is_name.then(|| (name, rest.trim_start_matches('/')))
}

/// What is there of a package in a folder of packages.
fn in_folder(host: &dyn Host, folder: &Path, name: &str, subpath: &str) -> Vec<PathBuf> {
    let package = folder.join(name);
    let mut paths = with_endings(&package);
    if !is_there(&package) {
        return paths;
    }
    if !subpath.is_empty() {
        paths.extend(with_endings(&package.join(subpath)));
    }
    paths.extend(manifest(host, &package).iter().flat_map(|manifest| targets(&package, manifest)));
    paths
}

fn with_endings(path: &Path) -> Vec<PathBuf> {
    let whole = |ending: &str| {
        let mut whole = path.as_os_str().to_owned();
        whole.push(ending);
        PathBuf::from(whole)
    };
    ENDINGS.iter().map(|ending| whole(ending)).filter(|path| is_there(path)).collect()
}

fn manifest(host: &dyn Host, package: &Path) -> Option<Value> {
    serde_json::from_str(&host.read(&package.join("package.json"))?).ok()
}

/// The files that a package's description names. Of a pattern, the folder before it.
fn targets(package: &Path, manifest: &Value) -> Vec<PathBuf> {
    let mut texts = Vec::new();
    FIELDS.iter().filter_map(|field| manifest.get(field)).for_each(|field| collect(field, &mut texts));
    let paths = texts.iter().map(|text| package.join(text.split('*').next().unwrap_or_default()));
    paths.flat_map(|path| with_endings(&path)).collect()
}

fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, texts)),
        Value::Object(object) => object.values().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_specifier_is_a_package_and_a_file_in_it() {
        let table = [
            ("evil", Some(("evil", ""))),
            ("evil/lib/a.js", Some(("evil", "lib/a.js"))),
            ("@scope/evil", Some(("@scope/evil", ""))),
            ("@scope/evil/a", Some(("@scope/evil", "a"))),
            ("#inner", Some(("#inner", ""))),
            ("./a", None),
            ("/a", None),
            ("-r", None),
            ("node:fs", None),
            ("", None),
        ];
        for (specifier, expected) in table {
            assert_eq!(parts(specifier), expected, "{specifier}");
        }
    }
}
