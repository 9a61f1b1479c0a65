//! Which Node to use, or which command that ends in one.

use std::path::{Path, PathBuf};

use super::super::known::Known;
use super::super::{Host, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::process::ProcessSpec;

/// What the inspector of older ones lacks is not made up for.
const OLDEST: Version = Version { major: 18, minor: 0 };

/// Programs that run JavaScript in something that is not Node, and whose debuggers differ.
const OTHERS: [&str; 4] = ["bun", "bunx", "deno", "qjs"];

/// Programs that take a script as `node` does.
const RUNNERS: [&str; 8] =
    ["tsx", "ts-node", "ts-node-esm", "ts-node-script", "swc-node", "babel-node", "vite-node", "nodemon"];

/// A version of Node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub(super) major: u32,
    pub(super) minor: u32,
}

impl Version {
    /// Reads `20.11.1`, with or without a `v`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = text.trim().trim_start_matches('v').split('.');
        let mut number = || parts.next()?.parse().ok();
        Some(Self { major: number()?, minor: number()? })
    }

    /// Whether it runs TypeScript by taking the types out, without being asked to.
    pub(super) fn strips_types(self) -> bool {
        self >= Self { major: 23, minor: 6 } || (self.major == 22 && self.minor >= 18)
    }

    /// Whether it has `--import`, and can add loaders by it.
    pub(super) fn has_import(self) -> bool {
        self >= Self { major: 20, minor: 6 } || (self.major == 18 && self.minor >= 19)
    }
}

/// Finds the program to run: the requested one, or else `node` on the search path. A program other than Node is
/// assumed to be a command that starts it, such as `npm`.
pub(super) async fn locate(
    host: &dyn Host,
    executable: Option<&Path>,
    near: Option<&Path>,
) -> Result<Runtime> {
    let Some(executable) = executable else {
        let node = host
            .which("node")
            .ok_or_else(|| missing("Node.js was not found: no `node` on PATH".to_owned()))?;
        return probe(host, &node, "`node` on PATH".to_owned()).await;
    };
    let path = find(host, executable, near)?;
    if is_node(&path) {
        return probe(host, &host.permitted(&path)?, "given as `executablePath`".to_owned()).await;
    }
    let name = stem(&path);
    if OTHERS.contains(&name.as_str()) {
        return Err(Error::Unsupported(format!(
            "`{}` is not Node.js, and its debugger is not supported; leave out `executablePath` to use \
             `node`",
            executable.display()
        )));
    }
    let node = host
        .which("node")
        .ok_or_else(|| missing(format!("`{name}` needs Node.js, but there is no `node` on PATH")))?;
    let node = probe(host, &node, String::new()).await?;
    let origin = format!("`{name}` given as `executablePath`; the version is that of `node` on PATH");
    Ok(Runtime { executable: path, origin, ..node })
}

/// The Node that a runtime ends in.
pub(super) fn node_of(host: &dyn Host, runtime: &Runtime) -> Option<PathBuf> {
    if is_node(&runtime.executable) { Some(runtime.executable.clone()) } else { host.which("node") }
}

/// Whether a program is Node by its name: `node`, `nodejs`, `node22`, `node-v20.1`.
pub(super) fn is_node(path: &Path) -> bool {
    let name = stem(path);
    let Some(rest) = name.strip_prefix("node") else { return false };
    let rest = rest.strip_prefix("js").unwrap_or(rest);
    let rest = rest.trim_start_matches(['-', '_']).trim_start_matches('v');
    rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
}

/// Whether a program takes a script as its argument.
pub(super) fn takes_script(path: &Path) -> bool {
    is_node(path) || RUNNERS.contains(&stem(path).as_str())
}

/// The name without the extensions that programs have on Windows and scripts elsewhere.
pub(super) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let known = [".exe", ".cmd", ".ps1", ".mjs", ".cjs", ".js", ".sh"];
    let extension = known.into_iter().find_map(|extension| name.strip_suffix(extension));
    extension.map_or(name.clone(), str::to_owned)
}

/// A path is used unchanged; a name is searched on the search path, then among the commands of packages that are
/// installed around the program.
fn find(host: &dyn Host, executable: &Path, near: Option<&Path>) -> Result<PathBuf> {
    if executable.components().count() > 1 {
        let found = host.is_file(executable).then(|| executable.to_owned());
        return found.ok_or_else(|| executable_not_found(executable));
    }
    let folders = near.into_iter().flat_map(|near| near.ancestors().skip(1));
    let installed = || {
        let mut commands = folders.map(|folder| folder.join("node_modules/.bin").join(executable));
        commands.find(|command| host.is_file(command))
    };
    host.which(&executable.to_string_lossy())
        .or_else(installed)
        .ok_or_else(|| executable_not_found(executable))
}

fn executable_not_found(executable: &Path) -> Error {
    Error::Environment {
        problem: format!("no program `{}`", executable.display()),
        remedy:
            "give the path of `node`, or a command such as `npm` that starts it, as `executablePath`, or \
             leave it out to use `node` on PATH"
                .to_owned(),
    }
}

fn missing(problem: String) -> Error {
    let remedy = "install Node.js 20 or newer, or give its path as `executablePath`".to_owned();
    Error::Environment { problem, remedy }
}

/// The versions of interpreters.
static VERSIONS: Known<String> = Known::new();

async fn probe(host: &dyn Host, path: &Path, origin: String) -> Result<Runtime> {
    let version = VERSIONS.or_ask(path.to_owned(), path, ask(host, path)).await?;
    let major = Version::read(&version).map_or(0, |version| version.major);
    Ok(Runtime { executable: path.to_owned(), version, tag: format!("node-{major}"), origin })
}

async fn ask(host: &dyn Host, path: &Path) -> Result<String> {
    let broken = |problem: String| Error::Environment {
        problem: format!("`{}` {problem}", path.display()),
        remedy: "give the path of a working Node.js as `executablePath`".to_owned(),
    };
    let spec = ProcessSpec {
        program: path.to_owned(),
        args: vec!["--version".into()],
        env: [("NODE_OPTIONS".to_owned(), None)].into(),
        ..ProcessSpec::default()
    };
    let finished = host.run(&spec, deadlines::HELPER).await.map_err(|error| broken(error.to_string()))?;
    let Some(found) = Version::read(&finished.stdout) else {
        return Err(broken(format!("does not report its version: {}", finished.stderr.trim())));
    };
    let version = finished.stdout.trim().trim_start_matches('v').to_owned();
    if found < OLDEST {
        return Err(Error::Unsupported(format!(
            "`{}` is Node.js {version}, which is too old: debugging needs Node.js {} or newer; give a newer \
             one as `executablePath`",
            path.display(),
            OLDEST.major
        )));
    }
    Ok(version)
}
