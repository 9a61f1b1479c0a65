//! What an inspector says.

use std::time::Duration;

use cdp::{Address, Error, Event, Message, debugger, discovery};
use futures_util::SinkExt;
use serde_json::Value;
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite;

use crate::runtime::block_on;

/// Longer than reading takes.
const DEADLINE: Duration = Duration::from_mins(1);

/// The first line is a method, the rest its parameters.
///
/// Nothing is lost: what does not fit a method is kept as it came. An address that is found in a line is written
/// and read as itself.
pub fn cdp_events(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (method, params) = text.split_once('\n').unwrap_or((text, "{}"));
    if let Event::Other(kept, body) = Event::parse(method, params) {
        let read: Value = serde_json::from_str(params).unwrap_or_default();
        assert_eq!((kept.as_str(), body), (method, read));
    }
    for line in text.lines() {
        let Some(address) = discovery::listening(line) else { continue };
        // A host with brackets inside is one that Node never prints, and is indistinguishable from one in brackets.
        if !address.host.contains(['[', ']']) {
            assert_eq!(address.to_string().parse::<Address>().ok(), Some(address));
        }
    }
}

/// Lines as messages on a connection with commands in flight.
///
/// Every command is answered, at the latest when the connection ends; an event that comes last is handed on last,
/// whatever came before it.
pub fn cdp_wire(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let lines: Vec<String> =
        text.lines().chain([r#"{"method":"Last.one","params":{}}"#]).map(str::to_owned).collect();
    let address = Address { host: "127.0.0.1".to_owned(), port: 9229, id: "a".to_owned() };
    block_on(async {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let speaking = async {
            let mut socket = accept_async(theirs).await.expect("a handshake");
            for line in lines {
                // Our side may be gone, which shows in the messages that it has not forwarded.
                let _ = socket.feed(tungstenite::Message::text(line)).await;
            }
            let _ = socket.close(None).await;
        };
        let listening = async {
            let (client, mut incoming, driver) = cdp::connect_over(ours, &address).await.expect("connected");
            let (one, two, ()) = tokio::join!(
                client.request(debugger::Resume::default(), DEADLINE),
                client.request(debugger::Enable::default(), DEADLINE),
                driver
            );
            for failed in [one.err(), two.err()].into_iter().flatten() {
                assert!(!matches!(failed, Error::Deadline { .. }), "{failed}");
            }
            let mut last = None;
            while let Some(message) = incoming.recv().await {
                last = Some(message);
            }
            let is_last = matches!(&last, Some(Message::Event(Event::Other(name, _))) if name == "Last.one");
            assert!(is_last, "the last event did not come last: {last:?}");
        };
        tokio::join!(speaking, listening);
    });
}
