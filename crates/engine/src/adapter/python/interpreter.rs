//! Which Python to use.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Deserialize;

use super::super::{Host, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::process::ProcessSpec;

/// debugpy does not work with older ones, and does not say so either.
const OLDEST: (u32, u32) = (3, 8);

/// Asks an interpreter for its identity. Must run on any Python from 2.7 on, so that old versions are distinguished
/// from programs other than Python.
const PROBE: &str = "import json, sys; print(json.dumps({\
    'executable': sys.executable, \
    'version': '.'.join(str(part) for part in sys.version_info[:3]), \
    'tag': getattr(getattr(sys, 'implementation', None), 'cache_tag', None) or 'python-%d%d' % sys.version_info[:2]}))";

/// Folders that virtual environments are mostly made in.
pub(super) const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

#[derive(Deserialize)]
struct InterpreterInfo {
    executable: String,
    version: String,
    tag: String,
}

/// Finds the interpreter: the one that was asked for, else that of a virtual environment around the
/// program, of the active one, and `python3` and `python` on the search path.
pub(super) async fn locate(
    host: &dyn Host,
    executable: Option<&Path>,
    near: Option<&Path>,
) -> Result<Runtime> {
    if let Some(executable) = executable {
        let path = if executable.components().count() > 1 {
            executable.to_owned()
        } else {
            host.which(&executable.to_string_lossy()).unwrap_or_else(|| executable.to_owned())
        };
        if !host.is_file(&path) {
            return Err(Error::Environment {
                problem: format!("no Python interpreter `{}`", executable.display()),
                remedy: "give the path of one as `executablePath`, or leave it out to use the default"
                    .to_owned(),
            });
        }
        return probe(host, &host.permitted(&path)?, "given as `executablePath`".to_owned()).await;
    }
    let mut refused = None;
    for (path, origin) in candidates(host, near) {
        // One that does not answer (a shim without a version behind it) gives way to the next, as does one that
        // must not be run.
        let permitted = match host.permitted(&path) {
            Ok(permitted) => permitted,
            Err(error) => {
                refused = refused.or(Some(error));
                continue;
            }
        };
        match probe(host, &permitted, origin).await {
            Err(Error::Environment { problem, .. }) => tracing::debug!(problem, "skipped an interpreter"),
            Ok(runtime) => return Ok(with_refusal(runtime, refused)),
            other => return other,
        }
    }
    Err(refused.unwrap_or_else(|| Error::Environment {
        problem: "no Python interpreter was found".to_owned(),
        remedy: "install Python 3.8 or newer, or give its path as `executablePath`".to_owned(),
    }))
}

/// An interpreter, with what was passed over for it.
fn with_refusal(runtime: Runtime, refused: Option<Error>) -> Runtime {
    let Some(Error::Environment { problem, .. }) = refused else { return runtime };
    Runtime { origin: format!("{}, because {problem}", runtime.origin), ..runtime }
}

fn candidates(host: &dyn Host, near: Option<&Path>) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let folders = near.into_iter().flat_map(|path| path.ancestors().skip(1));
    for environment in folders.flat_map(|folder| ENVIRONMENTS.map(|name| folder.join(name))) {
        if let Some(python) = in_environment(host, &environment) {
            found.push((python, format!("from the virtual environment `{}`", environment.display())));
        }
    }
    if let Some(environment) = host.env("VIRTUAL_ENV")
        && let Some(python) = in_environment(host, Path::new(&environment))
    {
        found.push((python, "from the active virtual environment".to_owned()));
    }
    for name in ["python3", "python"] {
        if let Some(python) = host.which(name) {
            found.push((python, format!("`{name}` on PATH")));
        }
    }
    found
}

fn in_environment(host: &dyn Host, environment: &Path) -> Option<PathBuf> {
    ["bin/python", "Scripts/python.exe"]
        .into_iter()
        .map(|python| environment.join(python))
        .find(|python| host.is_file(python))
}

/// When a file was changed, and what it answered then.
type CachedRuntime = (Option<SystemTime>, Runtime);

/// What interpreters answered before, with the time of their files.
static KNOWN: LazyLock<Mutex<HashMap<PathBuf, CachedRuntime>>> = LazyLock::new(Mutex::default);

async fn probe(host: &dyn Host, path: &Path, origin: String) -> Result<Runtime> {
    let changed = path.metadata().and_then(|file| file.modified()).ok();
    if let Some((then, runtime)) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(path)
        && *then == changed
        && changed.is_some()
    {
        return Ok(Runtime { origin, ..runtime.clone() });
    }
    let broken = |problem: String| Error::Environment {
        problem: format!("`{}` {problem}", path.display()),
        remedy: "give the path of a Python interpreter as `executablePath`".to_owned(),
    };
    let args = ["-I", "-S", "-c", PROBE].map(Into::into).to_vec();
    let spec = ProcessSpec { program: path.to_owned(), args, ..Default::default() };
    let mut finished = host.run(&spec, deadlines::HELPER).await.map_err(|error| broken(error.to_string()))?;
    if !finished.success {
        // Python 2 does not know `-I`.
        let args = ["-S", "-c", PROBE].map(Into::into).to_vec();
        let spec = ProcessSpec { program: path.to_owned(), args, ..Default::default() };
        finished = host.run(&spec, deadlines::HELPER).await.map_err(|error| broken(error.to_string()))?;
    }
    let Ok(answer) = serde_json::from_str::<InterpreterInfo>(&finished.stdout) else {
        return Err(broken(format!("is not a Python interpreter: {}", finished.stderr.trim())));
    };
    check_version(path, &answer.version)?;
    // A shim that picks a version would pick again, and take its time, at every start.
    let executable = if answer.executable.is_empty() { path.to_owned() } else { answer.executable.into() };
    let runtime = Runtime { executable, version: answer.version, tag: answer.tag, origin };
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), (changed, runtime.clone()));
    Ok(runtime)
}

fn check_version(path: &Path, version: &str) -> Result<()> {
    let mut parts = version.split('.').map_while(|part| part.parse::<u32>().ok());
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if found >= OLDEST {
        return Ok(());
    }
    // Not `Environment`: an interpreter that is there and too old must not be passed over without a word.
    Err(Error::Unsupported(format!(
        "`{}` is Python {version}, but debugging needs Python {}.{} or newer; give a newer one as \
         `executablePath`",
        path.display(),
        OLDEST.0,
        OLDEST.1,
    )))
}
