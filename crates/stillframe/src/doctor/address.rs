//! A server that a host reaches over HTTP on this machine: whether it answers, without a session that stays.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::{hello, text};

/// A server on this machine answers at once.
const PATIENCE: Duration = Duration::from_secs(10);
/// More than a server says of itself, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Where to connect, what to ask for and with which headers.
#[derive(Debug)]
pub(super) struct LocalServer {
    address: SocketAddr,
    authority: String,
    path: String,
    headers: String,
}

impl LocalServer {
    /// None for a server on another machine, or with TLS.
    pub(super) fn of(url: &str, headers: &[(String, String)]) -> Option<Self> {
        let rest = url.strip_prefix("http://")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let numeric = authority.replace("localhost", &Ipv4Addr::LOCALHOST.to_string());
        let with_port =
            || numeric.trim_matches(['[', ']']).parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 80));
        let address = numeric.parse::<SocketAddr>().or_else(|_| with_port()).ok()?;
        // A line end in a value would be another header.
        let headers = headers.iter().filter(|(name, value)| !(name.clone() + value).contains(['\r', '\n']));
        let headers = headers.flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
        let server = Self { address, authority: authority.to_owned(), path: format!("/{path}"), headers };
        address.ip().is_loopback().then_some(server)
    }

    /// Shakes hands and returns the name and version.
    pub(super) async fn try_it(&self) -> anyhow::Result<String> {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello() });
        let answer = tokio::time::timeout(PATIENCE, self.request("POST", &hello.to_string(), "")).await;
        let answer = answer.with_context(|| format!("no answer in {} s", PATIENCE.as_secs()))??;
        let (head, body) = answer.split_once("\r\n\r\n").context("the answer is not HTTP")?;
        let status = head.lines().next().unwrap_or_default();
        let status = status.split_once(' ').map_or(status, |(_, status)| status);
        let mut fields = head.lines().filter_map(|line| line.split_once(':'));
        let session = fields.find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
        if let Some((_, id)) = session {
            let of_session = format!("Mcp-Session-Id: {}\r\n", id.trim());
            let _ = tokio::time::timeout(PATIENCE, self.request("DELETE", "", &of_session)).await;
        }
        let message = message(body);
        if !status.starts_with('2') {
            let why = message.map(|message| text(&message, "/error/message")).unwrap_or_default();
            bail!("it answers with the status {status}{}{why}", if why.is_empty() { "" } else { ": " });
        }
        let message = message.context("it answers, but not with MCP")?;
        if message.get("error").is_some() {
            bail!("`initialize`: {}", text(&message, "/error/message"));
        }
        let of_server = |what| text(&message, &format!("/result/serverInfo/{what}"));
        Ok(format!("{} {}", of_server("name"), of_server("version")))
    }

    /// Sends a request, and returns the answer as far as it is needed.
    async fn request(&self, method: &str, body: &str, more: &str) -> anyhow::Result<String> {
        let mut stream = TcpStream::connect(self.address).await?;
        let Self { authority, path, headers, .. } = self;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{headers}{more}\r\n",
            body.len()
        );
        stream.write_all((head + body).as_bytes()).await?;
        let mut answer = Vec::new();
        let mut stream = stream.take(LARGEST);
        // A stream of events may stay open.
        while stream.read_buf(&mut answer).await? > 0 {
            if message(&String::from_utf8_lossy(&answer)).is_some() {
                break;
            }
        }
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

/// The answer to the request, in a line of its own: as it is, in an event, or in a chunk.
fn message(body: &str) -> Option<Value> {
    let texts = body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let mut messages = texts.filter_map(|text| serde_json::from_str::<Value>(text).ok());
    messages.find(|message| message.get("result").is_some() || message.get("error").is_some())
}
