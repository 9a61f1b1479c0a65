//! Values that the debugger records.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::peer::{PeerOptions, Scene};
use super::rules::{rule, stops};
use crate::adapter::plan::Quirks;
use crate::debugger::{Debugger, Event, RuleFor, SourceBreakpoint};
use crate::model::ids::RawId;
use crate::model::stop::StopReason;
use crate::recording::{CellFormat, Record, Recorder};

const RECORDS: Quirks = Quirks { record_command: Some("!record"), ..Quirks::NONE };

/// Records ``a`b`` where a condition holds.
fn record(id: u32, condition: &str, recorder: &Recorder) -> RuleFor {
    let mut rule = rule(id, condition, "", "");
    rule.rule.record = Some(Record {
        expressions: vec!["a`b".to_owned()],
        sample_every: 2,
        only_when_changed: true,
        max_rows: 5,
        cells: CellFormat::Text(10),
        recorder: recorder.sink(),
    });
    rule
}

/// Sets these rules on line 3, or nothing there. Returns what the debugger was asked to do, which it answers like this.
async fn set(scene: &mut Scene, rules: Vec<RuleFor>, answer: &str) -> String {
    let bound = json!({ "id": 7, "verified": true, "line": 3 });
    let places = if rules.is_empty() { json!([]) } else { json!([bound]) };
    let wanted = (!rules.is_empty()).then_some(SourceBreakpoint { line: 3, column: None, rules });
    let wanted = wanted.into_iter().collect();
    let served = async {
        scene.peer.serve("setBreakpoints", json!({ "breakpoints": places })).await;
        scene.peer.serve("evaluate", json!({ "result": answer })).await
    };
    let (set, asked) = tokio::join!(scene.debugger.set_breakpoints(Path::new("/w/main.c"), wanted), served);
    set.unwrap();
    assert_eq!((&asked["context"], &asked["frameId"]), (&json!("repl"), &Json::Null));
    asked["expression"].as_str().unwrap().to_owned()
}

async fn running() -> Scene {
    Scene::running(PeerOptions { quirks: &RECORDS, ..PeerOptions::default() }).await
}

#[tokio::test(start_paused = true)]
async fn a_debugger_gets_what_to_record_and_stops_only_for_other_rules() {
    let recorder = Recorder::new(5).unwrap();
    let mut scene = running().await;
    let asked = set(&mut scene, vec![record(1, "x > 1", &recorder)], "> !record\nrecording\n").await;
    let specification: Json = serde_json::from_str(asked.strip_prefix("!record ").unwrap()).unwrap();
    let records = json!({
        "id": 1, "condition": "x > 1", "expressions": ["a`b"], "every": 2, "changes": true, "most": 5, "limit": 10,
        "pipe": recorder.pipe(),
    });
    assert_eq!(
        specification,
        json!([{ "number": 7, "stops": false, "conditions": [], "records": [records] }])
    );
    assert!(!asked.contains('`'), "{asked}");
    // The condition cannot be evaluated, which is reported, and nothing else.
    scene.peer.stopped("breakpoint", &[7]).await;
    let asked = scene.peer.serve("evaluate", json!({ "result": "> !record left 1\nleft [1]\n" })).await;
    assert_eq!(asked["expression"], "!record left 1");
    scene.peer.serve_stack(1, 3).await;
    let request = scene.peer.take("evaluate").await;
    scene.peer.refuse(&request, "no `x`").await;
    scene.peer.serve("continue", json!({})).await;
    assert!(matches!(scene.event().await, Event::RuleFailed { .. }));
    // With a breakpoint of the user's on the same line.
    let both = vec![record(1, "", &recorder), rule(2, "", "", "")];
    let asked = set(&mut scene, both, "recording").await;
    assert!(asked.contains("\"stops\":true"), "{asked}");
    for (left, expected) in [("left []", &[2][..]), ("left [1]", &[1, 2])] {
        scene.peer.stopped("breakpoint", &[7]).await;
        scene.peer.serve("evaluate", json!({ "result": left })).await;
        assert_eq!(scene.event().await, stops(expected));
    }
    // It examines a condition, which is evaluated again where it stops.
    let asked = set(&mut scene, vec![rule(2, "y", "", "")], "recording").await;
    assert!(asked.contains(r#""number":7,"stops":false,"conditions":["y"],"records":[]"#), "{asked}");
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve_stack(1, 3).await;
    scene.serve_expression("y", Ok("true")).await;
    assert_eq!(scene.event().await, stops(&[2]));
    assert_eq!(set(&mut scene, Vec::new(), "recording").await, "!record []");
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_debugger_that_cannot_record_stops_at_each_hit() {
    let recorder = Recorder::new(5).unwrap();
    let mut scene = running().await;
    set(&mut scene, vec![record(1, "", &recorder)], "error: no such command").await;
    scene.peer.stopped("breakpoint", &[7]).await;
    assert_eq!(scene.event().await, stops(&[1]));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_a_stop_at_the_next_hit_while_values_are_recorded() {
    let recorder = Recorder::new(5).unwrap();
    let mut scene = running().await;
    set(&mut scene, vec![record(1, "", &recorder)], "recording").await;
    // No hit comes.
    let served = async {
        let asked = scene.peer.serve("evaluate", json!({ "result": "" })).await;
        assert_eq!(asked["expression"], "!record pause");
        scene.peer.serve("pause", json!({})).await;
    };
    tokio::join!(scene.debugger.pause(RawId(1)), served).0.unwrap();
    stops_as_a_pause(&mut scene).await;
    // One comes.
    let served = async {
        scene.peer.serve("evaluate", json!({ "result": "" })).await;
        scene.peer.stopped("breakpoint", &[7]).await;
        scene.peer.serve("evaluate", json!({ "result": "left []" })).await;
    };
    tokio::join!(scene.debugger.pause(RawId(1)), served).0.unwrap();
    assert!(matches!(scene.event().await, Event::Stopped { reason: StopReason::Pause, .. }));
    let served = scene.peer.serve("continue", json!({}));
    tokio::join!(scene.debugger.resume(RawId(1)), served).0.unwrap();
    // Nothing is recorded.
    set(&mut scene, Vec::new(), "recording").await;
    let served = scene.peer.serve("pause", json!({}));
    tokio::join!(scene.debugger.pause(RawId(1)), served).0.unwrap();
}

/// The program stops at the breakpoint, which is reported as a pause, and continues.
async fn stops_as_a_pause(scene: &mut Scene) {
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve("evaluate", json!({ "result": "left []" })).await;
    assert!(matches!(scene.event().await, Event::Stopped { reason: StopReason::Pause, .. }));
    let served = scene.peer.serve("continue", json!({}));
    tokio::join!(scene.debugger.resume(RawId(1)), served).0.unwrap();
}
