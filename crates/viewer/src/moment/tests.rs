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
    let target_location = json!({"file": "main.py", "line": line, "function": function, "frameId": frame});
    json!({"message": "debug:state", "event": "paused", "reason": "step", "location": target_location, "stack": [target_location],
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
fn an_editor_can_attach_while_the_session_is_exposed() {
    let exposure = |event: &str, port: u16| json!({"message": "session:exposure", "event": event, "host": "127.0.0.1", "port": port});
    let (_folder, log) = log(&[
        json!({"message": "session:created", "sessionName": "mine", "language": "python"}),
        exposure("opened", 1),
        paused(2, "f", 1),
        exposure("closed", 1),
        exposure("opened", 2),
        json!({"message": "session:closed", "duration": 9}),
    ]);
    let editors: Vec<Option<String>> = (0..6).map(|number| Moment::at(&log, 0, number).editor).collect();
    let at = |port: u16| Some(format!("127.0.0.1:{port}"));
    assert_eq!(editors, [None, at(1), at(1), None, at(2), None]);
}

#[test]
fn each_moment_of_a_session_is_reconstructed() {
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
    assert_eq!(stopped.location.as_ref().map(|target_location| target_location.line), Some(2));
    assert_eq!(stopped.source.as_ref().unwrap().lines, ["a = 1", "\tb"]);
    assert_eq!(ids(&stopped), [("bp-1".to_owned(), true), ("bp-2".to_owned(), false)]);
    assert_eq!(
        stopped.output,
        [Line { category: "stdout".into(), text: "\\x1b[2Jhello\n".into(), ..Line::default() }]
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
    // What has ended shows its last stop.
    assert_eq!(
        (closed.is_past, closed.location.as_ref().map(|target_location| target_location.line)),
        (true, Some(30))
    );
    assert_eq!(seen(&closed), [("y", "5", None, false)]);
    assert_eq!(at(1000), closed);
    assert_eq!(Moment::at(&log, 7, 0), Moment::default());
}

#[test]
fn a_stop_without_variables_says_whether_they_were_read() {
    let (_folder, log) = log(&[paused(2, "f", 1), read(1, "Locals", &[])]);
    let reported = [0, 1].map(|number| Moment::at(&log, 0, number).without_variables());
    assert_eq!(reported, ["not read at this stop", "no variables"]);
}

#[test]
fn runs_are_separated_and_lines_are_whole() {
    let output =
        |category: &str, text: &str| json!({"message": "debug:output", "category": category, "output": text});
    let state = |event: &str, reason: Option<&str>| json!({"message": "debug:state", "event": event, "reason": reason});
    let (_folder, log) = log(&[
        state("running", None),
        output("stdout", "start"),
        output("stderr", "oops\n"),
        output("stdout", " 1 []\n"),
        paused(2, "f", 1),
        state("running", None),
        output("stdout", "one\n"),
        state("stopped", Some("exited with code 0")),
        output("console", "late\n"),
        state("running", None),
        output("stdout", "two\n"),
    ]);
    let lines = |number| -> Vec<String> {
        let lines = Moment::at(&log, 0, number).output_lines().into_iter();
        lines.map(|line| if line.is_divider { format!("-- {}", line.text) } else { line.text }).collect()
    };
    let divider = "-- exited with code 0, then run again";
    assert_eq!(lines(8), ["start 1 []", "oops", "one", "late"]);
    assert_eq!(lines(9), ["start 1 []", "oops", "one", "late", divider]);
    assert_eq!(lines(10), ["start 1 []", "oops", "one", "late", divider, "two"]);
}

#[test]
fn a_session_of_a_dead_server_is_lost() {
    let server = crate::log::ended_process();
    let created = |server: u32| json!({"message": "session:created", "language": "python", "server": server});
    let now = crate::clock::now();
    let at = |mut line: Value, session: &str, time: i64| {
        (line["sessionId"], line["timestamp"]) = (json!(session), json!(time));
        line
    };
    let closed = json!({"message": "session:closed", "duration": 1});
    // The third is of a process that was given the id of this one's: it wrote long before this one was started.
    let lines = [
        at(created(std::process::id()), "reused", 1),
        at(paused(1, "f", 1), "reused", 2),
        at(created(server), "gone", now),
        at(paused(2, "f", 1), "gone", now),
        at(created(server), "done", now),
        at(closed, "done", now),
        at(created(std::process::id()), "here", now),
        at(json!({"message": "debug:state", "event": "running"}), "here", now),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.log");
    fs::write(&path, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let log = Log::open(&path).unwrap();
    let states: Vec<_> = log.sessions().iter().map(|known| (known.id.as_str(), known.state)).collect();
    assert_eq!(states, [("reused", "lost"), ("gone", "lost"), ("done", "closed"), ("here", "running")]);
    let moment = Moment::at(&log, 1, log.len() - 1);
    assert_eq!((moment.state, moment.is_past, moment.location.map(|at| at.line)), ("lost", true, Some(2)));
    // The process that continues to write existed before: the clock was changed.
    let more = at(json!({"message": "debug:output", "category": "stdout", "output": "on"}), "reused", now);
    fs::write(&path, format!("{}{more}\n", fs::read_to_string(&path).unwrap())).unwrap();
    let mut log = log;
    log.poll();
    assert_eq!(log.sessions()[0].state, "paused");
}

#[test]
fn an_unnamed_session_is_named_after_its_program() {
    let created =
        |name: &str| json!({"message": "session:created", "sessionName": name, "language": "python"});
    let runs = |program: &str| json!({"message": "debug:state", "event": "running", "program": program});
    for (name, expected) in
        [("Debug-1736180100123", "cart.py"), ("Debug-my", "Debug-my"), ("the bug", "the bug")]
    {
        let (_folder, log) = log(&[created(name), runs("cart.py"), runs("other.py")]);
        assert_eq!(log.sessions()[0].name, expected);
    }
}

#[test]
fn objects_have_the_children_that_were_read_at_the_stop() {
    let object = |reference: u64| json!({"name": "cart", "type": "Cart", "value": "<Cart>", "variablesReference": reference});
    let part = |reference: u64, name: &str, value: &str, inner: Option<u64>| {
        let mut part = json!({"name": name, "type": "int", "value": value});
        part["variablesReference"] = json!(inner);
        json!({"message": "debug:variables", "variablesReference": reference, "variableCount": 3, "variables": [part]})
    };
    let locals = |frame: u64, reference: u64| {
        let mut read = read(frame, "Locals", &[]);
        (read["variables"], read["variableCount"]) = (json!([object(reference)]), json!(1));
        read
    };
    let (_folder, log) = log(&[
        paused(2, "f", 1),
        locals(1, 7),
        part(7, "total", "1", None),
        paused(3, "f", 2),
        locals(2, 9),
        part(9, "total", "2", Some(10)),
        // A value can be a part of itself.
        part(10, "cart", "<Cart>", Some(10)),
        json!({"message": "debug:state", "event": "running"}),
        part(9, "total", "other", None),
    ]);
    let cart = |number| Moment::at(&log, 0, number).variables.remove(0);
    let first = cart(2);
    assert_eq!((first.parts.len(), first.more, first.parts[0].variable.value.as_str()), (1, 2, "1"));
    // They are there from the stop on, and compared with those of the stop before.
    for number in [4, 6] {
        let second = cart(number);
        assert_eq!((second.before, second.parts[0].before.as_deref()), (None, Some("1")), "{number}");
        assert_eq!(second.parts[0].variable.value, "2");
        assert_eq!(second.parts[0].parts[0].variable.name, "cart");
    }
}
