//! The least that a client of the Debug Adapter Protocol can do: one socket, one request at a time, no tasks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};

use super::client::Client;
use super::program::Program;

/// Nothing that is measured takes as long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A debugger that speaks the protocol, and the connection to it.
pub(super) struct Bare {
    /// The program, or its debugger.
    _program: Program,
    file: PathBuf,
    input: Box<dyn Write>,
    output: BufReader<Box<dyn Read>>,
    /// The connection, if it is one.
    socket: Option<TcpStream>,
    sequence: u64,
    thread: Value,
    /// The innermost frame, once it was requested at this stop.
    frame: Option<Value>,
}

/// A program whose debugger is killed may run on.
impl Drop for Bare {
    fn drop(&mut self) {
        // Either may have ended by itself.
        let _ = self.request("disconnect", &json!({ "terminateDebuggee": true }));
    }
}

impl Bare {
    /// Starts a program under debugpy, without debugpy's adapter process, and runs it to a line.
    pub(super) fn python(python: &Path, debugpy: &Path, program: &Path, line: u32) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let command = &mut super::child(python);
        command.args(["-X", "frozen_modules=off"]).arg(debugpy.join("debugpy"));
        command.args(["--connect", &address]).arg(program);
        let child = Program::start(command, Stdio::null())?;
        let (socket, _) = listener.accept()?;
        let mut bare = Self::connected(child, socket, program)?;
        bare.request("initialize", &json!({ "adapterID": "debugpy", "pathFormat": "path" }))?;
        // Without the adapter process there is no `initialized` event: breakpoints can follow at once.
        bare.request("attach", &json!({ "justMyCode": true, "showReturnValue": true, "subProcess": true }))?;
        bare.configured(line)?;
        Ok(bare)
    }

    /// Has LLDB's adapter, which speaks on its standard streams, run a binary to a line of its source.
    pub(super) fn lldb(adapter: &Path, binary: &Path, source: &Path, line: u32) -> anyhow::Result<Self> {
        let (program, input, output) = Program::piped(&mut super::child(adapter))?;
        let mut bare = Self {
            _program: program,
            file: source.to_owned(),
            input: Box::new(input),
            output: BufReader::new(Box::new(output)),
            socket: None,
            sequence: 0,
            thread: Value::Null,
            frame: None,
        };
        bare.launched("lldb-dap", &json!({ "program": binary }), line)?;
        Ok(bare)
    }

    /// Has Delve run a binary to a line of its source.
    pub(super) fn delve(delve: &Path, binary: &Path, source: &Path, line: u32) -> anyhow::Result<Self> {
        let command = &mut super::child(delve);
        let (program, _, output) = Program::piped(command.args(["dap", "--listen=127.0.0.1:0"]))?;
        let mut announced = String::new();
        BufReader::new(output).read_line(&mut announced)?;
        let address = announced.rsplit(' ').next().context("Delve says where it listens")?;
        let mut bare = Self::connected(program, TcpStream::connect(address.trim())?, source)?;
        bare.launched("dlv", &json!({ "program": binary, "mode": "exec" }), line)?;
        Ok(bare)
    }

    fn connected(program: Program, socket: TcpStream, file: &Path) -> anyhow::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            _program: program,
            file: file.to_owned(),
            input: Box::new(socket.try_clone()?),
            output: BufReader::new(Box::new(socket.try_clone()?)),
            socket: Some(socket),
            sequence: 0,
            thread: Value::Null,
            frame: None,
        })
    }

    fn launched(&mut self, adapter: &str, launch: &Value, line: u32) -> anyhow::Result<()> {
        self.request("initialize", &json!({ "adapterID": adapter, "pathFormat": "path" }))?;
        // Not every adapter answers before it is configured.
        self.send("launch", launch)?;
        self.event("initialized")?;
        self.configured(line)
    }

    fn configured(&mut self, line: u32) -> anyhow::Result<()> {
        self.set_breakpoints(&[line])?;
        let sequence = self.send("configurationDone", &json!({}))?;
        // Some adapters answer after the stop.
        let is_stop = |message: &Value| message.get("event") == Some(&json!("stopped"));
        let mut stop = None;
        self.read_until(|message| {
            if is_stop(message) {
                stop = message.pointer("/body/threadId").cloned();
            }
            message.get("request_seq") == Some(&json!(sequence))
        })?;
        match stop {
            Some(thread) => self.thread = thread,
            None => self.wait_for_stop()?,
        }
        Ok(())
    }

    /// All frames.
    fn frames(&mut self) -> anyhow::Result<Value> {
        let thread = self.thread.clone();
        self.request("stackTrace", &json!({ "threadId": thread, "startFrame": 0, "levels": 40 }))
    }

    fn frame(&mut self) -> anyhow::Result<Value> {
        if let Some(frame) = &self.frame {
            return Ok(frame.clone());
        }
        let frame = self.frames()?.pointer("/stackFrames/0/id").cloned().unwrap_or_default();
        self.frame = Some(frame.clone());
        Ok(frame)
    }

    fn set_breakpoints(&mut self, lines: &[u32]) -> anyhow::Result<()> {
        let breakpoints: Vec<Value> = lines.iter().map(|line| json!({ "line": line })).collect();
        let arguments = json!({ "source": { "path": self.file }, "breakpoints": breakpoints });
        self.request("setBreakpoints", &arguments).map(drop)
    }

    fn wait_for_stop(&mut self) -> anyhow::Result<()> {
        let stop = self.event("stopped")?;
        self.frame = None;
        self.thread = stop.get("threadId").cloned().unwrap_or_default();
        Ok(())
    }

    fn request(&mut self, command: &str, arguments: &Value) -> anyhow::Result<Value> {
        let sequence = self.send(command, arguments)?;
        self.response(sequence)
    }

    fn send(&mut self, command: &str, arguments: &Value) -> anyhow::Result<u64> {
        self.sequence += 1;
        let message =
            json!({ "seq": self.sequence, "type": "request", "command": command, "arguments": arguments });
        let body = message.to_string();
        self.input.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
        self.input.flush()?;
        Ok(self.sequence)
    }

    fn response(&mut self, sequence: u64) -> anyhow::Result<Value> {
        let message = self.read_until(|message| message.get("request_seq") == Some(&json!(sequence)))?;
        anyhow::ensure!(message.get("success") == Some(&json!(true)), "refused: {message}");
        Ok(message.get("body").cloned().unwrap_or_default())
    }

    fn event(&mut self, name: &str) -> anyhow::Result<Value> {
        let message = self.read_until(|message| message.get("event") == Some(&json!(name)))?;
        Ok(message.get("body").cloned().unwrap_or_default())
    }

    /// Earlier messages are dropped: the client sends one request at a time.
    fn read_until(&mut self, mut wanted: impl FnMut(&Value) -> bool) -> anyhow::Result<Value> {
        loop {
            let message = self.read()?;
            if wanted(&message) {
                return Ok(message);
            }
        }
    }

    fn read(&mut self) -> anyhow::Result<Value> {
        // The kernel forgets this after a while; without it every answer waits 40 ms for our acknowledgement.
        if let Some(socket) = &self.socket {
            rustix::net::sockopt::set_tcp_quickack(socket, true)?;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            anyhow::ensure!(self.output.read_line(&mut line)? > 0, "the program closed the connection");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length:") {
                length = value.trim().parse().context("a length")?;
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

impl Client for Bare {
    /// One round trip, as the frame is known.
    fn evaluate(&mut self, expression: &str) -> anyhow::Result<()> {
        let frame = self.frame()?;
        self.request("evaluate", &json!({ "expression": expression, "frameId": frame, "context": "repl" }))
            .map(drop)
    }

    /// Two round trips, scopes and variables, after one for the frame where it is not known.
    fn locals(&mut self) -> anyhow::Result<()> {
        let frame = self.frame()?;
        let scopes = self.request("scopes", &json!({ "frameId": frame }))?;
        let reference = scopes.pointer("/scopes/0/variablesReference").cloned().unwrap_or_default();
        self.request("variables", &json!({ "variablesReference": reference })).map(drop)
    }

    fn stack(&mut self) -> anyhow::Result<()> {
        self.frames().map(drop)
    }

    fn step(&mut self) -> anyhow::Result<()> {
        let thread = self.thread.clone();
        // The stop may come before the answer.
        self.send("next", &json!({ "threadId": thread }))?;
        self.wait_for_stop()?;
        self.locals()
    }

    fn pass(&mut self, expression: &str) -> anyhow::Result<()> {
        self.evaluate(expression)?;
        let thread = self.thread.clone();
        self.send("continue", &json!({ "threadId": thread }))?;
        self.wait_for_stop()
    }

    fn clear_breakpoints(&mut self) -> anyhow::Result<()> {
        self.set_breakpoints(&[])
    }

    fn end(self) {
        drop(self);
    }
}
