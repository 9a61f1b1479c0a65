//! What the handlers of a web framework throw, which it catches.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Server};

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::project::Project;

const SHOP: &str = "\
const express = require('express');

const carts = { a: { price: 3 } };
const app = express();
app.get('/carts/:name', async (request, response) => {
  const { name } = request.params;
  response.json({ total: carts[name].price }); // @throw
});
app.listen(0, '127.0.0.1');
";

async fn shop() -> (Project, Fixture) {
    let project = Project::with(&["express"]).await;
    let main = project.file("main.js", SHOP);
    (project, main)
}

async fn ask(server: &Server, program: &Fixture, url: &str, mut more: Value) -> Answer {
    more["program"] = json!(program.path());
    more["trigger"] = json!({ "http": { "url": url } });
    server.ok("run_until", more).await
}

#[tokio::test]
async fn an_error_caught_by_a_framework_is_reported_with_how_to_stop_there() {
    let server = STILLFRAME.serve().await;
    let (_project, program) = shop().await;
    let arguments = json!({ "exceptions": "uncaught", "close": true });
    let ran = ask(&server, &program, "/carts/b", arguments).await;
    assert_eq!(ran.at("/trigger/status"), 500, "{}", ran.text);
    let note = ran.at("/notes/0").as_str().unwrap_or_default();
    assert!(note.contains(&format!("main.js:{} ", program.line("throw"))), "{}", ran.text);
    assert!(note.contains("was probably caught by router (lib/layer.js:"), "{}", ran.text);
    assert!(note.contains("`exceptions: userUnhandled`"), "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
async fn a_silent_500_response_is_reported_too() {
    let server = STILLFRAME.serve().await;
    let (_project, program) = shop().await;
    // Express prints no errors in a test.
    let arguments = json!({ "exceptions": "uncaught", "env": { "NODE_ENV": "test" }, "close": true });
    let ran = ask(&server, &program, "/carts/b", arguments).await;
    let note = ran.at("/notes/0").as_str().unwrap_or_default();
    assert!(
        note.starts_with("the response status was 500: an exception may have been caught"),
        "{}",
        ran.text
    );
    server.finish().await;
}

#[tokio::test]
async fn a_request_without_a_location_stops_where_its_handler_throws() {
    let server = STILLFRAME.serve().await;
    let (_project, program) = shop().await;
    let ran = ask(&server, &program, "/carts/b", json!({ "expressions": ["name"] })).await;
    assert_eq!(ran.outcome(), "exception", "{}", ran.text);
    assert_eq!(ran.at("/location/line"), program.line("throw"), "{}", ran.text);
    assert_eq!(ran.at("/values/0/value"), "'b'", "{}", ran.text);
    let answered = ask(&server, &program, "/carts/a", json!({ "close": true })).await;
    assert_eq!(answered.at("/trigger/status"), 200, "{}", answered.text);
    assert_eq!(answered["stateBeforeClose"], "running", "{}", answered.text);
    server.finish().await;
}
