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

/// A program under debugpy, without debugpy's adapter process, and the connection to it.
pub(super) struct Bare {
    program: Program,
    file: PathBuf,
    socket: BufReader<TcpStream>,
    sequence: u64,
    thread: Value,
    /// The innermost frame, once it was asked for at this stop.
    frame: Option<Value>,
}

impl Bare {
    /// Starts a program and runs it to a line.
    pub(super) fn stopped(python: &Path, debugpy: &Path, program: &Path, line: u32) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let command = &mut super::child(python);
        command.args(["-X", "frozen_modules=off"]).arg(debugpy.join("debugpy"));
        command.args(["--connect", &address]).arg(program);
        let child = Program::start(command, Stdio::null())?;
        let (socket, _) = listener.accept()?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut bare = Self {
            program: child,
            file: program.to_owned(),
            socket: BufReader::new(socket),
            sequence: 0,
            thread: Value::Null,
            frame: None,
        };
        bare.request("initialize", &json!({ "adapterID": "debugpy", "pathFormat": "path" }))?;
        // Without the adapter process there is no `initialized` event: breakpoints can follow at once.
        bare.request("attach", &json!({ "justMyCode": true, "showReturnValue": true, "subProcess": true }))?;
        bare.set_breakpoints(&[line])?;
        bare.request("configurationDone", &json!({}))?;
        bare.wait_for_stop()?;
        Ok(bare)
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
        self.socket
            .get_mut()
            .write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
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
    fn read_until(&mut self, wanted: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        loop {
            let message = self.read()?;
            if wanted(&message) {
                return Ok(message);
            }
        }
    }

    fn read(&mut self) -> anyhow::Result<Value> {
        // The kernel forgets this after a while; without it every answer waits 40 ms for our acknowledgement.
        rustix::net::sockopt::set_tcp_quickack(self.socket.get_ref(), true)?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            anyhow::ensure!(self.socket.read_line(&mut line)? > 0, "the program closed the connection");
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("Content-Length:") {
                length = value.trim().parse().context("a length")?;
            }
        }
        let mut body = vec![0; length];
        self.socket.read_exact(&mut body)?;
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
        self.request("next", &json!({ "threadId": thread }))?;
        self.wait_for_stop()?;
        self.locals()
    }

    fn pass(&mut self, expression: &str) -> anyhow::Result<()> {
        self.evaluate(expression)?;
        let thread = self.thread.clone();
        self.request("continue", &json!({ "threadId": thread }))?;
        self.wait_for_stop()
    }

    fn clear_breakpoints(&mut self) -> anyhow::Result<()> {
        self.set_breakpoints(&[])
    }

    fn end(self) {
        drop(self.program);
    }
}
