//! Conditions, hit counts and log messages that are applied here.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::peer::{PeerOptions, Scene};
use crate::adapter::plan::Quirks;
use crate::debugger::{Debugger, Event, RuleFor, SourceBreakpoint};
use crate::model::breakpoint::Rule;
use crate::model::ids::{BreakpointId, RawId};
use crate::model::stop::StopReason;

/// A condition, a hit condition and a log message; an empty text for none.
pub(super) fn rule(id: u32, condition: &str, hit: &str, log: &str) -> RuleFor {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let rule = Rule {
        condition: given(condition),
        hit_condition: given(hit).map(|hit| hit.parse().unwrap()),
        log_message: given(log),
        ..Rule::default()
    };
    RuleFor { id: BreakpointId(id), rule, function: None }
}

pub(super) fn at(line: u32, id: u32, rule: Rule) -> SourceBreakpoint {
    SourceBreakpoint {
        line,
        column: None,
        rules: vec![RuleFor { id: BreakpointId(id), rule, function: None }],
    }
}

/// A stop of thread 1 at these breakpoints.
pub(super) fn stops(ids: &[u32]) -> Event {
    let breakpoints = ids.iter().copied().map(BreakpointId).collect();
    Event::Stopped { thread: RawId(1), reason: StopReason::Breakpoint, text: None, breakpoints }
}

/// A program with these rules on line 3.
pub(super) async fn ruled(given: PeerOptions, rules: Vec<RuleFor>) -> Scene {
    let mut scene = Scene::running(given).await;
    let wanted = vec![SourceBreakpoint { line: 3, column: None, rules }];
    let answer = json!({ "breakpoints": [{ "id": 7, "verified": true, "line": 3 }] });
    let served = scene.peer.serve("setBreakpoints", answer);
    let (result, _) = tokio::join!(scene.debugger.set_breakpoints(Path::new("/w/main.c"), wanted), served);
    result.unwrap();
    scene
}

impl Scene {
    /// Expects an expression to be evaluated in the innermost frame, and answers with a value or a refusal.
    pub(super) async fn serve_expression(&mut self, expression: &str, answer: Result<&str, &str>) {
        let request = self.peer.take("evaluate").await;
        let asked = json!({ "expression": expression, "frameId": 1000, "context": "watch" });
        assert_eq!(request["arguments"], asked);
        match answer {
            Ok(value) => self.peer.answer(&request, json!({ "result": value })).await,
            Err(message) => self.peer.refuse(&request, message).await,
        }
    }

    /// Has the user resume the program.
    pub(super) async fn serve_resume(&mut self) {
        let served = self.peer.serve("continue", json!({}));
        let (resumed, _) = tokio::join!(self.debugger.resume(RawId(1)), served);
        resumed.unwrap();
    }

    /// Expects the program to be let run, without a word to the session.
    async fn serve_silent_continue(&mut self) {
        assert_eq!(self.peer.serve("continue", json!({})).await, json!({ "threadId": 1 }));
    }
}

fn conditional() -> Json {
    json!({ "supportsConditionalBreakpoints": true })
}

#[tokio::test(start_paused = true)]
async fn a_condition_applied_by_the_adapter_is_not_evaluated_again() {
    let given = PeerOptions { capabilities: conditional(), ..PeerOptions::default() };
    let mut scene = ruled(given, vec![rule(1, "x > 1", "", "")]).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    assert_eq!(scene.event().await, stops(&[1]));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_condition_unsupported_by_the_adapter_is_evaluated_here() {
    let mut scene = ruled(PeerOptions::default(), vec![rule(1, "x > 1", "", "")]).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve_stack(1, 3).await;
    scene.serve_expression("x > 1", Ok("false")).await;
    scene.serve_silent_continue().await;
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve_stack(1, 3).await;
    scene.serve_expression("x > 1", Ok("true")).await;
    assert_eq!(scene.event().await, stops(&[1]), "nothing was said of the first stop");
}

#[tokio::test(start_paused = true)]
async fn each_breakpoint_of_a_line_applies_its_own_rule() {
    let rules =
        vec![rule(1, "a", "", ""), rule(2, "b", "", ""), rule(3, "", "", "seen"), rule(4, "", "", "")];
    let given = PeerOptions { capabilities: conditional(), ..PeerOptions::default() };
    let mut scene = ruled(given, rules).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve_stack(1, 3).await;
    scene.serve_expression("a", Ok("0")).await;
    scene.serve_expression("b", Ok("1")).await;
    assert_eq!(scene.event().await, Event::Logged { id: BreakpointId(3), text: "seen".to_owned() });
    assert_eq!(scene.event().await, stops(&[2, 4]));
}

/// Every adapter has a grammar of its own for them, if any; `==` and `%` mean nothing to lldb-dap.
#[tokio::test(start_paused = true)]
async fn hits_are_counted_here() {
    let can = json!({ "supportsConditionalBreakpoints": true, "supportsHitConditionalBreakpoints": true });
    for (hit, stopping) in [("== 3", &[3][..]), (">= 3", &[3, 4]), ("% 2", &[2, 4]), ("3", &[3])] {
        let given = PeerOptions { capabilities: can.clone(), ..PeerOptions::default() };
        let mut scene = ruled(given, vec![rule(1, "", hit, "")]).await;
        for count in 1..=4 {
            scene.peer.stopped("breakpoint", &[7]).await;
            if stopping.contains(&count) {
                assert_eq!(scene.event().await, stops(&[1]), "{hit} at {count}");
                scene.serve_resume().await;
            } else {
                scene.serve_silent_continue().await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn only_hits_with_a_true_condition_count() {
    let mut scene = ruled(PeerOptions::default(), vec![rule(1, "x", "== 2", "")]).await;
    for (value, is_stop) in [("1", false), ("0", false), ("0", false), ("1", true)] {
        scene.peer.stopped("breakpoint", &[7]).await;
        scene.peer.serve_stack(1, 3).await;
        scene.serve_expression("x", Ok(value)).await;
        if is_stop {
            assert_eq!(scene.event().await, stops(&[1]));
        } else {
            scene.serve_silent_continue().await;
        }
    }
}

/// lldb-dap does not support the escape `{{x}}`.
#[tokio::test(start_paused = true)]
async fn a_log_message_has_the_values_of_its_expressions() {
    let given = PeerOptions { capabilities: json!({ "supportsLogPoints": true }), ..PeerOptions::default() };
    let mut scene = ruled(given, vec![rule(1, "", "", "{{x}} is {x}, {f((p){1})}")]).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve_stack(1, 3).await;
    scene.serve_expression("x", Ok("3")).await;
    scene.serve_expression("f((p){1})", Ok("4")).await;
    scene.serve_silent_continue().await;
    assert_eq!(scene.event().await, Event::Logged { id: BreakpointId(1), text: "{x} is 3, 4".to_owned() });
}

fn failed(message: &str) -> Event {
    Event::RuleFailed { id: BreakpointId(1), message: message.to_owned(), times: 1 }
}

#[tokio::test(start_paused = true)]
async fn a_failing_rule_is_reported_and_the_program_resumes() {
    for rules in [rule(1, "y", "", ""), rule(1, "", "", "{y}"), rule(1, "y", "== 1", "")] {
        let mut scene = ruled(PeerOptions::default(), vec![rules]).await;
        scene.peer.stopped("breakpoint", &[7]).await;
        scene.peer.serve_stack(1, 3).await;
        scene.serve_expression("y", Err("no y here")).await;
        scene.serve_silent_continue().await;
        assert_eq!(scene.event().await, failed("no y here"));
    }
}

/// As in lldb-dap and `CodeLLDB`, which stop then, and say why somewhere else.
#[tokio::test(start_paused = true)]
async fn invalid_condition_does_not_stop_even_if_the_adapter_stops() {
    const STOPS: Quirks = Quirks { stops_at_bad_conditions: true, ..Quirks::NONE };
    let given = PeerOptions { capabilities: conditional(), quirks: &STOPS, ..PeerOptions::default() };
    let mut scene = ruled(given, vec![rule(1, "n ==", "", "")]).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve_stack(1, 3).await;
    scene.serve_expression("n ==", Err("expected expression")).await;
    scene.serve_silent_continue().await;
    assert_eq!(scene.event().await, failed("expected expression"));
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve_stack(1, 3).await;
    scene.serve_expression("n ==", Ok("true")).await;
    assert_eq!(scene.event().await, stops(&[1]));
}

#[tokio::test(start_paused = true)]
async fn rules_apply_to_breakpoints_that_the_stop_does_not_name() {
    let mut scene = ruled(PeerOptions::default(), vec![rule(1, "", "", "here")]).await;
    scene.peer.event("stopped", json!({ "reason": "breakpoint", "threadId": 1 })).await;
    scene.peer.serve_stack(1, 3).await;
    scene.serve_silent_continue().await;
    assert_eq!(scene.event().await, Event::Logged { id: BreakpointId(1), text: "here".to_owned() });
}

#[tokio::test(start_paused = true)]
async fn a_program_that_cannot_resume_is_stopped() {
    let mut scene = ruled(PeerOptions::default(), vec![rule(1, "x", "", "")]).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve_stack(1, 3).await;
    scene.serve_expression("x", Ok("0")).await;
    let request = scene.peer.take("continue").await;
    scene.peer.refuse(&request, "not now").await;
    assert_eq!(scene.event().await, stops(&[]));
}

/// The program is already stopped when the pause arrives, so the adapter sends no further event.
#[tokio::test(start_paused = true)]
async fn pause_is_kept_at_a_stop_that_a_rule_skips() {
    let mut scene = ruled(PeerOptions::default(), vec![rule(1, "", "", "seen")]).await;
    let pausing = scene.peer.serve("pause", json!({}));
    let (paused, _) = tokio::join!(scene.debugger.pause(RawId(1)), pausing);
    paused.unwrap();
    scene.peer.stopped("breakpoint", &[7]).await;
    assert_eq!(scene.event().await, Event::Logged { id: BreakpointId(1), text: "seen".to_owned() });
    let paused =
        Event::Stopped { thread: RawId(1), reason: StopReason::Pause, text: None, breakpoints: Vec::new() };
    assert_eq!(scene.event().await, paused);
}

/// The pause arrives while the condition of a breakpoint is evaluated, after its stop.
#[tokio::test(start_paused = true)]
async fn pause_is_kept_when_a_rule_is_about_to_resume_the_program() {
    let mut scene = ruled(PeerOptions::default(), vec![rule(1, "x", "", "")]).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    scene.peer.serve_stack(1, 3).await;
    let pausing = scene.peer.serve("pause", json!({}));
    let (paused, _) = tokio::join!(scene.debugger.pause(RawId(1)), pausing);
    paused.unwrap();
    scene.serve_expression("x", Ok("0")).await;
    let paused =
        Event::Stopped { thread: RawId(1), reason: StopReason::Pause, text: None, breakpoints: Vec::new() };
    assert_eq!(scene.event().await, paused);
}
