//! `--allow-client-roots`: files and programs are restricted to the folders that the client lists.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{ProtocolEra, Server, ServerOptions};

use crate::STILLFRAME;

/// Two folders with a program in each.
struct Folders(tempfile::TempDir);

impl Folders {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one", "the other"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("main.py"), "a = 1\nb = 2\n").unwrap();
        }
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A list of roots with one folder.
    fn roots(&self, name: &str) -> Value {
        let uri = format!("file://{}", self.path().join(name).display()).replace(' ', "%20");
        json!({ "roots": [{ "uri": uri, "name": name }, { "uri": "https://example.com/repository" }] })
    }

    /// A call that starts the program in a folder.
    fn run(&self, name: &str) -> Value {
        let program = self.path().join(name).join("main.py");
        let arguments =
            json!({ "program": program, "language": "python", "until": [{ "line": 2 }], "close": true });
        json!({ "name": "run_until", "arguments": arguments })
    }
}

async fn serve(era: ProtocolEra, capabilities: Value, more: &[&str]) -> Server {
    let args = ["serve", "--allow-client-roots"].iter().chain(more).map(|arg| (*arg).to_owned()).collect();
    ServerOptions { args, era, capabilities, ..STILLFRAME.options().await }.start().await
}

fn declared() -> Value {
    json!({ "roots": { "listChanged": true } })
}

/// The reason for the stop, or the code of the failure.
fn outcome(result: &Value) -> &Value {
    let data = &result["structuredContent"];
    if result["isError"] == true { &data["code"] } else { &data["reason"] }
}

#[tokio::test]
async fn programs_outside_the_roots_are_refused_and_changes_count() {
    let folders = Folders::new();
    let server = serve(ProtocolEra::Handshake, declared(), &[]).await;
    let mut requests = server.notifications();
    let (_, first) = server.begin("tools/call", folders.run("one")).await;
    server.answer_request(&mut requests, "roots/list", folders.roots("one")).await;
    let first = Server::reply("run_until", first).await.unwrap();
    assert_eq!(outcome(&first), "breakpoint", "{first}");
    // The client is not asked again.
    let outside = server.request("tools/call", folders.run("the other")).await.unwrap();
    assert_eq!(outcome(&outside), "not_allowed", "{outside}");
    let message = outside["structuredContent"]["message"].as_str().unwrap();
    assert!(message.contains("allowed folders: ") && message.contains("/one"), "{message}");
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" })).await;
    let (_, other) = server.begin("tools/call", folders.run("the other")).await;
    server.answer_request(&mut requests, "roots/list", folders.roots("the other")).await;
    let other = Server::reply("run_until", other).await.unwrap();
    assert_eq!(outcome(&other), "breakpoint", "{other}");
    let outside = server.request("tools/call", folders.run("one")).await.unwrap();
    assert_eq!(outcome(&outside), "not_allowed", "{outside}");
    server.finish().await;
}

#[tokio::test]
async fn roots_outside_the_allowed_folders_allow_nothing() {
    let folders = Folders::new();
    let inside = folders.path().join("one").display().to_string();
    let server = serve(ProtocolEra::Handshake, declared(), &["--allow-root", &inside]).await;
    let mut requests = server.notifications();
    for (name, expected) in [("the other", "not_allowed"), ("one", "breakpoint")] {
        let (_, call) = server.begin("tools/call", folders.run(name)).await;
        server.answer_request(&mut requests, "roots/list", folders.roots(name)).await;
        let result = Server::reply("run_until", call).await.unwrap();
        assert_eq!(outcome(&result), expected, "{result}");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" })).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_client_without_roots_is_refused() {
    let folders = Folders::new();
    for era in [ProtocolEra::Handshake, ProtocolEra::Stateless] {
        let server = serve(era, json!({}), &[]).await;
        let refused = server.request("tools/call", folders.run("one")).await.unwrap();
        assert_eq!(outcome(&refused), "no_client_roots", "{refused}");
        let message = refused["structuredContent"]["message"].as_str().unwrap();
        assert!(message.contains("--allow-client-roots") && message.contains("--allow-root"), "{message}");
        server.finish().await;
    }
}

#[tokio::test]
async fn a_list_that_fails_is_an_error_and_is_asked_for_again() {
    let folders = Folders::new();
    let server = serve(ProtocolEra::Handshake, declared(), &[]).await;
    let mut requests = server.notifications();
    let (_, call) = server.begin("tools/call", folders.run("one")).await;
    server.answer_request(&mut requests, "roots/list", json!({ "action": "decline" })).await;
    let refused = Server::reply("run_until", call).await.unwrap();
    assert_eq!(outcome(&refused), "no_client_roots", "{refused}");
    let (_, call) = server.begin("tools/call", folders.run("one")).await;
    server.answer_request(&mut requests, "roots/list", folders.roots("one")).await;
    let stopped = Server::reply("run_until", call).await.unwrap();
    assert_eq!(outcome(&stopped), "breakpoint", "{stopped}");
    server.finish().await;
}

/// Revision 2026-07-28: the call is repeated with the roots.
#[tokio::test]
async fn a_stateless_call_is_repeated_with_the_roots() {
    let folders = Folders::new();
    let server = serve(ProtocolEra::Stateless, declared(), &[]).await;
    let needed = server.request("tools/call", folders.run("one")).await.unwrap();
    assert_eq!(needed["resultType"], "input_required", "{needed}");
    assert_eq!(needed["inputRequests"]["roots"]["method"], "roots/list", "{needed}");
    let mut again = folders.run("one");
    again["inputResponses"] = json!({ "roots": folders.roots("one") });
    let stopped = server.request("tools/call", again).await.unwrap();
    assert_eq!(outcome(&stopped), "breakpoint", "{stopped}");
    // They hold for a while.
    let outside = server.request("tools/call", folders.run("the other")).await.unwrap();
    assert_eq!(outcome(&outside), "not_allowed", "{outside}");
    server.finish().await;
}
