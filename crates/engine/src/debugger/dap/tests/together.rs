//! Threads that come to breakpoints at the same time.

use serde_json::{Value as Json, json};

use super::peer::{PeerOptions, Scene};
use super::rules::{rule, ruled};
use crate::adapter::plan::{Quirks, SimultaneousStops, ThreadOfCalls};
use crate::debugger::{Debugger, Event, Step};
use crate::error::Error;
use crate::model::ids::{BreakpointId, RawId};
use crate::model::stop::StopReason;

const EACH: Quirks =
    Quirks { simultaneous_stops: SimultaneousStops::Each { command: "!stops" }, ..Quirks::NONE };
const ONE: Quirks =
    Quirks { simultaneous_stops: SimultaneousStops::One { may_be: |name| name != "idle" }, ..Quirks::NONE };

fn stop_of(thread: i64) -> Event {
    let breakpoints = vec![BreakpointId(1)];
    Event::Stopped { thread: RawId(thread), reason: StopReason::Breakpoint, text: None, breakpoints }
}

fn step_of(thread: i64) -> Event {
    let breakpoints = Vec::new();
    Event::Stopped { thread: RawId(thread), reason: StopReason::Step, text: None, breakpoints }
}

impl Scene {
    /// Expects the debugger to be asked which threads have stopped.
    async fn serve_stopped(&mut self, threads: &[i64]) {
        let lines: Vec<String> = threads.iter().map(ToString::to_string).collect();
        self.serve_lines(&lines.join("\n")).await;
    }

    async fn serve_lines(&mut self, lines: &str) {
        let result = format!("(debugger) stops\n{lines}\n");
        let asked = self.peer.serve("evaluate", json!({ "result": result })).await;
        assert_eq!(asked["expression"], "!stops");
    }

    /// Expects a search for other threads that have stopped. There are none.
    async fn serve_others(&mut self, quirks: &Quirks) {
        match quirks.simultaneous_stops {
            SimultaneousStops::Each { .. } => self.serve_stopped(&[]).await,
            _ => {
                self.peer.serve("threads", threads(&["idle"])).await;
            }
        }
    }

    /// Reports that a thread has come to the breakpoint.
    async fn report(&mut self, thread: i64) {
        let body = json!({ "reason": "breakpoint", "threadId": thread, "hitBreakpointIds": [7] });
        self.peer.event("stopped", body).await;
    }

    /// Expects the condition to be evaluated in a thread.
    async fn serve_condition(&mut self, thread: i64, value: &str) {
        self.serve_top(thread, "0x10").await;
        self.serve_expression("x > 1", Ok(value)).await;
    }

    /// Expects the innermost frame of a thread to be asked for, which is at an address.
    async fn serve_top(&mut self, thread: i64, address: &str) {
        let frame = json!({ "id": 1000, "name": "f", "line": 3, "instructionPointerReference": address });
        let asked = self.peer.serve("stackTrace", json!({ "stackFrames": [frame], "totalFrames": 1 })).await;
        assert_eq!(asked["threadId"], thread);
    }
}

fn threads(names: &[&str]) -> Json {
    let threads = names.iter().zip(1..).map(|(name, id)| json!({ "id": id, "name": name }));
    json!({ "threads": threads.collect::<Vec<_>>() })
}

async fn conditional(quirks: &'static Quirks) -> Scene {
    ruled(PeerOptions { quirks, ..PeerOptions::default() }, vec![rule(1, "x > 1", "", "")]).await
}

/// The step of thread 1 is under way.
async fn stepping(quirks: &'static Quirks) -> Scene {
    let mut scene = conditional(quirks).await;
    scene.step(Step::Over, 2, 10, "next").await;
    scene
}

#[tokio::test(start_paused = true)]
async fn conditions_of_all_threads_are_evaluated_before_the_program_resumes() {
    let mut scene = conditional(&EACH).await;
    scene.report(1).await;
    scene.report(2).await;
    scene.serve_stopped(&[1, 2]).await;
    scene.serve_condition(1, "false").await;
    scene.serve_condition(2, "true").await;
    assert_eq!(scene.event().await, stop_of(2));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn program_continues_once_when_no_thread_is_to_stop() {
    let mut scene = conditional(&EACH).await;
    scene.report(1).await;
    scene.report(2).await;
    scene.serve_stopped(&[1, 2]).await;
    scene.serve_condition(1, "false").await;
    scene.serve_condition(2, "false").await;
    assert_eq!(scene.peer.serve("continue", json!({})).await, json!({ "threadId": 1 }));
    scene.assert_quiet().await;
}

/// The user may resume the program as soon as a stop is shown.
#[tokio::test(start_paused = true)]
async fn conditions_of_all_threads_are_evaluated_before_a_stop_is_shown() {
    let mut scene = conditional(&EACH).await;
    scene.report(1).await;
    scene.report(2).await;
    scene.serve_stopped(&[1, 2]).await;
    scene.serve_condition(1, "true").await;
    assert!(scene.events.try_recv().is_err());
    scene.serve_condition(2, "true").await;
    assert_eq!(scene.event().await, stop_of(1));
    assert_eq!(scene.event().await, stop_of(2));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_the_adapter_has_not_reported_yet_is_awaited() {
    for is_reported in [true, false] {
        let mut scene = conditional(&EACH).await;
        scene.report(1).await;
        scene.serve_stopped(&[1, 2]).await;
        if is_reported {
            scene.peer.event("output", json!({ "output": "meanwhile" })).await;
            scene.report(2).await;
        }
        scene.serve_condition(1, "true").await;
        if is_reported {
            scene.serve_condition(2, "true").await;
        }
        assert_eq!(scene.event().await, stop_of(1));
        if is_reported {
            assert_eq!(scene.event().await, stop_of(2));
        }
        scene.assert_quiet().await;
    }
}

/// Its hit was reported at that stop.
#[tokio::test(start_paused = true)]
async fn a_thread_that_has_not_moved_since_the_last_stop_is_not_reported_again() {
    for is_first in [true, false] {
        let mut scene = conditional(&EACH).await;
        if is_first {
            scene.report(1).await;
        }
        scene.report(2).await;
        if !is_first {
            scene.report(1).await;
        }
        scene.serve_lines("1 again\n2").await;
        scene.serve_condition(2, "true").await;
        assert_eq!(scene.event().await, stop_of(2));
        scene.assert_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_may_be_an_earlier_one_is_shown_if_the_other_one_never_comes() {
    let mut scene = conditional(&EACH).await;
    scene.report(1).await;
    scene.serve_lines("1 again\n2").await;
    scene.serve_condition(1, "true").await;
    assert_eq!(scene.event().await, stop_of(1));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_step_that_ends_when_another_thread_stops_is_over() {
    for is_first in [true, false] {
        let mut scene = stepping(&EACH).await;
        if is_first {
            scene.peer.stopped("step", &[]).await;
        }
        scene.report(2).await;
        scene.serve_stopped(&[1, 2]).await;
        if !is_first {
            scene.peer.stopped("step", &[]).await;
        }
        scene.serve_condition(2, "true").await;
        assert_eq!(scene.event().await, stop_of(2));
        scene.serve_resume().await;
        scene.assert_quiet().await;
        assert!(scene.events.try_recv().is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_that_ends_when_no_other_thread_is_to_stop_is_reported() {
    let mut scene = stepping(&EACH).await;
    scene.report(2).await;
    scene.peer.stopped("step", &[]).await;
    scene.serve_stopped(&[1, 2]).await;
    scene.serve_condition(2, "false").await;
    assert_eq!(scene.event().await, step_of(1));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_step_that_was_interrupted_does_not_stop_the_program() {
    for quirks in [&EACH, &ONE] {
        let mut scene = stepping(quirks).await;
        scene.report(2).await;
        scene.serve_others(quirks).await;
        if matches!(quirks.simultaneous_stops, SimultaneousStops::One { .. }) {
            scene.serve_top(2, "0x10").await;
        }
        scene.serve_condition(2, "true").await;
        assert_eq!(scene.event().await, stop_of(2));
        scene.serve_resume().await;
        scene.peer.stopped("step", &[]).await;
        scene.serve_others(quirks).await;
        scene.peer.serve("continue", json!({})).await;
        scene.assert_quiet().await;
        assert!(scene.events.try_recv().is_err());
    }
}

/// A breakpoint comes before an exception, which the session may reject.
#[tokio::test(start_paused = true)]
async fn an_exception_of_another_thread_is_reported_last() {
    let mut scene = conditional(&EACH).await;
    let fault = json!({ "reason": "exception", "threadId": 1, "description": "signal SIGSEGV" });
    scene.peer.event("stopped", fault).await;
    scene.report(2).await;
    scene.serve_stopped(&[1, 2]).await;
    scene.serve_condition(2, "true").await;
    assert_eq!(scene.event().await, stop_of(2));
    let (reason, text) = (StopReason::Exception, Some("signal SIGSEGV".to_owned()));
    let fault = Event::Stopped { thread: RawId(1), reason, text, breakpoints: Vec::new() };
    assert_eq!(scene.event().await, fault);
}

#[tokio::test(start_paused = true)]
async fn threads_that_the_adapter_does_not_report_are_found_by_their_address() {
    let mut scene = conditional(&ONE).await;
    scene.report(1).await;
    scene.peer.serve("threads", threads(&["a", "idle", "passing", "b"])).await;
    scene.serve_top(1, "0x10").await;
    scene.serve_top(3, "0x14").await;
    scene.serve_top(4, "0x10").await;
    scene.serve_condition(1, "false").await;
    scene.serve_condition(4, "true").await;
    assert_eq!(scene.event().await, stop_of(4));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn threads_that_are_at_a_breakpoint_when_a_step_ends_are_found_by_their_address() {
    let mut scene = conditional(&ONE).await;
    scene.report(1).await;
    scene.peer.serve("threads", threads(&["a", "b"])).await;
    scene.serve_top(1, "0x10").await;
    scene.serve_top(2, "0x14").await;
    scene.serve_condition(1, "true").await;
    assert_eq!(scene.event().await, stop_of(1));
    scene.step(Step::Over, 2, 10, "next").await;
    scene.peer.stopped("step", &[]).await;
    scene.peer.serve("threads", threads(&["a", "b"])).await;
    scene.serve_top(2, "0x10").await;
    scene.serve_condition(2, "true").await;
    assert_eq!(scene.event().await, stop_of(2));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_rule_calls_a_function_in_a_thread_that_the_adapter_has_chosen() {
    const CALLS: Quirks = Quirks {
        is_call: |expression| expression == "x > 1",
        thread_of_calls: Some(ThreadOfCalls {
            is_chosen: |name| name.starts_with("* "),
            call: "!choose",
            event: "call returned",
        }),
        ..Quirks::NONE
    };
    let mut scene = conditional(&CALLS).await;
    scene.report(2).await;
    for chosen in [["* a", "b"], ["* a", "b"], ["a", "* b"]] {
        scene.peer.serve("threads", threads(&chosen)).await;
        if chosen[0] == "* a" {
            scene.serve_top(2, "0x10").await;
            let choosing = scene.peer.take("evaluate").await;
            assert_eq!(choosing["arguments"]["expression"], "!choose");
            scene.peer.event("stopped", json!({ "reason": "call returned", "threadId": 2 })).await;
            scene.peer.refuse(&choosing, "call stopped").await;
        }
    }
    scene.serve_condition(2, "true").await;
    assert_eq!(scene.event().await, stop_of(2));
    scene.assert_quiet().await;
    assert!(scene.events.try_recv().is_err(), "the ends of the calls are no stops");
}

#[tokio::test(start_paused = true)]
async fn a_debugger_that_keeps_a_step_is_sent_no_other() {
    const KEEPS: Quirks = Quirks { keeps_steps: true, ..ONE };
    let mut scene = stepping(&KEEPS).await;
    scene.report(2).await;
    scene.serve_others(&KEEPS).await;
    scene.serve_top(2, "0x10").await;
    scene.serve_condition(2, "true").await;
    assert_eq!(scene.event().await, stop_of(2));
    let refused = scene.debugger.step(RawId(2), Step::Over).await;
    assert!(
        matches!(refused, Err(Error::Refused(message)) if message.contains("continue, or set a breakpoint"))
    );
    scene.step(Step::Over, 2, 10, "continue").await;
    scene.peer.stopped("step", &[]).await;
    scene.serve_others(&KEEPS).await;
    assert_eq!(scene.event().await, step_of(1));
}
