//! A server as an MCP client has it: a process, and lines of JSON.
//!
//! Written against the protocol's text and not with an SDK, so that what goes over the wire is what the test
//! says.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin};
use tokio::sync::{Mutex as AsyncMutex, OnceCell, broadcast, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::Mark;

/// Longer than any call of a test takes; one that takes longer has failed.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// How soon after the end of its input a server, and everything that it started, must be gone.
pub(crate) const GOODBYE: Duration = Duration::from_secs(2);

/// Which era of the protocol a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolEra {
    /// 2025-11-25: a handshake first.
    Handshake,
    /// 2026-07-28: every request is independent.
    Stateless,
}

/// Where a server writes its journal. Only tests of the journal want one.
pub(crate) const JOURNAL: &str = "STILLFRAME_LOG_FILE";
/// Which configuration it reads. Only tests of the configuration want one.
pub(crate) const CONFIG: &str = "STILLFRAME_CONFIG";
pub(crate) const NOWHERE: &str = "off";

/// The program under test, as cargo passes it to an integration test.
#[derive(Clone, Copy, Debug)]
pub struct Built {
    /// `env!("CARGO_BIN_EXE_stillframe")`.
    pub program: &'static str,
    /// `env!("CARGO_TARGET_TMPDIR")`.
    pub scratch: &'static str,
}

impl Built {
    /// A server for a client that shakes hands.
    pub async fn serve(self) -> Server {
        self.options().await.start().await
    }

    /// A server for a client that does not.
    pub async fn serve_stateless(self) -> Server {
        ServerOptions { era: ProtocolEra::Stateless, ..self.options().await }.start().await
    }

    /// How to start a server.
    pub async fn options(self) -> ServerOptions {
        ServerOptions {
            program: self.program,
            cache: self.cache().await,
            args: vec!["serve".to_owned()],
            env: Vec::new(),
            cwd: None,
            era: ProtocolEra::Handshake,
            capabilities: json!({}),
        }
    }

    /// A cache with the debuggers in it. It is filled once and shared by all tests, which would else install
    /// the same thing side by side.
    pub async fn cache(self) -> PathBuf {
        static FILLED: OnceCell<PathBuf> = OnceCell::const_new();
        FILLED.get_or_init(|| self.fill_cache()).await.clone()
    }

    /// debugpy as servers have it, for the `PYTHONPATH` of a program that waits for a debugger by itself.
    pub async fn debugpy(self) -> PathBuf {
        let folder = self.cache().await.join("python");
        let entries = std::fs::read_dir(folder).expect("the cache is filled").flatten();
        let mut folders = entries.map(|entry| entry.path());
        folders.find(|folder| folder.join("debugpy/__init__.py").is_file()).expect("debugpy is in the cache")
    }

    async fn fill_cache(self) -> PathBuf {
        let cache = Path::new(self.scratch).join("cache");
        // What a call installs or compiles takes from the time that it has.
        for language in ["python", "java"] {
            let mut setup = self.command();
            setup.args(["setup", language]).env("STILLFRAME_CACHE_DIR", &cache);
            let done = setup.output().await.expect("the program under test runs");
            assert!(done.status.success(), "setup failed: {}", String::from_utf8_lossy(&done.stderr));
        }
        cache
    }

    /// The program itself, for tests of its command line. What it keeps is not in the state folder of whoever tests.
    #[expect(clippy::disallowed_methods, reason = "the program under test, which ends what it starts")]
    pub fn command(self) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(self.program);
        command.kill_on_drop(true).stdin(Stdio::null()).env(JOURNAL, NOWHERE).env(CONFIG, NOWHERE);
        command.env("XDG_STATE_HOME", Path::new(self.scratch).join("state"));
        command
    }
}

/// How to start a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The binary.
    pub program: &'static str,
    /// Where it keeps what it installs.
    pub cache: PathBuf,
    /// Arguments.
    pub args: Vec<String>,
    /// Changes to its environment.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// What the client speaks.
    pub era: ProtocolEra,
    /// What the client declares that it can do.
    pub capabilities: Value,
}

impl ServerOptions {
    /// Starts it.
    pub async fn start(self) -> Server {
        Server::start(self).await
    }
}

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    child: Child,
    stdin: AsyncMutex<Option<ChildStdin>>,
    waiting: Waiting,
    notifications: broadcast::Sender<Value>,
    next: Mutex<u64>,
    era: ProtocolEra,
    capabilities: Value,
    reader: JoinHandle<Vec<String>>,
    reads: watch::Sender<bool>,
    log: JoinHandle<String>,
    mark: Mark,
}

/// How a server is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Its input is closed.
    EndOfInput,
    /// SIGTERM.
    Terminate,
    /// SIGINT.
    Interrupt,
}

/// What a request led to: `result` or `error` of the response.
pub type Reply = Result<Value, Value>;

/// What a tool call led to.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The structured content.
    pub data: Value,
    /// The text.
    pub text: String,
    /// The tool failed.
    pub is_error: bool,
}

impl std::ops::Index<&str> for Answer {
    type Output = Value;

    fn index(&self, field: &str) -> &Value {
        self.data.get(field).unwrap_or(&Value::Null)
    }
}

impl Server {
    /// Starts a server and, where the era has one, shakes hands.
    #[expect(clippy::disallowed_methods, reason = "the server itself, which ends what it starts")]
    async fn start(options: ServerOptions) -> Self {
        let mark = Mark::default();
        let (name, value) = mark.variable();
        let mut command = tokio::process::Command::new(options.program);
        command.args(options.args).env(name, value).env("STILLFRAME_CACHE_DIR", options.cache);
        command.env(JOURNAL, NOWHERE).env(CONFIG, NOWHERE);
        command.envs(options.env).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = options.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().expect("the server starts");
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut stderr = child.stderr.take().expect("stderr is piped");
        let waiting = Waiting::default();
        let (notifications, _) = broadcast::channel(1024);
        let (reads, may_read) = watch::channel(true);
        let stdout = BufReader::new(stdout);
        let reader = tokio::spawn(read(stdout, may_read, Arc::clone(&waiting), notifications.clone()));
        let log = tokio::spawn(async move {
            let mut text = String::new();
            // Invalid UTF-8 ends the log; no test reads further.
            let _ = stderr.read_to_string(&mut text).await;
            text
        });
        let stdin = AsyncMutex::new(child.stdin.take());
        let next = Mutex::new(0);
        let (era, capabilities) = (options.era, options.capabilities);
        let server =
            Self { child, stdin, waiting, notifications, next, era, capabilities, reader, reads, log, mark };
        if options.era == ProtocolEra::Handshake {
            server.handshake().await;
        }
        server
    }

    async fn handshake(&self) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": self.capabilities,
            "clientInfo": { "name": "tests", "version": "1" },
        });
        let answer = self.request("initialize", params).await.expect("initialize succeeds");
        assert_eq!(answer.get("protocolVersion"), Some(&json!("2025-11-25")));
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the server runs")
    }

    /// What is in the environment of everything that it starts.
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Kills a process that it started, like an outsider.
    pub fn kill_started(&self, pid: u32) {
        self.mark.kill(pid);
    }

    /// Stops a process that it started, which then does not respond.
    pub fn hold_started(&self, pid: u32) {
        self.mark.signal(pid, Signal::STOP);
    }

    /// Waits for a request of the server, and answers it. Gives the request's parameters. `requests` are what
    /// [`Server::notifications`] gave before the server could ask.
    pub async fn answer_request(
        &self,
        requests: &mut broadcast::Receiver<Value>,
        method: &str,
        result: Value,
    ) -> Value {
        let asking = async {
            loop {
                let message = requests.recv().await.expect("the server runs and the test keeps up");
                if message.get("method") == Some(&json!(method)) {
                    return message;
                }
            }
        };
        let mut request = timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("no {method}"));
        let id = request.get("id").expect("a request has an id").clone();
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
        request.get_mut("params").map(Value::take).unwrap_or_default()
    }

    /// What it sends without having been asked, from now on.
    pub fn notifications(&self) -> broadcast::Receiver<Value> {
        self.notifications.subscribe()
    }

    /// Sends a message as a line.
    pub async fn send(&self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes()).await;
    }

    /// Sends bytes as they are. A server that is gone is noticed by what it does not answer.
    pub async fn send_raw(&self, bytes: &[u8]) {
        if let Some(stdin) = self.stdin.lock().await.as_mut() {
            let _ = stdin.write_all(bytes).await;
            let _ = stdin.flush().await;
        }
    }

    /// The same in pieces of so many bytes, with nothing of other senders between them.
    pub async fn send_in_pieces(&self, bytes: &[u8], size: usize) {
        if let Some(stdin) = self.stdin.lock().await.as_mut() {
            for piece in bytes.chunks(size) {
                let _ = stdin.write_all(piece).await;
                let _ = stdin.flush().await;
                // sleep: to be slow is what this is for.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// Sends a request, and returns its number and what will be its response.
    pub async fn begin(&self, method: &str, mut params: Value) -> (u64, oneshot::Receiver<Value>) {
        let id = {
            let mut next = self.next.lock().expect("no test panics in here");
            *next += 1;
            *next
        };
        if self.era == ProtocolEra::Stateless {
            add_request_metadata(&mut params, &self.capabilities);
        }
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().expect("no test panics in here").insert(id, sender);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        (id, receiver)
    }

    /// Sends a request and waits for its response.
    pub async fn request(&self, method: &str, params: Value) -> Reply {
        // A tool may itself wait for longer than that.
        let asked = params.pointer("/arguments/timeout").and_then(Value::as_u64).unwrap_or(0);
        let patience = PATIENCE + Duration::from_millis(asked);
        let (_, response) = self.begin(method, params).await;
        Self::reply_within(patience, method, response).await
    }

    /// Waits for the response to a request.
    pub async fn reply(what: &str, response: oneshot::Receiver<Value>) -> Reply {
        Self::reply_within(PATIENCE, what, response).await
    }

    async fn reply_within(patience: Duration, what: &str, response: oneshot::Receiver<Value>) -> Reply {
        let response = timeout(patience, response).await;
        let response = response.unwrap_or_else(|_| panic!("{what}: no response within {patience:?}"));
        reply_in(response.unwrap_or_else(|_| panic!("{what}: the server is gone")))
    }

    /// Calls a tool. The text and the structured content must say the same.
    pub async fn call(&self, tool: &str, arguments: Value) -> Answer {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.request("tools/call", params).await;
        let result = result.unwrap_or_else(|error| panic!("{tool}: {error}"));
        Answer::of(tool, &result)
    }

    /// Calls a tool that is to succeed.
    pub async fn ok(&self, tool: &str, arguments: Value) -> Answer {
        self.call(tool, arguments.clone()).await.succeeded(tool, &arguments)
    }

    /// Calls a tool that is to fail with a code.
    pub async fn fails(&self, code: &str, tool: &str, arguments: Value) -> Answer {
        self.call(tool, arguments.clone()).await.failed(code, tool, &arguments)
    }

    /// Closes its input, and fails unless it and everything that it started are gone within two seconds.
    /// Gives every line that it wrote, and its log.
    pub async fn finish(self) -> (Vec<String>, String) {
        self.finish_by(Shutdown::EndOfInput).await
    }

    /// The same for another way to tell it to end.
    pub async fn finish_by(mut self, goodbye: Shutdown) -> (Vec<String>, String) {
        match goodbye {
            Shutdown::EndOfInput => self.close_input().await,
            Shutdown::Terminate => self.signal(Signal::TERM),
            Shutdown::Interrupt => self.signal(Signal::INT),
        }
        let began = Instant::now();
        let status = timeout(GOODBYE, self.child.wait()).await;
        let status = status.unwrap_or_else(|_| panic!("the server did not end within {GOODBYE:?}"));
        let status = status.expect("the server can be waited for");
        assert!(status.success(), "the server ended with {status}");
        self.mark.assert_gone_within(GOODBYE.saturating_sub(began.elapsed()).max(Duration::from_millis(1)));
        let lines = self.reader.await.expect("the reader ends");
        (lines, self.log.await.expect("the log ends"))
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).expect("a process number");
        kill_process(pid, signal).expect("a signal reaches the server");
    }

    /// Stops reading its output, so that it eventually blocks on writing.
    pub fn stop_reading(&self) {
        self.reads.send_replace(false);
    }

    /// Takes what it writes again.
    pub fn read_again(&self) {
        self.reads.send_replace(true);
    }

    /// Closes its input.
    pub async fn close_input(&self) {
        drop(self.stdin.lock().await.take());
    }

    /// Closes its output.
    pub async fn close_output(&mut self) {
        self.reader.abort();
        // The pipe is closed once the task is gone.
        let _ = (&mut self.reader).await;
    }

    /// Kills the server so that it can do nothing more, and fails unless everything that it started goes too.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("the server can be killed");
        self.mark.assert_gone_within(GOODBYE);
    }

    /// Kills the server, and leaves its programs alone.
    pub async fn kill_alone(mut self) {
        self.child.kill().await.expect("the server can be killed");
    }

    /// Waits for the server to end by itself.
    pub async fn ended(&mut self) -> std::process::ExitStatus {
        let status = timeout(PATIENCE, self.child.wait()).await;
        status.expect("the server ends").expect("the server can be waited for")
    }
}

/// What a response says.
pub(crate) fn reply_in(mut response: Value) -> Reply {
    match response.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(response.get_mut("error").map(Value::take).unwrap_or_default()),
    }
}

/// Gives parameters what every request of revision 2026-07-28 says.
pub(crate) fn add_request_metadata(params: &mut Value, capabilities: &Value) {
    let Some(params) = params.as_object_mut() else { return };
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    let meta = meta.as_object_mut().expect("_meta is an object");
    meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), json!("2026-07-28"));
    meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), capabilities.clone());
    meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), json!({ "name": "tests", "version": "1" }));
}

/// A failure without a `message` has only its `error`.
fn with_message(mut data: Value) -> Value {
    if let Some(object) = data.as_object_mut()
        && object.contains_key("code")
        && let Some(error) = object.get("error").filter(|error| error.is_string()).cloned()
    {
        object.entry("message").or_insert(error);
    }
    data
}

impl Answer {
    /// The answer in the result of `tools/call`.
    pub fn of(tool: &str, result: &Value) -> Self {
        let text = result.pointer("/content/0/text").and_then(Value::as_str);
        let text = text.unwrap_or_else(|| panic!("{tool}: no text in {result}")).to_owned();
        let data = result.get("structuredContent").cloned().unwrap_or_default();
        if !data.is_null() {
            let same: Value = serde_json::from_str(&text).expect("the text is JSON");
            assert_eq!(same, data, "{tool}: the text and the structured content differ");
        }
        let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
        let data = if is_error { with_message(data) } else { data };
        Self { data, text, is_error }
    }

    /// The same for a call that is to succeed.
    pub(crate) fn succeeded(self, tool: &str, arguments: &Value) -> Self {
        assert!(!self.is_error, "{tool} {arguments}: {}", self.text);
        assert_eq!(self["success"], true, "{tool}: {}", self.text);
        self
    }

    /// The same for a call that is to fail with a code.
    pub(crate) fn failed(self, code: &str, tool: &str, arguments: &Value) -> Self {
        assert!(self.is_error, "{tool} {arguments} succeeded: {}", self.text);
        assert_eq!(self["code"], code, "{tool} {arguments}: {}", self.text);
        assert_eq!(self["success"], false, "{tool}: {}", self.text);
        self
    }

    /// A field that is a string; empty when it is not there.
    pub fn text_of(&self, field: &str) -> &str {
        self[field].as_str().unwrap_or_default()
    }

    /// A value deep inside, by JSON pointer.
    pub fn at(&self, pointer: &str) -> &Value {
        self.data.pointer(pointer).unwrap_or(&Value::Null)
    }

    /// The value of a variable among `locals` or `variables`, as text.
    pub fn variable(&self, name: &str) -> &str {
        let lists = ["locals", "variables"].into_iter().filter_map(|field| self[field].as_array());
        let named = lists.flatten().find(|variable| variable.get("name").is_some_and(|own| own == name));
        let value = named.and_then(|variable| variable.get("value")).and_then(Value::as_str);
        value.unwrap_or_else(|| panic!("no variable {name} in {}", self.text))
    }
}

/// Hands responses to those who wait for them. Every line must be a message, because standard output is the
/// protocol's alone.
async fn read(
    mut stdout: impl tokio::io::AsyncBufRead + Unpin,
    mut may_read: watch::Receiver<bool>,
    waiting: Waiting,
    notifications: broadcast::Sender<Value>,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    while may_read.wait_for(|may| *may).await.is_ok() && stdout.read_line(&mut line).await.unwrap_or(0) > 0 {
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("not a message: {line:?}: {error}"));
        assert_eq!(message.get("jsonrpc"), Some(&json!("2.0")), "not a message: {line:?}");
        lines.push(std::mem::take(&mut line));
        // A request of the server has a number of its own.
        let id = message.get("id").and_then(Value::as_u64).filter(|_| message.get("method").is_none());
        let waiter = id.and_then(|id| waiting.lock().expect("no test panics in here").remove(&id));
        match waiter {
            // The receiver is gone.
            Some(waiter) => drop(waiter.send(message)),
            None => drop(notifications.send(message)),
        }
    }
    // The waiting callers learn that nothing will arrive.
    waiting.lock().expect("no test panics in here").clear();
    lines
}
