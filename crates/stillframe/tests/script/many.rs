//! Calls side by side, and calls that are given up.

use serde_json::{Value, json};
use test_support::{Server, tries_everything};

use crate::{MAIN, Scripting};

fn arguments(scripting: &Scripting) -> Value {
    json!({
        "command": "node --inspect-brk=9229 main.js",
        "breakpoint": { "file": "main.js", "line": scripting.line("main.js", "here") },
        "expression": "square",
        "timeout": 20_000,
    })
}

#[tokio::test]
async fn simultaneous_calls_with_the_same_port_do_not_collide() {
    let scripting = Scripting::with_files(&[("main.js", MAIN)]).await;
    let (one, other) =
        tokio::join!(scripting.call(arguments(&scripting)), scripting.call(arguments(&scripting)));
    for result in [one, other] {
        let values = result["structuredContent"]["results"].as_array().unwrap();
        assert_eq!(values.iter().map(|result| &result["value"]).collect::<Vec<_>>(), [1, 4, 9], "{result}");
    }
    scripting.finish().await;
}

#[tokio::test]
async fn many_simultaneous_calls_succeed() {
    let scripting = Scripting::with_files(&[("main.js", MAIN)]).await;
    let mut request = arguments(&scripting);
    // Its clock starts when its program does, however many are before it.
    request["timeout"] = json!(10_000);
    let params = json!({ "name": "debug-script", "arguments": request });
    let mut responses = Vec::new();
    for _ in 0..if tries_everything() { 50 } else { 15 } {
        responses.push(scripting.server.begin("tools/call", params.clone()).await.1);
    }
    for response in responses {
        let result = Server::reply("debug-script", response).await.unwrap();
        assert_eq!(
            result["structuredContent"]["results"][2],
            json!({ "type": "number", "value": 9 }),
            "{result}"
        );
    }
    scripting.finish().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_its_program() {
    let text = "setInterval(() => {\n  Date.now(); // @here\n}, 5);\nrequire('node:fs').writeFileSync('pid', `${process.pid}`);\n";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    let mut request = arguments(&scripting);
    request["expression"] = json!("1");
    request["timeout"] = json!(600_000);
    let mut messages = scripting.server.notifications();
    let params = json!({ "name": "debug-script", "arguments": request, "_meta": { "progressToken": 1 } });
    let (id, _response) = scripting.server.begin("tools/call", params).await;
    while messages.recv().await.unwrap()["method"] != "notifications/progress" {}
    // The call reports its progress each second, however far the program is.
    let file = scripting.folder().join("pid");
    let written = || std::fs::read_to_string(&file).unwrap_or_default();
    test_support::eventually(|| !written().is_empty()).await;
    let pid = written();
    let cancelled =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    scripting.server.send(&cancelled).await;
    while scripting.server.mark().processes().iter().any(|(known, _)| known.to_string() == pid) {}
    scripting.finish().await;
}
