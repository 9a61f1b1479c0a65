//! What a server sends in one MCP session, kept until the client has it.
//!
//! Each call has a stream of its own, on which its progress and its answer go; everything else goes on stream 0,
//! which a client opens by GET. Events are numbered in each stream, so that a client whose connection was cut
//! takes a stream up again where it was (2025-11-25, "Resumability and Redelivery"). Nothing here waits for a
//! client: one that does not read loses what is oldest.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::Stream;
use futures_util::stream::unfold;
use rmcp::model::{
    ClientRequest, GetMeta, JsonRpcMessage, JsonRpcRequest, ProgressToken, RequestId, ServerJsonRpcMessage,
    ServerNotification,
};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::watch;

/// The events that are kept of a stream.
const EVENTS: usize = 256;
/// The calls that may be without an answer.
const CALLS: usize = 64;
/// The streams that are kept after their answer.
const ANSWERED: usize = 16;
/// For how long they are.
const KEPT: Duration = Duration::from_mins(2);
/// How long a client should wait before it takes a stream up again.
const RETRY: Duration = Duration::from_secs(1);
/// What belongs to no call.
const COMMON: u64 = 0;

/// Everything that was sent. It is shared by the session, which writes, and the streams, which read.
pub(super) struct Outbox {
    state: Mutex<State>,
    /// Tells readers to look.
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    streams: HashMap<u64, Events>,
    requests: HashMap<RequestId, u64>,
    progress: HashMap<ProgressToken, u64>,
    /// Numbers streams and readers.
    last: u64,
    /// A stream begins with an event that says nothing, for clients that know of it (from 2025-11-25).
    primes: bool,
    /// Nothing more comes.
    closed: bool,
}

/// One stream.
#[derive(Default)]
struct Events {
    kept: VecDeque<ServerSseMessage>,
    /// The place of the first one that is kept.
    first: u64,
    /// The place of the next one to send.
    next: u64,
    /// Those who read, the first of whom is sent the events. The others come up when it goes.
    readers: VecDeque<u64>,
    /// When its call was answered.
    answered: Option<Instant>,
}

/// Why there is no such stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// A request with that id waits for its answer.
    TakenId,
    /// Too many calls wait for their answers.
    TooManyCalls,
    /// It is none of the session's events, or too old.
    UnknownEvent,
    /// The session is over.
    Closed,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakenId => f.write_str("a request with this id waits for its answer: give each its own"),
            Self::TooManyCalls => {
                write!(f, "{CALLS} calls wait for their answers: wait for one, or cancel it")
            }
            Self::UnknownEvent => f.write_str("this event is not known, or not any more"),
            Self::Closed => f.write_str("the session is over"),
        }
    }
}

impl std::error::Error for Refused {}

impl Outbox {
    /// Nothing yet.
    pub(super) fn new() -> Arc<Self> {
        let mut state = State::default();
        state.streams.insert(COMMON, Events::default());
        Arc::new(Self { state: Mutex::new(state), changed: watch::Sender::new(()) })
    }

    /// From now on, streams begin with an event that says nothing.
    pub(super) fn prime(&self) {
        self.lock().primes = true;
    }

    /// Whether a request could be taken.
    pub(super) fn admits(&self, id: &RequestId) -> Result<(), Refused> {
        self.lock().admits(id)
    }

    /// The calls that are without an answer.
    pub(super) fn open_calls(&self) -> usize {
        self.lock().requests.len()
    }

    /// Opens the stream of a call.
    pub(super) fn open(
        self: &Arc<Self>,
        request: &JsonRpcRequest<ClientRequest>,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, Refused> {
        let mut state = self.lock();
        state.admits(&request.id)?;
        state.forget_answered();
        state.last += 1;
        let number = state.last;
        state.requests.insert(request.id.clone(), number);
        if let Some(token) = request.request.get_meta().get_progress_token() {
            state.progress.insert(token, number);
        }
        state.streams.insert(number, Events::default());
        let primes = state.primes;
        drop(state);
        self.read(number, None, primes)
    }

    /// Opens the stream of everything else.
    pub(super) fn open_common(
        self: &Arc<Self>,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, Refused> {
        let primes = self.lock().primes;
        self.read(COMMON, None, primes)
    }

    /// Takes up a stream behind an event.
    pub(super) fn resume(
        self: &Arc<Self>,
        event: &str,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, Refused> {
        let (stream, place) = parse_event(event).ok_or(Refused::UnknownEvent)?;
        self.read(stream, Some(place), false)
    }

    fn read(
        self: &Arc<Self>,
        stream: u64,
        behind: Option<u64>,
        primes: bool,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, Refused> {
        let mut state = self.lock();
        state.last += 1;
        let number = state.last;
        let events = state.streams.get_mut(&stream).ok_or(Refused::UnknownEvent)?;
        match behind {
            // The connection that was cut may still seem to read.
            Some(place) => {
                events.next = place.clamp(events.first, events.end());
                events.readers.push_front(number);
            }
            None => events.readers.push_back(number),
        }
        let primer = primes.then(|| ServerSseMessage::priming(name_event(stream, events.next), RETRY));
        drop(state);
        let changed = self.changed.subscribe();
        let reader = Reader { outbox: Arc::clone(self), stream, number, changed, primer };
        Ok(unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) }))
    }

    /// Sends a message on the stream that it belongs to.
    pub(super) fn send(&self, message: ServerJsonRpcMessage) {
        let mut state = self.lock();
        let answers = match &message {
            JsonRpcMessage::Response(response) => Some(Some(&response.id)),
            JsonRpcMessage::Error(error) => Some(error.id.as_ref()),
            _ => None,
        };
        if let Some(id) = answers {
            // What was cancelled has no stream any more, and its answer belongs on no other.
            let Some(stream) = id.and_then(|id| state.requests.remove(id)) else { return };
            state.push(stream, message);
            state.finish(stream);
        } else {
            let stream = state.stream_of_progress(&message).unwrap_or(COMMON);
            state.push(stream, message);
        }
        drop(state);
        self.changed.send_replace(());
    }

    /// A call was given up and is not answered.
    pub(super) fn cancel(&self, id: &RequestId) {
        let mut state = self.lock();
        if let Some(stream) = state.requests.remove(id) {
            state.finish(stream);
        }
        drop(state);
        self.changed.send_replace(());
    }

    /// Ends all streams, once what was sent is read.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.send_replace(());
    }

    /// Nothing panics while the lock is held, so a poisoned one is as good.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn admits(&self, id: &RequestId) -> Result<(), Refused> {
        if self.closed {
            Err(Refused::Closed)
        } else if self.requests.contains_key(id) {
            Err(Refused::TakenId)
        } else if self.requests.len() >= CALLS {
            Err(Refused::TooManyCalls)
        } else {
            Ok(())
        }
    }

    fn stream_of_progress(&self, message: &ServerJsonRpcMessage) -> Option<u64> {
        let JsonRpcMessage::Notification(notification) = message else { return None };
        let ServerNotification::ProgressNotification(progress) = &notification.notification else {
            return None;
        };
        self.progress.get(&progress.params.progress_token).copied()
    }

    fn push(&mut self, stream: u64, message: ServerJsonRpcMessage) {
        let Some(events) = self.streams.get_mut(&stream) else { return };
        let name = name_event(stream, events.end() + 1);
        events.kept.push_back(ServerSseMessage::new(name, message));
        if events.kept.len() > EVENTS {
            events.kept.pop_front();
            events.first += 1;
            events.next = events.next.max(events.first);
        }
    }

    fn finish(&mut self, stream: u64) {
        self.progress.retain(|_, of| *of != stream);
        if let Some(events) = self.streams.get_mut(&stream) {
            events.answered = Some(Instant::now());
        }
    }

    /// Streams whose answers were not asked for again.
    fn forget_answered(&mut self) {
        self.streams.retain(|_, events| {
            !events.readers.is_empty() || events.answered.is_none_or(|since| since.elapsed() < KEPT)
        });
        let answered = self.streams.iter().filter(|(_, events)| events.readers.is_empty());
        let mut answered: Vec<(Instant, u64)> =
            answered.filter_map(|(number, events)| Some((events.answered?, *number))).collect();
        answered.sort_unstable();
        for (_, number) in answered.iter().rev().skip(ANSWERED) {
            self.streams.remove(number);
        }
    }
}

impl Events {
    /// The next one to send, which is sent thereby.
    fn take_next(&mut self) -> Option<ServerSseMessage> {
        let at = usize::try_from(self.next.saturating_sub(self.first)).ok()?;
        let event = self.kept.get(at)?.clone();
        self.next += 1;
        Some(event)
    }

    /// The place behind the last one.
    fn end(&self) -> u64 {
        self.first + u64::try_from(self.kept.len()).unwrap_or(u64::MAX)
    }
}

/// One connection's view of a stream.
struct Reader {
    outbox: Arc<Outbox>,
    stream: u64,
    number: u64,
    changed: watch::Receiver<()>,
    primer: Option<ServerSseMessage>,
}

impl Reader {
    /// The next event; none when no more comes.
    async fn next(&mut self) -> Option<ServerSseMessage> {
        if let Some(primer) = self.primer.take() {
            return Some(primer);
        }
        loop {
            self.changed.mark_unchanged();
            match self.look() {
                Poll::Ready(event) => return event,
                Poll::Pending => self.changed.changed().await.ok()?,
            }
        }
    }

    /// What there is for this reader now: an event, nothing yet, or nothing ever.
    fn look(&self) -> Poll<Option<ServerSseMessage>> {
        let mut state = self.outbox.lock();
        let closed = state.closed;
        let Some(events) = state.streams.get_mut(&self.stream) else { return Poll::Ready(None) };
        if events.readers.front() == Some(&self.number)
            && let Some(event) = events.take_next()
        {
            return Poll::Ready(Some(event));
        }
        let is_over = closed || events.answered.is_some();
        if is_over && events.next >= events.end() { Poll::Ready(None) } else { Poll::Pending }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(events) = self.outbox.lock().streams.get_mut(&self.stream) {
            events.readers.retain(|reader| *reader != self.number);
        }
        self.outbox.changed.send_replace(());
    }
}

/// `STREAM-PLACE`: so many events of that stream have been received.
fn name_event(stream: u64, place: u64) -> String {
    format!("{stream}-{place}")
}

fn parse_event(name: &str) -> Option<(u64, u64)> {
    let (stream, place) = name.split_once('-')?;
    Some((stream.parse().ok()?, place.parse().ok()?))
}
