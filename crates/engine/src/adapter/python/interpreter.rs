//! Which Python to use.

use std::path::{Path, PathBuf};

use super::super::known::Known;
use super::super::{Host, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::process::ProcessSpec;

/// debugpy does not work with older ones, and does not say so either.
const OLDEST: (u32, u32) = (3, 8);

/// Has an interpreter print its version, the tag of its bytecode, and its executable, a line each. Must run on any Python
/// from 2.7 on, so that old versions are distinguished from programs other than Python. `json` would take as long as
/// the start of the interpreter.
const PROBE: &str = "import sys; \
    print('Python %d.%d.%d' % sys.version_info[:3]); \
    print(getattr(getattr(sys, 'implementation', None), 'cache_tag', None) or 'python-%d%d' % sys.version_info[:2]); \
    print(sys.executable or '')";

/// Folders that virtual environments are mostly made in.
pub(super) const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// Finds the interpreter: the requested one, else that of a virtual environment around the
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

/// What interpreters say of themselves.
static RUNTIMES: Known<Runtime> = Known::new();

async fn probe(host: &dyn Host, path: &Path, origin: String) -> Result<Runtime> {
    let runtime = RUNTIMES.or_ask(path.to_owned(), path, ask(host, path)).await?;
    Ok(Runtime { origin, ..runtime })
}

async fn ask(host: &dyn Host, path: &Path) -> Result<Runtime> {
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
    let mut answer = finished.stdout.lines();
    let version = answer.next().and_then(|line| line.strip_prefix("Python "));
    let (Some(version), Some(tag), executable) = (version, answer.next(), answer.next().unwrap_or_default())
    else {
        let said = finished.stderr.trim();
        let why = if said.is_empty() { String::new() } else { format!(": {said}") };
        return Err(broken(format!("is not a Python interpreter{why}")));
    };
    check_version(path, version)?;
    // A shim that picks a version would pick again, and take its time, at every start.
    let executable = if executable.is_empty() { path } else { Path::new(executable) };
    let (executable, version, tag) = (executable.to_owned(), version.to_owned(), tag.to_owned());
    Ok(Runtime { executable, version, tag, origin: String::new() })
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
