//! An entry in detail: the request, the result, and what happened meanwhile.
//!
//! Lines that are indented belong to the one above them that is not.

use journal::entry::Event;
use serde_json::{Map, Value};

use crate::clock::{Clock, duration};
use crate::log::{Kind, Log};
use crate::timeline::{self, Filter, name};
use crate::{plain, words};

/// How many lines there are at most.
const LINES: usize = 20_000;
/// How long a list of plain values may be to stay on one line, in characters.
const LIST: usize = 60;
/// The parts of an entry that are shown elsewhere, or matter to programs only.
const COMMON: [&str; 9] =
    ["timestamp", "time", "level", "namespace", "message", "sessionId", "sessionName", "callId", "tool"];

/// An entry and, of a call, its answer and its effects.
pub(crate) fn readable(log: &Log, number: usize, clock: &Clock) -> Vec<String> {
    let mut lines = vec![words::of(log, number)];
    let Some(summary) = log.summary(number) else { return lines };
    let session = summary.session.and_then(|session| log.sessions().get(session)).map(name);
    let session = session.map(|name| format!(", {}", plain::line(name))).unwrap_or_default();
    lines.push(format!("  {}{session}", clock.moment(summary.timestamp)));
    if summary.kind == Kind::Call {
        call(log, number, summary.partner, &mut lines);
    } else {
        lines.push(String::new());
        lines.push("Entry".to_owned());
        object(&fields(log, number), 2, &mut lines);
        if let Some(partner) = summary.partner {
            lines.push(String::new());
            lines.push(words::of(log, partner));
        }
    }
    lines.truncate(LINES);
    lines
}

fn call(log: &Log, number: usize, answer: Option<usize>, lines: &mut Vec<String>) {
    if let Some(Event::Call(call)) = log.entry(number).as_deref().map(|entry| &entry.event) {
        lines.extend([String::new(), "Asked".to_owned()]);
        let mut request = call.request.clone();
        request.retain(|key, _| !["sessionId", "session_id"].contains(&key.as_str()));
        object(&request, 2, lines);
    }
    let effects: Vec<String> = log
        .effects(number)
        .filter_map(|effect| timeline::row(log, effect, &Filter::default(), i64::MAX))
        .map(|row| format!("  {} {}", row.mark.sign(), row.text))
        .collect();
    if !effects.is_empty() {
        lines.extend([String::new(), "Meanwhile".to_owned()]);
        lines.extend(effects);
    }
    lines.push(String::new());
    let Some(answer) = answer else { return lines.push("Not answered".to_owned()) };
    let time = |number: usize| log.summary(number).map_or(0, |summary| summary.timestamp);
    let took = duration(time(answer).saturating_sub(time(number)));
    match log.entry(answer).as_deref().map(|entry| &entry.event) {
        Some(Event::Response(response)) => {
            lines.push(format!("{} after {took}", if response.success { "Answered" } else { "Failed" }));
            object(&response.response, 2, lines);
        }
        Some(Event::Failure(failure)) => {
            lines.push(format!("Failed after {took}"));
            text(&failure.error, 2, lines);
        }
        _ => lines.push(words::of(log, answer)),
    }
}

/// What an entry says beyond what all have.
fn fields(log: &Log, number: usize) -> Map<String, Value> {
    let raw = log.raw(number).unwrap_or_default();
    let mut object: Map<String, Value> = serde_json::from_str(&raw).unwrap_or_default();
    object.retain(|key, _| !COMMON.contains(&key.as_str()));
    object
}

fn object(object: &Map<String, Value>, indent: usize, lines: &mut Vec<String>) {
    let keys = object.keys().map(|key| key.chars().count());
    let column = keys.max().unwrap_or(0).min(20);
    for (key, value) in object {
        let key = plain::line(key);
        if let Some(value) = short(value) {
            lines.push(format!("{:indent$}{key:column$}  {value}", ""));
        } else {
            lines.push(format!("{:indent$}{key}", ""));
            nested(value, indent + 2, lines);
        }
    }
    if object.is_empty() {
        lines.push(format!("{:indent$}nothing", ""));
    }
}

fn nested(value: &Value, indent: usize, lines: &mut Vec<String>) {
    match value {
        Value::Object(inner) => object(inner, indent, lines),
        Value::Array(elements) => {
            for element in elements {
                let from = lines.len();
                match short(element) {
                    Some(value) => lines.push(format!("{:indent$}  {value}", "")),
                    None => nested(element, indent + 2, lines),
                }
                // The first line of each has a dash before it.
                if let Some(line) = lines.get_mut(from) {
                    line.replace_range(indent..=indent, "-");
                }
            }
        }
        Value::String(whole) => text(whole, indent, lines),
        other => lines.push(format!("{:indent$}{other}", "")),
    }
}

fn text(whole: &str, indent: usize, lines: &mut Vec<String>) {
    lines.extend(plain::text(whole).lines().map(|line| format!("{:indent$}{line}", "")));
}

/// A value that has room on the line of its key.
fn short(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(plain::line(text)).filter(|_| !text.trim_end().contains('\n')),
        Value::Array(elements) => {
            let all: Option<Vec<String>> = elements
                .iter()
                .map(|one| short(one).filter(|_| !one.is_array() && !one.is_object()))
                .collect();
            let list = all?.join(", ");
            Some(if list.is_empty() { "none".to_owned() } else { list })
                .filter(|list| list.chars().count() <= LIST)
        }
        Value::Object(object) => object.is_empty().then(|| "nothing".to_owned()),
        Value::Null => Some("none".to_owned()),
        other => Some(other.to_string()),
    }
}
