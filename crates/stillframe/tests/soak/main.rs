//! A server that is used for long, and by many: what it holds afterwards is what it held before.
//!
//! On each push, a part of each that does not take long.

#![expect(clippy::indexing_slicing, reason = "what a JSON value does not have is null")]

mod clients;
mod day;

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::{Value, json};
use test_support::{
    Built, DynamicLanguage as Language, Fixture, ResourceUsage, Server, quiet, say, settled, tries_everything,
};

use crate::day::Day;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };

/// How many sessions are used at once.
const AT_ONCE: usize = 4;
/// How much more memory a server may hold after everything than after its first sessions, in KiB.
const GROWTH: usize = 16 * 1024;

/// How much is done.
struct Amount {
    /// Sessions, one after the other.
    sessions: usize,
    /// Sessions that are open at once.
    open: usize,
    /// Programs of a day of work.
    programs: usize,
    /// Clients of HTTP.
    clients: usize,
}

impl Amount {
    /// What was requested.
    fn wanted() -> Self {
        if tries_everything() { FULL } else { PART }
    }
}

/// What an agent does in 8 hours that makes a call each 5 seconds: 5,760 calls, a new program each 26 calls.
const FULL: Amount = Amount { sessions: 1000, open: 100, programs: 222, clients: 300 };
const PART: Amount = Amount { sessions: 10, open: 6, programs: 4, clients: 6 };

/// A session whose program is paused where two variables are to be swapped.
async fn paused(server: &Server, language: Language) -> String {
    let program = Fixture::of(language, "swap_vars");
    let until = json!({
        "program": program.path(), "until": [{ "line": program.line("call") }], "timeout": 60_000,
    });
    let stopped = server.ok("run_until", until).await;
    assert_eq!(stopped["state"], "paused", "{}", stopped.text);
    stopped.text_of("sessionId").to_owned()
}

async fn answers(server: &Server, session: &str) {
    let arguments = json!({ "sessionId": session, "expression": "x + y" });
    assert_eq!(server.ok("evaluate_expression", arguments).await["result"], "30");
}

async fn close(server: &Server, session: &str) {
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
}

/// Each launches a program, inspects it at a stop, and is closed.
async fn one_after_the_other(server: &Server, sessions: usize) {
    let one = async |number: usize| {
        let session = paused(server, language(number)).await;
        answers(server, &session).await;
        let stack = server.ok("get_stack_trace", json!({ "sessionId": session })).await;
        assert!(stack["count"].as_u64() > Some(0));
        close(server, &session).await;
    };
    futures_util::stream::iter((0..sessions).map(one)).buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
}

/// All have a paused program, and each answers for itself.
async fn all_at_once(server: &Server, sessions: usize) {
    let open = futures_util::stream::iter((0..sessions).map(|number| paused(server, language(number))));
    let open: Vec<String> = open.buffer_unordered(AT_ONCE).collect().await;
    let pid = server.pid();
    say(&format!("{sessions} open at once: {}\n", ResourceUsage::of(pid)));
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], sessions);
    for session in &open {
        answers(server, session).await;
    }
    let closing = open.iter().map(|session| close(server, session));
    futures_util::future::join_all(closing).await;
}

async fn a_day(server: &Server, programs: usize) -> usize {
    let days = (0..programs).map(|number| Day::work(server, language(number)));
    let calls: Vec<usize> = futures_util::stream::iter(days).buffer_unordered(AT_ONCE).collect().await;
    calls.iter().sum()
}

const fn language(number: usize) -> Language {
    if number.is_multiple_of(2) { Language::Python } else { Language::Node }
}

#[tokio::test]
async fn a_server_leaks_nothing() {
    let amount = Amount::wanted();
    let mut options = STILLFRAME.options().await;
    options.args.extend(["--limit".to_owned(), format!("sessions={}", FULL.open + 1)]);
    let server = options.start().await;
    one_after_the_other(&server, 8).await;
    a_day(&server, 2).await;
    let before = quiet(server.pid()).await;
    say(&format!("\nbefore: {before}\n"));
    // An allocator keeps the room that so many need, once.
    all_at_once(&server, amount.open).await;
    let after = settled(server.pid(), &before).await;
    assert!(after.is_within(&before), "{before} before, {after} after");
    let before = ResourceUsage { memory: after.memory.max(before.memory), ..before };
    say(&format!("after the first {} sessions at once: {after}\n", amount.open));

    let began = Instant::now();
    one_after_the_other(&server, amount.sessions).await;
    told(&server, &before, &format!("{} sessions, each with a program of its own", amount.sessions), began)
        .await;

    let began = Instant::now();
    all_at_once(&server, amount.open).await;
    told(&server, &before, &format!("{} sessions at once again", amount.open), began).await;

    let began = Instant::now();
    let calls = a_day(&server, amount.programs).await;
    let hours = Duration::from_secs(5 * calls as u64).as_secs_f64() / 3600.0;
    let what = format!("{calls} calls on {} programs, one each 5 s for {hours:.1} h", amount.programs);
    told(&server, &before, &what, began).await;

    assert_eq!(server.ok("list_debug_sessions", json!({})).await["sessions"], Value::Array(Vec::new()));
    server.finish().await;
}

/// Says what is held after something, and fails when it is more than before.
async fn told(server: &Server, before: &ResourceUsage, what: &str, began: Instant) {
    let took = began.elapsed().as_secs_f64();
    let after = settled(server.pid(), before).await;
    let growth = after.growth_since(before);
    say(&format!("after {what} ({took:.0} s): {after}; grown by {growth} KB\n"));
    assert!(after.is_within(before), "{what}: {before} before, {after} after");
    assert!(growth < GROWTH, "{what}: {before} before, {after} after");
    let left = server.mark().processes();
    let left: Vec<_> = left.iter().filter(|(_, command)| command.contains("swap_vars")).collect();
    assert!(left.is_empty(), "left behind: {left:#?}");
}
