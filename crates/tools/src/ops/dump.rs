//! Crash dumps: a program as it was when it crashed.

use std::path::{Path, PathBuf};

use engine::adapter::{self, Machine, commands};
use engine::model::ids::Reference;
use engine::model::launch::{Attach, Endpoint};
use engine::model::stack::users_frames;
use engine::model::variable::Value;
use engine::session::Session;
use engine::snapshot::Caller;
use engine::sources;

use super::lifecycle;
use super::run_until::evaluate_all;
use super::settle::{Settled, Wait};
use crate::{Context, ToolError};

/// How many threads, and how many frames of each, a report has.
const THREADS: usize = 50;
const FRAMES: usize = 6;

/// What a dump shows.
#[derive(Debug)]
pub struct Dumped {
    /// Where the program crashed.
    pub settled: Settled,
    /// The frames that called the innermost one.
    pub callers: Vec<Caller>,
    /// The expressions and their results.
    pub values: Vec<(String, Result<Value<Reference>, ToolError>)>,
    /// The other threads.
    pub threads: Vec<DumpedThread>,
}

/// A thread in a dump.
#[derive(Debug)]
pub struct DumpedThread {
    /// Its name.
    pub name: String,
    /// Its innermost frames, each as `function file:line`.
    pub stack: Vec<String>,
}

/// How a dump is reached: a file, or what `coredumpctl` has under a name, a number or `last`.
pub async fn endpoint(file: &Path, program: Option<PathBuf>) -> Result<Endpoint, ToolError> {
    let found = adapter::find_dump(&Machine, file).await?;
    let program = program.map(|program| sources::absolute(&program));
    Ok(Endpoint::Core { file: sources::absolute(&found), program })
}

/// Opens a dump in a session of its own, in the language of its program.
pub async fn open(
    context: &Context,
    file: &Path,
    program: Option<PathBuf>,
    wait: Wait,
) -> Result<(Session, Settled), ToolError> {
    let to = endpoint(file, program).await?;
    let Endpoint::Core { file, program } = &to else { return Err(ToolError::argument("core", "is missing")) };
    let program = adapter::program_of_dump(&Machine, file, program.as_deref())?;
    let adapter = commands::by_program(&Machine, &program).ok_or_else(|| {
        ToolError::argument("program", format!("the language of `{}` is unknown", program.display()))
    })?;
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let session = context.sessions.open(adapter, name, None)?;
    let attach = Attach { to: to.clone(), path_mappings: Vec::new(), just_my_code: true };
    let settled = lifecycle::attach(&session, attach, None, wait, context).await?;
    Ok((session, settled))
}

/// Says that a source may have changed since the crash.
pub(super) fn note_changed_source(mut settled: Settled, dump: &Path) -> Settled {
    if let Settled::Stopped(snapshot) = &mut settled {
        let place = snapshot.frames.first().and_then(|frame| frame.location.as_ref());
        let source = place.and_then(|place| place.source.path.as_deref());
        if source.is_some_and(|source| sources::is_newer(source, dump)) {
            let note = "the source is newer than the dump, so its lines may not match";
            snapshot.notes.push(note.to_owned());
        }
    }
    settled
}

/// Reads a dump: the thread that crashed with its values, and the stacks of the others.
pub async fn read(session: &Session, settled: Settled, expressions: Vec<String>, wait: Wait) -> Dumped {
    let (mut callers, mut values, mut threads) = (Vec::new(), Vec::new(), Vec::new());
    if let Settled::Stopped(snapshot) = &settled {
        callers = snapshot.callers(session, wait.limits).await;
        values = evaluate_all(session, expressions, wait.limits.value.saturating_mul(5)).await;
        let all = session.threads().await.unwrap_or_default();
        for thread in all.into_iter().filter(|thread| thread.id != snapshot.stop.thread).take(THREADS) {
            let stack = session.stack_trace(Some(thread.id), 0, FRAMES * 4).await;
            let frames = stack.map(|stack| users_frames(stack.frames, None).0).unwrap_or_default();
            let shown = frames.iter().take(FRAMES).map(|frame| match &frame.location {
                Some(location) => {
                    let file = Path::new(&location.source.name).file_name().unwrap_or_default();
                    format!("{} {}:{}", frame.name, file.to_string_lossy(), location.line)
                }
                None => frame.name.clone(),
            });
            threads.push(DumpedThread { name: thread.name, stack: shown.collect() });
        }
    }
    Dumped { settled, callers, values, threads }
}
