//! Python, debugged by debugpy inside the program.
//!
//! Our launch script starts the program: it loads pydevd (the debugging part of debugpy) and connects to us; there is
//! no adapter process in between. Children inherit this, and connect to the same address. Facts about debugpy apply
//! to the version in `debugpy::VERSION`.

mod analysis;
mod commands;
mod debugpy;
mod interpreter;
mod modules;
mod tracebacks;

pub use self::commands::{COMMAND_FORM, launch_of};
pub use self::debugpy::VERSION as DEBUGPY;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::plan::{ADDRESS, DapSetup, Plan, Quirks, StartRequest, TOKEN, Transport};
use super::{
    Adapter, AnalysisRequest, ChildProcesses, Commands, Driver, Host, LanguageFacts, ProcessIdentity,
    RecordingSide, Reporting, Runtime, Sample, SourceAnalysis, Tracebacks, ValueExpressions, native,
};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::{Attach, Endpoint, Launch, Program, Start};
use crate::model::source::Code;
use crate::model::stop::ExceptionMode;
use crate::process::{ProcessSpec, search_path};
use crate::progress::Progress;

/// What makes the list of [`ValueExpressions::as_json`]: a function as one expression.
const AS_JSON: &str = include_str!("../debuggee/python/stillframe_as_json.py");

/// Folders that Python imports from.
const PATH: &str = "PYTHONPATH";

/// Where the launcher finds the secret by which the program shows who it is. It is taken out of the environment
/// before the program begins.
const SECRET: &str = "STILLFRAME_TOKEN";

/// What runs inside the program beside pydevd, and is sent to one that was not started with it.
pub(crate) use self::debugpy::AGENT;
use self::debugpy::IMPORTED;

/// The modules that a recorder loads too, by their names: those that make text of values, and what keeps other tracers
/// away.
pub fn shared_modules() -> impl Iterator<Item = (&'static str, &'static str)> {
    AGENT.values.iter().copied().chain(IMPORTED)
}

const QUIRKS: Quirks = Quirks {
    // The program itself is the adapter, and is configured once it has answered.
    sends_initialized: false,
    // Native code at the very beginning may keep it from answering.
    configured_within: deadlines::RUN,
    listens: "`python -m debugpy --listen PORT program.py`",
    exception_filters: |mode| match mode {
        ExceptionMode::None => &[],
        ExceptionMode::Uncaught => &["uncaught"],
        ExceptionMode::UserUnhandled | ExceptionMode::All => &["raised", "uncaught"],
    },
    // The agent does.
    reports_hits: true,
    ..Quirks::NONE
};

/// The language.
#[derive(Clone, Copy, Debug)]
pub struct Python;

const FACTS: LanguageFacts = LanguageFacts {
    editor_type: "debugpy",
    extensions: &["py", "pyw"],
    main_file: Some("__main__.py"),
    sample: Sample { source: "answer = 6 * 7\nprint(answer)\n", line: 2 },
    driver: Driver::Python,
    listener_has_debugger: true,
    tells_functions_apart: true,
    has_hidden_callers: true,
    records: Some(RecordingSide::Program),
    samples: true,
    reporting: Reporting::Inside,
    ..LanguageFacts::new("python", "Python")
};

#[async_trait]
impl Adapter for Python {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        near: Option<&Path>,
    ) -> Result<Runtime> {
        interpreter::locate(host, executable, near).await
    }

    async fn provide(&self, host: &dyn Host, runtime: &Runtime, progress: &Progress) -> Result<PathBuf> {
        debugpy::provide(host, runtime, progress).await
    }

    fn is_provided(&self, host: &dyn Host, runtime: &Runtime) -> bool {
        host.is_file(&debugpy::root(host, runtime).join("debugpy/__init__.py"))
    }

    fn plan(&self, _host: &dyn Host, runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan> {
        match start {
            Start::Launch(launch) => plan_launch(runtime, debugger, launch),
            Start::Attach(attach) => plan_attach(runtime, debugger, attach),
        }
    }

    async fn check(&self, host: &dyn Host, runtime: &Runtime, launch: &Launch) -> Result<()> {
        let Program::Script(path) = &launch.program else { return Ok(()) };
        let file = super::first_file(self, path);
        let question = AnalysisRequest { file: Some(&file), ..AnalysisRequest::default() };
        analysis::analyze(host, runtime, question).await.map(|_| ())
    }

    fn is_internal(&self, path: &Path) -> bool {
        is_internal(path)
    }

    capabilities! {
        source_analysis: SourceAnalysis, value_expressions: ValueExpressions,
        process_identity: ProcessIdentity, commands: Commands, child_processes: ChildProcesses,
        tracebacks: Tracebacks
    }

    fn attach_obstacle(&self, host: &dyn Host) -> Option<String> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            let problem = "attaching by process ID needs Linux on a processor of the x86-64 family; \
                           attaching by host and port does not";
            return Some(problem.to_owned());
        }
        let problem = native::debugger::attach_obstacle(host)?;
        Some(format!("{problem}, or attach by host and port"))
    }
}

#[async_trait]
impl SourceAnalysis for Python {
    async fn analyze(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        question: AnalysisRequest<'_>,
    ) -> Result<Code> {
        analysis::analyze(host, runtime, question).await
    }
}

impl ValueExpressions for Python {
    fn as_json(&self, expression: &str, longest: usize) -> String {
        format!("({AS_JSON})((\n{expression}\n), {longest})")
    }

    fn is_of_type(&self, type_name: &str) -> String {
        format!(
            "any({type_name:?} in (kind.__name__, kind.__qualname__, kind.__module__ + '.' + kind.__qualname__) \
             for kind in type(error).__mro__)"
        )
    }

    fn is_like(&self, pattern: &str) -> String {
        let pattern = Value::from(pattern);
        format!("__import__('re').search({pattern}, type(error).__name__ + ': ' + str(error)) is not None")
    }
}

impl ProcessIdentity for Python {
    fn may_be_interpreter(&self, program: &Path) -> bool {
        let name = program.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.contains("python") || name.contains("pypy")
    }
}

impl ChildProcesses for Python {
    fn plan_children(
        &self,
        host: &dyn Host,
        _runtime: &Runtime,
        debugger: &Path,
        launch: &Launch,
    ) -> Result<Plan> {
        let own = host.env_with(&launch.env, PATH);
        let path = search_path([debugger.join(debugpy::CHILDREN)], own.as_deref());
        let env = [
            ("STILLFRAME_PYTHON", ADDRESS.to_owned()),
            ("STILLFRAME_PYTHON_TOKEN", TOKEN.to_owned()),
            ("STILLFRAME_PYTHON_DEBUGPY", debugpy::roots_beside(debugger).display().to_string()),
        ];
        let env = env.into_iter().chain(path.map(|path| (PATH, path)));
        let env = env.map(|(name, value)| (name.to_owned(), Some(value))).collect();
        let process = ProcessSpec { env, ..ProcessSpec::default() };
        let arguments = arguments(launch.just_my_code, []);
        let transport = Transport::Listen { process: Some(process), injector: None };
        Ok(Plan::Dap { transport, setup: setup(StartRequest::Launch, arguments, true) })
    }
}

fn plan_launch(runtime: &Runtime, debugger: &Path, launch: &Launch) -> Result<Plan> {
    let (kind, target) = match &launch.program {
        Program::Command | Program::Package(_) => {
            return Err(Error::Unsupported("Python needs a script or a module to run".to_owned()));
        }
        Program::Script(path) => ("file", path.as_os_str().to_owned()),
        Program::Module(name) => ("module", OsString::from(name)),
    };
    let mut args: Vec<OsString> = launch.runtime_args.iter().map(OsString::from).collect();
    args.extend([
        "-X".into(),
        // pydevd cannot see into frozen modules, and warns.
        "frozen_modules=off".into(),
        debugger.join(debugpy::LAUNCHER).into(),
        ADDRESS.into(),
        debugpy::root_beside(debugger, runtime).into(),
        kind.into(),
        target,
    ]);
    args.extend(launch.args.iter().map(OsString::from));
    let mut env = launch.env.clone();
    // The program's output is needed when it prints it, not when a buffer is full.
    env.entry("PYTHONUNBUFFERED".to_owned()).or_insert_with(|| Some("1".to_owned()));
    env.insert(SECRET.to_owned(), Some(TOKEN.to_owned()));
    let process = ProcessSpec::of_launch(launch, runtime.executable.clone(), args, env);
    let arguments = arguments(launch.just_my_code, [("stopOnEntry", json!(launch.stop_on_entry))]);
    let transport = Transport::Listen { process: Some(process), injector: None };
    Ok(Plan::Dap { transport, setup: setup(StartRequest::Launch, arguments, true) })
}

fn plan_attach(runtime: &Runtime, debugger: &Path, attach: &Attach) -> Result<Plan> {
    let mappings: Vec<Value> = attach
        .path_mappings
        .iter()
        .map(|(local, remote)| json!({ "localRoot": local, "remoteRoot": remote }))
        .collect();
    // The program's pipes are not ours, so pydevd has to copy what it writes.
    let extra = [("redirectOutput", json!(true)), ("pathMappings", Value::Array(mappings))];
    let is_local = matches!(attach.to, Endpoint::Process(_));
    let setup = setup(StartRequest::Attach, arguments(attach.just_my_code, extra), is_local);
    let transport = match &attach.to {
        Endpoint::Address { host, port } => Transport::Connect { host: host.clone(), port: *port },
        Endpoint::Core { .. } => return Err(Error::Unsupported("Python cannot open crash dumps".to_owned())),
        Endpoint::Process(pid) => {
            let root = debugpy::root_beside(debugger, runtime);
            let modules: Vec<_> = AGENT.values.iter().chain(AGENT.agent).map(|(name, _)| *name).collect();
            let args = vec![
                debugger.join(debugpy::INJECTOR).into_os_string(),
                ADDRESS.into(),
                TOKEN.into(),
                root.into_os_string(),
                modules.join(",").into(),
                pid.to_string().into(),
            ];
            let injector =
                ProcessSpec { program: runtime.executable.clone(), args, ..ProcessSpec::default() };
            Transport::Listen { process: None, injector: Some(injector) }
        }
    };
    Ok(Plan::Dap { transport, setup })
}

fn arguments<const N: usize>(just_my_code: bool, extra: [(&str, Value); N]) -> Map<String, Value> {
    let common = [
        ("justMyCode", json!(just_my_code)),
        ("showReturnValue", json!(true)),
        ("subProcess", json!(true)),
        // An exit with a code is an end, not an exception to stop at.
        ("breakOnSystemExit", json!([])),
        // The program's output already reaches us. Unless this option is set, pydevd (1.8.22,
        // `internal_evaluate_expression_json`) replaces `sys.stdout` with a copying stream while it runs one of our
        // statements, and the program, which keeps running meanwhile, would write everything twice.
        ("isOutputRedirected", json!(true)),
    ];
    common.into_iter().chain(extra).map(|(name, value)| (name.to_owned(), value)).collect()
}

fn setup(request: StartRequest, arguments: Map<String, Value>, is_local: bool) -> DapSetup {
    DapSetup { is_local, ..DapSetup::new("debugpy", request, arguments, &QUIRKS) }
}

/// The standard library and what pip installs.
fn is_internal(path: &Path) -> bool {
    let mut before = String::new();
    for part in path.components() {
        let part = part.as_os_str().to_string_lossy().into_owned();
        let is_standard = before.starts_with("lib") && part.starts_with("python3.");
        // pydevd puts its functions between those of the program that starts a thread and those of the thread.
        let is_debugger = part == "_vendored" && before == "debugpy";
        if is_standard || is_debugger || part == "site-packages" || part == "dist-packages" {
            return true;
        }
        before = part;
    }
    false
}

#[cfg(test)]
mod tests;
