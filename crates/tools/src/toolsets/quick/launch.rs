//! Starting a program, and the end of the session.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::model::limits::Limits;
use engine::model::stop::StopReason;
use engine::session::Session;
use engine::session::state::Execution;
use engine::sources;
use schemars::JsonSchema;
use serde::Deserialize;

use super::state::State;
use super::target::{Target, language};
use super::text;
use crate::ops::lifecycle;
use crate::ops::settle::{Settled, Wait};
use crate::{Context, Effects, Text, Tool, ToolError};

/// Starts a program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugLaunch {
    /// script to debug; default: the last one again, with its arguments
    program: Option<PathBuf>,
    /// node or python; default: from the program
    language: Option<String>,
    args: Option<Vec<String>>,
    /// default: the server's
    cwd: Option<PathBuf>,
    /// added to the environment
    env: Option<BTreeMap<String, String>>,
    /// interpreter; default: .venv near the program, else python3; node
    executable_path: Option<PathBuf>,
    /// ms to wait for the first pause, default 20000
    timeout: Option<u64>,
}

impl Tool for DebugLaunch {
    type Answer = Text;
    const NAME: &'static str = "debug_launch";
    const TITLE: &'static str = "Launch";
    const DESCRIPTION: &'static str = "Start debugging a program (Node.js or Python). It pauses before its first line; a program that is being debugged is ended. Breakpoints stay.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        context.quick.told(self.run(context).await).await
    }
}

impl DebugLaunch {
    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let wait = Wait::new(self.timeout, Limits::default());
        let mut state = context.quick.lock().await;
        let target = self.target(&mut state)?;
        let launch = target.launch(true);
        lifecycle::check_program(&launch)?;
        let began = begin(&mut state, target.clone(), context).await?;
        drop(state);
        let settled = lifecycle::launch(&began.session, launch, wait, context).await;
        let settled =
            settled.map_err(|error| began.said.lines().fold(error, |error, said| error.and(said)))?;
        let answer = text::lines([started(&target, &settled), began.said, pending(&began.session).await]);
        Ok(answer)
    }

    /// What to start. What is not given is as the last time, when it is the same program.
    fn target(self, state: &mut State) -> Result<Target, ToolError> {
        let program = self.program.map(|program| sources::absolute(&program));
        let last = state.target.as_ref();
        let last =
            last.filter(|last| program.as_ref().is_none_or(|program| *program == last.program)).cloned();
        let Some(program) = program.or_else(|| last.as_ref().map(|last| last.program.clone())) else {
            return Err(ToolError::argument("program", "is missing; it takes the path of a script"));
        };
        let adapter = match (&self.language, &last) {
            (None, Some(last)) => last.adapter,
            (name, _) => language(name.as_deref(), &program)?,
        };
        if last.is_none() || self.env.is_some() {
            state.lost_env.clear();
        }
        let (args, cwd, env, executable) = match last {
            Some(last) => (last.args, last.cwd, last.env, last.executable),
            None => (Vec::new(), None, BTreeMap::new(), None),
        };
        Ok(Target {
            adapter,
            program,
            args: self.args.unwrap_or(args),
            cwd: self.cwd.map(|cwd| sources::absolute(&cwd)).or(cwd),
            env: self.env.unwrap_or(env),
            executable: self.executable_path.or(executable),
        })
    }
}

/// A session that is ready for its program.
struct Began {
    session: Session,
    /// What became of the program before it, and of the breakpoints; in lines.
    said: String,
}

/// Ends the program that is being debugged, and makes a session with the breakpoints that there are.
async fn begin(state: &mut State, target: Target, context: &Context) -> Result<Began, ToolError> {
    let mut said = Vec::new();
    let before = state.session.take();
    if let Some(before) = &before {
        if before.execution().is_live() {
            said.push("The program that was being debugged is ended.".to_owned());
        }
        context.sessions.close(before).await;
    }
    let session = lifecycle::open_own(context, target.adapter, "quick", target.executable.clone());
    state.session = Some(session.clone());
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    // A call that is given up here must not take them away.
    for mut wished in state.breakpoints.clone() {
        match session.set_breakpoint(wished.wanted()).await {
            Ok((breakpoint, _)) => {
                wished.was_set(&breakpoint);
                kept.push(wished);
            }
            Err(error) => {
                let failed = ToolError::from(error);
                dropped.push(format!("Dropped the breakpoint at {}: {}", wished.label(), failed.message));
            }
        }
    }
    if !kept.is_empty() && (state.restored || before.is_some()) {
        let (verb, whose) = if state.restored { ("Restored", " of the last session") } else { ("Kept", "") };
        let count = match kept.len() {
            1 => "1 breakpoint".to_owned(),
            many => format!("{many} breakpoints"),
        };
        let labels: Vec<String> = kept.iter().map(super::state::Wished::label).collect();
        said.push(format!("{verb} {count}{whose}: {}.", labels.join(", ")));
    }
    said.extend(dropped);
    if !state.lost_env.is_empty() {
        let names = state.lost_env.join(", ");
        said.push(format!("It runs without {names}: values of `env` are not kept, give them again."));
    }
    state.breakpoints = kept;
    state.target = Some(target);
    state.restored = false;
    state.save();
    Ok(Began { session, said: text::lines(said) })
}

/// The first words of an answer, and what else the program did.
fn started(target: &Target, settled: &Settled) -> String {
    let started = format!("Debugger started for {}.", target.label());
    match settled {
        Settled::Stopped(snapshot) if snapshot.stop.reason == StopReason::Entry => text::lines([
            format!("{started} Ready for breakpoints."),
            text::output(&snapshot.output),
            text::remarks(&snapshot.failures, &snapshot.notes),
        ]),
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

impl Tool for DebugStop {
    type Answer = Text;
    const NAME: &'static str = "debug_stop";
    const TITLE: &'static str = "Stop";
    const DESCRIPTION: &'static str = "End the program and the debug session, and forget the breakpoints.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        context.quick.told(self.run(context).await).await
    }
}

impl DebugStop {
    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let mut state = context.quick.lock().await;
        let session = state.session.take();
        state.reset();
        let mut parts = vec!["Debug session ended.".to_owned()];
        if let Some(session) = session {
            if let Execution::Ended(end) = session.execution()
                && session.has_untold_end()
            {
                parts.push(format!("Program {end}."));
            }
            context.sessions.close(&session).await;
            parts.push(text::output(&session.take_new_output(Limits::default().output)));
        }
        drop(state);
        Ok(text::lines(parts))
    }
}
