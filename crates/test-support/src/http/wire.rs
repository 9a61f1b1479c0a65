//! One request and its answer.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HOST, HeaderMap};
use hyper::{Method, Request, client};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::server::PATIENCE;

/// An answer. Its connection is closed when this is dropped.
#[derive(Debug)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    body: Incoming,
    connection: Connection,
}

/// Closed when this is dropped.
#[derive(Debug)]
struct Connection(AbortHandle);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends a request over a connection of its own, and waits for the head of the answer.
pub(super) async fn ask(
    address: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: String,
) -> HttpAnswer {
    let stream = TcpStream::connect(address).await.expect("the server listens");
    let (mut sender, connection) =
        client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a connection");
    let connection = Connection(tokio::spawn(connection).abort_handle());
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        request = request.header(HOST, address.to_string());
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body))).expect("a request");
    let answer = timeout(PATIENCE, sender.send_request(request)).await;
    let answer = answer.expect("an answer comes in time").expect("an answer comes");
    let (head, body) = answer.into_parts();
    HttpAnswer { status: head.status.as_u16(), headers: head.headers, body, connection }
}

impl HttpAnswer {
    /// A header; empty when it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The whole body as text.
    pub async fn text(self) -> String {
        let body = timeout(PATIENCE, self.body.collect()).await.expect("the body comes in time");
        let body = body.expect("the body comes").to_bytes();
        String::from_utf8(body.to_vec()).expect("the body is text")
    }

    /// The whole body as data.
    pub async fn json(self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("no JSON: {text:?}: {error}"))
    }

    /// The events of the body.
    pub fn events(self) -> Events {
        assert_eq!((self.status, self.header("content-type")), (200, "text/event-stream"));
        Events { body: self.body, text: String::new(), _connection: self.connection }
    }
}

/// Events as they come. The connection is cut when this is dropped.
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    text: String,
    _connection: Connection,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// To resume the stream after it.
    pub id: Option<String>,
    /// The message, or the data of an event that is none; null for an event that only has an id.
    pub message: Value,
}

impl Events {
    /// The next one; none at the end of the stream.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = parse(event);
                self.text = self.text.split_off(self.text.len() - rest.len());
                match event {
                    Some(event) => return Some(event),
                    // A comment that keeps the connection alive.
                    None => continue,
                }
            }
            let frame = timeout(PATIENCE, self.body.frame()).await.expect("something comes in time")?;
            // A server that is killed leaves half an answer.
            let data = frame.ok()?.into_data().ok()?;
            self.text.push_str(std::str::from_utf8(&data).expect("events are text, sent in one piece"));
        }
    }

    /// The next one that says something.
    pub async fn message(&mut self) -> Option<Event> {
        loop {
            let event = self.next().await?;
            if !event.message.is_null() {
                return Some(event);
            }
        }
    }

    /// The response to a request; none when the stream ends before.
    pub async fn response(&mut self, id: u64) -> Option<Value> {
        loop {
            let Event { message, .. } = self.message().await?;
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                return Some(message);
            }
        }
    }
}

fn parse(text: &str) -> Option<Event> {
    let mut event = Event::default();
    let mut says_something = false;
    for line in text.lines() {
        let (field, value) = line.split_once(':')?;
        let value = value.trim_start();
        match field {
            "id" => event.id = Some(value.to_owned()),
            "data" if !value.is_empty() => {
                event.message = serde_json::from_str(value).unwrap_or_else(|_| value.into());
            }
            _ => {}
        }
        says_something |= !field.is_empty();
    }
    says_something.then_some(event)
}
