//! The client's side of MCP, as far as `doctor` needs it: lines of JSON to a server and back.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, bail};
use engine::adapter::node::file_url;
use engine::adapter::{Host as _, Machine};
use engine::output::{Category, Output};
use engine::process::{Process, ProcessSpec};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};

use super::SampleFile;
use crate::init::ServerCommand;

/// `npx` may download the server first.
const START: Duration = Duration::from_mins(2);
/// Longer than the server lets any call of a doctor take.
const ANSWER: Duration = Duration::from_mins(1);
/// What a host passes on of its environment: the least that any does.
const PASSED_ON: [&str; 10] = [
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
];
/// How long a server may take to end.
const LEAVING: Duration = Duration::from_secs(2);
/// How much of a server's messages is shown, in bytes: npm has the reason of an error at its beginning.
const MESSAGES: usize = 2000;
/// The revision that every host's client speaks.
const REVISION: &str = "2025-06-18";
/// JSON-RPC's code for a request that the client does not know.
const METHOD_NOT_FOUND: i32 = -32601;

/// A server that was started as a host starts it.
pub(super) struct ServerConnection {
    process: Process,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    errors: Output,
    next: u64,
}

impl ServerConnection {
    /// Starts the server and shakes hands with it; also returns its name and version.
    pub(super) async fn open(command: &ServerCommand) -> anyhow::Result<(Self, String)> {
        let (program, args) = command.words.split_first().context("the entry has no command")?;
        let found = Machine.which(program).with_context(|| {
            let place = if program.contains('/') { "" } else { " on the `PATH`" };
            format!("there is no program `{program}`{place}")
        })?;
        let errors = Output::new();
        let spec = ProcessSpec {
            program: found,
            args: args.iter().map(Into::into).collect(),
            env: environment(&command.env),
            ..ProcessSpec::default()
        };
        let (process, stdin, stdout) =
            Process::spawn_piped(&spec, "doctor", &errors).map_err(crate::setup::cli_error)?;
        let lines = BufReader::new(stdout).lines();
        let mut server = Self { process, stdin, lines, errors, next: 0 };
        let answer = server.request("initialize", &hello(), START).await;
        let info = match answer {
            Ok(answer) => {
                format!("{} {}", text(&answer, "/serverInfo/name"), text(&answer, "/serverInfo/version"))
            }
            Err(error) => {
                server.close().await;
                return Err(error);
            }
        };
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok((server, info))
    }

    /// The names of its tools.
    pub(super) async fn tools(&mut self) -> anyhow::Result<Vec<String>> {
        let answer = self.request("tools/list", &json!({}), ANSWER).await?;
        let tools = answer.get("tools").and_then(Value::as_array).context("the answer has no tools")?;
        Ok(tools.iter().map(|tool| text(tool, "/name")).collect())
    }

    /// Calls a tool; a tool error is an error.
    pub(super) async fn call(&mut self, name: &str, arguments: &Value) -> anyhow::Result<Value> {
        let answer =
            self.request("tools/call", &json!({ "name": name, "arguments": arguments }), ANSWER).await?;
        if answer.get("isError") == Some(&Value::Bool(true)) {
            // In some toolsets, the text is JSON with more than the message.
            let message = text(&answer, "/structuredContent/message");
            let shown = if message.is_empty() { text(&answer, "/content/0/text") } else { message };
            bail!("{}", shown.trim_start_matches("Error: "));
        }
        Ok(answer)
    }

    /// Closes its input, which ends it, and kills what is left.
    pub(super) async fn close(self) {
        drop(self.stdin);
        let _ = tokio::time::timeout(LEAVING, self.process.ended()).await;
        self.process.kill().await;
    }

    async fn request(&mut self, method: &str, params: &Value, limit: Duration) -> anyhow::Result<Value> {
        self.next += 1;
        let id = self.next;
        let answered = async {
            // A server that has ended may have said why.
            let _ =
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
            loop {
                let Some(line) = self.lines.next_line().await? else {
                    // What it has written to its standard error is complete then.
                    let _ = tokio::time::timeout(LEAVING, self.process.ended()).await;
                    bail!("the server ended")
                };
                let message: Value = serde_json::from_str(&line)
                    .with_context(|| format!("not MCP on its standard output: `{line}`"))?;
                if message.get("method").is_some() {
                    if let Some(reply) = reply(&message) {
                        self.send(&reply).await?;
                    }
                } else if message.get("id").and_then(Value::as_u64) == Some(id) {
                    return Ok(message);
                }
            }
        };
        let answered = tokio::time::timeout(limit, answered).await;
        let answered = answered.unwrap_or_else(|_| bail!("no answer to `{method}` in {} s", limit.as_secs()));
        let message = answered.map_err(|error| self.explained(error))?;
        if message.get("error").is_some() {
            bail!("`{method}`: {}", text(&message, "/error/message"));
        }
        Ok(message.get("result").cloned().unwrap_or_default())
    }

    async fn send(&mut self, message: &Value) -> std::io::Result<()> {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await?;
        self.stdin.flush().await
    }

    /// With what the server wrote to its standard error, which says more.
    fn explained(&self, error: anyhow::Error) -> anyhow::Error {
        let tail = self.errors.tail(0, MESSAGES);
        let said = tail.text_of(Category::Stderr);
        let said = if tail.skipped > 0 { whole_lines(&said) } else { &said };
        if said.trim().is_empty() { error } else { error.context(said.trim().to_owned()) }
    }
}

/// A text without its first line, which was cut, unless nothing follows.
fn whole_lines(text: &str) -> &str {
    let whole = text.split_once('\n').map(|(_, whole)| whole);
    whole.filter(|whole| !whole.trim().is_empty()).unwrap_or(text)
}

/// What `doctor` says of itself in the handshake.
pub(super) fn hello() -> Value {
    // A server may ask its user before it evaluates, and accept only files below the client's roots.
    let capabilities = json!({ "elicitation": {}, "roots": {} });
    let client = json!({ "name": "stillframe doctor", "version": env!("CARGO_PKG_VERSION") });
    json!({ "protocolVersion": REVISION, "capabilities": capabilities, "clientInfo": client })
}

fn environment(of_entry: &BTreeMap<String, String>) -> BTreeMap<String, Option<String>> {
    let passed_on = |name: &String| PASSED_ON.contains(&name.as_str()) || name.starts_with("LC_");
    let all = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let removed = all.filter(|name| !passed_on(name)).map(|name| (name, None));
    let added = of_entry.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
    removed.chain(added).collect()
}

/// The answer to a request of the server: yes to every question, and the folder of samples as the root; none for a
/// notification.
fn reply(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let result = match text(message, "/method").as_str() {
        "elicitation/create" => {
            let fields = message.pointer("/params/requestedSchema/properties").and_then(Value::as_object);
            let content: Map<String, Value> =
                fields.into_iter().flatten().map(|(name, _)| (name.clone(), json!(true))).collect();
            json!({ "action": "accept", "content": content })
        }
        "roots/list" => json!({ "roots": [{ "uri": file_url(&SampleFile::folder()) }] }),
        "ping" => json!({}),
        method => {
            let error = json!({ "code": METHOD_NOT_FOUND, "message": format!("doctor has no `{method}`") });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// The text at a place in a message.
pub(super) fn text(message: &Value, pointer: &str) -> String {
    message.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_cut_is_shown_unless_whole_ones_follow() {
        for (text, shown) in [("ut\nwhole\n", "whole\n"), ("ut\n", "ut\n"), ("ut", "ut"), ("", "")] {
            assert_eq!(whole_lines(text), shown);
        }
    }
}
