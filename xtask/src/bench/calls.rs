//! Calls, and the way to the first stop: a bare client and ours in turns.

use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

use super::client::Client;
use super::scene::Scene;
use super::table::{self, median, row};

/// How often each request is made.
const REQUESTS: usize = 300;
/// How often the program runs to its next stop.
const STOPS: u32 = 300;
/// How often a program is started.
const STARTS: usize = 15;
/// What is evaluated, a number and an object. All languages understand them.
const EXPRESSIONS: [(&str, &str); 2] =
    [("evaluate, a number", "account.balance + amount"), ("evaluate, an object", "account")];
/// What is evaluated at each stop.
const VALUE: &str = "amount";

/// Measures all calls of a language. `start` starts a bare client.
pub(super) fn measure<C: Client>(
    scene: &Scene<'_>,
    start: impl Fn() -> anyhow::Result<C>,
) -> anyhow::Result<()> {
    requests(scene, start()?)?;
    stops(scene, start()?)?;
    starts(scene, start)
}

/// Requests to a program that is stopped.
fn requests(scene: &Scene<'_>, mut bare: impl Client) -> anyhow::Result<()> {
    let mut server = scene.tools.serve()?;
    let session = scene.stopped(&mut server)?;
    bare.clear_breakpoints()?;
    server.call("clear_breakpoints", &json!({ "sessionId": session }))?;
    let named = json!({ "sessionId": session });
    let mut ours = |tool: &str, arguments: &_| server.call(tool, arguments).map(drop);
    compare(scene, "locals (scopes, variables)", || bare.locals(), || ours("get_local_variables", &named))?;
    for (what, expression) in EXPRESSIONS {
        let evaluation = json!({ "sessionId": session, "expression": expression });
        compare(scene, what, || bare.evaluate(expression), || ours("evaluate_expression", &evaluation))?;
    }
    // An expression may have changed anything, so nothing that was read before it holds.
    compare(scene, "locals, after an expression", || bare.locals(), || ours("get_local_variables", &named))?;
    compare(scene, "stack", || bare.stack(), || ours("get_stack_trace", &named))?;
    // Our answer to a step is a report with stack, source and locals, so the bare client asks for these too.
    compare(scene, "step (with stack and locals)", || bare.step(), || ours("step_over", &named))?;
    bare.end();
    server.end()
}

/// Stops at each of which one value is asked for. Our answer to each `continue` is the whole report of the stop.
fn stops(scene: &Scene<'_>, mut bare: impl Client) -> anyhow::Result<()> {
    let mut server = scene.tools.serve()?;
    let session = scene.stopped(&mut server)?;
    let named = json!({ "sessionId": session });
    let evaluation = json!({ "sessionId": session, "expression": VALUE });
    let (mut bare_time, mut our_time) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..STOPS {
        let began = Instant::now();
        bare.pass(VALUE)?;
        bare_time += began.elapsed();
        let began = Instant::now();
        server.call("evaluate_expression", &evaluation)?;
        server.call("continue_execution", &named)?;
        our_time += began.elapsed();
    }
    let rate = |time: Duration| f64::from(STOPS) / time.as_secs_f64();
    table::rate("continue and evaluate, per second", rate(bare_time), rate(our_time), "0.70 x");
    bare.end();
    server.end()
}

/// From nothing to a program that is stopped at a breakpoint and has sent its stack and locals.
fn starts<C: Client>(scene: &Scene<'_>, start: impl Fn() -> anyhow::Result<C>) -> anyhow::Result<()> {
    let mut server = scene.tools.serve()?;
    let (mut bare_times, mut our_times) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let began = Instant::now();
        let mut bare = start()?;
        bare.locals()?;
        bare_times.push(began.elapsed());
        bare.end();
        let began = Instant::now();
        let session = scene.stopped(&mut server)?;
        our_times.push(began.elapsed());
        server.call("close_debug_session", &json!({ "sessionId": session }))?;
    }
    row("fresh session to first stop", median(bare_times), median(our_times), scene.goals[1]);
    server.end()
}

/// Does both in turns, and prints how they compare.
fn compare(
    scene: &Scene<'_>,
    what: &str,
    mut bare: impl FnMut() -> anyhow::Result<()>,
    mut ours: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (mut bare_times, mut our_times) = (Vec::new(), Vec::new());
    for _ in 0..REQUESTS {
        let began = Instant::now();
        bare().with_context(|| format!("{what}, bare"))?;
        bare_times.push(began.elapsed());
        let began = Instant::now();
        ours().with_context(|| format!("{what}, ours"))?;
        our_times.push(began.elapsed());
    }
    row(what, median(bare_times), median(our_times), scene.goals[0]);
    Ok(())
}
