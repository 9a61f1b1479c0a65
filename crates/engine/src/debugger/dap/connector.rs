//! Starting programs and reaching running ones over the Debug Adapter Protocol.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Value};
use tokio::io::split;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::DapDebugger;
use crate::adapter::{Adapter, DapSetup, Host, Plan, TOKEN, Wire, addressed, filled};
use crate::deadlines;
use crate::debugger::preparation::Preparation;
use crate::debugger::{Arrival, Connector, Sinks, Started};
use crate::error::{Error, Result};
use crate::model::launch::Start;
use crate::output::Output;
use crate::policy::SharedPolicy;
use crate::process::{Injector, Process};

/// More children than a program starts while one of them is attached to.
const MOST_CHILDREN: usize = 1024;

/// Starts and reaches programs of one language.
#[derive(Debug)]
pub struct DapConnector(Preparation);

impl DapConnector {
    /// For programs of this language, run by the user's choice of interpreter.
    pub fn new(
        adapter: &'static dyn Adapter,
        host: &'static dyn Host,
        executable: Option<std::path::PathBuf>,
    ) -> Self {
        Self(Preparation { adapter, host, executable })
    }
}

impl Connector for DapConnector {
    type Debugger = DapDebugger;

    async fn start(&self, start: Start, sinks: Sinks) -> Result<Started<DapDebugger>> {
        let (runtime, plan) = self.0.plan(&start, &sinks).await?;
        // Reading the source takes as long as the interpreter takes to come up, so both are done at once.
        // A start that is dropped half-way takes its process along.
        let checked = self.0.check(&runtime, &start);
        let ((), started) = tokio::try_join!(checked, execute(plan, self.0.adapter, &sinks))?;
        Ok(started)
    }
}

async fn execute(plan: Plan, adapter: &'static dyn Adapter, sinks: &Sinks) -> Result<Started<DapDebugger>> {
    let (arrivals, received) = mpsc::channel(16);
    let door = |setup, token| Door {
        arrivals,
        adapter,
        setup,
        token,
        output: sinks.output.clone(),
        policy: Arc::clone(&sinks.policy),
    };
    match plan.wire {
        Wire::DapListen(setup) => {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| no_port(&error))?;
            let address = listener.local_addr().map_err(|error| no_port(&error))?.to_string();
            let token = uuid::Uuid::new_v4().simple().to_string();
            let told = |spec| filled(addressed(spec, &address), TOKEN, &token);
            let spawn = |spec| Process::spawn(&told(spec), &sinks.session, &sinks.output);
            let process = plan.process.map(spawn).transpose()?;
            let injector = plan.injector.map(|spec| Injector::spawn(&told(spec))).transpose()?;
            let door = door(setup, Some(token));
            let first = first_arrival(&listener, &door, process.as_ref(), injector.as_ref(), sinks).await?;
            if let Some(injector) = injector {
                first.debugger.injected_by(injector);
            }
            door.admit(first).await?;
            tokio::spawn(door.accept_children(listener));
            Ok(Started { process, arrivals: received })
        }
        Wire::DapConnect { host, port, setup } => {
            let connecting = TcpStream::connect((host.as_str(), port));
            let stream = match tokio::time::timeout(deadlines::REQUEST, connecting).await {
                Ok(Ok(stream)) => stream,
                Ok(Err(error)) => return Err(unreachable_debugger(&host, port, &error.to_string())),
                Err(_) => return Err(unreachable_debugger(&host, port, "no answer")),
            };
            let door = door(setup, None);
            let (announced, children) = mpsc::channel(MOST_CHILDREN);
            door.admit(door.meet(stream, true, Some(announced.clone())).await?).await?;
            tokio::spawn(door.attach_children((host, port), announced.downgrade(), children));
            Ok(Started { process: None, arrivals: received })
        }
        Wire::CdpAnnounced(_) | Wire::CdpConnect { .. } | Wire::CdpSignal { .. } => Err(Error::Unsupported(
            format!("programs in {} are not reached by the Debug Adapter Protocol", adapter.about()),
        )),
    }
}

/// Waits for the program to connect, as long as it, or the helper that makes it connect, is there. Whoever else
/// connects is turned away.
async fn first_arrival(
    listener: &TcpListener,
    door: &Door,
    process: Option<&Process>,
    injector: Option<&Injector>,
    sinks: &Sinks,
) -> Result<Arrival<DapDebugger>> {
    let begin = sinks.output.end();
    let gone = async {
        match (process, injector) {
            (Some(process), _) => {
                let end = process.ended().await;
                let problem = format!("the program {end} before the debugger was ready");
                Error::StartFailed { problem, output: sinks.output.tail(begin, 4000).text() }
            }
            (None, Some(injector)) => {
                // It ends well as soon as it has done its part, and the connection follows.
                if injector.ended().await {
                    tokio::time::sleep(deadlines::INJECT).await;
                }
                let problem = "the debugger could not get into the process".to_owned();
                Error::StartFailed { problem, output: injector.printed() }
            }
            (None, None) => std::future::pending().await,
        }
    };
    let arrive = async {
        let mut meeting = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let (stream, _) = accepted.map_err(|error| no_port(&error))?;
                    meeting.push(door.meet(stream, true, None));
                }
                Some(met) = meeting.next(), if !meeting.is_empty() => match met {
                    Ok(arrival) => return Ok(arrival),
                    Err(error) => turned_away(&error),
                },
            }
        }
    };
    let patience = sinks.policy.bounds.connect_within();
    tokio::select! {
        arrived = arrive => arrived,
        error = gone => Err(error),
        () = tokio::time::sleep(patience) => Err(Error::StartFailed {
            problem: format!("the program did not connect to the debugger within {} s", patience.as_secs_f64()),
            output: sinks.output.tail(begin, 4000).text(),
        }),
    }
}

fn turned_away(error: &Error) {
    tracing::warn!(%error, "somebody has connected who is not the program, or could not say so");
}

/// Where processes come in.
struct Door {
    arrivals: mpsc::Sender<Arrival<DapDebugger>>,
    adapter: &'static dyn Adapter,
    setup: DapSetup,
    /// What those must know who connect to us.
    token: Option<String>,
    output: Output,
    policy: SharedPolicy,
}

impl Door {
    /// Begins to speak to one who has connected, and lets him show who he is: any program of this machine can
    /// connect to our port.
    async fn meet(
        &self,
        stream: TcpStream,
        is_program: bool,
        children: Option<mpsc::Sender<Map<String, Value>>>,
    ) -> Result<Arrival<DapDebugger>> {
        let stream = ::dap::transport::QuickAck::new(stream).map_err(|_| Error::Lost)?;
        let (debugger, events) = DapDebugger::connect(
            split(stream),
            self.adapter,
            self.setup.clone(),
            is_program,
            children,
            self.output.clone(),
            Arc::clone(&self.policy),
        );
        if let Some(token) = &self.token {
            debugger.identify(token).await?;
        }
        Ok(Arrival { debugger, events })
    }

    async fn admit(&self, arrival: Arrival<DapDebugger>) -> Result<()> {
        self.arrivals.send(arrival).await.map_err(|_| Error::Closed)
    }

    /// Every child of the program opens a connection of its own, and waits until it is served.
    async fn accept_children(self, listener: TcpListener) {
        let mut meeting = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = listener.accept(), if meeting.len() < MOST_CHILDREN => {
                    let Ok((stream, _)) = accepted else {
                        // The machine is short of something for the moment.
                        tokio::time::sleep(deadlines::LOOK).await;
                        continue;
                    };
                    meeting.push(self.meet(stream, false, None));
                }
                Some(met) = meeting.next(), if !meeting.is_empty() => match met {
                    Ok(arrival) => if self.admit(arrival).await.is_err() {
                        return;
                    },
                    Err(error) => turned_away(&error),
                },
                () = self.arrivals.closed() => return,
            }
        }
    }
}

impl Door {
    /// A server that we connected to announces children; each is served on a connection of its own to the
    /// same address. Ends when nobody is left who could announce one.
    async fn attach_children(
        mut self,
        address: (String, u16),
        announced: mpsc::WeakSender<Map<String, Value>>,
        mut children: mpsc::Receiver<Map<String, Value>>,
    ) {
        let usual = self.setup.arguments.clone();
        while let Some(arguments) = children.recv().await {
            self.setup.arguments = usual.clone().into_iter().chain(arguments).collect();
            let connecting = TcpStream::connect((address.0.as_str(), address.1));
            let entered = match tokio::time::timeout(deadlines::REQUEST, connecting).await {
                Ok(Ok(stream)) => match self.meet(stream, false, announced.upgrade()).await {
                    Ok(arrival) => self.admit(arrival).await,
                    Err(error) => Err(error),
                },
                _ => Err(Error::Lost),
            };
            if let Err(error) = entered {
                tracing::warn!(%error, "a child process could not be attached to");
            }
        }
    }
}

fn no_port(error: &std::io::Error) -> Error {
    Error::Environment {
        problem: format!("no local port can be opened: {error}"),
        remedy: "check the machine's limits and firewall for 127.0.0.1".to_owned(),
    }
}

fn unreachable_debugger(host: &str, port: u16, reason: &str) -> Error {
    Error::Environment {
        problem: format!("no debugger answers at {host}:{port}: {reason}"),
        remedy: "check that the program was started with a debugger that listens there, such as \
                 `python -m debugpy --listen PORT program.py`"
            .to_owned(),
    }
}
