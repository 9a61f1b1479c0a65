//! Letting the program run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::debugger::{Reverse, Step};
use engine::model::breakpoint::Rule;
use engine::model::ids::ThreadId;
use engine::session::placing::PlaceRequest;
use engine::session::state::Execution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exceptions::{self, ExceptionParam};
use super::launch::{LaunchArgs, ProgramParams};
use super::one_shot::{OneShotParams, OneShotSession};
use super::shared::{LimitsParam, LineContext};
use super::trigger::TriggerParam;
use crate::ops::settle::{Settled, Wait};
use crate::ops::trigger::{Trigger, TriggerProgress};
use crate::ops::{self, run_until};
use crate::render::{LineData, StopReport, TriggerReport, ValueData, expression_value};
use crate::{ArgumentList, CommandLine, Context, Effects, Tool, ToolError};

/// Lets the program run on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ContinueExecution {
    session_id: Option<String>,
    /// ms, default 20000
    timeout: Option<u64>,
    /// false: return at once
    wait: Option<bool>,
    limits: Option<LimitsParam>,
}

impl Tool for ContinueExecution {
    type Answer = StopReport;
    const NAME: &'static str = "continue_execution";
    const TITLE: &'static str = "Continue execution";
    const DESCRIPTION: &'static str = "Resume to the next stop or the end. If already running, wait for it.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StopReport, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let timeout = if self.wait == Some(false) { Some(0) } else { self.timeout };
        let wait = Wait::new(context.bounds(), timeout, LimitsParam::limits(context.bounds(), self.limits)?)?;
        let settled = ops::execution::resume(&session, wait, context).await?;
        Ok(StopReport::new("Continued execution", settled))
    }
}

/// The parameters of a step.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StepParams {
    session_id: Option<String>,
    /// default: the stopped one
    thread_id: Option<u32>,
    timeout: Option<u64>,
    #[schemars(extend("unlisted" = true))]
    limits: Option<LimitsParam>,
}

impl StepParams {
    async fn step(self, step: Step, did: &str, context: &Context) -> Result<Stepped, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let wait =
            Wait::new(context.bounds(), self.timeout, LimitsParam::limits(context.bounds(), self.limits)?)?;
        let thread = self.thread_id.map(ThreadId);
        let settled = ops::execution::step(&session, thread, step, wait, context).await?;
        let context = lines_around(&settled);
        Ok(Stepped { report: StopReport::new(did, settled), context })
    }
}

/// A report, with its source as clients of mcp-debugger read it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Stepped {
    #[serde(flatten)]
    report: StopReport,
    /// The line and surrounding ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<LineContext>,
}

/// How many lines around a stop are shown once more: `source` has more of them.
const BESIDE: u32 = 1;

/// The lines around a stop, from those that were read for the report.
fn lines_around(settled: &Settled) -> Option<LineContext> {
    let Settled::Stopped(snapshot) = settled else { return None };
    let current = snapshot.frame()?.location.as_ref()?.line;
    let near = snapshot.source.iter().filter(|(line, _)| line.abs_diff(current) <= BESIDE);
    let near = near.map(|(line, content)| LineData { line: *line, content: content.clone() });
    LineContext::new(current, near.collect())
}

/// Steps over.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct StepOver(StepParams);

impl Tool for StepOver {
    type Answer = Stepped;
    const NAME: &'static str = "step_over";
    const TITLE: &'static str = "Step over";
    const DESCRIPTION: &'static str = "Run the current line, including its calls.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<Stepped, ToolError> {
        self.0.step(Step::Over, "Stepped over", context).await
    }
}

/// Steps into.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct StepInto(StepParams);

impl Tool for StepInto {
    type Answer = Stepped;
    const NAME: &'static str = "step_into";
    const TITLE: &'static str = "Step into";
    const DESCRIPTION: &'static str = "Stop in the next function that the line calls, or after the line.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<Stepped, ToolError> {
        self.0.step(Step::Into, "Stepped into", context).await
    }
}

/// Steps out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct StepOut(StepParams);

impl Tool for StepOut {
    type Answer = Stepped;
    const NAME: &'static str = "step_out";
    const TITLE: &'static str = "Step out";
    const DESCRIPTION: &'static str =
        "Run until the function returns; stop in its caller and show the return value.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<Stepped, ToolError> {
        self.0.step(Step::Out, "Stepped out", context).await
    }
}

/// Runs backwards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReverseParams {
    session_id: Option<String>,
    #[schemars(extend("unlisted" = true))]
    timeout: Option<u64>,
    #[schemars(extend("unlisted" = true))]
    limits: Option<LimitsParam>,
}

impl ReverseParams {
    async fn reverse(self, how: Reverse, did: &str, context: &Context) -> Result<StopReport, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let limits = LimitsParam::limits(context.bounds(), self.limits)?;
        let wait = Wait::new(context.bounds(), self.timeout, limits)?;
        let settled = ops::execution::reverse(&session, how, wait, context).await?;
        Ok(StopReport::new(did, settled))
    }
}

/// Steps back.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct StepBack(ReverseParams);

impl Tool for StepBack {
    type Answer = StopReport;
    const NAME: &'static str = "step_back";
    const TITLE: &'static str = "Step back";
    const DESCRIPTION: &'static str = "Step back one line, in a recording.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StopReport, ToolError> {
        self.0.reverse(Reverse::Step, "Stepped back", context).await
    }
}

/// Continues backwards.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct ReverseContinue(ReverseParams);

impl Tool for ReverseContinue {
    type Answer = StopReport;
    const NAME: &'static str = "reverse_continue";
    const TITLE: &'static str = "Reverse continue";
    const DESCRIPTION: &'static str = "Run backwards to a stop, in a recording.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StopReport, ToolError> {
        self.0.reverse(Reverse::Continue, "Continued backwards", context).await
    }
}

/// Suspends the program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PauseExecution {
    session_id: Option<String>,
    thread_id: Option<u32>,
    /// ms, default 2000
    timeout: Option<u64>,
    #[schemars(extend("unlisted" = true))]
    limits: Option<LimitsParam>,
}

impl Tool for PauseExecution {
    type Answer = StopReport;
    const NAME: &'static str = "pause_execution";
    const TITLE: &'static str = "Pause execution";
    const DESCRIPTION: &'static str = "Pause the running program.";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<StopReport, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let wait = ops::execution::pause_wait(
            context.bounds(),
            self.timeout,
            LimitsParam::limits(context.bounds(), self.limits)?,
        )?;
        let settled = ops::execution::pause(&session, self.thread_id.map(ThreadId), wait, context).await?;
        Ok(StopReport::new("Pause requested", settled))
    }
}

/// One question, one answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RunUntil {
    /// resume this session; default: start a program in a new one
    session_id: Option<String>,
    /// script to start
    program: Option<PathBuf>,
    /// instead: module to start
    module: Option<String>,
    /// instead, as typed: python main.py -x
    command: Option<CommandLine>,
    /// default: from the program
    language: Option<String>,
    executable_path: Option<PathBuf>,
    args: Option<ArgumentList>,
    /// for the interpreter, or for the command in executablePath
    runtime_args: Option<ArgumentList>,
    cwd: Option<PathBuf>,
    env: Option<BTreeMap<String, String>>,
    stdin: Option<String>,
    just_my_code: Option<bool>,
    /// debug C extensions, too
    native_too: Option<bool>,
    /// where to stop; none: at exceptions and the end
    until: Option<Vec<UntilParam>>,
    /// default: the session's, initially uncaught; with a trigger and no until, userUnhandled
    exceptions: Option<ExceptionParam>,
    /// only if true; `error` is the exception
    exception_condition: Option<String>,
    /// evaluated at the stop
    expressions: Option<Vec<String>>,
    /// sent or run when the server listens
    trigger: Option<TriggerParam>,
    /// end the program and session afterwards
    close: Option<bool>,
    /// ms, default 20000
    timeout: Option<u64>,
    limits: Option<LimitsParam>,
}

/// A place to stop at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UntilParam {
    /// default: program
    file: Option<PathBuf>,
    line: Option<u32>,
    column: Option<u32>,
    /// text of the line
    statement: Option<String>,
    function: Option<String>,
    condition: Option<String>,
}

/// A report with the requested values.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunUntilAnswer {
    session_id: String,
    #[serde(flatten)]
    report: StopReport,
    /// Expressions and their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValueData>,
    /// Result of the trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    trigger: Option<TriggerReport>,
    /// The session was closed.
    closed: bool,
}

impl Tool for RunUntil {
    type Answer = RunUntilAnswer;
    const NAME: &'static str = "run_until";
    const TITLE: &'static str = "Run until";
    const DESCRIPTION: &'static str = "In one call: start a program (or resume a session), stop at a line, function or exception, evaluate there.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(mut self, context: &Context) -> Result<RunUntilAnswer, ToolError> {
        let close = self.close;
        let trigger = TriggerParam::read(self.trigger.take(), self.cwd.clone(), context)?;
        let limits = LimitsParam::limits(context.bounds(), self.limits)?;
        let wait = Wait::new(context.bounds(), self.timeout, limits)?;
        let params = self.program();
        let files = self.until.iter().flatten().filter_map(|place| place.file.as_deref());
        let asked = OneShotParams {
            session_id: self.session_id.as_deref(),
            program: &params,
            line: self.command.as_ref(),
            language: self.language.as_deref(),
            executable: self.executable_path.as_deref(),
            files: files.collect(),
        };
        let mut one_shot = OneShotSession::open(context, &asked, close == Some(true))?;
        let (session, opened_here) = (one_shot.session(), one_shot.opened_here);
        let ran = self.run(params, &mut one_shot, trigger, wait, context).await;
        let ended = matches!(session.execution(), Execution::Ended(_) | Execution::Created);
        let closed = close.unwrap_or(opened_here && (ran.is_err() || ended));
        one_shot.settle(closed).await;
        let (mut report, mut values, triggered) = ran?;
        if closed {
            report = report.closed();
            for value in &mut values {
                value.variables_reference = None;
            }
        }
        let trigger = triggered.map(TriggerReport::from);
        Ok(RunUntilAnswer { session_id: session.id().to_string(), report, values, trigger, closed })
    }
}

impl RunUntil {
    /// Takes out what is started.
    fn program(&mut self) -> ProgramParams {
        ProgramParams {
            script: self.program.take(),
            module: self.module.take(),
            args: self.args.take(),
            runtime_args: self.runtime_args.take(),
            cwd: self.cwd.take(),
            env: self.env.take(),
            stdin: self.stdin.take(),
            stdin_file: None,
            extra: LaunchArgs::new(self.just_my_code, self.native_too),
        }
    }

    async fn run(
        self,
        params: ProgramParams,
        one_shot: &mut OneShotSession<'_>,
        trigger: Option<Trigger>,
        wait: Wait,
        context: &Context,
    ) -> Result<(StopReport, Vec<ValueData>, Option<TriggerProgress>), ToolError> {
        let session = &one_shot.session();
        let program = params.script.clone().or_else(|| one_shot.script());
        let places = self.until.unwrap_or_default();
        let places = places.into_iter().map(|place| PlaceRequest {
            // A function may be elsewhere if the program has none of that name.
            file: place.file.or_else(|| program.clone().filter(|_| place.function.is_none())),
            program: program.clone(),
            line: place.line,
            column: place.column,
            statement: place.statement,
            function: place.function,
            rule: Rule { condition: place.condition, ..Rule::default() },
            ..PlaceRequest::default()
        });
        let places = places.collect();
        let exceptions = match (self.exceptions, self.exception_condition) {
            (None, None) => None,
            (mode, condition) => {
                let mode = mode.unwrap_or(ExceptionParam::Uncaught);
                Some(exceptions::exceptions(mode, condition)?)
            }
        };
        let request = run_until::RunUntil {
            launch: one_shot.launch(params)?,
            places,
            exceptions,
            expressions: self.expressions.unwrap_or_default(),
            frames: run_until::Frames::Top,
            trigger,
            wait,
        };
        let hold = !request.places.is_empty() && self.close != Some(true);
        let ran = run_until::run_until(session, request, context).await?;
        let mut report = StopReport::new("", ran.settled).with_unreached(ran.missed);
        report.notes.extend(ran.notes);
        if ran.timed_out {
            report.notes.push(format!("the timeout of {} ms was reached", wait.timeout.as_millis()));
        }
        if hold && report.state == "running" {
            let note = "its breakpoints stay until the next stop; call continue_execution to wait for it";
            report.notes.push(note.to_owned());
        }
        let values = ran.values.into_iter().map(|(text, value)| expression_value(text, &value)).collect();
        Ok((report, values, ran.triggered))
    }
}
