//! Where debugpy comes from: a private folder, one for each version of Python, filled by pip or uv on first use.
//!
//! The user's environments are never modified. Our scripts that run inside the program, or analyze its source, are
//! stored beside debugpy under a name that changes with their content, so that two versions of stillframe do not
//! interfere.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tokio::sync::Mutex;

use super::super::{Host, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::parts::{folder_with, part_of, put};
use crate::process::ProcessSpec;
use crate::progress::Progress;

/// The version that all facts about debugpy in this project were measured with.
pub const VERSION: &str = "1.8.22";

/// Starts a program.
pub(super) const LAUNCHER: &str = "stillframe_launch.py";
/// Gets into a program that runs.
pub(super) const INJECTOR: &str = "stillframe_attach.py";
/// Runs the analyzer; the folder of our scripts is its argument. Python keeps the bytecode of what is imported, but
/// not of a script.
pub(super) const ANALYZE: &str =
    "import sys; sys.path.insert(0, sys.argv[1]); from stillframe_analyze import main; main()";
/// The folder whose `sitecustomize` brings the debugger into processes that a program in another language starts.
pub(super) const CHILDREN: &str = "children";
/// Modules that run inside the program, by their names, each after those that it imports.
pub(crate) type Modules = &'static [(&'static str, &'static str)];

/// The code that runs inside the program; see [`crate::debugger::python`].
#[derive(Debug)]
pub(crate) struct AgentCode {
    /// What makes text of values.
    pub(crate) values: Modules,
    /// What reads values, evaluates and applies rules of breakpoints.
    pub(crate) agent: Modules,
    /// What records values while the program runs.
    pub(crate) recorder: Modules,
    /// What sees what the program is doing.
    pub(crate) sampler: Modules,
    /// Decides which exceptions cause a stop, and reads assertions with what is in `pure`.
    pub(crate) throws: Modules,
    /// What evaluates expressions that change nothing.
    pub(crate) pure: Modules,
    /// Stops where watched values are written.
    pub(crate) watch: Modules,
}

macro_rules! module {
    ($name:literal) => {
        ($name, include_str!(concat!("../../debuggee/python/", $name, ".py")))
    };
}

/// See [`AgentCode`].
pub(crate) static AGENT: AgentCode = AgentCode {
    values: &[
        module!("stillframe_state"),
        module!("stillframe_modules"),
        module!("stillframe_types"),
        module!("stillframe_errors"),
        module!("stillframe_threads"),
        module!("stillframe_limits"),
        module!("stillframe_known"),
        module!("stillframe_values"),
    ],
    agent: &[
        module!("stillframe_debugger"),
        module!("stillframe_children"),
        module!("stillframe_expressions"),
        module!("stillframe_exceptions"),
        module!("stillframe_rules"),
        module!("stillframe_loaded"),
        module!("stillframe_breakpoints"),
        module!("stillframe_steps"),
        module!("stillframe_stops"),
        module!("stillframe_processes"),
        module!("stillframe_start"),
        module!("stillframe_messages"),
        module!("stillframe_printed"),
        module!("stillframe_ahead"),
        module!("stillframe_agent"),
    ],
    recorder: &[module!("stillframe_monitor"), module!("stillframe_recorder")],
    sampler: &[
        module!("stillframe_numbered"),
        module!("stillframe_code"),
        module!("stillframe_memory"),
        module!("stillframe_locks"),
        module!("stillframe_native"),
        module!("stillframe_tasks"),
        module!("stillframe_turns"),
        module!("stillframe_waits"),
        module!("stillframe_sampler"),
    ],
    throws: &[module!("stillframe_throws"), module!("stillframe_assertions")],
    pure: &[module!("stillframe_equality"), module!("stillframe_pure")],
    watch: &[module!("stillframe_watch")],
};

/// What is in the folder of our scripts beside the agent.
const SCRIPTS: [(&str, &str); 13] = [
    module!("children/sitecustomize"),
    module!("stillframe_launch"),
    module!("stillframe_attach"),
    module!("stillframe_analyze"),
    module!("stillframe_main"),
    module!("stillframe_requests"),
    module!("stillframe_loops"),
    module!("stillframe_tree"),
    module!("stillframe_scripts"),
    module!("stillframe_tests"),
    module!("stillframe_pytest"),
    module!("stillframe_unittest"),
    module!("stillframe_doctest"),
];

/// What changes packages that a program imports, which would keep the debugger or the recorder from seeing its code.
pub(crate) const IMPORTED: [(&str, &str); 3] =
    [module!("stillframe_imports"), module!("stillframe_coverage"), module!("stillframe_pickled")];

/// All of it, as modules.
fn scripts_by_name() -> impl Iterator<Item = (&'static str, &'static str)> {
    let AgentCode { values, agent, recorder, sampler, throws, pure, watch } = &AGENT;
    let modules =
        [*values, *agent, *recorder, *sampler, *throws, *pure, *watch].into_iter().flatten().copied();
    SCRIPTS.into_iter().chain(IMPORTED).chain(modules)
}

/// The folder that holds the `debugpy` package for an interpreter.
pub(super) fn root(host: &dyn Host, runtime: &Runtime) -> PathBuf {
    host.cache_dir().join("python").join(format!("debugpy-{VERSION}-{}", runtime.tag))
}

/// The same, from the folder of our scripts.
pub(super) fn root_beside(scripts: &Path, runtime: &Runtime) -> PathBuf {
    scripts.with_file_name(format!("debugpy-{VERSION}-{}", runtime.tag))
}

/// What the paths of all folders begin with that hold a `debugpy` package, from the folder of our scripts.
pub(super) fn roots_beside(scripts: &Path) -> PathBuf {
    scripts.with_file_name(format!("debugpy-{VERSION}-"))
}

/// The folder of our scripts.
pub(super) fn scripts(host: &dyn Host) -> Result<PathBuf> {
    let files: Vec<_> = scripts_by_name().map(|(name, text)| (format!("{name}.py"), text)).collect();
    folder_with(&host.cache_dir().join("python"), &files)
}

/// Makes sure that debugpy is there for this interpreter, and returns the folder of our scripts beside it.
pub(super) async fn provide(host: &dyn Host, runtime: &Runtime, progress: &Progress) -> Result<PathBuf> {
    /// Ten sessions that start at once must not install ten times.
    static INSTALLING: Mutex<()> = Mutex::const_new(());
    let scripts = scripts(host)?;
    let root = root(host, runtime);
    if is_installed(host, &root) {
        return Ok(scripts);
    }
    let _alone = INSTALLING.lock().await;
    if !is_installed(host, &root) {
        progress.say(format!("installing debugpy {VERSION} for Python {}", runtime.version));
        install(host, runtime, &root).await?;
        progress.say("");
    }
    Ok(scripts)
}

fn is_installed(host: &dyn Host, root: &Path) -> bool {
    host.is_file(&root.join("debugpy/__init__.py"))
}

/// What an interpreter without pip says.
const NO_PIP: &str = "No module named pip";

/// Installs into a folder of its own and moves that into place, so that a half installation is never used
/// and two servers can do it at once.
async fn install(host: &dyn Host, runtime: &Runtime, root: &Path) -> Result<()> {
    let part = part_of(root);
    let mut said = String::new();
    for (program, args, cross) in installers(host, runtime, &part) {
        // uv reads the files of the project around the working folder.
        let cwd = part.parent().map(Path::to_owned);
        let spec = ProcessSpec { program, args, cwd, ..Default::default() };
        let outcome = host.run(&spec, deadlines::INSTALL).await;
        let succeeded = outcome.as_ref().is_ok_and(|finished| finished.success);
        if succeeded && cross {
            compile(host, runtime, &part).await;
        }
        if succeeded {
            return put(&part, root, || is_installed(host, root));
        }
        let problem = match outcome {
            Ok(finished) => last_lines(&finished.stderr),
            Err(error) => error.to_string(),
        };
        // What one that can install says is the reason.
        if said.is_empty() || !problem.contains(NO_PIP) {
            said = problem;
        }
        let _ = std::fs::remove_dir_all(&part);
    }
    let first = if said.contains(NO_PIP) { "install pip or uv" } else { "connect to the network" };
    Err(Error::Environment {
        problem: format!("debugpy {VERSION} could not be installed for Python {}: {said}", runtime.version),
        remedy: format!(
            "{first} and run `stillframe setup python`, or run `{} -m pip install --target {} debugpy=={VERSION}`",
            runtime.executable.display(),
            root.display()
        ),
    })
}

/// What can install, with its arguments, and whether it is another interpreter or none: the interpreter itself, uv, or
/// another one that has pip.
fn installers(host: &dyn Host, runtime: &Runtime, target: &Path) -> Vec<(PathBuf, Vec<OsString>, bool)> {
    let own = (runtime.executable.clone(), pip_arguments(runtime, target, false), false);
    let uv = host.which("uv").map(|uv| (uv, uv_arguments(runtime, target), true));
    let others = ["python3", "python"].into_iter().filter_map(|name| host.which(name));
    let others = others.map(|other| (other, pip_arguments(runtime, target, true), true));
    std::iter::once(own).chain(uv).chain(others).collect()
}

fn uv_arguments(runtime: &Runtime, target: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> =
        ["pip", "install", "--quiet", "--no-deps", "--target"].map(Into::into).to_vec();
    args.extend([target.into(), "--python".into(), runtime.executable.clone().into()]);
    args.push(format!("debugpy=={VERSION}").into());
    args
}

fn pip_arguments(runtime: &Runtime, target: &Path, cross: bool) -> Vec<OsString> {
    let mut args: Vec<OsString> =
        ["-m", "pip", "install", "--quiet", "--no-deps", "--no-input"].map(Into::into).to_vec();
    // debugpy says that it needs Python 3.10, and works with 3.8 and 3.9.
    args.push("--ignore-requires-python".into());
    args.extend(["--disable-pip-version-check", "--no-warn-script-location", "--target"].map(Into::into));
    args.push(target.into());
    if cross {
        let version: Vec<&str> = runtime.version.split('.').take(2).collect();
        args.extend(["--only-binary=:all:".into(), "--python-version".into(), version.join(".").into()]);
    }
    args.push(format!("debugpy=={VERSION}").into());
    args
}

/// Compiles what another version of Python installed. Without it every start takes 200 ms longer; a failure
/// costs no more than that.
async fn compile(host: &dyn Host, runtime: &Runtime, target: &Path) {
    let args = vec!["-m".into(), "compileall".into(), "-q".into(), target.into()];
    let spec = ProcessSpec { program: runtime.executable.clone(), args, ..Default::default() };
    let _ = host.run(&spec, deadlines::INSTALL).await;
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join("; ")
}
