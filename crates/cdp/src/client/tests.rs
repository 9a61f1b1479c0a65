use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, DuplexStream, duplex};

use super::*;
use crate::discovery::Address;
use crate::transport::connect_with_limit;
use crate::types::{debugger, node_worker, runtime};

const SOON: Duration = Duration::from_secs(5);
const LIMIT: usize = 100_000;

/// The other end of the wire, driven by hand.
struct Peer(WebSocketStream<DuplexStream>);

impl Peer {
    async fn connect() -> (Client, Incoming, Self) {
        let (ours, theirs) = duplex(1 << 20);
        let address: Address = "ws://127.0.0.1:9229/id".parse().unwrap();
        let (connected, accepted) =
            tokio::join!(connect_with_limit(ours, &address, LIMIT), tokio_tungstenite::accept_async(theirs));
        let (client, incoming, driver) = connected.unwrap();
        tokio::spawn(driver);
        (client, incoming, Self(accepted.unwrap()))
    }

    async fn receive(&mut self) -> Value {
        let text = self.0.next().await.expect("the client is there").unwrap();
        serde_json::from_str(text.to_text().unwrap()).unwrap()
    }

    async fn send(&mut self, message: Value) {
        self.0.send(tungstenite::Message::text(message.to_string())).await.unwrap();
    }

    async fn answer(&mut self, command: &Value, result: Value) {
        self.send(json!({ "id": command["id"], "result": result })).await;
    }

    /// Takes a command for a worker, as the worker sees it.
    async fn receive_for_worker(&mut self, session_id: &str) -> Value {
        let wrapped = self.receive().await;
        assert_eq!(wrapped["method"], "NodeWorker.sendMessageToWorker");
        assert_eq!(wrapped["params"]["sessionId"], session_id);
        self.answer(&wrapped, json!({})).await;
        serde_json::from_str(wrapped["params"]["message"].as_str().unwrap()).unwrap()
    }

    async fn send_as_worker(&mut self, session_id: &str, message: &Value) {
        let params = json!({ "sessionId": session_id, "message": message.to_string() });
        self.send(json!({ "method": "NodeWorker.receivedMessageFromWorker", "params": params })).await;
    }

    /// Starts a worker, and takes it from the client's events.
    async fn start_worker(&mut self, session_id: &str, incoming: &mut Incoming) -> Worker {
        let info = json!({ "workerId": "1", "type": "worker", "title": "[worker 1]", "url": "file:///w.js" });
        let params = json!({ "sessionId": session_id, "workerInfo": info, "waitingForDebugger": true });
        self.send(json!({ "method": "NodeWorker.attachedToWorker", "params": params })).await;
        let Some(Message::Worker(worker)) = incoming.recv().await else { panic!("a worker") };
        *worker
    }
}

fn evaluate(expression: &str) -> runtime::Evaluate {
    runtime::Evaluate { expression: expression.to_owned(), ..Default::default() }
}

fn text(text: &str) -> Value {
    json!({ "result": { "type": "string", "value": text } })
}

fn value(evaluated: Result<runtime::Evaluated, Error>) -> Value {
    evaluated.unwrap().result.value.unwrap()
}

/// How many commands are in flight.
fn in_flight(client: &Client) -> usize {
    lock(&client.pending).replies.as_ref().unwrap().len()
}

#[tokio::test]
async fn replies_are_matched_to_commands_in_any_order() {
    let (client, _incoming, mut peer) = Peer::connect().await;
    let arguments =
        async { tokio::join!(client.request(evaluate("a"), SOON), client.request(evaluate("ä😀"), SOON)) };
    let served = async {
        let (first, second) = (peer.receive().await, peer.receive().await);
        for command in [&second, &first] {
            let expression = command["params"]["expression"].as_str().unwrap();
            peer.answer(command, text(expression)).await;
        }
    };
    let ((a, b), ()) = tokio::join!(arguments, served);
    assert_eq!((value(a), value(b)), (json!("a"), json!("ä😀")));
}

#[tokio::test]
async fn events_keep_their_order_and_never_delay_a_reply() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    let served = async {
        let command = peer.receive().await;
        for number in 0..2000 {
            let params = json!({ "name": "b", "payload": number.to_string(), "executionContextId": 1 });
            peer.send(json!({ "method": "Runtime.bindingCalled", "params": params })).await;
        }
        peer.answer(&command, json!({})).await;
    };
    let (answer, ()) = tokio::join!(client.request(debugger::Pause {}, SOON), served);
    answer.expect("answered while nobody took the events");
    for number in 0..2000 {
        let Some(Message::Event(Event::BindingCalled(called))) = incoming.recv().await else {
            panic!("a call")
        };
        assert_eq!(called.payload, number.to_string());
    }
}

#[tokio::test]
async fn a_refusal_has_the_debuggers_message() {
    let table = [
        (json!({ "code": -32601, "message": "no" }), -32601, "no"),
        (json!({ "code": -32602, "message": "no", "data": "why" }), -32602, "no: why"),
        (json!({}), 0, ""),
    ];
    let (client, _incoming, mut peer) = Peer::connect().await;
    for (error, code, message) in table {
        let served = async {
            let command = peer.receive().await;
            peer.send(json!({ "error": error, "id": command["id"] })).await;
        };
        let (answer, ()) = tokio::join!(client.request(debugger::StepOut {}, SOON), served);
        let refused = Error::Refused { command: "Debugger.stepOut", code, message: message.to_owned() };
        assert_eq!(answer.unwrap_err(), refused);
    }
}

#[tokio::test]
async fn a_closed_connection_fails_every_pending_command() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    let worker = peer.start_worker("1", &mut incoming).await;
    let arguments = async {
        tokio::join!(
            client.request(debugger::Pause {}, SOON),
            worker.client.request(debugger::Pause {}, SOON)
        )
    };
    let (answers, ()) = tokio::join!(arguments, async { drop(peer) });
    assert_eq!((answers.0.unwrap_err(), answers.1.unwrap_err()), (Error::Closed, Error::Closed));
    assert!(incoming.recv().await.is_none());
    for client in [&client, &worker.client] {
        assert_eq!(client.request(debugger::Pause {}, SOON).await.unwrap_err(), Error::Closed);
    }
}

#[tokio::test]
async fn dropping_the_driver_closes_the_connection() {
    let (ours, _theirs) = duplex(1 << 20);
    let socket = WebSocketStream::from_raw_socket(ours, tungstenite::protocol::Role::Client, None).await;
    let (client, _incoming, driver) = start(socket, LIMIT);
    let arguments = client.request(debugger::Pause {}, SOON);
    let (answer, ()) = tokio::join!(arguments, async { drop(driver) });
    assert_eq!(answer.unwrap_err(), Error::Closed);
}

#[tokio::test]
async fn unanswered_command_times_out_and_frees_its_slot() {
    let (client, _incoming, _peer) = Peer::connect().await;
    tokio::time::pause();
    let answer = client.request(debugger::Pause {}, SOON).await;
    assert_eq!(answer.unwrap_err(), Error::Deadline { command: "Debugger.pause", deadline: SOON });
    assert_eq!(in_flight(&client), 0);
}

#[tokio::test]
async fn dropping_the_future_forgets_its_command() {
    let (client, _incoming, mut peer) = Peer::connect().await;
    let command = tokio::select! {
        biased;
        _ = client.request(evaluate("1"), SOON) => panic!("nobody answers"),
        command = async {
            let command = peer.receive().await;
            assert_eq!(in_flight(&client), 1);
            command
        } => command,
    };
    peer.answer(&command, text("late")).await;
    assert_eq!(in_flight(&client), 0);
    let served = async {
        let command = peer.receive().await;
        peer.answer(&command, text("in time")).await;
    };
    let (answer, ()) = tokio::join!(client.request(evaluate("2"), SOON), served);
    assert_eq!(value(answer), "in time");
}

#[tokio::test]
async fn malformed_messages_are_skipped() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    let garbage = ["", "{", "nonsense", "[1,2]", "{}", r#"{"id":4711,"result":{}}"#, r#"{"id":"1"}"#];
    let served = async {
        let command = peer.receive().await;
        for text in garbage {
            peer.0.send(tungstenite::Message::text(text)).await.unwrap();
        }
        peer.0.send(tungstenite::Message::binary(vec![0xff; 9])).await.unwrap();
        peer.send(json!({ "error": { "code": -32700, "message": "Message must be a valid JSON" } })).await;
        peer.send_as_worker("no such worker", &json!({ "id": 1, "result": {} })).await;
        peer.answer(&command, text("sense")).await;
        peer.send(json!({ "method": "Some.event", "params": { "a": 1 } })).await;
    };
    let (answer, ()) = tokio::join!(client.request(evaluate("x"), SOON), served);
    assert_eq!(value(answer), "sense");
    let Some(Message::Event(Event::Other(method, params))) = incoming.recv().await else {
        panic!("an event")
    };
    assert_eq!((method.as_str(), params), ("Some.event", json!({ "a": 1 })));
}

#[tokio::test]
async fn invalid_websocket_frame_closes_the_connection() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    let served = async {
        peer.receive().await;
        peer.0.get_mut().write_all(&[0xff; 64]).await.unwrap();
    };
    let (answer, ()) = tokio::join!(client.request(evaluate("x"), SOON), served);
    assert_eq!(answer.unwrap_err(), Error::Closed);
    assert!(incoming.recv().await.is_none());
}

#[tokio::test]
async fn oversized_message_fails_only_its_command() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    let worker = peer.start_worker("7", &mut incoming).await;
    let arguments = async {
        tokio::join!(
            client.request(evaluate("long"), SOON),
            worker.client.request(evaluate("long"), SOON),
            client.request(evaluate("short"), SOON),
        )
    };
    let served = async {
        let long = text(&"x".repeat(LIMIT));
        let command = peer.receive().await;
        peer.answer(&command, long.clone()).await;
        let command = peer.receive_for_worker("7").await;
        peer.send_as_worker("7", &json!({ "id": command["id"], "result": long })).await;
        peer.send(json!({ "method": "Debugger.resumed", "params": { "x": long } })).await;
        let command = peer.receive().await;
        peer.answer(&command, text("short")).await;
    };
    let ((main, worker, short), ()) = tokio::join!(arguments, served);
    for long in [main, worker] {
        let Err(Error::Malformed { command: "Runtime.evaluate", reason }) = long else { panic!("too long") };
        assert!(reason.ends_with("above the limit of 100000"), "{reason}");
    }
    assert_eq!(value(short), "short");
}

#[tokio::test]
async fn malformed_reply_fails_only_its_command() {
    let (client, _incoming, mut peer) = Peer::connect().await;
    let served = async {
        for result in [json!({ "result": 3 }), json!({ "result": { "type": "number", "value": 3 } })] {
            let command = peer.receive().await;
            peer.answer(&command, result).await;
        }
    };
    let arguments =
        async { (client.request(evaluate("3"), SOON).await, client.request(evaluate("3"), SOON).await) };
    let ((strange, plain), ()) = tokio::join!(arguments, served);
    assert!(matches!(strange, Err(Error::Malformed { command: "Runtime.evaluate", .. })), "{strange:?}");
    assert_eq!(value(plain), 3);
}

#[tokio::test]
async fn lone_surrogate_does_not_lose_the_message() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    let worker = peer.start_worker("1", &mut incoming).await;
    let lone = r#"{"id":ID,"result":{"result":{"type":"string","value":"a\ud800 \ud83d\ude00"}}}"#;
    let served = async {
        let command = peer.receive().await;
        let answer = lone.replace("ID", &command["id"].to_string());
        peer.0.send(tungstenite::Message::text(answer)).await.unwrap();
        let command = peer.receive_for_worker("1").await;
        let message = lone.replace("ID", &command["id"].to_string());
        let params = json!({ "sessionId": "1", "message": message });
        peer.send(json!({ "method": "NodeWorker.receivedMessageFromWorker", "params": params })).await;
    };
    let arguments = async {
        tokio::join!(client.request(evaluate("x"), SOON), worker.client.request(evaluate("x"), SOON))
    };
    let ((main, worker), ()) = tokio::join!(arguments, served);
    assert_eq!((value(main), value(worker)), (json!("a\u{fffd} 😀"), json!("a\u{fffd} 😀")));
}

#[tokio::test]
async fn workers_have_separate_ids_replies_and_events() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    let mut one = peer.start_worker("1", &mut incoming).await;
    let mut two = peer.start_worker("2", &mut incoming).await;
    assert_eq!(one.attached.worker_info.title, "[worker 1]");
    let arguments = async {
        tokio::join!(
            one.client.request(evaluate("one"), SOON),
            two.client.request(evaluate("two"), SOON),
            client.request(evaluate("main"), SOON),
        )
    };
    let served = async {
        let first = peer.receive_for_worker("1").await;
        let second = peer.receive_for_worker("2").await;
        assert_eq!((&first["id"], &second["id"]), (&json!(1), &json!(1)), "each counts for itself");
        assert_eq!(first["params"]["expression"], "one");
        let third = peer.receive().await;
        peer.send_as_worker("2", &json!({ "method": "Debugger.resumed", "params": {} })).await;
        peer.answer(&third, text("of main")).await;
        peer.send_as_worker("2", &json!({ "id": 1, "result": text("of two") })).await;
        peer.send_as_worker("1", &json!({ "id": 1, "result": text("of one") })).await;
    };
    let ((of_one, of_two, of_main), ()) = tokio::join!(arguments, served);
    let answers = [of_one, of_two, of_main].map(value);
    assert_eq!(answers, [json!("of one"), json!("of two"), json!("of main")]);
    assert!(matches!(two.incoming.recv().await, Some(Message::Event(Event::Resumed))));
    assert!(one.incoming.try_recv().is_err());
    assert!(incoming.try_recv().is_err());
}

#[tokio::test]
async fn ended_worker_fails_only_its_own_commands() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    let mut worker = peer.start_worker("1", &mut incoming).await;
    let served = async {
        peer.receive_for_worker("1").await;
        let params = json!({ "sessionId": "1" });
        peer.send(json!({ "method": "NodeWorker.detachedFromWorker", "params": params })).await;
    };
    let (answer, ()) = tokio::join!(worker.client.request(evaluate("x"), SOON), served);
    assert_eq!(answer.unwrap_err(), Error::Closed);
    assert!(worker.incoming.recv().await.is_none());
    assert_eq!(worker.client.request(evaluate("x"), SOON).await.unwrap_err(), Error::Closed);
    let Some(Message::Event(Event::DetachedFromWorker(detached))) = incoming.recv().await else {
        panic!("an end")
    };
    assert_eq!(detached, node_worker::DetachedFromWorker { session_id: "1".to_owned() });
    let served = async {
        let command = peer.receive().await;
        peer.answer(&command, json!({})).await;
    };
    tokio::join!(client.request(debugger::Pause {}, SOON), served).0.unwrap();
}

#[tokio::test]
async fn dropping_the_client_closes_the_connection_despite_worker_handles() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    let worker = peer.start_worker("1", &mut incoming).await;
    drop(client);
    assert!(matches!(peer.0.next().await, Some(Ok(tungstenite::Message::Close(None)))));
    assert_eq!(worker.client.request(evaluate("x"), SOON).await.unwrap_err(), Error::Closed);
}

#[tokio::test]
async fn only_whole_text_frames_are_sent() {
    let (client, _incoming, mut peer) = Peer::connect().await;
    let long = "ä".repeat(2 << 20);
    let served = async {
        let text = peer.0.next().await.unwrap().unwrap();
        assert!(text.is_text() && text.to_text().unwrap().is_ascii());
        let command: Value = serde_json::from_str(text.to_text().unwrap()).unwrap();
        peer.answer(&command, json!({ "result": { "value": command["params"]["expression"] == long } }))
            .await;
    };
    let (answer, ()) = tokio::join!(client.request(evaluate(&long), SOON), served);
    assert_eq!(value(answer), true);
}

#[tokio::test]
async fn messages_sent_before_the_inspector_closes_are_delivered() {
    let (client, mut incoming, mut peer) = Peer::connect().await;
    peer.send(json!({ "method": "Debugger.resumed", "params": {} })).await;
    // It is gone with what it was sent unread.
    drop(peer);
    let failed = client.request(evaluate("1"), SOON).await;
    assert!(matches!(failed, Err(Error::Closed)));
    assert!(matches!(incoming.recv().await, Some(Message::Event(Event::Resumed))));
    assert!(incoming.recv().await.is_none());
}
