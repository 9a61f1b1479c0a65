//! Requests of the server to its client: confirmations and roots.

use serde_json::{Value, json};
use test_support::{Events, HttpClient};

use crate::STILLFRAME;

/// Sends the answer to a request of the server.
async fn answer(client: &HttpClient, request: &Value, result: Value) {
    let message = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
    assert_eq!(client.post(&message, &[]).await.status, 202, "an answer is accepted");
}

/// The next request of the server on the stream of a call.
async fn request(events: &mut Events, method: &str) -> Value {
    loop {
        let event = events.message().await.expect("the stream goes on");
        if event.message["method"] == method {
            return event.message;
        }
    }
}

async fn begin(client: &HttpClient, tool: &str, arguments: Value) -> (u64, Events) {
    let (id, answered) = client.begin("tools/call", json!({ "name": tool, "arguments": arguments })).await;
    (id, answered.events())
}

#[tokio::test]
async fn the_question_comes_on_the_stream_of_its_call() {
    let server = STILLFRAME.http().await.args(&["--confirm"]).start().await;
    let client = server.client_declaring(json!({ "elicitation": {} })).await;
    let session = client.ok("create_debug_session", json!({ "language": "python" })).await;
    let evaluate = json!({ "sessionId": session["sessionId"], "expression": "1" });
    for (action, code) in [("accept", "not_paused"), ("decline", "not_confirmed")] {
        let (id, mut events) = begin(&client, "evaluate_expression", evaluate.clone()).await;
        let question = request(&mut events, "elicitation/create").await;
        assert_eq!(question["params"]["message"], "Allow the debugger to evaluate `1`?");
        answer(&client, &question, json!({ "action": action, "content": { "allow": true } })).await;
        let response = events.response(id).await.expect("the call is answered");
        assert_eq!(response["result"]["structuredContent"]["code"], code, "{action}: {response}");
    }
    let unable = server.client().await;
    let refused =
        unable.fails("confirmation_unavailable", "evaluate_expression", json!({ "expression": "1" })).await;
    assert!(refused.text.contains("--confirm"), "{}", refused.text);
    server.finish().await;
}

#[tokio::test]
async fn a_stateless_call_is_repeated_with_the_answer() {
    let server = STILLFRAME.http().await.args(&["--confirm"]).start().await;
    let client = server.stateless_declaring(json!({ "elicitation": { "form": {} } }));
    let session = client.ok("create_debug_session", json!({ "language": "python" })).await;
    let mut call = json!({
        "name": "evaluate_expression",
        "arguments": { "sessionId": session["sessionId"], "expression": "1" },
    });
    let needed = client.request("tools/call", call.clone()).await.unwrap();
    assert_eq!(needed["resultType"], "input_required", "{needed}");
    call["requestState"] = needed["requestState"].clone();
    call["inputResponses"] = json!({ "allow": { "action": "accept", "content": { "allow": true } } });
    let done = client.request("tools/call", call).await.unwrap();
    assert_eq!(done["structuredContent"]["code"], "not_paused", "{done}");
    server.finish().await;
}

/// Each client has its own roots.
#[tokio::test]
async fn the_roots_of_a_client_allow_nothing_to_another() {
    let folders = tempfile::tempdir().unwrap();
    let server = STILLFRAME.http().await.args(&["--allow-client-roots"]).start().await;
    let mut clients = Vec::new();
    for name in ["one", "other"] {
        let folder = folders.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("main.py"), "a = 1\nb = 2\n").unwrap();
        let client = server.client_declaring(json!({ "roots": {} })).await;
        let (id, mut events) = begin(&client, "list_debug_sessions", json!({})).await;
        let listing = request(&mut events, "roots/list").await;
        let roots = json!({ "roots": [{ "uri": format!("file://{}", folder.display()) }] });
        answer(&client, &listing, roots).await;
        assert!(events.response(id).await.is_some());
        clients.push((client, folder));
    }
    for (client, own) in &clients {
        for (_, folder) in &clients {
            let arguments = json!({
                "program": folder.join("main.py"), "language": "python", "until": [{ "line": 2 }],
                "close": true,
            });
            if folder == own {
                client.ok("run_until", arguments).await;
            } else {
                client.fails("not_allowed", "run_until", arguments).await;
            }
        }
    }
    server.finish().await;
}
