//! What cannot be done is said, with what to do next, and the program is as it was.

use serde_json::json;
use test_support::{DynamicLanguage as Language, dynamic};

use crate::client::{ADDS, ToolClient, at};

dynamic![unknown_ids_are_refused_with_the_existing_ones, lines_without_code_suggest_lines_with_code];

async fn unknown_ids_are_refused_with_the_existing_ones(language: Language) {
    let (client, program) = ToolClient::started(language, ADDS).await;
    let id = client.break_at(&program, "return").await["breakpointId"].clone();
    for tool in ["toggle_breakpoint", "remove_breakpoint", "set_hit_count_condition"] {
        let mut arguments = json!({ "breakpointId": "bp-77" });
        if tool == "set_hit_count_condition" {
            arguments["operator"] = json!("==");
            arguments["value"] = json!(1);
        }
        let failed = client.fails("BREAKPOINT_NOT_FOUND", tool, arguments).await;
        assert!(failed.text_of("message").starts_with("no breakpoint `bp-77`; there are: bp-1"));
        assert_eq!(failed.at("/context/breakpoints"), &json!([id]));
    }
    let operator = json!({ "breakpointId": id, "operator": "=>", "value": 1 });
    let failed = client.fails("INVALID_ARGUMENTS", "set_hit_count_condition", operator).await;
    assert!(failed.text_of("message").contains("`operator` must be"), "{}", failed.text);
    let never = json!({ "breakpointId": id, "operator": "%", "value": 0 });
    client.fails("INVALID_ARGUMENTS", "set_hit_count_condition", never).await;
    assert_eq!(client.step("continue").await.at("/location/line"), program.line("return"));
    client.finish().await;
}

#[tokio::test]
async fn a_hang_of_nothing_is_refused() {
    let client = ToolClient::new().await;
    let failed = client.fails("INVALID_ARGUMENTS", "detect_hang", json!({})).await;
    assert_eq!(failed.text_of("message"), "`command` is missing, and no session is open");
    client.finish().await;
}

async fn lines_without_code_suggest_lines_with_code(language: Language) {
    let (client, program) = ToolClient::started(language, ADDS).await;
    let mut far = at(&program, "return");
    far["line"] = json!(999);
    let failed = client.fails("BREAKPOINT_SET_FAILED", "set_breakpoint", far).await;
    assert!(failed.at("/context/nearest").is_array(), "{}", failed.text);
    let missing = json!({ "file": language.file("ap"), "line": 1 });
    let failed = client.fails("BREAKPOINT_SET_FAILED", "set_breakpoint", missing).await;
    assert!(failed.text_of("message").contains("did you mean"), "{}", failed.text);
    let mut condition = at(&program, "return");
    condition["condition"] = json!("number >");
    let failed = client.fails("BREAKPOINT_SET_FAILED", "set_breakpoint", condition).await;
    assert_eq!(failed.at("/context/cause"), "bad_expression");
    assert_eq!(client.step("list_breakpoints").await["breakpoints"], json!([]));
    client.finish().await;
}

#[tokio::test]
async fn a_program_that_fails_to_start_leaves_no_session() {
    let client = ToolClient::new().await;
    let folder = client.folder().display().to_string();
    let table = [
        (
            json!({ "command": "no-such-command-here" }),
            "SESSION_START_FAILED",
            "`no-such-command-here` was not found",
        ),
        (json!({ "command": "node missing.js" }), "SESSION_START_FAILED", "no file `"),
        (
            json!({ "command": "node", "args": ["missing.js"], "cwd": "/no/folder" }),
            "SESSION_START_FAILED",
            "no file `",
        ),
        (
            json!({ "command": "/etc/passwd x" }),
            "SESSION_START_FAILED",
            "cannot tell which language `/etc/passwd` runs",
        ),
        (json!({ "command": "" }), "INVALID_ARGUMENTS", "`command` is empty"),
        (
            json!({ "command": "node x.js | cat" }),
            "INVALID_ARGUMENTS",
            "`command` needs a shell: it has several commands",
        ),
        (
            json!({ "command": "node", "cwd": folder, "timeout": 600_001 }),
            "LIMIT_REACHED",
            "`timeout` is 600001: the limit `longest_wait` is 600000",
        ),
    ];
    for (arguments, code, message) in table {
        let failed = client.fails(code, "start", arguments.clone()).await;
        assert!(failed.text_of("message").starts_with(message), "{arguments}: {}", failed.text);
    }
    let misspelt = json!({ "command": "no-such-command-here", "argz": [] });
    let failed = client.fails("SESSION_START_FAILED", "start", misspelt).await;
    assert_eq!(failed["warnings"], json!(["ignored unknown argument `argz`; did you mean `args`?"]));
    let none = client.fails("SESSION_NOT_FOUND", "continue", json!({})).await;
    assert_eq!(none["message"], "no debug session is open; call debugger_start to start a program");
    client.finish().await;
}

#[tokio::test]
async fn timeouts_above_the_maximum_are_refused() {
    let (client, _) = ToolClient::started(Language::Node, ADDS).await;
    for tool in ["continue", "step_over", "pause"] {
        let failed = client.fails("LIMIT_REACHED", tool, json!({ "timeout": 700_000 })).await;
        assert_eq!(failed.at("/context/value"), 600_000);
    }
    let failed =
        client.fails("LIMIT_REACHED", "inspect", json!({ "expression": "1", "timeout": 200_000 })).await;
    assert_eq!(failed.at("/context/value"), 120_000);
    assert_eq!(client.value("1 + 1").await, 2);
    client.finish().await;
}

#[tokio::test]
async fn after_the_end_every_tool_reports_it() {
    let (client, _) = ToolClient::started(Language::Node, ADDS).await;
    assert_eq!(client.step("continue").await["state"], "terminated");
    let request = json!({ "expression": "1" });
    for (code, tool, arguments) in [
        ("NOT_PAUSED", "inspect", request.clone()),
        ("NOT_PAUSED", "get_stack", json!({})),
        ("NOT_PAUSED", "get_local_variables", json!({})),
        ("NOT_PAUSED", "get_global_variables", json!({})),
        ("NOT_PAUSED", "switch_stack_frame", json!({ "frameIndex": 0 })),
        ("NOT_PAUSED", "step_over", json!({})),
        ("PAUSE_FAILED", "pause", json!({})),
        ("HEAP_SNAPSHOT_FAILED", "take_heap_snapshot", json!({})),
        ("CPU_PROFILE_START_FAILED", "start_cpu_profile", json!({})),
    ] {
        let failed = client.fails(code, tool, arguments).await;
        assert!(failed.text_of("message").contains("debugger_"), "{tool} says what to do: {}", failed.text);
    }
    assert_eq!(client.step("get_watches").await["watches"], json!([]));
    client.finish().await;
}
