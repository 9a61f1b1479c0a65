//! A report, whole.

use std::fs;

use serde_json::{Value, json};

use super::*;

#[test]
fn a_session_is_reported_as_a_story() {
    let target_location = json!({"file": "~/shop/cart.py", "line": 2, "function": "total", "frameId": 1});
    let caller = json!({"file": "~/shop/cart.py", "line": 9, "function": "main", "frameId": 2});
    let paused = json!({"message": "debug:state", "event": "paused", "reason": "breakpoint", "location": target_location,
        "stack": [target_location, caller], "source": {"firstLine": 1, "lines": ["def total(prices):", "    return sum(`prices`)"]}});
    let variables = |value: &str, more: &[&str]| {
        let mut all = vec![json!({"name": "x", "type": "int", "value": value})];
        all.extend(more.iter().map(|name| json!({"name": name, "type": "str", "value": "'```'"})));
        json!({"message": "debug:variables", "frameId": 1, "scope": "Locals", "variablesReference": 0,
               "variableCount": all.len(), "variables": all})
    };
    let entries: [Value; 17] = [
        json!({"message": "session:created", "language": "python"}),
        json!({"message": "tool:call", "callId": "1", "tool": "set_breakpoint", "request": {"file": "~/shop/cart.py", "line": 2, "condition": "x > `1`"}}),
        json!({"message": "debug:breakpoint", "event": "verified", "breakpointId": "bp-1", "file": "~/shop/cart.py", "line": 2, "verified": true}),
        json!({"message": "tool:response", "callId": "1", "tool": "set_breakpoint", "success": true, "response": {"verified": true, "file": "cart.py", "line": 2}}),
        json!({"message": "debug:state", "event": "running"}),
        json!({"message": "debug:output", "category": "stdout", "output": "# not a heading\n"}),
        json!({"message": "debug:output", "category": "stdout", "output": "\u{1b}[31m```\u{1b}[0m\n"}),
        paused.clone(),
        variables("1", &[]),
        json!({"message": "tool:call", "callId": "2", "tool": "evaluate_expression", "request": {"expression": "1/0"}}),
        json!({"message": "tool:error", "callId": "2", "tool": "evaluate_expression", "error": "ZeroDivisionError: <b>"}),
        json!({"message": "debug:state", "event": "running"}),
        paused,
        variables("5", &["y"]),
        json!({"message": "tool:call", "callId": "3", "tool": "continue_execution", "request": {}}),
        json!({"message": "debug:state", "event": "stopped", "reason": "exited with code 0"}),
        json!({"message": "session:closed", "duration": 9}),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let lines = entries.into_iter().enumerate().map(|(number, mut entry)| {
        entry["timestamp"] = json!(1_736_180_090_000_i64 + i64::try_from(number).unwrap() * 100);
        entry["sessionId"] = json!("abc");
        entry["sessionName"] = json!("the *cart*");
        format!("{entry}\n")
    });
    fs::write(&path, lines.collect::<String>()).unwrap();
    let log = Log::open(&path).unwrap();
    let reported = report(&log, log.find_session("last").unwrap());
    let expected = include_str!("expected.md");
    assert_eq!(reported, expected, "{reported}");
    assert_eq!(report(&log, 7), "");
}
