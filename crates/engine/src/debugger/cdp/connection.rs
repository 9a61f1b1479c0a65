//! The connection to one thread of JavaScript, put together from its parts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;

use super::binding::ProgramBinding;
use super::blackbox::Blackbox;
use super::breakpoints::BreakpointBinder;
use super::data::DataWatcher;
use super::exceptions::ExceptionPauses;
use super::execution::RunControl;
use super::performance::Profiler;
use super::program::NodeProgram;
use super::run_state::RunState;
use super::sampling::Sampler;
use super::scripts::Scripts;
use super::sources::Sources;
use super::thread::JsThread;
use super::v8::V8Client;
use super::values::ValueReader;
use crate::debugger::{Arrival, Event};

/// One thread of JavaScript. Clones share it.
#[derive(Clone, Debug)]
pub struct CdpDebugger(pub(super) Arc<ThreadParts>);

/// The parts; each holds those that it needs.
#[derive(Debug)]
pub(super) struct ThreadParts {
    pub(super) v8: V8Client,
    pub(super) program: Arc<NodeProgram>,
    pub(super) thread: Arc<JsThread>,
    pub(super) sources: Sources,
    pub(super) run: Arc<RunState>,
    pub(super) values: ValueReader,
    pub(super) binding: Arc<ProgramBinding>,
    pub(super) breakpoints: BreakpointBinder,
    pub(super) data: DataWatcher,
    pub(super) blackbox: Arc<Blackbox>,
    pub(super) exceptions: ExceptionPauses,
    pub(super) execution: Arc<RunControl>,
    pub(super) sampler: Sampler,
    pub(super) profiler: Profiler,
    /// Where workers come in.
    pub(super) arrivals: mpsc::Sender<Arrival>,
    terminated: AtomicBool,
}

impl CdpDebugger {
    /// `events` is where the session hears of what the thread does.
    pub(super) fn new(
        client: ::cdp::Client,
        thread: JsThread,
        program: Arc<NodeProgram>,
        arrivals: mpsc::Sender<Arrival>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        let (v8, thread, run) = (V8Client::new(client), Arc::new(thread), Arc::new(RunState::default()));
        let sources = Sources { scripts: Arc::new(Scripts::default()), program: Arc::clone(&program) };
        let scripts = Arc::clone(&sources.scripts);
        let values = ValueReader::new(v8.clone(), scripts, thread.pid, program.is_read_only());
        let binding = Arc::new(ProgramBinding::new(v8.clone(), values.clone(), Arc::clone(&thread)));
        let blackbox = Arc::new(Blackbox::new(v8.clone(), Arc::clone(&program)));
        let breakpoints = BreakpointBinder::new(
            v8.clone(),
            sources.clone(),
            Arc::clone(&binding),
            Arc::clone(&run),
            Arc::clone(&thread),
            events,
        );
        let exceptions = ExceptionPauses::new(
            v8.clone(),
            sources.clone(),
            values.clone(),
            Arc::clone(&binding),
            Arc::clone(&blackbox),
            Arc::clone(&thread),
        );
        let execution = RunControl::new(
            v8.clone(),
            sources.clone(),
            values.clone(),
            Arc::clone(&run),
            Arc::clone(&thread),
            Arc::clone(&binding),
            breakpoints.clone(),
        );
        let data = DataWatcher::new(v8.clone(), sources.clone(), values.clone());
        let sampler = Sampler::new(v8.clone(), sources.clone(), Arc::clone(&thread));
        let profiler = Profiler::new(v8.clone(), sources.clone(), values.clone());
        Self(Arc::new(ThreadParts {
            v8,
            program,
            thread,
            sources,
            run,
            values,
            binding,
            breakpoints,
            data,
            blackbox,
            exceptions,
            execution: Arc::new(execution),
            sampler,
            profiler,
            arrivals,
            terminated: AtomicBool::new(false),
        }))
    }
}

impl ThreadParts {
    /// The process has ended, and waits for us to disconnect.
    pub(super) fn set_terminated(&self) {
        self.terminated.store(true, Ordering::Release);
    }

    pub(super) fn has_terminated(&self) -> bool {
        self.terminated.load(Ordering::Acquire)
    }
}
