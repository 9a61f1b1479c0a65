use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};

use super::*;
use crate::types::{ConfigurationDone, Empty, Evaluate, EvaluateArguments, Threads};

const SOON: Duration = Duration::from_secs(5);

/// The other end of the wire, driven by hand.
struct Peer {
    reader: ReadHalf<DuplexStream>,
    writer: WriteHalf<DuplexStream>,
    decoder: Decoder,
}

impl Peer {
    fn connect() -> (Client, Incoming, Self) {
        let (ours, theirs) = duplex(1 << 20);
        let (reader, writer) = split(ours);
        let (client, incoming, driver) = connect(reader, writer);
        tokio::spawn(driver);
        let (reader, writer) = split(theirs);
        (client, incoming, Self { reader, writer, decoder: Decoder::new(1 << 20) })
    }

    async fn receive(&mut self) -> Value {
        loop {
            if let Some(Frame::Message(json)) = self.decoder.next_frame().unwrap() {
                return serde_json::from_slice(&json).unwrap();
            }
            assert_ne!(self.reader.read_buf(self.decoder.buffer()).await.unwrap(), 0, "the client is there");
        }
    }

    async fn send(&mut self, message: Value) {
        self.writer.write_all(&encode(message.to_string().as_bytes())).await.unwrap();
    }

    async fn answer(&mut self, request: &Value, body: Value) {
        let seq = &request["seq"];
        let command = &request["command"];
        self.send(serde_json::json!({
            "type": "response", "seq": 1, "request_seq": seq, "command": command, "success": true, "body": body,
        }))
        .await;
    }
}

fn evaluate(expression: &str) -> EvaluateArguments {
    EvaluateArguments { expression: expression.to_owned(), ..Default::default() }
}

#[tokio::test]
async fn replies_are_matched_to_requests_in_any_order() {
    let (client, _incoming, mut peer) = Peer::connect();
    let asked = async {
        tokio::join!(
            client.request::<Evaluate>(evaluate("a"), SOON),
            client.request::<Evaluate>(evaluate("b"), SOON),
        )
    };
    let served = async {
        let (first, second) = (peer.receive().await, peer.receive().await);
        for request in [&second, &first] {
            let result = &request["arguments"]["expression"];
            peer.answer(request, serde_json::json!({ "result": result })).await;
        }
    };
    let ((a, b), ()) = tokio::join!(asked, served);
    assert_eq!((a.unwrap().result, b.unwrap().result), ("a".to_owned(), "b".to_owned()));
}

#[tokio::test]
async fn events_keep_their_order_and_never_delay_a_reply() {
    let (client, mut incoming, mut peer) = Peer::connect();
    let served = async {
        let request = peer.receive().await;
        for number in 0..2000 {
            let body = serde_json::json!({ "category": "stdout", "output": format!("{number}") });
            peer.send(serde_json::json!({ "type": "event", "seq": 1, "event": "output", "body": body }))
                .await;
        }
        peer.answer(&request, serde_json::json!({ "threads": [] })).await;
    };
    let (threads, ()) = tokio::join!(client.request::<Threads>(Empty {}, SOON), served);
    assert!(threads.unwrap().threads.is_empty(), "answered while nobody took the events");
    for number in 0..2000 {
        let Some(Message::Event(Event::Output(output))) = incoming.recv().await else { panic!("an output") };
        assert_eq!(output.output, number.to_string());
    }
}

#[tokio::test]
async fn a_refusal_has_the_debuggers_message_from_any_field() {
    let format = |text: &str| serde_json::json!({ "error": { "id": 1, "format": text, "variables": { "what": "frame" } } });
    let table = [
        (serde_json::json!({ "message": "no such name" }), "no such name"),
        (serde_json::json!({ "body": format("no {what}") }), "no frame"),
        (serde_json::json!({ "body": { "message": "no number" } }), "no number"),
        (serde_json::json!({ "message": "notStopped", "body": format("no {what}") }), "no frame"),
        (serde_json::json!({ "message": "no name", "body": { "message": "no number" } }), "no name"),
        (serde_json::json!({ "message": "no name", "body": format("") }), "no name"),
        (serde_json::json!({ "message": "", "body": { "error": {}, "message": "no number" } }), "no number"),
        (serde_json::json!({ "message": "no name", "body": null }), "no name"),
        (serde_json::json!({ "message": "no name", "body": { "error": "what?" } }), "no name"),
        (
            serde_json::json!({ "body": { "error": { "format": "line {line} of {file}", "variables": { "line": 3, "file": "f" } } } }),
            "line 3 of f",
        ),
        (serde_json::json!({ "body": { "error": { "format": "no", "variables": null } } }), "no"),
        (serde_json::json!({ "message": null }), ""),
        (serde_json::json!({}), ""),
    ];
    for (fields, expected) in table {
        let (client, _incoming, mut peer) = Peer::connect();
        let served = async {
            let request = peer.receive().await;
            let mut response = serde_json::json!({
                "type": "response", "seq": 9, "request_seq": request["seq"], "command": "evaluate", "success": false,
            });
            response.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            peer.send(response).await;
        };
        let (answer, ()) = tokio::join!(client.request::<Evaluate>(evaluate("x"), SOON), served);
        let refused = Error::Refused { command: "evaluate", message: expected.to_owned() };
        assert_eq!(answer.unwrap_err(), refused);
    }
}

#[tokio::test]
async fn a_closed_connection_fails_every_pending_request() {
    let (client, mut incoming, peer) = Peer::connect();
    let arguments = client.request::<Threads>(Empty {}, SOON);
    let (answer, ()) = tokio::join!(arguments, async { drop(peer) });
    assert_eq!(answer.unwrap_err(), Error::Closed);
    assert!(incoming.recv().await.is_none());
    assert_eq!(client.request::<Threads>(Empty {}, SOON).await.unwrap_err(), Error::Closed);
}

#[tokio::test(start_paused = true)]
async fn unanswered_request_times_out_and_frees_its_slot() {
    let (client, _incoming, _peer) = Peer::connect();
    let answer = client.request::<Threads>(Empty {}, SOON).await;
    assert_eq!(answer.unwrap_err(), Error::Deadline { command: "threads", deadline: SOON });
    assert!(lock(&client.pending).replies.as_ref().unwrap().is_empty());
}

#[tokio::test]
async fn malformed_messages_are_skipped() {
    let (client, _incoming, mut peer) = Peer::connect();
    let served = async {
        let request = peer.receive().await;
        peer.send(serde_json::json!([1, 2])).await;
        peer.send(serde_json::json!({ "type": "response", "request_seq": 4711, "success": true })).await;
        peer.send(serde_json::json!({ "type": "poem" })).await;
        peer.answer(&request, Value::Null).await;
    };
    let (answer, ()) = tokio::join!(client.request::<ConfigurationDone>(Empty {}, SOON), served);
    answer.unwrap();
}

#[tokio::test]
async fn a_reverse_request_is_forwarded_and_can_be_answered() {
    let (client, mut incoming, mut peer) = Peer::connect();
    let arguments = serde_json::json!({ "request": "attach" });
    peer.send(serde_json::json!({ "type": "request", "seq": 7, "command": "startDebugging", "arguments": arguments }))
        .await;
    let Some(Message::Request(request)) = incoming.recv().await else { panic!("a request") };
    assert_eq!((request.command.as_str(), &request.arguments), ("startDebugging", &arguments));
    client.respond(&request, Err("not here".to_owned()));
    let answer = peer.receive().await;
    assert_eq!(answer["request_seq"], 7);
    assert_eq!(answer["success"], false);
    assert_eq!(answer["message"], "not here");
}

#[tokio::test]
async fn dropping_the_client_closes_the_connection() {
    let (client, _incoming, mut peer) = Peer::connect();
    drop(client);
    assert_eq!(peer.reader.read_buf(peer.decoder.buffer()).await.unwrap(), 0);
}

#[tokio::test]
async fn messages_sent_before_the_adapter_closes_are_delivered() {
    let answer = encode(br#"{"type":"event","event":"terminated"}"#);
    let (reader, mut theirs) = duplex(1024);
    let (writer, deaf) = duplex(1024);
    drop(deaf);
    let (client, mut incoming, driver) = connect(reader, writer);
    let driver = tokio::spawn(driver);
    let arguments = tokio::spawn(async move { client.request::<Evaluate>(evaluate("a"), SOON).await });
    tokio::task::yield_now().await;
    theirs.write_all(&answer).await.unwrap();
    assert!(matches!(incoming.recv().await, Some(Message::Event(Event::Terminated))));
    drop(theirs);
    driver.await.unwrap();
    assert_eq!(arguments.await.unwrap().err(), Some(Error::Closed));
}

#[tokio::test]
async fn abandoned_request_is_cancelled_if_the_adapter_supports_it() {
    let (client, _incoming, mut peer) = Peer::connect();
    drop(client.begin::<Evaluate>(&evaluate("a"), SOON));
    client.cancel_dropped_requests();
    drop(client.begin::<Evaluate>(&evaluate("b"), SOON));
    let next = async |peer: &mut Peer| {
        let message = peer.receive().await;
        (message["command"].clone(), message["arguments"].clone(), message["seq"].clone())
    };
    assert_eq!(next(&mut peer).await.1["expression"], "a");
    let (_, asked, seq) = next(&mut peer).await;
    assert_eq!(asked["expression"], "b", "the first one is not cancelled");
    let (command, arguments, _) = next(&mut peer).await;
    assert_eq!((command, arguments), ("cancel".into(), serde_json::json!({ "requestId": seq })));
}

#[tokio::test(start_paused = true)]
async fn timed_out_request_is_cancelled_and_an_answered_one_is_not() {
    let (client, _incoming, mut peer) = Peer::connect();
    client.cancel_dropped_requests();
    let (late, request) = tokio::join!(client.request::<Evaluate>(evaluate("a"), SOON), peer.receive());
    assert!(matches!(late, Err(Error::Deadline { .. })));
    let cancel = peer.receive().await;
    assert_eq!((&cancel["command"], &cancel["arguments"]["requestId"]), (&"cancel".into(), &request["seq"]));
    // Both are answered, although no request waits for them.
    peer.answer(&request, Value::Null).await;
    peer.answer(&cancel, Value::Null).await;
    for _ in 0..2 {
        let served = async {
            let request = peer.receive().await;
            assert_eq!(request["command"], "threads", "nothing else was sent");
            peer.answer(&request, Value::Null).await;
        };
        tokio::join!(client.request::<Threads>(Empty {}, SOON), served).0.unwrap();
    }
}

#[tokio::test]
async fn a_request_is_sent_before_its_reply_is_awaited() {
    let (client, _incoming, mut peer) = Peer::connect();
    let answer = client.begin::<Evaluate>(&evaluate("a"), SOON);
    let request = peer.receive().await;
    peer.answer(&request, serde_json::json!({ "result": "1" })).await;
    assert_eq!(answer.await.unwrap().result, "1");
}

/// There is nothing to cancel.
#[tokio::test]
async fn nothing_is_written_to_a_closed_connection() {
    let (client, mut incoming, peer) = Peer::connect();
    client.cancel_dropped_requests();
    let answer = client.begin::<Evaluate>(&evaluate("a"), SOON);
    drop(peer);
    assert!(incoming.recv().await.is_none());
    drop(answer);
    client.closed().await;
}
