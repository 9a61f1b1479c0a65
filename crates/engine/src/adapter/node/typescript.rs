//! What makes Node run TypeScript, and tags in JavaScript.
//!
//! A project's own tool comes first, because it knows the project's settings; then Node itself, which from
//! 22.18 on takes the types out.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use super::super::Host;
use super::interpreter::Version;
use super::options::names_loader;
use super::packages::{Package, is_module_scope};
use crate::error::{Error, Result};

/// What a script needs beside itself.
#[derive(Debug, Default)]
pub(super) struct RuntimeRequirements {
    /// Options of Node.
    pub(super) options: Vec<OsString>,
    /// Variables, unless the user has set them.
    pub(super) env: Vec<(&'static str, String)>,
}

/// What a script needs, by its extension, by what is installed around it (or around the working directory), and by
/// the version. `given` are the existing options: a loader among them is a deliberate choice.
pub(super) fn needs(
    host: &dyn Host,
    version: Version,
    script: &Path,
    cwd: &Path,
    given: &[String],
) -> Result<RuntimeRequirements> {
    let extension = script.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let has_tags = ["tsx", "jsx"].contains(&extension);
    if !(has_tags || ["ts", "mts", "cts"].contains(&extension)) || names_loader(given) {
        return Ok(RuntimeRequirements::default());
    }
    let folder = script.parent().unwrap_or(script);
    let find = |name| Package::find(host, folder, name).or_else(|| Package::find(host, cwd, name));
    if let Some(package) = find("tsx") {
        let loader = package.export(".", "import").unwrap_or_else(|| package.folder.join("dist/loader.mjs"));
        return Ok(imported(version, &loader));
    }
    if version.strips_types() && !has_tags {
        return Ok(RuntimeRequirements::default());
    }
    let is_module = extension == "mts" || (extension != "cts" && is_module_scope(host, folder));
    if extension != "jsx" {
        if let Some(package) = find("ts-node") {
            return Ok(ts_node(host, &package, folder, is_module));
        }
        // It compiles what is below the working directory, and nothing else.
        if let Some(package) = find("@swc-node/register").filter(|_| folder.starts_with(cwd)) {
            return Ok(swc_node(version, &package, is_module));
        }
    }
    Err(no_typescript_runner(script, version, has_tags))
}

/// ts-node searches for the project's settings from the working directory upward. Without settings, it treats a
/// script as a module, which it cannot start this way.
fn ts_node(host: &dyn Host, package: &Package, folder: &Path, is_module: bool) -> RuntimeRequirements {
    let mut settings = folder.ancestors().map(|folder| folder.join("tsconfig.json"));
    let env = match settings.find(|path| host.is_file(path)) {
        Some(path) => vec![("TS_NODE_PROJECT", path.to_string_lossy().into_owned())],
        None if is_module => Vec::new(),
        None => vec![("TS_NODE_COMPILER_OPTIONS", r#"{"module":"commonjs"}"#.to_owned())],
    };
    let options = if is_module {
        vec!["--loader".into(), file_url(&package.folder.join("esm.mjs")).into()]
    } else {
        vec!["--require".into(), package.folder.join("register/index.js").into()]
    };
    RuntimeRequirements { options, env }
}

fn swc_node(version: Version, package: &Package, is_module: bool) -> RuntimeRequirements {
    if is_module {
        let loader = package.export("./esm-register", "import");
        imported(version, &loader.unwrap_or_else(|| package.folder.join("esm/esm-register.mjs")))
    } else {
        // `./register` exports a function that must be called.
        let hook = package.export(".", "require");
        let hook = hook.unwrap_or_else(|| package.folder.join("index.js"));
        RuntimeRequirements { options: vec!["--require".into(), hook.into()], env: Vec::new() }
    }
}

fn imported(version: Version, loader: &Path) -> RuntimeRequirements {
    let option = if version.has_import() { "--import" } else { "--loader" };
    RuntimeRequirements { options: vec![option.into(), file_url(loader).into()], env: Vec::new() }
}

fn no_typescript_runner(script: &Path, version: Version, has_tags: bool) -> Error {
    let Version { major, minor } = version;
    let newer = if has_tags { "" } else { ", use Node.js 22.18 or newer as `executablePath`" };
    Error::Environment {
        problem: format!("Node.js {major}.{minor} cannot run `{}` by itself", script.display()),
        remedy: format!(
            "install `tsx` in the project (`npm install --save-dev tsx`){newer}, give a loader in \
             `runtimeArgs`, or compile it with source maps and start the JavaScript; breakpoints in the \
             TypeScript source still work"
        ),
    }
}

/// The `file:` url of an absolute path.
pub fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' | b'@' | b'+' => {
                url.push(char::from(byte));
            }
            // Writing to a text does not fail.
            _ => drop(write!(url, "%{byte:02X}")),
        }
    }
    url
}
