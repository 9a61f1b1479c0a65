//! What a server that is killed leaves, and what the next one makes of it.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, Shutdown, dynamic};

use crate::client::{ADDS, ToolClient, app, at, folder, name_of, scene, stop};

dynamic![
    a_session_is_recovered_after_the_server_was_killed,
    another_program_can_be_launched_with_the_recovered_breakpoints,
    a_recovered_breakpoint_without_its_line_is_named_and_dropped,
];

const FILE: &str = ".debug_session.mcp.json";

fn saved(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join(FILE)).expect("the file is there");
    serde_json::from_str(&text).expect("the file holds JSON")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

async fn a_session_is_recovered_after_the_server_was_killed(language: Language) {
    let folder = folder();
    let program = app(language, &folder, ADDS);
    let path = program.path();
    let client = ToolClient::within(folder.path()).await;
    client.break_at(&program, "return").await;
    let launch = json!({ "program": path, "args": ["a b"], "env": { "TOKEN": "secret" } });
    client.succeeds("debug_launch", launch).await;
    let location = json!({ "file": path, "line": program.line("add"), "condition": "item > 1" });
    client.succeeds("debug_breakpoint", location).await;

    let kept = saved(folder.path());
    assert_eq!((&kept["language"], &kept["program"]), (&json!(name_of(language)), &json!(path)));
    assert_eq!(kept["breakpoints"], json!({ path: [program.line("return"), program.line("add")] }));
    assert_eq!(kept["conditions"], json!({ path: { program.line("add").to_string(): "item > 1" } }));
    assert_eq!((&kept["args"], &kept["pid"]), (&json!(["a b"]), &json!(client.server.pid())));
    assert!(!kept.to_string().contains("secret"), "{kept}");
    client.step("debug_continue").await;
    client.server.kill().await;
    assert_eq!(names(folder.path()), [FILE.to_owned(), language.file("app")]);

    let client = ToolClient::within(folder.path()).await;
    let file = language.file("app");
    let failed = client.fails("debug_continue", json!({})).await;
    let last = format!("the last one was `{file}`; call debug_launch to start it again");
    assert_eq!(failed, format!("Error: no program is being debugged; {last}"));
    let launched = client.step("debug_launch").await;
    let expected = format!(
        "Debugger started for {file} ({}). Ready for breakpoints.\nRestored 2 breakpoints of the last \
         session: {}, {}.\nIt runs without TOKEN: values of `env` are not saved; pass them again.",
        name_of(language),
        at(&program, "return"),
        at(&program, "add"),
    );
    assert_eq!(launched, expected);
    let stopped = client.step("debug_continue").await;
    assert!(stopped.starts_with(&stop("breakpoint", &program, "add")), "{stopped}");
    let number = language.words().number;
    assert_eq!(
        client.succeeds("debug_evaluate", json!({ "expression": "item" })).await,
        format!("({number}) 2")
    );
    let arguments = language.pick("__import__('sys').argv[1]", "process.argv[2]");
    let value = client.succeeds("debug_evaluate", json!({ "expression": arguments })).await;
    assert_eq!(value, format!("({}) a b", language.words().string));
    assert!(client.step("debug_continue").await.starts_with(&stop("breakpoint", &program, "return")));
    assert_eq!(saved(folder.path())["pid"], json!(client.server.pid()));
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    assert_eq!(names(folder.path()), [file]);
    client.server.finish().await;
}

async fn another_program_can_be_launched_with_the_recovered_breakpoints(language: Language) {
    let (folder, program, client) = scene(language, ADDS).await;
    client.succeeds("debug_launch", json!({ "program": program.path(), "args": ["a b"] })).await;
    client.break_at(&program, "add").await;
    client.server.kill().await;

    let other = test_support::Fixture::write_in(language, folder.path(), "other", ADDS);
    let client = ToolClient::within(folder.path()).await;
    let launched = client.launch(&other).await;
    let restored = format!("Restored 1 breakpoint of the last session: {}.", at(&program, "add"));
    let first = format!(
        "Debugger started for {} ({}). Ready for breakpoints.",
        language.file("other"),
        name_of(language)
    );
    assert!(launched.starts_with(&format!("{first}\n{restored}")), "{launched}");
    // The arguments belong to the other program.
    assert_eq!(saved(folder.path())["args"], Value::Null);
    client.server.finish().await;
}

async fn a_recovered_breakpoint_without_its_line_is_named_and_dropped(language: Language) {
    let (folder, program, client) = scene(language, ADDS).await;
    client.launch(&program).await;
    client.break_at(&program, "first").await;
    client.break_at(&program, "print").await;
    client.server.kill().await;

    let (first, gone) = (at(&program, "first"), at(&program, "print"));
    let text = language.pick(
        "def add():\n    total = 0  # @first\n    return total\n\n\nadd()\n",
        "function add() {\n  let total = 0; // @first\n  return total;\n}\nadd();\n",
    );
    std::fs::write(program.path(), text).unwrap();
    let client = ToolClient::within(folder.path()).await;
    let launched = client.step("debug_launch").await;
    let lines: Vec<&str> = launched.lines().collect();
    assert_eq!(lines[1], format!("Restored 1 breakpoint of the last session: {first}."), "{launched}");
    let dropped = format!("Dropped the breakpoint at {gone}: line {} of `", program.line("print"));
    assert!(
        lines[2].starts_with(&dropped) && lines[2].contains(" is past the end of the file"),
        "{launched}"
    );
    assert_eq!(saved(folder.path())["breakpoints"], json!({ program.path(): [program.line("first")] }));
    client.server.finish().await;
}

#[tokio::test]
async fn a_clean_shutdown_leaves_no_saved_state() {
    for goodbye in [Shutdown::EndOfInput, Shutdown::Terminate, Shutdown::Interrupt] {
        let folder = folder();
        let program = app(Language::Node, &folder, ADDS);
        let client = ToolClient::within(folder.path()).await;
        client.stopped_at(&program, "add").await;
        assert!(folder.path().join(FILE).exists());
        client.server.finish_by(goodbye).await;
        assert_eq!(names(folder.path()), ["app.js"], "{goodbye:?}");
    }
}

#[tokio::test]
async fn unused_recovered_state_is_kept_for_the_next_server() {
    let folder = folder();
    let program = app(Language::Node, &folder, ADDS);
    let client = ToolClient::within(folder.path()).await;
    client.stopped_at(&program, "add").await;
    client.server.kill().await;
    let left = saved(folder.path());

    let client = ToolClient::within(folder.path()).await;
    client.fails("debug_stack", json!({})).await;
    client.server.finish().await;
    assert_eq!(saved(folder.path()), left);

    let client = ToolClient::within(folder.path()).await;
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    assert_eq!(names(folder.path()), ["app.js"]);
    let failed = client.fails("debug_launch", json!({})).await;
    assert_eq!(failed, "Error: `program` is missing; give the path of a script");
    client.server.finish().await;
}

#[tokio::test]
async fn an_unreadable_state_file_is_moved_aside() {
    let folder = folder();
    let program = app(Language::Node, &folder, ADDS);
    for text in ["", "{\"language\": \"no", "[1, 2]", "{\"breakpoints\": 7}"] {
        std::fs::write(folder.path().join(FILE), text).unwrap();
        let client = ToolClient::within(folder.path()).await;
        let launched = client.launch(&program).await;
        let (first, note) = launched.split_once('\n').unwrap();
        assert_eq!(first, "Debugger started for app.js (node). Ready for breakpoints.");
        assert!(note.starts_with(&format!("note: `{FILE}` is not a valid session file (")), "{text}: {note}");
        assert!(note.ends_with(&format!("; it was renamed to `{FILE}.corrupt`")), "{text}: {note}");
        assert_eq!(std::fs::read_to_string(folder.path().join(format!("{FILE}.corrupt"))).unwrap(), text);
        // It is said once.
        assert_eq!(client.step("debug_stop").await, "Debug session ended.");
        client.server.finish().await;
    }
}

#[tokio::test]
async fn a_state_file_of_the_reference_server_is_recovered() {
    let folder = folder();
    let program = app(Language::Node, &folder, ADDS);
    let lines = json!({ program.path(): [program.line("add")] });
    let left =
        json!({ "language": "node", "program": program.path(), "breakpoints": lines, "daemon_pid": 1 });
    std::fs::write(folder.path().join(FILE), left.to_string()).unwrap();
    let client = ToolClient::within(folder.path()).await;
    let launched = client.step("debug_launch").await;
    let restored = format!("Restored 1 breakpoint of the last session: {}.", at(&program, "add"));
    assert_eq!(launched, format!("Debugger started for app.js (node). Ready for breakpoints.\n{restored}"));
    client.server.finish().await;
}

/// Not writable by any user.
#[tokio::test]
async fn an_unwritable_folder_only_adds_a_note() {
    let folder = folder();
    let program = app(Language::Node, &folder, ADDS);
    let client = ToolClient::within(Path::new("/proc")).await;
    let launched = client.launch(&program).await;
    let (first, note) = launched.split_once('\n').unwrap();
    assert_eq!(first, "Debugger started for app.js (node). Ready for breakpoints.");
    let because = format!("note: this session cannot be recovered later: cannot write `{FILE}`: ");
    assert!(note.starts_with(&because), "{note}");
    assert_eq!(
        client.break_at(&program, "add").await,
        format!("Breakpoint at {} (verified)", at(&program, "add"))
    );
    client.step("debug_continue").await;
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    client.server.finish().await;
}

#[tokio::test]
async fn a_state_file_of_a_running_server_is_left_alone() {
    let folder = folder();
    let program = app(Language::Node, &folder, ADDS);
    let first = ToolClient::within(folder.path()).await;
    first.launch(&program).await;
    let kept = saved(folder.path());

    let second = ToolClient::within(folder.path()).await;
    let launched = second.launch(&program).await;
    let because = format!(
        "this session cannot be recovered later: `{FILE}` belongs to another server, process {}",
        first.server.pid()
    );
    let expected = format!("Debugger started for app.js (node). Ready for breakpoints.\nnote: {because}");
    assert_eq!(launched, expected);
    assert_eq!(second.step("debug_stop").await, "Debug session ended.");
    second.server.finish().await;
    assert_eq!(saved(folder.path()), kept);
    first.server.finish().await;
    assert_eq!(names(folder.path()), ["app.js"]);
}

/// Other toolsets never touch the disk.
#[tokio::test]
async fn no_state_is_read_or_written_before_the_first_call() {
    let folder = folder();
    std::fs::write(folder.path().join(FILE), "no JSON").unwrap();
    let client = ToolClient::with(folder.path(), "all").await;
    client.server.ok("list_debug_sessions", json!({})).await;
    client.server.finish().await;
    assert_eq!(names(folder.path()), [FILE]);
}
