//! Asynchronous code: stacks across awaits, steps over them, and unhandled rejections.

mod awaited;
mod rejections;

use serde_json::json;

use crate::debugging::{Debugging, Report};
use crate::script::{Script, frames};

/// Functions that wait for one another, and for a timer.
const CHAIN: &str = r#"
const timers = require("node:timers/promises");

async function leaf(value) {
  await timers.setTimeout(1); // @sleep
  return value * 2; // @leaf
}

async function middle(value) {
  const doubled = await leaf(value); // @middle
  return doubled + 1; // @sum
}

async function top() {
  const result = await middle(20); // @top
  console.log(result); // @print
}

top(); // @start
"#;

#[tokio::test]
async fn a_stack_continues_across_awaits() {
    let script = Script::new(CHAIN);
    let (session, stopped) = script.stopped_at("leaf").await;
    assert_eq!(frames(&stopped)[..3], ["leaf", "async middle", "async top"], "{}", stopped.text);
    let stack = session.ok("get_stack_trace", json!({})).await;
    assert_eq!(frames(&stack)[..3], ["leaf", "async middle", "async top"]);
    for (index, name) in ["leaf", "middle", "top"].into_iter().enumerate() {
        let frame = stack.at(&format!("/stackFrames/{index}"));
        assert_eq!((&frame["file"], &frame["line"]), (&json!(script.path()), &json!(script.line(name))));
    }
    session.finish_at_end().await;
}

/// A function that waits is on no stack: where it waits is known, and its variables are not.
#[tokio::test]
async fn an_awaiting_frame_reports_that_it_has_no_variables() {
    let script = Script::new(CHAIN);
    let (session, stopped) = script.stopped_at("leaf").await;
    let frame = stopped.at("/stackFrames/1/id");
    for (tool, arguments) in [
        ("get_local_variables", json!({ "frameId": frame })),
        ("evaluate_expression", json!({ "frameId": frame, "expression": "value" })),
    ] {
        let answer = session.call(tool, arguments).await;
        assert!(answer.text.contains("async"), "{tool}: {}", answer.text);
    }
    assert_eq!(session.evaluate("value").await, "20", "the innermost frame is as ever");
    session.finish().await;
}

#[tokio::test]
async fn steps_stay_in_a_function_across_awaits() {
    let script = Script::new(CHAIN);
    let (session, _) = script.stopped_at("top").await;
    session.ok("clear_breakpoints", json!({})).await;
    let inside = session.step("step_into").await;
    assert_eq!(inside.place(), (script.path(), script.line("middle")), "{}", inside.text);
    let next = session.step("step_over").await;
    assert_eq!(next.place(), (script.path(), script.line("sum")), "{}", next.text);
    assert_eq!(next.variable("doubled"), "40");
    let next = session.step("step_over").await;
    assert_eq!(next.place(), (script.path(), script.line("print")), "back in what waited: {}", next.text);
    assert_eq!(next.variable("result"), "41");
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_step_out_of_an_awaited_function_goes_to_its_awaiter() {
    let script = Script::new(CHAIN);
    let (session, _) = script.stopped_at("leaf").await;
    let out = session.step("step_out").await;
    assert_eq!(out.outcome(), "step", "{}", out.text);
    assert_eq!(out.place(), (script.path(), script.line("sum")), "{}", out.text);
    assert_eq!(out.variable("doubled"), "40");
    session.finish().await;
}

#[tokio::test]
async fn a_step_over_a_rejected_await_goes_to_the_catch() {
    let script = Script::new(
        r#"
const timers = require("node:timers/promises");

async function fails() {
  await timers.setTimeout(1);
  throw new Error("no");
}

async function main() {
  try {
    await fails(); // @await
    console.log("never");
  } catch (error) {
    console.log(error.message); // @catch
  }
}

main();
"#,
    );
    let (session, _) = script.stopped_at("await").await;
    let stepped = session.step("step_over").await;
    assert_eq!((stepped.outcome(), stepped.place()), ("step", (script.path(), script.line("catch"))));
    assert_eq!(session.evaluate("error.message").await, "'no'");
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_step_over_an_awaiting_loop_stops_in_each_iteration() {
    let script = Script::new(
        r"
async function* counts() {
  for (let number = 1; number < 3; number += 1) {
    yield number;
  }
}

async function main() {
  let total = 0; // @zero
  for await (const number of counts()) { // @loop
    total += number; // @add
  }
  console.log(total); // @print
}

main();
",
    );
    let (session, _) = script.stopped_at("zero").await;
    for (place, total) in
        [("loop", "0"), ("add", "0"), ("loop", "1"), ("add", "1"), ("loop", "3"), ("print", "3")]
    {
        let stepped = session.step("step_over").await;
        assert_eq!(stepped.place(), (script.path(), script.line(place)), "{}", stepped.text);
        assert_eq!(stepped.variable("total"), total, "at {place}");
    }
    session.finish().await;
}

#[tokio::test]
async fn breakpoints_in_callbacks_of_timers_promises_and_events_are_hit() {
    let script = Script::new(
        r#"
const { EventEmitter } = require("node:events");
const emitter = new EventEmitter();
emitter.on("news", (text) => {
  console.log(text); // @event
});
setTimeout(() => {
  console.log("timer"); // @timer
}, 1);
Promise.resolve("settled").then((value) => {
  console.log(value); // @then
});
queueMicrotask(function tick() {
  console.log("tick"); // @tick
});
emitter.emit("news", "first");
"#,
    );
    let session = Debugging::of(script.language()).await;
    for name in ["event", "timer", "then", "tick"] {
        session.break_at(&script, name).await;
    }
    let mut report = session.start(&script).await;
    for (name, function) in
        [("event", "<anonymous>"), ("then", "<anonymous>"), ("tick", "tick"), ("timer", "<anonymous>")]
    {
        assert_eq!((report.outcome(), report.place()), ("breakpoint", (script.path(), script.line(name))));
        assert_eq!(report.at("/location/function"), function, "{name}");
        report = session.go_on().await;
    }
    assert_eq!((report.outcome(), &report["exitCode"]), ("ended", &json!(0)), "{}", report.text);
    session.finish().await;
}
