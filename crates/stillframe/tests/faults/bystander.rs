//! Sessions of the same server that must not be affected.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, Fixture, Server};

/// How soon a session answers that is not attacked, on a busy machine: sooner than a debugger is given up that does not.
const AT_ONCE: Duration = Duration::from_secs(4);

/// A paused program in each language.
pub(crate) struct Bystanders {
    sessions: [(String, Value); 2],
    /// Which is asked next.
    turn: AtomicUsize,
}

impl Bystanders {
    pub(crate) async fn pause(server: &Server) -> Self {
        let sessions = [pause(server, Language::Python).await, pause(server, Language::Node).await];
        Self { sessions, turn: AtomicUsize::new(0) }
    }

    /// Fails unless one of them is where it was and answers at once; each in turn.
    pub(crate) async fn answer(&self, server: &Server) {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let (session, place) = &self.sessions[turn % self.sessions.len()];
        let began = Instant::now();
        assert_eq!(&place_of(server, session).await, place);
        let arguments = json!({ "sessionId": session, "expression": "x + y" });
        assert_eq!(server.ok("evaluate_expression", arguments).await["result"], "30");
        assert!(began.elapsed() < AT_ONCE, "the other session was held up for {:?}", began.elapsed());
    }
}

async fn pause(server: &Server, language: Language) -> (String, Value) {
    let program = Fixture::of(language, "swap_vars");
    let until = json!({
        "program": program.path(), "until": [{ "line": program.line("call") }], "timeout": 60_000,
    });
    let stopped = server.ok("run_until", until).await;
    let session = stopped.text_of("sessionId").to_owned();
    let location = place_of(server, &session).await;
    (session, location)
}

async fn place_of(server: &Server, session: &str) -> Value {
    let stack = server.ok("get_stack_trace", json!({ "sessionId": session })).await;
    stack.at("/stackFrames/0/line").clone()
}
