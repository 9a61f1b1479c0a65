//! What a person reads of each kind of entry.

use journal::Entry;
use serde_json::{Value, json};

use super::*;

fn phrase(mut line: Value) -> String {
    let object = line.as_object_mut().unwrap();
    for (key, value) in
        [("timestamp", json!(1)), ("time", json!("")), ("level", json!("info")), ("namespace", json!(""))]
    {
        object.insert(key.to_owned(), value);
    }
    entry(&serde_json::from_value::<Entry>(line).unwrap())
}

#[test]
fn an_entry_is_one_line() {
    let call = |tool: &str, request: Value| json!({"message": "tool:call", "tool": tool, "request": request});
    let response = |response: Value| json!({"message": "tool:response", "tool": "t", "success": true, "response": response});
    let target_location = json!({"file": "/home/me/main.py", "line": 42, "function": "f"});
    let cases = [
        (
            call(
                "set_breakpoint",
                json!({"sessionId": "a", "file": "src/main.py", "line": 42, "condition": "x > 10"}),
            ),
            "set_breakpoint main.py:42 (x > 10)",
        ),
        (
            call("evaluate_expression", json!({"expression": "len(data)", "frameId": 3})),
            "evaluate_expression len(data) frameId=3",
        ),
        (
            call("start_debugging", json!({"scriptPath": "a/b.py", "args": ["-v"]})),
            "start_debugging b.py args=[\"-v\"]",
        ),
        (call("stillframe probe", json!({"command": "a.py:f -e x"})), "stillframe probe a.py:f -e x"),
        (call("step_over", json!({"sessionId": "a"})), "step_over"),
        (call("x", json!({"line": "a\nb\u{1b}[31mc"})), "x line=a⏎bc"),
        (
            response(
                json!({"state": "paused", "location": target_location, "values": [{"expression": "x", "value": "1"}]}),
            ),
            "→ paused at main.py:42 in f; x = 1",
        ),
        (
            response(
                json!({"state": "paused", "reason": "breakpoint", "location": target_location, "message": "m"}),
            ),
            "→ paused, breakpoint at main.py:42 in f",
        ),
        (
            response(json!({"breakpointId": "bp-1", "verified": true, "file": "main.py", "line": 42})),
            "→ bound at main.py:42",
        ),
        (response(json!({"verified": false, "file": "main.py", "line": 42})), "→ not bound: main.py:42"),
        (response(json!({"result": "17", "type": "int"})), "→ 17"),
        (response(json!({"text": "\n\nfirst\nsecond"})), "→ first"),
        (response(json!({"success": true})), "→ done"),
        (response(json!({"count": 3, "all": [1]})), "→ count=3 all=[1]"),
        (json!({"message": "tool:error", "tool": "t", "error": "no such file\n"}), "✗ no such file"),
        (json!({"message": "debug:state", "event": "running"}), "running"),
        (
            json!({"message": "debug:state", "event": "stopped", "reason": "exited with code 1"}),
            "ended: exited with code 1",
        ),
        (
            json!({"message": "debug:state", "event": "paused", "reason": "exception", "location": target_location, "description": "KeyError: 'a'"}),
            "paused, exception at main.py:42 in f: KeyError: 'a'",
        ),
        (
            json!({"message": "debug:breakpoint", "event": "set", "breakpointId": "bp-1", "file": "C:\\a\\main.py", "line": 4, "condition": "x"}),
            "bp-1 set: main.py:4 (x)",
        ),
        (
            json!({"message": "debug:breakpoint", "event": "verified", "breakpointId": "bp-1", "function": "f", "logMessage": "{x}"}),
            "bp-1 bound: function f prints {x}",
        ),
        (
            json!({"message": "debug:variables", "scope": "Locals", "variablesReference": 1, "variableCount": 5, "variables": [{"name": "x", "type": "int", "value": "1"}, {"name": "y", "type": "str", "value": "'a\nb'"}]}),
            "Locals: x = 1, y = 'a⏎b', +3 more",
        ),
        (
            json!({"message": "session:created", "language": "python", "sessionName": "mine"}),
            "session mine opened (python)",
        ),
        (json!({"message": "session:closed", "duration": 310_000}), "session closed after 5 min 10 s"),
        (
            json!({"message": "session:exposure", "event": "opened", "host": "127.0.0.1", "port": 4711}),
            "an editor can attach at 127.0.0.1:4711, and may read it",
        ),
        (
            json!({"message": "session:exposure", "event": "opened", "host": "::1", "port": 1, "control": true}),
            "an editor can attach at ::1:1, and may control it",
        ),
        (
            json!({"message": "session:exposure", "event": "closed", "host": "127.0.0.1", "port": 4711}),
            "editors can no longer attach at 127.0.0.1:4711",
        ),
        (
            json!({"message": "debug:output", "category": "stderr", "output": "a\nb\n", "omitted": 7}),
            "stderr: (7 bytes omitted) a⏎b",
        ),
        (json!({"message": "journal:dropped", "count": 3}), "3 entries are missing"),
    ];
    for (line, expected) in cases {
        assert_eq!(phrase(line.clone()), expected, "{line}");
    }
}

#[test]
fn times_are_relative_and_short() {
    let cases = [
        (0, "0 ms"),
        (999, "999 ms"),
        (1250, "1.2 s"),
        (59_999, "59.9 s"),
        (65_000, "1 min 5 s"),
        (7_440_000, "2 h 4 min"),
    ];
    for (milliseconds, expected) in cases {
        assert_eq!(duration(milliseconds), expected);
    }
}
