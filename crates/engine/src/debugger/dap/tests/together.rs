//! Threads that come to breakpoints at the same time.

use serde_json::{Value as Json, json};

use super::peer::{PeerOptions, Scene};
use super::rules::{rule, ruled};
use crate::adapter::plan::{Quirks, SimultaneousStops};
use crate::debugger::Event;
use crate::model::ids::{BreakpointId, RawId};
use crate::model::stop::StopReason;

const EACH: Quirks = Quirks { simultaneous_stops: SimultaneousStops::Each, ..Quirks::NONE };
const ONE: Quirks =
    Quirks { simultaneous_stops: SimultaneousStops::One { may_be: |name| name != "idle" }, ..Quirks::NONE };

fn stop_of(thread: i64) -> Event {
    let breakpoints = vec![BreakpointId(1)];
    Event::Stopped { thread: RawId(thread), reason: StopReason::Breakpoint, text: None, breakpoints }
}

impl Scene {
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

#[tokio::test(start_paused = true)]
async fn conditions_of_all_threads_are_evaluated_before_the_program_goes_on() {
    let mut scene = conditional(&EACH).await;
    scene.report(1).await;
    scene.report(2).await;
    scene.serve_condition(1, "false").await;
    scene.peer.serve("threads", threads(&["a", "b"])).await;
    scene.serve_condition(2, "true").await;
    assert_eq!(scene.event().await, stop_of(2));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn program_goes_on_once_when_no_thread_is_to_stop() {
    let mut scene = conditional(&EACH).await;
    scene.report(1).await;
    scene.report(2).await;
    scene.serve_condition(1, "false").await;
    scene.peer.serve("threads", threads(&["a", "b"])).await;
    scene.serve_condition(2, "false").await;
    assert_eq!(scene.peer.serve("continue", json!({})).await, json!({ "threadId": 1 }));
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_later_thread_does_not_resume_a_program_that_is_shown_as_stopped() {
    let mut scene = conditional(&EACH).await;
    scene.report(1).await;
    scene.report(2).await;
    scene.serve_condition(1, "true").await;
    assert_eq!(scene.event().await, stop_of(1));
    scene.serve_condition(2, "false").await;
    scene.peer.serve("threads", threads(&["a", "b"])).await;
    scene.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn threads_that_the_adapter_does_not_report_are_found_by_their_address() {
    let mut scene = conditional(&ONE).await;
    scene.report(1).await;
    scene.serve_condition(1, "false").await;
    scene.peer.serve("threads", threads(&["a", "idle", "passing", "b"])).await;
    scene.serve_top(1, "0x10").await;
    scene.serve_top(3, "0x14").await;
    scene.serve_top(4, "0x10").await;
    scene.serve_condition(4, "true").await;
    assert_eq!(scene.event().await, stop_of(4));
    scene.assert_quiet().await;
}
