//! Where an inspector listens: parsed from the line that Node prints, or requested from a port.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::error::ConnectError;
use crate::transport::QuickAck;

/// A list of debuggees longer than this is not one: Node's has one entry of 700 bytes.
const MAX_RESPONSE: usize = 1024 * 1024;

/// Where one debuggee can be reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// A name, or an IP address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The debuggee's id; a new one each time its inspector opens.
    pub id: String,
}

impl Address {
    /// Host and port.
    pub(crate) fn place(&self) -> String {
        place(&self.host, self.port)
    }

    pub(crate) async fn dial(&self) -> Result<QuickAck, ConnectError> {
        dial(&self.host, self.port).await
    }

    /// The address with the only host name that an inspector answers to: it refuses any other, so that a web
    /// page cannot reach it by a name of its own.
    pub(crate) fn as_seen_from_its_host(&self) -> String {
        format!("ws://localhost:{}/{}", self.port, self.id)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ws://{}/{}", self.place(), self.id)
    }
}

impl FromStr for Address {
    type Err = ConnectError;

    fn from_str(text: &str) -> Result<Self, ConnectError> {
        let parsed = || {
            let (place, id) = text.strip_prefix("ws://")?.split_once('/')?;
            let (host, port) = place.rsplit_once(':')?;
            let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
            let is_sound = !host.is_empty() && !id.is_empty() && id.chars().all(is_plain);
            is_sound.then_some(Self { host: host.to_owned(), port: port.parse().ok()?, id: id.to_owned() })
        };
        parsed().ok_or_else(|| ConnectError::Address(text.to_owned()))
    }
}

/// The address in the line `Debugger listening on ws://…` that Node prints on stderr.
///
/// The program may have printed text without a line end before it.
pub fn listening(line: &str) -> Option<Address> {
    let (_, address) = line.split_once("Debugger listening on ")?;
    address.split_whitespace().next()?.parse().ok()
}

/// What an inspector offers to debug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its address, under the host and port that were asked.
    pub address: Address,
    /// The script's path as it was given, or `node[PID]` without one.
    pub title: String,
    /// The script's `file:` url.
    pub url: String,
}

/// Asks the inspector at a port what it has: one debuggee, if it is Node's.
pub async fn targets(host: &str, port: u16, deadline: Duration) -> Result<Vec<Target>, ConnectError> {
    let asked = tokio::time::timeout(deadline, ask(host, port));
    let body = asked.await.map_err(|_| ConnectError::Deadline { place: place(host, port), deadline })??;
    parse_targets(&body, host, port)
        .map_err(|reason| ConnectError::NotAnInspector { place: place(host, port), reason })
}

/// The body of the answer to `GET /json/list`.
async fn ask(host: &str, port: u16) -> Result<Vec<u8>, ConnectError> {
    let broken = |source| ConnectError::Io { place: place(host, port), source };
    let other =
        |reason: &str| ConnectError::NotAnInspector { place: place(host, port), reason: reason.to_owned() };
    let mut stream = dial(host, port).await?;
    let request = format!("GET /json/list HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(broken)?;
    let mut response = Vec::new();
    loop {
        let read = stream.read_buf(&mut response).await.map_err(broken)?;
        if let Some(body) = body(&response).map_err(other)? {
            return Ok(body.to_vec());
        }
        if read == 0 {
            return Err(other("the response is incomplete"));
        }
        if response.len() > MAX_RESPONSE {
            return Err(other("the response is too long"));
        }
    }
}

/// The body of a response, or `None` while it is not complete. Node does not close the connection after it.
fn body(response: &[u8]) -> Result<Option<&[u8]>, &'static str> {
    const NOT_HTTP: &str = "the response is not HTTP";
    let opening = response.get(..5.min(response.len())).unwrap_or_default();
    if !b"HTTP/".starts_with(opening) {
        return Err(NOT_HTTP);
    }
    let Some(end) = response.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let (head, rest) = response.split_at(end);
    let head = std::str::from_utf8(head).map_err(|_| NOT_HTTP)?;
    let mut lines = head.split("\r\n");
    if lines.next().and_then(|status| status.split(' ').nth(1)) != Some("200") {
        return Err("the response has no list of targets");
    }
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse::<usize>().ok())
        .ok_or("the response has no `Content-Length`")?;
    Ok(rest.get(4..).and_then(|rest| rest.get(..length)))
}

fn parse_targets(json: &[u8], host: &str, port: u16) -> Result<Vec<Target>, String> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct ListedTarget {
        title: String,
        url: String,
        web_socket_debugger_url: String,
    }
    let listed: Vec<ListedTarget> = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    let target = |ListedTarget { title, url, web_socket_debugger_url: address }: ListedTarget| {
        // It names the host that the question did, which is not how we reach it.
        let address: Address = address.parse().map_err(|error: ConnectError| error.to_string())?;
        Ok(Target { address: Address { host: host.to_owned(), port, ..address }, title, url })
    };
    listed.into_iter().map(target).collect()
}

async fn dial(host: &str, port: u16) -> Result<QuickAck, ConnectError> {
    let connected = TcpStream::connect((host, port)).await.and_then(QuickAck::new);
    connected.map_err(|source| ConnectError::Io { place: place(host, port), source })
}

fn place(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests;
