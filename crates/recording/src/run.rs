//! Runs a program and records it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::adapter::{Adapter, Guarded, Machine, Runtime};
use engine::model::launch::Launch;
use engine::model::stop::End;
use engine::output::Output;
use engine::process::Process;
use engine::safety::Safety;
use engine::temporary;

use crate::error::{Error, Result};
use crate::interrupt::{Interrupts, Phase};
use crate::library::Library;
use crate::recorders::{Limits, RecordedStart, Recorder, recorder_for};
use crate::redacted::without_shapes;
use crate::store::{Counts, Store};
use crate::streams::Streams;
use crate::wire::{Read, Record};

/// How long the reader waits when there is nothing to read.
const PAUSE: Duration = Duration::from_millis(3);

/// Bytes that stay free on the disk, beside half of the recording's size for its index.
const SPARE: u64 = 16 << 20;

/// Records that are stored in one transaction, after which the size of the recording is compared with its limit.
const AT_ONCE: usize = 4096;

/// Where the recorders find what was named, one name in each line.
const ONLY: &str = "STILLFRAME_RECORD_ONLY";

/// From this many events on it matters that a program was recorded slowly.
const MANY: i64 = 300_000;

/// What to run.
#[derive(Debug)]
pub struct RecordRequest {
    /// The language.
    pub adapter: &'static dyn Adapter,
    /// The interpreter, if one was chosen.
    pub executable: Option<PathBuf>,
    /// The program.
    pub launch: Launch,
    /// How much of values.
    pub limits: Limits,
    /// The files, folders, modules and functions to record; all of the program's own if empty.
    pub only: Vec<String>,
    /// After so long, the program is ended.
    pub timeout: Duration,
    /// After this many bytes, recording stops, or older events are dropped; the program runs on.
    pub most_bytes: u64,
    /// Keep the last N events; none for the first ones.
    pub last: Option<i64>,
    /// Interrupts the program, and ends it the second time.
    pub interrupt: Option<Arc<Interrupts>>,
}

/// A recording that was made.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its name.
    pub name: String,
    /// How the program ended.
    pub end: String,
    /// Events that are in the recording.
    pub events: i64,
    /// Events before these that were dropped.
    pub dropped: i64,
    /// Changes of variables, attributes and items.
    pub writes: i64,
    /// Bytes of the file.
    pub size: u64,
    /// Something is missing in the recording, for this reason.
    pub incomplete: Option<String>,
    /// What was suspended when the program ended.
    pub waiting: Vec<String>,
    /// The last output of the program.
    pub output: String,
    /// How many other threads and processes of the program ran its code and are not recorded.
    pub unrecorded: u64,
    /// It was a long run, and would have been faster with this.
    pub lacking: Option<String>,
    /// How many old recordings were removed to make room.
    pub removed: usize,
}

/// Runs the program to its end and records it.
pub async fn record(request: RecordRequest, safety: &Safety, library: &Library) -> Result<Recorded> {
    let recorder = recorder_for(request.adapter)?;
    let interrupt = request.interrupt.clone().unwrap_or_default();
    let (runtime, lacking) = tokio::select! {
        biased;
        () = interrupt.next() => return Err(Error::question("interrupted before the program started")),
        prepared = prepare(recorder, &request, safety) => prepared?,
    };
    let segments = temporary::new_path();
    let only = named(&request.only, &request.launch.working_folder());
    let start =
        RecordedStart { launch: &request.launch, segments: &segments, limits: request.limits, only: &only };
    let assistant = recorder.assist(&Machine, &start)?;
    let mut spec = recorder.plan(&Machine, &runtime, &start)?;
    if !only.is_empty() {
        spec.env.insert(ONLY.to_owned(), Some(only.join("\n")));
    }
    let (name, path) = library.new_path()?;
    let store = Store::new(&path)?;
    let store = match request.last {
        Some(last) => store.keeping_last(last),
        None => store,
    };
    let title = request.launch.title(request.executable.as_deref());
    let facts = [
        ("command", without_shapes(title)),
        ("language", request.adapter.name().to_owned()),
        ("version of the language", runtime.version.clone()),
        ("items", request.limits.items.to_string()),
    ];
    store.set_facts(&facts)?;

    let output = Output::new();
    let process = Process::spawn(&spec, &name, &output)?;
    interrupt.enter(Phase::Running);
    let has_ended = Arc::new(AtomicBool::new(false));
    let folder = path.parent().unwrap_or(&path).to_owned();
    let writer = Writer { folder, store, wire: Streams::new(segments), most_bytes: request.most_bytes };
    let ended = Arc::clone(&has_ended);
    let writing = tokio::task::spawn_blocking(move || writer.run(&ended));
    let end = end_of(&process, request.timeout, &interrupt).await;
    interrupt.enter(Phase::Finishing);
    // A child that keeps running is not recorded.
    process.kill().await;
    has_ended.store(true, Ordering::Release);
    let written = writing.await.map_err(|_| Error::question("the recording was interrupted"))??;
    drop(assistant);
    let others = (!only.is_empty()).then(|| format!("only `{}` was recorded", request.only.join("`, `")));
    let incomplete = written.incomplete.or(others);
    let (unrecorded, dropped) = (written.unrecorded, written.store.dropped());
    let counts = Counts { events: written.counts.events - dropped, writes: written.store.kept_writes()? };
    let facts = [
        ("end", end.clone()),
        ("events", counts.events.to_string()),
        ("dropped", dropped.to_string()),
        ("incomplete", incomplete.clone().unwrap_or_default()),
    ];
    let finished = tokio::task::spawn_blocking(move || written.store.finish(&facts)).await;
    finished.map_err(|_| Error::question("the recording was interrupted"))??;
    let size = path.metadata().map_or(0, |file| file.len());
    let output = output.tail(0, 2000).with_whole_lines().text();
    let Counts { events, writes } = counts;
    let lacking = lacking.filter(|_| events + dropped > MANY);
    let waiting = waiting(library, &name, events).await?;
    let removed = library.make_room();
    Ok(Recorded {
        name,
        end,
        events,
        dropped,
        writes,
        size,
        incomplete,
        waiting,
        output,
        unrecorded,
        lacking,
        removed,
    })
}

/// What is to be recorded: the absolute paths of what exists, and other names as they are.
fn named(only: &[String], folder: &Path) -> Vec<String> {
    let path = |name: &String| folder.join(name).canonicalize().ok();
    let names = only.iter().filter(|name| !name.is_empty());
    names.map(|name| path(name).map_or_else(|| name.clone(), |path| path.display().to_string())).collect()
}

/// Finds what runs the program, and has it ready. With what would make it faster.
async fn prepare(
    recorder: &dyn Recorder,
    request: &RecordRequest,
    safety: &Safety,
) -> Result<(Runtime, Option<String>)> {
    let near = request.launch.near();
    let runtime = match &request.executable {
        Some(executable) => request.adapter.locate(&Machine, Some(executable), near.as_deref()).await?,
        None => request.adapter.locate(&Guarded::starting(&Machine, safety), None, near.as_deref()).await?,
    };
    request.adapter.check(&Machine, &runtime, &request.launch).await?;
    let lacking = recorder.accelerate(&Machine, &runtime).await;
    Ok((runtime, lacking))
}

/// What was suspended at the end of a recording, unless it is a long one, for which that has to be asked.
async fn waiting(library: &Library, name: &str, events: i64) -> Result<Vec<String>> {
    if events == 0 || events > MANY {
        return Ok(Vec::new());
    }
    let (library, name) = (library.clone(), name.to_owned());
    let waiting = tokio::task::spawn_blocking(move || library.open(&name)?.waiting()).await;
    waiting.map_err(|_| Error::question("the recording was interrupted"))?
}

/// Waits until a program has ended or has to be.
async fn end_of(process: &Process, timeout: Duration, interrupt: &Interrupts) -> String {
    let ended = tokio::time::timeout(timeout, process.ended());
    tokio::pin!(ended);
    let mut is_interrupted = false;
    loop {
        tokio::select! {
            end = &mut ended => {
                return match end {
                    Ok(end) => describe(&end),
                    Err(_) => format!("ended by stillframe after {} s", timeout.as_secs()),
                };
            }
            () = interrupt.next() => {
                if is_interrupted {
                    return "ended by stillframe at the second interrupt".to_owned();
                }
                is_interrupted = true;
                process.interrupt();
            }
        }
    }
}

fn describe(end: &End) -> String {
    match end {
        End::Exited(code) => format!("exited with code {code}"),
        End::Killed { signal, .. } => format!("killed by signal {signal}"),
        End::Lost | End::Gone | End::Detached | End::NotStarted(_) => "ended".to_owned(),
    }
}

/// Bytes that are free on the disk of a folder; none if the system does not say.
fn free_space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The thread that writes the recording.
struct Writer {
    folder: PathBuf,
    store: Store,
    wire: Streams,
    most_bytes: u64,
}

/// What it has written.
struct Written {
    store: Store,
    counts: Counts,
    incomplete: Option<String>,
    unrecorded: u64,
}

impl Writer {
    fn run(mut self, has_ended: &AtomicBool) -> Result<Written> {
        let mut stopped = None;
        loop {
            // Before the look, because what is written until the end is there afterwards.
            let was_over = has_ended.load(Ordering::Acquire);
            match self.wire.read() {
                Ok(Read::Records(records)) => {
                    stopped = self.take(records)?;
                    if stopped.is_some() {
                        break;
                    }
                }
                Ok(Read::Nothing) if was_over => {
                    if self.wire.lacks_file() {
                        stopped = Some(format!(
                            "there was no space for more records in `{}`",
                            std::env::temp_dir().display()
                        ));
                    } else if self.wire.has_unread() {
                        stopped = Some("records could not be read completely".to_owned());
                    }
                    break;
                }
                Ok(Read::Nothing) => std::thread::sleep(PAUSE),
                Ok(Read::Malformed) | Err(_) => {
                    stopped = Some("the program has overwritten the recording".to_owned());
                    break;
                }
            }
        }
        if stopped.is_some() {
            self.wire.close();
            while !has_ended.load(Ordering::Acquire) {
                std::thread::sleep(PAUSE);
            }
        }
        let short = self.store.drop_rest().unwrap_or_else(|error| Some(error.to_string()));
        let incomplete = stopped.or_else(|| self.store.gap.take()).or(short);
        let unrecorded = self.wire.unrecorded();
        Ok(Written { counts: self.store.counts, store: self.store, incomplete, unrecorded })
    }

    /// Stores records. Why no more can be, if so.
    fn take(&mut self, mut records: Vec<Record>) -> Result<Option<String>> {
        while !records.is_empty() {
            let rest = records.split_off(records.len().min(AT_ONCE));
            if let Err(error) = self.store.write(records) {
                return Ok(Some(error.to_string()));
            }
            match self.store.drop_old(self.most_bytes) {
                Ok(true) => {}
                Ok(false) => return Ok(Some("the recording reached its size limit".to_owned())),
                Err(error) => return Ok(Some(error.to_string())),
            }
            let size = self.store.size()?;
            if free_space(&self.folder).is_some_and(|free| free < SPARE + size / 2) {
                return Ok(Some(format!("the disk with `{}` is almost full", self.folder.display())));
            }
            records = rest;
        }
        Ok(None)
    }
}
