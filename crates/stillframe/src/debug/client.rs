//! Calls of tools in the background process.

use std::io::IsTerminal;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::{record, words};
use crate::terminal;

/// The tool after which nothing is left.
pub(super) const CLOSE: &str = "close_debug_session";

/// A line that asks.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HostCall {
    pub(super) tool: String,
    pub(super) arguments: serde_json::Map<String, Value>,
}

/// A line that answers, or says what takes so long.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum HostReply {
    Progress(String),
    Done(Value),
    Failed(Value),
}

/// A connection to a background process.
pub(super) struct Client {
    lines: Lines<BufReader<OwnedReadHalf>>,
    writer: OwnedWriteHalf,
}

impl Client {
    /// For a stream to a process of this user.
    pub(super) fn new(stream: UnixStream) -> anyhow::Result<Self> {
        ensure!(is_of_user(&stream), "the debug session's background process belongs to another user");
        let (reader, writer) = stream.into_split();
        Ok(Self { lines: BufReader::new(reader).lines(), writer })
    }

    /// Calls a tool. Its progress is shown on a terminal only; a line each second is too much for a model.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        let Value::Object(arguments) = arguments else { bail!("the arguments of a call must be an object") };
        let call = serde_json::to_string(&HostCall { tool: tool.to_owned(), arguments })? + "\n";
        let gone = "the debug session has ended";
        self.writer.write_all(call.as_bytes()).await.context(gone)?;
        loop {
            let line = self.lines.next_line().await.context(gone)?.context(gone)?;
            match serde_json::from_str(&line).context("the background process has another version")? {
                HostReply::Progress(message) if std::io::stderr().is_terminal() => terminal::hint(&message),
                HostReply::Progress(_) => {}
                HostReply::Done(data) => return Ok(data),
                HostReply::Failed(data) => bail!(words::failure(&data)),
            }
        }
    }
}

/// Whether this user is on the other side.
pub(super) fn is_of_user(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == record::user())
}
