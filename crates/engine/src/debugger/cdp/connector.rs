//! Starting programs of Node and reaching running ones.
//!
//! Every process of a program that we start announces itself, waits, and is connected to; worker threads come
//! by the connection of their process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::cdp::Address;
use ::cdp::discovery;
use async_trait::async_trait;
use tokio::sync::mpsc;

use super::announcements::{Announcement, Announcements};
use super::program::NodeProgram;
use super::thread::{JsThread, ThreadKind};
use super::{events, signal};
use crate::adapter::node::closes_inspector;
use crate::adapter::plan::{CdpSetup, CdpWire, Plan, addressed};
use crate::adapter::{Adapter, Host, Runtime};
use crate::deadlines;
use crate::debugger::preparation::{Preparation, PreparedStart};
use crate::debugger::{Arrival, Connector, Followed, Owned, Sinks, Started};
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Start, is_loopback_address};
use crate::output::Category;
use crate::process::{Process, ProcessSpec};

/// Starts and reaches programs that an inspector debugs.
#[derive(Debug)]
pub struct CdpConnector(Preparation);

impl CdpConnector {
    /// For programs of this language, run by the user's choice of interpreter.
    pub fn new(
        adapter: &'static dyn Adapter,
        host: &'static dyn Host,
        executable: Option<std::path::PathBuf>,
    ) -> Self {
        Self(Preparation { adapter, host, executable })
    }

    fn language(&self, runtime: &Arc<Runtime>) -> Language {
        Language { adapter: self.0.adapter, host: self.0.host, runtime: Arc::clone(runtime) }
    }
}

#[async_trait]
impl Connector for CdpConnector {
    async fn start(&self, start: Start, sinks: Sinks) -> Result<Started> {
        let PreparedStart { runtime, plan, start } = self.0.plan(start, &sinks).await?;
        let runtime = Arc::new(runtime);
        let language = self.language(&runtime);
        self.0.checked(&runtime, &start, execute(plan, language, &sinks)).await
    }

    async fn follow(&self, launch: &Launch, sinks: Sinks) -> Result<Followed> {
        let (runtime, plan) = self.0.follow(launch, &sinks).await?;
        let language = self.language(&Arc::new(runtime));
        let Plan::Cdp { wire: CdpWire::Announced(spec), setup } = plan else {
            let about = self.0.adapter.about();
            return Err(Error::Unsupported(format!("processes of {about} do not connect")));
        };
        let announcements = Announcements::new()?;
        let pipe = announcements.path().display().to_string();
        let ProcessSpec { env, muted, .. } = addressed(spec, &pipe);
        let (arrivals, received) = mpsc::channel(16);
        let acceptor = language.acceptor(setup, true, &sinks, arrivals);
        tokio::spawn(acceptor.accept_children(announcements));
        Ok(Followed { env, muted, arrivals: received })
    }
}

/// The language, on its machine, with the interpreter that was found.
struct Language {
    adapter: &'static dyn Adapter,
    host: &'static dyn Host,
    runtime: Arc<Runtime>,
}

impl Language {
    /// Connects to the processes of a program; `is_ours` says that we started it.
    fn acceptor(
        self,
        setup: CdpSetup,
        is_ours: bool,
        sinks: &Sinks,
        arrivals: mpsc::Sender<Arrival>,
    ) -> ConnectionAcceptor {
        let Self { adapter, host, runtime } = self;
        let output = sinks.output.clone();
        let policy = Arc::clone(&sinks.policy);
        let has_entered = AtomicBool::default();
        let program = NodeProgram { adapter, host, runtime, setup, is_ours, has_entered, output, policy };
        ConnectionAcceptor { program: Arc::new(program), arrivals }
    }
}

async fn execute(plan: Plan, language: Language, sinks: &Sinks) -> Result<Started> {
    let (arrivals, received) = mpsc::channel(16);
    let Plan::Cdp { wire, setup } = plan else {
        return Err(Error::Unsupported(format!(
            "{} cannot be debugged over an inspector",
            language.adapter.name()
        )));
    };
    let (address, pid) = match wire {
        CdpWire::Announced(spec) => {
            let mut announcements = Announcements::new()?;
            let pipe = announcements.path().display().to_string();
            let obstacle = obstacle(&spec);
            let process = Process::spawn(&addressed(spec, &pipe), &sinks.session, &sinks.output)?;
            let first = first_announcement(&mut announcements, &process, &obstacle, sinks).await?;
            let acceptor = language.acceptor(setup, true, sinks, arrivals);
            acceptor.enter_process(&first, ThreadKind::Program).await?;
            tokio::spawn(acceptor.accept_children(announcements));
            return Ok(Started { process: Some(Owned::Program(process)), arrivals: received });
        }
        CdpWire::Connect { host, port } => {
            let targets = discovery::targets(&host, port, deadlines::REQUEST).await?;
            let target = targets.into_iter().next().ok_or_else(|| Error::Environment {
                problem: format!("the inspector at {host}:{port} has no target"),
                remedy: "check that the program is still running".to_owned(),
            })?;
            (target.address, None)
        }
        CdpWire::Signal { pid } => (signal::open_inspector(pid).await?, Some(pid)),
    };
    language.acceptor(setup, false, sinks, arrivals).enter(&address, pid, ThreadKind::Program).await?;
    Ok(Started { process: None, arrivals: received })
}

/// What in a command may keep our hook from its processes, for a message; an empty text if there is nothing.
fn obstacle(spec: &ProcessSpec) -> String {
    let words: Vec<_> = spec.args.iter().map(|word| word.to_string_lossy()).collect();
    if words.iter().any(|word| replaces_options(word)) {
        return "; its command replaces NODE_OPTIONS, through which stillframe reaches Node: write \
                `NODE_OPTIONS=\"$NODE_OPTIONS …\"`"
            .to_owned();
    }
    let ends = |letter: char| letter.is_whitespace() || "'\"".contains(letter);
    let option = closes_inspector(words.iter().flat_map(|word| word.split(ends)));
    option.map_or_else(String::new, |option| {
        format!("; if `{option}` is for Node.js, it keeps the inspector closed, which stillframe needs")
    })
}

/// Whether a command such as `sh -c "NODE_OPTIONS=… node main.js"` takes our hook away from its processes.
fn replaces_options(command: &str) -> bool {
    let keeps = ["$NODE_OPTIONS", "${NODE_OPTIONS"].iter().any(|name| command.contains(name));
    command.contains("NODE_OPTIONS=") && !keeps
}

/// Waits for the program's own process, as long as there is one.
async fn first_announcement(
    announcements: &mut Announcements,
    process: &Process,
    obstacle: &str,
    sinks: &Sinks,
) -> Result<Announcement> {
    let begin = sinks.output.end();
    let patience = sinks.policy.bounds.connect_within();
    let failed = |problem| Error::StartFailed { problem, output: sinks.output.tail(begin, 4000).text() };
    tokio::select! {
        announcement = announcements.next() => announcement,
        end = process.ended() => {
            Err(failed(format!("the program {end} before a Node process was ready{obstacle}")))
        }
        () = tokio::time::sleep(patience) => {
            let seconds = patience.as_secs_f64();
            Err(failed(format!("no Node process was ready within {seconds} s{obstacle}")))
        }
    }
}

/// Connects to the processes of a program.
#[derive(Debug)]
struct ConnectionAcceptor {
    program: Arc<NodeProgram>,
    /// Where the session hears of them.
    arrivals: mpsc::Sender<Arrival>,
}

impl ConnectionAcceptor {
    async fn enter_process(&self, process: &Announcement, kind: ThreadKind) -> Result<()> {
        let address: Address = process.url.parse()?;
        // The program can write anything into the pipe.
        if !is_loopback_address(&address.host) {
            return Err(Error::Refused(format!("its inspector at {address} is not on this machine")));
        }
        self.enter(&address, Some(process.pid), kind).await
    }

    async fn enter(&self, address: &Address, pid: Option<u32>, kind: ThreadKind) -> Result<()> {
        let (client, incoming, driver) = ::cdp::connect(address, deadlines::REQUEST).await?;
        tokio::spawn(driver);
        let thread = JsThread { kind, pid, url: Some(address.to_string()) };
        let (program, arrivals) = (Arc::clone(&self.program), self.arrivals.clone());
        events::arrive(client, incoming, thread, program, arrivals).await
    }

    /// Every child of the program announces itself, and waits until it is served.
    async fn accept_children(self, mut announcements: Announcements) {
        loop {
            tokio::select! {
                announced = announcements.next() => {
                    let Ok(announced) = announced else { return };
                    let kind = ThreadKind::Child(announced.script.clone());
                    // A child that is gone again has nothing to tell.
                    if let Err(error) = self.enter_process(&announced, kind).await
                        && crate::process::exists(announced.pid)
                    {
                        let pid = announced.pid;
                        let text = format!("process {pid} waits for a debugger, but cannot be reached: \
                                            {error}\n");
                        self.program.output.append(Category::Console, &text);
                    }
                }
                () = self.arrivals.closed() => return,
            }
        }
    }
}

impl From<::cdp::ConnectError> for Error {
    fn from(error: ::cdp::ConnectError) -> Self {
        Self::Environment {
            problem: error.to_string(),
            remedy:
                "check that the program is running with an inspector there, such as `node --inspect=PORT \
                 program.js`"
                    .to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_keep_our_options_are_recognized() {
        let table = [
            ("NODE_OPTIONS=--no-warnings node main.js", true),
            ("NODE_OPTIONS=\"$NODE_OPTIONS --no-warnings\" node main.js", false),
            ("NODE_OPTIONS=\"${NODE_OPTIONS} --no-warnings\" node main.js", false),
            ("NODE_OPTIONS=\"${NODE_OPTIONS:-} --no-warnings\" node main.js", false),
            ("node main.js", false),
        ];
        for (command, replaces) in table {
            assert_eq!(replaces_options(command), replaces, "{command}");
        }
    }
}
