//! The examples of the format's specification, and what others make of it.

use journal::entry::Event;
use serde_json::{Value, json};

use super::entry;

/// One entry of each kind as the specification of the format prints it, with the key `timestamp` twice.
const EXAMPLES: [&str; 9] = [
    r#"{ "timestamp": "2025-01-06T16:15:00.123Z", "level": "info", "namespace": "debug-mcp:tools", "message": "tool:call", "tool": "set_breakpoint", "sessionId": "abc-123-def-456", "sessionName": "My Debug Session", "request": { "file": "path/to/file.py", "line": 42, "condition": "x > 10" }, "timestamp": 1736180100123 }"#,
    r#"{ "timestamp": "2025-01-06T16:15:00.456Z", "level": "info", "namespace": "debug-mcp:tools", "message": "tool:response", "tool": "set_breakpoint", "sessionId": "abc-123-def-456", "sessionName": "My Debug Session", "success": true, "response": { "breakpointId": "bp-1", "verified": true, "file": "path/to/file.py", "line": 42 }, "timestamp": 1736180100456 }"#,
    r#"{ "timestamp": "2025-01-06T16:15:00.789Z", "level": "error", "namespace": "debug-mcp:tools", "message": "tool:error", "tool": "start_debugging", "sessionId": "abc-123-def-456", "sessionName": "My Debug Session", "error": "Failed to connect to debugger", "timestamp": 1736180100789 }"#,
    r#"{ "timestamp": "2025-01-06T16:15:01.123Z", "level": "info", "namespace": "debug-mcp:state", "message": "debug:state", "event": "paused", "sessionId": "abc-123-def-456", "sessionName": "My Debug Session", "reason": "breakpoint", "location": { "file": "/workspace/src/main.py", "line": 42, "function": "process_data" }, "threadId": 1, "timestamp": 1736180101123 }"#,
    r#"{ "timestamp": "2025-01-06T16:15:02.123Z", "level": "info", "namespace": "debug-mcp:breakpoint", "message": "debug:breakpoint", "event": "verified", "sessionId": "abc-123-def-456", "sessionName": "My Debug Session", "breakpointId": "bp-1", "file": "/workspace/src/main.py", "line": 42, "verified": true, "timestamp": 1736180102123 }"#,
    r#"{ "timestamp": "2025-01-06T16:15:03.123Z", "level": "info", "namespace": "debug-mcp:variables", "message": "debug:variables", "sessionId": "abc-123-def-456", "sessionName": "My Debug Session", "frameId": 0, "scope": "Locals", "variablesReference": 1001, "variableCount": 3, "variables": [ { "name": "x", "type": "int", "value": "42" }, { "name": "data", "type": "dict", "value": "{'key': 'value', 'count': 10}... (truncated)" }, { "name": "result", "type": "list", "value": "[1, 2, 3, 4, 5]" } ], "timestamp": 1736180103123 }"#,
    r#"{ "timestamp": "2025-01-06T16:14:50.123Z", "level": "info", "namespace": "debug-mcp:session", "message": "session:created", "sessionId": "abc-123-def-456", "sessionName": "My Debug Session", "language": "python", "executablePath": "/usr/bin/python3", "timestamp": 1736180090123 }"#,
    r#"{ "timestamp": "2025-01-06T16:20:00.123Z", "level": "info", "namespace": "debug-mcp:session", "message": "session:closed", "sessionId": "abc-123-def-456", "sessionName": "My Debug Session", "duration": 310000, "timestamp": 1736180400123 }"#,
    r#"{ "timestamp": "2025-01-06T16:15:04.123Z", "level": "info", "namespace": "debug-mcp:output", "message": "debug:output", "sessionId": "abc-123-def-456", "sessionName": "My Debug Session", "category": "stdout", "output": "Processing item 42...\n", "timestamp": 1736180104123 }"#,
];

#[test]
fn the_examples_of_the_specification_are_entries() {
    for example in EXAMPLES {
        let read = entry(example.as_bytes(), 4).unwrap();
        // The parser keeps the last of two keys, which is the number. All else is there, and unchanged.
        let reported: Value = serde_json::from_str(example).unwrap();
        let kept = serde_json::to_value(&read).unwrap();
        for (key, value) in reported.as_object().unwrap() {
            assert_eq!(&kept[key], value, "{key} in {example}");
        }
        assert!(
            kept["time"].as_str().unwrap().ends_with("3Z")
                || kept["timestamp"].as_i64().unwrap() % 1000 != 123
        );
    }
}

#[test]
fn a_time_is_a_number_or_a_string_under_either_name() {
    let cases = [
        (json!({"timestamp": 1_736_180_100_123_i64}), 1_736_180_100_123),
        (json!({"timestamp": "2025-01-06T16:15:00.123Z"}), 1_736_180_100_123),
        (json!({"time": 1_736_180_100_123_i64}), 1_736_180_100_123),
        (json!({"time": "2025-01-06T17:15:00.123+01:00"}), 1_736_180_100_123),
        (json!({"timestamp": "yesterday", "time": 1_736_180_100_123_i64}), 1_736_180_100_123),
        (json!({"timestamp": 5.9}), 5),
        (json!({}), 4),
    ];
    for (mut line, expected) in cases {
        line["message"] = json!("session:closed");
        assert_eq!(entry(line.to_string().as_bytes(), 4).unwrap().timestamp, expected, "{line}");
    }
}

#[test]
fn unknown_fields_are_ignored() {
    let cases = [
        (json!({"message": "tool:call"}), json!({"tool": "", "callId": "", "request": {}})),
        (
            json!({"message": "tool:response", "response": [1]}),
            json!({"success": true, "response": {"value": [1]}}),
        ),
        (json!({"message": "tool:error", "error": {"code": 1}}), json!({"error": "{\"code\":1}"})),
        (
            json!({"message": "debug:state", "event": "paused", "location": {"file": "a"}, "threadId": "main",
                   "stack": [1, {"file": "a", "line": 2, "frameId": -1}], "source": 3}),
            json!({"event": "paused", "stack": [{"file": "a", "line": 2, "function": ""}]}),
        ),
        (
            json!({"message": "debug:breakpoint", "event": "hit", "breakpointId": 7, "line": -3}),
            json!({"breakpointId": "7", "line": 0, "verified": false}),
        ),
        (
            json!({"message": "debug:variables", "variables": [{"name": "x", "value": 5}, 3]}),
            json!({"variableCount": 1, "variables": [{"name": "x", "type": "", "value": "5"}]}),
        ),
        (json!({"message": "session:closed", "duration": 3.7}), json!({"duration": 3})),
        (
            json!({"message": "debug:output", "output": ["a"], "level": 30}),
            json!({"output": "[\"a\"]", "level": "info"}),
        ),
        (json!({"message": "journal:dropped"}), json!({"count": 0})),
    ];
    for (line, expected) in cases {
        let kept = serde_json::to_value(entry(line.to_string().as_bytes(), 4).unwrap()).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&kept[key], value, "{key} of {line}");
        }
    }
    let no_entries =
        ["", "{}", "{\"message\":\"new\"}", "{\"message\":\"debug:state\",\"event\":\"asleep\"}", "[1]"];
    for line in no_entries {
        assert_eq!(entry(line.as_bytes(), 4), None, "{line}");
    }
}

#[test]
fn a_lone_surrogate_is_replaced() {
    let cases = [
        (r"a\ud83d", "a\u{fffd}"),
        (r"a\ude00b", "a\u{fffd}b"),
        (r"\ud83d\ude00\ud83d", "😀\u{fffd}"),
        (r"\\ud83d\ud83d", "\\ud83d\u{fffd}"),
    ];
    for (escaped, expected) in cases {
        let line = format!("{{\"message\":\"debug:output\",\"output\":\"{escaped}\"}}");
        let Event::Output(written) = entry(line.as_bytes(), 4).unwrap().event else { panic!("an output") };
        assert_eq!(written.output, expected, "{escaped}");
    }
}
