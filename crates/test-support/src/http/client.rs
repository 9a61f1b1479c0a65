//! One client: a session, or independent requests.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::Method;
use serde_json::{Value, json};

use super::wire::{Events, HttpAnswer, ask};
use crate::Answer;
use crate::server::{Reply, add_request_metadata, reply_in};

/// A client.
#[derive(Debug)]
pub struct HttpClient {
    address: SocketAddr,
    token: String,
    /// Its session; none for independent requests.
    session: Option<String>,
    revision: String,
    /// What it declares that it can do.
    capabilities: Value,
    next: AtomicU64,
}

impl HttpClient {
    pub(super) fn new(address: SocketAddr, token: &str, revision: &str) -> Self {
        let (token, revision) = (token.to_owned(), revision.to_owned());
        Self { address, token, session: None, revision, capabilities: json!({}), next: AtomicU64::new(1) }
    }

    /// The same client, which declares this, before it has said anything.
    #[must_use]
    pub(super) fn declaring(self, capabilities: Value) -> Self {
        Self { capabilities, ..self }
    }

    pub(super) async fn shake_hands(mut self) -> Self {
        let client = &mut self;
        let revision = client.revision.clone();
        let params = json!({
            "protocolVersion": revision,
            "capabilities": client.capabilities,
            "clientInfo": { "name": "tests", "version": "1" },
        });
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answered = client.post(&request, &[]).await;
        assert_eq!(answered.status, 200, "initialize succeeds");
        let session = answered.header("mcp-session-id").to_owned();
        assert!(!session.is_empty(), "a session has an id");
        let response = answered.events().response(0).await.expect("initialize is answered");
        assert_eq!(response.pointer("/result/protocolVersion"), Some(&json!(revision)));
        client.session = Some(session);
        client.notify("notifications/initialized", json!({})).await;
        self
    }

    /// The same client with another token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        let (session, revision) = (self.session.clone(), self.revision.clone());
        let (token, capabilities) = (token.to_owned(), self.capabilities.clone());
        Self { address: self.address, token, session, revision, capabilities, next: AtomicU64::new(1000) }
    }

    /// The same client in another session.
    #[must_use]
    pub fn with_session(&self, session: &str) -> Self {
        Self { session: Some(session.to_owned()), ..self.with_token(&self.token) }
    }

    /// The id of its session; empty when it has none.
    pub fn session(&self) -> &str {
        self.session.as_deref().unwrap_or_default()
    }

    /// Sends a message and waits for the head of the answer.
    pub async fn post(&self, message: &Value, more: &[(&str, &str)]) -> HttpAnswer {
        self.ask(Method::POST, more, message.to_string()).await
    }

    /// Opens the stream of what belongs to no call, or resumes one after an event.
    pub async fn listen(&self, behind: Option<&str>) -> Events {
        self.get(behind).await.events()
    }

    /// The same, with the head of the answer.
    pub async fn get(&self, behind: Option<&str>) -> HttpAnswer {
        let more: Vec<_> = behind.map(|event| ("last-event-id", event)).into_iter().collect();
        self.ask(Method::GET, &more, String::new()).await
    }

    /// Ends the session; returns the status.
    pub async fn delete(&self) -> u16 {
        self.ask(Method::DELETE, &[], String::new()).await.status
    }

    async fn ask(&self, method: Method, more: &[(&str, &str)], body: String) -> HttpAnswer {
        let authorization = format!("Bearer {}", self.token);
        let mut headers = vec![
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
            ("mcp-protocol-version", self.revision.as_str()),
        ];
        if !self.token.is_empty() {
            headers.push(("authorization", &authorization));
        }
        if let Some(session) = &self.session {
            headers.push(("mcp-session-id", session));
        }
        headers.extend(more);
        ask(self.address, method, "/mcp", &headers, body).await
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert_eq!(self.post(&message, &[]).await.status, 202, "{method} is accepted");
    }

    /// Sends a request, and returns its number and the head of its answer.
    pub async fn begin(&self, method: &str, mut params: Value) -> (u64, HttpAnswer) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut more = Vec::new();
        let named = ["name", "uri"].iter().find_map(|field| params.get(field)?.as_str());
        let named = named.unwrap_or_default().to_owned();
        if self.session.is_none() {
            add_request_metadata(&mut params, &self.capabilities);
            more.push(("mcp-method", method));
            if !named.is_empty() {
                more.push(("mcp-name", &named));
            }
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        (id, self.post(&request, &more).await)
    }

    /// Sends a request and waits for its response.
    pub async fn request(&self, method: &str, params: Value) -> Reply {
        let (id, answered) = self.begin(method, params).await;
        let response = if answered.header("content-type") == "text/event-stream" {
            answered.events().response(id).await.unwrap_or_else(|| panic!("{method}: no response"))
        } else {
            answered.json().await
        };
        reply_in(response)
    }

    /// Calls a tool. The text and the structured content must say the same.
    pub async fn call(&self, tool: &str, arguments: Value) -> Answer {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        Answer::of(tool, &result.unwrap_or_else(|error| panic!("{tool}: {error}")))
    }

    /// Calls a tool that answers with text alone.
    pub async fn text(&self, tool: &str, arguments: Value) -> String {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let result = result.unwrap_or_else(|error| panic!("{tool}: {error}"));
        let text = result.pointer("/content/0/text").and_then(Value::as_str);
        text.unwrap_or_else(|| panic!("{tool}: no text in {result}")).to_owned()
    }

    /// Calls a tool that is to succeed.
    pub async fn ok(&self, tool: &str, arguments: Value) -> Answer {
        self.call(tool, arguments.clone()).await.succeeded(tool, &arguments)
    }

    /// Calls a tool that is to fail with a code.
    pub async fn fails(&self, code: &str, tool: &str, arguments: Value) -> Answer {
        self.call(tool, arguments.clone()).await.failed(code, tool, &arguments)
    }
}
