//! The messages that pass through: what is read of them, and what is changed in them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::fan_out;
use super::paths::Paths;
use super::remotes::{TARGET, is_opening};
use crate::mcp::resources;

/// How the IDs of the relay's requests begin. No client hears of them.
pub(super) const OWN: &str = "\"stillframe:";
/// The ID of the request that shakes hands again on a new connection.
pub(super) const AGAIN: &str = "\"stillframe:again\"";

/// The method of calls.
pub(super) const CALL: &str = "tools/call";
/// What names a session, in arguments and answers.
const SESSION: &str = "sessionId";

/// What is read of every message.
#[derive(Deserialize)]
struct Members<'m> {
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
}

/// A request of the client, as far as its answer depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) method: String,
    /// Of revision 2026-07-28, whose results name their type.
    pub(super) is_stateless: bool,
}

/// What a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request(Request),
    Response {
        id: String,
    },
    /// The notification that a request need not be answered.
    Cancelled {
        id: String,
    },
    Other,
}

/// Reads what a message is. IDs stay JSON.
pub(super) fn kind(line: &[u8]) -> Kind {
    let Ok(members) = serde_json::from_slice::<Members<'_>>(line) else { return Kind::Other };
    match (members.id, members.method) {
        (Some(id), Some(method)) => Kind::Request(Request {
            id: id.get().to_owned(),
            method: method.into_owned(),
            is_stateless: members.params.is_some_and(has_revision),
        }),
        (Some(id), None) => Kind::Response { id: id.get().to_owned() },
        (None, Some(method)) if method == "notifications/cancelled" => {
            cancelled(members.params).map_or(Kind::Other, |id| Kind::Cancelled { id })
        }
        _ => Kind::Other,
    }
}

/// Whether a request names its revision, which those of earlier ones do once, in the handshake.
fn has_revision(params: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Params<'p> {
        #[serde(borrow, rename = "_meta")]
        meta: Meta<'p>,
    }
    #[derive(Deserialize)]
    struct Meta<'p> {
        #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
        revision: Option<&'p RawValue>,
    }
    let params = serde_json::from_str::<Params<'_>>(params.get());
    params.is_ok_and(|params| params.meta.revision.is_some())
}

fn cancelled(params: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'p> {
        #[serde(borrow)]
        request_id: &'p RawValue,
    }
    let params: Params<'_> = serde_json::from_str(params?.get()).ok()?;
    Some(params.request_id.get().to_owned())
}

/// The call that a request is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Called {
    pub(super) name: String,
    /// The session that it names.
    pub(super) session: Option<String>,
    /// The machine that it names, if its tool would begin a session there.
    pub(super) target: Option<String>,
}

impl Called {
    /// None for other messages.
    pub(super) fn of(kind: &Kind, request: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Call {
            params: Params,
        }
        #[derive(Deserialize)]
        struct Params {
            name: String,
            #[serde(default)]
            arguments: Map<String, Value>,
        }
        if !matches!(kind, Kind::Request(Request { method, .. }) if method == CALL) {
            return None;
        }
        let Params { name, arguments } = serde_json::from_slice::<Call>(request).ok()?.params;
        let session = arguments.get(SESSION).and_then(Value::as_str).map(str::to_owned);
        let target = arguments.get(TARGET).filter(|_| is_opening(&name));
        let target = target.map(|target| target.as_str().map_or_else(|| target.to_string(), str::to_owned));
        Some(Self { name, session, target })
    }
}

/// The session that the answer of a call names, and whether it is open after it.
pub(super) fn session(answer: &[u8]) -> Option<(String, bool)> {
    /// Members of the answers of calls that close a session.
    const CLOSED: [&str; 2] = ["stateBeforeClose", "stopped"];
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let body = answer.pointer("/result/structuredContent")?;
    let session = body.get(SESSION)?.as_str()?.to_owned();
    Some((session, CLOSED.iter().all(|name| body.get(name).is_none())))
}

/// A message of the client for the other side.
pub(super) fn to_there(line: Vec<u8>, paths: &Paths) -> Vec<u8> {
    edited(line, paths, |message| {
        let Some(params) = message.get_mut("params") else { return false };
        params.get_mut("arguments").is_some_and(|arguments| paths.arguments(arguments))
    })
}

/// A message from there for the client.
pub(super) fn to_here(line: Vec<u8>, paths: &Paths) -> Vec<u8> {
    edited(line, paths, |message| {
        let Value::Object(members) = message else { return false };
        let mut any = false;
        for (name, member) in members {
            any |= match name.as_str() {
                "result" => result(member, paths),
                "params" | "error" => paths.answer(member),
                _ => false,
            };
        }
        any
    })
}

/// What was changed is written again; a message that says nothing of a path stays as it was, byte for byte.
fn edited(line: Vec<u8>, paths: &Paths, edit: impl FnOnce(&mut Value) -> bool) -> Vec<u8> {
    if !paths.concern(&line) {
        return line;
    }
    let Ok(mut message) = serde_json::from_slice::<Value>(&line) else { return line };
    if edit(&mut message) { format!("{message}\n").into_bytes() } else { line }
}

/// Rewrites a result, and its texts as what they are.
fn result(result: &mut Value, paths: &Paths) -> bool {
    let mut any = result.get_mut("structuredContent").is_some_and(|data| paths.answer(data));
    if let Some(Value::String(instructions)) = result.get_mut("instructions") {
        any |= text(instructions, paths, true);
    }
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    for list in ["content", "contents"] {
        for item in result.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            // Of resources, only a stop says paths; others are the program's output and source.
            let uri = item.get("uri").and_then(Value::as_str);
            if uri.is_some_and(|uri| !uri.ends_with("/stop")) {
                continue;
            }
            if let Some(Value::String(text)) = item.get_mut("text") {
                any |= self::text(text, paths, is_error);
            }
        }
    }
    for message in result.get_mut("messages").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(Value::String(prompt)) = message.pointer_mut("/content/text") {
            any |= text(prompt, paths, true);
        }
    }
    any
}

/// Rewrites a text, which may be JSON. Where it is not only our words, it may have values and source in it.
fn text(text: &mut String, paths: &Paths, is_ours: bool) -> bool {
    let data = Some(&*text).filter(|text| text.starts_with(['{', '[']));
    if let Some(mut data) = data.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        let changed = paths.answer(&mut data);
        if changed {
            *text = data.to_string();
        }
        return changed;
    }
    let mapped = if is_ours { Some(paths.words(text).into_owned()) } else { paths.places(text) };
    let changed = mapped.filter(|mapped| mapped != text);
    changed.map(|mapped| *text = mapped).is_some()
}

/// The answer to a handshake, with our words added to the server's instructions.
pub(super) fn with_notice(line: Vec<u8>, notice: &str) -> Vec<u8> {
    let Ok(mut message) = serde_json::from_slice::<Value>(&line) else { return line };
    let Some(Value::Object(result)) = message.get_mut("result") else { return line };
    let instructions = result.get("instructions").and_then(Value::as_str).unwrap_or_default();
    let instructions = format!("{instructions}\n\n{notice}");
    result.insert("instructions".to_owned(), instructions.trim_start().into());
    format!("{message}\n").into_bytes()
}

/// The session whose journal this answer is of.
pub(super) fn journal_session(line: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(line).ok()?;
    resources::journal_session(answer.pointer("/result/contents/0/uri")?.as_str()?).map(str::to_owned)
}

/// The answer to a request for a resource, with another text.
pub(super) fn with_text(line: Vec<u8>, text: &str) -> Vec<u8> {
    let Ok(mut answer) = serde_json::from_slice::<Value>(&line) else { return line };
    let Some(content) = answer.pointer_mut("/result/contents/0/text") else { return line };
    *content = text.into();
    format!("{answer}\n").into_bytes()
}

/// The same request under our ID, to shake hands again.
pub(super) fn again(initialize: &[u8]) -> Option<Vec<u8>> {
    let mut message: Map<String, Value> = serde_json::from_slice(initialize).ok()?;
    message.insert("id".to_owned(), serde_json::from_str(AGAIN).ok()?);
    Some(
        format!(
            "{}\n{}\n",
            Value::Object(message),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
        )
        .into_bytes(),
    )
}

/// A request that only shows that the other side is there.
pub(super) fn ping(number: u64) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":\"stillframe:ping-{number}\",\"method\":\"ping\"}}\n").into_bytes()
}

/// The answer to a request that the other side can no longer answer.
pub(super) fn failure(request: &Request, problem: &str) -> Vec<u8> {
    refusal(request, "connection_lost", problem)
}

/// The answer to a request that fails here. That to a call has a code.
pub(super) fn refusal(request: &Request, code: &str, problem: &str) -> Vec<u8> {
    let id: Value = serde_json::from_str(&request.id).unwrap_or_default();
    let message = if request.method == CALL {
        let mut result = fan_out::result(&json!({ "success": false, "code": code, "error": problem }), true);
        if request.is_stateless
            && let Some(members) = result.as_object_mut()
        {
            members.insert("resultType".to_owned(), json!("complete"));
        }
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    } else {
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": problem } })
    };
    format!("{message}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Paths {
        Paths::new(vec!["/app=/home/me/src".parse().unwrap()], "/home/me".into())
    }

    fn read(line: &[u8]) -> Value {
        serde_json::from_slice(line).unwrap()
    }

    fn asked(id: &str, method: &str) -> Request {
        Request { id: id.to_owned(), method: method.to_owned(), is_stateless: false }
    }

    #[test]
    fn a_call_names_its_machine_if_it_begins_a_session() {
        let called = |tool: &str, target: Value| {
            let params = json!({ "name": tool, "arguments": { "target": target } });
            let line = json!({ "id": 1, "method": CALL, "params": params }).to_string();
            Called::of(&kind(line.as_bytes()), line.as_bytes()).unwrap().target
        };
        assert_eq!(called("run_until", json!("docker://web")).as_deref(), Some("docker://web"));
        assert_eq!(called("attach_to_process", json!(7)).as_deref(), Some("7"));
        assert_eq!(called("find_writes", json!("cart.items")), None);
    }

    #[test]
    fn kinds_of_messages() {
        let request = |id: &str| Kind::Request(asked(id, CALL));
        let stateless = Request { is_stateless: true, ..asked("7", CALL) };
        let table = [
            (
                r#"{"id":7,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
                Kind::Request(stateless),
            ),
            (r#"{"id":7,"method":"tools/call","params":{"_meta":{"progressToken":1}}}"#, request("7")),
            (r#"{"id":7,"method":"tools/call","params":{}}"#, request("7")),
            (r#"{"method":"tools/call","id":"a\"b"}"#, request(r#""a\"b""#)),
            (r#"{"id":7,"result":{}}"#, Kind::Response { id: "7".to_owned() }),
            (
                r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#,
                Kind::Cancelled { id: "7".to_owned() },
            ),
            (r#"{"method":"notifications/initialized"}"#, Kind::Other),
            ("noise", Kind::Other),
        ];
        for (line, expected) in table {
            assert_eq!(kind(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn paths_are_rewritten_in_calls_answers_and_json_texts() {
        let call = br#"{"id":1,"method":"tools/call","params":{"name":"x","arguments":{"file":"/home/me/src/a.py","expression":"'/home/me/src'"}}}"#;
        let there = read(&to_there(call.to_vec(), &paths()));
        assert_eq!(
            there["params"]["arguments"],
            json!({ "file": "/app/a.py", "expression": "'/home/me/src'" })
        );
        let data = json!({ "file": "/app/a.py", "value": "/app" });
        let answer = json!({ "id": 1, "result": {
            "content": [{ "type": "text", "text": data.to_string() }, { "type": "text", "text": "at /app/a.py:1" }],
            "structuredContent": data,
        } });
        let here = read(&to_here(answer.to_string().into_bytes(), &paths()));
        let data = json!({ "file": "/home/me/src/a.py", "value": "/app" });
        assert_eq!(here["result"]["structuredContent"], data);
        assert_eq!(here["result"]["content"][0]["text"], data.to_string());
        assert_eq!(here["result"]["content"][1]["text"], "at /home/me/src/a.py:1");
    }

    #[test]
    fn messages_without_paths_keep_their_bytes() {
        for line in [
            "{ \"id\":1, \"result\": {\"n\": 1.0} }\n",
            "noise /app\n",
            "{\"id\":1e400}\n",
            "{\"a\":\"/app\"}\n",
        ] {
            assert_eq!(to_here(line.into(), &paths()), line.as_bytes());
            assert_eq!(to_there(line.into(), &paths()), line.as_bytes());
        }
        let line = "{ \"result\": \"/app\" }\n";
        assert_eq!(to_here(line.into(), &Paths::default()), line.as_bytes());
    }

    #[test]
    fn a_handshake_has_the_notice_and_can_be_repeated() {
        let line = with_notice(br#"{"id":1,"result":{"instructions":"Debug."}}"#.to_vec(), "Elsewhere.");
        assert_eq!(read(&line)["result"]["instructions"], "Debug.\n\nElsewhere.");
        let lines = again(br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a":1}}"#).unwrap();
        let mut lines = lines.split(|byte| *byte == b'\n');
        assert_eq!(kind(lines.next().unwrap()), Kind::Request(asked(AGAIN, "initialize")));
        assert_eq!(read(lines.next().unwrap())["method"], "notifications/initialized");
        assert!(
            AGAIN.starts_with(OWN)
                && matches!(kind(&ping(3)), Kind::Request(Request { id, .. }) if id.starts_with(OWN))
        );
    }

    #[test]
    fn what_cannot_be_answered_fails_as_its_method_does() {
        let call = asked("7", CALL);
        let failed = read(&failure(&call, "gone"));
        assert_eq!((&failed["id"], &failed["result"]["isError"]), (&json!(7), &json!(true)));
        assert_eq!(failed["result"]["structuredContent"]["code"], "connection_lost");
        assert_eq!(failed["result"].get("resultType"), None, "earlier revisions have none");
        let failed = read(&failure(&Request { is_stateless: true, ..call }, "gone"));
        assert_eq!(failed["result"]["resultType"], "complete");
        let failed = read(&failure(&asked("\"a\"", "tools/list"), "gone"));
        assert_eq!((&failed["id"], &failed["error"]["message"]), (&json!("a"), &json!("gone")));
    }
}
