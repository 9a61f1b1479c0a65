//! Starting programs of Node and reaching running ones.
//!
//! Every process of a program that we start announces itself, waits, and is connected to; worker threads come
//! by the connection of their process.

use std::sync::Arc;

use ::cdp::Address;
use ::cdp::discovery;
use tokio::sync::mpsc;

use super::announcements::{Announcement, Announcements};
use super::signal;
use super::{CdpDebugger, Kind, Shared};
use crate::adapter::{Adapter, Host, Plan, Runtime, Wire, addressed};
use crate::deadlines;
use crate::debugger::preparation::Preparation;
use crate::debugger::{Connector, Sinks, Started};
use crate::error::{Error, Result};
use crate::model::launch::Start;
use crate::output::Category;
use crate::process::Process;

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
}

impl Connector for CdpConnector {
    type Debugger = CdpDebugger;

    async fn start(&self, start: Start, sinks: Sinks) -> Result<Started<CdpDebugger>> {
        let (runtime, plan) = self.0.plan(&start, &sinks).await?;
        let runtime = Arc::new(runtime);
        let checked = self.0.check(&runtime, &start);
        let (adapter, host) = (self.0.adapter, self.0.host);
        let language = Language { adapter, host, runtime: Arc::clone(&runtime) };
        let ((), started) = tokio::try_join!(checked, execute(plan, language, &sinks))?;
        Ok(started)
    }
}

/// What knows the sources.
struct Language {
    adapter: &'static dyn Adapter,
    host: &'static dyn Host,
    runtime: Arc<Runtime>,
}

async fn execute(plan: Plan, language: Language, sinks: &Sinks) -> Result<Started<CdpDebugger>> {
    let (arrivals, received) = mpsc::channel(16);
    let door = |setup, is_ours| {
        let Language { adapter, host, runtime } = language;
        let setup = Arc::new(setup);
        Door(Shared {
            adapter,
            host,
            runtime,
            setup,
            is_ours,
            arrivals,
            output: sinks.output.clone(),
            policy: Arc::clone(&sinks.policy),
        })
    };
    match plan.wire {
        Wire::CdpAnnounced(setup) => {
            let mut announcements = Announcements::new()?;
            let pipe = announcements.path().display().to_string();
            let spec = plan.process.ok_or_else(|| Error::Unsupported("nothing to start".to_owned()))?;
            let process = Process::spawn(&addressed(spec, &pipe), &sinks.session, &sinks.output)?;
            let first = first_announcement(&mut announcements, &process, sinks).await?;
            let door = door(setup, true);
            door.enter_process(&first, Kind::Program).await?;
            tokio::spawn(door.accept_children(announcements));
            Ok(Started { process: Some(process), arrivals: received })
        }
        Wire::CdpConnect { host, port, setup } => {
            let targets = discovery::targets(&host, port, deadlines::REQUEST).await?;
            let target = targets.into_iter().next().ok_or_else(|| Error::Environment {
                problem: format!("the inspector at {host}:{port} has nothing to debug"),
                remedy: "check that the program still runs".to_owned(),
            })?;
            door(setup, false).enter(&target.address, None, Kind::Program).await?;
            Ok(Started { process: None, arrivals: received })
        }
        Wire::CdpSignal { pid, setup } => {
            let address = signal::open_inspector(pid).await?;
            door(setup, false).enter(&address, Some(pid), Kind::Program).await?;
            Ok(Started { process: None, arrivals: received })
        }
        Wire::DapListen(_) | Wire::DapConnect { .. } => {
            Err(Error::Unsupported(format!("{} is not debugged by an inspector", language.adapter.name())))
        }
    }
}

/// Waits for the program's own process, as long as there is one.
async fn first_announcement(
    announcements: &mut Announcements,
    process: &Process,
    sinks: &Sinks,
) -> Result<Announcement> {
    let begin = sinks.output.end();
    let patience = sinks.policy.bounds.connect_within();
    let failed = |problem| Error::StartFailed { problem, output: sinks.output.tail(begin, 4000).text() };
    tokio::select! {
        announcement = announcements.next() => announcement,
        end = process.ended() => {
            Err(failed(format!("the program {end} before a process of Node was ready to be debugged")))
        }
        () = tokio::time::sleep(patience) => {
            let seconds = patience.as_secs_f64();
            Err(failed(format!("no process of Node was ready to be debugged within {seconds} s")))
        }
    }
}

/// Whether an inspector listens on this machine, and to nobody else.
fn is_loopback(address: &Address) -> bool {
    address.host.parse().is_ok_and(crate::safety::is_loopback)
}

/// Where processes come in.
#[derive(Debug)]
struct Door(Shared);

impl Door {
    async fn enter_process(&self, process: &Announcement, kind: Kind) -> Result<()> {
        let address: Address = process.url.parse()?;
        // The program can write anything into the pipe.
        if !is_loopback(&address) {
            return Err(Error::Refused(format!("its inspector at {address} is not on this machine")));
        }
        self.enter(&address, Some(process.pid), kind).await
    }

    async fn enter(&self, address: &Address, pid: Option<u32>, kind: Kind) -> Result<()> {
        let (client, incoming, driver) = ::cdp::connect(address, deadlines::REQUEST).await?;
        tokio::spawn(driver);
        CdpDebugger::arrive(client, incoming, kind, pid, Some(address.to_string()), self.0.clone()).await
    }

    /// Every child of the program announces itself, and waits until it is served.
    async fn accept_children(self, mut announcements: Announcements) {
        loop {
            tokio::select! {
                announced = announcements.next() => {
                    let Ok(announced) = announced else { return };
                    let kind = Kind::Child(announced.script.clone());
                    // A child that is gone again has nothing to tell.
                    if let Err(error) = self.enter_process(&announced, kind).await
                        && crate::process::exists(announced.pid)
                    {
                        let pid = announced.pid;
                        let text = format!("process {pid} waits for a debugger that cannot reach it: {error}\n");
                        self.0.output.append(Category::Console, &text);
                    }
                }
                () = self.0.arrivals.closed() => return,
            }
        }
    }
}
