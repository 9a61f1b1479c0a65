//! The fault table of the other languages: the program, its debugger or the server is killed, or does not respond, at
//! each moment of a session.
//!
//! Each cell has a server of its own. The call that is under way, or the next one, reports what has happened, the
//! program can be started again, the session can be closed, and nothing is left afterwards.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Answer, Fixture, Server, Signal, eventually, repository, rows_to_try, say};

use crate::STILLFRAME;
use crate::attacked::{LIMIT, LIMIT_MS};
use crate::cells::{GRACE, in_time, outcome};

/// One cell of so many is done on each push. It has no divisor in common with the number of moments, so that each
/// language has another one.
const ONE_OF: usize = 13;
/// How many cells are under way at once. Other tests of this program, with limits of time, run beside them.
const AT_ONCE: usize = 2;
/// How soon nothing is left of a session that is closed, or of a server that is killed.
const GONE: Duration = Duration::from_secs(3);
/// What the answer says when the program was killed.
const KILLED: &str = "he program was killed by SIGKILL";
/// What it says when its debugger was.
const LOST: &str = "the connection to the debugger is lost";

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Harm {
    /// SIGKILL.
    Killed,
    /// SIGSTOP.
    Held,
}

/// To what.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Victim {
    Program,
    /// The process that the server speaks to. This text is in its command line.
    Adapter(&'static str),
    /// The process that the adapter has trace the program.
    Tracer(&'static str),
    Server,
}

/// When.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Running,
    Paused,
    Stepping,
    Evaluating,
}

use Harm::{Held, Killed};
use Moment::{Evaluating, Paused, Running, Stepping};
use Victim::{Adapter, Program, Server as Itself, Tracer};

const MOMENTS: [Moment; 4] = [Running, Paused, Stepping, Evaluating];

/// A language: its name, the extension of its files, an expression that calls `hang`, and what is done.
type Row = (&'static str, &'static str, &'static str, &'static [(Victim, Harm)]);

const LLDB: &[(Victim, Harm)] = &[
    (Program, Killed),
    (Adapter("lldb-dap"), Killed),
    (Adapter("lldb-dap"), Held),
    (Tracer("lldb-server"), Killed),
    (Tracer("lldb-server"), Held),
    (Itself, Killed),
];
const DELVE: &[(Victim, Harm)] =
    &[(Program, Killed), (Adapter("dlv"), Killed), (Adapter("dlv"), Held), (Itself, Killed)];
const BRIDGE: &[(Victim, Harm)] = &[
    (Program, Killed),
    (Adapter("stillframe.Bridge"), Killed),
    (Adapter("stillframe.Bridge"), Held),
    (Itself, Killed),
];
/// The debugger is inside the program.
const INSIDE: &[(Victim, Harm)] = &[(Program, Killed), (Program, Held), (Itself, Killed)];

const LANGUAGES: [Row; 6] = [
    ("c", "c", "hang()", LLDB),
    ("rust", "rs", "hang()", LLDB),
    ("go", "go", "call hang()", DELVE),
    ("java", "java", "hang()", BRIDGE),
    ("ruby", "rb", "hang", INSIDE),
    ("php", "php", "hang()", INSIDE),
];

/// A program that is paused in a session.
struct Struck {
    server: Server,
    session: String,
    pid: u32,
    folder: TempDir,
}

impl Struck {
    async fn paused(language: &str, extension: &str) -> Self {
        let server = STILLFRAME.serve().await;
        let folder = tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made");
        let program = Fixture::read(repository().join("fixtures/struck/main").with_extension(extension));
        let created = server.ok("create_debug_session", json!({ "language": language })).await;
        let session = created.text_of("sessionId").to_owned();
        let mut struck = Self { server, session, pid: 0, folder };
        let location = json!({ "file": program.path(), "line": program.line("here") });
        struck.ok("set_breakpoint", location).await;
        let env = json!({ "BEGUN": struck.folder.path().join("begun") });
        let start = json!({ "scriptPath": program.path(), "env": env, "timeout": 60_000 });
        let stopped = struck.ok("start_debugging", start).await;
        assert_eq!(stopped["state"], "paused", "{}", stopped.text);
        let threads = struck.ok("list_threads", json!({})).await;
        let pid = threads.at("/threads/0/processId").as_u64().expect("a process number");
        struck.pid = u32::try_from(pid).expect("a process number");
        struck.ok("clear_breakpoints", json!({})).await;
        struck
    }

    fn with_session(&self, mut arguments: Value) -> Value {
        arguments["sessionId"] = json!(self.session);
        arguments
    }

    async fn ok(&self, tool: &str, arguments: Value) -> Answer {
        self.server.ok(tool, self.with_session(arguments)).await
    }

    fn harm(&self, victim: Victim, harm: Harm) {
        let mark = self.server.mark();
        let named = |text: &str| {
            let processes = mark.processes();
            let of = processes.iter().find(|(_, command)| command.contains(text));
            of.unwrap_or_else(|| unreachable!("no {text} among {processes:#?}")).0
        };
        let pid = match victim {
            Program => self.pid,
            Adapter(text) | Tracer(text) => named(text),
            Itself => self.server.pid(),
        };
        match harm {
            Killed => mark.kill(pid),
            Held => mark.signal(pid, Signal::STOP),
        }
    }

    /// Begins the call of a moment, does harm when it is under way, and returns its answer; of the moment between two
    /// calls, that of the next. A server that is killed answers nothing.
    async fn strike(&self, (victim, harm): (Victim, Harm), moment: Moment, hang: &str) -> Option<Answer> {
        let (tool, mut arguments) = match moment {
            Running | Paused => ("continue_execution", json!({})),
            Stepping => ("step_over", json!({})),
            Evaluating => ("evaluate_expression", json!({ "expression": hang })),
        };
        // The end of a victim that is killed is noticed, and not waited for.
        arguments["timeout"] = json!(if harm == Killed { 60_000 } else { LIMIT_MS });
        if moment == Paused {
            self.harm(victim, harm);
        }
        let call = json!({ "name": tool, "arguments": self.with_session(arguments) });
        if (victim, moment) == (Itself, Paused) {
            return None;
        }
        let (_, response) = self.server.begin("tools/call", call).await;
        match moment {
            Evaluating => {
                let begun = self.folder.path().join("begun");
                eventually(|| begun.exists()).await;
            }
            Running | Stepping => self.runs().await,
            Paused => {}
        }
        if moment != Paused {
            self.harm(victim, harm);
        }
        if victim == Itself {
            return None;
        }
        let began = Instant::now();
        let reply = Server::reply(tool, response).await;
        assert!(began.elapsed() < LIMIT + GRACE, "{tool} took {:?}: {reply:?}", began.elapsed());
        Some(Answer::of(tool, &reply.expect("a failed call is an answer")))
    }

    /// Waits until the program runs.
    async fn runs(&self) {
        loop {
            let sessions = self.server.ok("list_debug_sessions", json!({})).await;
            if sessions.at("/sessions/0/state") != "paused" {
                return;
            }
            // sleep: it runs once the call has been taken.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A call that nothing holds up.
    async fn next(&self, tool: &str) -> Answer {
        in_time(&self.server, tool, self.with_session(json!({})), Duration::ZERO).await
    }

    /// Closes the session, and fails unless only the server is left.
    async fn close(self) {
        let closed = self.next("close_debug_session").await;
        assert!(!closed.is_error, "{}", closed.text);
        let until = Instant::now() + GONE;
        loop {
            let mut left = self.server.mark().processes();
            left.retain(|(pid, command)| *pid != self.server.pid() && !command.contains("__guard"));
            if left.is_empty() {
                break;
            }
            assert!(Instant::now() < until, "left behind: {left:#?}");
            // sleep: the system takes a moment to end what was killed.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.server.finish().await;
    }
}

/// What the call comes to, and where it does not report the end of the program, the next one.
async fn cell((language, extension, hang, _): Row, harm: (Victim, Harm), moment: Moment) -> String {
    let struck = Struck::paused(language, extension).await;
    let Some(answer) = struck.strike(harm, moment, hang).await else {
        struck.server.mark().assert_gone_within(GONE);
        return "gone".to_owned();
    };
    let mut found = outcome(&answer);
    if harm.1 == Killed {
        let ended = if answer.is_error { struck.next("continue_execution").await } else { answer.clone() };
        if answer.is_error {
            found = format!("{found}, {}", outcome(&ended));
        }
        let reason = if harm.0 == Program { KILLED } else { LOST };
        if !ended.text.contains(reason) {
            found = format!("{found}, because: {} {}", answer.text, ended.text);
        }
    }
    let restart = struck.with_session(json!({ "timeout": 0 }));
    let restarted = in_time(&struck.server, "restart_debugging", restart, Duration::ZERO).await;
    assert_eq!(restarted["state"], "running", "{}", restarted.text);
    struck.close().await;
    found
}

fn expected(harm: (Victim, Harm), moment: Moment) -> &'static str {
    match (harm, moment) {
        ((Itself, _), _) => "gone",
        ((Program, Killed), Evaluating) => "connection_lost, ended SIGKILL",
        ((Program, Killed), _) => "ended SIGKILL",
        ((_, Killed), Evaluating) => "connection_lost, ended",
        ((_, Killed), _) => "ended",
        ((_, Held), Evaluating) => "deadline_exceeded",
        ((_, Held), _) => "running",
    }
}

/// Does a cell, whose failure is one among others. What was wrong is returned.
async fn checked((row, harm, moment): (Row, (Victim, Harm), Moment)) -> Option<String> {
    let began = Instant::now();
    let found = AssertUnwindSafe(cell(row, harm, moment)).catch_unwind().await;
    let found = found.unwrap_or_else(|_| "FAILED".to_owned());
    let is_right = found == expected(harm, moment);
    let text = format!("{}: {:?} {:?} while {moment:?}: {found}", row.0, harm.0, harm.1);
    let mark = if is_right { "" } else { "! " };
    say(&format!("{mark}{text} ({:.1} s)\n", began.elapsed().as_secs_f64()));
    (!is_right).then_some(text)
}

#[tokio::test]
async fn faults_of_programs_in_other_languages_are_survived() {
    let cells = LANGUAGES.into_iter().flat_map(|row| {
        let harms = row.3.iter().copied();
        harms.flat_map(move |harm| MOMENTS.map(|moment| (row, harm, moment)))
    });
    let cells = rows_to_try(cells, ONE_OF).map(checked);
    let wrong: Vec<_> = futures_util::stream::iter(cells).buffer_unordered(AT_ONCE).collect().await;
    let wrong: Vec<_> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
