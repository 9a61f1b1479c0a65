//! Expressions and exceptions.

use std::time::Duration;

use serde_json::json;

use super::super::lock;
use super::peer::{PeerOptions, Scene};
use crate::adapter::plan::{Quirks, ReadFirst};
use crate::deadlines;
use crate::debugger::{Debugger, Evaluate};
use crate::error::Error;
use crate::model::ids::RawId;
use crate::model::stop::Exception;

const LIMIT: Duration = Duration::from_secs(3);

pub(super) fn asking(expression: &str) -> Evaluate {
    Evaluate { expression: expression.to_owned(), frame: RawId(4), deadline: LIMIT, text: 5, pure: false }
}

#[tokio::test(start_paused = true)]
async fn values_are_evaluated_in_the_portable_context() {
    let mut scene = Scene::offering(json!({})).await;
    let answer =
        json!({ "result": "int[100]", "type": "int[100]", "variablesReference": 9, "indexedVariables": 100 });
    let served = scene.peer.serve("evaluate", answer);
    let (value, asked) = tokio::join!(scene.debugger.evaluate(asking("list")), served);
    assert_eq!(asked, json!({ "expression": "list", "frameId": 4, "context": "watch" }));
    let value = value.unwrap();
    assert_eq!(
        (value.text.as_str(), value.length, value.type_name.as_str()),
        ("int[1...", Some(8), "int[100]")
    );
    assert_eq!((value.reference, value.children), (Some(RawId(9)), Some(100)));
    // Its children come in pages too.
    let (asked, _) =
        super::values::read(&mut scene, 9, super::values::page(0, 1), json!({ "variables": [] })).await;
    assert_eq!(asked["filter"], "indexed");
}

const PREFIXED: Quirks =
    Quirks { message: |text| text.trim_start_matches("error: ").to_owned(), ..Quirks::NONE };

#[tokio::test(start_paused = true)]
async fn errors_are_found_in_any_field_of_the_reply() {
    let table = [
        ("lldb-dap 19, debugpy", json!({ "message": "error: no x" })),
        (
            "lldb-dap 22, delve",
            json!({ "body": { "error": { "id": 1, "format": "no {n}", "variables": { "n": "x" } } } }),
        ),
        ("delve", json!({ "message": "Unable to", "body": { "error": { "format": "no x" } } })),
        ("lldb-dap 19, of an assignment", json!({ "body": { "message": "no x" } })),
    ];
    for (adapter, fields) in table {
        let mut scene = Scene::running(PeerOptions { quirks: &PREFIXED, ..PeerOptions::default() }).await;
        let served = async {
            let request = scene.peer.take("evaluate").await;
            let mut response = json!({ "success": false });
            response.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            scene.peer.respond(&request, response).await;
        };
        let (value, ()) = tokio::join!(scene.debugger.evaluate(asking("x")), served);
        let empty = String::new;
        let expected = Error::Raised { type_name: empty(), message: "no x".to_owned(), traceback: empty() };
        assert_eq!(value, Err(expected), "{adapter}");
    }
}

#[tokio::test(start_paused = true)]
async fn side_effect_free_evaluation_needs_adapter_support() {
    let pure = || Evaluate { pure: true, ..asking("x") };
    let mut scene = Scene::offering(json!({ "supportsEvaluateForHovers": true })).await;
    let served = scene.peer.serve("evaluate", json!({ "result": "1" }));
    let (value, asked) = tokio::join!(scene.debugger.evaluate(pure()), served);
    assert_eq!((value.unwrap().text.as_str(), &asked["context"]), ("1", &json!("hover")));
    let mut scene = Scene::offering(json!({})).await;
    let error = scene.debugger.evaluate(pure()).await.unwrap_err();
    assert!(error.code() == "unsupported" && error.to_string().contains("`sideEffects`"), "{error}");
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn unanswered_evaluation_times_out_and_is_cancelled_if_supported() {
    for cancels in [true, false] {
        let mut scene = Scene::offering(json!({ "supportsCancelRequest": cancels })).await;
        let begin = tokio::time::Instant::now();
        let (value, request) =
            tokio::join!(scene.debugger.evaluate(asking("x")), scene.peer.take("evaluate"));
        assert_eq!(value.unwrap_err().code(), "deadline_exceeded");
        assert_eq!(begin.elapsed(), LIMIT + deadlines::EVALUATE_GRACE);
        if cancels {
            assert_eq!(scene.peer.take("cancel").await["arguments"], json!({ "requestId": request["seq"] }));
            scene.peer.refuse(&request, "cancelled").await;
        }
        scene.assert_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn abandoned_evaluation_is_cancelled() {
    let mut scene = Scene::offering(json!({ "supportsCancelRequest": true })).await;
    let debugger = scene.debugger.clone();
    let evaluating = tokio::spawn(async move { debugger.evaluate(asking("x")).await });
    let request = scene.peer.take("evaluate").await;
    evaluating.abort();
    assert_eq!(scene.peer.take("cancel").await["arguments"], json!({ "requestId": request["seq"] }));
}

#[tokio::test(start_paused = true)]
async fn exceptions_are_assembled_from_available_fields() {
    const WORDS: Quirks = Quirks {
        exception: |exception| Exception { message: exception.message.to_uppercase(), ..exception },
        ..Quirks::NONE
    };
    let exception = |type_name: &str, message: &str, stack: &str, uncaught| Exception {
        type_name: type_name.to_owned(),
        message: message.to_owned(),
        stack: stack.to_owned(),
        uncaught,
    };
    let table = [
        (
            json!({ "exceptionId": "E", "description": "d", "breakMode": "unhandled",
                    "details": { "message": "m", "typeName": "T", "stackTrace": "at f" } }),
            exception("E", "D", "at f", true),
        ),
        (
            json!({ "exceptionId": "", "breakMode": "always", "details": { "message": "m", "typeName": "T" } }),
            exception("T", "M", "", false),
        ),
        (json!({}), exception("", "", "", false)),
    ];
    let given = PeerOptions {
        quirks: &WORDS,
        capabilities: json!({ "supportsExceptionInfoRequest": true }),
        ..PeerOptions::default()
    };
    let mut scene = Scene::running(given).await;
    for (info, expected) in table {
        let served = scene.peer.serve("exceptionInfo", info);
        let (exception, asked) = tokio::join!(scene.debugger.exception(RawId(1)), served);
        assert_eq!((exception, asked), (Ok(expected), json!({ "threadId": 1 })));
    }
}

const NEEDS_OTHER: Quirks = Quirks {
    read_first: Some(ReadFirst {
        expression: "other",
        scope_may_lack: |name| name == "Optimized",
        may_lack: |text| text == "unread",
    }),
    is_call: |expression| expression.ends_with(')'),
    ..Quirks::NONE
};

/// What the adapter is asked for while expressions are evaluated at a stop, by its answers for them.
async fn asked_for(scene: &mut Scene, answers: &[(&str, &str)]) -> Vec<String> {
    let mut asked = Vec::new();
    for (expression, result) in answers {
        let debugger = scene.debugger.clone();
        let evaluating = async { debugger.evaluate(asking(expression)).await.unwrap().text };
        let served = async {
            let (mut result, mut is_whole) = (*result, false);
            while !is_whole {
                let request = scene.peer.take("evaluate").await;
                let name = request["arguments"]["expression"].as_str().unwrap().to_owned();
                is_whole = name != "other" && result != "unread";
                scene.peer.answer(&request, json!({ "result": result })).await;
                result = if name == "other" { "whole" } else { result };
                asked.push(name);
            }
        };
        let (text, ()) = tokio::join!(evaluating, served);
        assert!(["1", "whole"].contains(&text.as_str()), "{expression}: {text}");
    }
    asked
}

#[tokio::test(start_paused = true)]
async fn what_other_values_need_is_read_where_one_may_lack_it() {
    let mut scene = Scene::running(PeerOptions { quirks: &NEEDS_OTHER, ..PeerOptions::default() }).await;
    assert_eq!(asked_for(&mut scene, &[("n", "1"), ("n", "1")]).await, ["n", "n"]);
    let first = [("x", "unread"), ("x", "1"), ("f()", "1"), ("x", "1")];
    // A call runs the program, which makes the adapter forget.
    assert_eq!(asked_for(&mut scene, &first).await, ["x", "other", "x", "x", "f()", "other", "x"]);
    lock(&scene.debugger.0.references).forget();
    assert_eq!(asked_for(&mut scene, &[("f()", "1")]).await, ["other", "f()"]);
    for (name, requests) in [("Locals", 1), ("Optimized", 2)] {
        lock(&scene.debugger.0.references).forget();
        let body = json!({ "scopes": [{ "name": name, "variablesReference": 1, "expensive": false }] });
        let served = async {
            for number in 0..requests {
                scene.peer.serve("scopes", body.clone()).await;
                if number == 0 && requests == 2 {
                    scene.peer.serve("evaluate", json!({ "result": "whole" })).await;
                }
            }
        };
        let (scopes, ()) = tokio::join!(scene.debugger.scopes(RawId(1)), served);
        assert_eq!(scopes.unwrap().len(), 1, "{name}");
        scene.assert_quiet().await;
    }
}
