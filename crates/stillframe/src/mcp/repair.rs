//! Messages that the SDK would pass over in silence are made ones that it reads, or at least answers.
//!
//! JSON may hold what the SDK cannot read: one half of a surrogate pair, which Python writes for a byte that was no
//! text, numbers such as `1e400`, and more levels than its parser goes down. It takes such a line for noise, as it does
//! with a line that is too long, and the call in it would never be answered (rmcp 3.9, `async_rw.rs`). What is JSON and no
//! message it answers without saying to which request.

mod checked;
mod outline;

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{self, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};

use self::checked::AnyValue;
use self::outline::Outline;
use super::unreadable;

/// Where the problem is in the parameters of a request that could not be read.
pub(super) const PROBLEM: &str = "unreadable";
/// The same for what was no request, in one of no method.
pub(super) const INVALID: &str = "invalid";
/// The longest line that the SDK reads, in bytes.
const LONGEST: usize = rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;
/// What may wait between both sides, in bytes.
const WAITING: usize = 64 * 1024;
/// U+FFFD as an escape names it.
const REPLACEMENT: &[u8; 4] = b"fffd";

/// The same lines, repaired.
pub(super) fn lines(input: impl AsyncRead + Send + Unpin + 'static) -> DuplexStream {
    let (lines, output) = io::duplex(WAITING);
    tokio::spawn(async move {
        // The end of either side is the end of both.
        if let Err(error) = relay(BufReader::new(input), output).await {
            tracing::debug!(%error, "stopped reading the client's messages");
        }
    });
    lines
}

async fn relay(
    mut input: BufReader<impl AsyncRead + Unpin>,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut line = Vec::new();
    // Of a line that is too long, instead of the line.
    let mut outline: Option<Outline> = None;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return output.write_all(&line).await;
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let (taken, _) = available.split_at(end.map_or(available.len(), |end| end + 1));
        // The room that a line takes grows by doubling, and is not to grow once more for what is not kept.
        if outline.is_none() && line.len() + taken.len() > LONGEST {
            outline.insert(Outline::default()).take(&line);
            line = Vec::new();
        }
        match &mut outline {
            Some(outline) => outline.take(taken),
            None => line.extend_from_slice(taken),
        }
        let count = taken.len();
        input.consume(count);
        if end.is_none() {
            continue;
        }
        if let Some(outline) = outline.take() {
            line = refused(outline);
        } else {
            repair(&mut line);
            if let Some(request) = unreadable::report(&line).or_else(|| answerable(&line)) {
                line = request;
            }
        }
        output.write_all(&line).await?;
        line = Vec::new();
    }
}

/// The replacement for a line that is too long: a request that reports it, or nothing if it was not a request.
fn refused(outline: Outline) -> Vec<u8> {
    let problem = format!("the message exceeds the limit of {LONGEST} bytes");
    without_params(&outline.into_bytes(), &problem).unwrap_or_else(|| {
        tracing::warn!("skipped a client message that is too long and not a request");
        Vec::new()
    })
}

/// Turns a message into one that is read or answered. Invalid JSON, or a message other than a request, is unchanged.
pub(super) fn repair(message: &mut Vec<u8>) {
    if problem(message).is_none() {
        return;
    }
    complete_surrogates(message);
    if let Some(problem) = problem(message)
        && let Some(request) = without_params(message, &problem)
    {
        *message = request;
    }
}

fn problem(message: &[u8]) -> Option<String> {
    serde_json::from_slice::<AnyValue>(message).err().map(|error| error.to_string())
}

/// What of a request can be read whatever its parameters are.
#[derive(Deserialize)]
struct RequestHead {
    id: Id,
    method: String,
}

#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

fn without_params(message: &[u8], problem: &str) -> Option<Vec<u8>> {
    let RequestHead { id, method } = serde_json::from_slice(message).ok()?;
    Some(request(&id, &method, PROBLEM, problem))
}

/// A request that says what is wrong with another one of its number.
fn request(id: &Id, method: &str, what: &str, problem: &str) -> Vec<u8> {
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { what: problem } });
    format!("{request}\n").into_bytes()
}

/// The replacement for a message with an ID that is not a request: one that reports it. Nothing if it is a request,
/// or has no ID.
fn answerable(message: &[u8]) -> Option<Vec<u8>> {
    let members: MessageMembers<'_> = serde_json::from_slice(message).ok()?;
    let is_answer = members.method.is_none() && (members.result.is_some() || members.error.is_some());
    let id: Id = serde_json::from_str(members.id?.get()).ok()?;
    if is_answer {
        return None;
    }
    let invalid = if members.jsonrpc.is_none_or(|version| version.get() != r#""2.0""#) {
        Some("`jsonrpc` must be \"2.0\"")
    } else if !members.method.is_some_and(|method| method.get().starts_with('"')) {
        Some("`method` must be a string")
    } else {
        None
    };
    if let Some(problem) = invalid {
        return Some(request(&id, "", INVALID, problem));
    }
    let params = members.params?.get();
    let problem = if !params.starts_with('{') {
        "`params` must be an object"
    } else if !serde_json::from_str::<Meta<'_>>(params).ok()?.meta?.get().starts_with('{') {
        "`_meta` must be an object"
    } else {
        return None;
    };
    without_params(message, problem)
}

/// The members of a message, as they came.
#[derive(Deserialize)]
struct MessageMembers<'m> {
    #[serde(borrow)]
    jsonrpc: Option<&'m RawValue>,
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    #[serde(borrow)]
    method: Option<&'m RawValue>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
    #[serde(borrow)]
    result: Option<&'m RawValue>,
    #[serde(borrow)]
    error: Option<&'m RawValue>,
}

/// What of parameters is the protocol's.
#[derive(Deserialize)]
struct Meta<'m> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'m RawValue>,
}

/// Puts a replacement character where one half of a pair of surrogates has lost the other.
fn complete_surrogates(message: &mut [u8]) {
    let mut at = 0;
    while let Some(rest) = message.get_mut(at..) {
        match rest {
            [b'\\', b'u', first @ ..] if first.len() >= 4 => {
                let (unit, after) = (unit(first), first.get(4..).unwrap_or_default());
                let low = after.strip_prefix(b"\\u").and_then(self::unit);
                match unit {
                    Some(0xd800..=0xdbff) if matches!(low, Some(0xdc00..=0xdfff)) => at += 12,
                    Some(0xd800..=0xdfff) => {
                        if let Some(digits) = first.first_chunk_mut() {
                            *digits = *REPLACEMENT;
                        }
                        at += 6;
                    }
                    _ => at += 6,
                }
            }
            [b'\\', _, ..] => at += 2,
            [_, ..] => at += 1,
            [] => return,
        }
    }
}

/// The number that four hexadecimal digits at the beginning name.
fn unit(digits: &[u8]) -> Option<u16> {
    let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn mended(message: &str) -> String {
        let mut bytes = message.as_bytes().to_vec();
        repair(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_lone_surrogate_becomes_a_replacement_character() {
        let table = [
            (r#"{"a":"\ud800"}"#, r#"{"a":"\ufffd"}"#),
            (r#"{"a":"x\udc80y\uD83D"}"#, r#"{"a":"x\ufffdy\ufffd"}"#),
            (r#"{"a":"\ud800\ud83d\ude00\udfff"}"#, r#"{"a":"\ufffd\ud83d\ude00\ufffd"}"#),
            (r#"{"a":"\\ud800\\\ud800"}"#, r#"{"a":"\\ud800\\\ufffd"}"#),
        ];
        for (message, expected) in table {
            assert_eq!(mended(message), expected);
        }
    }

    #[test]
    fn a_request_with_malformed_parameters_is_answered_as_invalid() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        for params in [r#"{"name":"x","arguments":{"n":1e400}}"#.to_owned(), deep] {
            for id in ["7", "\"seven\""] {
                let message =
                    format!(r#"{{"params":{params},"jsonrpc":"2.0","method":"tools/call","id":{id}}}"#);
                let request: Value = serde_json::from_str(&mended(&message)).unwrap();
                assert_eq!(
                    (request["id"].to_string(), &request["method"]),
                    (id.to_owned(), &json!("tools/call"))
                );
                assert!(request["params"][PROBLEM].is_string(), "{request}");
            }
        }
    }

    #[test]
    fn malformed_request_is_answered_with_its_id() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}"#, "tools/list", PROBLEM),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"x"}"#, "tools/call", PROBLEM),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":5}}"#, "tools/call", PROBLEM),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, "", INVALID),
            (r#"{"jsonrpc":"2.0","id":7}"#, "", INVALID),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, "", INVALID),
            (r#"{"id":7,"method":"ping"}"#, "", INVALID),
        ];
        for (message, method, problem) in table {
            let request: Value = serde_json::from_slice(&answerable(message.as_bytes()).unwrap()).unwrap();
            assert_eq!((&request["id"], &request["method"]), (&json!(7), &json!(method)), "{message}");
            assert!(request["params"][problem].is_string(), "{request}");
        }
        let table = [
            r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":[]}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":[7],"method":5}"#,
            r#"[{"id":7}]"#,
            "no JSON",
        ];
        for message in table {
            assert_eq!(answerable(message.as_bytes()), None, "{message}");
        }
    }

    #[test]
    fn other_messages_are_unchanged() {
        let table = [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"a":"\ud83d\ude00"}"#,
            "no JSON",
            r#"{"id":1,"method":"tools/call","params":{"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":[1e400]}"#,
            r#"{"a":"\ud8"#,
            "",
        ];
        for message in table {
            assert_eq!(mended(message), message);
        }
    }
}
