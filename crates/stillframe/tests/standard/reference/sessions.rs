//! `create_debug_session`, `list_debug_sessions`, `close_debug_session`, `set_breakpoint` and
//! `get_source_context`.

use serde_json::json;
use test_support::{Fixture, Language, PerLanguage, ServerOptions, each, repository};

use super::has_fields;
use crate::STILLFRAME;
use crate::debugging::{Debugging, folder};

each![
    create_debug_session_answers_with_a_uuid_and_its_name,
    an_unnamed_session_is_named_after_the_time,
    list_debug_sessions_has_every_documented_field_and_state,
    close_debug_session_succeeds_once,
    set_breakpoint_returns_the_line_and_two_around_it,
    a_relative_path_is_returned_as_an_absolute_one,
    get_source_context_returns_the_lines_around_a_line,
    get_source_context_defaults_to_five_lines_within_the_file,
];

/// `8-4-4-4-12` hexadecimal digits.
fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12] && parts.concat().chars().all(|char| char.is_ascii_hexdigit())
}

/// `2025-06-11T04:53:14.762Z`.
fn is_iso_time(text: &str) -> bool {
    let digits_are_zero = text.replace(|char: char| char.is_ascii_digit(), "0");
    digits_are_zero == "0000-00-00T00:00:00.000Z"
}

async fn create_debug_session_answers_with_a_uuid_and_its_name(language: Language) {
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": language.name(), "name": "Test Debug Session" });
    let created = server.ok("create_debug_session", arguments).await;
    assert!(is_uuid(created.text_of("sessionId")), "{}", created.text);
    let message = format!("Created {} debug session: Test Debug Session", language.name());
    assert_eq!(created["message"], message);
    server.finish().await;
}

async fn an_unnamed_session_is_named_after_the_time(language: Language) {
    let server = STILLFRAME.serve().await;
    let created = server.ok("create_debug_session", json!({ "language": language.name() })).await;
    let start = format!("Created {} debug session: Debug-", language.name());
    let stamp = created.text_of("message").strip_prefix(&start);
    let stamp: u64 = stamp.and_then(|stamp| stamp.parse().ok()).expect("Debug-{timestamp}");
    assert!(stamp > 1_700_000_000_000, "milliseconds since 1970: {stamp}");
    server.finish().await;
}

#[tokio::test]
async fn an_unknown_language_is_refused_with_the_known_ones() {
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "cobol" });
    let failed = server.fails("language_unsupported", "create_debug_session", arguments).await;
    assert_eq!(failed["error"], "`cobol` is not supported");
    assert!(failed.text_of("message").contains("python"), "{}", failed.text);
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], 0);
    server.finish().await;
}

async fn list_debug_sessions_has_every_documented_field_and_state(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    let listed = session.server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(listed["count"], 1);
    let entry = listed.at("/sessions/0");
    assert_eq!(entry["id"], json!(session.id));
    assert_eq!((&entry["language"], &entry["state"]), (&json!(language.name()), &json!("created")));
    for time in ["createdAt", "updatedAt"] {
        assert!(is_iso_time(entry[time].as_str().unwrap_or_default()), "{time}: {entry}");
    }
    has_fields(
        entry,
        &json!({ "id": "", "name": "", "language": "", "state": "", "createdAt": "", "updatedAt": "" }),
    );

    session.break_at(&program, "return").await;
    session.start(&program).await;
    let listed = session.server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(listed.at("/sessions/0/state"), "paused");
    assert!(
        listed.at("/sessions/0/updatedAt").as_str() > listed.at("/sessions/0/createdAt").as_str(),
        "{}",
        listed.text
    );
    session.finish().await;
}

async fn close_debug_session_succeeds_once(language: Language) {
    let session = Debugging::of(language).await;
    let closed = session.ok("close_debug_session", json!({})).await;
    assert_eq!(closed["message"], format!("Closed debug session: {}", session.id));
    let again = session.fails("session_not_found", "close_debug_session", json!({})).await;
    assert_eq!(again["error"], format!("Managed session not found: {}", session.id));
    assert_eq!(session.server.ok("list_debug_sessions", json!({})).await["count"], 0);
    session.finish().await;
}

async fn set_breakpoint_returns_the_line_and_two_around_it(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    let set = session.break_at(&program, "first_assignment").await;
    let line = program.line("first_assignment");
    let source = std::fs::read_to_string(program.path()).unwrap();
    let lines: Vec<&str> = source.lines().collect();
    let content = |line: u32| lines[line as usize - 1];

    assert!(set["breakpointId"].is_string());
    assert_eq!(set["file"], program.path());
    assert_eq!(set["line"], line);
    assert_eq!(set["verified"], false);
    assert_eq!(set["message"], format!("Breakpoint set at {}:{line}", program.path()));
    assert_eq!(set.at("/context/lineContent"), content(line));
    let around: Vec<_> = (line.saturating_sub(2).max(1)..=line + 2)
        .map(|line| json!({ "line": line, "content": content(line) }))
        .collect();
    assert_eq!(set.at("/context/surrounding"), &json!(around));
    session.finish().await;
}

async fn a_relative_path_is_returned_as_an_absolute_one(language: Language) {
    let program = Fixture::of(language, "swap_vars");
    let options = ServerOptions { cwd: Some(repository()), ..STILLFRAME.options().await };
    let session = Debugging::on(options.start().await, language).await;
    let relative = format!("fixtures/swap_vars/{}", language.file("main"));
    let location = json!({ "file": relative, "line": program.line("return") });
    let set = session.ok("set_breakpoint", location).await;
    assert_eq!(set["file"], program.path());

    let started = session.ok("start_debugging", json!({ "scriptPath": relative })).await;
    let message = format!("Debugging started for {relative}. Current state: paused");
    assert_eq!(started["message"], message);
    assert_eq!(started["data"], json!({ "message": message, "reason": "breakpoint" }));
    let stack = session.ok("get_stack_trace", json!({})).await;
    assert_eq!(stack.at("/stackFrames/0/file"), program.path());
    session.finish().await;
}

async fn get_source_context_returns_the_lines_around_a_line(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    let line = program.line("call");
    let arguments = json!({ "file": program.path(), "line": line, "linesContext": 3 });
    let context = session.ok("get_source_context", arguments).await;
    assert_eq!((&context["file"], &context["line"]), (&json!(program.path()), &json!(line)));
    let content = PerLanguage {
        name: "sessions: content",
        python: "    x, y = swap_variables(x, y)  # @call",
        node: "  [x, y] = swapVariables(x, y); // @call",
        c: "    swap_variables(x, y), x = swapped.a, y = swapped.b; // @call",
    }
    .of(language);
    assert_eq!(context["lineContent"], content);
    assert_eq!(context["contextLines"], 3);
    let lines: Vec<_> =
        context["surrounding"].as_array().unwrap().iter().map(|near| near["line"].clone()).collect();
    assert_eq!(json!(lines), json!((line - 3..=line + 3).collect::<Vec<_>>()));
    has_fields(context.at("/surrounding/0"), &json!({ "line": 0, "content": "" }));
    session.finish().await;
}

async fn get_source_context_defaults_to_five_lines_within_the_file(language: Language) {
    let program = Fixture::of(language, "swap_vars");
    let last = u32::try_from(std::fs::read_to_string(program.path()).unwrap().lines().count()).unwrap();
    let session = Debugging::of(language).await;
    let numbers = async |line: u32| {
        let arguments = json!({ "file": program.path(), "line": line });
        let context = session.ok("get_source_context", arguments).await;
        assert_eq!(context["contextLines"], 5);
        let lines = context["surrounding"].as_array().cloned().unwrap();
        lines.iter().map(|near| near["line"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(json!(numbers(1).await), json!((1..=6).collect::<Vec<_>>()));
    assert_eq!(json!(numbers(last).await), json!((last - 5..=last).collect::<Vec<_>>()));
    for beyond in [0, last + 1] {
        let arguments = json!({ "file": program.path(), "line": beyond });
        let failed = session.fails("invalid_arguments", "get_source_context", arguments).await;
        assert_eq!(failed["error"], format!("`line` must be between 1 and {last} in {}", program.path()));
    }
    let folder = folder();
    let empty = folder.path().join("empty.txt");
    std::fs::write(&empty, "").unwrap();
    let arguments = json!({ "file": empty, "line": 1 });
    let failed = session.fails("invalid_arguments", "get_source_context", arguments).await;
    assert_eq!(failed["error"], format!("`line` is not in {}, which is empty", empty.display()));
    session.finish().await;
}
