//! Adapters that are started, with real processes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Map;
use test_support::rows_to_try;
use tokio::time::Instant;

use super::peer::sinks;
use crate::adapter::plan::{ADDRESS, DapSetup, Plan, Quirks, StartRequest, Transport};
use crate::adapter::{Adapter, Host, LanguageFacts, Machine, Runtime};
use crate::debugger::dap::{DapConnector, DapDebugger};
use crate::debugger::{Connector, Owned};
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program, Start};
use crate::model::stop::End;
use crate::output::Output;
use crate::process::{self, ProcessSpec};
use crate::session::{Session, SessionOptions};
use journal::Journal;

/// A language whose adapter is reached as a test wants it.
#[derive(Debug)]
pub(super) struct Scripted(Transport);

impl Scripted {
    pub(super) fn with(transport: Transport) -> &'static dyn Adapter {
        Box::leak(Box::new(Self(transport)))
    }
}

const FACTS: LanguageFacts = LanguageFacts::new("scripted", "a test");

#[async_trait]
impl Adapter for Scripted {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    async fn locate(
        &self,
        _host: &dyn Host,
        _executable: Option<&Path>,
        _near: Option<&Path>,
    ) -> Result<Runtime> {
        let text = String::new;
        Ok(Runtime { executable: PathBuf::new(), version: text(), tag: text(), origin: text() })
    }

    fn plan(&self, _host: &dyn Host, _runtime: &Runtime, _debugger: &Path, start: &Start) -> Result<Plan> {
        let request = match start {
            Start::Launch(_) => StartRequest::Launch,
            Start::Attach(_) => StartRequest::Attach,
        };
        let arguments = Map::from_iter([("program".to_owned(), "main".into())]);
        let setup = DapSetup::new("scripted", request, arguments, &Quirks::NONE);
        Ok(Plan::Dap { transport: self.0.clone(), setup })
    }

    fn is_internal(&self, _path: &Path) -> bool {
        false
    }
}

pub(super) fn launch() -> Start {
    Start::Launch(Launch::new(Program::Command))
}

/// The adapter in `adapter.py`.
fn spec(words: &[&str]) -> ProcessSpec {
    let arguments = ["-c", include_str!("adapter.py")].iter().chain(words);
    ProcessSpec {
        program: "python3".into(),
        args: arguments.map(Into::into).collect(),
        ..ProcessSpec::default()
    }
}

fn listening(words: &[&str], announces: Option<&'static str>, is_program: bool) -> Transport {
    Transport::Spawn { process: spec(words), announces, is_program }
}

fn session(transport: Transport) -> Session {
    let adapter = Scripted::with(transport);
    Session::spawn(SessionOptions {
        id: crate::model::ids::SessionId::random(),
        name: "test".to_owned(),
        adapter,
        host: &Machine,
        executable: None,
        connector: Arc::new(DapConnector::<DapDebugger>::new(adapter, &Machine, None)),
        journal: Journal::none(),
        policy: Arc::default(),
    })
}

/// The adapter and the program that it has started, by their numbers.
async fn processes(output: &Output) -> [u32; 2] {
    let mut end = output.watch();
    loop {
        let text = output.read(0, 1000).text();
        let words: Vec<&str> = text.split_whitespace().collect();
        if let ["adapter", adapter, "program", program] = words[..] {
            return [adapter, program].map(|number| number.parse().unwrap());
        }
        end.changed().await.unwrap();
    }
}

async fn until_gone(pid: u32) {
    let until = Instant::now() + Duration::from_secs(20);
    while process::exists(pid) {
        assert!(Instant::now() < until, "process {pid} is left");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn adapter_uses_stdio_or_a_socket_and_leaves_no_process() {
    let table = [
        ("on its standard streams", Transport::Stdio(spec(&["stdio"]))),
        ("where it says", listening(&["announce"], Some("DAP server listening at: "), false)),
        ("where it is told to", listening(&["listen", ADDRESS], None, false)),
        ("as the program", listening(&["listen", ADDRESS], None, true)),
    ];
    for (how, transport) in rows_to_try(table, 3) {
        let session = session(transport);
        session.start(launch()).await.unwrap_or_else(|error| panic!("{how}: {error}"));
        let [adapter, program] = processes(session.output()).await;
        assert!(process::exists(adapter) && process::exists(program), "{how}");
        session.end().await.unwrap();
        until_gone(adapter).await;
        until_gone(program).await;
        assert!(!session.output().read(0, 1000).text().contains("listening at"), "{how}");
    }
}

#[tokio::test]
async fn the_adapter_is_the_program_only_if_the_plan_says_so() {
    for is_program in [true, false] {
        let adapter = Scripted::with(listening(&["listen", ADDRESS], None, is_program));
        let connector = DapConnector::<DapDebugger>::new(adapter, &Machine, None);
        let started = connector.start(launch(), sinks(&Output::new())).await.unwrap();
        let owned = started.process.unwrap();
        assert_eq!(matches!(owned, Owned::Program(_)), is_program);
        owned.process().kill().await;
        assert_eq!(owned.process().ended().await, End::Killed { signal: 9, by_us: true });
    }
}

#[tokio::test]
async fn output_of_an_adapter_that_exits_at_once_is_quoted() {
    let table = [
        ("stdio", Transport::Stdio(spec(&["die"]))),
        ("announced", listening(&["die"], Some("listening at: "), false)),
        ("listening", listening(&["die", ADDRESS], None, false)),
    ];
    for (how, transport) in table {
        let session = session(transport);
        let error = session.start(launch()).await.unwrap_err();
        let expected = Error::StartFailed {
            problem: "the debugger exited with code 1 before it was ready".to_owned(),
            output: "there is no LLDB on this machine\n".to_owned(),
        };
        assert_eq!(error, expected, "{how}");
    }
}

/// What it prints on its standard error is worth reading, the protocol on its standard output is not.
#[tokio::test]
async fn protocol_messages_are_not_output() {
    let adapter = Scripted::with(Transport::Stdio(spec(&["stdio"])));
    let connector = DapConnector::<DapDebugger>::new(adapter, &Machine, None);
    let output = Output::new();
    let mut started = connector.start(launch(), sinks(&output)).await.unwrap();
    let arrival = started.arrivals.recv().await.unwrap();
    arrival.debugger.prepare().await.unwrap();
    assert_eq!(arrival.debugger.threads().await.unwrap().len(), 1);
    processes(&output).await;
    assert!(!output.read(0, 1000).text().contains("Content-Length"));
    started.process.unwrap().process().kill().await;
}

#[tokio::test]
async fn unreachable_address_is_named() {
    let closed = test_support::ClosedPort::new();
    let port = closed.number;
    let error = session(Transport::Connect { host: "127.0.0.1".to_owned(), port }).start(launch()).await;
    let Err(Error::Environment { problem, remedy }) = error else { panic!("{error:?}") };
    assert!(problem.starts_with(&format!("no debugger responds at 127.0.0.1:{port}: ")), "{problem}");
    assert!(remedy.contains(Quirks::NONE.listens), "{remedy}");
}
