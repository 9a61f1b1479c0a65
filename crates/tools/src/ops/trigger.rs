//! What is done to a server as soon as it listens: a request, or a command such as a client.
//!
//! It is a separate task. No call waits for it longer than it wants to, and it ends with the program.

mod client;
mod http;

use std::collections::BTreeSet;

use engine::deadlines;
use engine::model::stack::Debuggee;
use engine::model::stop::{End, ExceptionMode};
use engine::process;
use engine::session::Session;
use engine::session::state::Execution;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

pub use client::Client;
pub use http::{Request, Response};

/// What to do when the program listens.
#[derive(Debug)]
pub enum Trigger {
    /// Send this.
    Http(Request),
    /// Run this.
    Command(Client),
}

/// The result.
#[derive(Clone, Debug)]
pub enum TriggerProgress {
    /// The program does not listen yet.
    Waiting,
    /// It is under way.
    Pending,
    /// The program answered.
    Answered(Response),
    /// The command ended.
    Ended {
        /// How.
        end: End,
        /// The end of what it wrote.
        output: String,
    },
    /// It could not be done.
    Failed(String),
}

impl TriggerProgress {
    /// Nothing more comes of it.
    pub(super) fn is_final(&self) -> bool {
        !matches!(self, Self::Waiting | Self::Pending)
    }
}

/// A trigger that waits or is under way. One whose call is given up is taken back.
#[derive(Debug)]
pub struct PendingTrigger {
    task: AbortHandle,
    progress: watch::Receiver<TriggerProgress>,
    is_kept: bool,
}

impl Trigger {
    /// Arms it for the program of a session. At most `limit` bytes of the response are kept. When it fires while a
    /// call waits for it, the program begins to stop at `exceptions`: exceptions of its start are irrelevant, and
    /// watching them would slow it down.
    pub fn arm(self, session: &Session, limit: usize, exceptions: Option<ExceptionMode>) -> PendingTrigger {
        let (publish, progress) = watch::channel(TriggerProgress::Waiting);
        let task = tokio::spawn(self.run(session.clone(), limit, exceptions, publish)).abort_handle();
        PendingTrigger { task, progress, is_kept: false }
    }

    async fn run(
        self,
        session: Session,
        limit: usize,
        exceptions: Option<ExceptionMode>,
        publish: watch::Sender<TriggerProgress>,
    ) {
        let mut execution = session.watch();
        // An earlier program of the session may have ended.
        let ended = async {
            let _ = execution.wait_for(Execution::is_live).await;
            let _ = execution.wait_for(|now| matches!(now, Execution::Ended(_))).await;
        };
        let work = self.act(&session, limit, exceptions, &publish);
        tokio::pin!(work);
        let done = tokio::select! {
            done = &mut work => Some(done),
            () = ended => None,
        };
        let done = match done {
            Some(done) => done,
            // What it sent last may still be on the way.
            None if matches!(*publish.borrow(), TriggerProgress::Pending) => {
                timeout(deadlines::DRAIN, work).await.unwrap_or_else(|_| ended_before_trigger())
            }
            None => ended_before_trigger(),
        };
        publish.send_replace(done);
    }

    async fn act(
        self,
        session: &Session,
        limit: usize,
        exceptions: Option<ExceptionMode>,
        publish: &watch::Sender<TriggerProgress>,
    ) -> TriggerProgress {
        let wanted = match &self {
            Self::Http(request) => request.port(),
            Self::Command(_) => None,
        };
        let port = listens(session, wanted, publish).await;
        if let Some(mode) = exceptions.filter(|_| !publish.is_closed()) {
            // Without it the request is sent all the same.
            let _ = session.set_exception_breakpoints(mode.into()).await;
        }
        publish.send_replace(TriggerProgress::Pending);
        let done = match self {
            Self::Http(request) => request.send(port, limit).await.map(TriggerProgress::Answered),
            Self::Command(client) => client.run(session, limit).await,
        };
        done.unwrap_or_else(TriggerProgress::Failed)
    }
}

impl PendingTrigger {
    /// Waits until it has finished, and its effects have had some time.
    pub async fn over(&mut self) {
        if self.progress.wait_for(TriggerProgress::is_final).await.is_err() {
            std::future::pending::<()>().await;
        }
        sleep(deadlines::TRIGGERED).await;
    }

    /// Its result when the call ends. It continues in the background, for as long as the program runs; what is nearly
    /// there is waited for if that has ended, or is ended next.
    pub async fn finish(mut self, is_ending: bool) -> TriggerProgress {
        if is_ending {
            let _ = timeout(deadlines::DRAIN * 2, self.progress.wait_for(TriggerProgress::is_final)).await;
        }
        self.is_kept = true;
        self.progress.borrow().clone()
    }
}

impl Drop for PendingTrigger {
    fn drop(&mut self) {
        if !self.is_kept {
            self.task.abort();
        }
    }
}

fn ended_before_trigger() -> TriggerProgress {
    TriggerProgress::Failed("the program ended first".to_owned())
}

/// Waits until the program listens, at `wanted` if given, and returns the port.
async fn listens(session: &Session, wanted: Option<u16>, publish: &watch::Sender<TriggerProgress>) -> u16 {
    let mut debuggees = Vec::new();
    loop {
        // A request counts as use of the session, which must not outlast the call.
        if !publish.is_closed() {
            debuggees = session.debuggees().await.unwrap_or_default();
        }
        let (of, looked) = (debuggees.clone(), tokio::task::spawn_blocking);
        let ports = looked(move || ports_of(&of)).await.unwrap_or_default();
        let port = match wanted {
            Some(wanted) => ports.get(&wanted),
            None => ports.first(),
        };
        if let Some(port) = port {
            return *port;
        }
        sleep(deadlines::LOOK).await;
    }
}

/// Where the program listens. Where only its debugger does is not among it.
fn ports_of(debuggees: &[Debuggee]) -> BTreeSet<u16> {
    let pids: BTreeSet<u32> = debuggees.iter().filter_map(|debuggee| debuggee.pid).collect();
    let own: BTreeSet<u16> =
        debuggees.iter().filter_map(|debuggee| port_of(debuggee.url.as_deref()?)).collect();
    pids.into_iter().flat_map(process::listening_ports).filter(|port| !own.contains(port)).collect()
}

fn port_of(url: &str) -> Option<u16> {
    url.parse::<hyper::Uri>().ok()?.port_u16()
}
