//! What the handlers of a web framework raise, which it catches.

use serde_json::{Value, json};
use test_support::{Answer, Server, python_with_packages};

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::script::Script;

const SHOP: &str = "\
import socket

from flask import Flask

app = Flask(__name__)
carts = {'a': 3}


@app.get('/carts/<name>')
def show(name):
    return {'total': carts[name]}  # @raise


if __name__ == '__main__':
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    app.run(port=port)
";

async fn ask(server: &Server, shop: &Script, url: &str, mut more: Value) -> Answer {
    more["program"] = json!(shop.path());
    more["executablePath"] = json!(python_with_packages().await);
    more["trigger"] = json!({ "http": { "url": url } });
    server.ok("run_until", more).await
}

#[tokio::test]
async fn an_exception_caught_by_a_framework_is_reported_with_how_to_stop_there() {
    let server = STILLFRAME.serve().await;
    let shop = Script::new(SHOP);
    let arguments = json!({ "exceptions": "uncaught", "close": true });
    let ran = ask(&server, &shop, "/carts/b", arguments).await;
    assert_eq!(ran.at("/trigger/status"), 500, "{}", ran.text);
    let note = ran.at("/notes/0").as_str().unwrap_or_default();
    let raised = format!("raised at {}:{} in show", shop.path(), shop.line("raise"));
    assert!(note.contains(&raised), "{}", ran.text);
    assert!(note.contains("was caught by flask (flask/app.py:"), "{}", ran.text);
    assert!(note.contains("`exceptions: userUnhandled`"), "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
async fn a_request_without_a_location_stops_where_its_handler_raises() {
    let server = STILLFRAME.serve().await;
    let shop = Script::new(SHOP);
    let ran = ask(&server, &shop, "/carts/b", json!({ "expressions": ["name"] })).await;
    assert_eq!(
        (ran.outcome(), ran.place()),
        ("exception", (shop.path(), shop.line("raise"))),
        "{}",
        ran.text
    );
    assert_eq!(ran.at("/values/0/value"), "'b'", "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
async fn exceptions_that_a_framework_raises_and_catches_do_not_stop() {
    let server = STILLFRAME.serve().await;
    let shop = Script::new(SHOP);
    let ran = ask(&server, &shop, "/nowhere", json!({ "close": true })).await;
    assert_eq!(ran.at("/trigger/status"), 404, "{}", ran.text);
    assert_eq!(ran["stateBeforeClose"], "running", "{}", ran.text);
    server.finish().await;
}
