//! Values recorded at every pass of a line, against a bare client that stops, evaluates and resumes at each.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};

use super::client::Client;
use super::program::Program;
use super::scene::Scene;
use super::table;

/// How many passes the bare client stops at.
const STOPS: u32 = 500;
/// How many rows ours records.
const ROWS: u64 = 100_000;
/// How many rows ours records where a row costs more.
const SLOW_ROWS: u64 = 20_000;
/// How many rows ours records inside or by a debugger of binaries.
const NATIVE_ROWS: u64 = 2_000;
/// What is recorded. All languages understand it.
const EXPRESSION: &str = "amount";

/// What the bare client manages, in rows a second.
pub(super) fn bare(mut bare: impl Client) -> anyhow::Result<f64> {
    let began = Instant::now();
    for _ in 0..STOPS {
        bare.pass(EXPRESSION)?;
    }
    let rate = f64::from(STOPS) / began.elapsed().as_secs_f64();
    bare.end();
    Ok(rate)
}

/// A program that ours starts, under an interpreter.
pub(super) fn launched(
    scene: &Scene<'_>,
    what: &str,
    bare: f64,
    interpreter: &Path,
    goal: &str,
) -> anyhow::Result<()> {
    let mut server = scene.tools.serve()?;
    let start = json!({ "program": scene.program, "executablePath": interpreter });
    let answer = server.call("trace_values", &trace(scene, ROWS, start))?;
    table::rate(what, bare, rate(&answer)?, goal);
    println!("{:<36}{:>9.1} MB    goal 64 MB", "  memory of the server then", server.resident_megabytes()?);
    server.end()
}

/// A binary, under the debugger of its language, which makes rows more slowly.
pub(super) fn binary(scene: &Scene<'_>, bare: f64, goal: &str) -> anyhow::Result<()> {
    let mut server = scene.tools.serve()?;
    let answer =
        server.call("trace_values", &trace(scene, NATIVE_ROWS, json!({ "program": scene.program })))?;
    table::rate("rows a second, launched", bare, rate(&answer)?, goal);
    server.end()
}

/// A program of Node that runs already.
pub(super) fn attached(scene: &Scene<'_>, bare: f64, node: &Path) -> anyhow::Result<()> {
    let command = &mut super::child(node);
    let mut program = Program::start(command.arg("--inspect=0").arg(&scene.program), Stdio::piped())?;
    let mut errors = std::io::BufReader::new(program.take_errors().context("no standard error")?);
    let address = super::bare_cdp::announced(&mut errors)?;
    let mut server = scene.tools.serve()?;
    let created = server.call("create_debug_session", &json!({ "language": "javascript" }))?;
    let session = created.get("sessionId").cloned().context("no session")?;
    server.call("attach_to_process", &json!({ "sessionId": session, "port": address.port }))?;
    let going_on = json!({ "sessionId": session });
    let answer = server.call("trace_values", &trace(scene, SLOW_ROWS, going_on))?;
    table::rate("rows a second, attached", bare, rate(&answer)?, "10 x");
    server.end()?;
    drop(program);
    Ok(())
}

/// The arguments, `of` a program that is started or running.
fn trace(scene: &Scene<'_>, rows: u64, of: Value) -> Value {
    let point = json!({ "file": scene.source, "line": scene.line, "expressions": [EXPRESSION] });
    let mut arguments = json!({ "points": [point], "maxHits": rows, "timeout": 60_000 });
    if let (Some(arguments), Value::Object(of)) = (arguments.as_object_mut(), of) {
        arguments.extend(of);
    }
    arguments
}

/// The program's own clock measures how long the rows took.
fn rate(answer: &Value) -> anyhow::Result<f64> {
    let rows = answer.get("rows").and_then(Value::as_array).context("no rows")?;
    let time = |row: Option<&Value>| row.and_then(|row| row.get("time")).and_then(Value::as_f64);
    let hit = |row: Option<&Value>| row.and_then(|row| row.get("hit")).and_then(Value::as_f64);
    let (first, last) = (rows.first(), rows.last());
    let times = time(first).zip(time(last)).context("no times")?;
    let hits = hit(first).zip(hit(last)).context("no hits")?;
    anyhow::ensure!(hits.1 > hits.0, "one row does not take any time: {answer}");
    Ok((hits.1 - hits.0) / (times.1 - times.0) * 1000.0)
}
