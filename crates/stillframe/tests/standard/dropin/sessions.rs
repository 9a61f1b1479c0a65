//! A session of a client of each server that a toolset stands in for: its calls, and the fields that it reads.
//!
//! In the files, `$name` in an argument is what an earlier call `keeps`, `$FILE` the program, `$@name` the line of
//! that name, and `$@@name` the same counted from 0. What is read is a value, or `<number>`, `<text>` or `<list>`; of an answer of plain text, a part of it.

use serde_json::{Map, Value, json};
use test_support::{Fixture, Server};

use crate::STILLFRAME;

#[tokio::test]
async fn a_session_for_mcp_debugger_works() {
    replay(include_str!("sessions/mcp-debugger.json")).await;
}

#[tokio::test]
async fn a_session_for_nodejs_debug_mcp_works() {
    replay(include_str!("sessions/nodejs-debug-mcp.json")).await;
}

#[tokio::test]
async fn a_session_for_debugger_mcp_works() {
    replay(include_str!("sessions/debugger-mcp.json")).await;
}

#[tokio::test]
async fn a_session_for_mcp_debugger_server_works() {
    replay(include_str!("sessions/mcp-debugger-server.json")).await;
}

const DEAD: &str = "\
setInterval(() => {}, 1000);
// @comment
if (false) {
  globalThis.reached = true; // @dead
}
";

/// V8 puts a breakpoint of a removed branch elsewhere, and that server then waits in vain.
#[tokio::test]
async fn a_line_without_code_is_not_hit_for_nodejs_debug_mcp_clients() {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let program = Fixture::write(folder.path(), "dead.js", DEAD);
    let mut options = STILLFRAME.options().await;
    options.args.extend(["--toolset", "nodejs-debug-mcp"].map(str::to_owned));
    let server = options.start().await;
    for name in ["dead", "comment"] {
        let asked = json!({
            "command": format!("node --inspect-brk {}", program.path()),
            "breakpoint": { "file": program.path(), "line": program.line(name) - 1 },
            "expression": "globalThis.reached",
            "timeout": 1000,
        });
        let answer =
            server.request("tools/call", json!({ "name": "debug-script", "arguments": asked })).await;
        let expected = json!({ "error": "Timeout waiting for breakpoint after 1000ms" });
        assert_eq!(answer.unwrap()["structuredContent"], expected, "{name}");
    }
    server.finish().await;
}

async fn replay(golden: &str) {
    let golden: Value = serde_json::from_str(golden).expect("a golden session is JSON");
    let text = |field: &str| golden[field].as_str().unwrap().to_owned();
    let program = Fixture::node("swap_vars");
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let mut options = STILLFRAME.options().await;
    options.args.extend(["--toolset".to_owned(), text("toolset")]);
    options.cwd = Some(folder.path().to_owned());
    let server = options.start().await;
    let mut kept = Map::new();
    for call in golden["calls"].as_array().unwrap() {
        let tool = call["tool"].as_str().unwrap();
        let arguments = filled(&call["with"], &program, &kept);
        let answer = answer(&server, tool, &arguments).await;
        for (pointer, wanted) in call["reads"].as_object().into_iter().flatten() {
            let found = answer.pointer(pointer).unwrap_or(&Value::Null);
            assert!(is_as(found, &filled(wanted, &program, &kept)), "{tool}: `{pointer}` of {answer}");
        }
        for (name, pointer) in call["keeps"].as_object().into_iter().flatten() {
            let value = answer.pointer(pointer.as_str().unwrap()).cloned();
            kept.insert(name.clone(), value.unwrap_or_else(|| panic!("{tool}: no {name} in {answer}")));
        }
    }
    server.finish().await;
}

/// What a client makes of an answer: its text as JSON, or else as it is; the data of one that has no text.
async fn answer(server: &Server, tool: &str, arguments: &Value) -> Value {
    let result = server.request("tools/call", json!({ "name": tool, "arguments": arguments })).await.unwrap();
    match result.pointer("/content/0/text").and_then(Value::as_str) {
        Some(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        None => result["structuredContent"].clone(),
    }
}

fn filled(arguments: &Value, program: &Fixture, kept: &Map<String, Value>) -> Value {
    match arguments {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| (name.clone(), filled(value, program, kept)));
            fields.collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, program, kept)).collect(),
        Value::String(text) => match text.strip_prefix('$') {
            Some("FILE") => json!(program.path()),
            Some(name) => match name.strip_prefix('@') {
                Some(line) => match line.strip_prefix('@') {
                    Some(line) => json!(program.line(line) - 1),
                    None => json!(program.line(line)),
                },
                None => kept[name].clone(),
            },
            None => json!(text.replace("$FILE", program.path())),
        },
        other => other.clone(),
    }
}

fn is_as(found: &Value, wanted: &Value) -> bool {
    match (wanted.as_str(), found) {
        (Some("<number>"), _) => found.is_number(),
        (Some("<text>"), _) => found.is_string(),
        (Some("<list>"), _) => found.is_array(),
        (Some(part), Value::String(text)) if part.starts_with('…') => text.contains(part.trim_matches('…')),
        _ => found == wanted,
    }
}
