//! One question, one answer, and nothing left running.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::adapter::Adapter;
use engine::model::breakpoint::Rule;
use engine::model::ids::Reference;
use engine::model::stack::StackFrame;
use engine::model::stop::StopReason;
use engine::session::Session;
use engine::session::placing::PlaceRequest;
use engine::snapshot::{Caller, Snapshot};
use engine::sources;
use schemars::JsonSchema;
use serde::Deserialize;

use super::QuickTool;
use super::target::{Target, base_name, language};
use super::text;
use crate::ops::closing::CloseOnDrop;
use crate::ops::run_until::{Frames, RunUntil, RunUntilResult, run_until, whole};
use crate::ops::settle::{Settled, Wait};
use crate::ops::unreached::rule;
use crate::ops::{execution, lifecycle};
use crate::{ArgumentList, Context, Effects, ToolError, error};

/// One question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugProbe {
    /// script to run
    program: PathBuf,
    /// where to stop; default: program
    file: Option<PathBuf>,
    /// 1-based
    line: u32,
    /// node, python, c (C++), rust, java, go, ruby or php; default: detected from the program
    language: Option<String>,
    /// stop only if this expression is true
    condition: Option<String>,
    /// evaluated at the stop
    expressions: Option<Vec<String>>,
    args: Option<ArgumentList>,
    /// default: the server's
    cwd: Option<PathBuf>,
    /// added to the environment
    env: Option<BTreeMap<String, String>>,
    /// interpreter
    executable_path: Option<PathBuf>,
    /// ms to wait for the stop, default 20000
    timeout: Option<u64>,
}

impl QuickTool for DebugProbe {
    const NAME: &'static str = "debug_probe";
    const TITLE: &'static str = "Probe";
    const DESCRIPTION: &'static str = "One call: run a program to a line, report the source, the stack with all locals, your expressions and the output, and end it.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let (target, request) = self.request(context)?;
        let session = context.sessions.open_unlisted(target.adapter, target.title(), target.executable)?;
        let guard = CloseOnDrop::new(context, &session, true);
        let said = probe(&session, request, context).await;
        guard.settle(true).await;
        said
    }
}

impl DebugProbe {
    fn request(self, context: &Context) -> Result<(Target, RunUntil), ToolError> {
        let program = sources::absolute(&self.program);
        let target = Target {
            args: self.args.unwrap_or_default().0,
            cwd: self.cwd.map(|cwd| sources::absolute(&cwd)),
            env: self.env.unwrap_or_default(),
            executable: self.executable_path,
            ..Target::new(language(self.language.as_deref(), &program)?, program)
        };
        let place = PlaceRequest {
            file: Some(self.file.unwrap_or_else(|| target.program.clone())),
            line: Some(self.line),
            rule: Rule::on(self.condition),
            ..PlaceRequest::default()
        };
        let launch = target.launch(false);
        let safety = &context.sessions.policy().safety;
        lifecycle::check_program(safety, target.adapter, target.executable.as_deref(), &launch)?;
        let request = RunUntil {
            launch: Some(launch),
            places: vec![place],
            exceptions: None,
            expressions: self.expressions.unwrap_or_default(),
            frames: Frames::All,
            trigger: None,
            wait: Wait::new(context.bounds(), self.timeout, whole(context.bounds()))?,
        };
        Ok((target, request))
    }
}

/// Runs the program, and reports the result.
async fn probe(session: &Session, request: RunUntil, context: &Context) -> Result<String, ToolError> {
    let missed = request.places.first().and_then(|place| {
        let (file, line) = (base_name(place.file.as_deref()?), place.line?);
        Some(format!("{file}:{line} was not reached{}", rule(&place.rule)))
    });
    let missed = missed.unwrap_or_default();
    let RunUntilResult { settled, callers, values, missed: not_reached, notes, .. } =
        run_until(session, request, context).await?;
    let notes: Vec<String> = not_reached.into_iter().chain(notes).collect();
    Ok(match settled {
        Settled::Stopped(snapshot) => {
            let came_first = snapshot.stop.reason == StopReason::Exception;
            let values = values.iter().map(|(expression, value)| match value {
                Ok(value) => {
                    let type_name = text::type_name(value, session.adapter());
                    format!("  {expression}: {type_name} = {}", value.text)
                }
                Err(failed) => format!("  {expression}: {}", failed.with_hint(error::quick)),
            });
            text::lines([
                text::place(&snapshot),
                headed("Values:", text::lines(values)),
                headed("Stack:", stack(&snapshot, &callers, session.adapter())),
                text::output(&snapshot.output),
                text::sentences(&snapshot.failures, &snapshot.notes),
                text::notes(&notes),
                if came_first { format!("note: {missed} before that") } else { String::new() },
            ])
        }
        Settled::Running { output, remarks, .. } => text::lines([
            format!("Still running at the timeout; {missed} in time."),
            text::output(&output),
            text::remarks(&remarks),
            text::notes(&notes),
            current_location(session, context).await,
        ]),
        ended @ Settled::Ended { .. } => text::lines([text::settled(&ended), text::notes(&notes)]),
    })
}

fn headed(heading: &str, text: String) -> String {
    if text.is_empty() { text } else { format!("{heading}\n{text}") }
}

/// The frames with their variables.
fn stack(snapshot: &Snapshot, callers: &[Caller], adapter: &dyn Adapter) -> String {
    let own = snapshot.locals.as_ref().map(|(_, locals)| text::variables(locals, adapter));
    let theirs = |frame: &StackFrame<Reference>| {
        let caller = callers.iter().find(|caller| caller.frame.id == frame.id)?;
        Some(match &caller.locals {
            Ok(locals) => text::variables(locals, adapter),
            Err(problem) => format!("  its variables {problem}"),
        })
    };
    let shown = snapshot.frames.iter().enumerate().map(|(number, frame)| {
        let locals = if number == 0 { own.clone() } else { theirs(frame) };
        text::lines([text::frame(number, frame), locals.unwrap_or_default()])
    });
    let users = snapshot.total_frames.saturating_sub(snapshot.hidden_frames);
    let more = users.saturating_sub(snapshot.frames.len());
    text::lines(shown.chain((more > 0).then(|| format!("... and {more} more"))))
}

/// Where a program is that does not come to its end.
async fn current_location(session: &Session, context: &Context) -> String {
    let limits = whole(context.bounds());
    let wait = Wait { timeout: context.bounds().default_pause(), limits };
    let paused = execution::pause(session, None, wait, context).await;
    let Ok(Settled::Stopped(snapshot)) = paused else {
        return text::notes(&execution::thread_locations(session).await);
    };
    let callers = snapshot.callers(session, limits).await;
    let stack = stack(&snapshot, &callers, session.adapter());
    text::lines([text::place(&snapshot), headed("Stack:", stack), text::output(&snapshot.output)])
}
