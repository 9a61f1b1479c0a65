//! Moments of a session as an agent goes through it.

use std::fmt::Write;
use std::fs;

use serde_json::{Value, json};

use super::*;

/// A journal of session `a`, and of one beside it.
fn log(lines: &[Value]) -> (tempfile::TempDir, Log) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    let mut text = String::new();
    for (time, line) in lines.iter().enumerate() {
        let mut line = line.clone();
        line["timestamp"] = json!(time + 1);
        if line["sessionId"].is_null() {
            line["sessionId"] = json!("a");
        }
        writeln!(text, "{line}").unwrap();
    }
    fs::write(&path, text).unwrap();
    let log = Log::open(&path).unwrap();
    (folder, log)
}

fn paused(line: u32, function: &str, frame: u64) -> Value {
    let place = json!({"file": "main.py", "line": line, "function": function, "frameId": frame});
    json!({"message": "debug:state", "event": "paused", "reason": "step", "location": place, "stack": [place],
           "source": {"firstLine": 1, "lines": ["a\u{1b}[31m = 1", "\tb"]}})
}

fn read(frame: u64, scope: &str, variables: &[(&str, &str)]) -> Value {
    let all: Vec<Value> =
        variables.iter().map(|(name, value)| json!({"name": name, "type": "int", "value": value})).collect();
    json!({"message": "debug:variables", "frameId": frame, "scope": scope, "variablesReference": 0,
           "variableCount": all.len(), "variables": all})
}

fn breakpoint(event: &str, id: &str, verified: bool) -> Value {
    json!({"message": "debug:breakpoint", "event": event, "breakpointId": id, "file": "main.py", "line": 2,
           "verified": verified})
}

fn seen(moment: &Moment) -> Vec<(&str, &str, Option<&str>, bool)> {
    let all = moment.variables.iter();
    all.map(|one| (&*one.variable.name, &*one.variable.value, one.before.as_deref(), one.is_new)).collect()
}

#[test]
fn each_moment_of_a_session_is_as_it_was() {
    let other = |mut line: Value| {
        line["sessionId"] = json!("b");
        line
    };
    let (_folder, log) = log(&[
        json!({"message": "session:created", "sessionName": "mine", "language": "python"}),
        breakpoint("set", "bp-1", false),
        breakpoint("set", "bp-2", false),
        breakpoint("verified", "bp-1", true),
        json!({"message": "debug:state", "event": "running"}),
        json!({"message": "debug:output", "category": "stdout", "output": "\u{1b}[2Jhello\n"}),
        breakpoint("hit", "bp-1", true),
        paused(2, "f", 1),
        read(1, "Locals", &[("x", "1"), ("y", "2")]),
        other(paused(9, "other", 1)),
        other(read(1, "Locals", &[("x", "99")])),
        json!({"message": "debug:state", "event": "running"}),
        breakpoint("removed", "bp-2", false),
        paused(3, "f", 5),
        read(5, "Locals", &[("x", "1"), ("y", "3"), ("z", "4")]),
        read(6, "Locals", &[("x", "the caller's")]),
        read(5, "Globals", &[("x", "global")]),
        json!({"message": "debug:variables", "variablesReference": 9, "variableCount": 1,
               "variables": [{"name": "0", "type": "int", "value": "part"}]}),
        paused(30, "g", 7),
        read(7, "Locals", &[("y", "5")]),
        json!({"message": "debug:state", "event": "stopped", "reason": "exited with code 0"}),
        json!({"message": "session:closed", "duration": 9}),
    ]);
    let at = |number| Moment::at(&log, 0, number);
    let ids = |moment: &Moment| -> Vec<(String, bool)> {
        moment.breakpoints.iter().map(|one| (one.breakpoint_id.clone(), one.verified)).collect()
    };

    let opened = at(0);
    assert_eq!((&*opened.session_name, &*opened.language, opened.state), ("mine", "python", "created"));
    assert_eq!(at(4).state, "running");
    let stopped = at(7);
    assert_eq!((stopped.state, stopped.reason.as_deref()), ("paused", Some("step")));
    assert_eq!(stopped.location.as_ref().map(|place| place.line), Some(2));
    assert_eq!(stopped.source.as_ref().unwrap().lines, ["a = 1", "\tb"]);
    assert_eq!(ids(&stopped), [("bp-1".to_owned(), true), ("bp-2".to_owned(), false)]);
    assert_eq!(
        stopped.output,
        [Line { category: "stdout".into(), text: "\\x1b[2Jhello\n".into(), omitted: 0 }]
    );
    assert_eq!(seen(&stopped), []);
    // What another session does changes nothing.
    for number in [8, 9, 10] {
        assert_eq!(seen(&at(number)), [("x", "1", None, false), ("y", "2", None, false)]);
    }
    assert_eq!((at(11).state, at(11).location.is_none()), ("running", true));
    let again = at(17);
    assert_eq!(seen(&again), [("x", "1", None, false), ("y", "3", Some("2"), false), ("z", "4", None, true)]);
    assert_eq!(ids(&again), [("bp-1".to_owned(), true)]);
    // In another function nothing is compared.
    assert_eq!(seen(&at(19)), [("y", "5", None, false)]);
    assert_eq!((at(20).state, at(20).reason.as_deref()), ("stopped", Some("exited with code 0")));
    let closed = at(21);
    assert_eq!((closed.state, closed.reason.as_deref()), ("closed", Some("exited with code 0")));
    assert!(closed.location.is_none() && closed.stack.is_empty() && closed.variables.is_empty());
    assert_eq!(at(1000), closed);
    assert_eq!(Moment::at(&log, 7, 0), Moment::default());
}
