//! The adapter's side of a connection, driven by hand.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, duplex, split,
};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use super::super::{Child, DapDebugger, Dialect, Options};
use crate::adapter::Adapter;
use crate::adapter::lldb::C;
use crate::adapter::plan::{DapSetup, Quirks, StartRequest};
use crate::deadlines;
use crate::debugger::{Debugger, Event, Progress, Sinks};
use crate::model::launch::Stdin;
use crate::output::Output;

pub(in crate::debugger) struct Peer {
    reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl From<TcpStream> for Peer {
    fn from(stream: TcpStream) -> Self {
        let (reader, writer) = split(stream);
        Self { reader: BufReader::new(Box::new(reader)), writer: Box::new(writer) }
    }
}

impl Peer {
    /// The next message, which comes soon; none when the client has hung up.
    pub(in crate::debugger) async fn next(&mut self) -> Option<Json> {
        let message = tokio::time::timeout(Duration::from_mins(1), self.read()).await;
        message.expect("the client sends something")
    }

    async fn read(&mut self) -> Option<Json> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).await.unwrap() == 0 {
                return None;
            }
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).await.unwrap();
        Some(serde_json::from_slice(&body).unwrap())
    }

    /// Expects a request.
    pub(in crate::debugger) async fn take(&mut self, command: &str) -> Json {
        let request = self.next().await.unwrap_or_else(|| panic!("the client is gone before `{command}`"));
        assert_eq!(
            (&request["type"], &request["command"]),
            (&json!("request"), &json!(command)),
            "{request}"
        );
        request
    }

    pub(in crate::debugger) async fn send(&mut self, message: &Json) {
        let body = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.writer.write_all(framed.as_bytes()).await.unwrap();
        self.writer.flush().await.unwrap();
    }

    pub(in crate::debugger) async fn event(&mut self, name: &str, body: Json) {
        self.send(&json!({ "type": "event", "seq": 0, "event": name, "body": body })).await;
    }

    /// Answers with these fields on top of a success.
    pub(in crate::debugger) async fn respond(&mut self, request: &Json, fields: Json) {
        let mut response = json!({
            "type": "response", "seq": 0, "request_seq": request["seq"], "command": request["command"],
            "success": true,
        });
        response.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.send(&response).await;
    }

    pub(in crate::debugger) async fn answer(&mut self, request: &Json, body: Json) {
        self.respond(request, json!({ "body": body })).await;
    }

    pub(in crate::debugger) async fn refuse(&mut self, request: &Json, message: &str) {
        self.respond(request, json!({ "success": false, "message": message })).await;
    }

    /// Expects a request, answers it, and returns what it carried.
    pub(in crate::debugger) async fn serve(&mut self, command: &str, body: Json) -> Json {
        let request = self.take(command).await;
        self.answer(&request, body).await;
        request["arguments"].clone()
    }

    /// Asks the client for something, and returns its response.
    pub(in crate::debugger) async fn ask(&mut self, command: &str, arguments: Json) -> Json {
        self.send(&json!({ "type": "request", "seq": 77, "command": command, "arguments": arguments })).await;
        let response = self.next().await.unwrap();
        assert_eq!((&response["type"], &response["request_seq"]), (&json!("response"), &json!(77)));
        response
    }

    pub(in crate::debugger) async fn stopped(&mut self, reason: &str, numbers: &[i64]) {
        self.event("stopped", json!({ "reason": reason, "threadId": 1, "hitBreakpointIds": numbers })).await;
    }

    /// Answers for the stack of a thread of `depth` frames, whose innermost is at this line of `/w/main.c`.
    pub(in crate::debugger) async fn serve_stack(&mut self, depth: u64, line: u64) {
        let frame =
            json!({ "id": 1000, "name": "f", "line": line, "column": 1, "source": { "path": "/w/main.c" } });
        let arguments =
            self.serve("stackTrace", json!({ "stackFrames": [frame], "totalFrames": depth })).await;
        assert_eq!(arguments["threadId"], 1);
    }
}

/// How a connection is made.
pub(in crate::debugger) struct PeerOptions {
    pub(in crate::debugger) adapter: &'static dyn Adapter,
    pub(in crate::debugger) request: StartRequest,
    pub(in crate::debugger) quirks: &'static Quirks,
    pub(in crate::debugger) capabilities: Json,
    pub(in crate::debugger) is_by_adapter: bool,
    pub(in crate::debugger) stdin: Stdin,
    pub(in crate::debugger) env: BTreeMap<String, Option<String>>,
    pub(in crate::debugger) stops_on_entry: bool,
}

impl Default for PeerOptions {
    fn default() -> Self {
        Self {
            adapter: &C,
            request: StartRequest::Launch,
            quirks: &Quirks::NONE,
            capabilities: json!({}),
            is_by_adapter: false,
            stdin: Stdin::Empty,
            env: BTreeMap::new(),
            stops_on_entry: false,
        }
    }
}

/// A debugger, and the adapter at its other end.
pub(in crate::debugger) struct Scene<D = DapDebugger> {
    pub(in crate::debugger) debugger: D,
    pub(in crate::debugger) events: mpsc::Receiver<Event>,
    pub(in crate::debugger) output: Output,
    pub(in crate::debugger) peer: Peer,
    /// What the adapter would have debugged as well.
    _children: mpsc::Receiver<Child>,
}

pub(in crate::debugger) fn sinks(output: &Output) -> Sinks {
    Sinks {
        output: output.clone(),
        progress: Progress::new(),
        session: "test".to_owned(),
        policy: std::sync::Arc::default(),
    }
}

impl<D: Dialect> Scene<D> {
    /// Before the first request, in a dialect.
    pub(in crate::debugger) fn of(given: &PeerOptions) -> Self {
        let (ours, theirs) = duplex(1 << 20);
        let output = Output::new();
        let arguments = json!({ "program": "main", "stopOnEntry": true });
        let arguments = arguments.as_object().unwrap().clone();
        let setup = DapSetup {
            stdin: given.stdin.clone(),
            env: given.env.clone(),
            stops_on_entry: given.stops_on_entry,
            ..DapSetup::new("any", given.request, arguments, given.quirks)
        };
        let (announced, children) = mpsc::channel(1);
        let options = Options {
            adapter: given.adapter,
            setup,
            sinks: sinks(&output),
            is_program: true,
            begins_by: given.request,
            children: given.is_by_adapter.then_some(announced),
            adapter_process: None,
            initialize_within: deadlines::REQUEST,
        };
        let (debugger, incoming) = DapDebugger::connect(split(ours), options);
        let (debugger, events) = D::on(debugger, incoming);
        let (reader, writer) = split(theirs);
        let peer = Peer { reader: BufReader::new(Box::new(reader)), writer: Box::new(writer) };
        Self { debugger, events, output, peer, _children: children }
    }

    /// The next event, which comes soon.
    pub(in crate::debugger) async fn event(&mut self) -> Event {
        let event = tokio::time::timeout(Duration::from_secs(20), self.events.recv()).await;
        event.expect("an event comes").expect("the connection is open")
    }
}

impl Scene {
    /// Before the first request.
    pub(in crate::debugger) fn new(given: &PeerOptions) -> Self {
        Self::of(given)
    }

    /// With the program running.
    pub(in crate::debugger) async fn running(given: PeerOptions) -> Self {
        let mut scene = Self::new(&given);
        let Self { debugger, peer, .. } = &mut scene;
        let started = async {
            debugger.prepare().await?;
            debugger.run().await
        };
        let served = async {
            peer.serve("initialize", given.capabilities.clone()).await;
            let begin = if given.request == StartRequest::Launch { "launch" } else { "attach" };
            peer.serve(begin, json!({})).await;
            peer.event("initialized", json!({})).await;
            if given.capabilities["supportsConfigurationDoneRequest"] == true {
                peer.serve("configurationDone", json!({})).await;
            }
        };
        let (started, ()) = tokio::join!(started, served);
        started.unwrap();
        scene
    }

    /// With the program running, of an adapter that can do this.
    pub(in crate::debugger) async fn offering(capabilities: Json) -> Self {
        Self::running(PeerOptions { capabilities, ..PeerOptions::default() }).await
    }

    /// The adapter is asked for nothing: the next request that it sees is one that is sent here.
    pub(in crate::debugger) async fn assert_quiet(&mut self) {
        let (threads, _) =
            tokio::join!(self.debugger.threads(), self.peer.serve("threads", json!({ "threads": [] })));
        assert_eq!(threads.unwrap(), []);
    }
}
