//! Answers lines that are not messages, which the SDK skips (rmcp 3.9, `async_rw.rs`): a client that has sent one would
//! wait forever.
//!
//! Such a line is replaced by a request with our ID, which reports the error. It is answered before the server
//! sees it: no handshake is needed for it, and none begins with it.

use std::io::{Error, ErrorKind};

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, ErrorData, JsonRpcError, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::de::IgnoredAny;
use serde_json::json;

/// The ID of the request. The answer has none: it is about no request of the client's.
const OWN: &str = "stillframe:unreadable";
/// What RFC 8259 lets a parser skip.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The replacement for a line that is not a message, whatever its members are.
pub(super) fn report(line: &[u8]) -> Option<Vec<u8>> {
    let error = problem(line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii())?;
    let request = json!({ "jsonrpc": "2.0", "id": OWN, "method": "", "params": error });
    Some(format!("{request}\n").into_bytes())
}

fn problem(line: &[u8]) -> Option<ErrorData> {
    if line.is_empty() {
        return None;
    }
    // Text that is skipped is not checked.
    let utf_8 = std::str::from_utf8(line).map_err(|error| Error::new(ErrorKind::InvalidData, error));
    let parsed = utf_8.and_then(|line| Ok(serde_json::from_str::<IgnoredAny>(line)?));
    if let Err(error) = parsed {
        return Some(ErrorData::parse_error(format!("invalid JSON: {error}"), None));
    }
    let is_batch = line.starts_with(b"[");
    let message = "batches are not supported: send one message per line";
    is_batch.then(|| ErrorData::invalid_request(message, None))
}

/// A transport that answers the requests that stand for unreadable lines.
pub(super) struct UnreadableAnswered<T>(pub(super) T);

impl<T: Transport<RoleServer>> Transport<RoleServer> for UnreadableAnswered<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.0.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.0.receive().await?;
            match answer(&message) {
                // Beside this, which is dropped and called again all the time.
                Some(answer) => drop(tokio::spawn(self.0.send(answer))),
                None => return Some(message),
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.0.close().await
    }
}

fn answer(message: &RxJsonRpcMessage<RoleServer>) -> Option<TxJsonRpcMessage<RoleServer>> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(reported) = &request.request else { return None };
    if !matches!(&request.id, RequestId::String(id) if **id == *OWN) {
        return None;
    }
    let error = serde_json::from_value(reported.params.clone()?).ok()?;
    Some(JsonRpcMessage::Error(JsonRpcError::new(None, error)))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_line_that_is_no_message_is_answered_without_an_id() {
        let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        let twice = format!("{ping}{ping}");
        let table: [(&[u8], i32, &str); 7] = [
            (b"{bad json\n", -32700, "line 1 column 2"),
            (twice.as_bytes(), -32700, "trailing characters"),
            (b"{\"id\":1,\"method\":\"\xff\"}", -32700, "utf-8"),
            (b"{\"id\":1,", -32700, "EOF"),
            (b"\0\0", -32700, "expected value"),
            (b"[]", -32600, "batches are not supported"),
            (b" [{\"id\":7}]\n", -32600, "batches are not supported"),
        ];
        for (line, code, problem) in table {
            let request = serde_json::from_slice(&report(line).unwrap()).unwrap();
            let answer: Value = serde_json::to_value(answer(&request).unwrap()).unwrap();
            assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(code), None), "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains(problem), "{answer}");
        }
    }

    #[test]
    fn other_lines_are_left_to_the_sdk() {
        let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        let with_mark = format!("\u{feff}{ping}");
        for line in [ping, &with_mark, "", " \r\n", "42", r#"{"params":[1e400]}"#] {
            assert_eq!(report(line.as_bytes()), None, "{line}");
        }
        assert!(answer(&serde_json::from_str(ping).unwrap()).is_none());
    }
}
