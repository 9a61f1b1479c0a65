//! A program that has run to a `debugger` statement.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ::cdp::{Client, Event, Incoming, Message, debugger, node_worker, runtime};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::ChildStderr;

use super::super::super::v8::V8Client;
use super::super::{Frame, ValueReader};
use crate::debugger::Evaluate;
use crate::error::Result;
use crate::model::ids::RawId;
use crate::model::stack::ScopeKind;
use crate::model::variable::{Children, Expansion, Page, Value, Variable};

/// Longer than anything takes.
pub(super) const SOON: Duration = Duration::from_secs(20);

/// The environment variable that names another `node` to test with.
const NODE: &str = "STILLFRAME_TEST_NODE";

pub(super) struct PausedProgram {
    pub(super) values: ValueReader,
    pub(super) client: Client,
    pub(super) paused: debugger::Paused,
    incoming: Incoming,
    child: Child,
    _folder: TempDir,
}

impl PausedProgram {
    /// Runs a `CommonJS` program to its first `debugger` statement.
    pub(super) async fn of(program: &str) -> Self {
        Self::file("main.js", program).await
    }

    pub(super) async fn file(name: &str, program: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join(name), program).unwrap();
        let (child, address) = start(folder.path().join(name)).await;
        let (client, incoming, driver) = ::cdp::connect(&address, SOON).await.unwrap();
        tokio::spawn(driver);
        let paused = debugger::Paused::default();
        let values = reader(client.clone(), false);
        let mut scene = Self { values, client, paused, incoming, child, _folder: folder };
        scene.enable().await;
        scene.next_stop().await;
        scene.resume().await;
        scene
    }

    /// Reads it without running code of the program.
    pub(super) fn forbid_side_effects(&mut self) {
        self.values = reader(self.client.clone(), true);
    }

    async fn enable(&self) {
        self.client.request(runtime::Enable {}, SOON).await.unwrap();
        self.client.request(debugger::Enable::default(), SOON).await.unwrap();
        self.client.request(runtime::RunIfWaitingForDebugger {}, SOON).await.unwrap();
    }

    /// Goes to the next stop.
    pub(super) async fn resume(&mut self) {
        self.values.forget();
        self.client.request(debugger::Resume::default(), SOON).await.unwrap();
        self.next_stop().await;
    }

    pub(super) async fn step_over(&mut self) {
        self.values.forget();
        self.client.request(debugger::StepOver {}, SOON).await.unwrap();
        self.next_stop().await;
    }

    async fn next_stop(&mut self) {
        self.paused = stop_of(&mut self.incoming).await;
    }

    pub(super) fn frame(&self, index: usize) -> Arc<Frame> {
        Arc::new(Frame::new(self.paused.call_frames[index].clone()))
    }

    pub(super) async fn locals(&self) -> Vec<Variable<RawId>> {
        self.locals_with(page(false), 1000).await.variables
    }

    pub(super) async fn locals_with(&self, page: Page, text: usize) -> Children<RawId> {
        let read = self.values.locals(&self.frame(0), page, text, Expansion::NONE).await.unwrap();
        assert_eq!(read.scope, "Locals");
        read.variables
    }

    pub(super) async fn evaluate(&self, expression: &str) -> Result<Value<RawId>> {
        self.evaluate_with(expression, 1000, false).await
    }

    pub(super) async fn evaluate_with(
        &self,
        expression: &str,
        text: usize,
        pure: bool,
    ) -> Result<Value<RawId>> {
        self.evaluate_in(&self.frame(0), expression, text, pure).await
    }

    pub(super) async fn text_in(&self, frame: &Arc<Frame>, expression: &str) -> String {
        self.evaluate_in(frame, expression, 100, false).await.unwrap().text
    }

    async fn evaluate_in(
        &self,
        frame: &Arc<Frame>,
        expression: &str,
        text: usize,
        pure: bool,
    ) -> Result<Value<RawId>> {
        let deadline = Duration::from_secs(5);
        let request = Evaluate { expression: expression.to_owned(), frame: RawId(1), deadline, text, pure };
        self.values.evaluate(frame, &request).await
    }

    /// The text of the value of an expression.
    pub(super) async fn text(&self, expression: &str) -> String {
        self.evaluate(expression).await.unwrap_or_else(|error| panic!("{expression}: {error}")).text
    }

    /// All children of the value of an expression.
    pub(super) async fn children(&self, expression: &str) -> Vec<Variable<RawId>> {
        let value = self.evaluate(expression).await.unwrap();
        self.open(&value).await
    }

    pub(super) async fn open(&self, value: &Value<RawId>) -> Vec<Variable<RawId>> {
        self.values
            .variables(value.reference.expect("it has children"), page(true), 1000)
            .await
            .unwrap()
            .variables
    }

    /// The reference of the frame's own scope.
    pub(super) fn own_scope(&self) -> RawId {
        let scopes = self.values.scopes(&self.frame(0));
        scopes.iter().find(|scope| scope.kind == ScopeKind::Locals).unwrap().reference
    }

    /// A worker that the program has started, at its first `debugger` statement.
    pub(super) async fn worker(&mut self) -> (ValueReader, Arc<Frame>) {
        let enable = node_worker::Enable { wait_for_debugger_on_start: true };
        self.client.request(enable, SOON).await.unwrap();
        self.client.request(debugger::Resume::default(), SOON).await.unwrap();
        let mut worker = tokio::time::timeout(SOON, async {
            loop {
                if let Message::Worker(worker) = self.incoming.recv().await.unwrap() {
                    return worker;
                }
            }
        })
        .await
        .expect("the worker starts");
        worker.client.request(debugger::Enable::default(), SOON).await.unwrap();
        worker.client.request(runtime::RunIfWaitingForDebugger {}, SOON).await.unwrap();
        let mut paused = stop_of(&mut worker.incoming).await;
        if paused.reason == "Break on start" {
            worker.client.request(debugger::Resume::default(), SOON).await.unwrap();
            paused = stop_of(&mut worker.incoming).await;
        }
        let frame = Arc::new(Frame::new(paused.call_frames[0].clone()));
        (reader(worker.client, false), frame)
    }
}

/// Of a thread without known scripts.
fn reader(client: Client, careful: bool) -> ValueReader {
    ValueReader::new(V8Client::new(client), Arc::default(), None, careful)
}

impl Drop for PausedProgram {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn page(special: bool) -> Page {
    Page { start: 0, count: 100, special, internals: special }
}

/// Names and texts.
pub(super) fn texts(variables: &[Variable<RawId>]) -> Vec<(&str, &str)> {
    variables.iter().map(|variable| (variable.name.as_str(), variable.value.text.as_str())).collect()
}

pub(super) fn named<'a>(variables: &'a [Variable<RawId>], name: &str) -> &'a Variable<RawId> {
    variables
        .iter()
        .find(|variable| variable.name == name)
        .unwrap_or_else(|| panic!("{name}: {variables:#?}"))
}

async fn stop_of(incoming: &mut Incoming) -> debugger::Paused {
    let stop = async {
        loop {
            if let Message::Event(Event::Paused(paused)) = incoming.recv().await.expect("it lives") {
                return *paused;
            }
        }
    };
    tokio::time::timeout(SOON, stop).await.expect("it stops")
}

#[expect(clippy::disallowed_methods, reason = "killed and waited for when the scene is dropped")]
async fn start(path: PathBuf) -> (Child, ::cdp::Address) {
    let node = std::env::var_os(NODE).unwrap_or_else(|| "node".into());
    let mut child = Command::new(node)
        .args(["--inspect-brk=0".as_ref(), path.as_os_str()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("node is on the search path");
    let stderr = ChildStderr::from_std(child.stderr.take().unwrap()).unwrap();
    let mut lines = BufReader::new(stderr).lines();
    let announced = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some(address) = ::cdp::discovery::listening(&line) {
                return Some(address);
            }
        }
        None
    };
    let announced = tokio::time::timeout(SOON, announced).await;
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    if let Ok(Some(address)) = announced {
        return (child, address);
    }
    let _ = child.kill();
    let _ = child.wait();
    panic!("no inspector is announced");
}
