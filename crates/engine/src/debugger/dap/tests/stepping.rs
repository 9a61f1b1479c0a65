//! Steps interrupted by a rule. The adapter has stopped and dropped the step, which is resumed from there.

use serde_json::json;

use super::peer::{PeerOptions, Scene};
use super::rules::{rule, ruled, stops};
use crate::debugger::{Debugger, Event, Step};
use crate::model::ids::{BreakpointId, RawId};
use crate::model::stop::StopReason;

fn over() -> Event {
    Event::Stopped { thread: RawId(1), reason: StopReason::Step, text: None, breakpoints: Vec::new() }
}

fn logged() -> Event {
    Event::Logged { id: BreakpointId(1), text: "here".to_owned() }
}

/// A logpoint on line 3, and a step that begins on line 10 of a function at depth 2.
async fn stepping(step: Step) -> Scene {
    let mut scene = ruled(PeerOptions::default(), vec![rule(1, "", "", "here")]).await;
    scene.step(step, 2, 10, command(step)).await;
    scene
}

fn command(step: Step) -> &'static str {
    match step {
        Step::Over => "next",
        Step::Into => "stepIn",
        Step::Out => "stepOut",
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_without_rules_is_one_request() {
    for step in [Step::Over, Step::Into, Step::Out] {
        let mut scene = ruled(PeerOptions::default(), vec![rule(1, "", "", "")]).await;
        let served = scene.peer.serve(command(step), json!({}));
        let (stepped, asked) = tokio::join!(scene.debugger.step(RawId(1), step), served);
        assert_eq!((stepped, asked), (Ok(()), json!({ "threadId": 1 })));
        scene.peer.stopped("step", &[]).await;
        assert_eq!(scene.event().await, over());
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_over_a_call_with_a_logpoint_inside_ends_after_the_call() {
    let mut scene = stepping(Step::Over).await;
    scene.logs(3).await;
    // Out of the call, in the middle of the line that it was made from.
    scene.continues_step(2, 10, "next").await;
    scene.peer.stopped("step", &[]).await;
    assert_eq!(scene.event().await, over());
}

/// As in `f(g())`, with a logpoint in each.
#[tokio::test(start_paused = true)]
async fn a_step_over_two_calls_on_one_line_ends_after_both() {
    let mut scene = stepping(Step::Over).await;
    for _ in 0..2 {
        scene.logs(3).await;
        scene.continues_step(2, 10, "next").await;
    }
    scene.peer.stopped("step", &[]).await;
    assert_eq!(scene.event().await, over());
}

#[tokio::test(start_paused = true)]
async fn a_step_over_a_deep_call_steps_out_of_each_frame() {
    let mut scene = stepping(Step::Over).await;
    scene.logs(4).await;
    scene.continues_step(3, 5, "stepOut").await;
    // The logpoint is hit again, on the way.
    scene.logs(3).await;
    scene.continues_step(2, 10, "next").await;
    scene.peer.stopped("step", &[]).await;
    assert_eq!(scene.event().await, over());
}

/// lldb-dap stops with reason `breakpoint` where a step ends on a line that has one.
#[tokio::test(start_paused = true)]
async fn a_step_that_reaches_a_logpoint_line_is_complete() {
    let ends = [
        (Step::Over, 2, "on the next line"),
        (Step::Over, 1, "in the caller"),
        (Step::Into, 3, "in the function"),
        (Step::Into, 2, "on the next line"),
        (Step::Out, 1, "in the caller"),
    ];
    for (step, depth, place) in ends {
        let mut scene = stepping(step).await;
        scene.peer.stopped("breakpoint", &[7]).await;
        scene.peer.serve_stack(depth, 3).await;
        assert_eq!(scene.event().await, logged(), "{step:?} {place}");
        assert_eq!(scene.event().await, over(), "{step:?} {place}");
    }
}

/// One line of code may have several places, and a loop may be one line.
#[tokio::test(start_paused = true)]
async fn a_step_that_is_still_on_its_line_continues() {
    for step in [Step::Over, Step::Into] {
        let mut scene = stepping(step).await;
        scene.peer.stopped("breakpoint", &[7]).await;
        scene.peer.serve_stack(2, 10).await;
        scene.peer.serve(command(step), json!({})).await;
        assert_eq!(scene.event().await, logged());
        scene.peer.stopped("step", &[]).await;
        // The thread is at the depth where it began, after the line.
        assert_eq!(scene.event_after_stack(2, 11).await, over());
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_out_past_a_logpoint_still_steps_out() {
    let mut scene = stepping(Step::Out).await;
    scene.logs(3).await;
    scene.continues_step(2, 10, "stepOut").await;
    scene.peer.stopped("step", &[]).await;
    assert_eq!(scene.event_after_stack(1, 20).await, over());
}

/// `totalFrames` may be left out.
#[tokio::test(start_paused = true)]
async fn stack_depth_is_counted_if_the_adapter_omits_it() {
    let frames = |count: u64| {
        let frame = |id| json!({ "id": id, "name": "f", "line": 10, "source": { "path": "/w/main.c" } });
        json!({ "stackFrames": (0..count).map(frame).collect::<Vec<_>>() })
    };
    let mut scene = ruled(PeerOptions::default(), vec![rule(1, "", "", "here")]).await;
    let serve_stack = async |scene: &mut Scene, count: u64| {
        let request = scene.peer.take("stackTrace").await;
        let levels = request["arguments"]["levels"].as_u64().unwrap_or(u64::MAX);
        scene.peer.answer(&request, frames(count.min(levels))).await;
        levels < count
    };
    let debugger = scene.debugger.clone();
    let served = async {
        while serve_stack(&mut scene, 2).await {}
        scene.peer.serve("next", json!({})).await;
    };
    let (stepped, ()) = tokio::join!(debugger.step(RawId(1), Step::Over), served);
    stepped.unwrap();
    scene.peer.stopped("breakpoint", &[7]).await;
    while serve_stack(&mut scene, 3).await {}
    scene.peer.serve("stepOut", json!({})).await;
    assert_eq!(scene.event().await, logged());
}

#[tokio::test(start_paused = true)]
async fn a_step_ends_at_any_other_stop() {
    let mut scene =
        ruled(PeerOptions::default(), vec![rule(1, "", "", "here"), rule(2, "", "== 2", "")]).await;
    scene.step(Step::Over, 2, 10, "next").await;
    scene.logs(3).await;
    scene.peer.stopped("breakpoint", &[7]).await;
    assert_eq!(scene.event().await, logged());
    assert_eq!(scene.event().await, stops(&[2]));
    // This stop is not part of the step.
    scene.peer.stopped("step", &[]).await;
    assert_eq!(scene.event().await, over());
}

impl Scene {
    /// Begins a step of thread 1 at this depth and line, for which the adapter is sent a command.
    pub(super) async fn step(&mut self, step: Step, depth: u64, line: u64, command: &str) {
        let served = async {
            self.peer.serve_stack(depth, line).await;
            self.peer.serve(command, json!({})).await;
        };
        tokio::join!(self.debugger.step(RawId(1), step), served).0.unwrap();
    }

    /// Hits the logpoint in a frame at this depth, which is then left.
    async fn logs(&mut self, depth: u64) {
        self.peer.stopped("breakpoint", &[7]).await;
        self.peer.serve_stack(depth, 3).await;
        self.peer.serve("stepOut", json!({})).await;
        assert_eq!(self.event().await, logged());
    }

    /// Ends a request at this depth and line, where the step continues with another one.
    async fn continues_step(&mut self, depth: u64, line: u64, command: &str) {
        self.peer.stopped("step", &[]).await;
        self.peer.serve_stack(depth, line).await;
        self.peer.serve(command, json!({})).await;
    }

    /// The next event, before which the adapter may be asked for the stack.
    async fn event_after_stack(&mut self, depth: u64, line: u64) -> Event {
        tokio::select! {
            biased;
            event = self.events.recv() => event.unwrap(),
            () = self.peer.serve_stack(depth, line) => self.event().await,
        }
    }
}
