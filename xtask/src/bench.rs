//! `cargo xtask bench`: what stillframe costs on top of the debugger that it drives.
//!
//! Every figure is a ratio to a bare client that speaks straight to the same debugger, in one run and in turns,
//! so that a busy machine slows both. Nothing is judged here; the goals are printed beside the figures.
//!
//! `client` is the interface of a bare client, `bare_dap` and `bare_cdp` are the two implementations, `ours` is a
//! client of stillframe; `calls`, `mapped` and `record` are the measurements with them. `journal` needs neither.

mod bare_cdp;
mod bare_dap;
mod calls;
mod client;
mod journal;
mod mapped;
mod ours;
mod peer;
mod program;
mod record;
mod scene;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use self::scene::{Scene, Tools};
use self::table::{median, milliseconds};

/// How often the server is started.
const SPAWNS: usize = 40;
/// How many sessions are open when memory is measured.
const SESSIONS: usize = 10;

/// Builds a release, measures, prints. With names only these: languages, or `journal`. `--server PATH` measures another
/// program in place of that release. `peer COMMAND` starts another MCP server and measures it beside ours.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let (server, rest) = match arguments {
        [option, server, rest @ ..] if option == "--server" => (Some(PathBuf::from(server)), rest),
        rest => (None, rest),
    };
    // What another server takes is far above what a slow client adds.
    if let [word, command @ ..] = rest
        && word == "peer"
    {
        peer::compare(server, command)?;
        return Ok(ExitCode::SUCCESS);
    }
    if cfg!(debug_assertions) {
        return optimized(arguments);
    }
    let languages = rest;
    let is_wanted = |name: &str| languages.is_empty() || languages.iter().any(|wanted| wanted == name);
    let known = ["python", "node", "native", "go", "journal"];
    let unknown = languages.iter().find(|name| !known.contains(&name.as_str()));
    anyhow::ensure!(unknown.is_none(), "only {known:?} are measured, not {unknown:?}");
    if is_wanted("journal") {
        journal::measure()?;
    }
    if languages.iter().all(|wanted| wanted == "journal") && !languages.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let tools = Tools::prepare(server)?;
    println!("what one call costs, in ms (medians; the bare clients acknowledge at once)");
    if is_wanted("python") {
        let scene = Scene::python(&tools)?;
        let debugpy = tools.debugpy()?;
        let python = tools.interpreter("python")?;
        table::heading("Python (bare: DAP without an adapter process)");
        let start = |python: &Path| bare_dap::Bare::python(python, &debugpy, &scene.program, scene.line);
        calls::measure(&scene, || start(&python))?;
        let stops = record::bare(start(&python)?)?;
        record::launched(&scene, "rows a second, launched", stops, &python, "20 x")?;
        if let Some(newer) = newer_python() {
            record::launched(&scene, "rows a second, launched, 3.12+", stops, &newer, "100 x")?;
        }
    }
    if is_wanted("node") {
        let scene = Scene::node(&tools)?;
        let node = tools.interpreter("javascript")?;
        table::heading("Node.js (bare: its inspector's protocol; the stack comes with each stop)");
        calls::measure(&scene, || bare_cdp::Bare::stopped(&node, &scene.program, scene.line))?;
        mapped::measure(&tools, &node)?;
        let stops = record::bare(bare_cdp::Bare::stopped(&node, &scene.program, scene.line)?)?;
        record::launched(&scene, "rows a second, launched", stops, &node, "100 x")?;
        record::attached(&scene, stops, &node)?;
    }
    if is_wanted("native") {
        let scene = Scene::native(&tools)?;
        let adapter = tools.interpreter("c")?;
        table::heading("C (bare: lldb-dap without our formatters)");
        let start = || bare_dap::Bare::lldb(&adapter, &scene.program, &scene.source, scene.line);
        calls::measure(&scene, start)?;
        record::binary(&scene, record::bare(start()?)?, "2 x")?;
    }
    if is_wanted("go") {
        let scene = Scene::go(&tools)?;
        let delve = tools.interpreter("go")?;
        table::heading("Go (bare: Delve)");
        let start = || bare_dap::Bare::delve(&delve, &scene.program, &scene.source, scene.line);
        calls::measure(&scene, start)?;
        record::binary(&scene, record::bare(start()?)?, "0.70 x")?;
    }
    println!();
    spawn_and_memory(&tools, is_wanted)?;
    Ok(ExitCode::SUCCESS)
}

/// A Python on the search path that can watch single lines.
fn newer_python() -> Option<PathBuf> {
    let names = ["python3.14", "python3.13", "python3.12"];
    names.into_iter().find_map(|name| {
        let told = child(Path::new(name)).args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
        let path = String::from_utf8(told.stdout).ok()?;
        told.status.success().then(|| PathBuf::from(path.trim()))
    })
}

/// Does the same in a release build: a slow bare client would flatter us.
#[expect(clippy::disallowed_methods, reason = "a program of the developer's own, which is waited for")]
fn optimized(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command.current_dir(crate::repository::root());
    command.args(["run", "--release", "--quiet", "--package", "xtask", "--", "bench"]).args(arguments);
    let status = command.status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn spawn_and_memory(tools: &Tools, is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let mut times = Vec::new();
    for _ in 0..SPAWNS {
        let began = Instant::now();
        let server = tools.serve()?;
        times.push(began.elapsed());
        server.end()?;
    }
    let spawn = milliseconds(median(times));
    println!("{:<36}{:>9.1} MB    goal 12 MB", "release binary, stripped", tools.binary_megabytes()?);
    println!("{:<36}{spawn:>9.1} ms    goal 6 ms", "spawn to `initialize` answered");
    let server = tools.serve()?;
    println!("{:<36}{:>9.1} MB    goal 10 MB", "memory, idle", server.resident_megabytes()?);
    server.end()?;
    if is_wanted("python") {
        memory("Python", &Scene::python(tools)?)?;
    }
    if is_wanted("node") {
        memory("Node.js", &Scene::node(tools)?)?;
    }
    Ok(())
}

/// What the server takes while sessions are paused.
fn memory(language: &str, scene: &Scene<'_>) -> anyhow::Result<()> {
    let mut server = scene.tools.serve()?;
    for _ in 0..SESSIONS {
        scene.stopped(&mut server)?;
    }
    let label = format!("memory, {SESSIONS} paused {language} sessions");
    println!("{label:<36}{:>9.1} MB    goal 20 MB", server.resident_megabytes()?);
    server.end()
}

/// A child of the bench.
#[expect(clippy::disallowed_methods, reason = "the bench ends what it starts")]
fn child(program: &Path) -> std::process::Command {
    std::process::Command::new(program)
}
