//! An entry as one line, such as `set_breakpoint main.py:42 (x > 10)`.

use std::fmt::Write;

use journal::Entry;
use journal::entry::{
    BreakpointChange, BreakpointEvent, Event, Exposure, ExposureEvent, Location, State, StateEvent,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::log::Log;
use crate::plain;

/// How many characters of a value are shown.
const VALUE: usize = 60;
/// How many characters of a line.
const LINE: usize = 200;
/// How many lines of an entry that is shown in full.
const LINES: usize = 20_000;
/// How many variables.
const VARIABLES: usize = 4;

/// What an entry says, on one line without control characters.
pub fn entry(entry: &Entry) -> String {
    let said = match &entry.event {
        Event::Call(call) => format!("{} {}", call.tool, arguments(&call.request)),
        Event::Response(response) => {
            format!("{} {}", if response.success { "→" } else { "✗" }, answer(&response.response))
        }
        Event::Failure(failure) => format!("✗ {}", failure.error.trim()),
        Event::State(state) => self::state(state),
        Event::Breakpoint(change) => breakpoint(change),
        Event::Variables(read) => {
            let mut all: Vec<String> = read
                .variables
                .iter()
                .take(VARIABLES)
                .map(|one| format!("{} = {}", one.name, cut(&one.value, VALUE)))
                .collect();
            if read.variable_count > all.len() as u64 {
                all.push(format!("+{} more", read.variable_count - all.len() as u64));
            }
            let scope = read.scope.as_deref().unwrap_or("parts of a value");
            format!("{scope}: {}", if all.is_empty() { "none".to_owned() } else { all.join(", ") })
        }
        Event::Created(created) => {
            let name = entry.session_name.as_deref().unwrap_or_default();
            format!("session {name} opened ({})", created.language)
        }
        Event::Closed(closed) => format!("session closed after {}", duration(closed.duration)),
        Event::Exposure(Exposure { event: ExposureEvent::Opened, host, port, control }) => {
            let may = if *control { "may control it" } else { "may read it" };
            format!("an editor can attach at {host}:{port}, and {may}")
        }
        Event::Exposure(Exposure { event: ExposureEvent::Closed, host, port, .. }) => {
            format!("editors can no longer attach at {host}:{port}")
        }
        Event::Output(written) => {
            let omitted = match written.omitted {
                0 => String::new(),
                bytes => format!("({bytes} bytes omitted) "),
            };
            format!("{}: {omitted}{}", written.category, written.output.trim_end())
        }
        Event::Dropped(dropped) => format!("{} entries are missing", dropped.count),
    };
    cut(plain::line(&said).trim(), LINE)
}

/// The same by number; also for entries that this version does not know or that cannot be read.
pub fn of(log: &Log, number: usize) -> String {
    if let Some(found) = log.entry(number) {
        return entry(&found);
    }
    match log.raw(number).map(|line| serde_json::from_str::<Map<String, Value>>(&line)) {
        Some(Ok(object)) => {
            let kind = object.get("message").and_then(Value::as_str).unwrap_or_default();
            let known = ["message", "timestamp", "time", "level", "namespace", "sessionId", "sessionName"];
            let rest = pairs(&object, |key| known.contains(&key));
            cut(plain::line(&format!("{kind} {}", rest.join(" "))).trim(), LINE)
        }
        Some(Err(_)) => "a malformed line".to_owned(),
        None => "no longer there".to_owned(),
    }
}

/// An entry, one key per line if it is JSON, without control characters; and below it the answer to it, or its call.
pub(crate) fn whole(log: &Log, number: usize) -> Vec<String> {
    let mut lines = lines(log, number);
    if let Some(partner) = log.summary(number).and_then(|summary| summary.partner) {
        lines.push(String::new());
        lines.extend(self::lines(log, partner));
    }
    lines
}

fn lines(log: &Log, number: usize) -> Vec<String> {
    let Some(raw) = log.raw(number) else {
        return vec!["the journal no longer has this entry".to_owned()];
    };
    let value = serde_json::from_str::<Value>(&raw);
    let text = value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or(raw);
    let mut lines: Vec<String> = text.lines().take(LINES).map(plain::line).collect();
    if lines.len() == LINES {
        lines.push("…".to_owned());
    }
    lines
}

/// A place, as `main.py:42`: the name of the file without its folders.
pub fn place(file: &str, line: u32) -> String {
    let name = short(file);
    if line == 0 { name.to_owned() } else { format!("{name}:{line}") }
}

/// A length of time, as `340 ms`, `1.2 s`, `3 min 5 s` or `2 h 4 min`. In milliseconds.
pub fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0 => format!("{milliseconds} ms"),
        1..60 => format!("{seconds}.{} s", milliseconds % 1000 / 100),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// The file's name without its folders. A debugger's name for code without a file stays whole.
pub fn short(file: &str) -> &str {
    if file.starts_with('<') {
        return file;
    }
    file.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(file)
}

fn at(location: &Location) -> String {
    let place = place(&location.file, location.line);
    if location.function.is_empty() { place } else { format!("{place} in {}", location.function) }
}

fn state(state: &State) -> String {
    let (reason, place) = (state.reason.as_deref(), state.location.as_ref().map(at));
    match state.event {
        StateEvent::Running => "running".to_owned(),
        StateEvent::Stopped => format!("ended: {}", reason.unwrap_or("the program is gone")),
        StateEvent::Paused => {
            let mut said = format!("paused, {}", reason.unwrap_or("stopped"));
            if let Some(place) = place {
                let _ = write!(said, " at {place}");
            }
            if let Some(description) = &state.description {
                let _ = write!(said, ": {description}");
            }
            said
        }
    }
}

fn breakpoint(change: &BreakpointChange) -> String {
    let what = match change.event {
        BreakpointEvent::Set => "set",
        BreakpointEvent::Verified => "bound",
        BreakpointEvent::Hit => "hit",
        BreakpointEvent::Removed => "removed",
    };
    let place = match (&change.function, change.file.is_empty()) {
        (Some(function), true) => format!("function {function}"),
        _ => place(&change.file, change.line),
    };
    let mut said = format!("{} {what}: {place}", change.breakpoint_id);
    if let Some(condition) = &change.condition {
        let _ = write!(said, " ({condition})");
    }
    if let Some(message) = &change.log_message {
        let _ = write!(said, " prints {}", cut(message, VALUE));
    }
    said
}

/// The arguments that are shown without their names, or not at all.
const TOLD: [&str; 13] = [
    "command",
    "file",
    "path",
    "program",
    "script",
    "scriptPath",
    "script_path",
    "line",
    "expression",
    "condition",
    "sessionId",
    "session_id",
    "session",
];

/// The arguments that matter: the place, what is evaluated, the condition; then the others by name.
pub(crate) fn arguments(request: &Map<String, Value>) -> String {
    let text = |keys: &[&str]| keys.iter().find_map(|key| request.get(*key)?.as_str());
    let mut said = Vec::new();
    let file = text(&["file", "path", "program", "script", "scriptPath", "script_path"]);
    let line = request.get("line").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
    match (file, line) {
        (Some(file), line) => said.push(place(file, line.unwrap_or(0))),
        (None, Some(line)) => said.push(format!("line {line}")),
        (None, None) => {}
    }
    said.extend(text(&["command"]).map(str::to_owned));
    said.extend(text(&["expression"]).map(|expression| cut(expression, VALUE)));
    said.extend(text(&["condition"]).map(|condition| format!("({})", cut(condition, VALUE))));
    let told = |key: &str| TOLD.contains(&key) && (key != "line" || line.is_some());
    said.extend(pairs(request, told));
    said.join(" ")
}

/// What an answer says most of all: where the program is, a result, a message; and what was evaluated beside that.
pub(crate) fn answer(response: &Map<String, Value>) -> String {
    let mut said = vec![first_of_all(response)];
    for value in response.get("values").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        if let (Some(expression), Some(value)) = (text("expression"), text("value").or_else(|| text("error")))
        {
            said.push(format!("{} = {}", cut(expression, VALUE), cut(value, VALUE)));
        }
    }
    said.join("; ")
}

fn first_of_all(response: &Map<String, Value>) -> String {
    let text = |key: &str| response.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let location: Option<Location> =
        response.get("location").and_then(|location| Location::deserialize(location).ok());
    if let (Some(state), Some(location)) = (text("state"), location) {
        let reason = text("reason").map(|reason| format!(", {reason}")).unwrap_or_default();
        return format!("{state}{reason} at {}", at(&location));
    }
    if let Some(said) = ["message", "result", "value", "verdict"].into_iter().find_map(text) {
        return said.to_owned();
    }
    if let Some(verified) = response.get("verified").and_then(Value::as_bool) {
        let line = response.get("line").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
        let place = place(text("file").unwrap_or_default(), line.unwrap_or(0));
        return format!("{} {place}", if verified { "bound at" } else { "not bound:" });
    }
    if let Some(said) = ["text", "state"].into_iter().find_map(text) {
        return said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    }
    let told = pairs(response, |key| matches!(key, "success" | "sessionId" | "session_id"));
    if told.is_empty() { "done".to_owned() } else { told.join(" ") }
}

/// `key=value` for what is not shown yet.
fn pairs(object: &Map<String, Value>, is_told: impl Fn(&str) -> bool) -> Vec<String> {
    let told = object.iter().filter(|(key, value)| !is_told(key) && !value.is_null());
    told.map(|(key, value)| format!("{key}={}", cut(&short_value(value), VALUE))).collect()
}

fn short_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// At most this many characters.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
