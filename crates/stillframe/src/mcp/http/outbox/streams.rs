//! The streams of one MCP session: what of them is kept, and for how long.
//!
//! Readers are known here only by their numbers.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::time::{Duration, Instant};

use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;

use super::StreamError;

/// What belongs to no call.
pub(super) const COMMON: u64 = 0;
/// The events that are kept of a stream.
const EVENTS: usize = 256;
/// For how long a stream is kept after its answer.
const KEPT: Duration = Duration::from_mins(2);
/// The streams that are kept although they were sent whole, because what was sent may not have arrived.
const SENT: usize = 16;
/// The streams that are kept because their answers are unread.
const UNSENT: usize = 256;
/// The bytes that these answers may have together, of which the newest may have any number.
const UNSENT_BYTES: usize = 32 * 1024 * 1024;

/// All of them, by their numbers.
pub(super) struct Streams(HashMap<u64, Events>);

/// One stream.
#[derive(Default)]
pub(super) struct Events {
    kept: VecDeque<ServerSseMessage>,
    /// The place of the first one that is kept.
    first: u64,
    /// The place of the next one to send.
    pub(super) next: u64,
    /// The readers. Events are sent to the first; when it is gone, the next one takes its place.
    pub(super) readers: VecDeque<u64>,
    answer: Option<AnswerSent>,
}

/// That a call was answered, after which nothing comes.
struct AnswerSent {
    at: Instant,
    bytes: usize,
}

impl Default for Streams {
    fn default() -> Self {
        Self(HashMap::from([(COMMON, Events::default())]))
    }
}

impl Streams {
    pub(super) fn get(&mut self, number: u64) -> Result<&mut Events, StreamError> {
        self.0.get_mut(&number).ok_or(StreamError::UnknownEvent)
    }

    /// Opens one, for which old ones make room.
    pub(super) fn open(&mut self, number: u64) {
        self.forget_answered();
        self.0.insert(number, Events::default());
    }

    /// Ends one that is not to be resumed.
    pub(super) fn forget(&mut self, number: u64) {
        self.0.remove(&number);
    }

    /// The number of a stream, and the place that an event of it names, after which something comes or may come.
    pub(super) fn resume_position(&mut self, event: &str) -> Result<(u64, u64), StreamError> {
        let (number, place) = parse_event(event).ok_or(StreamError::UnknownEvent)?;
        let events = self.get(number)?;
        let is_known = place <= events.end();
        let is_last = events.is_answered() && place == events.end();
        if is_known && !is_last { Ok((number, place)) } else { Err(StreamError::UnknownEvent) }
    }

    pub(super) fn push(&mut self, number: u64, message: ServerJsonRpcMessage) {
        if let Ok(events) = self.get(number) {
            let name = name_event(number, events.end() + 1);
            events.push(ServerSseMessage::new(name, message));
        }
    }

    /// The same with the answer of its call.
    pub(super) fn push_answer(&mut self, number: u64, answer: ServerJsonRpcMessage) {
        let bytes = size_of_json(&answer);
        self.push(number, answer);
        if let Ok(events) = self.get(number) {
            events.answer = Some(AnswerSent { at: Instant::now(), bytes });
        }
    }

    /// Whether it has no reader.
    pub(super) fn are_unread(&self) -> bool {
        self.0.values().all(|events| events.readers.is_empty())
    }

    /// Drops answered streams without a reader: the old ones, and beyond the limits the oldest.
    fn forget_answered(&mut self) {
        let unread = self.0.iter().filter(|(_, events)| events.readers.is_empty());
        let mut unread: Vec<_> = unread
            .filter_map(|(number, events)| {
                let answer = events.answer.as_ref()?;
                Some((answer.at, *number, answer.bytes, events.is_sent()))
            })
            .collect();
        unread.sort_unstable();
        let (mut sent, mut unsent, mut bytes) = (0, 0, 0);
        for (at, number, size, is_sent) in unread.into_iter().rev() {
            let has_room = if is_sent {
                sent += 1;
                sent <= SENT
            } else {
                unsent += 1;
                bytes += size;
                unsent == 1 || (unsent <= UNSENT && bytes <= UNSENT_BYTES)
            };
            if !has_room || at.elapsed() >= KEPT {
                self.0.remove(&number);
            }
        }
    }
}

impl Events {
    fn push(&mut self, event: ServerSseMessage) {
        self.kept.push_back(event);
        if self.kept.len() > EVENTS {
            self.kept.pop_front();
            self.first += 1;
            self.next = self.next.max(self.first);
        }
    }

    /// Goes back to a place, or to the first that is kept.
    pub(super) fn go_to(&mut self, place: u64) {
        self.next = place.clamp(self.first, self.end());
    }

    /// The next one to send, which is sent thereby.
    pub(super) fn take_next(&mut self) -> Option<ServerSseMessage> {
        let at = usize::try_from(self.next.saturating_sub(self.first)).ok()?;
        let event = self.kept.get(at)?.clone();
        self.next += 1;
        Some(event)
    }

    pub(super) fn is_answered(&self) -> bool {
        self.answer.is_some()
    }

    /// Whether a reader was sent everything.
    pub(super) fn is_sent(&self) -> bool {
        self.next >= self.end()
    }

    /// The place after the last one.
    fn end(&self) -> u64 {
        self.first + u64::try_from(self.kept.len()).unwrap_or(u64::MAX)
    }
}

/// `STREAM-PLACE`: this many events of that stream have been received.
pub(super) fn name_event(stream: u64, place: u64) -> String {
    format!("{stream}-{place}")
}

fn parse_event(name: &str) -> Option<(u64, u64)> {
    let (stream, place) = name.split_once('-')?;
    Some((stream.parse().ok()?, place.parse().ok()?))
}

/// The bytes of a message on the wire.
fn size_of_json(message: &ServerJsonRpcMessage) -> usize {
    struct Counted(usize);
    impl io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counted = Counted(0);
    // Counting does not fail, and what cannot be written is not sent either.
    let _ = serde_json::to_writer(&mut counted, message);
    counted.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer() -> ServerJsonRpcMessage {
        let error = json!({ "code": 1, "message": "x" });
        serde_json::from_value(json!({ "jsonrpc": "2.0", "id": 1, "error": error })).unwrap()
    }

    /// Answers one call after the other with this many bytes, and reads the answers of those that are to be read.
    fn answered(count: u64, bytes: usize, is_read: impl Fn(u64) -> bool) -> Streams {
        let mut streams = Streams::default();
        for number in 1..=count {
            streams.open(number);
            streams.push_answer(number, answer());
            streams.get(number).unwrap().answer.as_mut().unwrap().bytes = bytes;
            if is_read(number) {
                streams.get(number).unwrap().take_next().unwrap();
            }
        }
        streams.open(count + 1);
        streams
    }

    fn kept(streams: &mut Streams, count: u64) -> Vec<u64> {
        (1..=count).filter(|number| streams.resume_position(&name_event(*number, 0)).is_ok()).collect()
    }

    #[test]
    fn read_messages_are_dropped_before_unread_ones() {
        let mut streams = answered(100, 10, |number| number > 2);
        let expected: Vec<u64> = [1, 2].into_iter().chain(85..=100).collect();
        assert_eq!(kept(&mut streams, 100), expected);
    }

    #[test]
    fn unread_messages_are_limited_too() {
        let mut streams = answered(300, 10, |_| false);
        assert_eq!(kept(&mut streams, 300), (45..=300).collect::<Vec<_>>());
        let mut streams = answered(6, 10 * 1024 * 1024, |_| false);
        assert_eq!(kept(&mut streams, 6), [4, 5, 6]);
        let mut streams = answered(2, 2 * UNSENT_BYTES, |_| false);
        assert_eq!(kept(&mut streams, 2), [2]);
    }

    #[test]
    fn the_size_of_a_reply_is_the_size_of_its_text() {
        let text = serde_json::to_string(&answer()).unwrap();
        assert_eq!(size_of_json(&answer()), text.len());
    }

    #[test]
    fn nothing_follows_the_reply() {
        let mut streams = answered(1, 10, |_| false);
        let table =
            [("1-0", true), ("1-1", false), ("1-2", false), ("2-0", true), ("0-0", true), ("0-1", false)];
        for (event, is_known) in table {
            assert_eq!(streams.resume_position(event).is_ok(), is_known, "{event}");
        }
    }

    /// What is too old is passed over, so that the answer is not lost with it.
    #[test]
    fn unknown_position_resumes_at_the_first_kept_message() {
        let mut streams = Streams::default();
        for _ in 0..300 {
            streams.push(COMMON, answer());
        }
        let (number, place) = streams.resume_position("0-3").unwrap();
        let events = streams.get(number).unwrap();
        events.go_to(place);
        assert_eq!(events.take_next().unwrap().event_id.as_deref(), Some("0-45"));
    }
}
