//! Another MCP server beside ours, asked for the same by the same calls. It needs the tools of mcp-debugger by name.
//!
//! Both debug the Python program of the bench, with the debugpy that ours has installed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use super::ours::OurServer;
use super::scene::{Scene, Tools};
use super::table::{median, milliseconds};

/// How often each server is started, and how often each call is made.
const TIMES: usize = 7;
/// How long a program may take to reach its breakpoint.
const STOP: Duration = Duration::from_mins(1);

/// Measures both, and prints a table.
pub(super) fn compare(server: Option<PathBuf>, command: &[String]) -> anyhow::Result<()> {
    let (program, arguments) = command.split_first().context("give the command that starts the peer")?;
    let tools = Tools::prepare(server)?;
    let scene = Scene::python(&tools)?;
    let debugpy = tools.debugpy()?;
    let start = || -> anyhow::Result<OurServer> {
        let mut peer = super::child(Path::new(program));
        peer.args(arguments).env("PYTHONPATH", &debugpy).stderr(std::process::Stdio::null());
        OurServer::run(peer)
    };
    let (ours, theirs) = (measure(|| tools.serve(), &scene)?, measure(start, &scene)?);
    println!("{:<40}{:>12}{:>12}{:>8}", "", "stillframe", "peer", "ratio");
    for ((what, ours), (_, theirs)) in ours.into_iter().zip(theirs) {
        println!("{what:<40}{ours:>12.1}{theirs:>12.1}{:>8.1}", theirs / ours);
    }
    Ok(())
}

type Figures = Vec<(&'static str, f64)>;

fn measure(start: impl Fn() -> anyhow::Result<OurServer>, scene: &Scene<'_>) -> anyhow::Result<Figures> {
    let mut starts = Vec::new();
    for _ in 0..TIMES {
        let began = Instant::now();
        let server = start()?;
        starts.push(began.elapsed());
        drop(server.end());
    }
    let mut server = start()?;
    let listed = server.request("tools/list", &json!({}))?;
    let listed = listed.get("tools").and_then(Value::as_array).context("no tools")?;
    let bytes: usize = listed.iter().map(shown).sum();
    let memory = resident_megabytes(server.pid())?;
    let (mut stops, mut steps, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let began = Instant::now();
        let session = stopped(&mut server, scene)?;
        stops.push(began.elapsed());
        let of_session = json!({ "sessionId": session });
        for _ in 0..TIMES {
            let began = Instant::now();
            server.call("step_over", &of_session)?;
            line(&mut server, &session)?;
            server.call("get_local_variables", &of_session)?;
            steps.push(began.elapsed());
            let began = Instant::now();
            server.call("evaluate_expression", &json!({ "sessionId": session, "expression": "1 + 1" }))?;
            values.push(began.elapsed());
        }
        server.call("close_debug_session", &of_session)?;
    }
    drop(server.end());
    let milliseconds = |times| milliseconds(median(times));
    Ok(vec![
        ("spawn to `initialize` answered, ms", milliseconds(starts)),
        ("memory when idle, MB", memory),
        ("tools", small(listed.len())?),
        ("what a model is shown of them, bytes", small(bytes)?),
        ("new session, stopped at a line, ms", milliseconds(stops)),
        ("step, its stack and locals, ms", milliseconds(steps)),
        ("evaluate, ms", milliseconds(values)),
    ])
}

fn small(count: usize) -> anyhow::Result<f64> {
    Ok(f64::from(u32::try_from(count)?))
}

/// The size of a tool as a model has it: its name, its description and what it takes.
fn shown(tool: &Value) -> usize {
    let field = |name| (name, tool.get(name).cloned().unwrap_or_default());
    let shown = [field("name"), field("description"), field("inputSchema")];
    Value::Object(shown.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()).to_string().len()
}

/// A new session that is stopped at the line of the scene. A start may be answered before the program stops.
fn stopped(server: &mut OurServer, scene: &Scene<'_>) -> anyhow::Result<String> {
    let created = server.call("create_debug_session", &json!({ "language": "python" }))?;
    let session = created.get("sessionId").and_then(Value::as_str).context("no session")?.to_owned();
    let place = json!({ "sessionId": session, "file": scene.program, "line": scene.line });
    server.call("set_breakpoint", &place)?;
    server.call("start_debugging", &json!({ "sessionId": session, "scriptPath": scene.program }))?;
    let began = Instant::now();
    while line(server, &session).ok() != Some(scene.line) {
        anyhow::ensure!(began.elapsed() < STOP, "the program does not stop at its breakpoint");
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(session)
}

/// Where the program is stopped.
fn line(server: &mut OurServer, session: &str) -> anyhow::Result<u32> {
    let stack = server.call("get_stack_trace", &json!({ "sessionId": session }))?;
    let line = stack.pointer("/stackFrames/0/line").and_then(Value::as_u64).context("no frame")?;
    Ok(u32::try_from(line)?)
}

/// The memory of a process and of all that it started, as far as it is in use.
fn resident_megabytes(pid: u32) -> anyhow::Result<f64> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(status) = std::fs::read_to_string(entry.path().join("status")) else { continue };
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u32>().ok())
        };
        parents.push((pid, field("PPid:").unwrap_or_default(), field("VmRSS:").unwrap_or_default()));
    }
    let mut family = BTreeSet::from([pid]);
    while let Some((child, ..)) =
        parents.iter().find(|(pid, parent, _)| family.contains(parent) && !family.contains(pid))
    {
        family.insert(*child);
    }
    let kilobytes: u32 = parents.iter().filter(|(pid, ..)| family.contains(pid)).map(|(.., size)| size).sum();
    Ok(f64::from(kilobytes) / 1024.0)
}
