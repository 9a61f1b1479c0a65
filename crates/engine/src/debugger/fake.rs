//! A debugger that does what a test says, for races that no real program runs into on time.
//!
//! Every request is logged and answered at once, unless the test holds or refuses that kind of request.
//! What the program does comes from the test as well.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::sync::{mpsc, watch};

use super::{
    Arrival, BindResult, Connector, Debugger, Evaluate, Event, FunctionBreakpoint, Sinks, SourceBreakpoint,
    Started, Step, expansion,
};
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::ids::RawId;
use crate::model::launch::Start;
use crate::model::stack::{RawThread, Scope, ScopeKind, Stack, StackFrame};
use crate::model::stop::{End, Exception, ExceptionMode};
use crate::model::variable::{Children, ExpandedLocals, Expansion, Page, Value, Variable};

/// One fake process.
#[derive(Clone, Debug, Default)]
pub struct FakeDebugger(Arc<Fake>);

#[derive(Debug, Default)]
struct Fake {
    log: Mutex<Vec<String>>,
    /// Requests that wait until the test lets them go.
    held: Mutex<HashMap<&'static str, watch::Sender<bool>>>,
    refused: Mutex<HashMap<&'static str, Error>>,
    /// The exception it is stopped at was seen before.
    known_exception: Mutex<bool>,
    /// The exception it is stopped at meets every condition.
    satisfies: Mutex<bool>,
    pid: Mutex<Option<u32>>,
}

impl FakeDebugger {
    /// The requests so far, and forgets them.
    pub fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.0.log))
    }

    /// Requests of this kind are not answered until they are released.
    pub fn hold(&self, request: &'static str) {
        lock(&self.0.held).insert(request, watch::Sender::new(false));
    }

    /// Answers the requests that were held.
    pub fn release(&self, request: &'static str) {
        if let Some(held) = lock(&self.0.held).remove(request) {
            held.send_replace(true);
        }
    }

    /// Requests of this kind fail.
    pub fn refuse(&self, request: &'static str, error: Error) {
        lock(&self.0.refused).insert(request, error);
    }

    /// The exceptions that it stops at from now on were seen before.
    pub fn know_exceptions(&self, known: bool) {
        *lock(&self.0.known_exception) = known;
    }

    /// The exceptions that it stops at from now on meet every condition.
    pub fn check_conditions(&self, satisfies: bool) {
        *lock(&self.0.satisfies) = satisfies;
    }

    /// The process that it debugs.
    pub fn debug_process(&self, pid: u32) {
        *lock(&self.0.pid) = Some(pid);
    }

    /// Returns once a request of this kind was made.
    pub async fn asked(&self, request: &str) {
        while !lock(&self.0.log).iter().any(|line| line.starts_with(request)) {
            tokio::task::yield_now().await;
        }
    }

    async fn act(&self, request: &'static str, details: String) -> Result<()> {
        lock(&self.0.log).push(format!("{request} {details}").trim_end().to_owned());
        let held = lock(&self.0.held).get(request).map(watch::Sender::subscribe);
        if let Some(mut held) = held {
            // A test that ends drops what it holds.
            let _ = held.wait_for(|released| *released).await;
        }
        lock(&self.0.refused).get(request).cloned().map_or(Ok(()), Err)
    }
}

#[async_trait]
impl Debugger for FakeDebugger {
    async fn prepare(&self) -> Result<()> {
        self.act("prepare", String::new()).await
    }

    async fn run(&self) -> Result<()> {
        self.act("run", String::new()).await
    }

    async fn set_breakpoints(&self, _path: &Path, wanted: Vec<SourceBreakpoint>) -> Result<Vec<BindResult>> {
        let lines: Vec<String> = wanted.iter().map(|place| place.line.to_string()).collect();
        self.act("bind", lines.join(",")).await?;
        Ok(wanted.iter().map(|place| BindResult::on(Some(place.line))).collect())
    }

    async fn set_function_breakpoints(&self, wanted: Vec<FunctionBreakpoint>) -> Result<Vec<BindResult>> {
        let names: Vec<&str> = wanted.iter().map(|place| place.name.as_str()).collect();
        self.act("bind", names.join(",")).await?;
        Ok(vec![BindResult::on(None); wanted.len()])
    }

    async fn set_exception_mode(&self, mode: ExceptionMode) -> Result<()> {
        self.act("exceptions", mode.to_string()).await
    }

    async fn resume(&self, thread: RawId) -> Result<()> {
        self.act("resume", thread.0.to_string()).await
    }

    async fn step(&self, thread: RawId, step: Step) -> Result<()> {
        self.act("step", format!("{step:?} {}", thread.0)).await
    }

    async fn pause(&self, thread: RawId) -> Result<()> {
        self.act("pause", thread.0.to_string()).await
    }

    async fn threads(&self) -> Result<Vec<RawThread>> {
        self.act("threads", String::new()).await?;
        Ok(vec![RawThread { id: RawId(1), name: "main".to_owned(), os_thread: None }])
    }

    async fn stack_trace(&self, thread: RawId, _start: usize, _levels: usize) -> Result<Stack<RawId>> {
        self.act("stack", thread.0.to_string()).await?;
        let frame = StackFrame { id: RawId(10), name: "f".to_owned(), location: None };
        Ok(Stack { frames: vec![frame], total: 1 })
    }

    async fn scopes(&self, frame: RawId) -> Result<Vec<Scope<RawId>>> {
        self.act("scopes", frame.0.to_string()).await?;
        let scope = Scope {
            name: "Locals".to_owned(),
            kind: ScopeKind::Locals,
            reference: RawId(20),
            expensive: false,
            range: None,
        };
        Ok(vec![scope])
    }

    async fn locals(
        &self,
        frame: RawId,
        _page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<ExpandedLocals<RawId>> {
        self.act("locals", frame.0.to_string()).await?;
        let variables = children();
        let values = expansion::by_requests(self, &variables, text, expansion).await;
        Ok(ExpandedLocals { scope: "Locals".to_owned(), variables, values })
    }

    async fn variables(&self, reference: RawId, _page: Page, _text: usize) -> Result<Children<RawId>> {
        self.act("variables", reference.0.to_string()).await?;
        Ok(children())
    }

    async fn evaluate(&self, request: Evaluate) -> Result<Value<RawId>> {
        self.act("evaluate", request.expression).await?;
        Ok(value())
    }

    async fn set_variable(
        &self,
        _parent: RawId,
        name: &str,
        value_text: &str,
        _text: usize,
    ) -> Result<Value<RawId>> {
        self.act("assign", format!("{name} {value_text}")).await?;
        Ok(value())
    }

    async fn exception(&self, thread: RawId) -> Result<Exception> {
        self.act("exception", thread.0.to_string()).await?;
        let text = |text: &str| text.to_owned();
        Ok(Exception { type_name: text("Error"), message: text("m"), stack: String::new(), uncaught: true })
    }

    async fn should_stop_at_exception(
        &self,
        thread: RawId,
        _exception: Option<&str>,
        _mode: ExceptionMode,
    ) -> Result<bool> {
        self.act("worth", thread.0.to_string()).await?;
        Ok(!*lock(&self.0.known_exception))
    }

    async fn source_text(&self, name: &str) -> Result<Option<String>> {
        self.act("source", name.to_owned()).await?;
        Ok(None)
    }

    async fn exception_satisfies(&self, thread: RawId, condition: &str) -> Result<bool> {
        self.act("meets", format!("{} {condition}", thread.0)).await?;
        Ok(*lock(&self.0.satisfies))
    }

    async fn detach(&self) -> Result<()> {
        self.act("detach", String::new()).await
    }

    fn end(&self) -> Option<End> {
        None
    }

    fn pid(&self) -> Option<u32> {
        *lock(&self.0.pid)
    }
}

fn value() -> Value<RawId> {
    let text = |text: &str| text.to_owned();
    Value {
        text: text("1"),
        type_name: text("int"),
        kind: None,
        reference: None,
        children: None,
        cut: false,
        length: None,
        note: None,
    }
}

fn children() -> Children<RawId> {
    let variable = Variable { name: "x".to_owned(), value: value(), special: false };
    Children { variables: vec![variable], total: 1, start: 0, hidden: 0 }
}

/// Starts fake programs: each start takes the next of the ones that the test has prepared.
#[derive(Debug)]
pub struct FakeConnector(Mutex<mpsc::UnboundedReceiver<FakeProgram>>);

/// Lets processes arrive.
pub type Arrivals = mpsc::Sender<Arrival>;

/// What a fake start leads to.
#[derive(Debug)]
pub struct FakeProgram(mpsc::Receiver<Arrival>);

impl FakeConnector {
    /// A connector, and where to put the programs that it is to start.
    #[expect(clippy::disallowed_methods, reason = "a test uses a handful")]
    pub fn new() -> (Self, mpsc::UnboundedSender<FakeProgram>) {
        let (programs, received) = mpsc::unbounded_channel();
        (Self(Mutex::new(received)), programs)
    }
}

impl FakeProgram {
    /// A program, and where its processes come from.
    pub fn new() -> (Self, Arrivals) {
        let (arrivals, received) = mpsc::channel(8);
        (Self(received), arrivals)
    }
}

/// A process that can be sent as an arrival, and where what it does comes from.
pub fn process() -> (FakeDebugger, mpsc::Sender<Event>, Arrival) {
    let (events, received) = mpsc::channel(16);
    let debugger = FakeDebugger::default();
    let adapter = &crate::adapter::python::Python;
    let arrival: Arrival = Arrival::new(adapter, Arc::new(debugger.clone()), received);
    (debugger, events, arrival)
}

#[async_trait]
impl Connector for FakeConnector {
    async fn start(&self, _start: Start, _to: Sinks) -> Result<Started> {
        let program = lock(&self.0).try_recv();
        let FakeProgram(arrivals) =
            program.map_err(|_| Error::Unsupported("no program was prepared".to_owned()))?;
        Ok(Started { process: None, arrivals })
    }
}
