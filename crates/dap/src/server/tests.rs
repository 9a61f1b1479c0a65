use std::time::Duration;

use serde_json::json;
use tokio::io::{DuplexStream, ReadHalf, WriteHalf, duplex, split};

use super::*;
use crate::{Error, Event, Incoming, Message, StackTrace, StackTraceArguments, StackTraceResponse, connect};

const DEADLINE: Duration = Duration::from_mins(1);
const LIMIT: usize = 1000;

/// What arrives on a connection that is closed after it.
async fn arrives(bytes: &[u8]) -> Result<Vec<String>, Unreadable> {
    let mut requests = RequestReader::new(bytes, LIMIT);
    let mut commands = Vec::new();
    while let Some(request) = requests.next().await? {
        commands.push(request.command);
    }
    Ok(commands)
}

fn request(command: &str) -> Vec<u8> {
    encode(json!({ "seq": 1, "type": "request", "command": command }).to_string().as_bytes()).to_vec()
}

#[tokio::test]
async fn requests_are_read_until_the_client_disconnects() {
    let response = encode(br#"{"seq":2,"type":"response","request_seq":1,"success":true,"command":"x"}"#);
    let stream = [request("a"), response.to_vec(), request("b"), b"Content-Length: 7\r\n\r\n{".to_vec()];
    assert_eq!(arrives(&stream.concat()).await.unwrap(), ["a", "b"]);
}

#[tokio::test]
async fn malformed_request_ends_the_conversation() {
    let too_large = arrives(&encode(&[b' '; LIMIT + 1])).await.unwrap_err();
    assert!(matches!(too_large, Unreadable::TooLarge(size) if size == LIMIT + 1), "{too_large}");
    for json in ["", "7", "[", "{}", "\"request\"", "\u{0}"] {
        let malformed = arrives(&encode(json.as_bytes())).await.unwrap_err();
        assert!(matches!(malformed, Unreadable::Malformed(_)), "{json}: {malformed}");
    }
    let unframed = arrives(&vec![b'x'; 1 << 17]).await.unwrap_err();
    assert!(matches!(unframed, Unreadable::Stream(_)), "{unframed}");
}

#[tokio::test]
async fn the_limit_can_be_raised_between_requests() {
    let long = "x".repeat(LIMIT);
    let stream = [request("short"), request(&long)].concat();
    let mut requests = RequestReader::new(&*stream, LIMIT);
    requests.next().await.unwrap().unwrap();
    requests.set_limit(2 * LIMIT);
    assert_eq!(requests.next().await.unwrap().unwrap().command, long);
}

type Served = (RequestReader<ReadHalf<DuplexStream>>, MessageWriter<WriteHalf<DuplexStream>>);

/// A client, and who serves it.
fn connection() -> (crate::Client, Incoming, Served) {
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(ours);
    let (client, incoming, driver) = connect(reader, writer);
    tokio::spawn(driver);
    let (reader, writer) = split(theirs);
    (client, incoming, (RequestReader::new(reader, LIMIT), MessageWriter::new(writer)))
}

#[tokio::test]
async fn a_client_gets_what_its_server_writes() {
    let (client, mut incoming, (mut requests, mut out)) = connection();
    let arguments = StackTraceArguments { thread_id: 7, levels: Some(20), ..Default::default() };
    let asked = client.begin::<StackTrace>(&arguments, DEADLINE);
    let request = requests.next().await.unwrap().unwrap();
    let read = request.read::<StackTrace>().unwrap();
    assert_eq!((read.thread_id, read.start_frame, read.levels), (7, None, Some(20)));
    let body = serde_json::to_value(StackTraceResponse { total_frames: Some(3), ..Default::default() });
    out.respond(&request, Ok(body.unwrap())).await.unwrap();
    assert_eq!(asked.await.unwrap().total_frames, Some(3));

    out.event("continued", json!({ "threadId": 7 })).await.unwrap();
    let reported = incoming.recv().await;
    assert!(matches!(reported, Some(Message::Event(Event::Continued(event))) if event.thread_id == 7));

    let asked = client.begin::<StackTrace>(&arguments, DEADLINE);
    let request = requests.next().await.unwrap().unwrap();
    out.respond(&request, Err("not now".to_owned())).await.unwrap();
    let refused = Error::Refused { command: "stackTrace", message: "not now".to_owned() };
    assert_eq!(asked.await.unwrap_err(), refused);
    drop(client);
    assert!(requests.next().await.unwrap().is_none());
}

#[tokio::test]
async fn mismatched_arguments_are_named() {
    let stream = encode(br#"{"seq":1,"type":"request","command":"stackTrace","arguments":{"threadId":"x"}}"#);
    let request = RequestReader::new(&*stream, LIMIT).next().await.unwrap().unwrap();
    let problem = request.read::<StackTrace>().unwrap_err();
    assert!(problem.starts_with("invalid arguments of `stackTrace`"), "{problem}");
}
