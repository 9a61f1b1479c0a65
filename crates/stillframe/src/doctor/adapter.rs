//! `stillframe doctor --adapter NAME`: tries one adapter, step by step.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use engine::adapter::{Adapter, Guarded, Machine};
use engine::debugger::Step;
use engine::model::launch::Launch;
use engine::policy::SharedPolicy;
use engine::session::Session;
use engine::session::placing::PlaceRequest;
use engine::sessions::Sessions;
use engine::sources;
use journal::Journal;
use tools::ops::execution;
use tools::ops::lifecycle;
use tools::ops::run_until::{Frames, RunUntil, run_until};
use tools::ops::settle::{Settled, Wait};
use tools::{Context, LocationArg};

use super::steps::{self, Tried};
use super::{CheckMark, line};
use crate::setup::cli_error;
use crate::terminal;

/// How long a program may take to its breakpoint, and for a step.
const PATIENCE: Duration = Duration::from_mins(1);

/// Tries an adapter with a program; without one, only whether it is there.
pub(super) async fn run(
    adapter: &'static dyn Adapter,
    (place, program): (Option<LocationArg>, Option<PathBuf>),
    as_json: bool,
    policy: SharedPolicy,
) -> anyhow::Result<ExitCode> {
    let mut tried = Vec::new();
    let guarded = Guarded::starting(&Machine, &policy.safety);
    let found = adapter.locate(&guarded, None, None).await;
    let is_found = found.is_ok();
    tried.push(match found {
        Ok(runtime) if runtime.executable == PathBuf::new() => ("found", Ok(runtime.origin)),
        Ok(runtime) => ("found", Ok(format!("{}, {}", runtime.executable.display(), runtime.origin))),
        Err(error) => ("found", Err(tools::ToolError::from(error).message)),
    });
    if let (true, Some(place)) = (is_found, place) {
        let sessions = Sessions::with_policy(Journal::none(), policy);
        let context = Context::new(sessions.clone());
        if let Err(problem) = session(adapter, (place, program), &context, &mut tried).await {
            tried.push(("session", Err(format!("{problem:#}"))));
        }
        sessions.close_all().await;
    }
    let works = tried.iter().all(|(_, outcome)| outcome.is_ok());
    let mut text = if as_json {
        steps::to_json("adapter", adapter.name(), &tried)?
    } else {
        steps::to_text(adapter.name(), &tried)
    };
    if !as_json && tried.len() == 1 {
        line(&mut text, CheckMark::Warn, "add `--at FILE:LINE` to check a breakpoint, values and a step");
    }
    terminal::print(&text)?;
    Ok(if works { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs a program to a line, reads what is there, and steps.
async fn session(
    adapter: &'static dyn Adapter,
    (place, program): (LocationArg, Option<PathBuf>),
    context: &Context,
    tried: &mut Vec<Tried>,
) -> anyhow::Result<()> {
    let session =
        lifecycle::open(context, adapter.name(), Some("doctor".to_owned()), None).map_err(cli_error)?;
    let file = sources::absolute(&place.file);
    let program = program.map_or_else(|| file.clone(), |program| sources::absolute(&program));
    let wanted = PlaceRequest {
        file: Some(file),
        line: place.line,
        column: place.column,
        function: place.function,
        ..PlaceRequest::default()
    };
    let wait = Wait { timeout: PATIENCE, ..Wait::usual(context.bounds()) };
    let request = RunUntil {
        launch: Some(Launch::new(adapter.program(&Machine, program))),
        places: vec![wanted],
        exceptions: None,
        frames: Frames::Top,
        trigger: None,
        expressions: Vec::new(),
        wait,
    };
    let ran = run_until(&session, request, context).await.map_err(cli_error)?;
    let abilities = session.abilities().await.unwrap_or_default();
    tried.push(("handshake", Ok(format!("capabilities: {}", listed(&abilities)))));
    let Settled::Stopped(snapshot) = &ran.settled else {
        let reason = ran.missed.first().cloned().unwrap_or_else(|| "the program did not stop".to_owned());
        tried.push(("breakpoint", Err(reason)));
        return Ok(());
    };
    let at = snapshot.frames.first().and_then(|frame| frame.location.as_ref());
    let at = at.map_or_else(|| "an unknown line".to_owned(), |at| format!("line {}", at.line));
    tried.push(("breakpoint", Ok(format!("stopped at {at}"))));
    tried.push(match &snapshot.locals {
        Some((_, locals)) => {
            let shown =
                locals.variables.iter().take(5).map(|one| format!("{} = {}", one.name, one.value.text));
            ("values", Ok(listed(&shown.collect::<Vec<_>>())))
        }
        None => ("values", Err(snapshot.notes.join("; "))),
    });
    tried.push(("step", stepped(&session, wait, context).await));
    Ok(())
}

async fn stepped(session: &Session, wait: Wait, context: &Context) -> Result<String, String> {
    let settled = execution::step(session, None, Step::Over, wait, context).await;
    match settled.map_err(|error| error.message)? {
        Settled::Stopped(snapshot) => {
            let at = snapshot.frames.first().and_then(|frame| frame.location.as_ref());
            Ok(at.map_or_else(|| "stepped".to_owned(), |at| format!("stepped to line {}", at.line)))
        }
        Settled::Ended { .. } => Ok("the program ended in the step".to_owned()),
        Settled::Running { .. } => Err("the step did not end".to_owned()),
    }
}

fn listed(items: &[String]) -> String {
    if items.is_empty() { "nothing".to_owned() } else { items.join(", ") }
}
