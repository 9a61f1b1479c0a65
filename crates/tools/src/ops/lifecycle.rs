//! Opening sessions, starting and reaching programs, ending them.

use std::path::PathBuf;

use engine::adapter::{self, Adapter, Wire};
use engine::error::Error;
use engine::model::launch::{Attach, Launch, Start};
use engine::session::Session;
use engine::sources;

use super::settle::{Settled, Wait, settle, with_progress};
use crate::{Context, ToolError};

/// Opens a session.
pub fn open(
    context: &Context,
    language: &str,
    name: Option<String>,
    executable: Option<PathBuf>,
) -> Result<Session, ToolError> {
    let adapter = language_of(language)?;
    let name = name.unwrap_or_else(|| format!("Debug-{}", milliseconds()));
    Ok(context.sessions.open(adapter, name, executable))
}

fn language_of(language: &str) -> Result<&'static dyn Adapter, ToolError> {
    adapter::by_name(language).ok_or_else(|| {
        let known: Vec<&str> = adapter::ADAPTERS.iter().map(|adapter| adapter.name()).collect();
        ToolError::no_language(language, &known)
    })
}

fn milliseconds() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map(|now| now.as_millis()).unwrap_or_default()
}

/// Starts a program, and waits for its first stop.
pub async fn launch(
    session: &Session,
    launch: Launch,
    wait: Wait,
    context: &Context,
) -> Result<Settled, ToolError> {
    check_program(&launch)?;
    start(session, Start::Launch(launch), wait, context).await
}

/// Connects to a running program. It is suspended only when asked for.
pub async fn attach(
    session: &Session,
    attach: Attach,
    stop: bool,
    wait: Wait,
    context: &Context,
) -> Result<Settled, ToolError> {
    with_progress(session, context, session.start(Start::Attach(attach))).await?;
    if stop {
        return super::execution::pause(session, None, wait, context).await;
    }
    let now = Wait { timeout: std::time::Duration::ZERO, ..wait };
    Ok(settle(session, now, context).await)
}

/// Starts the program of a session again, with its breakpoints. Names those whose text is gone.
pub async fn restart(
    session: &Session,
    wait: Wait,
    context: &Context,
) -> Result<(Settled, Vec<String>), ToolError> {
    let last = session.last_start().await?;
    let last = last.ok_or(Error::NotLive { state: session.execution().as_str() })?;
    session.end().await?;
    let gone = session.find_statements_again().await?;
    Ok((start(session, last, wait, context).await?, gone))
}

async fn start(session: &Session, start: Start, wait: Wait, context: &Context) -> Result<Settled, ToolError> {
    with_progress(session, context, session.start(start)).await?;
    Ok(settle(session, wait, context).await)
}

/// A program that is not there is said at once, in better words than an interpreter has for it.
fn check_program(launch: &Launch) -> Result<(), ToolError> {
    if let engine::model::launch::Program::Script(path) = &launch.program {
        sources::read_lines(path)?;
    }
    if let Some(cwd) = &launch.cwd
        && !cwd.is_dir()
    {
        return Err(
            Error::BadFile { path: cwd.clone(), problem: "is no directory to work in".to_owned() }.into()
        );
    }
    Ok(())
}

/// What a start would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DryRun {
    /// The command line.
    pub command: Vec<String>,
    /// The interpreter's version.
    pub version: String,
    /// How the interpreter was found.
    pub origin: String,
}

/// Goes through the preparations of a start and starts nothing.
pub async fn dry_run(session: &Session, launch: Launch) -> Result<DryRun, ToolError> {
    check_program(&launch)?;
    let (adapter, host) = (session.adapter(), session.host());
    let near = match &launch.program {
        engine::model::launch::Program::Script(path) => Some(path.as_path()),
        engine::model::launch::Program::Module(_) => None,
    };
    let runtime = adapter.locate(host, session.executable(), near).await?;
    let progress = engine::debugger::Progress::new();
    let debugger = adapter.provide(host, &runtime, &progress).await?;
    adapter.check(host, &runtime, &launch).await?;
    let plan = adapter.plan(&runtime, &debugger, &Start::Launch(launch))?;
    let Wire::DapListen(_) = plan.wire else {
        return Err(Error::Unsupported("this start has no command line".to_owned()).into());
    };
    let process = plan.process.unwrap_or_default();
    let mut command = vec![process.program.display().to_string()];
    command.extend(process.args.iter().map(|argument| argument.to_string_lossy().into_owned()));
    Ok(DryRun { command, version: runtime.version, origin: runtime.origin })
}
