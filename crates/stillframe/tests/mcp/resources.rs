//! What there is of a session as resources: listed, read, subscribed to.

use serde_json::{Value, json};
use test_support::{Fixture, Server};

use crate::STILLFRAME;
use crate::scenes::{
    arrived, error_code, is_update, next, output_of, paused_at, printed, read_output, running, session,
};

fn is_update_of(message: &Value, uri: &str) -> bool {
    is_update(message) && message["params"]["uri"] == uri
}

#[tokio::test]
async fn the_output_of_each_session_is_listed_and_read() {
    let server = STILLFRAME.serve().await;
    let none = server.request("resources/list", json!({})).await.unwrap();
    assert_eq!(none["resources"], json!([]));
    let templates = server.request("resources/templates/list", json!({})).await.unwrap();
    let templates = templates["resourceTemplates"].as_array().unwrap();
    let uris: Vec<&Value> = templates.iter().map(|template| &template["uriTemplate"]).collect();
    let ends = ["output", "stop", "source", "journal"];
    assert_eq!(json!(uris), json!(ends.map(|end| format!("debug://sessions/{{sessionId}}/{end}"))));
    assert!(
        templates.iter().all(|template| template["title"].is_string() && template["description"].is_string())
    );

    let program = Fixture::python("shop");
    let session = paused_at(&server, &program, "pay").await;
    let list = server.request("resources/list", json!({})).await.unwrap();
    let uri = output_of(&session);
    // No journal is kept here.
    assert_eq!(list["resources"].as_array().map(Vec::len), Some(3), "{list}");
    let journal = json!({ "uri": format!("debug://sessions/{session}/journal") });
    let error = server.request("resources/read", journal).await.unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("`--log-file off`"), "{error}");
    assert_eq!(
        (&list["resources"][0]["uri"], &list["resources"][0]["title"]),
        (&json!(uri), &list["resources"][0]["name"])
    );
    let read = server.request("resources/read", json!({ "uri": uri })).await.unwrap();
    let expected = json!([{ "uri": uri, "mimeType": "text/plain", "text": "checking out\n" }]);
    assert_eq!(read["contents"], expected);
    let other = format!("stillframe://sessions/{session}/output");
    let read = server.request("resources/read", json!({ "uri": other })).await.unwrap();
    assert_eq!(read["contents"][0]["text"], "checking out\n", "the other address");

    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    let none = server.request("resources/list", json!({})).await.unwrap();
    assert_eq!(none["resources"], json!([]));
    assert_eq!(error_code(&server, "resources/read", json!({ "uri": uri })).await, -32002);
    server.finish().await;
}

/// The text of one part of a session.
async fn part(server: &Server, session: &str, end: &str) -> String {
    let uri = format!("debug://sessions/{session}/{end}");
    let read = server.request("resources/read", json!({ "uri": uri })).await.unwrap();
    read["contents"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_last_stop_is_read_without_counting_as_reported() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("shop");
    let id = session(&server).await;
    let stop = async || -> Value { serde_json::from_str(&part(&server, &id, "stop").await).unwrap() };
    assert_eq!(stop().await["state"], "created");
    let source = json!({ "uri": format!("debug://sessions/{id}/source") });
    assert_eq!(error_code(&server, "resources/read", source).await, -32002);

    let place = json!({ "sessionId": id, "file": program.path(), "line": program.line("pay") });
    server.ok("set_breakpoint", place).await;
    let start = json!({ "sessionId": id, "scriptPath": program.path(), "timeout": 60_000 });
    let reported = server.ok("start_debugging", start).await;
    for _ in 0..2 {
        let stop = stop().await;
        for field in ["state", "location", "source", "stackFrames"] {
            assert_eq!(stop[field], reported[field], "{field}: {stop}");
        }
        assert_eq!(stop["output"], Value::Null, "it was reported: {stop}");
    }
    let text = std::fs::read_to_string(program.path()).unwrap();
    assert_eq!(part(&server, &id, "source").await, text);
    server.ok("continue_execution", json!({ "sessionId": id })).await;
    assert_eq!(stop().await["state"], "ended");
    server.finish().await;
}

#[tokio::test]
async fn subscribers_are_notified_of_stops() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("shop");
    let id = paused_at(&server, &program, "pay").await;
    let uri = format!("debug://sessions/{id}/stop");
    server.request("resources/subscribe", json!({ "uri": uri })).await.unwrap();
    let mut messages = server.notifications();
    server.ok("step_over", json!({ "sessionId": id })).await;
    next(&mut messages, |message| is_update_of(message, &uri)).await;
    server.finish().await;

    let server = STILLFRAME.serve_stateless().await;
    let id = paused_at(&server, &program, "pay").await;
    let uri = format!("debug://sessions/{id}/stop");
    let mut messages = server.notifications();
    let wanted = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let _listening = server.begin("subscriptions/listen", wanted).await;
    next(&mut messages, |message| is_update_of(message, &uri)).await;
    server.finish().await;
}

#[tokio::test]
async fn the_journal_of_a_session_has_its_entries_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = STILLFRAME.options().await;
    let file = folder.path().join("journal.log").display().to_string();
    options.env.push(("STILLFRAME_LOG_FILE".to_owned(), file));
    let server = options.start().await;
    let program = Fixture::python("shop");
    let (first, second) =
        (paused_at(&server, &program, "pay").await, paused_at(&server, &program, "pay").await);
    for id in [&first, &second] {
        let text = part(&server, id, "journal").await;
        let entries: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(entries.iter().all(|entry| entry["sessionId"] == **id), "{text}");
        assert!(text.contains("start_debugging") && text.contains("checking out"), "{text}");
    }
    let listed = server.request("resources/list", json!({})).await.unwrap();
    assert_eq!(listed["resources"].as_array().map(Vec::len), Some(8));
    server.finish().await;
}

#[tokio::test]
async fn a_client_is_notified_of_opened_and_closed_sessions() {
    let server = STILLFRAME.serve().await;
    let is_change = |message: &Value| message["method"] == "notifications/resources/list_changed";
    let mut messages = server.notifications();
    let id = session(&server).await;
    next(&mut messages, is_change).await;
    server.ok("close_debug_session", json!({ "sessionId": id })).await;
    next(&mut messages, is_change).await;
    server.finish().await;
}

#[tokio::test]
async fn a_listener_is_notified_of_sessions_on_request() {
    let server = STILLFRAME.serve_stateless().await;
    let mut messages = server.notifications();
    let wanted = json!({ "notifications": { "resourcesListChanged": true } });
    let (_, _closing) = server.begin("subscriptions/listen", wanted).await;
    let is_ack = |message: &Value| message["method"] == "notifications/subscriptions/acknowledged";
    next(&mut messages, is_ack).await;
    session(&server).await;
    next(&mut messages, |message| message["method"] == "notifications/resources/list_changed").await;
    server.finish().await;
}

#[tokio::test]
async fn an_unknown_uri_is_an_error() {
    let server = STILLFRAME.serve().await;
    let id = session(&server).await;
    let table = [
        "stillframe://sessions/nobody/output".to_owned(),
        "stillframe://sessions//output".to_owned(),
        format!("stillframe://sessions/{id}/input"),
        format!("stillframe://sessions/{id}"),
        "file:///etc/passwd".to_owned(),
        String::new(),
    ];
    for uri in table {
        for method in ["resources/read", "resources/subscribe"] {
            assert_eq!(error_code(&server, method, json!({ "uri": uri })).await, -32002, "{method} {uri}");
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn subscribers_are_notified_of_output_until_they_unsubscribe() {
    let server = STILLFRAME.serve().await;
    let naps = Fixture::python("naps");
    let (heard, left) = (running(&server, &naps).await, running(&server, &naps).await);
    let (heard_uri, left_uri) = (output_of(&heard), output_of(&left));
    let mut messages = server.notifications();
    for uri in [&heard_uri, &left_uri] {
        assert_eq!(server.request("resources/subscribe", json!({ "uri": uri })).await, Ok(json!({})));
    }
    for uri in [&heard_uri, &left_uri] {
        let update = next(&mut messages, |message| is_update_of(message, uri)).await;
        assert_eq!(update["params"], json!({ "uri": uri }));
    }

    assert_eq!(server.request("resources/unsubscribe", json!({ "uri": left_uri })).await, Ok(json!({})));
    arrived(&mut messages);
    // Both print on; only one of them is heard of.
    let before = read_output(&server, &left).await.len();
    let mut unwanted = 0;
    for _ in 0..10 {
        let update = next(&mut messages, is_update).await;
        unwanted += usize::from(is_update_of(&update, &left_uri));
    }
    assert_eq!(unwanted, 0);
    assert!(read_output(&server, &left).await.len() > before, "it prints on");
    server.finish().await;
}

#[tokio::test]
async fn subscribing_twice_equals_subscribing_once() {
    let server = STILLFRAME.serve().await;
    let naps = Fixture::python("naps");
    let uri = output_of(&running(&server, &naps).await);
    for _ in 0..2 {
        server.request("resources/subscribe", json!({ "uri": uri })).await.unwrap();
    }
    let mut messages = server.notifications();
    next(&mut messages, is_update).await;
    for _ in 0..2 {
        server.request("resources/unsubscribe", json!({ "uri": uri })).await.unwrap();
    }
    arrived(&mut messages);
    let other = running(&server, &naps).await;
    let heard = output_of(&other);
    server.request("resources/subscribe", json!({ "uri": heard })).await.unwrap();
    for _ in 0..5 {
        let update = next(&mut messages, is_update).await;
        assert_eq!(update["params"]["uri"], heard);
    }
    server.finish().await;
}

#[tokio::test]
async fn a_listener_gets_only_requested_notifications() {
    let server = STILLFRAME.serve_stateless().await;
    let naps = Fixture::python("naps");
    let session = running(&server, &naps).await;
    let uri = output_of(&session);
    let mut messages = server.notifications();
    let wanted = json!({
        "notifications": {
            "resourceSubscriptions": [uri, "file:///etc/passwd"],
            "toolsListChanged": true,
        },
    });
    let (id, mut closing) = server.begin("subscriptions/listen", wanted).await;
    let is_ack = |message: &Value| message["method"] == "notifications/subscriptions/acknowledged";
    let acknowledged = next(&mut messages, is_ack).await;
    assert_eq!(acknowledged["params"]["notifications"], json!({ "resourceSubscriptions": [uri] }));
    // One that was waited with before, and has been cancelled since, may have left an update.
    let is_for_this = |message: &Value| {
        is_update(message) && message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == id
    };
    for _ in 0..3 {
        assert_eq!(next(&mut messages, is_for_this).await["params"]["uri"], uri);
    }
    assert!(closing.try_recv().is_err(), "listening goes on");

    let cancelled = json!({ "requestId": id });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled })).await;
    // Another listener's updates measure the time in which the first one hears nothing.
    let second = running(&server, &naps).await;
    arrived(&mut messages);
    let wanted = json!({ "notifications": { "resourceSubscriptions": [output_of(&second)] } });
    let _listening = server.begin("subscriptions/listen", wanted).await;
    for _ in 0..5 {
        let update = next(&mut messages, is_update).await;
        assert_eq!(update["params"]["uri"], output_of(&second));
    }
    server.finish().await;
}

#[tokio::test]
async fn a_listener_is_notified_of_existing_output_at_once() {
    // What is printed while listening begins is not missed, whenever exactly that is.
    let server = STILLFRAME.serve_stateless().await;
    let session = paused_at(&server, &Fixture::python("shop"), "pay").await;
    let mut messages = server.notifications();
    let wanted = json!({ "notifications": { "resourceSubscriptions": [output_of(&session)] } });
    let _listening = server.begin("subscriptions/listen", wanted).await;
    assert_eq!(next(&mut messages, is_update).await["params"]["uri"], output_of(&session));
    server.finish().await;
}

#[tokio::test]
async fn a_listener_gets_a_result_at_the_end() {
    let server = STILLFRAME.serve_stateless().await;
    let uri = output_of(&session(&server).await);
    let wanted = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let mut messages = server.notifications();
    let (_, closing) = server.begin("subscriptions/listen", wanted).await;
    next(&mut messages, |message| message["method"] == "notifications/subscriptions/acknowledged").await;
    // The SDK begins to listen only once it has noticed that the acknowledgment is written, and at the end of input it
    // notices nothing more (rmcp 3.9, `serve_inner`). Another answer shows that it has.
    server.request("tools/list", json!({})).await.unwrap();
    server.finish().await;
    assert_eq!(closing.await.unwrap()["result"]["resultType"], "complete");
}

#[tokio::test]
async fn reading_truncated_output_reports_the_loss() {
    let folder = tempfile::tempdir().unwrap();
    let text = "for number in range(2100):\n    print(f'{number:>999}')\nprint('last', flush=True)\n";
    let program = Fixture::write(folder.path(), "much.py", text);
    let server = STILLFRAME.serve().await;
    let session = session(&server).await;
    let start = json!({ "sessionId": session, "scriptPath": program.path() });
    assert_eq!(server.ok("start_debugging", start).await["state"], "ended");
    printed(&server, &session, "last").await;

    let output = read_output(&server, &session).await;
    let (told, kept) = output.split_once('\n').unwrap();
    let lost = told.strip_prefix("[the first ").and_then(|rest| rest.strip_suffix(" bytes were dropped]"));
    let lost: usize = lost.unwrap_or_else(|| panic!("{told}")).parse().unwrap();
    assert_eq!(lost + kept.len(), 2100 * 1000 + "last\n".len());
    assert!(kept.ends_with("2099\nlast\n"));
    assert!(kept.len() > 1_000_000, "a megabyte is kept, and not {}", kept.len());

    let first = server.ok("get_output", json!({ "sessionId": session, "since": 0, "limit": 10 })).await;
    assert_eq!(first["dropped"], lost, "the tool says the same");
    server.finish().await;
}
