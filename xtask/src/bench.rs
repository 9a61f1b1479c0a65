//! `cargo xtask bench`: what stillframe costs on top of the debugger that it drives.
//!
//! Every figure is a ratio to a bare client that speaks straight to the same debugger, in one run and in turns,
//! so that a busy machine slows both. Nothing is judged here; the goals are printed beside the figures.

mod bare;
mod ours;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use self::bare::Bare;
use self::ours::Ours;
use crate::repository;

/// How often each request is made.
const REQUESTS: usize = 300;
/// What is evaluated.
const EXPRESSION: &str = "account.balance + amount";
/// How often a program is started.
const STARTS: usize = 15;
/// How often the server is started.
const SPAWNS: usize = 40;
/// How many sessions are open when memory is measured.
const SESSIONS: usize = 10;

/// What both sides need to know.
struct Scene {
    /// The release build.
    stillframe: PathBuf,
    cache: PathBuf,
    python: PathBuf,
    /// The folder with the `debugpy` package.
    debugpy: PathBuf,
    program: PathBuf,
    line: u32,
}

/// Builds a release, measures, prints.
pub(crate) fn run(_: &[String]) -> anyhow::Result<ExitCode> {
    let scene = Scene::prepare()?;
    println!(
        "what one call costs, in ms (medians; bare client: DAP without an adapter process, quick ACK)\n"
    );
    println!("{:<34}{:>9}{:>9}{:>8}  goal", "", "bare", "ours", "ratio");
    requests(&scene)?;
    starts(&scene)?;
    println!();
    spawn_and_memory(&scene)?;
    Ok(ExitCode::SUCCESS)
}

impl Scene {
    fn prepare() -> anyhow::Result<Self> {
        let root = repository::root();
        repository::output("cargo", &["build", "--release", "--package", "stillframe"])?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        let stillframe = target.join("release/stillframe");
        let cache = target.join("bench-cache");
        let program = root.join("fixtures/bench/main.py");
        let marked = std::fs::read_to_string(&program)?;
        let line = marked.lines().position(|line| line.ends_with("@inside")).context("no line is marked")?;
        ours::command(&stillframe, &cache, &["setup", "python"])?;
        let found: Value = serde_json::from_str(&ours::command(&stillframe, &cache, &["doctor", "--json"])?)?;
        let python =
            found.pointer("/languages/0/interpreter").and_then(Value::as_str).context("no Python")?;
        let installed = std::fs::read_dir(cache.join("python"))?.flatten().map(|entry| entry.path());
        let debugpy = installed
            .filter(|path| path.join("debugpy").is_dir())
            .max()
            .context("debugpy was not installed")?;
        Ok(Self {
            stillframe,
            cache,
            python: python.into(),
            debugpy,
            program,
            line: u32::try_from(line)? + 1,
        })
    }

    fn serve(&self) -> anyhow::Result<Ours> {
        Ours::start(&self.stillframe, &self.cache)
    }

    fn bare(&self) -> anyhow::Result<Bare> {
        Bare::stopped(&self.python, &self.debugpy, &self.program, self.line)
    }

    /// A session of ours that is stopped at the line.
    fn stopped(&self, server: &mut Ours) -> anyhow::Result<String> {
        let created = server.call("create_debug_session", &json!({ "language": "python" }))?;
        let session = created.get("sessionId").and_then(Value::as_str).context("no session")?.to_owned();
        let place = json!({ "sessionId": session, "file": self.program, "line": self.line });
        server.call("set_breakpoint", &place)?;
        let started =
            server.call("start_debugging", &json!({ "sessionId": session, "scriptPath": self.program }))?;
        anyhow::ensure!(started.get("state") == Some(&json!("paused")), "not paused: {started}");
        Ok(session)
    }
}

/// Requests to a program that is stopped, bare and ours in turns.
fn requests(scene: &Scene) -> anyhow::Result<()> {
    let mut bare = scene.bare()?;
    let mut server = scene.serve()?;
    let session = scene.stopped(&mut server)?;
    bare.clear_breakpoints(&scene.program)?;
    server.call("clear_breakpoints", &json!({ "sessionId": session }))?;
    let named = json!({ "sessionId": session });
    let evaluation = json!({ "sessionId": session, "expression": EXPRESSION });
    compare(
        "evaluate",
        || bare.evaluate(EXPRESSION),
        || server.call("evaluate_expression", &evaluation).map(drop),
    )?;
    compare(
        "locals (scopes, variables)",
        || bare.locals(),
        || server.call("get_local_variables", &named).map(drop),
    )?;
    compare("stack", || bare.stack().map(drop), || server.call("get_stack_trace", &named).map(drop))?;
    // Our answer to a step is a report with stack, source and locals, so the bare client asks for these too.
    compare("step (with stack and locals)", || bare.step(), || server.call("step_over", &named).map(drop))?;
    bare.end()?;
    server.end()
}

/// From nothing to a program that is stopped at a breakpoint and has told its stack and locals.
fn starts(scene: &Scene) -> anyhow::Result<()> {
    let mut server = scene.serve()?;
    let (mut bare_times, mut our_times) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let began = Instant::now();
        let mut bare = scene.bare()?;
        bare.locals()?;
        bare_times.push(began.elapsed());
        bare.end()?;
        let began = Instant::now();
        let session = scene.stopped(&mut server)?;
        our_times.push(began.elapsed());
        server.call("close_debug_session", &json!({ "sessionId": session }))?;
    }
    row("fresh session to first stop", median(bare_times), median(our_times), "1.10 x");
    server.end()
}

fn spawn_and_memory(scene: &Scene) -> anyhow::Result<()> {
    let mut times = Vec::new();
    for _ in 0..SPAWNS {
        let began = Instant::now();
        let server = scene.serve()?;
        times.push(began.elapsed());
        server.end()?;
    }
    let spawn = median(times);
    println!("{:<34}{:>9.1} ms    goal 10 ms", "spawn to `initialize` answered", milliseconds(spawn));
    let mut server = scene.serve()?;
    println!("{:<34}{:>9.1} MB    goal 10 MB", "memory, idle", server.resident_megabytes()?);
    for _ in 0..SESSIONS {
        scene.stopped(&mut server)?;
    }
    let label = format!("memory, {SESSIONS} paused sessions");
    println!("{label:<34}{:>9.1} MB    goal 20 MB", server.resident_megabytes()?);
    server.end()
}

/// Does both in turns, and prints how they compare.
fn compare(
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
    row(what, median(bare_times), median(our_times), "1.4 x and + 0.3 ms");
    Ok(())
}

fn row(what: &str, bare: Duration, ours: Duration, goal: &str) {
    let (bare, ours) = (milliseconds(bare), milliseconds(ours));
    println!("{what:<34}{bare:>9.2}{ours:>9.2}{:>8.2}  {goal}", ours / bare);
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A child of the bench, with its input and output as pipes.
#[expect(clippy::disallowed_methods, reason = "the bench ends what it starts")]
fn child(program: &Path) -> std::process::Command {
    std::process::Command::new(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        let times = |all: &[u64]| all.iter().map(|time| Duration::from_millis(*time)).collect::<Vec<_>>();
        assert_eq!(median(times(&[9, 1, 5])), Duration::from_millis(5));
        assert_eq!(median(times(&[4])), Duration::from_millis(4));
        assert_eq!(median(times(&[])), Duration::ZERO);
    }
}
