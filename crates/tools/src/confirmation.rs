//! What a call changes, as a question that its user can answer. A server asks it before the call (`--confirm`).
//!
//! It is about what stillframe does to programs: attaching, ending an attached one, assigning, evaluating what may have
//! side effects, sending a request, giving control to an editor; and about removing recordings. Starting a program, stepping and plain breakpoints
//! are not asked about.

use journal::visible::visible;
use serde_json::{Map, Value};

use crate::CommandLine;
use crate::command_line;
use crate::truncate::shortened;

/// Arguments that the program evaluates, wherever they are.
const EVALUATED: [&str; 6] =
    ["condition", "exceptionCondition", "expression", "expressions", "logMessage", "watch"];
/// Objects, or lists of them, that have such arguments.
const PLACES: [&str; 3] = ["breakpoint", "points", "until"];
/// The tool that removes what the user may want to keep.
pub(crate) const REMOVE: &str = "remove_recordings";
/// The machine that a call is for.
pub(crate) const TARGET: &str = "target";
/// The most characters of one argument that a question repeats.
const SHOWN: usize = 400;
/// The most expressions that a question names.
const NAMED: usize = 8;

/// What a tool's arguments can ask for, by the names of its parameters. This is what [`question`] reads.
#[cfg(test)]
pub(crate) fn is_confirmable(name: &str) -> bool {
    EVALUATED.contains(&name)
        || PLACES.contains(&name)
        || ["control", "port", "processId", "terminateProcess", "trigger", "value"].contains(&name)
}

/// What the call would do that its user should allow; nothing if it does nothing of the kind. `arguments` are those
/// that the tool takes; `all` has those that only a server elsewhere takes.
pub(crate) fn question(
    tool: &str,
    arguments: &Map<String, Value>,
    all: &Map<String, Value>,
) -> Option<String> {
    let mut asked = Vec::new();
    if tool == REMOVE {
        let name = text(arguments, "recording").unwrap_or_default();
        asked.push(format!("remove recordings: `{}`", shown(name)));
    }
    let attach = if all.contains_key(TARGET) { all } else { arguments };
    if let Some(port) = attach.get("port") {
        let host = attach.get("host").and_then(Value::as_str).unwrap_or("127.0.0.1");
        asked.push(format!("attach to the program at {}:{port}", shown(host)));
    }
    if let Some(id) = attach.get("processId") {
        asked.push(format!("attach to process {id}"));
    }
    if arguments.get("terminateProcess") == Some(&Value::Bool(true)) {
        asked.push("end the attached program".to_owned());
    }
    if arguments.get("control") == Some(&Value::Bool(true)) {
        asked.push("let an editor step and change the program".to_owned());
    }
    if let (Some(name), Some(value)) = (text(arguments, "name"), text(arguments, "value")) {
        asked.push(format!("set `{}` to `{}`", shown(name), shown(value)));
    }
    if let Some(trigger) = arguments.get("trigger").and_then(Value::as_object) {
        // As the call reads it: as typed, or as a list of words.
        let command = trigger.get("command").filter(|command| !command.is_null());
        let command = command.and_then(|command| command_line::reshaped("string", command));
        let command = command.and_then(|command| serde_json::from_value::<CommandLine>(command).ok());
        asked.push(match command {
            Some(command) => format!("run `{}`", shown(&command.typed())),
            None => "send a request to the program".to_owned(),
        });
    }
    let mut expressions = Vec::new();
    if arguments.get("sideEffects") != Some(&Value::Bool(false)) {
        collect(arguments, &mut expressions);
    }
    if !expressions.is_empty() {
        let more = expressions.len().saturating_sub(NAMED);
        let named: Vec<String> =
            expressions.iter().take(NAMED).map(|text| format!("`{}`", shown(text))).collect();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        asked.push(format!("evaluate {}{more}", named.join(", ")));
    }
    (!asked.is_empty()).then(|| asked.join(", and "))
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

/// The texts that the program evaluates.
fn collect<'a>(arguments: &'a Map<String, Value>, found: &mut Vec<&'a str>) {
    for (name, value) in arguments {
        if EVALUATED.contains(&name.as_str()) {
            let many = value.as_array().into_iter().flatten();
            found.extend(std::iter::once(value).chain(many).filter_map(Value::as_str));
        } else if PLACES.contains(&name.as_str()) {
            let many = value.as_array().into_iter().flatten();
            std::iter::once(value)
                .chain(many)
                .filter_map(Value::as_object)
                .for_each(|place| collect(place, found));
        }
    }
}

/// A text for a person: no character of it is invisible, and a long one is cut.
fn shown(text: &str) -> String {
    shortened(&visible(text), SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_says_what_the_call_does() {
        let table = [
            (json!({ "file": "a.py", "line": 3 }), None),
            (json!({ "expression": "x.pop()" }), Some("evaluate `x.pop()`")),
            (json!({ "expression": "x", "sideEffects": false }), None),
            (json!({ "expression": "x", "sideEffects": true }), Some("evaluate `x`")),
            (json!({ "expressions": ["a", "b"] }), Some("evaluate `a`, `b`")),
            (json!({ "name": "x", "value": "1" }), Some("set `x` to `1`")),
            (json!({ "name": "hit", "value": 3 }), None),
            (json!({ "processId": 7 }), Some("attach to process 7")),
            (json!({ "port": 5678 }), Some("attach to the program at 127.0.0.1:5678")),
            (json!({ "port": 1, "host": "::1" }), Some("attach to the program at ::1:1")),
            (json!({ "terminateProcess": false }), None),
            (json!({ "terminateProcess": true }), Some("end the attached program")),
            (
                json!({ "until": [{ "line": 1, "condition": "f()" }], "trigger": { "http": { "url": "/" } } }),
                Some("send a request to the program, and evaluate `f()`"),
            ),
            (json!({ "trigger": { "command": "curl x" } }), Some("run `curl x`")),
            (json!({ "trigger": { "command": ["curl", "a b", 1] } }), Some("run `curl 'a b' 1`")),
            (
                json!({ "points": [{ "expressions": ["a"] }], "env": { "condition": "no" } }),
                Some("evaluate `a`"),
            ),
            (json!({ "watch": true }), None),
            (json!({ "control": true }), Some("let an editor step and change the program")),
            (json!({ "expression": "a\u{202e}b" }), Some("evaluate `a\\u{202e}b`")),
        ];
        for (arguments, expected) in table {
            let arguments = arguments.as_object().unwrap();
            assert_eq!(question("t", arguments, arguments).as_deref(), expected, "{arguments:?}");
        }
    }

    #[test]
    fn a_long_question_is_cut() {
        let arguments = json!({ "expression": "x".repeat(5000), "expressions": vec!["y"; 50] });
        let arguments = arguments.as_object().unwrap();
        let asked = question("t", arguments, arguments).unwrap();
        assert!(asked.len() < 600 && asked.ends_with("and 43 more"), "{asked}");
    }
}
