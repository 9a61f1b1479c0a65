//! The adapter's loop: requests of our client, and what the program says.

use ::dap::server::{MessageWriter, RequestReader};
use ::dap::{Capabilities, ExceptionBreakpointsFilter, IncomingRequest};
use ::dbgp::{Command, Incoming, Message};
use serde_json::{Value, json};
use tokio::io::{DuplexStream, ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;

use super::agent::{Failure, Native};
use super::breakpoints::Table;
use super::exceptions::Throws;
use super::motion::Motion;
use super::steps::{Begun, Step};
use crate::adapter::Adapter;
use crate::deadlines;

/// The longest request, in bytes.
const MAX_REQUEST: usize = 64 * 1024 * 1024;

/// What the protocol lets us choose. A feature that an older version does not know is left out.
const FEATURES: [(&str, &str); 6] = [
    ("resolved_breakpoints", "1"),
    ("notify_ok", "1"),
    ("breakpoint_details", "1"),
    ("extended_properties", "1"),
    // No limit.
    ("max_data", "0"),
    ("max_depth", "1"),
];

/// The only thread of a connection.
pub(super) const THREAD: i64 = 1;

/// An adapter between a client and a program.
pub(super) struct Server {
    pub(super) client: ::dbgp::Client,
    pub(super) incoming: Incoming,
    out: MessageWriter<WriteHalf<DuplexStream>>,
    pub(super) adapter: &'static dyn Adapter,
    /// The secret with which the program shows that it is ours.
    token: String,
    pub(super) pid: u32,
    /// It can be paused, and an expression interrupted.
    pub(super) pauses: bool,
    /// The program may have asked for a stop, at our signal, and been stopped by something else first. Xdebug 3 keeps
    /// what was requested, and stops again at the next statement.
    pub(super) has_break_left: bool,
    /// The request that the program serves, such as `GET /`.
    request: Option<String>,
    pub(super) file: String,
    pub(super) stops_on_entry: bool,
    pub(super) motion: Motion,
    /// The steps of Xdebug's that have not ended.
    pub(super) begun: Begun,
    /// Which stop it is. Numbers of frames contain it.
    pub(super) stop: i64,
    /// Which frames of a stop are of functions of PHP's own.
    pub(super) natives: (i64, Vec<Native>),
    pub(super) breakpoints: Table,
    pub(super) throws: Throws,
}

/// Serves a client until one of the two connections closes.
pub(super) async fn serve(stream: TcpStream, pipe: DuplexStream, adapter: &'static dyn Adapter) {
    let Ok(stream) = ::dap::transport::QuickAck::new(stream) else { return };
    let (reader, writer) = split(stream);
    let (client, mut incoming) = ::dbgp::connect(reader, writer);
    let Ok(Some(Message::Element(init))) = tokio::time::timeout(deadlines::REQUEST, incoming.recv()).await
    else {
        return;
    };
    let (requests, out) = split(pipe);
    let mut server = Server {
        client,
        incoming,
        out: MessageWriter::new(out),
        adapter,
        token: init.attribute("idekey").unwrap_or_default().to_owned(),
        pid: init.number("appid").unwrap_or_default(),
        pauses: false,
        has_break_left: false,
        request: None,
        file: init.attribute("fileuri").map(super::breakpoints::path_of).unwrap_or_default(),
        stops_on_entry: false,
        motion: Motion::Starting,
        begun: Begun::default(),
        stop: 1,
        natives: (0, Vec::new()),
        breakpoints: Table::default(),
        throws: Throws::default(),
    };
    // The client sees the end of the connection.
    if let Err(Failure::Refused(message)) = server.run(requests).await {
        tracing::warn!(message, "the translation of DBGp ended");
    }
}

/// Answers for a program that has not connected yet: it has no frames, and its breakpoints wait for a request.
pub(super) async fn wait(pipe: DuplexStream, token: String, pid: u32) {
    let (requests, out) = split(pipe);
    let mut reader = RequestReader::new(requests, MAX_REQUEST);
    let mut out = MessageWriter::new(out);
    while let Ok(Some(request)) = reader.next().await {
        let answer = match request.command.as_str() {
            "initialize" => Ok(capabilities()),
            "identify" => Ok(json!({ "token": token })),
            "threads" => Ok(json!({ "threads": [{ "id": THREAD, "name": "waits for requests" }] })),
            "setBreakpoints" | "setFunctionBreakpoints" => Ok(unbound(&request)),
            "pause" | "stackTrace" => Err("the program waits for requests: send it one".to_owned()),
            _ => Ok(json!({})),
        };
        let is_last = request.command == "disconnect";
        if out.respond(&request, answer).await.is_err() || is_last {
            return;
        }
        if request.command == "launch" {
            // The client sees the end of the connection.
            let _ = out.event("process", json!({ "name": "php", "systemProcessId": pid })).await;
        }
    }
}

fn unbound(request: &IncomingRequest) -> Value {
    let wanted = request.arguments.get("breakpoints").and_then(Value::as_array).map_or(0, Vec::len);
    let one = json!({ "verified": false, "message": "the program is not handling a request" });
    json!({ "breakpoints": vec![one; wanted] })
}

fn capabilities() -> Value {
    let filter = |name: &str| ExceptionBreakpointsFilter {
        filter: name.to_owned(),
        label: name.to_owned(),
        default: false,
    };
    let capabilities = Capabilities {
        supports_configuration_done_request: true,
        supports_conditional_breakpoints: true,
        supports_function_breakpoints: true,
        supports_set_variable: true,
        supports_exception_info_request: true,
        supports_delayed_stack_trace_loading: true,
        supports_evaluate_for_hovers: true,
        support_terminate_debuggee: true,
        exception_breakpoint_filters: ["all", "user", "uncaught"].map(filter).into(),
        ..Capabilities::default()
    };
    serde_json::to_value(capabilities).unwrap_or_default()
}

impl Server {
    async fn run(&mut self, requests: ReadHalf<DuplexStream>) -> Result<(), Failure> {
        for (name, value) in FEATURES {
            let set = Command::new("feature_set").with('n', name).with('v', value);
            match self.command(set).await {
                Err(Failure::Lost) => return Err(Failure::Lost),
                Ok(_) | Err(Failure::Refused(_)) => {}
            }
        }
        let known = self.load_agent().await?;
        self.pauses = known.get("pauses") == Some(&Value::Bool(true));
        self.request = known.get("request").and_then(Value::as_str).map(str::to_owned);
        let mut reader = RequestReader::new(requests, MAX_REQUEST);
        loop {
            tokio::select! {
                message = self.incoming.recv() => match message {
                    Some(message) => self.received(message).await?,
                    None => return Ok(()),
                },
                request = reader.next() => match request {
                    Ok(Some(request)) => {
                        let is_last = request.command == "disconnect";
                        let answer = self.answer(&request).await;
                        if answer == Err(Failure::Lost) {
                            return Err(Failure::Lost);
                        }
                        let answer = answer.map_err(|failure| match failure {
                            Failure::Refused(message) => message,
                            Failure::Lost => String::new(),
                        });
                        self.out.respond(&request, answer).await.map_err(|_| Failure::Lost)?;
                        if is_last {
                            return Ok(());
                        }
                        self.after(&request).await?;
                    }
                    Ok(None) | Err(_) => return Ok(()),
                },
            }
        }
    }

    /// What comes by itself.
    pub(super) async fn received(&mut self, message: Message) -> Result<(), Failure> {
        match message {
            Message::Stopped(element) => self.stopped(&element).await,
            Message::Element(element) if element.attribute("name") == Some("breakpoint_resolved") => {
                self.resolved(&element).await
            }
            Message::Element(_) => Ok(()),
        }
    }

    /// It serves a request, as opposed to a program of the command line.
    pub(super) fn serves_request(&self) -> bool {
        self.request.is_some()
    }

    pub(super) async fn event(&mut self, name: &str, body: Value) -> Result<(), Failure> {
        self.out.event(name, body).await.map_err(|_| Failure::Lost)
    }

    async fn answer(&mut self, request: &IncomingRequest) -> Result<Value, Failure> {
        match request.command.as_str() {
            "initialize" => Ok(capabilities()),
            "identify" => Ok(json!({ "token": self.token })),
            "launch" | "attach" => {
                self.stops_on_entry = request.arguments.get("stopOnEntry") == Some(&Value::Bool(true));
                Ok(json!({}))
            }
            "configurationDone" | "continue" | "next" | "stepIn" | "stepOut" => Ok(json!({})),
            "setBreakpoints" => self.set_in_source(&read::<::dap::SetBreakpoints>(request)?).await,
            "setFunctionBreakpoints" => {
                self.set_on_functions(&read::<::dap::SetFunctionBreakpoints>(request)?).await
            }
            "setExceptionBreakpoints" => {
                let mode = read::<::dap::SetExceptionBreakpoints>(request)?.filters.first().cloned();
                self.set_exceptions(mode).await
            }
            "threads" => {
                let name = self.request.clone().unwrap_or_else(|| "main".to_owned());
                Ok(json!({ "threads": [{ "id": THREAD, "name": name }] }))
            }
            "pause" => self.pause().map(|()| json!({})),
            "stackTrace" => self.stack_trace(&read::<::dap::StackTrace>(request)?).await,
            "scopes" => self.scopes(read::<::dap::Scopes>(request)?.frame_id),
            "variables" => self.variables(&read::<::dap::Variables>(request)?).await,
            "evaluate" => self.evaluate(&read::<::dap::Evaluate>(request)?).await,
            "setVariable" => self.set_variable(&read::<::dap::SetVariable>(request)?).await,
            "exceptionInfo" => self.exception_info(),
            "thrown" => self.describe_thrown(&read::<::dap::Thrown>(request)?).await,
            "disconnect" => {
                if request.arguments.get("terminateDebuggee") != Some(&Value::Bool(true)) {
                    self.let_go().await?;
                }
                Ok(json!({}))
            }
            other => Err(Failure::Refused(format!("unknown request `{other}`"))),
        }
    }

    /// What a request begins, once it is answered.
    async fn after(&mut self, request: &IncomingRequest) -> Result<(), Failure> {
        match request.command.as_str() {
            "launch" | "attach" => {
                let body = json!({ "name": self.file, "systemProcessId": self.pid });
                self.event("process", body).await
            }
            "configurationDone" => self.begin().await,
            "continue" => self.go(None).await,
            "next" => self.go(Some(Step::Over)).await,
            "stepIn" => self.go(Some(Step::Into)).await,
            "stepOut" => self.go(Some(Step::Out)).await,
            _ => Ok(()),
        }
    }
}

fn read<R: ::dap::Request<Arguments: serde::de::DeserializeOwned>>(
    request: &IncomingRequest,
) -> Result<R::Arguments, Failure> {
    request.read::<R>().map_err(Failure::Refused)
}
