//! Breakpoints: what is sent for them, and what they come to.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::peer::{PeerOptions, Scene};
use super::rules::{at, rule, stops};
use crate::debugger::{BindResult, Debugger, Event, FunctionBreakpoint, RuleFor, SourceBreakpoint};
use crate::error::{Error, Result};
use crate::model::breakpoint::Rule;
use crate::model::ids::BreakpointId;
use crate::model::stop::StopReason;
use crate::recording::{CellFormat, Record, Recorder};

/// Sets breakpoints of `/w/main.c`: what is asked, and what comes of the answer.
async fn set(scene: &mut Scene, wanted: Vec<SourceBreakpoint>, answer: Json) -> (Json, Vec<BindResult>) {
    let served = scene.peer.serve("setBreakpoints", json!({ "breakpoints": answer }));
    let (result, asked) =
        tokio::join!(scene.debugger.set_breakpoints(Path::new("/w/main.c"), wanted), served);
    (asked, result.unwrap())
}

#[tokio::test(start_paused = true)]
async fn breakpoints_report_the_adapters_result() {
    let bound =
        |line, column| BindResult::Bound { line, column, columns: Vec::new(), function: None, warning: None };
    let unbound = |message: &str| BindResult::NotLoaded(message.to_owned());
    let silent = unbound("no loaded code has debug information for this location");
    let table = [
        (json!({ "id": 1, "verified": true, "line": 4 }), bound(Some(4), None)),
        (json!({ "id": 2, "verified": true, "line": 4, "column": 7 }), bound(Some(4), Some(7))),
        (json!({ "verified": true }), bound(None, None)),
        (json!({ "verified": true, "line": 0, "column": 0 }), bound(None, None)),
        (json!({ "id": 3, "verified": true, "line": "5" }), bound(Some(5), None)),
        (json!({ "id": 4, "verified": false, "line": 3 }), silent.clone()),
        (json!({ "id": 5, "verified": false, "message": "" }), silent),
        (json!({ "id": 6, "verified": false, "message": "not yet" }), unbound("not yet")),
    ];
    for (answer, expected) in table {
        let mut scene = Scene::offering(json!({})).await;
        let (_, result) = set(&mut scene, vec![at(3, 1, Rule::default())], json!([answer])).await;
        assert_eq!(result, [expected], "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn breakpoint_missing_from_the_reply_is_refused() {
    let mut scene = Scene::offering(json!({})).await;
    let wanted = vec![at(3, 1, Rule::default()), at(4, 2, Rule::default())];
    let (_, result) = set(&mut scene, wanted, json!([{ "id": 1, "verified": true, "line": 3 }])).await;
    let refused = BindResult::Refused("the debugger did not report its state".to_owned());
    assert_eq!(result, [BindResult::on(Some(3)), refused]);
}

#[tokio::test(start_paused = true)]
async fn lines_and_columns_are_sent_as_requested() {
    let mut scene = Scene::offering(json!({})).await;
    let with_column = SourceBreakpoint { column: Some(13), ..at(3, 1, Rule::default()) };
    let answer =
        json!([{ "id": 1, "verified": true, "line": 3, "column": 9 }, { "id": 2, "verified": false }]);
    let (asked, result) = set(&mut scene, vec![with_column, at(9, 2, Rule::default())], answer).await;
    let expected = json!({
        "source": { "name": "main.c", "path": "/w/main.c" },
        "breakpoints": [{ "line": 3, "column": 13 }, { "line": 9 }],
    });
    assert_eq!(asked, expected);
    let bound = BindResult::Bound {
        line: Some(3),
        column: Some(9),
        columns: Vec::new(),
        function: None,
        warning: None,
    };
    assert_eq!(result[0], bound);
}

/// Adapters differ in everything else, so it is applied here.
#[tokio::test(start_paused = true)]
async fn a_plain_condition_is_delegated_if_the_adapter_supports_it() {
    let conditional = json!({ "supportsConditionalBreakpoints": true, "supportsLogPoints": true,
                              "supportsHitConditionalBreakpoints": true });
    let only = || vec![rule(1, "x > 1", "", "")];
    let table = [
        ("a condition", conditional.clone(), only(), json!({ "line": 3, "condition": "x > 1" })),
        ("without the capability", json!({}), only(), json!({ "line": 3 })),
        ("with a hit count", conditional.clone(), vec![rule(1, "x > 1", "% 2", "")], json!({ "line": 3 })),
        ("with a message", conditional.clone(), vec![rule(1, "x > 1", "", "x")], json!({ "line": 3 })),
        (
            "two on a line",
            conditional.clone(),
            vec![rule(1, "x > 1", "", ""), rule(2, "", "", "")],
            json!({ "line": 3 }),
        ),
        ("none", conditional, vec![rule(1, "", "", "")], json!({ "line": 3 })),
    ];
    for (what, capabilities, rules, expected) in table {
        let mut scene = Scene::offering(capabilities).await;
        let wanted = vec![SourceBreakpoint { line: 3, column: None, rules }];
        let (asked, _) = set(&mut scene, wanted, json!([{ "id": 1, "verified": true, "line": 3 }])).await;
        assert_eq!(asked["breakpoints"], json!([expected]), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn function_breakpoints_are_sent_if_the_adapter_supports_them() {
    let can = json!({ "supportsFunctionBreakpoints": true, "supportsConditionalBreakpoints": true });
    let mut scene = Scene::offering(can).await;
    let function = |name: &str, rule| FunctionBreakpoint { name: name.to_owned(), rules: vec![rule] };
    let wanted = vec![function("add", rule(1, "x > 1", "", "")), function("gone", rule(2, "", "", ""))];
    let answer =
        json!({ "breakpoints": [{ "id": 1, "verified": true, "line": 4 }, { "id": 2, "verified": false }] });
    let served = scene.peer.serve("setFunctionBreakpoints", answer);
    let (result, asked) = tokio::join!(scene.debugger.set_function_breakpoints(wanted), served);
    assert_eq!(
        asked,
        json!({ "breakpoints": [{ "name": "add", "condition": "x > 1" }, { "name": "gone" }] })
    );
    assert_eq!(result.unwrap()[0], BindResult::on(Some(4)));
    // Breakpoints of a file do not take those away.
    set(&mut scene, Vec::new(), json!([])).await;
    scene.peer.stopped("function breakpoint", &[1]).await;
    assert_eq!(scene.event().await, stops(&[1]));
}

#[tokio::test(start_paused = true)]
async fn a_breakpoint_event_updates_its_location() {
    let mut scene = Scene::offering(json!({})).await;
    let answer = json!([{ "id": 7, "verified": true, "line": 3 }, { "id": 8, "verified": false }]);
    set(&mut scene, vec![at(3, 1, Rule::default()), at(9, 2, Rule::default())], answer).await;
    let changed = [
        json!({ "id": 99, "verified": true, "line": 1 }),
        json!({ "verified": true, "line": 1 }),
        json!({ "id": 8, "verified": true, "line": 10 }),
        json!({ "id": 8, "verified": false, "message": "unloaded" }),
    ];
    for breakpoint in changed {
        scene.peer.event("breakpoint", json!({ "reason": "changed", "breakpoint": breakpoint })).await;
    }
    let result = |result| Event::BindResult { id: BreakpointId(2), result };
    assert_eq!(scene.event().await, result(BindResult::on(Some(10))));
    assert_eq!(scene.event().await, result(BindResult::NotLoaded("unloaded".to_owned())));
}

/// lldb-dap has one breakpoint for a line, whatever the columns.
#[tokio::test(start_paused = true)]
async fn breakpoints_at_one_adapter_location_are_hit_together() {
    let mut scene = Scene::offering(json!({})).await;
    let bound = json!({ "id": 7, "verified": true, "line": 4 });
    set(&mut scene, vec![at(3, 1, Rule::default()), at(4, 2, Rule::default())], json!([bound, bound])).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    assert_eq!(scene.event().await, stops(&[1, 2]));
}

#[tokio::test(start_paused = true)]
async fn replaced_breakpoints_are_no_longer_hit() {
    let mut scene = Scene::offering(json!({})).await;
    set(&mut scene, vec![at(3, 1, Rule::default())], json!([{ "id": 7, "verified": true, "line": 3 }])).await;
    set(&mut scene, vec![at(3, 2, Rule::default())], json!([{ "id": 7, "verified": true, "line": 3 }])).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    assert_eq!(scene.event().await, stops(&[2]));
}

/// The specification lets an adapter leave out the numbers in all of these places. rdbg answers for a breakpoint with
/// nothing but `verified`.
#[tokio::test(start_paused = true)]
async fn a_hit_breakpoint_is_found_by_the_stop_location() {
    let answers = [
        json!({ "id": 7, "verified": true, "line": 4 }),
        json!({ "verified": true, "line": 4 }),
        json!({ "id": 7, "verified": true }),
        json!({ "verified": true }),
    ];
    for answer in answers {
        let mut scene = Scene::offering(json!({})).await;
        let elsewhere = json!({ "verified": true, "line": 9 });
        set(
            &mut scene,
            vec![at(4, 1, Rule::default()), at(9, 2, Rule::default())],
            json!([answer, elsewhere]),
        )
        .await;
        scene.peer.event("stopped", json!({ "reason": "breakpoint", "threadId": 1 })).await;
        scene.peer.serve_stack(1, 4).await;
        assert_eq!(scene.event().await, stops(&[1]), "{answer}");
    }
}

/// As those of the Java bridge are, when their class is loaded.
#[tokio::test(start_paused = true)]
async fn a_late_bound_breakpoint_is_found_by_its_location() {
    let mut scene = Scene::offering(json!({})).await;
    set(&mut scene, vec![at(3, 1, Rule::default())], json!([{ "id": 7, "verified": false }])).await;
    let bound = json!({ "reason": "changed", "breakpoint": { "id": 7, "verified": true, "line": 4 } });
    scene.peer.event("breakpoint", bound).await;
    assert!(matches!(scene.event().await, Event::BindResult { .. }));
    scene.peer.event("stopped", json!({ "reason": "breakpoint", "threadId": 1 })).await;
    scene.peer.serve_stack(1, 4).await;
    assert_eq!(scene.event().await, stops(&[1]));
}

#[tokio::test(start_paused = true)]
async fn stop_at_an_unknown_breakpoint_is_an_entry_stop_or_reports_none() {
    let mut scene = Scene::running(PeerOptions { stops_on_entry: true, ..PeerOptions::default() }).await;
    scene.peer.stopped("breakpoint", &[4711]).await;
    assert!(matches!(scene.event().await, Event::Stopped { reason: StopReason::Entry, .. }));
    scene.serve_resume().await;
    // That was it. Another one was removed while the program was on its way to it.
    scene.peer.stopped("breakpoint", &[4711]).await;
    scene.peer.serve("continue", json!({})).await;
    // One without a number may be a statement of the program's own.
    scene.peer.event("stopped", json!({ "reason": "breakpoint", "threadId": 1 })).await;
    scene.peer.serve_stack(1, 4).await;
    assert_eq!(scene.event().await, stops(&[]));
}

#[tokio::test(start_paused = true)]
async fn recording_is_refused_without_code_in_the_program() {
    let mut scene = Scene::offering(json!({ "supportsFunctionBreakpoints": true })).await;
    let record = Record {
        expressions: vec!["x".to_owned()],
        sample_every: 1,
        only_when_changed: false,
        max_rows: 1,
        cells: CellFormat::Text(10),
        recorder: Recorder::new(1).unwrap().sink(),
    };
    let rules = vec![RuleFor {
        id: BreakpointId(1),
        rule: Rule { record: Some(record), ..Rule::default() },
        function: None,
    }];
    let on_line = vec![SourceBreakpoint { line: 3, column: None, rules: rules.clone() }];
    let on_function = vec![FunctionBreakpoint { name: "f".to_owned(), rules }];
    let refused: [Result<Vec<BindResult>>; 2] = [
        scene.debugger.set_breakpoints(Path::new("/w/main.c"), on_line).await,
        scene.debugger.set_function_breakpoints(on_function).await,
    ];
    assert!(refused.iter().all(|refused| matches!(refused, Err(Error::Unsupported(_)))), "{refused:?}");
    scene.assert_quiet().await;
}
