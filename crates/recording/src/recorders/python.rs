//! Python: a script of ours starts the program and records it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use engine::adapter::python::value_readers;
use engine::adapter::{Host, Runtime};
use engine::error::{Error, Result};
use engine::model::launch::{Launch, Program};
use engine::process::ProcessSpec;
use sha2::{Digest, Sha256};

use super::{Limits, Recorder};

const LAUNCHER: &str = "stillframe_record.py";

macro_rules! module {
    ($name:literal) => {
        ($name, include_str!(concat!("../debuggee/python/", $name, ".py")))
    };
}

const MODULES: &[(&str, &str)] = &[
    module!("stillframe_record"),
    module!("record_effects"),
    module!("record_heap"),
    module!("record_monitoring"),
    module!("record_run"),
    module!("record_tracing"),
    module!("record_wire"),
];

pub(super) struct Python;

impl Recorder for Python {
    fn language(&self) -> &'static str {
        "python"
    }

    fn plan(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        launch: &Launch,
        segments: &Path,
        limits: Limits,
    ) -> Result<ProcessSpec> {
        let (kind, target) = match &launch.program {
            Program::Command | Program::Package(_) => {
                return Err(Error::Unsupported("Python needs a script or a module to run".to_owned()));
            }
            Program::Script(path) => ("file", path.as_os_str().to_owned()),
            Program::Module(name) => ("module", OsString::from(name)),
        };
        let folder = provide(&host.cache_dir())?;
        let mut args: Vec<OsString> = launch.runtime_args.iter().map(OsString::from).collect();
        args.extend([folder.join(LAUNCHER).into_os_string(), segments.as_os_str().to_owned()]);
        args.extend([limits.items, limits.depth, limits.text].map(|limit| limit.to_string().into()));
        args.extend([kind.into(), target]);
        args.extend(launch.args.iter().map(OsString::from));
        Ok(ProcessSpec {
            program: runtime.executable.clone(),
            args,
            env: launch.env.clone(),
            cwd: launch.cwd.clone(),
            stdin: launch.stdin.clone(),
            ..ProcessSpec::default()
        })
    }
}

/// The folder with our modules, whose name changes with their content.
fn provide(cache: &Path) -> Result<PathBuf> {
    let modules: Vec<(&str, &str)> = MODULES.iter().copied().chain(value_readers()).collect();
    let mut hash = Sha256::new();
    for (name, text) in &modules {
        hash.update(name);
        hash.update(text);
    }
    let name = HEXLOWER.encode(hash.finalize().get(..8).unwrap_or_default());
    let folder = cache.join("recorder").join(name);
    let written = || -> std::io::Result<()> {
        if folder.is_dir() {
            return Ok(());
        }
        // Another process may do the same at the same time.
        let new = folder.with_extension(std::process::id().to_string());
        std::fs::create_dir_all(&new)?;
        for (name, text) in &modules {
            std::fs::write(new.join(name).with_extension("py"), text)?;
        }
        std::fs::rename(&new, &folder).or_else(|error| {
            std::fs::remove_dir_all(&new)?;
            if folder.is_dir() { Ok(()) } else { Err(error) }
        })
    };
    written().map_err(|error| Error::Environment {
        problem: format!("cannot write `{}`: {error}", folder.display()),
        remedy: "check that the folder is writable, or set STILLFRAME_CACHE_DIR to another one".to_owned(),
    })?;
    Ok(folder)
}
