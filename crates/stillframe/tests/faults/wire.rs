//! Attacks on the connection between the server and a debugger, for programs that are attached to.
//!
//! Between both stands a man in the middle. The program is not ours: whatever becomes of its connection, it runs on.
//! What a launched program says goes over the same code; its connection has no place for a man in the middle, so
//! what is attacked while launching is the beginning of the connection.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::json;
use test_support::{
    Answer, DynamicLanguage as Language, Fixture, Mark, Server, Wire, WireFault, WireProtocol, rows_to_try,
    say,
};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};
use tokio::sync::Mutex;

use crate::STILLFRAME;
use crate::attacked::{COMPUTED, LIMIT_MS, copy};
use crate::bystander::Bystanders;
use crate::cells::{Moment, cells, in_time, table};

/// A connection that is gone. Whether it was noticed before a call or by it is a matter of chance.
const GONE: [&str; 7] = [
    "connection_lost|environment",
    "ended",
    "connection_lost|not_paused",
    "ended|not_paused",
    "connection_lost|not_paused",
    "ended|not_started",
    "well",
];
/// A debugger that does not answer. The program may run, or not.
const DUMB: [&str; 7] =
    ["deadline_exceeded|environment", "running", "refused", "running", "refused", "running", "well"];
/// As if nothing were the matter.
const WELL: [&str; 7] = ["running", "running", "well", "paused", "deadline_exceeded", "running", "well"];

/// The same where answers come late, and the step may be over before the call or after it.
const LATE: [&str; 7] =
    ["running", "running", "well", "paused|running", "deadline_exceeded", "running", "well"];

/// What comes of it, for each moment of [`Moment::ALL`].
const EXPECTED: [(WireFault, [&str; 7]); 11] = [
    (WireFault::Cut, GONE),
    (WireFault::Silence, DUMB),
    (WireFault::Slow, LATE),
    (WireFault::Flood, LATE),
    (WireFault::Half, GONE),
    (WireFault::Oversized, LATE),
    (WireFault::Claimed, DUMB),
    (WireFault::Swapped, WELL),
    (WireFault::Twice, WELL),
    (WireFault::Nonsense, WELL),
    (WireFault::Garbled, GONE),
];

/// The same for what a language's connection takes otherwise: a WebSocket cannot skip a message that is larger than
/// any is.
fn expected(language: Language) -> Vec<(WireFault, [&'static str; 7])> {
    let of = |(harm, expected)| match (language, harm) {
        (Language::Node, WireFault::Claimed) => (harm, GONE),
        _ => (harm, expected),
    };
    EXPECTED.into_iter().map(of).collect()
}

/// How long attaching is waited for: longer than a debugger is given to answer.
const ATTACHED_MS: u64 = 8000;

/// By what a process is ended that has crashed: SIGSEGV and SIGABRT.
const CRASHES: [i32; 2] = [11, 6];
/// How often Node may: version 20 does once in some hundred connections that break (docs/quirks.md).
const MOST_CRASHES: usize = 2;

/// How soon a detached program continues.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that was started elsewhere, prints the address of its debugger, and accepts commands.
struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
}

impl Program {
    #[expect(clippy::disallowed_methods, reason = "a program of the test, which ends it")]
    async fn start(program: &Fixture, mark: &Mark) -> Self {
        let language = program.language().dynamic();
        let (name, value) = mark.variable();
        let mut command = tokio::process::Command::new(language.pick("python3", "node"));
        match language {
            Language::Python => {
                command.arg("-Xfrozen_modules=off").env("PYTHONPATH", STILLFRAME.debugpy().await);
                command.args([program.path(), "listens", "talks"]).stderr(Stdio::null());
            }
            Language::Node => {
                command.args(["--inspect=0", program.path(), "talks"]).stderr(Stdio::piped());
            }
        }
        command.env(name, value).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().expect("the program runs");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let port = match child.stderr.take() {
            None => lines.next_line().await.expect("it writes").expect("a line"),
            Some(errors) => {
                let mut errors = BufReader::new(errors).lines();
                let line = errors.next_line().await.expect("it writes").expect("a line");
                // Its messages about debuggers that connect and disconnect are irrelevant, but must be read.
                tokio::spawn(async move { while let Ok(Some(_)) = errors.next_line().await {} });
                let address = line.strip_prefix("Debugger listening on ws://127.0.0.1:").expect("an address");
                address.split('/').next().expect("a port").to_owned()
            }
        };
        Self { child, lines, port: port.parse().expect("a number") }
    }

    /// Whether it continues its work. One that has crashed in its own code does not; anything else fails.
    async fn goes_on(&mut self) -> bool {
        // Many lines may wait in the pipe.
        let until = tokio::time::Instant::now() + Duration::from_millis(100);
        while let Ok(says) = tokio::time::timeout_at(until, self.says()).await {
            if !says {
                return false;
            }
        }
        tokio::time::timeout(PATIENCE, self.says()).await.expect("what was attached to goes on")
    }

    async fn says(&mut self) -> bool {
        if self.lines.next_line().await.expect("it writes").is_some() {
            return true;
        }
        let status = self.child.wait().await.expect("it can be waited for");
        let crash = status.signal().filter(|signal| CRASHES.contains(signal));
        assert!(crash.is_some(), "it does not run on: {status}");
        false
    }
}

struct Attack {
    language: Language,
    server: Server,
    others: Bystanders,
    file: Fixture,
    _folder: tempfile::TempDir,
    /// Programs that wait for the next cell.
    programs: Mutex<Vec<Program>>,
    /// How many of them have crashed by themselves.
    crashes: AtomicUsize,
    mark: Mark,
}

/// A session that is attached by way of the man in the middle.
struct Attached<'a> {
    attack: &'a Attack,
    session: String,
    wire: Wire,
}

impl Attached<'_> {
    async fn call(&self, tool: &str, mut arguments: serde_json::Value) -> Answer {
        arguments["timeout"] = json!(LIMIT_MS);
        arguments["sessionId"] = json!(self.session);
        in_time(&self.attack.server, tool, arguments, Duration::from_millis(LIMIT_MS)).await
    }

    async fn attach(&self) -> Answer {
        let attach = json!({ "sessionId": self.session, "port": self.wire.port, "timeout": ATTACHED_MS, "stopOnEntry": false });
        in_time(&self.attack.server, "attach_to_process", attach, Duration::from_millis(ATTACHED_MS)).await
    }

    async fn close(&self) -> Answer {
        let session = json!({ "sessionId": self.session });
        in_time(&self.attack.server, "close_debug_session", session, Duration::ZERO).await
    }

    /// Attached, and in the state of this moment.
    async fn bring_to(&self, moment: Moment) {
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            let attached = self.attach().await;
            if attached["state"] == "running" {
                break;
            }
            // A debugger may still be busy with the end of the connection before this one.
            assert!(tokio::time::Instant::now() < until, "it cannot be attached to again: {}", attached.text);
        }
        let session = json!({ "sessionId": self.session });
        match moment {
            Moment::Launching => {
                self.attack.server.ok("detach_from_process", session).await;
            }
            Moment::Running | Moment::Tracing => {}
            _ => {
                let (file, line) = (self.attack.file.path(), self.attack.file.line("work"));
                let location = json!({ "sessionId": self.session, "file": file, "line": line });
                self.attack.server.ok("set_breakpoint", location).await;
                let stopped = self.attack.server.ok("continue_execution", session).await;
                assert_eq!(stopped["state"], "paused", "{}", stopped.text);
            }
        }
    }

    async fn struck(&self, harm: WireFault, moment: Moment) -> Answer {
        self.bring_to(moment).await;
        self.wire.does(harm);
        match moment {
            Moment::Launching => self.attach().await,
            Moment::Running => self.call("continue_execution", json!({})).await,
            Moment::Paused => self.call("evaluate_expression", json!({ "expression": COMPUTED })).await,
            Moment::Stepping => self.call("step_over", json!({})).await,
            Moment::Evaluating => {
                let sleep = self.attack.language.words().sleep;
                self.call("evaluate_expression", json!({ "expression": sleep })).await
            }
            Moment::Tracing => {
                let (file, line) = (self.attack.file.path(), self.attack.file.line("rest"));
                let points = json!([{ "file": file, "line": line, "expressions": ["label"] }]);
                self.call("trace_values", json!({ "points": points, "maxHits": 100_000 })).await
            }
            Moment::Closing => self.close().await,
        }
    }
}

impl Attack {
    /// Whether a debugger accepts the next connection after one that broke. debugpy sometimes does not.
    fn can_be_reached_after(&self, harm: WireFault) -> bool {
        let breaks = matches!(
            harm,
            WireFault::Cut
                | WireFault::Silence
                | WireFault::Half
                | WireFault::Claimed
                | WireFault::Garbled
                | WireFault::Oversized
                | WireFault::Flood
        );
        self.language == Language::Node || !breaks
    }

    async fn cell(&self, harm: WireFault, moment: Moment) -> Answer {
        let waiting = self.programs.lock().await.pop();
        let mut program = match waiting {
            Some(program) => program,
            None => Program::start(&self.file, &self.mark).await,
        };
        let speech = self.language.pick(WireProtocol::Dap, WireProtocol::Inspector);
        let wire = Wire::to(program.port, speech).await;
        let created =
            self.server.ok("create_debug_session", json!({ "language": self.language.name() })).await;
        let session = created.text_of("sessionId").to_owned();
        let attached = Attached { attack: self, session, wire };
        let answer = attached.struck(harm, moment).await;
        self.others.answer(&self.server).await;
        if moment != Moment::Closing {
            let closed = attached.close().await;
            assert!(!closed.is_error, "{}", closed.text);
        }
        if !program.goes_on().await {
            let crashes = self.crashes.fetch_add(1, Ordering::Relaxed) + 1;
            say(&format!("{harm:?} while {moment:?}: the program has crashed by itself\n"));
            assert!(self.language == Language::Node && crashes <= MOST_CRASHES, "it crashes all the time");
        } else if self.can_be_reached_after(harm) {
            self.programs.lock().await.push(program);
        } else {
            program.child.kill().await.expect("it can be ended");
        }
        answer
    }
}

async fn attack(language: Language) {
    let server = STILLFRAME.serve().await;
    let others = Bystanders::pause(&server).await;
    let (folder, file) = copy(language);
    let (programs, mark) = (Mutex::default(), Mark::default());
    let attack = Attack {
        language,
        server,
        others,
        file,
        _folder: folder,
        programs,
        crashes: AtomicUsize::new(0),
        mark,
    };
    let cell = |_, harm, moment| attack.cell(harm, moment).boxed_local();
    let expected = expected(language);
    // The room for what is larger than usual stays with the allocator, once.
    let large = expected.iter().filter(|(harm, _)| matches!(harm, WireFault::Oversized | WireFault::Flood));
    let warm_up = rows_to_try(cells(&large.copied().collect::<Vec<_>>(), cell), 2).collect();
    let name = language.pick("the wire of debugpy", "the wire of node");
    table(name, &attack.server, warm_up, cells(&expected, cell)).await;
    attack.server.finish().await;
    for mut program in attack.programs.into_inner() {
        program.child.kill().await.expect("it can be ended");
    }
    attack.mark.assert_gone_within(PATIENCE);
}

#[tokio::test]
async fn faults_of_the_wire_to_debugpy_are_survived() {
    attack(Language::Python).await;
}

#[tokio::test]
async fn faults_of_the_wire_to_node_are_survived() {
    attack(Language::Node).await;
}
