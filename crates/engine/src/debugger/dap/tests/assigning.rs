//! Assigning to variables, by whichever request an adapter has for it.

use serde_json::json;

use super::peer::{PeerOptions, Scene};
use super::values::{page, read};
use crate::adapter::plan::Quirks;
use crate::debugger::Debugger;
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::variable::Value;

const EVALUATES: Quirks = Quirks { assigns_by_evaluating: true, ..Quirks::NONE };

/// With the locals of frame 4 listed, which are a structure with a member.
async fn listed(given: PeerOptions) -> Scene {
    let mut scene = Scene::running(given).await;
    let scopes = json!({ "scopes": [{ "name": "Locals", "variablesReference": 2 }] });
    tokio::join!(scene.debugger.scopes(RawId(4)), scene.peer.serve("scopes", scopes)).0.unwrap();
    let variable = json!({ "name": "p", "value": "point", "evaluateName": "p", "variablesReference": 5 });
    read(&mut scene, 2, page(0, 10), json!({ "variables": [variable] })).await;
    scene
}

fn member() -> serde_json::Value {
    json!({ "variables": [{ "name": "x", "value": "1", "evaluateName": "p.x" }, { "name": "y", "value": "1" }] })
}

fn text(value: Result<Value<RawId>>) -> String {
    value.unwrap().text
}

#[tokio::test(start_paused = true)]
async fn variable_is_set_by_set_variable() {
    let capabilities = json!({ "supportsSetVariable": true, "supportsSetExpression": true });
    let mut scene = listed(PeerOptions { capabilities, ..PeerOptions::default() }).await;
    // lldb-dap 19 says `result`.
    for field in ["value", "result"] {
        let served = scene.peer.serve("setVariable", json!({ field: "7", "type": "int" }));
        let (value, asked) = tokio::join!(scene.debugger.set_variable(RawId(5), "x", "3 + 4", 10), served);
        assert_eq!(asked, json!({ "variablesReference": 5, "name": "x", "value": "3 + 4" }));
        assert_eq!(text(value), "7");
    }
}

#[tokio::test(start_paused = true)]
async fn variable_is_set_by_set_expression() {
    let capabilities = json!({ "supportsSetExpression": true });
    let mut scene = listed(PeerOptions { capabilities, ..PeerOptions::default() }).await;
    let served = scene.peer.serve("setExpression", json!({ "value": "7" }));
    let (value, arguments) = tokio::join!(scene.debugger.set_variable(RawId(2), "p", "q", 10), served);
    assert_eq!(arguments, json!({ "expression": "p", "value": "q", "frameId": 4 }));
    assert_eq!(text(value), "7");
    // The members were not listed, so their expressions are unknown.
    let served = async {
        assert_eq!(scene.peer.serve("variables", member()).await["variablesReference"], 5);
        let arguments = scene.peer.serve("setExpression", json!({ "value": "8" })).await;
        assert_eq!(arguments, json!({ "expression": "p.x", "value": "8", "frameId": 4 }));
    };
    assert_eq!(text(tokio::join!(scene.debugger.set_variable(RawId(5), "x", "8", 10), served).0), "8");
}

/// `setVariable` of lldb-dap 19 takes numbers alone.
#[tokio::test(start_paused = true)]
async fn variable_is_set_by_an_assignment_expression() {
    let capabilities = json!({ "supportsSetVariable": true });
    let mut scene = listed(PeerOptions { capabilities, quirks: &EVALUATES, ..PeerOptions::default() }).await;
    read(&mut scene, 5, page(0, 10), member()).await;
    let served = scene.peer.serve("evaluate", json!({ "result": "7" }));
    let (value, asked) = tokio::join!(scene.debugger.set_variable(RawId(5), "x", "f(1)", 10), served);
    assert_eq!(asked, json!({ "expression": "p.x = f(1)", "frameId": 4, "context": "watch" }));
    assert_eq!(text(value), "7");
}

#[tokio::test(start_paused = true)]
async fn unnamed_or_missing_variables_cannot_be_set() {
    let mut scene = listed(PeerOptions { quirks: &EVALUATES, ..PeerOptions::default() }).await;
    for name in ["y", "z"] {
        let served = scene.peer.serve("variables", member());
        let (value, _) = tokio::join!(scene.debugger.set_variable(RawId(5), name, "1", 10), served);
        assert_eq!(value.unwrap_err().code(), "refused", "{name}");
    }
}

/// What a scope has is called by its name in every language.
#[tokio::test(start_paused = true)]
async fn scope_variable_is_set_by_its_plain_name() {
    let mut scene = listed(PeerOptions { quirks: &EVALUATES, ..PeerOptions::default() }).await;
    let unnamed = json!({ "variables": [{ "name": "n", "value": "1" }] });
    let served = async {
        scene.peer.serve("variables", unnamed).await;
        let arguments = scene.peer.serve("evaluate", json!({ "result": "2" })).await;
        assert_eq!(arguments, json!({ "expression": "n = 2", "frameId": 4, "context": "watch" }));
    };
    assert_eq!(text(tokio::join!(scene.debugger.set_variable(RawId(2), "n", "2", 10), served).0), "2");
}

#[tokio::test(start_paused = true)]
async fn adapter_without_assignment_is_refused() {
    let mut scene = listed(PeerOptions::default()).await;
    let error = scene.debugger.set_variable(RawId(2), "p", "1", 10).await.unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
    scene.assert_quiet().await;
}

/// lldb-dap 19 puts the reason in an unusual field.
#[tokio::test(start_paused = true)]
async fn a_refusal_has_the_adapters_message() {
    let capabilities = json!({ "supportsSetVariable": true });
    let mut scene = listed(PeerOptions { capabilities, ..PeerOptions::default() }).await;
    let served = async {
        let request = scene.peer.take("setVariable").await;
        let body = json!({ "success": false, "body": { "message": "'abc' is not a number" } });
        scene.peer.respond(&request, body).await;
    };
    let (value, ()) = tokio::join!(scene.debugger.set_variable(RawId(5), "x", "abc", 10), served);
    assert_eq!(value, Err(Error::Refused("'abc' is not a number".to_owned())));
}
