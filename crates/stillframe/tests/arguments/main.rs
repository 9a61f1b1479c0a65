//! Every tool of every toolset, called with thousands of arguments that are wrong, at a server that has no session,
//! one that has not started, and one that is paused.
//!
//! Nothing here can do harm on the machine. A call with something wrong in it is refused before the tool begins, and
//! what is right in it is from `safe.rs`: files that are not there, in a folder of the test; a process number that no
//! process can have; an unused port on this host; expressions without effects. Arguments that only make no sense
//! are given to tools that start, attach to and write nothing, and at a paused program only to those that look.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod calls;
mod safe;
mod words;
mod wrong;

use std::path::Path;

use serde_json::{Value, json};
use test_support::{Built, DynamicLanguage as Language, Fixture, Server, tries_everything};

use self::calls::{Tally, Tool};

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };

/// Of the calls with something wrong, each state but the first sees one of so many, so that it does not take long.
const SAMPLE: usize = 5;
/// On a push, one of so many of all calls is made.
const ONE_OF: usize = 30;

fn one_of() -> usize {
    if tries_everything() { 1 } else { ONE_OF }
}

/// One with a folder for its recordings, and the folder that it works in, where `debug_launch` writes.
async fn server(state: &Path, cwd: Option<&Path>) -> (Server, Vec<Tool>) {
    let mut options = STILLFRAME.options().await;
    options.env.push(("XDG_STATE_HOME".to_owned(), state.display().to_string()));
    options.cwd = cwd.map(Path::to_owned);
    options.args.extend(["--toolset".to_owned(), "all".to_owned()]);
    let server = options.start().await;
    let listed = server.request("tools/list", json!({})).await.expect("the tools are listed");
    let tools = listed["tools"].as_array().expect("a list").iter().map(Tool::of).collect();
    (server, tools)
}

/// Calls with one thing wrong, all or a sample of them, and at tools that allow it with what makes no sense.
async fn try_all(server: &Server, tools: &[Tool], folder: &Path, sample: usize, may_change: bool) -> Tally {
    let mut tally = Tally::default();
    for (number, tool) in tools.iter().enumerate() {
        let all = wrong::calls(tool, folder);
        let wrong = all.into_iter().skip(number % sample).step_by(sample);
        let foolish = if tool.looks_only() || (may_change && tool.starts_nothing()) {
            wrong::foolish(tool, folder)
        } else {
            Vec::new()
        };
        let foolish = foolish.into_iter().skip(number % one_of()).step_by(one_of());
        for (arguments, expected) in wrong.chain(foolish) {
            tally.call(server, tool, arguments, &expected).await;
        }
    }
    assert!(server.request("ping", json!({})).await.is_ok());
    tally
}

/// Where the program is, as an agent sees it.
async fn place(server: &Server, id: &str) -> Value {
    let stack = server.ok("get_stack_trace", json!({ "sessionId": id })).await;
    let listed = server.ok("list_debug_sessions", json!({})).await;
    let state = listed.at("/sessions").as_array().into_iter().flatten();
    let state = state.filter(|session| session["id"] == id || session["sessionId"] == id);
    json!([
        stack.at("/stackFrames/0/line"),
        stack.at("/stackFrames/0/file"),
        state.collect::<Vec<_>>()[0]["state"]
    ])
}

#[tokio::test]
async fn every_wrong_argument_is_reported() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let state = tempfile::tempdir().expect("a folder for recordings");
    let mut whole = Tally::default();
    let sample = SAMPLE * one_of();

    let (server, tools) = server(state.path(), None).await;
    whole.add("no session", try_all(&server, &tools, folder.path(), one_of(), true).await);
    server.ok("create_debug_session", json!({ "language": "python" })).await;
    whole.add("one session", try_all(&server, &tools, folder.path(), sample, true).await);
    done(server).await;

    for language in [Language::Python, Language::Node] {
        let (server, tools) = self::server(state.path(), None).await;
        let program = Fixture::of(language, "swap_vars");
        let created = server.ok("create_debug_session", json!({ "language": language.name() })).await;
        let id = created.text_of("sessionId").to_owned();
        let call = json!({ "sessionId": id, "file": program.path(), "line": program.line("call") });
        server.ok("set_breakpoint", call).await;
        let start = json!({ "sessionId": id, "scriptPath": program.path() });
        assert_eq!(server.ok("start_debugging", start).await.at("/location/line"), program.line("call"));
        let before = place(&server, &id).await;
        whole.add(
            &format!("paused in {}", language.name()),
            try_all(&server, &tools, folder.path(), sample, false).await,
        );
        assert_eq!(place(&server, &id).await, before, "it is where it was");
        done(server).await;
    }
    whole.print();
    let problems = whole.problems();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    let left = std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(left, 0, "something was written");
    assert!(whole.calls() >= 3000 / one_of(), "{} calls", whole.calls());
}

async fn done(server: Server) {
    let (_, log) = server.finish().await;
    assert!(!log.contains("panicked"), "{log}");
}
