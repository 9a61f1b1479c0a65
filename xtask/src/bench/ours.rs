//! stillframe as an MCP client has it, with as little around it as can be.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::Context;
use serde_json::{Value, json};

/// A server that has answered `initialize`.
pub(super) struct OurServer {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    sequence: u64,
}

impl OurServer {
    /// Starts a server and shakes hands.
    pub(super) fn start(stillframe: &Path, cache: &Path) -> anyhow::Result<Self> {
        let mut command = super::child(stillframe);
        command.arg("serve").env("STILLFRAME_CACHE_DIR", cache);
        Self::run(command)
    }

    /// Starts the server of a command and shakes hands.
    pub(super) fn run(mut command: std::process::Command) -> anyhow::Result<Self> {
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = server.stdin.take().context("no input")?;
        let output = BufReader::new(server.stdout.take().context("no output")?);
        let mut ours = Self { server, input, output, sequence: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        ours.request("initialize", &hello)?;
        ours.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(ours)
    }

    /// Calls a tool, and returns what it answers as data.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let mut result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let failed = result.get("isError") == Some(&json!(true));
        let answer = match result.get_mut("structuredContent") {
            Some(answer) => answer.take(),
            None => result.pointer("/content/0/text").and_then(Value::as_str).map_or(Value::Null, |text| {
                serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
            }),
        };
        anyhow::ensure!(!failed, "{tool}: {answer}");
        Ok(answer)
    }

    /// The memory of the server that is in use, without its debuggees. Linux only.
    pub(super) fn resident_megabytes(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kilobytes / 1024.0)
    }

    /// The number of its process.
    pub(super) fn pid(&self) -> u32 {
        self.server.id()
    }

    /// Closes its input and waits for its end.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        drop(self.input);
        let status = self.server.wait()?;
        anyhow::ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    /// Sends a request, and returns its result.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.sequence += 1;
        let id = self.sequence;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            anyhow::ensure!(self.output.read_line(&mut line)? > 0, "the server is gone");
            let mut message: Value = serde_json::from_str(&line)?;
            if message.get("id") == Some(&json!(id)) {
                return message
                    .get_mut("result")
                    .map(Value::take)
                    .with_context(|| format!("{method}: {line}"));
            }
        }
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.input.flush()?)
    }
}

/// Runs a command of stillframe to its end, and returns what it printed.
pub(super) fn command(stillframe: &Path, cache: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let done = super::child(stillframe).args(arguments).env("STILLFRAME_CACHE_DIR", cache).output()?;
    anyhow::ensure!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    Ok(String::from_utf8(done.stdout)?)
}
