//! Packages as npm, pnpm and yarn install them: in `node_modules` folders, the nearest one first.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::super::Host;
use crate::error::{Error, Result};
use crate::sources;

/// A package that is installed.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) folder: PathBuf,
    /// Its `package.json`.
    pub(super) manifest: Value,
}

impl Package {
    /// The package of that name that code in a folder gets.
    pub(super) fn find(host: &dyn Host, from: &Path, name: &str) -> Option<Self> {
        let folders = from.ancestors().map(|folder| folder.join("node_modules").join(name));
        folders.into_iter().find_map(|folder| Self::read(host, folder))
    }

    fn read(host: &dyn Host, folder: PathBuf) -> Option<Self> {
        let manifest = serde_json::from_str(&host.read(&folder.join("package.json"))?).ok()?;
        Some(Self { folder, manifest })
    }

    /// The script behind one of its commands. The command that is named like the package may go without a name.
    fn bin(&self, name: &str) -> Option<PathBuf> {
        let script = match self.manifest.get("bin")? {
            Value::String(only) => (self.own_name() == name).then_some(only.as_str()),
            Value::Object(several) => several.get(name).and_then(Value::as_str),
            _ => None,
        };
        Some(joined(&self.folder, script?))
    }

    /// Its only command, or the one that is named like it.
    fn main_bin(&self) -> Option<PathBuf> {
        let own = self.own_name().to_owned();
        self.bin(&own).or_else(|| {
            let several = self.manifest.get("bin")?.as_object()?;
            let only = several.values().next().filter(|_| several.len() == 1)?;
            Some(joined(&self.folder, only.as_str()?))
        })
    }

    /// The file behind `PACKAGE/SUBPATH`, for `.` the package itself.
    pub(super) fn export(&self, subpath: &str, condition: &str) -> Option<PathBuf> {
        let exports = self.manifest.get("exports")?;
        let target = match exports.get(subpath) {
            Some(target) => target,
            None if subpath == "." && exports.is_string() => exports,
            None => return None,
        };
        Some(joined(&self.folder, chosen(target, condition)?))
    }

    fn own_name(&self) -> &str {
        let name = self.manifest.get("name").and_then(Value::as_str).unwrap_or_default();
        name.rsplit('/').next().unwrap_or_default()
    }
}

/// Whether the `.js` and `.ts` files in a folder are ES modules.
pub(super) fn is_module_scope(host: &dyn Host, folder: &Path) -> bool {
    let manifests = folder.ancestors().map(|folder| host.read(&folder.join("package.json")));
    let nearest = manifests.into_iter().flatten().next();
    let manifest = nearest.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    manifest.is_some_and(|manifest| manifest.get("type").and_then(Value::as_str) == Some("module"))
}

/// The script behind `name`: a package with a command, a command of any package, or a file of a package, as
/// `jest/bin/jest.js`.
pub(super) fn script(host: &dyn Host, from: &Path, name: &str) -> Result<PathBuf> {
    command(host, from, name).or_else(|| file(host, from, name)).ok_or_else(|| {
        let near = sources::nearest_names(name, commands(host, from));
        let hint = if near.is_empty() {
            "no package with a command is installed for that folder".to_owned()
        } else {
            format!("installed: {}", near.join(", "))
        };
        Error::Environment {
            problem: format!(
                "no package `{name}` with a command is installed for `{}`; {hint}",
                from.display()
            ),
            remedy: format!(
                "install it with `npm install --save-dev {name}`, or give the `cwd` where it is installed"
            ),
        }
    })
}

/// The script behind `node_modules/.bin/NAME`, which with pnpm is a shell script, and on Windows always.
pub(super) fn behind_shim(host: &dyn Host, path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| folder.ends_with("node_modules/.bin"))?;
    let name = super::interpreter::stem(path);
    command(host, folder.parent()?.parent()?, &name)
}

fn command(host: &dyn Host, from: &Path, name: &str) -> Option<PathBuf> {
    let named = Package::find(host, from, name);
    let bare = name.rsplit('/').next().unwrap_or(name);
    let own = named.and_then(|package| package.bin(bare).or_else(|| package.main_bin()));
    own.or_else(|| command_of_any(host, from, name))
}

/// Every package is looked into, but only below a `node_modules` that has the command.
fn command_of_any(host: &dyn Host, from: &Path, name: &str) -> Option<PathBuf> {
    if Path::new(name).components().count() != 1 {
        return None;
    }
    let folders = from.ancestors().map(|folder| folder.join("node_modules"));
    let folder = folders.into_iter().find(|folder| host.is_file(&folder.join(".bin").join(name)))?;
    let packages = package_folders(host, &folder).into_iter();
    packages.filter_map(|folder| Package::read(host, folder)).find_map(|package| package.bin(name))
}

fn package_folders(host: &dyn Host, folder: &Path) -> Vec<PathBuf> {
    let inside = |name: String| {
        let path = folder.join(&name);
        if name.starts_with('@') {
            host.names_in(&path).into_iter().map(|name| path.join(name)).collect()
        } else {
            vec![path]
        }
    };
    host.names_in(folder).into_iter().filter(|name| !name.starts_with('.')).flat_map(inside).collect()
}

fn file(host: &dyn Host, from: &Path, name: &str) -> Option<PathBuf> {
    if Path::new(name).components().count() < 2 {
        return None;
    }
    let base = from.ancestors().map(|folder| folder.join("node_modules").join(name));
    let with = |base: PathBuf| {
        let endings = ["", ".js", ".mjs", ".cjs"];
        let mut paths =
            endings.into_iter().map(|ending| PathBuf::from(format!("{}{ending}", base.display())));
        paths.find(|path| host.is_file(path))
    };
    base.into_iter().find_map(with)
}

/// The commands that are installed around a folder.
fn commands(host: &dyn Host, from: &Path) -> Vec<String> {
    let folders = from.ancestors().map(|folder| folder.join("node_modules/.bin"));
    let mut names: Vec<String> = folders.into_iter().flat_map(|folder| host.names_in(&folder)).collect();
    names.sort();
    names.dedup();
    names
}

/// The first target of a conditional export that Node would take.
fn chosen<'v>(target: &'v Value, condition: &str) -> Option<&'v str> {
    match target {
        Value::String(path) => Some(path),
        Value::Object(several) => {
            let applies = |name: &str| name == condition || name == "node" || name == "default";
            several.iter().filter(|(name, _)| applies(name)).find_map(|(_, inner)| chosen(inner, condition))
        }
        _ => None,
    }
}

/// `folder` and `./dist/x.js` without the `.` between.
fn joined(folder: &Path, relative: &str) -> PathBuf {
    let parts = Path::new(relative).components().filter(|part| !matches!(part, Component::CurDir));
    parts.fold(folder.to_owned(), |path, part| path.join(part))
}

/// The scripts of the package that a folder is in, by name.
pub(super) fn scripts(host: &dyn Host, from: &Path) -> Vec<(String, String)> {
    let mut manifests = from.ancestors().filter_map(|folder| host.read(&folder.join("package.json")));
    let scripts = manifests.find_map(|text| serde_json::from_str::<Value>(&text).ok());
    let scripts = scripts.as_ref().and_then(|manifest| manifest.get("scripts")?.as_object());
    let text = |(name, script): (&String, &Value)| Some((name.clone(), script.as_str()?.to_owned()));
    scripts.into_iter().flatten().filter_map(text).collect()
}
