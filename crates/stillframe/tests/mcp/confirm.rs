//! `--confirm`: the client's user is asked before a call changes something.

use serde_json::{Value, json};
use test_support::{Fixture, ProtocolEra, Server, ServerOptions};

use crate::STILLFRAME;
use crate::scenes::{Listening, arrived, next, paused_at, session};

/// A server that asks, and its client.
async fn serve(era: ProtocolEra, capabilities: Value) -> Server {
    let args = ["serve", "--confirm"].map(str::to_owned).to_vec();
    ServerOptions { args, era, capabilities, ..STILLFRAME.options().await }.start().await
}

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn accepted() -> Value {
    json!({ "action": "accept", "content": { "allow": true } })
}

/// Calls a tool whose call its user is asked about; returns the question and the tool's result.
async fn asked(server: &Server, tool: &str, arguments: &Value, answer: Value) -> (Value, Value) {
    let mut requests = server.notifications();
    let params = json!({ "name": tool, "arguments": arguments });
    let (_, response) = server.begin("tools/call", params).await;
    let question = server.answer_request(&mut requests, "elicitation/create", answer).await;
    (question, Server::reply(tool, response).await.expect("a result"))
}

#[tokio::test]
async fn a_call_is_made_once_the_user_allows_it() {
    let server = serve(ProtocolEra::Handshake, forms()).await;
    let shop = Fixture::python("shop");
    let id = paused_at(&server, &shop, "pay").await;
    let assign = json!({ "sessionId": id, "name": "amount", "value": "41" });
    let (question, result) = asked(&server, "set_variable", &assign, accepted()).await;
    assert_eq!(question["message"], "Allow the debugger to set `amount` to `41`?");
    assert_eq!(question["mode"], "form");
    let schema = &question["requestedSchema"];
    assert_eq!(schema["properties"]["allow"]["type"], "boolean", "{question}");
    assert_eq!((&schema["type"], &schema["required"]), (&json!("object"), &json!(["allow"])));
    assert_eq!(result["structuredContent"]["value"], "41", "{result}");
    // What changes nothing needs no answer.
    let value = json!({ "sessionId": id, "expression": "amount", "sideEffects": false });
    assert_eq!(server.ok("evaluate_expression", value).await["result"], "41");
    server.ok("step_over", json!({ "sessionId": id })).await;
    server.ok("close_debug_session", json!({ "sessionId": id })).await;
    server.finish().await;
}

#[tokio::test]
async fn nothing_happens_unless_the_user_allows_it() {
    let server = serve(ProtocolEra::Handshake, json!({ "elicitation": {} })).await;
    let shop = Fixture::python("shop");
    let id = paused_at(&server, &shop, "pay").await;
    let evaluate = json!({ "sessionId": id, "expression": "amount = 99" });
    let empty = "the client accepted the form without its required field `allow`, which is not consent";
    let table = [
        (json!({ "action": "accept" }), empty),
        (json!({ "action": "accept", "content": {} }), empty),
        (json!({ "action": "decline" }), "the user declined"),
        (json!({ "action": "cancel" }), "the user dismissed the question"),
        (json!({ "action": "accept", "content": { "allow": false } }), "the user declined"),
        (json!({ "action": "accept", "content": { "allow": "yes" } }), "the user declined"),
        (json!({ "roots": [] }), "the client's answer is not an elicitation result"),
    ];
    for (answer, reason) in table {
        let (_, result) = asked(&server, "evaluate_expression", &evaluate, answer.clone()).await;
        let error = &result["structuredContent"];
        assert_eq!((&result["isError"], &error["code"]), (&json!(true), &json!("not_confirmed")), "{answer}");
        let expected = format!("{reason}: evaluate `amount = 99`");
        assert_eq!(error["error"], expected.as_str(), "{answer}");
    }
    let left = json!({ "sessionId": id, "expression": "amount", "sideEffects": false });
    assert_eq!(server.ok("evaluate_expression", left).await["result"], "11");
    server.finish().await;
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_refused() {
    for era in [ProtocolEra::Handshake, ProtocolEra::Stateless] {
        // Forms are not among what the last one can show.
        for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
            let server = serve(era, capabilities).await;
            let id = session(&server).await;
            let attach = json!({ "sessionId": id, "processId": server.pid() });
            let refused = server.fails("confirmation_unavailable", "attach_to_process", attach).await;
            assert!(refused.text.contains("--confirm"), "{}", refused.text);
            assert!(
                refused.text.contains(&format!("attach to process {}", server.pid())),
                "{}",
                refused.text
            );
            server.finish().await;
        }
    }
}

#[tokio::test]
async fn a_program_is_attached_to_and_ended_only_with_consent() {
    let server = serve(ProtocolEra::Handshake, forms()).await;
    let mut program = Listening::start().await;
    let id = session(&server).await;
    let attach = json!({ "sessionId": id, "port": program.port, "stopOnEntry": false });
    let (question, result) =
        asked(&server, "attach_to_process", &attach, json!({ "action": "decline" })).await;
    let expected = format!("Allow the debugger to attach to the program at 127.0.0.1:{}?", program.port);
    assert_eq!(question["message"], expected.as_str());
    assert_eq!(result["isError"], true);
    program.say("first").await;
    program.answers("first").await;
    let (_, result) = asked(&server, "attach_to_process", &attach, accepted()).await;
    assert_eq!(result["structuredContent"]["success"], true, "{result}");
    let end = json!({ "sessionId": id, "terminateProcess": true });
    let (question, _) = asked(&server, "detach_from_process", &end, json!({ "action": "decline" })).await;
    assert_eq!(question["message"], "Allow the debugger to end the attached program?");
    program.say("second").await;
    program.answers("second").await;
    server.ok("detach_from_process", json!({ "sessionId": id })).await;
    program.end().await;
    server.finish().await;
}

#[tokio::test]
async fn a_cancelled_call_withdraws_its_question() {
    let server = serve(ProtocolEra::Handshake, forms()).await;
    let id = session(&server).await;
    let mut messages = server.notifications();
    let call = json!({ "name": "evaluate_expression", "arguments": { "sessionId": id, "expression": "1" } });
    let (number, _) = server.begin("tools/call", call).await;
    let question = next(&mut messages, |message| message["method"] == "elicitation/create").await;
    let cancelled = json!({ "requestId": number });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled })).await;
    let withdrawn = next(&mut messages, |message| message["method"] == "notifications/cancelled").await;
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    assert_eq!(server.request("ping", json!({})).await, Ok(json!({})));
    server.finish().await;
}

/// Revision 2026-07-28: the question is a result, and the call is repeated with the answer.
#[tokio::test]
async fn a_stateless_call_is_repeated_with_the_answer() {
    let server = serve(ProtocolEra::Stateless, forms()).await;
    let shop = Fixture::python("shop");
    let id = paused_at(&server, &shop, "pay").await;
    let mut messages = server.notifications();
    let call = |value: &str| json!({ "name": "set_variable", "arguments": { "sessionId": id, "name": "amount", "value": value } });
    let needed = server.request("tools/call", call("41")).await.unwrap();
    assert_eq!(needed["resultType"], "input_required", "{needed}");
    let question = &needed["inputRequests"]["allow"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Allow the debugger to set `amount` to `41`?");
    let state = needed["requestState"].as_str().unwrap();
    let with = |mut call: Value, state: &str, answer: Value| {
        call["inputResponses"] = json!({ "allow": answer });
        call["requestState"] = json!(state);
        call
    };
    // An answer to another question, or to none, is none to this one.
    for wrong in [with(call("42"), state, accepted()), with(call("41"), "made-up", accepted())] {
        let asked_again = server.request("tools/call", wrong).await.unwrap();
        assert_eq!(asked_again["resultType"], "input_required", "{asked_again}");
    }
    let needed = server.request("tools/call", call("41")).await.unwrap();
    let state = needed["requestState"].as_str().unwrap();
    let set = server.request("tools/call", with(call("41"), state, accepted())).await.unwrap();
    assert_eq!(set["structuredContent"]["value"], "41", "{set}");
    let used = server.request("tools/call", with(call("41"), state, accepted())).await.unwrap();
    assert_eq!(used["resultType"], "input_required", "an answer holds for one call: {used}");
    let state = used["requestState"].as_str().unwrap();
    let declined = with(call("41"), state, json!({ "action": "decline" }));
    let declined = server.request("tools/call", declined).await.unwrap();
    assert_eq!(declined["structuredContent"]["code"], "not_confirmed", "{declined}");
    let asked: Vec<Value> = arrived(&mut messages);
    assert!(!asked.iter().any(|message| message.get("id").is_some()), "no request is sent: {asked:?}");
    server.finish().await;
}

/// The refusal repeats the question, and hides in it what any answer hides.
#[tokio::test]
async fn a_refusal_shows_no_credential() {
    let server = serve(ProtocolEra::Handshake, forms()).await;
    let id = session(&server).await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let assign = json!({ "sessionId": id, "name": "x", "value": format!("'{secret}'") });
    let (question, result) = asked(&server, "set_variable", &assign, json!({ "action": "decline" })).await;
    assert!(question["message"].as_str().unwrap().contains(secret), "the user sees what is set: {question}");
    assert!(!result.to_string().contains(secret), "{result}");
    server.finish().await;
}
