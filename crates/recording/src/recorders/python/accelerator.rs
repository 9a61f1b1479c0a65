//! The hot path of the recorder in C, compiled into the cache by the user's C compiler for the very version of Python.

use std::path::{Path, PathBuf};

use engine::adapter::{Host, Runtime};
use engine::deadlines;
use engine::parts::part_of;
use engine::process::ProcessSpec;
use serde::Deserialize;

/// The file that includes the others.
const MAIN: &str = "record_native.c";
/// With 0, nothing is compiled, and what was is not used.
const SWITCH: &str = "STILLFRAME_RECORD_NATIVE";
/// Versions that it was written for, by their tags.
const TAGS: [&str; 3] = ["cpython-311", "cpython-312", "cpython-313"];
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];

/// `record_accelerator.py` looks for the same name.
const PROBE: &str = "import importlib.machinery, json, sys, sysconfig; print(json.dumps({\
    'name': 'record_native-%08x%s' % (sys.hexversion, importlib.machinery.EXTENSION_SUFFIXES[0]), \
    'include': sysconfig.get_paths()['include'], \
    'has_lock': not sysconfig.get_config_var('Py_GIL_DISABLED')}))";

/// What an interpreter says.
#[derive(Deserialize)]
struct Build {
    /// Of the module.
    name: String,
    /// The folder of its headers.
    include: PathBuf,
    has_lock: bool,
}

/// Compiles it beside our modules in `folder`, unless that was done before. What is missing, if something is that the user
/// can install.
pub(super) async fn provide(host: &dyn Host, runtime: &Runtime, folder: &Path) -> Option<String> {
    if !TAGS.contains(&runtime.tag.as_str()) || host.env(SWITCH).as_deref() == Some("0") {
        return None;
    }
    let build = probe(host, runtime).await?;
    let module = folder.join(&build.name);
    if !build.has_lock || host.is_file(&module) {
        return None;
    }
    let Some(compiler) = COMPILERS.iter().find_map(|name| host.which(name)) else {
        return Some("a C compiler (cc, gcc or clang) on the PATH".to_owned());
    };
    if !host.is_file(&build.include.join("Python.h")) {
        return Some(format!(
            "the headers of Python (`python3-dev`, `python3-devel`) in `{}`",
            build.include.display()
        ));
    }
    let failed = module.with_extension("failed");
    if !host.is_file(&failed)
        && let Err(problem) = compile(host, compiler, folder, &build).await
    {
        tracing::warn!(%problem, "the recorder's native code does not compile, so that its Python code is used");
        // It is not tried again. Without a note it is, which is only slower.
        let _ = std::fs::write(&failed, problem);
    }
    let problem = || format!("native code that compiles: see `{}`", failed.display());
    (!host.is_file(&module)).then(problem)
}

async fn probe(host: &dyn Host, runtime: &Runtime) -> Option<Build> {
    let args = ["-I", "-S", "-c", PROBE].map(Into::into).to_vec();
    let spec = ProcessSpec { program: runtime.executable.clone(), args, ..Default::default() };
    let answer = host.run(&spec, deadlines::HELPER).await.ok().filter(|answer| answer.success)?;
    serde_json::from_str(&answer.stdout).ok()
}

/// Compiles it, or says why that failed.
async fn compile(host: &dyn Host, compiler: PathBuf, folder: &Path, build: &Build) -> Result<(), String> {
    // Another process may do the same at the same time.
    let part = part_of(&folder.join(&build.name));
    let mut args: Vec<_> = ["-O2", "-shared", "-fPIC", "-I"].map(Into::into).to_vec();
    args.extend([build.include.clone().into(), folder.join(MAIN).into(), "-o".into(), part.clone().into()]);
    let spec = ProcessSpec { program: compiler, args, ..Default::default() };
    let compiled = host.run(&spec, deadlines::INSTALL).await.map_err(|error| error.to_string())?;
    if !compiled.success {
        return Err(format!("{}{}", compiled.stdout, compiled.stderr));
    }
    std::fs::rename(&part, folder.join(&build.name)).map_err(|error| error.to_string())
}
