//! A server elsewhere, for calls of this server: a client of MCP on the other end of a relay.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use journal::Journal;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tools::Report;

use super::connection::Connector;
use super::diagnostics::Diagnostics;
use super::engines::Target;
use super::guess::Advice;
use super::program::Program;
use super::relay::Relay;
use super::remotes::TOOLSET;
use super::{guess, server_args};
use crate::config::Settings;

/// What may wait between the relay and this client, in bytes.
const WAITING: usize = 64 * 1024;
/// Messages that the relay has not taken yet.
const QUEUED: usize = 64;
/// How long a server elsewhere may take to end with its programs.
const LAST: Duration = Duration::from_secs(2);

/// A call has no argument for it, and the paths there are understood.
const ADVICE: Advice =
    Advice { none: "name files by their paths there", other: "name other files by their paths there" };

/// The server on one target.
pub(super) struct Remote {
    pub(super) target: Target,
    /// How its paths become those here, and what that was guessed from.
    pub(super) mapping: Option<String>,
    input: mpsc::Sender<Vec<u8>>,
    calls: Arc<Mutex<Calls>>,
    relay: Mutex<Option<JoinHandle<()>>>,
    ending: CancellationToken,
}

#[derive(Default)]
struct Calls {
    last: u64,
    open: HashMap<u64, Call>,
}

struct Call {
    answer: oneshot::Sender<Result<Value, String>>,
    report: Option<Report>,
}

fn lock(calls: &Mutex<Calls>) -> MutexGuard<'_, Calls> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Remote {
    /// Connects, and shakes hands. The paths of sources are guessed, with the paths that the first call names. The
    /// settings are those of the server there.
    pub(super) async fn connect(
        target: Target,
        named: &[String],
        journal: Journal,
        settings: &Settings,
    ) -> anyhow::Result<Self> {
        let program = tokio::task::spawn_blocking(|| Program::read(None)).await??;
        let mut connector =
            Connector { target: target.clone(), program, diagnostics: Diagnostics::default() };
        let folder = std::env::current_dir()?;
        let (paths, remark) = guess::paths(&connector, folder, named, &ADVICE).await?;
        let mapping = match (paths.is_empty(), remark.is_empty()) {
            (true, true) => None,
            (true, false) => Some(remark),
            (false, _) => Some(format!("paths of {target}: {} ({remark})", paths.describe())),
        };
        let paths = Arc::new(paths);
        connector.diagnostics = Diagnostics::new(journal, Arc::clone(&paths));
        let args = server_args(TOOLSET, settings, &paths, connector.diagnostics.keeps_journal());
        let first = connector.start(&paths, &args).await?;
        let ((input, relay_input), (output, relay_output)) = (duplex(WAITING), duplex(WAITING));
        let relay = Relay {
            connector,
            paths,
            args,
            notice: String::new(),
            output: AsyncMutex::new(relay_output),
            initialize: Mutex::default(),
            lost: Mutex::default(),
        };
        let ending = CancellationToken::new();
        let shutdown = ending.clone();
        let relay = tokio::spawn(async move { Arc::new(relay).run(relay_input, first, &shutdown).await });
        let calls = Arc::<Mutex<Calls>>::default();
        tokio::spawn(read(output, Arc::clone(&calls)));
        let (sender, receiver) = mpsc::channel(QUEUED);
        tokio::spawn(write(input, receiver));
        let remote = Self { target, mapping, input: sender, calls, relay: Mutex::new(Some(relay)), ending };
        let client = json!({ "name": "stillframe", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        remote.request("initialize", params, None).await.map_err(anyhow::Error::msg)?;
        remote.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        Ok(remote)
    }

    /// Calls a tool there. Progress is reported. A call that is dropped is cancelled.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        report: Option<Report>,
    ) -> Result<Value, String> {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }), report).await
    }

    async fn request(
        &self,
        method: &str,
        mut params: Value,
        report: Option<Report>,
    ) -> Result<Value, String> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut calls = lock(&self.calls);
            calls.last += 1;
            let id = calls.last;
            calls.open.insert(id, Call { answer, report: report.clone() });
            id
        };
        if report.is_some()
            && let Some(params) = params.as_object_mut()
        {
            params.insert("_meta".to_owned(), json!({ "progressToken": id }));
        }
        let mut pending = Pending { remote: self, id, is_open: true };
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let answered = answered.await;
        pending.is_open = false;
        answered.unwrap_or_else(|_| Err(format!("the server on `{}` has ended", self.target)))
    }

    async fn send(&self, message: &Value) {
        // What cannot be sent is not answered either, which ends the call.
        let _ = self.input.send(format!("{message}\n").into_bytes()).await;
    }

    /// Ends the server there and its programs, and waits.
    pub(super) async fn close(&self) {
        self.ending.cancel();
        let relay = self.relay.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(relay) = relay {
            let _ = timeout(LAST, relay).await;
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.ending.cancel();
    }
}

/// A request that was sent. Without its answer it is cancelled.
struct Pending<'r> {
    remote: &'r Remote,
    id: u64,
    is_open: bool,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        lock(&self.remote.calls).open.remove(&self.id);
        let message = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": self.id },
        });
        // Where too much waits already, the call there ends by its own deadline.
        drop(self.remote.input.try_send(format!("{message}\n").into_bytes()));
    }
}

async fn write(mut input: DuplexStream, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if input.write_all(&line).await.is_err() {
            return;
        }
    }
}

/// Reads answers and progress until the relay ends.
async fn read(output: DuplexStream, calls: Arc<Mutex<Calls>>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(Value::Object(mut message)) = serde_json::from_str(&line) else { continue };
        if let Some(id) = message.get("id").and_then(Value::as_u64) {
            let answer = match (message.remove("result"), message.get("error")) {
                (Some(result), _) => Ok(result),
                (None, error) => Err(error
                    .and_then(|error| error.get("message")?.as_str())
                    .unwrap_or("the answer has neither a result nor an error")
                    .to_owned()),
            };
            if let Some(call) = lock(&calls).open.remove(&id) {
                // A call that was dropped needs no answer.
                let _ = call.answer.send(answer);
            }
        } else if let Some(params) = message.get("params")
            && let Some(id) = params.get("progressToken").and_then(Value::as_u64)
            && let Some(text) = params.get("message").and_then(Value::as_str)
        {
            let report = lock(&calls).open.get(&id).and_then(|call| call.report.clone());
            if let Some(report) = report {
                report.say(text.to_owned());
            }
        }
    }
    lock(&calls).open.clear();
}
