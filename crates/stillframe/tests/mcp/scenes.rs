//! What many tests begin with, and how they wait for what comes unasked.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Client, Fixture, Mark, Server};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::broadcast::Receiver;
use tokio::time::timeout;

use crate::STILLFRAME;

/// Longer than anything takes that is to come at all.
const PATIENCE: Duration = Duration::from_mins(1);

/// The next unasked message that is wanted.
pub(crate) async fn next(messages: &mut Receiver<Value>, wanted: impl Fn(&Value) -> bool) -> Value {
    let searching = async {
        loop {
            let message = messages.recv().await.expect("the server runs and the test keeps up");
            if wanted(&message) {
                return message;
            }
        }
    };
    timeout(PATIENCE, searching).await.expect("the message comes")
}

/// What came unasked up to now.
pub(crate) fn arrived(messages: &mut Receiver<Value>) -> Vec<Value> {
    std::iter::from_fn(|| messages.try_recv().ok()).collect()
}

/// Sends a request as it stands, and returns its response. The id must be none of the harness's: a string.
pub(crate) async fn raw(server: &Server, request: &Value) -> Value {
    let mut messages = server.notifications();
    server.send(request).await;
    next(&mut messages, |message| message.get("id") == request.get("id")).await
}

/// The code of an error response.
pub(crate) async fn error_code(server: &Server, method: &str, params: Value) -> i64 {
    let error = server.request(method, params.clone()).await;
    let error = error.expect_err(&format!("{method} {params} fails"));
    error.get("code").and_then(Value::as_i64).expect("errors have a code")
}

pub(crate) fn is_progress(message: &Value) -> bool {
    message.get("method").is_some_and(|method| method == "notifications/progress")
}

pub(crate) fn is_update(message: &Value) -> bool {
    message.get("method").is_some_and(|method| method == "notifications/resources/updated")
}

/// What `_meta` of a request of revision 2026-07-28 says.
pub(crate) fn stateless_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
    })
}

/// A new session.
pub(crate) async fn session(server: &impl Client) -> String {
    let created = server.ok("create_debug_session", json!({ "language": "python" })).await;
    created.text_of("sessionId").to_owned()
}

/// A session whose program is paused at a line.
pub(crate) async fn paused_at(server: &impl Client, program: &Fixture, mark: &str) -> String {
    let session = session(server).await;
    let line = program.line(mark);
    server.ok("set_breakpoint", json!({ "sessionId": session, "file": program.path(), "line": line })).await;
    let start = json!({ "sessionId": session, "scriptPath": program.path(), "timeout": 60_000 });
    let stopped = server.ok("start_debugging", start).await;
    assert_eq!((&stopped["state"], stopped.at("/location/line")), (&json!("paused"), &json!(line)));
    session
}

/// A session whose program runs and has printed `ready`.
pub(crate) async fn running(server: &Server, program: &Fixture) -> String {
    let session = session(server).await;
    let start = json!({ "sessionId": session, "scriptPath": program.path(), "timeout": 0 });
    let started = server.ok("start_debugging", start).await;
    assert_eq!(started["state"], "running");
    printed(server, &session, "ready").await;
    session
}

/// The address of a session's output.
pub(crate) fn output_of(session: &str) -> String {
    format!("debug://sessions/{session}/output")
}

/// A session's output.
pub(crate) async fn read_output(server: &Server, session: &str) -> String {
    let read = server.request("resources/read", json!({ "uri": output_of(session) })).await;
    let read = read.expect("the output can be read");
    let text = read.pointer("/contents/0/text").and_then(Value::as_str);
    text.expect("the output is text").to_owned()
}

/// Waits until a program has printed something, in either era.
pub(crate) async fn printed(server: &Server, session: &str, text: &str) {
    let mut messages = server.notifications();
    let uri = output_of(session);
    let subscribed = server.request("resources/subscribe", json!({ "uri": uri })).await.is_ok();
    let mut listening = None;
    if !subscribed {
        let wanted = json!({ "notifications": { "resourceSubscriptions": [uri] } });
        listening = Some(server.begin("subscriptions/listen", wanted).await);
    }
    while !read_output(server, session).await.contains(text) {
        next(&mut messages, |message| {
            is_update(message) && message.pointer("/params/uri") == Some(&json!(uri))
        })
        .await;
    }
    if subscribed {
        server.request("resources/unsubscribe", json!({ "uri": uri })).await.expect("unsubscribing succeeds");
    }
    if let Some((id, _)) = listening {
        let cancelled = json!({ "requestId": id });
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled });
        server.send(&message).await;
    }
}

/// A program that no server has started, with a debugger's port open.
pub(crate) struct Listening {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    mark: Mark,
    /// Where it listens.
    pub(crate) port: u16,
}

impl Listening {
    /// Starts it with the debugpy that servers use, because no Python has one of its own.
    #[expect(clippy::disallowed_methods, reason = "a program of the test, which ends it")]
    pub(crate) async fn start() -> Self {
        let debugpy = STILLFRAME.debugpy().await;
        let mark = Mark::default();
        let (name, value) = mark.variable();
        let program = Fixture::python("listens");
        let mut command = tokio::process::Command::new("python3");
        command.arg("-Xfrozen_modules=off").arg(program.path()).env("PYTHONPATH", debugpy).env(name, value);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().expect("python3 runs");
        let stdin = child.stdin.take().expect("stdin is piped");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let port = timeout(PATIENCE, lines.next_line()).await.expect("a port comes");
        let port = port.expect("stdout can be read").expect("a port is printed");
        let port = port.parse().expect("the port is a number");
        Self { child, stdin, lines, mark, port }
    }

    /// Says something to it.
    pub(crate) async fn say(&mut self, word: &str) {
        self.stdin.write_all(format!("{word}\n").as_bytes()).await.expect("the program reads");
    }

    /// Fails unless it answers correctly.
    pub(crate) async fn answers(&mut self, word: &str) {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("the program answers");
        let line = line.expect("stdout can be read").expect("the program runs");
        assert_eq!(line, format!("still here: {word}"));
    }

    /// Lets it come to its end, and fails unless that is a good one.
    pub(crate) async fn end(mut self) {
        drop(self.stdin);
        let status = timeout(PATIENCE, self.child.wait()).await.expect("the program ends");
        assert!(status.expect("the program can be waited for").success());
        self.mark.assert_gone_within(Duration::from_secs(10));
    }
}
