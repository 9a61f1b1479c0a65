//! How programs come into sessions, and leave them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use engine::model::launch::{Attach, Endpoint, Launch, Program, Start};
use engine::model::stop::End;
use engine::session::Session;
use engine::session::state::Execution;
use engine::sources;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::anchors::AnchorResolution;
use super::exceptions::{ExceptionParam, exceptions};
use super::shared::{Done, LimitsParam};
use crate::ops::settle::Wait;
use crate::ops::{self, lifecycle};
use crate::render::StopReport;
use crate::{ArgumentList, Context, Effects, Tool, ToolError};

/// Starts a program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StartDebugging {
    session_id: Option<String>,
    /// script to run
    script_path: Option<PathBuf>,
    /// instead of a script: module to run, as in python -m; in Node.js a package: vitest
    module: Option<String>,
    args: Option<ArgumentList>,
    /// for the interpreter or executablePath; npm with run, start needs no script
    runtime_args: Option<ArgumentList>,
    /// default: the server's
    cwd: Option<PathBuf>,
    /// added to the environment
    env: Option<BTreeMap<String, String>>,
    /// text for standard input
    stdin: Option<String>,
    /// file for standard input
    stdin_file: Option<PathBuf>,
    dap_launch_args: Option<LaunchArgs>,
    #[schemars(extend("unlisted" = true))]
    native_too: Option<bool>,
    #[schemars(extend("unlisted" = true))]
    break_on_exceptions: Option<ExceptionParam>,
    /// prepare and check, start nothing
    dry_run_spawn: Option<bool>,
    /// ms, default 20000
    timeout: Option<u64>,
    limits: Option<LimitsParam>,
}

/// more options
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct LaunchArgs {
    /// stop at the first line
    stop_on_entry: Option<bool>,
    /// default true: step over libraries
    just_my_code: Option<bool>,
    /// debug C extensions, too
    native_too: Option<bool>,
    #[schemars(extend("unlisted" = true))]
    break_on_exceptions: Option<ExceptionParam>,
}

impl LaunchArgs {
    /// What `run_until` has of them.
    pub(super) fn new(just_my_code: Option<bool>, native_too: Option<bool>) -> Self {
        Self { just_my_code, native_too, ..Self::default() }
    }
}

/// A report, with the fields of a start beside it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Started {
    #[serde(flatten)]
    report: StopReport,
    /// Message and reason again, as in mcp-debugger.
    data: StartData,
}

/// What a start led to.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StartData {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Dry run: nothing was started.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    /// Whether it is paused on entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_on_entry_successful: Option<bool>,
    /// Command line of a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    /// Number of breakpoints that a restart has set again.
    #[serde(skip_serializing_if = "Option::is_none")]
    breakpoints_reapplied: Option<usize>,
    /// `get_output` from 0 starts with the output of the restarted program. Cursors do not decrease.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_reset: Option<bool>,
    /// Where a restart found the texts of breakpoints.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor_resolution: Option<AnchorResolution>,
    /// Breakpoints whose text is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

impl Started {
    fn new(name: &str, mut report: StopReport, stops_on_entry: bool) -> Self {
        report.message = match report.state.as_str() {
            "ended" => format!("Debugging started for {name}. Current state: ended. {}", report.message),
            state => format!("Debugging started for {name}. Current state: {state}"),
        };
        let data = StartData {
            message: report.message.clone(),
            reason: report.reason.clone(),
            stop_on_entry_successful: stops_on_entry.then_some(report.state == "paused"),
            ..StartData::default()
        };
        Self { report, data }
    }
}

/// What to run, from the parameters that several tools have for it.
pub(super) struct ProgramParams {
    pub(super) script: Option<PathBuf>,
    pub(super) module: Option<String>,
    pub(super) args: Option<ArgumentList>,
    pub(super) runtime_args: Option<ArgumentList>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) env: Option<BTreeMap<String, String>>,
    pub(super) stdin: Option<String>,
    pub(super) stdin_file: Option<PathBuf>,
    pub(super) extra: LaunchArgs,
}

impl ProgramParams {
    /// Nothing says what to run.
    pub(super) fn missing(script_name: &str) -> ToolError {
        ToolError::argument(script_name, "is missing; give the path of a script, or `module`")
    }

    /// The launch that they describe; `script_name` is what the tool calls its script.
    pub(super) fn launch(self, script_name: &str, session: &Session) -> Result<Launch, ToolError> {
        let runtime_args = self.runtime_args.clone().unwrap_or_default().0;
        let program = match (self.script.clone(), self.module.clone()) {
            (None, None) if session.adapter().needs_no_program(session.executable(), &runtime_args) => {
                Program::Command
            }
            (Some(script), None) => session.adapter().program(session.host(), sources::absolute(&script)),
            (None, Some(module)) => Program::Module(module),
            (Some(_), Some(_)) => {
                return Err(ToolError::argument(
                    "module",
                    format!("cannot be combined with `{script_name}`"),
                ));
            }
            (None, None) => return Err(Self::missing(script_name)),
        };
        let args = self.args.clone().unwrap_or_default().0;
        self.with_program_of(Launch { args, runtime_args, ..Launch::new(program) })
    }

    /// The launch with the program and the arguments of another one.
    pub(super) fn with_program_of(self, launch: Launch) -> Result<Launch, ToolError> {
        let stdin = lifecycle::stdin(self.stdin, self.stdin_file)?;
        let mut env = launch.env;
        env.extend(self.env.into_iter().flatten().map(|(name, value)| (name, Some(value))));
        Ok(Launch {
            cwd: self.cwd.map(|cwd| sources::absolute(&cwd)),
            env,
            stdin,
            stop_on_entry: self.extra.stop_on_entry.unwrap_or(false),
            just_my_code: self.extra.just_my_code.unwrap_or(true),
            native_too: self.extra.native_too.unwrap_or(false),
            ..launch
        })
    }
}

/// Chooses the exceptions to stop at, for a start that says so.
async fn break_on_exceptions(session: &Session, mode: Option<ExceptionParam>) -> Result<(), ToolError> {
    // Nothing of a program that runs may be touched.
    if let Some(mode) = mode.filter(|_| !session.execution().is_live()) {
        session.set_exception_breakpoints(exceptions(mode, None)?).await?;
    }
    Ok(())
}

/// What to call a program: a command by its words, all others by their own name.
fn name_of(session: &Session, launch: &Launch) -> String {
    if launch.program != Program::Command {
        return launch.program.name();
    }
    let command = session.executable().and_then(|path| path.file_name());
    let command = command.map_or_else(|| session.adapter().name().into(), |name| name.to_string_lossy());
    let words = launch.runtime_args.iter().chain(&launch.args).map(String::as_str);
    std::iter::once(command.as_ref()).chain(words).collect::<Vec<_>>().join(" ")
}

impl Tool for StartDebugging {
    type Answer = Started;
    const NAME: &'static str = "start_debugging";
    const TITLE: &'static str = "Start debugging";
    const DESCRIPTION: &'static str = "Start a program and wait for its first stop or its end.";
    const EFFECTS: Effects = Effects::RUNS;
    const IGNORED: &'static [(&'static str, &'static str)] =
        &[("adapterLaunchConfig", "use the arguments for each setting, such as `cwd`, `env`, `runtimeArgs`")];

    async fn call(self, context: &Context) -> Result<Started, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let name = self.script_path.as_ref().map(|path| path.display().to_string()).or(self.module.clone());
        let wait =
            Wait::new(context.bounds(), self.timeout, LimitsParam::limits(context.bounds(), self.limits)?)?;
        let dry_run = self.dry_run_spawn.unwrap_or(false);
        let mut extra = self.dap_launch_args.unwrap_or_default();
        extra.native_too = extra.native_too.or(self.native_too);
        let break_on = self.break_on_exceptions.or(extra.break_on_exceptions);
        let params = ProgramParams {
            script: self.script_path,
            module: self.module,
            args: self.args,
            runtime_args: self.runtime_args,
            cwd: self.cwd,
            env: self.env,
            stdin: self.stdin,
            stdin_file: self.stdin_file,
            extra,
        };
        let launch = params.launch("scriptPath", &session)?;
        let name = name.unwrap_or_else(|| name_of(&session, &launch));
        if dry_run {
            let dry = lifecycle::dry_run(&session, launch).await?;
            let language = session.adapter().name();
            let message =
                format!("Dry run for {name}: {language} {} ({}) would be started", dry.version, dry.origin);
            let report = StopReport::brief(&session, message.clone());
            let data = StartData { message, dry_run: true, command: dry.command, ..StartData::default() };
            return Ok(Started { report, data });
        }
        break_on_exceptions(&session, break_on).await?;
        let stops_on_entry = launch.stop_on_entry;
        let settled = lifecycle::launch(&session, launch, wait, context).await?;
        Ok(Started::new(&name, StopReport::new("Started", settled), stops_on_entry))
    }
}

/// Connects to a running program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AttachToProcess {
    session_id: Option<String>,
    /// debugger port, of debugpy --listen or node --inspect
    port: Option<u16>,
    /// default 127.0.0.1
    host: Option<String>,
    /// on this machine
    process_id: Option<u32>,
    core_file: Option<PathBuf>,
    program: Option<PathBuf>,
    /// local to remote folders
    path_mappings: Option<BTreeMap<String, String>>,
    /// default true: pause it
    stop_on_entry: Option<bool>,
    just_my_code: Option<bool>,
    #[schemars(extend("unlisted" = true))]
    break_on_exceptions: Option<ExceptionParam>,
    timeout: Option<u64>,
    #[schemars(extend("unlisted" = true))]
    limits: Option<LimitsParam>,
}

/// A report, with the fields of an attach beside it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Attached {
    #[serde(flatten)]
    report: StopReport,
    data: AttachData,
}
/// The attached program and the arguments.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AttachData {
    message: String,
    attach_config: AttachConfig,
}
/// Arguments of the attach.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AttachConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_id: Option<u32>,
    stop_on_entry: bool,
    just_my_code: bool,
}

impl AttachData {
    fn new(attach: &Attach, stop_on_entry: bool) -> Self {
        let (message, host, port, process_id) = match &attach.to {
            Endpoint::Address { host, port } => {
                (format!("Attached to process at {host}:{port}"), Some(host.clone()), Some(*port), None)
            }
            Endpoint::Core { file, .. } => (format!("Opened {}", file.display()), None, None, None),
            Endpoint::Process(pid) => (format!("Attached to process {pid}"), None, None, Some(*pid)),
        };
        let just_my_code = attach.just_my_code;
        let attach_config = AttachConfig { host, port, process_id, stop_on_entry, just_my_code };
        Self { message, attach_config }
    }
}

/// How long to wait until an attached program is paused; none if it is to keep running. Clients of mcp-debugger
/// expect it to be paused, and read its stack immediately. A waiting program pauses when it resumes, which is only
/// awaited on request.
pub(super) fn pause_of(
    context: &Context,
    stop_on_entry: Option<bool>,
    timeout: Option<u64>,
    wait: Wait,
) -> Result<Option<Duration>, ToolError> {
    Ok(match stop_on_entry {
        Some(false) => None,
        Some(true) => Some(wait.timeout),
        None => Some(ops::execution::pause_wait(context.bounds(), timeout, wait.limits)?.timeout),
    })
}

impl Tool for AttachToProcess {
    type Answer = Attached;
    const NAME: &'static str = "attach_to_process";
    const TITLE: &'static str = "Attach to process";
    const DESCRIPTION: &'static str =
        "Attach to a running program by debugger port or process id, or open a crash dump.";
    const EFFECTS: Effects = Effects::ADDS;
    const IGNORED: &'static [(&'static str, &'static str)] = &[
        // An attach that is answered is one that works.
        ("verifyTimeout", ""),
        ("sourcePaths", "use `pathMappings` to map local folders to remote ones"),
        ("adapterConfig", "use the arguments `justMyCode` and `pathMappings`"),
    ];

    async fn call(self, context: &Context) -> Result<Attached, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let to = match (self.port, self.process_id) {
            (None, None) if self.core_file.is_some() => {
                ops::dump::endpoint(&self.core_file.unwrap_or_default(), self.program).await?
            }
            (Some(port), None) => {
                let host = self.host.unwrap_or_else(|| "127.0.0.1".to_owned());
                Endpoint::Address { host, port }
            }
            (None, Some(pid)) => Endpoint::Process(pid),
            (Some(_), Some(_)) => {
                return Err(ToolError::argument("processId", "cannot be combined with `port`"));
            }
            (None, None) => {
                return Err(ToolError::argument("port", "is missing; give it, `processId` or `coreFile`"));
            }
        };
        let attach = Attach {
            to,
            path_mappings: self.path_mappings.unwrap_or_default().into_iter().collect(),
            just_my_code: self.just_my_code.unwrap_or(true),
        };
        let wait =
            Wait::new(context.bounds(), self.timeout, LimitsParam::limits(context.bounds(), self.limits)?)?;
        let pause = pause_of(context, self.stop_on_entry, self.timeout, wait)?;
        break_on_exceptions(&session, self.break_on_exceptions).await?;
        let mut data = AttachData::new(&attach, pause.is_some());
        let settled = lifecycle::attach(&session, attach, pause, wait, context).await?;
        let is_attached = session.execution() != Execution::Starting;
        let did = if is_attached { "Attached" } else { "Not attached yet" };
        if !is_attached {
            did.clone_into(&mut data.message);
        }
        Ok(Attached { report: StopReport::new(did, settled), data })
    }
}

/// Detaches from a program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DetachFromProcess {
    session_id: Option<String>,
    #[schemars(extend("unlisted" = true))]
    terminate_process: Option<bool>,
}

/// What became of the program.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DetachResult {
    #[serde(flatten)]
    done: Done,
    /// New state of the session in lists.
    state: &'static str,
}

impl Tool for DetachFromProcess {
    type Answer = DetachResult;
    const NAME: &'static str = "detach_from_process";
    const TITLE: &'static str = "Detach from process";
    const DESCRIPTION: &'static str =
        "Detach from an attached program, which keeps running. A launched program is ended.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<DetachResult, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let terminates = self.terminate_process == Some(true);
        if terminates {
            session.detach_and_end().await?;
        } else {
            session.detach().await?;
        }
        let end = match session.execution() {
            Execution::Ended(end) if terminates && *end == End::Detached => "was ended".to_owned(),
            Execution::Ended(end) => end.to_string(),
            other => other.as_str().to_owned(),
        };
        Ok(DetachResult { done: Done::new(format!("Detached: the program {end}")), state: "stopped" })
    }
}

/// Starts the program again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RestartDebugging {
    session_id: Option<String>,
    timeout: Option<u64>,
    limits: Option<LimitsParam>,
}

impl Tool for RestartDebugging {
    type Answer = Started;
    const NAME: &'static str = "restart_debugging";
    const TITLE: &'static str = "Restart debugging";
    const DESCRIPTION: &'static str = "Restart the program as before, with its breakpoints.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<Started, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let wait =
            Wait::new(context.bounds(), self.timeout, LimitsParam::limits(context.bounds(), self.limits)?)?;
        let name = match session.last_start().await? {
            Some(Start::Launch(launch)) => name_of(&session, &launch),
            _ => session.name().to_owned(),
        };
        let before = session.breakpoints().await?;
        let settled = lifecycle::restart(&session, wait, context).await?;
        let now = session.breakpoints().await?;
        let mut started = Started::new(&name, StopReport::new("Restarted", settled), false);
        let anchors = AnchorResolution::new(&session, &before, &now);
        started.data = StartData {
            breakpoints_reapplied: Some(now.len()),
            output_reset: Some(true),
            warning: anchors.as_ref().and_then(AnchorResolution::warning),
            anchor_resolution: anchors,
            ..started.data
        };
        Ok(started)
    }
}
