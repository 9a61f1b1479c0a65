//! Finding out why a program does not end.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use engine::adapter::Machine;
use engine::model::launch::Stdin;
use engine::session::Session;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::StatusAnswer;
use crate::ops::closing::CloseOnDrop;
use crate::ops::command::Command;
use crate::ops::execution;
use crate::ops::hang::{self, HangRequest};
use crate::ops::settle::Wait;
use crate::render::{HangReport, LoopData, PlaceData, WaitData};
use crate::{ArgumentList, CommandLine, Context, Effects, Tool, ToolError};

/// Finds out why a program does not end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerDetectHang {
    /// node, python, npx, a script, a test runner
    command: Option<CommandLine>,
    args: Option<ArgumentList>,
    cwd: Option<PathBuf>,
    /// ms, default 10000
    timeout: Option<u64>,
    /// ms, default 100
    sample_interval: Option<u64>,
    /// instead of a command: the program of this session
    session_id: Option<String>,
    /// keep the session, paused where it hangs
    keep_session: Option<bool>,
}

/// The diagnosis.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HangResult {
    /// Hung, or still computing at the timeout. Waiting for requests, input or a timer is not a hang.
    hung: bool,
    /// The program has ended.
    completed: bool,
    /// `completed`, `failed` (exited with an error), `busy_loop`, `busy_event_loop` (the same calls keep
    /// repeating), `slow` (computing, with changing values), `waiting`, `deadlocked`, `stopped` (at a
    /// breakpoint) or `unknown`.
    verdict: Cow<'static, str>,
    /// Summary in a sentence.
    message: String,
    /// Where it hangs: `/path/file.js:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    /// Stack of the responsible thread, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stack: Vec<StackData>,
    /// Evidence for the verdict.
    evidence: Vec<String>,
    /// The loop it is in.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    found: Option<LoopData>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waits_for: Vec<WaitData>,
    /// The samples as a call tree, with the share of each call.
    #[serde(skip_serializing_if = "String::is_empty")]
    calls: String,
    /// Number of samples.
    samples: u64,
    /// Time watched, in milliseconds.
    duration: u64,
    /// CPU time, in milliseconds.
    cpu_time: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Signal that killed the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// The program's output.
    #[serde(skip_serializing_if = "String::is_empty")]
    output: String,
    /// The session, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

/// A place in a stack.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StackData {
    /// The same as `function`.
    function_name: String,
    #[serde(flatten)]
    place: PlaceData,
}

impl From<PlaceData> for StackData {
    fn from(place: PlaceData) -> Self {
        Self { function_name: place.function.clone(), place }
    }
}

impl HangResult {
    fn new(found: HangReport, kept: Option<&Session>) -> Self {
        let has_place = |place: &&PlaceData| !place.file.is_empty();
        Self {
            hung: found.hung,
            completed: found.completed,
            verdict: found.verdict,
            message: found.report.message,
            location: found
                .hung_at
                .as_ref()
                .filter(has_place)
                .map(|place| format!("{}:{}", place.file, place.line)),
            stack: found.stack.into_iter().map(StackData::from).collect(),
            evidence: found.evidence,
            found: found.found,
            waits_for: found.waits_for,
            calls: found.calls,
            samples: found.samples,
            duration: found.duration_ms,
            cpu_time: found.cpu_ms,
            exit_code: found.report.exit_code,
            signal: found.report.signal,
            output: found.report.output,
            session_id: kept.map(|session| session.id().to_string()),
        }
    }
}

impl Tool for DebuggerDetectHang {
    type Answer = StatusAnswer<HangResult>;
    const NAME: &'static str = "debugger_detect_hang";
    const TITLE: &'static str = "Detect hang";
    const DESCRIPTION: &'static str = "Run a program, or watch a session's, and report why it does not finish: loop, slow, waiting or deadlocked, with location and evidence.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<HangResult>, ToolError> {
        hang::check_times(context.bounds(), self.timeout, self.sample_interval)?;
        let keep = self.keep_session.unwrap_or(false);
        let (interval, timeout) = (self.sample_interval, self.timeout);
        let (session, launch) = self.program(context)?;
        let opened_here = launch.is_some();
        let closing = CloseOnDrop::new(context, &session, opened_here);
        let request = HangRequest {
            launch,
            interval: interval.map_or(hang::INTERVAL, Duration::from_millis),
            leave_paused: keep,
            wait: Wait::or(context.bounds(), timeout, hang::TIMEOUT, context.bounds().report())?,
        };
        let found = hang::hang(&session, request, context).await;
        let is_there = found.as_ref().is_ok_and(|found| found.end.is_none());
        let is_kept = !opened_here || (keep && is_there);
        closing.settle(!is_kept).await;
        Ok(StatusAnswer(HangResult::new(HangReport::new(found?), Some(&session).filter(|_| is_kept))))
    }
}

impl DebuggerDetectHang {
    /// A new session and what to start in it, or one whose program is there.
    fn program(
        self,
        context: &Context,
    ) -> Result<(Session, Option<engine::model::launch::Launch>), ToolError> {
        let Some(command) = self.command else {
            if self.session_id.is_none() && context.sessions.list().is_empty() {
                return Err(ToolError::argument("command", "is missing, and no session is open"));
            }
            let session = context.session(self.session_id.as_deref())?;
            execution::must_be_live(&session)?;
            return Ok((session, None));
        };
        if self.session_id.is_some() {
            return Err(ToolError::argument("command", "cannot be combined with `sessionId`"));
        }
        let mut read = Command::read(&Machine, &command, self.args, self.cwd)?;
        read.launch.stdin = Stdin::Open;
        let title = read.title();
        Ok((context.sessions.open(read.adapter, title, read.executable)?, Some(read.launch)))
    }
}
