//! One call for several machines at once, and one answer from theirs.

use std::sync::Arc;

use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::{Map, Value, json};
use tools::Report;

use super::remote::Remote;
use super::remotes::TARGET;

/// A machine, and its session for a call.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) remote: Arc<Remote>,
    pub(super) session: Option<String>,
}

impl Member {
    async fn call(&self, tool: &str, arguments: &Map<String, Value>, report: Option<Report>) -> Value {
        let mut arguments = arguments.clone();
        if let Some(session) = &self.session {
            arguments.insert("sessionId".to_owned(), json!(session));
        }
        let target = self.target();
        let report =
            report.map(|report| Report::new(move |message| report.say(format!("{target}: {message}"))));
        let called = self.remote.call(tool, &arguments, report).await;
        called.unwrap_or_else(|problem| {
            result(&json!({ "success": false, "code": "connection_lost", "error": problem }), true)
        })
    }

    /// The sessions of its server.
    async fn sessions(&self) -> Vec<String> {
        let list = self.remote.call("list_debug_sessions", &Map::new(), None).await.unwrap_or_default();
        let sessions = list.pointer("/structuredContent/sessions").and_then(Value::as_array);
        let ids = sessions.into_iter().flatten().filter_map(|session| session.get("id")?.as_str());
        ids.map(str::to_owned).collect()
    }

    fn target(&self) -> String {
        self.remote.target.to_string()
    }
}

/// A tool's result with this body, as text too.
pub(super) fn result(body: &Value, is_error: bool) -> Value {
    let mut result =
        json!({ "content": [{ "type": "text", "text": body.to_string() }], "structuredContent": body });
    if is_error && let Some(members) = result.as_object_mut() {
        members.insert("isError".to_owned(), json!(true));
    }
    result
}

/// Changes the body of a result, and its text with it.
pub(super) fn set(result: &mut Value, change: impl FnOnce(&mut Map<String, Value>)) {
    let Some(Value::Object(body)) = result.get_mut("structuredContent") else { return };
    change(body);
    let text = Value::Object(body.clone()).to_string();
    if let Some(first) = result.pointer_mut("/content/0/text") {
        *first = text.into();
    }
}

fn body(result: &Value) -> Map<String, Value> {
    result.get("structuredContent").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Whether a call has succeeded, on all of its targets.
pub(super) fn succeeded(result: &Value) -> bool {
    result.pointer("/structuredContent/success") == Some(&json!(true))
}

/// Whether a call closes its session.
pub(super) fn closes(arguments: &Map<String, Value>) -> bool {
    arguments.get("close") == Some(&json!(true))
}

pub(super) fn is_error(result: &Value) -> bool {
    result.get("isError") == Some(&json!(true))
}

/// Whether the session of an answer was closed by its call.
fn is_closed(answer: &Map<String, Value>) -> bool {
    answer.contains_key("stateBeforeClose")
}

/// The members with the open sessions that a result names for them.
pub(super) fn sessions(result: &Value, members: &[Member]) -> Vec<Member> {
    let body = body(result);
    let id = |answer: &Map<String, Value>| {
        answer.get("sessionId").filter(|_| !is_closed(answer))?.as_str().map(str::to_owned)
    };
    let each = body.get("targets").and_then(Value::as_array);
    let session = |at: usize, member: &Member| match each {
        Some(answers) => id(answers.get(at)?.as_object()?),
        // The answer of one member, the first that stopped where there are several.
        None => id(&body).filter(|_| body.get(TARGET).is_none_or(|target| *target == member.target())),
    };
    let members = members.iter().enumerate();
    members.map(|(at, member)| Member { session: session(at, member), ..member.clone() }).collect()
}

/// Makes a call on all members. One member's answer is that of the tool.
pub(super) async fn call(
    tool: &str,
    arguments: &Map<String, Value>,
    members: &[Member],
    report: Option<Report>,
) -> Value {
    if let [member] = members {
        return member.call(tool, arguments, report).await;
    }
    if tool == "run_until" {
        return first_stop(arguments, members, report).await;
    }
    let most = max_rows(arguments);
    let arguments = shared(tool, arguments, members.len());
    let calls = members.iter().map(|member| member.call(tool, &arguments, report.clone()));
    combined(tool, most, members.iter().map(Member::target).zip(join_all(calls).await))
}

/// How many rows a trace has.
fn max_rows(arguments: &Map<String, Value>) -> usize {
    /// As the tool has it.
    const DEFAULT: u64 = 200;
    let most = arguments.get("maxHits").and_then(Value::as_u64).unwrap_or(DEFAULT);
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// Limits hold over all: each member records its share of the rows, at least one.
fn shared(tool: &str, arguments: &Map<String, Value>, members: usize) -> Map<String, Value> {
    let mut arguments = arguments.clone();
    if tool == "trace_values" {
        let share = max_rows(&arguments) / members.max(1);
        arguments.insert("maxHits".to_owned(), json!(share.max(1)));
    }
    arguments
}

/// Where there are fewer rows than members, the first of them.
fn limit(rows: &mut Vec<Value>, most: usize) {
    if rows.len() > most {
        let time = |row: &Value| row.get("time").and_then(Value::as_f64).unwrap_or_default();
        rows.sort_by(|one, other| time(one).total_cmp(&time(other)));
        rows.truncate(most);
    }
}

/// One answer from those of several targets: each with its target, and rows together.
fn combined(tool: &str, most: usize, answers: impl Iterator<Item = (String, Value)>) -> Value {
    let (mut each, mut rows, mut failed) = (Vec::new(), Vec::new(), 0);
    for (target, answer) in answers {
        failed += usize::from(is_error(&answer));
        let mut body = body(&answer);
        if tool == "trace_values"
            && let Some(Value::Array(found)) = body.remove("rows")
        {
            for mut row in found {
                if let Some(row) = row.as_object_mut() {
                    row.insert(TARGET.to_owned(), json!(target));
                }
                rows.push(row);
            }
        }
        let mut named = Map::from_iter([(TARGET.to_owned(), json!(target))]);
        named.extend(body);
        each.push(Value::Object(named));
    }
    let count = each.len();
    let mut all = Map::from_iter([
        ("success".to_owned(), json!(failed == 0)),
        ("message".to_owned(), json!(message(count, failed, &each))),
    ]);
    if failed == count {
        all.insert("code".to_owned(), json!("all_targets_failed"));
        all.insert("error".to_owned(), json!(message(count, failed, &each)));
    }
    if tool == "trace_values" {
        limit(&mut rows, most);
        all.insert("rows".to_owned(), Value::Array(rows));
    }
    all.insert("targets".to_owned(), Value::Array(each));
    result(&Value::Object(all), failed == count)
}

/// What the targets say, each in a few words.
fn message(count: usize, failed: usize, each: &[Value]) -> String {
    let words = each.iter().map(|answer| {
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        let said = text("verdict").or(text("error")).or(text("message")).or(text("state")).unwrap_or("done");
        format!("{}: {said}", text(TARGET).unwrap_or_default())
    });
    let words = words.collect::<Vec<_>>().join("; ");
    format!("{} of {count} targets answered; {words}", count - failed)
}

/// Waits for the first member that stops. The others continue without the breakpoints of the call.
async fn first_stop(arguments: &Map<String, Value>, members: &[Member], report: Option<Report>) -> Value {
    let before = join_all(members.iter().map(Member::sessions)).await;
    let mut calls: FuturesUnordered<_> = members
        .iter()
        .enumerate()
        .map(|(at, member)| {
            let report = report.clone();
            async move { (at, member.call("run_until", arguments, report).await) }
        })
        .collect();
    let mut answers: Vec<Option<Value>> = vec![None; members.len()];
    while let Some((at, answer)) = calls.next().await {
        // A session that the call closes has ended where it stopped.
        let state = |name: &str| answer.pointer(&format!("/structuredContent/{name}"));
        let is_stop = state("stateBeforeClose").or(state("state")) == Some(&json!("paused"));
        if let Some(place) = answers.get_mut(at) {
            *place = Some(answer);
        }
        if is_stop {
            drop(calls);
            return stopped(at, answers, members, &before, closes(arguments)).await;
        }
    }
    let answers = answers.into_iter().map(Option::unwrap_or_default);
    combined("run_until", 0, members.iter().map(Member::target).zip(answers))
}

async fn stopped(
    first: usize,
    mut answers: Vec<Option<Value>>,
    members: &[Member],
    before: &[Vec<String>],
    closes: bool,
) -> Value {
    let others = members.iter().zip(before).enumerate().filter(|(at, _)| *at != first);
    let others = join_all(others.map(|(_, (member, before))| release(member, before, closes))).await;
    let mut answer = answers.get_mut(first).and_then(Option::take).unwrap_or_default();
    let target = members.get(first).map(Member::target);
    set(&mut answer, |body| {
        body.insert(TARGET.to_owned(), json!(target));
        body.insert("others".to_owned(), Value::Array(others));
    });
    answer
}

/// Has a member continue that another one was faster than. A session that the call has opened there is closed, and
/// each is if the call closes sessions.
async fn release(member: &Member, before: &[String], closes: bool) -> Value {
    let mut state = json!("ended");
    if member.session.is_some() {
        member.call("clear_breakpoints", &Map::new(), None).await;
        let wait = Map::from_iter([("timeout".to_owned(), json!(1))]);
        let answer = member.call("continue_execution", &wait, None).await;
        state = body(&answer).remove("state").unwrap_or(state);
        if closes {
            member.call("close_debug_session", &Map::new(), None).await;
        }
    } else {
        for session in member.sessions().await.into_iter().filter(|session| !before.contains(session)) {
            let opened = Member { session: Some(session), ..member.clone() };
            opened.call("close_debug_session", &Map::new(), None).await;
        }
    }
    json!({ TARGET: member.target(), "state": state })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(bodies: &[Value]) -> impl Iterator<Item = (String, Value)> {
        let each = bodies.iter().enumerate();
        each.map(|(at, body)| (format!("ssh://h{at}"), result(body, body["success"] == false)))
    }

    #[test]
    fn rows_and_verdicts_carry_their_target() {
        let traces = [
            json!({ "success": true, "rows": [{ "values": ["1"] }] }),
            json!({ "success": true, "rows": [] }),
        ];
        let all = combined("trace_values", 1, answers(&traces));
        assert_eq!(all["structuredContent"]["rows"], json!([{ "values": ["1"], "target": "ssh://h0" }]));
        let hangs =
            [json!({ "success": true, "verdict": "waiting" }), json!({ "success": false, "error": "gone" })];
        let all = combined("diagnose_hang", 1, answers(&hangs));
        let body = &all["structuredContent"];
        assert_eq!(body["message"], "1 of 2 targets answered; ssh://h0: waiting; ssh://h1: gone");
        assert_eq!((&body["success"], all.get("isError")), (&json!(false), None));
        assert_eq!(body["targets"][0]["verdict"], "waiting");
        assert_eq!(all["content"][0]["text"], body.to_string());
        let all = combined("diagnose_hang", 1, answers(&hangs[1..]));
        assert_eq!(
            (&all["isError"], &all["structuredContent"]["code"]),
            (&json!(true), &json!("all_targets_failed"))
        );
    }

    #[test]
    fn the_number_of_rows_is_shared() {
        let rows = [3.0, 1.0, 2.0].map(|time| json!({ "success": true, "rows": [{ "time": time }] }));
        let all = combined("trace_values", 2, answers(&rows));
        let rows =
            [json!({ "time": 1.0, "target": "ssh://h1" }), json!({ "time": 2.0, "target": "ssh://h2" })];
        assert_eq!(all["structuredContent"]["rows"], json!(rows));
        let max = |arguments: Value, members| {
            let shared = shared("trace_values", arguments.as_object().unwrap(), members);
            shared["maxHits"].as_u64().unwrap()
        };
        assert_eq!(max(json!({}), 4), 50);
        assert_eq!(max(json!({ "maxHits": 10 }), 3), 3);
        assert_eq!(max(json!({ "maxHits": 1 }), 3), 1);
    }
}
