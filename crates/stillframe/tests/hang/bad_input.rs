//! What cannot be diagnosed says why.

use serde_json::json;

use crate::{STILLFRAME, command, program};

#[tokio::test]
async fn a_bad_call_is_refused_with_the_reason_and_starts_nothing() {
    let server = STILLFRAME.serve().await;
    let table = [
        (json!({ "command": "" }), "invalid_arguments", "`command` is empty"),
        (json!({ "command": "no-such-command" }), "command_not_found", "`no-such-command` was not found"),
        (json!({ "command": "node", "args": ["/no/such/file.js"] }), "file_not_found", "/no/such/file.js"),
        (json!({ "command": "node x.js", "timeout": 0 }), "invalid_arguments", "between 1 and 600000 ms"),
        (
            json!({ "command": "node x.js", "timeout": 600_001 }),
            "limit_reached",
            "`timeout` is 600001: the limit `longest_wait` is 600000",
        ),
        (json!({ "command": "node x.js", "sampleInterval": 0 }), "invalid_arguments", "`sampleInterval`"),
        (
            json!({ "command": "node x.js", "sessionId": "s" }),
            "invalid_arguments",
            "cannot be combined with `sessionId`",
        ),
        (json!({ "command": "node x.js", "cwd": "/no/such/folder" }), "file_not_found", "/no/such/folder"),
        (
            json!({ "command": "/etc/passwd" }),
            "command_unknown",
            "cannot tell which language `/etc/passwd` runs",
        ),
        (json!({}), "session_not_found", "no debug session is open; pass `command` to start"),
        (json!({ "sessionId": "none" }), "session_not_found", "none"),
    ];
    for (arguments, code, problem) in table {
        let answer = server.call("diagnose_hang", arguments.clone()).await;
        assert!(answer.is_error, "{arguments}: {answer:?}");
        let message = answer.text_of("message");
        assert!(message.contains(problem), "{arguments}: {message}");
        if code != "file_not_found" {
            assert_eq!(answer.at("/code"), code, "{arguments}: {message}");
        }
    }
    assert_eq!(server.ok("list_debug_sessions", json!({})).await.at("/count"), 0);
    server.finish().await;
}

#[tokio::test]
async fn a_session_without_a_program_has_nothing_to_diagnose() {
    let server = STILLFRAME.serve().await;
    let session = server.ok("create_debug_session", json!({ "language": "python" })).await;
    server.fails("not_started", "diagnose_hang", json!({ "sessionId": session.at("/sessionId") })).await;
    server.finish().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_its_program() {
    let server = STILLFRAME.serve().await;
    let mut arguments = command(&program("while_true.js"));
    arguments["args"] = json!([program("nested.js").path()]);
    arguments["timeout"] = json!(600_000);
    let mut messages = server.notifications();
    let params = json!({ "name": "diagnose_hang", "arguments": arguments, "_meta": { "progressToken": 1 } });
    let (id, _response) = server.begin("tools/call", params).await;
    while messages.recv().await.expect("the server speaks")["method"] != "notifications/progress" {}
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    server.send(&cancel).await;
    server.finish().await;
}
