//! Attaching to processes of a program whose machine code comes from sources with breakpoints.
//!
//! Such a process can be a child program, or an interpreter that has loaded an extension. The first is found by looking
//! at what the processes of the session have mapped. The second is attached to before it runs, since code of an
//! extension often runs right after it is loaded.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::super::{Arrival, Connector, Owned, Sinks, Started};
use super::Connect;
use crate::adapter::{self, Adapter, Machine};
use crate::deadlines;
use crate::error::Result;
use crate::model::launch::{Attach, Endpoint, Launch, Start};
use crate::output::Category;
use crate::process::{self, Hold, SessionProcesses};
use crate::temporary;

/// Attaches to processes of one program.
pub(super) struct Attaching {
    sources: Arc<[Source]>,
    /// The language of the machine code that the interpreter loads, if that is debugged whatever it comes from.
    loaded: Option<&'static dyn Adapter>,
    connect: Connect,
    sinks: Sinks,
    just_my_code: bool,
    /// As long as this file is there, the program's agent stops the processes that it starts.
    marker: PathBuf,
    attached: HashSet<u32>,
    /// Those that were stopped for us and need no debugger.
    released: HashSet<u32>,
    /// The adapters that debug them, which end with this.
    debuggers: Vec<Owned>,
}

/// A source of machine code with breakpoints, and its language.
type Source = (&'static dyn Adapter, PathBuf);

/// Finds the processes to attach to. It reads whole programs, so it runs on a thread where that holds up nothing.
struct Search {
    processes: SessionProcesses,
    sources: Arc<[Source]>,
    /// Whose sources each file of machine code comes from.
    judged: HashMap<PathBuf, Option<&'static dyn Adapter>>,
}

/// A process that nothing is attached to.
struct UndebuggedProcess {
    pid: u32,
    /// One that is stopped runs its own program already.
    is_stopped: bool,
    /// The language of its machine code, if that comes from a source with breakpoints.
    owner: Option<&'static dyn Adapter>,
}

impl Attaching {
    /// None if no breakpoint is in a source of machine code, and no debugger for what the interpreter loads is asked for.
    pub(super) fn of(launch: &Launch, connect: Connect, sinks: &Sinks) -> Option<Self> {
        let owner = |source: &PathBuf| {
            let owner = adapter::by_extension(source).filter(|owner| owner.facts().is_machine_code)?;
            Some((owner, source.clone()))
        };
        let sources: Arc<[Source]> = launch.child_sources.iter().filter_map(owner).collect();
        let loaded = adapter::loadable().filter(|_| launch.native_too);
        if sources.is_empty() && loaded.is_none() {
            return None;
        }
        let marker = temporary::new_path();
        // Without it, the beginning of a process may be missed.
        let _ = std::fs::write(&marker, "");
        Some(Self {
            sources,
            loaded,
            marker,
            connect,
            sinks: sinks.clone(),
            just_my_code: launch.just_my_code,
            attached: HashSet::new(),
            released: HashSet::new(),
            debuggers: Vec::new(),
        })
    }

    /// What the program's agents need to know.
    pub(super) fn environment(&self) -> (String, Option<String>) {
        ("STILLFRAME_HOLD".to_owned(), Some(self.marker.display().to_string()))
    }

    /// Attaches to an interpreter that waits to be configured. It runs when this debugger is configured, too.
    pub(super) async fn beside(&mut self, interpreter: &mut Arrival, pid: u32) -> Option<Arrival> {
        let sources = Arc::clone(&self.sources);
        let is_extension = |(owner, source): &&Source| owner.facts().is_loadable && has_extension(source);
        let find = move || sources.iter().find(is_extension).map(|(owner, _)| *owner);
        let owner = tokio::task::spawn_blocking(find).await.ok()?.or(self.loaded)?;
        let mut arrivals = self.attach(owner, pid).await?;
        let mut arrival = arrivals.recv().await?;
        let (configured, after) = oneshot::channel();
        arrival.configured = Some(configured);
        interpreter.after = Some(after);
        Some(arrival)
    }

    /// Looks for processes, as long as anybody wants them. One that is found is held until its debugger has attached.
    pub(super) async fn watch(mut self, arrivals: mpsc::Sender<Arrival>) {
        let processes = SessionProcesses::new(&self.sinks.session);
        let mut search = Search { processes, sources: Arc::clone(&self.sources), judged: HashMap::new() };
        loop {
            let attached = self.attached.clone();
            let look = tokio::task::spawn_blocking(move || {
                let found = search.look(&attached);
                (search, found)
            });
            let Ok((looked, found)) = look.await else { return };
            search = looked;
            for UndebuggedProcess { pid, is_stopped, owner } in found {
                let Some(owner) = owner else {
                    // It may stop itself later, which is its own matter.
                    if is_stopped && self.released.insert(pid) {
                        Hold::release(pid);
                    }
                    continue;
                };
                let hold = Hold::of(pid);
                if let Some(mut attached) = self.attach(owner, pid).await
                    && let Some(arrival) = attached.recv().await
                {
                    tokio::spawn(hold.until_traced());
                    if arrivals.send(arrival).await.is_err() {
                        return;
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(deadlines::LOOK) => {}
                () = arrivals.closed() => return,
            }
        }
    }

    async fn attach(&mut self, owner: &'static dyn Adapter, pid: u32) -> Option<mpsc::Receiver<Arrival>> {
        self.attached.insert(pid);
        match self.start(owner, pid).await {
            Ok(Started { process, arrivals }) => {
                self.debuggers.extend(process);
                Some(arrivals)
            }
            Err(error) => {
                if process::exists(pid) {
                    let text =
                        format!("process {pid} runs without a debugger for {}: {error}\n", owner.about());
                    self.sinks.output.append(Category::Console, &text);
                }
                None
            }
        }
    }

    async fn start(&self, owner: &'static dyn Adapter, pid: u32) -> Result<Started> {
        let connector: Arc<dyn Connector> = (self.connect)(owner);
        let (to, just_my_code) = (Endpoint::Process(pid), self.just_my_code);
        let attach = Attach { to, path_mappings: Vec::new(), just_my_code };
        connector.start(Start::Attach(attach), self.sinks.clone()).await
    }
}

impl Search {
    /// The processes of the session, without those that are attached to.
    fn look(&mut self, attached: &HashSet<u32>) -> Vec<UndebuggedProcess> {
        let mut found = Vec::new();
        for pid in self.processes.look().into_iter().filter(|pid| !attached.contains(pid)) {
            let is_stopped = process::is_stopped(pid);
            let owner = process::mapped_code(pid).iter().find_map(|file| self.owner(file));
            found.push(UndebuggedProcess { pid, is_stopped, owner });
        }
        found
    }

    /// The language of the sources that a file was compiled from, if they have breakpoints.
    fn owner(&mut self, file: &Path) -> Option<&'static dyn Adapter> {
        let compiled_from = |(owner, source): &&Source| {
            !owner.is_internal(file) && adapter::names_source(&Machine, file, source)
        };
        let judge = || self.sources.iter().find(compiled_from).map(|(owner, _)| *owner);
        *self.judged.entry(file.to_owned()).or_insert_with(judge)
    }
}

impl Drop for Attaching {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.marker);
    }
}

/// The most files that are checked to find an extension.
const MOST_FILES: usize = 5_000;

/// Whether a library near a source was compiled from it: what an interpreter loads is built beside its sources, as in
/// `build/`, or installed in the folder of its package.
fn has_extension(source: &Path) -> bool {
    let mut folders: VecDeque<PathBuf> = source.ancestors().skip(1).take(2).map(Path::to_owned).collect();
    let mut checked = 0;
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            checked += 1;
            if checked > MOST_FILES {
                return false;
            }
            let path = entry.path();
            let is_library =
                path.extension().is_some_and(|extension| extension == "so" || extension == "node");
            if is_library && adapter::names_source(&Machine, &path, source) {
                return true;
            }
            // A link may lead anywhere.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push_back(path);
            }
        }
    }
    false
}
