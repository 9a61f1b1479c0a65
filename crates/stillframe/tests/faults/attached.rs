//! Programs that run already, and run on when the server is killed that is attached to them.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;
use test_support::{Fixture, Language, compile, eventually, rows_to_try, run_go, say};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};

use crate::STILLFRAME;

/// One cell of so many is done on each push.
const ONE_OF: usize = 3;
/// How many cells are under way at once.
const AT_ONCE: usize = 4;
/// How soon nothing is left of a server that is killed, whose debuggers may detach before.
const GONE: Duration = Duration::from_secs(8);
/// How often a program that runs on has ticked soon. It comes to the breakpoint each hundred times.
const TICKS: usize = 300;
const LISTENS: &str = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0";

/// A program that writes a line again and again.
struct Ticking {
    child: Child,
    /// How many it has written.
    ticks: Arc<AtomicUsize>,
}

impl Ticking {
    /// Starts it, and waits until it can be attached to.
    async fn start(program: &Fixture, folder: &Path) -> Self {
        let mut command = command(program, folder).await;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the program runs");
        let (ticks, said) = (Arc::default(), Arc::default());
        // What Ruby's debugger says, it says there.
        tokio::spawn(count(child.stderr.take().expect("a pipe"), Arc::clone(&said)));
        tokio::spawn(count(child.stdout.take().expect("a pipe"), Arc::clone(&ticks)));
        eventually(|| ticks.load(Ordering::Relaxed) + said.load(Ordering::Relaxed) > 0).await;
        Self { child, ticks }
    }

    async fn runs_on(mut self) {
        let until = self.ticks.load(Ordering::Relaxed) + TICKS;
        eventually(|| self.ticks.load(Ordering::Relaxed) > until).await;
        self.child.kill().await.expect("it can be ended");
    }
}

#[expect(clippy::disallowed_methods, reason = "programs of the test, which ends them")]
async fn command(program: &Fixture, folder: &Path) -> Command {
    let binary = folder.join("ticks");
    let path = binary.to_str().expect("a plain name");
    match program.language() {
        Language::C => {
            compile(program.path(), path).await;
            Command::new(binary)
        }
        Language::Go => {
            run_go(folder, &["build", "-gcflags=all=-N -l", "-o", path, program.path()]).await;
            Command::new(binary)
        }
        Language::Java => {
            let mut command = Command::new("java");
            command.args([LISTENS, program.path()]);
            command
        }
        _ => {
            let mut command = Command::new("ruby");
            command.args(["-r", "debug/open", program.path()]);
            command
        }
    }
}

async fn count(pipe: impl AsyncRead + Unpin, lines: Arc<AtomicUsize>) {
    let mut pipe = BufReader::new(pipe).lines();
    while let Ok(Some(_)) = pipe.next_line().await {
        lines.fetch_add(1, Ordering::Relaxed);
    }
}

/// The server is killed while the program is paused at a breakpoint, or runs and is about to come to one.
async fn cell((language, is_paused): (Language, bool)) {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made");
    let program = Fixture::of(language, "ticks");
    let ticking = Ticking::start(&program, folder.path()).await;
    let server = STILLFRAME.serve().await;
    let created = server.ok("create_debug_session", json!({ "language": language.name() })).await;
    let session = created.text_of("sessionId");
    let attach = json!({ "sessionId": session, "processId": ticking.child.id(), "timeout": 60_000 });
    server.ok("attach_to_process", attach).await;
    let mut location = json!({ "sessionId": session, "file": program.path(), "line": program.line("here") });
    server.ok("set_breakpoint", location.clone()).await;
    let stopped = server.ok("continue_execution", json!({ "sessionId": session })).await;
    assert_eq!(stopped["reason"], "breakpoint", "{}: {}", language.name(), stopped.text);
    if !is_paused {
        server.ok("clear_breakpoints", json!({ "sessionId": session })).await;
        location["condition"] = json!("i < 0");
        server.ok("set_breakpoint", location).await;
        let running = json!({ "sessionId": session, "timeout": 300 });
        let running = server.ok("continue_execution", running).await;
        assert_eq!(running["state"], "running", "{}: {}", language.name(), running.text);
    }
    server.mark().kill(server.pid());
    // One that starts meanwhile does not end the debugger before it has detached.
    STILLFRAME.serve().await.finish().await;
    server.mark().assert_gone_within(GONE);
    ticking.runs_on().await;
    let moment = if is_paused { "paused" } else { "running" };
    say(&format!("{}: attached, server killed while {moment}: runs on\n", language.name()));
}

#[tokio::test]
async fn attached_programs_run_on_when_the_server_is_killed() {
    let languages = [Language::C, Language::Go, Language::Java, Language::Ruby];
    let cells = languages.into_iter().flat_map(|language| [(language, true), (language, false)]);
    let cells = rows_to_try(cells, ONE_OF).map(cell);
    futures_util::stream::iter(cells).buffer_unordered(AT_ONCE).collect::<()>().await;
}
