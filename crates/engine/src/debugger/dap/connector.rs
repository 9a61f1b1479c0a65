//! Starting programs and reaching running ones over the Debug Adapter Protocol.

use std::marker::PhantomData;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::transport::{self, Streams};
use super::{Child, DapDebugger, Dialect, Options};
use crate::adapter::plan::{ADDRESS, DapSetup, PORT, Plan, StartRequest, TOKEN, Transport, filled};
use crate::adapter::{Adapter, Host};
use crate::deadlines;
use crate::debugger::dbgp;
use crate::debugger::preparation::{Preparation, PreparedStart};
use crate::debugger::{Arrival, Connector, Followed, Owned, Sinks, Started};
use crate::error::{Error, Result};
use crate::model::launch::{Attach, Endpoint, Launch, Start};
use crate::output::Category;
use crate::process::{Injector, Process, ProcessSpec};

/// More children than a program starts while one of them is attached to.
const MOST_CHILDREN: usize = 1024;

/// Starts and reaches programs of one language.
#[derive(Debug)]
pub struct DapConnector<D = DapDebugger> {
    preparation: Preparation,
    debugger: PhantomData<fn() -> D>,
}

impl<D> DapConnector<D> {
    /// For programs of this language, run by the user's choice of interpreter.
    pub fn new(adapter: &'static dyn Adapter, host: &'static dyn Host, executable: Option<PathBuf>) -> Self {
        let preparation = Preparation { adapter, host, executable };
        Self { preparation, debugger: PhantomData }
    }
}

#[async_trait]
impl<D: Dialect> Connector for DapConnector<D> {
    async fn start(&self, start: Start, sinks: Sinks) -> Result<Started> {
        let PreparedStart { runtime, plan, start } = self.preparation.plan(start, &sinks).await?;
        let adapter = self.preparation.adapter;
        let Plan::Dap { transport, mut setup } = plan else {
            let about = adapter.about();
            return Err(Error::Unsupported(format!("{about} does not use the Debug Adapter Protocol")));
        };
        if let Some(caution) = setup.binary.as_deref().and_then(setup.quirks.caution) {
            sinks.output.append(Category::Console, &format!("{caution}\n"));
        }
        if let Start::Attach(Attach { to: Endpoint::Address { host, port }, .. }) = &start
            && !matches!(transport, Transport::Connect { .. })
        {
            setup.remote = Some(format!("{host}:{port}"));
        }
        let (arrivals, received) = mpsc::channel(16);
        let sinks = sinks.clone();
        let acceptor =
            Acceptor::<D> { arrivals, adapter, setup, sinks, is_dbgp: false, debugger: PhantomData };
        let process = self.preparation.checked(&runtime, &start, acceptor.open(transport)).await?;
        Ok(Started { process, arrivals: received })
    }

    async fn follow(&self, launch: &Launch, sinks: Sinks) -> Result<Followed> {
        let (_, plan) = self.preparation.follow(launch, &sinks).await?;
        let adapter = self.preparation.adapter;
        let (process, is_dbgp, setup) = match plan {
            Plan::Dap { transport: Transport::Listen { process: Some(process), .. }, setup } => {
                (process, false, setup)
            }
            Plan::Dap { transport: Transport::Dbgp { process, .. }, setup } => (process, true, setup),
            Plan::Dap { .. } | Plan::Cdp { .. } => {
                return Err(Error::Unsupported(format!("processes of {} do not connect", adapter.about())));
            }
        };
        let (arrivals, received) = mpsc::channel(16);
        let acceptor = Acceptor::<D> { arrivals, adapter, setup, sinks, is_dbgp, debugger: PhantomData };
        let meeting = MeetingPlace::open().await?;
        let ProcessSpec { env, muted, .. } = meeting.fill(process);
        tokio::spawn(acceptor.accept_children(meeting.listener, meeting.token));
        Ok(Followed { env, muted, arrivals: received })
    }
}

/// How further connections are made, for the children that an adapter announces.
enum ChildTransport {
    Address(String, u16),
    Command(ProcessSpec),
}

/// Where programs connect to us.
struct MeetingPlace {
    listener: TcpListener,
    address: SocketAddr,
    /// The secret that they show.
    token: String,
}

impl MeetingPlace {
    async fn open() -> Result<Self> {
        let listener =
            TcpListener::bind(("127.0.0.1", 0)).await.map_err(|error| transport::no_port(&error))?;
        let address = listener.local_addr().map_err(|error| transport::no_port(&error))?;
        Ok(Self { listener, address, token: uuid::Uuid::new_v4().simple().to_string() })
    }

    /// Puts them where the plan says so.
    fn fill(&self, spec: ProcessSpec) -> ProcessSpec {
        let spec = filled(spec, ADDRESS, &self.address.to_string());
        filled(filled(spec, PORT, &self.address.port().to_string()), TOKEN, &self.token)
    }
}

/// Makes debuggers of connections.
struct Acceptor<D> {
    arrivals: mpsc::Sender<Arrival>,
    adapter: &'static dyn Adapter,
    setup: DapSetup,
    sinks: Sinks,
    /// Programs that connect to us speak DBGp.
    is_dbgp: bool,
    debugger: PhantomData<fn() -> D>,
}

impl<D: Dialect> Acceptor<D> {
    /// Connects as the plan says. What was started for it is returned.
    async fn open(self, transport: Transport) -> Result<Option<Owned>> {
        match transport {
            Transport::Stdio(spec) => {
                let (process, streams) = transport::by_pipes(&spec, &self.sinks)?;
                self.let_detach(&process);
                self.serve(streams, ChildTransport::Command(spec), Some(process.clone())).await?;
                Ok(Some(Owned::Adapter(process)))
            }
            Transport::Spawn { process, announces, is_program } => {
                let (process, (host, port), streams) =
                    transport::listening(process, announces, &self.sinks).await?;
                let adapter = Some(process.clone()).filter(|_| !is_program);
                self.let_detach(&process);
                self.serve(streams, ChildTransport::Address(host, port), adapter).await?;
                Ok(Some(if is_program { Owned::Program(process) } else { Owned::Adapter(process) }))
            }
            Transport::Connect { host, port } => {
                let streams = transport::to(&host, port, self.setup.quirks.listens).await?;
                self.serve(streams, ChildTransport::Address(host, port), None).await?;
                Ok(None)
            }
            Transport::Listen { process, injector } => self.accept(process, injector).await,
            Transport::Dbgp { process, serves } => {
                let acceptor = Self { is_dbgp: true, ..self };
                if serves {
                    acceptor.serve_requests(process).await
                } else {
                    acceptor.accept(Some(process), None).await
                }
            }
        }
    }

    /// Speaks to an adapter, and to those that its children get.
    async fn serve(self, streams: Streams, origin: ChildTransport, adapter: Option<Process>) -> Result<()> {
        let (announced, children) = mpsc::channel(MOST_CHILDREN);
        let is_started = !matches!(origin, ChildTransport::Address(..));
        let patience =
            if is_started { self.sinks.policy.bounds.connect_within() } else { deadlines::REQUEST };
        let mut options = self.options(Some(announced.clone()), patience);
        options.adapter_process = adapter;
        let arrival = Self::handshake(streams, options);
        self.admit(arrival).await?;
        tokio::spawn(self.attach_children(origin, announced.downgrade(), children));
        Ok(())
    }

    /// Waits for the program to connect to us, then for its children.
    async fn accept(
        self,
        process: Option<ProcessSpec>,
        injector: Option<ProcessSpec>,
    ) -> Result<Option<Owned>> {
        let meeting = MeetingPlace::open().await?;
        let begin = self.sinks.output.end();
        let spawn = |spec| Process::spawn(&meeting.fill(spec), &self.sinks.session, &self.sinks.output);
        let process = process.map(spawn).transpose()?;
        let injector = injector.map(|spec| Injector::spawn(&meeting.fill(spec))).transpose()?;
        let MeetingPlace { listener, token, .. } = meeting;
        let first = self.first_arrival(&listener, &token, process.as_ref(), injector.as_ref(), begin).await?;
        if let Some(injector) = injector {
            first.debugger.injected_by(injector);
        }
        self.admit(first).await?;
        tokio::spawn(self.accept_children(listener, token));
        Ok(process.map(Owned::Program))
    }

    /// Starts a server that connects to us with each request that it serves.
    async fn serve_requests(self, process: ProcessSpec) -> Result<Option<Owned>> {
        let meeting = MeetingPlace::open().await?;
        let process = Process::spawn(&meeting.fill(process), &self.sinks.session, &self.sinks.output)?;
        let MeetingPlace { listener, token, .. } = meeting;
        let (reader, writer) = dbgp::wait_for_requests(token.clone(), process.pid());
        let options = self.options(None, deadlines::REQUEST);
        self.admit(Self::handshake((Box::new(reader), Box::new(writer)), options)).await?;
        tokio::spawn(self.accept_children(listener, token));
        Ok(Some(Owned::Program(process)))
    }

    /// Waits for the program to connect, while it, or the helper that makes it connect, is running. Other connections
    /// are refused. The program's output begins at `begin`.
    async fn first_arrival(
        &self,
        listener: &TcpListener,
        token: &str,
        process: Option<&Process>,
        injector: Option<&Injector>,
        begin: u64,
    ) -> Result<Arrival<D>> {
        let output = &self.sinks.output;
        let gone = async {
            match (process, injector) {
                (Some(process), _) => {
                    let end = process.ended().await;
                    let problem = format!("the program {end} before the debugger was ready");
                    Error::StartFailed { problem, output: output.tail(begin, 4000).text() }
                }
                (None, Some(injector)) => {
                    // It ends well as soon as it has done its part, and the connection follows.
                    if injector.ended().await {
                        tokio::time::sleep(deadlines::INJECT).await;
                    }
                    let problem = "the debugger could not attach to the process".to_owned();
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
                        let (stream, _) = accepted.map_err(|error| transport::no_port(&error))?;
                        meeting.push(self.identified(stream, true, token));
                    }
                    Some(met) = meeting.next(), if !meeting.is_empty() => match met {
                        Ok(arrival) => return Ok(arrival),
                        Err(error) => log_rejected(&error),
                    },
                }
            }
        };
        let patience = self.sinks.policy.bounds.connect_within();
        tokio::select! {
            arrived = arrive => arrived,
            error = gone => Err(error),
            () = tokio::time::sleep(patience) => Err(Error::StartFailed {
                problem: format!("the program did not connect to the debugger within {} s", patience.as_secs_f64()),
                output: output.tail(begin, 4000).text(),
            }),
        }
    }

    /// A program that is attached to survives the server, also one that is killed.
    fn let_detach(&self, adapter: &Process) {
        if self.setup.request == StartRequest::Attach {
            adapter.let_detach();
        }
    }

    /// Every child of the program opens a connection of its own, and waits until it is served.
    async fn accept_children(self, listener: TcpListener, token: String) {
        let mut meeting = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = listener.accept(), if meeting.len() < MOST_CHILDREN => {
                    let Ok((stream, _)) = accepted else {
                        // The machine is short of something for the moment.
                        tokio::time::sleep(deadlines::LOOK).await;
                        continue;
                    };
                    meeting.push(self.identified(stream, false, &token));
                }
                Some(met) = meeting.next(), if !meeting.is_empty() => match met {
                    Ok(arrival) => if self.admit(arrival).await.is_err() {
                        return;
                    },
                    Err(error) => log_rejected(&error),
                },
                () = self.arrivals.closed() => return,
            }
        }
    }

    /// An adapter announces children; each is served on a connection of its own. Ends when nothing is left that
    /// could announce one.
    async fn attach_children(
        self,
        origin: ChildTransport,
        announced: mpsc::WeakSender<Child>,
        mut children: mpsc::Receiver<Child>,
    ) {
        while let Some(child) = children.recv().await {
            if let Err(error) = self.attach_child(&origin, child, announced.upgrade()).await {
                tracing::warn!(%error, "cannot attach to a child process");
            }
        }
    }

    async fn attach_child(
        &self,
        origin: &ChildTransport,
        child: Child,
        announced: Option<mpsc::Sender<Child>>,
    ) -> Result<()> {
        let (streams, process) = match origin {
            ChildTransport::Address(host, port) => {
                (transport::to(host, *port, self.setup.quirks.listens).await?, None)
            }
            ChildTransport::Command(spec) => {
                let (process, streams) = transport::by_pipes(spec, &self.sinks)?;
                (streams, Some(process))
            }
        };
        let mut options = self.options(announced, deadlines::REQUEST);
        options.is_program = false;
        options.begins_by = child.request;
        options.setup.arguments = child.arguments;
        options.adapter_process = process;
        self.admit(Self::handshake(streams, options)).await
    }

    /// Begins to speak to one that has connected to us, once it has shown who it is: any program of this machine can
    /// connect to our port.
    async fn identified(
        &self,
        stream: tokio::net::TcpStream,
        is_program: bool,
        token: &str,
    ) -> Result<Arrival<D>> {
        let mut options = self.options(None, deadlines::REQUEST);
        options.is_program = is_program;
        if !is_program {
            options.begins_by = StartRequest::Attach;
        }
        let streams: Streams = if self.is_dbgp {
            let (reader, writer) = dbgp::translate(stream, self.adapter);
            (Box::new(reader), Box::new(writer))
        } else {
            transport::streams(stream)?
        };
        let arrival = Self::handshake(streams, options);
        arrival.debugger.identify(token).await?;
        Ok(arrival)
    }

    /// Begins to speak to an adapter, about the program or about a child.
    fn handshake(streams: Streams, options: Options) -> Arrival<D> {
        let adapter = options.adapter;
        let (debugger, incoming) = DapDebugger::connect(streams, options);
        let (debugger, events) = D::on(debugger, incoming);
        Arrival::new(adapter, debugger, events)
    }

    fn options(&self, children: Option<mpsc::Sender<Child>>, initialize_within: Duration) -> Options {
        Options {
            adapter: self.adapter,
            setup: self.setup.clone(),
            sinks: self.sinks.clone(),
            is_program: true,
            begins_by: self.setup.request,
            children,
            adapter_process: None,
            initialize_within,
        }
    }

    async fn admit(&self, arrival: Arrival<D>) -> Result<()> {
        let Arrival { adapter, debugger, events, .. } = arrival;
        let arrival: Arrival = Arrival::new(adapter, Arc::new(debugger), events);
        self.arrivals.send(arrival).await.map_err(|_| Error::Closed)
    }
}

fn log_rejected(error: &Error) {
    tracing::warn!(%error, "refused a connection: it is not from the program, or failed to prove it");
}
