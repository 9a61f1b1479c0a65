//! Where debugpy comes from: a private folder, one for each version of Python, filled by pip on first use.
//!
//! The user's environments are never written to. The scripts of ours that run inside the program, or look
//! at its source, are kept beside it under a name that changes with their content, so that two versions of
//! stillframe do not get in each other's way.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tokio::sync::Mutex;

use super::super::{Host, Runtime};
use crate::deadlines;
use crate::debugger::Progress;
use crate::error::{Error, Result};
use crate::process::ProcessSpec;

/// The version that all facts about debugpy in this project were measured with.
pub const VERSION: &str = "1.8.22";

/// Starts a program.
pub(super) const LAUNCHER: &str = "stillframe_launch.py";
/// Gets into a program that runs.
pub(super) const INJECTOR: &str = "stillframe_attach.py";
/// Reads source files.
pub(super) const ANALYZER: &str = "stillframe_analyze.py";
/// What runs inside the program. It is sent to programs that were not started by us.
pub(super) const INSPECTOR: &str = include_str!("../../debuggee/python/stillframe_inspector.py");

/// What records inside the program, by the names of the modules.
pub(super) const RECORDER: [(&str, &str); 2] = [
    ("stillframe_monitor", include_str!("../../debuggee/python/stillframe_monitor.py")),
    ("stillframe_recorder", include_str!("../../debuggee/python/stillframe_recorder.py")),
];

/// What sees what the program is doing, in the same way.
pub(super) const SAMPLER: [(&str, &str); 6] = [
    ("stillframe_code", include_str!("../../debuggee/python/stillframe_code.py")),
    ("stillframe_locks", include_str!("../../debuggee/python/stillframe_locks.py")),
    ("stillframe_native", include_str!("../../debuggee/python/stillframe_native.py")),
    ("stillframe_tasks", include_str!("../../debuggee/python/stillframe_tasks.py")),
    ("stillframe_waits", include_str!("../../debuggee/python/stillframe_waits.py")),
    ("stillframe_sampler", include_str!("../../debuggee/python/stillframe_sampler.py")),
];

/// What decides inside the program which exceptions are worth a stop, and looks into assertions.
pub(super) const THROWS: [(&str, &str); 2] = [
    ("stillframe_throws", include_str!("../../debuggee/python/stillframe_throws.py")),
    ("stillframe_assertions", include_str!("../../debuggee/python/stillframe_assertions.py")),
];

/// What evaluates expressions that change nothing.
pub(super) const PURE: [(&str, &str); 2] = [
    ("stillframe_equality", include_str!("../../debuggee/python/stillframe_equality.py")),
    ("stillframe_pure", include_str!("../../debuggee/python/stillframe_pure.py")),
];

const SCRIPTS: [(&str, &str); 20] = [
    (LAUNCHER, include_str!("../../debuggee/python/stillframe_launch.py")),
    (INJECTOR, include_str!("../../debuggee/python/stillframe_attach.py")),
    (ANALYZER, include_str!("../../debuggee/python/stillframe_analyze.py")),
    ("stillframe_loops.py", include_str!("../../debuggee/python/stillframe_loops.py")),
    ("stillframe_inspector.py", INSPECTOR),
    ("stillframe_equality.py", PURE[0].1),
    ("stillframe_pure.py", PURE[1].1),
    ("stillframe_monitor.py", RECORDER[0].1),
    ("stillframe_recorder.py", RECORDER[1].1),
    ("stillframe_code.py", SAMPLER[0].1),
    ("stillframe_locks.py", SAMPLER[1].1),
    ("stillframe_native.py", SAMPLER[2].1),
    ("stillframe_tasks.py", SAMPLER[3].1),
    ("stillframe_waits.py", SAMPLER[4].1),
    ("stillframe_sampler.py", SAMPLER[5].1),
    ("stillframe_throws.py", THROWS[0].1),
    ("stillframe_assertions.py", THROWS[1].1),
    ("stillframe_tests.py", include_str!("../../debuggee/python/stillframe_tests.py")),
    ("stillframe_pytest.py", include_str!("../../debuggee/python/stillframe_pytest.py")),
    ("stillframe_unittest.py", include_str!("../../debuggee/python/stillframe_unittest.py")),
];

/// The folder that holds the `debugpy` package for an interpreter.
pub(super) fn root(host: &dyn Host, runtime: &Runtime) -> PathBuf {
    host.cache_dir().join("python").join(format!("debugpy-{VERSION}-{}", runtime.tag))
}

/// The same, from the folder of our scripts.
pub(super) fn root_beside(scripts: &Path, runtime: &Runtime) -> PathBuf {
    scripts.with_file_name(format!("debugpy-{VERSION}-{}", runtime.tag))
}

/// The folder of our scripts; they are written there when they are not.
pub(super) fn scripts(host: &dyn Host) -> Result<PathBuf> {
    static NAME: LazyLock<String> = LazyLock::new(|| {
        let mut hasher = DefaultHasher::new();
        SCRIPTS.hash(&mut hasher);
        format!("scripts-{:016x}", hasher.finish())
    });
    let folder = host.cache_dir().join("python").join(&*NAME);
    if SCRIPTS.iter().all(|(name, _)| host.is_file(&folder.join(name))) {
        return Ok(folder);
    }
    let write = || {
        std::fs::create_dir_all(&folder)?;
        for (name, text) in SCRIPTS {
            // Another server may be doing the same at this moment, and a reader must never see half a file.
            let part = folder.join(format!("{name}.{}", std::process::id()));
            std::fs::write(&part, text)?;
            std::fs::rename(&part, folder.join(name))?;
        }
        Ok(())
    };
    write().map(|()| folder.clone()).map_err(|error: std::io::Error| unwritable(&folder, &error))
}

/// Makes sure that debugpy is there for this interpreter, and gives the folder of our scripts beside it.
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

/// Installs into a folder of its own and moves that into place, so that a half installation is never used
/// and two servers can do it at once.
async fn install(host: &dyn Host, runtime: &Runtime, root: &Path) -> Result<()> {
    let part = root.with_extension(format!("{}.part", std::process::id()));
    let mut said = String::new();
    for (program, cross) in installers(host, runtime) {
        let spec = ProcessSpec { program, args: pip_arguments(runtime, &part, cross), ..Default::default() };
        let outcome = host.run(&spec, deadlines::INSTALL).await;
        let succeeded = outcome.as_ref().is_ok_and(|finished| finished.success);
        if succeeded && cross {
            compile(host, runtime, &part).await;
        }
        if succeeded {
            // Losing this race means that another server has just installed the same.
            let moved = std::fs::rename(&part, root);
            let _ = std::fs::remove_dir_all(&part);
            return if is_installed(host, root) {
                Ok(())
            } else {
                moved.map_err(|error| unwritable(root, &error))
            };
        }
        said = match outcome {
            Ok(finished) => last_lines(&finished.stderr),
            Err(error) => error.to_string(),
        };
        let _ = std::fs::remove_dir_all(&part);
    }
    Err(Error::Environment {
        problem: format!("debugpy {VERSION} could not be installed for Python {}: {said}", runtime.version),
        remedy: format!(
            "connect to the network and run `stillframe setup python`, or run `{} -m pip install --target {} debugpy=={VERSION}`",
            runtime.executable.display(),
            root.display()
        ),
    })
}

/// Who can install: the interpreter itself, or else another one that has pip.
fn installers(host: &dyn Host, runtime: &Runtime) -> Vec<(PathBuf, bool)> {
    let others = ["python3", "python"].into_iter().filter_map(|name| host.which(name));
    std::iter::once((runtime.executable.clone(), false)).chain(others.map(|other| (other, true))).collect()
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

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::Environment {
        problem: format!("`{}` cannot be written: {error}", path.display()),
        remedy: "make it writable, or name another folder in STILLFRAME_CACHE_DIR".to_owned(),
    }
}
