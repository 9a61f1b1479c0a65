//! Who is let in: by which name, from which page, with which token.

use serde_json::{Value, json};
use test_support::{Fixture, HttpServer};

use crate::STILLFRAME;
use crate::scenes::{ACCEPT, Header, JSON, paused_at};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// The status of a request with these headers and the token. Without a session, the SDK answers 400.
async fn status(server: &HttpServer, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let bearer = format!("Bearer {}", server.token());
    let mut all = vec![ACCEPT, JSON];
    if !headers.iter().any(|(name, _)| *name == "authorization") {
        all.push(("authorization", &bearer));
    }
    all.extend(headers);
    let answered = server.ask(if path == "/mcp" { "POST" } else { "GET" }, path, &all, PING).await;
    (answered.status, answered.text().await)
}

/// What an answer says that refuses.
fn reason(body: &str) -> String {
    let body: Value = serde_json::from_str(body).expect("a refusal is JSON");
    assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &Value::Null));
    body["error"]["message"].as_str().expect("a refusal says why").to_owned()
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_on_every_path() {
    let server = STILLFRAME.http().await.args(&["--allow-origin", "https://app.example:443/"]);
    let server = server.args(&["--allow-host", "debug.example"]).start().await;
    let port = server.address().port();
    let (own, local) = (format!("127.0.0.1:{port}"), format!("localhost:{port}"));
    let table: [(&[Header<'_>], bool, &str); 12] = [
        (&[("host", &own)], true, ""),
        (&[("host", &local)], true, ""),
        (&[("host", "[::1]")], true, ""),
        (&[("host", "debug.example")], true, ""),
        (&[("host", "evil.example")], false, "--allow-host"),
        (&[("host", "127.0.0.1.evil.example")], false, "--allow-host"),
        (&[("host", &own), ("origin", "http://localhost:5173")], true, ""),
        (&[("host", &own), ("origin", "https://app.example")], true, ""),
        (&[("host", &own), ("origin", "https://evil.example")], false, "--allow-origin"),
        (&[("host", &own), ("origin", "null")], false, "--allow-origin"),
        (&[("host", "evil.example"), ("origin", "http://localhost")], false, "--allow-host"),
        (&[("host", &own), ("origin", "http://127.0.0.1.evil.example")], false, "--allow-origin"),
    ];
    for (headers, is_let_in, remedy) in table {
        for (path, served) in [("/mcp", 400), ("/health", 200)] {
            let (status, body) = status(&server, path, headers).await;
            assert_eq!(status, if is_let_in { served } else { 403 }, "{path} {headers:?}: {body}");
            assert!(is_let_in || reason(&body).contains(remedy), "{headers:?}: {body}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn only_an_allowed_origin_may_read_answers() {
    let server = STILLFRAME.http().await.args(&["--allow-origin", "https://app.example"]).start().await;
    for (origin, status, reads) in [("https://app.example", 204, true), ("http://localhost:5173", 401, false)]
    {
        let asks = [("origin", origin), ("access-control-request-method", "POST")];
        let answered = server.ask("OPTIONS", "/mcp", &asks, "").await;
        assert_eq!(answered.status, status, "{origin}");
        assert_eq!(answered.header("access-control-allow-origin") == origin, reads, "{origin}");
        assert_eq!(answered.header("access-control-allow-headers").contains("authorization"), reads);
    }
    server.finish().await;
}

#[tokio::test]
async fn without_the_token_only_health_is_answered() {
    let server = STILLFRAME.serve_http().await;
    let good = format!("Bearer {}", server.token());
    let (longer, other) = (format!("{good}0"), format!("Bearer {}", "0".repeat(64)));
    let table = [
        (good.as_str(), true),
        (longer.as_str(), false),
        (other.as_str(), false),
        ("Bearer", false),
        ("Bearer ", false),
        (server.token(), false),
        ("Basic dTpw", false),
        ("", false),
    ];
    for (authorization, is_let_in) in table {
        for method in ["POST", "GET", "DELETE", "PUT"] {
            let headers = [ACCEPT, JSON, ("authorization", authorization)];
            let answered = server.ask(method, "/mcp", &headers, PING).await;
            assert_eq!(answered.status != 401, is_let_in, "{method} {authorization}");
            if !is_let_in {
                assert_eq!(answered.header("www-authenticate"), "Bearer");
                assert!(reason(&answered.text().await).contains("Authorization: Bearer"));
            }
        }
        let health = server.ask("GET", "/health", &[("authorization", authorization)], "").await;
        assert_eq!(health.status, if is_let_in { 200 } else { 401 }, "{authorization}");
    }
    for (path, authorization, status) in [("/", "", 401), ("/foo", "", 401), ("/foo", good.as_str(), 404)] {
        let answered = server.ask("GET", path, &[("authorization", authorization)], "").await;
        assert_eq!(answered.status, status, "{path} {authorization}");
    }
    let plain = server.ask("GET", "/health", &[], "").await;
    assert_eq!((plain.status, plain.json().await), (200, json!({ "status": "ok" })));
    let health = server.health().await;
    let counted = ["uptimeSeconds", "clients", "debugSessions", "processes", "tasks"];
    assert!(counted.iter().all(|field| health[field].is_u64()), "{health}");
    let log = server.finish().await;
    assert_eq!(log.matches("token: ").count(), 1, "the token is told once: {log}");
}

#[tokio::test]
async fn without_tokens_every_client_is_accepted() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    let client = server.client().await;
    client.ok("list_debug_sessions", json!({})).await;
    server.finish().await;
}

/// Neither the journal nor the log nor the program that is debugged gets the token.
#[tokio::test]
async fn the_token_is_never_written_anywhere() {
    let token = "abcdefghijklmnopqrstuvwxyz0123456789";
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("journal.log");
    let server = STILLFRAME.http().await.token(token).env("STILLFRAME_LOG", "trace");
    let server = server.args(&["--log-file", journal.to_str().unwrap(), "--no-redact"]).start().await;
    for client in [server.client().await, server.stateless()] {
        let session = paused_at(&client, &Fixture::python("shop"), "call").await;
        let expression = "__import__('os').environ.get('STILLFRAME_HTTP_TOKEN')";
        let arguments = json!({ "sessionId": session, "expression": expression });
        assert_eq!(client.ok("evaluate_expression", arguments).await["result"], "None");
        client.ok("close_debug_session", json!({ "sessionId": session })).await;
    }
    let log = server.finish().await;
    let written = std::fs::read_to_string(&journal).unwrap();
    assert!(written.contains("evaluate_expression"), "the journal is written");
    assert!(!written.contains(token), "the journal has the token");
    assert!(log.lines().count() > 10, "the log is written");
    assert!(!log.contains(token), "the log has the token");
}

/// What a server says that does not start.
async fn refusal(args: &[&str], env: &[(&str, &str)]) -> String {
    let mut command = STILLFRAME.command();
    command.arg("serve").args(args).envs(env.iter().copied());
    let done = tokio::time::timeout(std::time::Duration::from_mins(1), command.output()).await;
    let done = done.expect("it ends").expect("it runs");
    assert!(!done.status.success(), "{args:?}");
    assert!(done.stdout.is_empty(), "{args:?}");
    String::from_utf8(done.stderr).unwrap()
}

#[tokio::test]
async fn an_exposed_configuration_is_refused_at_startup() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "abcdefghijklmnop\n").unwrap();
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let path = file.path().to_str().unwrap();
    let local = ["--http", "127.0.0.1:0"];
    let table: [(&[&str], &[Header<'_>], &str); 12] = [
        (&["--http", "0.0.0.0:0"], &[], "--http-allow-remote"),
        (&["--http", "[::]:0"], &[], "--http-allow-remote"),
        (&["--http", "0.0.0.0:0", "--no-token"], &[], "is reachable"),
        (&["--http", "0.0.0.0:0", "--http-allow-remote", "--no-token"], &[], "cannot be used with"),
        (&["--http", "example.com:80"], &[], "an address and a port"),
        (&["--no-token"], &[], "--http"),
        (&[local[0], local[1], "--token-file", path], &[], "chmod 600"),
        (&[local[0], local[1], "--token-file", "/no/such/file"], &[], "cannot be read"),
        (&local, &[("STILLFRAME_HTTP_TOKEN", "short")], "at least 16"),
        (&[local[0], local[1], "--allow-host", "debug.example:8443"], &[], "without scheme and port"),
        (&[local[0], local[1], "--allow-origin", "*"], &[], "such as https://app.example"),
        (&[local[0], local[1], "--allow-origin", "app.example"], &[], "such as https://app.example"),
    ];
    for (args, env, problem) in table {
        let answer = refusal(args, env).await;
        assert!(answer.replace('\n', " ").contains(problem), "{args:?}: {answer}");
    }
}

#[tokio::test]
async fn a_used_port_is_reported() {
    let server = STILLFRAME.serve_http().await;
    let answer = refusal(&["--http", &server.address().to_string()], &[]).await;
    assert!(answer.contains("cannot listen on 127.0.0.1:"), "{answer}");
    server.finish().await;
}
