//! Limits: clients, sizes, and how long one may take to say what it wants.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::STILLFRAME;
use crate::scenes::{ACCEPT, JSON};

#[tokio::test]
async fn the_number_of_clients_is_limited() {
    let server = STILLFRAME.http().await.args(&["--max-clients", "2", "--no-token"]).start().await;
    let (one, _two) = (server.client().await, server.client().await);
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "tests", "version": "1" },
    });
    let initialize =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
    let refused = server.ask("POST", "/mcp", &[ACCEPT, JSON], &initialize).await;
    assert_eq!(refused.status, 503);
    let body: Value = refused.json().await;
    let message = body["error"]["message"].as_str().expect("a reason");
    assert!(message.contains("2 clients") && message.contains("--max-clients"), "{message}");
    // Stateless requests need no place, and a handshake that is refused takes none.
    server.stateless().ok("list_debug_sessions", json!({})).await;
    let wrong = [JSON, ("accept", "text/plain")];
    assert_eq!(one.delete().await, 204);
    for _ in 0..3 {
        assert_eq!(server.ask("POST", "/mcp", &wrong, &initialize).await.status, 406);
    }
    let third = server.client().await;
    third.ok("list_debug_sessions", json!({})).await;
    server.finish().await;
}

/// How long the server listens to a client that says no more.
async fn patience(address: std::net::SocketAddr, beginning: &str) -> (Duration, String) {
    let began = Instant::now();
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    stream.write_all(beginning.as_bytes()).await.expect("the server reads");
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_mins(1), stream.read_to_end(&mut answer)).await;
    let _ = read.expect("the server hangs up");
    (began.elapsed(), String::from_utf8_lossy(&answer).into_owned())
}

#[tokio::test]
async fn a_stalled_client_is_disconnected() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    let body = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n{";
    let slow = [("", ""), ("GET /health HTTP/1.1\r\nHost: loc", ""), (body, "HTTP/1.1 408")];
    let address = server.address();
    let slow = slow.map(|(beginning, answer)| async move {
        let (took, said) = patience(address, beginning).await;
        assert!(said.starts_with(answer), "{beginning:?}: {said}");
        took
    });
    for took in futures_util::future::join_all(slow).await {
        // The deadline is what this is about: 15 s.
        assert!(took < Duration::from_secs(30), "{took:?}");
    }
    server.finish().await;
}

/// Silent connections do not block others; those beyond the limit get an error.
#[tokio::test]
async fn the_number_of_connections_is_limited() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    let mut silent = Vec::new();
    for _ in 0..256 {
        silent.push(TcpStream::connect(server.address()).await.expect("the server listens"));
    }
    let answered = server.ask("GET", "/health", &[], "").await;
    assert_eq!(answered.status, 503);
    let body: Value = answered.json().await;
    assert!(body["error"]["message"].as_str().is_some_and(|text| text.contains("256 connections")), "{body}");
    drop(silent);
    server.healthy(|health| health["status"] == "ok").await;
    server.finish().await;
}

#[tokio::test]
async fn an_oversized_body_is_refused_before_it_is_sent() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\nContent-Length: 50000000\r\n\r\n";
    let (_, said) = patience(server.address(), head).await;
    assert!(said.starts_with("HTTP/1.1 413"), "{said}");
    server.finish().await;
}
