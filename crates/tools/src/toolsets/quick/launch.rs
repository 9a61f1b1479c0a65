//! Starting a program, and the end of the session.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::error::Error;
use engine::model::stop::StopReason;
use engine::session::Session;
use engine::session::state::Execution;
use engine::sources;
use schemars::JsonSchema;
use serde::Deserialize;

use super::QuickTool;
use super::state::{RequestedBreakpoint, State};
use super::target::{Target, language};
use super::text;
use crate::ops::lifecycle;
use crate::ops::settle::{Settled, Wait};
use crate::{ArgumentList, Context, Effects, ToolError};

/// Starts a program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugLaunch {
    /// script to debug; default: the last one again, with its arguments
    program: Option<PathBuf>,
    /// node, python, c (C++), rust, java, go, ruby or php; default: detected from the program
    language: Option<String>,
    args: Option<ArgumentList>,
    /// default: the server's
    cwd: Option<PathBuf>,
    /// added to the environment
    env: Option<BTreeMap<String, String>>,
    /// interpreter; default: .venv near the program, else python3; node
    executable_path: Option<PathBuf>,
    /// ms to wait for the first pause, default 20000
    timeout: Option<u64>,
}

impl QuickTool for DebugLaunch {
    const NAME: &'static str = "debug_launch";
    const TITLE: &'static str = "Launch";
    const DESCRIPTION: &'static str = "Start debugging a program. It pauses before its first line. Ends a program that is already being debugged; breakpoints stay.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let wait = Wait::new(context.bounds(), self.timeout, context.bounds().report())?;
        let mut state = context.quick.lock().await;
        let target = self.target(state.target.as_ref())?;
        let launch = target.launch(true);
        let safety = &context.sessions.policy().safety;
        lifecycle::check_program(safety, target.adapter, target.executable.as_deref(), &launch)?;
        let began = begin(&mut state, target.clone(), context).await?;
        drop(state);
        let settled = lifecycle::launch(&began.session, launch, wait, context).await;
        let settled = settled.map_err(|error| began.said.lines().fold(error, ToolError::and))?;
        let answer = text::lines([started(&target, &settled), began.said, pending(&began.session).await]);
        Ok(answer)
    }
}

impl DebugLaunch {
    /// What to start. Without a program it is the last one, and what else is not given is as it was.
    fn target(self, last: Option<&Target>) -> Result<Target, ToolError> {
        let mut target = match (self.program, last) {
            (Some(program), _) => {
                let program = sources::absolute(&program);
                Target::new(language(self.language.as_deref(), &program)?, program)
            }
            (None, Some(last)) => last.clone(),
            (None, None) => {
                return Err(ToolError::argument("program", "is missing; give the path of a script"));
            }
        };
        if let Some(name) = &self.language {
            target.adapter = language(Some(name), &target.program)?;
        }
        if let Some(env) = self.env {
            target.env = env;
            target.lost_env.clear();
        }
        target.args = self.args.map_or(target.args, |args| args.0);
        target.cwd = self.cwd.map(|cwd| sources::absolute(&cwd)).or(target.cwd);
        target.executable = self.executable_path.or(target.executable);
        Ok(target)
    }
}

/// A session that is ready for its program.
struct ReadySession {
    session: Session,
    /// What became of the program before it, and of the breakpoints; in lines.
    said: String,
}

/// Ends the program that is being debugged, and makes a session with the breakpoints that there are.
async fn begin(state: &mut State, target: Target, context: &Context) -> Result<ReadySession, ToolError> {
    let mut said = Vec::new();
    let before = state.session.take();
    if let Some(before) = &before {
        if before.execution().is_live() {
            said.push("The previous program was ended.".to_owned());
        }
        context.sessions.close(before).await;
    }
    let session =
        context.sessions.open_unlisted(target.adapter, target.title(), target.executable.clone())?;
    state.session = Some(session.clone());
    let (breakpoints, lost) = set_again(&session, &state.breakpoints).await;
    let labels: Vec<String> =
        breakpoints.iter().filter(|wished| wished.set.is_some()).map(RequestedBreakpoint::label).collect();
    if !labels.is_empty() && (state.restored || before.is_some()) {
        let (verb, whose) = if state.restored { ("Restored", " of the last session") } else { ("Kept", "") };
        let count = if labels.len() == 1 { "1 breakpoint" } else { &format!("{} breakpoints", labels.len()) };
        said.push(format!("{verb} {count}{whose}: {}.", labels.join(", ")));
    }
    said.extend(lost);
    if !target.lost_env.is_empty() {
        let names = target.lost_env.join(", ");
        said.push(format!("It runs without {names}: values of `env` are not saved; pass them again."));
    }
    state.breakpoints = breakpoints;
    state.target = Some(target);
    state.restored = false;
    state.save();
    Ok(ReadySession { session, said: text::lines(said) })
}

/// Sets breakpoints in a new session. Those whose lines are gone are dropped; one that cannot be set for another
/// reason, such as an error in its file, is kept for the next launch. Both are reported.
async fn set_again(
    session: &Session,
    all: &[RequestedBreakpoint],
) -> (Vec<RequestedBreakpoint>, Vec<String>) {
    let (mut kept, mut lost) = (Vec::new(), Vec::new());
    for wished in all {
        let mut wished = wished.clone();
        let label = wished.label();
        wished.set = None;
        match session.set_breakpoint(wished.wanted()).await {
            Ok((breakpoint, _)) => wished.mark_set(&breakpoint),
            Err(error) => {
                let is_gone = matches!(error, Error::NoLine { .. } | Error::NoFile { .. });
                let failed = ToolError::from(error).message;
                let verb = if is_gone { "Dropped" } else { "Without" };
                lost.push(format!("{verb} the breakpoint at {label}: {failed}"));
                if is_gone {
                    continue;
                }
            }
        }
        kept.push(wished);
    }
    (kept, lost)
}

/// The first words of an answer, and what else the program did.
fn started(target: &Target, settled: &Settled) -> String {
    let started = format!("Debugger started for {}.", target.label());
    match settled {
        Settled::Stopped(snapshot) if snapshot.stop.reason == StopReason::Entry => text::lines([
            format!("{started} Ready for breakpoints."),
            text::output(&snapshot.output),
            text::sentences(&snapshot.failures, &snapshot.notes),
        ]),
        // It came to a breakpoint at once.
        Settled::Stopped(_) => {
            text::lines([format!("{started} Ready for breakpoints."), text::settled(settled)])
        }
        other => text::lines([started, text::settled(other)]),
    }
}

/// The breakpoints that are not bound, although the program is there.
async fn pending(session: &Session) -> String {
    if !session.execution().is_live() {
        return String::new();
    }
    let all = session.breakpoints().await.unwrap_or_default();
    text::lines(all.iter().filter(|breakpoint| !breakpoint.is_verified()).map(text::breakpoint))
}

/// Ends the session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugStop {}

impl QuickTool for DebugStop {
    const NAME: &'static str = "debug_stop";
    const TITLE: &'static str = "Stop";
    const DESCRIPTION: &'static str = "End the program and the debug session, and remove the breakpoints.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let mut state = context.quick.lock().await;
        let session = state.session.take();
        state.reset();
        let mut parts = vec!["Debug session ended.".to_owned()];
        if let Some(session) = session {
            if let Execution::Ended(end) = session.execution()
                && session.has_unreported_end()
            {
                parts.push(format!("Program {end}."));
            }
            context.sessions.close(&session).await;
            parts.push(text::output(&session.take_new_output(context.bounds().report().output)));
        }
        drop(state);
        Ok(text::lines(parts))
    }
}
