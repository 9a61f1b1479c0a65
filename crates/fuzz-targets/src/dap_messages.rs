//! What a debug adapter says.

use std::fmt::Debug;
use std::io::Cursor;
use std::time::Duration;

use dap::codec::encode;
use dap::{Error, Event, Message, Request};
use serde_json::{Map, Value};

use crate::runtime::block_on;

/// Longer than reading takes.
const DEADLINE: Duration = Duration::from_mins(1);

/// Every event that is read. The last one is unknown.
const EVENTS: [&str; 10] = [
    "initialized",
    "stopped",
    "continued",
    "exited",
    "terminated",
    "thread",
    "output",
    "breakpoint",
    "process",
    "unheard-of",
];

/// JSON as the body of every event and of every response.
///
/// Nothing is lost: what does not fit an event is kept unchanged. Known fields are read the same with unknown ones
/// beside them.
pub fn dap_types(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let read: Option<Value> = serde_json::from_str(text).ok();
    for name in EVENTS {
        if let Event::Other(kept, body) = Event::parse(name, text) {
            assert_eq!((kept.as_str(), body), (name, read.clone().unwrap_or_default()));
        }
    }
    let Some(Value::Object(fields)) = read else { return };
    macro_rules! responses { ($($request:ident)*) => {$( response::<dap::$request>(&fields); )*}; }
    responses! {
        Initialize Launch SetBreakpoints SetFunctionBreakpoints Threads StackTrace SourceText Scopes Variables
        Evaluate SetVariable ExceptionInfo
    }
}

fn response<R: Request<Response: Debug>>(fields: &Map<String, Value>) {
    let read = |fields: Map<String, Value>| serde_json::from_value::<R::Response>(Value::Object(fields));
    let Ok(plain) = read(fields.clone()) else { return };
    let mut more = fields.clone();
    more.insert("nobodyKnowsThis".to_owned(), Value::Array(vec![Value::Null]));
    let more = read(more).unwrap_or_else(|error| panic!("{}: {error}", R::COMMAND));
    assert_eq!(format!("{plain:?}"), format!("{more:?}"), "{}", R::COMMAND);
}

/// Lines as messages on a connection with requests in flight.
///
/// Every request is answered, at the latest when the connection ends; an event that comes last is handed on last,
/// whatever came before it.
pub fn dap_wire(data: &[u8]) {
    let mut stream = Vec::new();
    for line in data.split(|byte| *byte == b'\n') {
        stream.extend_from_slice(&encode(line));
    }
    stream.extend_from_slice(&encode(br#"{"type":"event","event":"last one"}"#));
    block_on(async {
        let (client, mut incoming, driver) = dap::connect(Cursor::new(stream), tokio::io::sink());
        let (one, two, three, ()) = tokio::join!(
            client.request::<dap::Threads>(dap::Empty {}, DEADLINE),
            client.request::<dap::Terminate>(dap::Empty {}, DEADLINE),
            client.request::<dap::Initialize>(dap::InitializeArguments::default(), DEADLINE),
            driver
        );
        for failed in [one.err(), two.err(), three.err()].into_iter().flatten() {
            assert!(!matches!(failed, Error::Deadline { .. }), "{failed}");
        }
        let mut last = None;
        while let Some(message) = incoming.recv().await {
            if let Message::Request(request) = &message {
                client.respond(request, Ok(Value::Null));
            }
            last = Some(message);
        }
        let is_last = matches!(&last, Some(Message::Event(Event::Other(name, _))) if name == "last one");
        assert!(is_last, "the last event did not come last: {last:?}");
    });
}
