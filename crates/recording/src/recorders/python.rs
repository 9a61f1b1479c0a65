//! Python: our script starts the program and records it.

mod accelerator;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use engine::adapter::python::shared_modules;
use engine::adapter::{BoxFuture, Host, Runtime};
use engine::error::{Error, Result};
use engine::model::launch::Program;
use engine::parts::folder_with;
use engine::process::ProcessSpec;

use super::{CACHED, RecordedStart, Recorder};

const LAUNCHER: &str = "stillframe_record.py";

macro_rules! module {
    ($name:literal) => {
        ($name, include_str!(concat!("../debuggee/python/", $name, ".py")))
    };
}

const MODULES: &[(&str, &str)] = &[
    module!("stillframe_record"),
    module!("record_accelerator"),
    module!("record_chosen"),
    module!("record_effects"),
    module!("record_heap"),
    module!("record_monitoring"),
    module!("record_named"),
    module!("record_paths"),
    module!("record_run"),
    module!("record_shapes"),
    module!("record_tables"),
    module!("record_tracing"),
    module!("record_wire"),
];

macro_rules! native {
    ($name:literal) => {
        ($name, include_str!(concat!("../debuggee/python/", $name)))
    };
}

/// The same in C, in part.
const NATIVE: &[(&str, &str)] = &[
    native!("record_native.c"),
    native!("native_calls.h"),
    native!("native_events.h"),
    native!("native_heap.h"),
    native!("native_parts.h"),
    native!("native_wire.h"),
];

/// What each Python loads that the program starts.
const SITE: &str = include_str!("../debuggee/python/sitecustomize.py");

pub(super) struct Python;

impl Recorder for Python {
    fn language(&self) -> &'static str {
        "python"
    }

    fn accelerate<'a>(&'a self, host: &'a dyn Host, runtime: &'a Runtime) -> BoxFuture<'a, Option<String>> {
        Box::pin(async {
            let folder = provide(&host.cache_dir()).ok()?;
            accelerator::provide(host, runtime, &folder).await
        })
    }

    fn plan(&self, host: &dyn Host, runtime: &Runtime, start: &RecordedStart<'_>) -> Result<ProcessSpec> {
        let RecordedStart { launch, segments, limits, .. } = *start;
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
        let name = match (&launch.program, &launch.script_as_given) {
            (Program::Script(_), Some(name)) => OsString::from(name),
            (Program::Script(_), None) => target.clone(),
            _ => OsString::from("-m"),
        };
        args.extend([kind.into(), target, name]);
        args.extend(launch.args.iter().map(OsString::from));
        Ok(ProcessSpec::of_launch(launch, runtime.executable.clone(), args, launch.env.clone()))
    }
}

/// The folder with our modules.
fn provide(cache: &Path) -> Result<PathBuf> {
    let modules = MODULES.iter().copied().chain(shared_modules());
    let mut files: Vec<_> = modules.map(|(name, text)| (format!("{name}.py"), text)).collect();
    files.extend(NATIVE.iter().map(|(name, text)| ((*name).to_owned(), *text)));
    files.push(("site/sitecustomize.py".to_owned(), SITE));
    folder_with(&cache.join(CACHED), &files)
}
