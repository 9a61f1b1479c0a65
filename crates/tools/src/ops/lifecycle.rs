//! Opening sessions, starting and reaching programs, ending them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::adapter::{self, Adapter, Guarded, Host};
use engine::deadlines;
use engine::error::Error;
use engine::model::launch::{Attach, Endpoint, Launch, Start, Stdin};
use engine::process;
use engine::safety::Safety;
use engine::session::{Outcome, Session};
use engine::sources;
use tokio::time::Instant;

use super::closing::CloseOnDrop;
use super::command::Command;
use super::settle::{Settled, Wait, describe, settle, with_progress};
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
    Ok(context.sessions.open(adapter, name, executable)?)
}

/// The language of that name.
pub fn language_of(language: &str) -> Result<&'static dyn Adapter, ToolError> {
    adapter::by_name(language).ok_or_else(|| {
        let known: Vec<&str> = adapter::all().map(Adapter::name).collect();
        ToolError::no_language(language, &known)
    })
}

fn milliseconds() -> u128 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map(|now| now.as_millis()).unwrap_or_default()
}

/// Starts the program of a command in a session of its own, which is closed again when nothing comes of it.
pub async fn start_command(
    context: &Context,
    command: Command,
    wait: Wait,
) -> Result<(Session, Settled), ToolError> {
    let title = command.title();
    let Command { adapter, executable, launch: program } = command;
    let session = context.sessions.open(adapter, title, executable)?;
    let closing = CloseOnDrop::new(context, &session, true);
    let settled = launch(&session, program, wait, context).await;
    closing.settle(settled.is_err()).await;
    Ok((session, settled?))
}

/// Starts a program, and waits for its first stop.
pub async fn launch(
    session: &Session,
    launch: Launch,
    wait: Wait,
    context: &Context,
) -> Result<Settled, ToolError> {
    check_program(&session.policy().safety, session.adapter(), session.executable(), &launch)?;
    start(session, Start::Launch(launch), wait, context).await
}

/// Connects to a running program, and pauses it where `pause` says for how long to wait for that.
pub async fn attach(
    session: &Session,
    attach: Attach,
    pause: Option<Duration>,
    wait: Wait,
    context: &Context,
) -> Result<Settled, ToolError> {
    let began = Instant::now();
    let (notes, dump) = match &attach.to {
        Endpoint::Core { file, program } => {
            let notes =
                adapter::notes_of_dump(session.adapter(), &adapter::Machine, file, program.as_deref());
            (notes, Some(file.clone()))
        }
        to => (undebugged_workers(session.adapter(), to).into_iter().collect(), None),
    };
    if let Some(still) = begin(session, Start::Attach(attach), Building::Counts, wait, context).await? {
        return Ok(still);
    }
    if let Some(dump) = dump {
        let settled = settle(session, wait.since(began), context).await.with_notes(notes);
        return Ok(super::dump::note_changed_source(settled, &dump));
    }
    if let Some(longest) = pause {
        let left = wait.since(began);
        let left = Wait { timeout: left.timeout.min(longest), ..left };
        let paused = super::execution::pause(session, None, left, context).await?;
        return Ok(paused.with_notes(notes));
    }
    let now = Wait { timeout: Duration::ZERO, ..wait };
    Ok(settle(session, now, context).await.with_notes(notes))
}

/// Processes of the same language that a process has started already, such as the workers of a server: they do not stop
/// with it.
fn undebugged_workers(adapter: &dyn Adapter, endpoint: &Endpoint) -> Option<String> {
    let (Endpoint::Process(pid), Some(identity)) = (endpoint, adapter.process_identity()) else {
        return None;
    };
    let program = |pid: &u32| adapter::Machine.program_of(*pid);
    let is_worker = |pid: &u32| program(pid).is_some_and(|program| identity.may_be_interpreter(&program));
    let workers = process::children(*pid).into_iter().filter(is_worker);
    let workers: Vec<String> = workers.map(|pid| pid.to_string()).collect();
    let (are, them, which) = match workers.as_slice() {
        [] => return None,
        [one] => (format!("process {one} is"), "it", "it"),
        more => (format!("processes {} are", more.join(", ")), "them", "one of them"),
    };
    Some(format!(
        "{are} not debugged, because process {pid} started {them} before the attach; attach to {which} to \
         stop there"
    ))
}

/// Starts the program of a session again, with its breakpoints. Editors were attached to the program that ends.
pub async fn restart(session: &Session, wait: Wait, context: &Context) -> Result<Settled, ToolError> {
    let last = session.last_start().await?;
    let last = last.ok_or(Error::NotLive { state: session.execution().as_str() })?;
    if let Start::Attach(_) = last {
        let problem = "an attached program cannot be restarted; attach to it again";
        return Err(Error::Unsupported(problem.to_owned()).into());
    }
    context.exposures.unexpose(session.id()).await;
    session.end().await?;
    start(session, last, wait, context).await
}

/// Starts a program with its breakpoints where they belong now, and waits; one deadline for all of it.
async fn start(session: &Session, start: Start, wait: Wait, context: &Context) -> Result<Settled, ToolError> {
    let began = Instant::now();
    let stops_on_entry = matches!(&start, Start::Launch(launch) if launch.stop_on_entry);
    let (still, mut notes) = begin_placed(session, start, Building::Counts, wait, context).await?;
    if let Some(still) = still {
        return Ok(still.with_notes(notes));
    }
    let settled = settle(session, wait.since(began), context).await;
    if stops_on_entry && matches!(settled, Settled::Ended { .. }) {
        notes.push(NOT_ENTERED.to_owned());
    }
    Ok(settled.with_notes(notes))
}

/// The note on a program that was to stop on entry and ended without a stop.
const NOT_ENTERED: &str = "no stop on entry: the program has run code of libraries at most; to stop there, set a \
                           breakpoint";

/// A program that was started.
pub(super) struct BegunLaunch {
    /// What there is to report if the time was over first.
    pub(super) late: Option<Settled>,
    /// Notes that are there in any case.
    pub(super) notes: Vec<String>,
    /// From when the caller's time counts.
    pub(super) from: Instant,
}

/// Starts a program and does not wait for a stop. What building it takes does not count: a caller who waits for a stop
/// has nothing from half a build.
pub(super) async fn begin_launch(
    session: &Session,
    launch: Launch,
    wait: Wait,
    context: &Context,
) -> Result<BegunLaunch, ToolError> {
    check_program(&session.policy().safety, session.adapter(), session.executable(), &launch)?;
    let called = Instant::now();
    let start = Start::Launch(launch);
    let (late, notes) = begin_placed(session, start, Building::DoesNotCount, wait, context).await?;
    let from = session.start_progress().prepared_at().unwrap_or(called);
    Ok(BegunLaunch { late, notes, from })
}

/// Puts the breakpoints where they belong now, and starts.
async fn begin_placed(
    session: &Session,
    start: Start,
    building: Building,
    wait: Wait,
    context: &Context,
) -> Result<(Option<Settled>, Vec<String>), ToolError> {
    // Nothing of a program that runs may be touched.
    if session.execution().is_live() {
        return Err(Error::AlreadyLive.into());
    }
    let notes = session.place_again().await?;
    Ok((begin(session, start, building, wait, context).await?, notes))
}

/// Whether the time to install a debugger and to build the program is part of a timeout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Building {
    Counts,
    /// It takes at most as long as the longest wait.
    DoesNotCount,
}

/// Starts. At the timeout, this is the report; the start continues in the background.
async fn begin(
    session: &Session,
    start: Start,
    building: Building,
    wait: Wait,
    context: &Context,
) -> Result<Option<Settled>, ToolError> {
    let still = match start {
        Start::Launch(_) => "the program is still starting",
        Start::Attach(_) => "not attached yet: the program has not answered",
    };
    let progress = session.start_progress();
    progress.begin_start();
    let expired = async {
        if building == Building::DoesNotCount {
            let longest = session.policy().bounds.max_wait();
            if tokio::time::timeout(longest, progress.prepared()).await.is_err() {
                return;
            }
        }
        tokio::time::sleep(wait.timeout.max(deadlines::START)).await;
    };
    let starting = async {
        tokio::select! {
            biased;
            started = session.start(start) => Some(started),
            () = expired => None,
        }
    };
    if let Some(started) = with_progress(session, context, starting).await {
        started?;
        return Ok(None);
    }
    let doing = match session.progress() {
        doing if doing.is_empty() => String::new(),
        doing => format!(" ({doing})"),
    };
    let note = format!("{still}{doing}");
    Ok(Some(describe(session, Outcome::Running, wait.limits).await.with_notes(vec![note])))
}

/// Why a program is not a file, if it is none.
pub fn not_a_file(path: PathBuf) -> Option<Error> {
    if path.is_dir() {
        return Some(Error::BadFile { path, problem: "is a directory; name a file in it".to_owned() });
    }
    (!path.exists()).then(|| Error::NoFile { path, similar: Vec::new() })
}

/// A missing program is reported at once; the error is better than an interpreter's. A forbidden program is not
/// accessed.
pub fn check_program(
    safety: &Safety,
    adapter: &dyn Adapter,
    executable: Option<&Path>,
    launch: &Launch,
) -> Result<(), ToolError> {
    adapter::by_name::check_launch(safety, &adapter::Machine, executable, launch)?;
    if let engine::model::launch::Program::Script(path) = &launch.program {
        safety.check_path(path)?;
        let owner = adapter::by_extension(path).filter(|owner| !owner.facts().is_machine_code);
        if let Some(owner) = owner.filter(|_| adapter.facts().is_machine_code) {
            let problem = format!("is {}, and this session debugs {}", owner.about(), adapter.about());
            return Err(Error::BadFile { path: path.clone(), problem }.into());
        }
        safety.check_program_file(&adapter::first_file(adapter, path))?;
    }
    if let Stdin::File(path) = &launch.stdin {
        sources::open_input(path)?;
    }
    if let Some(cwd) = &launch.cwd
        && !cwd.is_dir()
    {
        return Err(Error::BadFile { path: cwd.clone(), problem: "is not a directory".to_owned() }.into());
    }
    Ok(())
}

/// What a program reads: a text, a file or nothing.
pub(crate) fn stdin(text: Option<String>, file: Option<PathBuf>) -> Result<Stdin, ToolError> {
    match (text, file) {
        (Some(text), None) => Ok(Stdin::Text(text)),
        (None, Some(file)) => Ok(Stdin::File(sources::absolute(&file))),
        (Some(_), Some(_)) => Err(ToolError::argument("stdinFile", "cannot be combined with `stdin`")),
        (None, None) => Ok(Stdin::Empty),
    }
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

/// Which interpreter a program is run by, in a sentence, and how it was found if it was not named; nothing where that
/// cannot be known before.
pub async fn interpreter(session: &Session, launch: &Launch) -> Option<String> {
    let guarded = Guarded::starting(session.host(), &session.policy().safety);
    let near = launch.near();
    let runtime = session.adapter().locate(&guarded, session.executable(), near.as_deref()).await.ok()?;
    let found = if session.executable().is_none() { format!(", {}", runtime.origin) } else { String::new() };
    Some(format!("it runs under `{}` {}{found}", runtime.executable.display(), runtime.version))
}

/// Goes through the preparations of a start and starts nothing.
pub async fn dry_run(session: &Session, launch: Launch) -> Result<DryRun, ToolError> {
    check_program(&session.policy().safety, session.adapter(), session.executable(), &launch)?;
    let (adapter, host) = (session.adapter(), session.host());
    let near = launch.near();
    let guarded = Guarded::starting(host, &session.policy().safety);
    let runtime = adapter.locate(&guarded, session.executable(), near.as_deref()).await?;
    let progress = engine::progress::Progress::new();
    let debugger = adapter.provide(host, &runtime, &progress).await?;
    adapter.check(host, &runtime, &launch).await?;
    let launch = adapter.build(host, &runtime, launch, &progress).await?;
    let plan = adapter.plan(host, &runtime, &debugger, &Start::Launch(launch))?;
    let Some(process) = plan.process() else {
        return Err(Error::Unsupported("an attach has no command line".to_owned()).into());
    };
    let mut command = vec![process.program.display().to_string()];
    command.extend(process.args.iter().map(|argument| argument.to_string_lossy().into_owned()));
    Ok(DryRun { command, version: runtime.version, origin: runtime.origin })
}
