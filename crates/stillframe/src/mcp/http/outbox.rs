//! What a server sends in one MCP session, kept until the client has it.
//!
//! Each call has its own stream for its progress, its requests to the client and its answer; everything else goes to stream 0, which a client
//! opens with GET. Events are numbered in each stream, so that a client whose connection was cut resumes a stream
//! where it was (2025-11-25, "Resumability and Redelivery"). Nothing here waits for a client: one that does not read
//! loses the oldest events. What is kept, and for how long, is in `outbox/streams.rs`.

mod streams;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use futures_util::Stream;
use futures_util::stream::unfold;
use rmcp::model::{
    ClientRequest, GetExtensions as _, GetMeta, JsonRpcMessage, JsonRpcRequest, ProgressToken, RequestId,
    ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::OriginatingRequestId;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use tokio::sync::watch;

use self::streams::{COMMON, Streams, name_event};

/// The calls that may be without an answer.
const CALLS: usize = 64;
/// Readers of one stream. They are connections, of which other sessions need some too.
const READERS: usize = 4;
/// How long a client should wait before it resumes a stream.
const RETRY: Duration = Duration::from_secs(1);

/// Everything that was sent. It is shared by the session, which writes, and the streams, which read.
pub(super) struct Outbox {
    state: Mutex<State>,
    /// Wakes readers.
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    streams: Streams,
    requests: HashMap<RequestId, u64>,
    progress: HashMap<ProgressToken, u64>,
    /// Numbers streams and readers.
    last: u64,
    /// A stream begins with an event that says nothing, for clients that know of it (from 2025-11-25).
    primes: bool,
    /// Nothing more comes.
    closed: bool,
}

/// Why the stream does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamError {
    /// A request with that id waits for its answer.
    TakenId,
    /// Too many calls wait for their answers.
    TooManyCalls,
    /// Nothing comes after the event, or it is none of the session's.
    UnknownEvent,
    /// This many listen already.
    TooManyReaders,
    /// The session has ended.
    Closed,
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TakenId => {
                f.write_str("a request with this ID is already pending: use a new ID for each request")
            }
            Self::TooManyCalls => {
                write!(f, "{CALLS} calls are pending, which is the limit: wait for one, or cancel it")
            }
            Self::UnknownEvent => f.write_str(
                "nothing to resume after this `Last-Event-ID`: its call has ended, or the event is unknown \
                 or expired",
            ),
            Self::TooManyReaders => {
                write!(f, "{READERS} streams of this session are open, which is the limit: close one")
            }
            Self::Closed => f.write_str("the session has ended"),
        }
    }
}

impl std::error::Error for StreamError {}

impl Outbox {
    /// Nothing yet.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), changed: watch::Sender::new(()) })
    }

    /// From now on, streams begin with an event that says nothing.
    pub(super) fn prime(&self) {
        self.lock().primes = true;
    }

    /// Whether a request could be taken.
    pub(super) fn admits(&self, id: &RequestId) -> Result<(), StreamError> {
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
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, StreamError> {
        let mut state = self.lock();
        state.admits(&request.id)?;
        state.last += 1;
        let number = state.last;
        state.requests.insert(request.id.clone(), number);
        if let Some(token) = request.request.get_meta().get_progress_token() {
            state.progress.insert(token, number);
        }
        state.streams.open(number);
        let primes = state.primes;
        drop(state);
        self.read(number, None, primes)
    }

    /// Expects the answer of a call on the stream of everything else, as the transport of 2024-11-05 has it.
    pub(super) fn expect(&self, request: &JsonRpcRequest<ClientRequest>) -> Result<(), StreamError> {
        let mut state = self.lock();
        state.admits(&request.id)?;
        state.requests.insert(request.id.clone(), COMMON);
        Ok(())
    }

    /// Whether a stream could be opened that belongs to no call, or resumed after an event.
    pub(super) fn admits_reader(&self, resume_position: Option<&str>) -> Result<(), StreamError> {
        let mut state = self.lock();
        match resume_position {
            Some(event) => state.streams.resume_position(event).map(|_| ()),
            None if state.streams.get(COMMON)?.readers.len() >= READERS => Err(StreamError::TooManyReaders),
            None => Ok(()),
        }
    }

    /// Opens the stream of everything else.
    pub(super) fn open_common(
        self: &Arc<Self>,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, StreamError> {
        self.admits_reader(None)?;
        let primes = self.lock().primes;
        self.read(COMMON, None, primes)
    }

    /// Resumes a stream after an event.
    pub(super) fn resume(
        self: &Arc<Self>,
        event: &str,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, StreamError> {
        let (stream, place) = self.lock().streams.resume_position(event)?;
        self.read(stream, Some(place), false)
    }

    fn read(
        self: &Arc<Self>,
        stream: u64,
        resume_position: Option<u64>,
        primes: bool,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + use<>, StreamError> {
        let mut state = self.lock();
        state.last += 1;
        let number = state.last;
        let events = state.streams.get(stream)?;
        match resume_position {
            // The connection that was cut may still seem to read. One that waits gives way, so that there is room.
            Some(place) => {
                events.go_to(place);
                events.readers.push_front(number);
                events.readers.truncate(READERS);
            }
            None => events.readers.push_back(number),
        }
        let primer = primes.then(|| ServerSseMessage::priming(name_event(stream, events.next), RETRY));
        drop(state);
        self.changed.send_replace(());
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
            // A cancelled call no longer has a stream, and its answer does not belong on another.
            let Some(stream) = id.and_then(|id| state.requests.remove(id)) else { return };
            if stream == COMMON {
                state.streams.push(COMMON, message);
            } else {
                state.streams.push_answer(stream, message);
                state.forget_progress(stream);
            }
        } else {
            let of_call = state.stream_of_progress(&message).or_else(|| state.stream_of_request(&message));
            state.streams.push(of_call.unwrap_or(COMMON), message);
        }
        drop(state);
        self.changed.send_replace(());
    }

    /// A call was given up and is not answered. Its stream ends, and cannot be resumed: clients that could would
    /// wait for the answer.
    pub(super) fn cancel(&self, id: &RequestId) {
        let mut state = self.lock();
        if let Some(stream) = state.requests.remove(id)
            && stream != COMMON
        {
            state.forget_progress(stream);
            state.streams.forget(stream);
        }
        drop(state);
        self.changed.send_replace(());
    }

    /// Waits for the answers of all calls, ends all streams, and waits until what was sent is read.
    pub(super) async fn drain(&self) {
        self.until(|state| state.requests.is_empty()).await;
        self.close();
        self.until(|state| state.streams.are_unread()).await;
    }

    async fn until(&self, is_so: impl Fn(&State) -> bool) {
        let mut changed = self.changed.subscribe();
        while !is_so(&self.lock()) && changed.changed().await.is_ok() {}
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
    fn admits(&self, id: &RequestId) -> Result<(), StreamError> {
        if self.closed {
            Err(StreamError::Closed)
        } else if self.requests.contains_key(id) {
            Err(StreamError::TakenId)
        } else if self.requests.len() >= CALLS {
            Err(StreamError::TooManyCalls)
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

    /// A request to the client belongs to the call that it was sent for.
    fn stream_of_request(&self, message: &ServerJsonRpcMessage) -> Option<u64> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let call = request.request.extensions().get::<OriginatingRequestId>()?;
        self.requests.get(&call.0).copied()
    }

    fn forget_progress(&mut self, stream: u64) {
        self.progress.retain(|_, of| *of != stream);
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
    /// The next event; none at the end.
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
        let Ok(events) = state.streams.get(self.stream) else { return Poll::Ready(None) };
        if events.readers.front() == Some(&self.number)
            && let Some(event) = events.take_next()
        {
            return Poll::Ready(Some(event));
        }
        let is_over = (closed || events.is_answered()) && events.is_sent();
        let gave_way = !events.readers.contains(&self.number);
        if is_over || gave_way { Poll::Ready(None) } else { Poll::Pending }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Ok(events) = self.outbox.lock().streams.get(self.stream) {
            events.readers.retain(|reader| *reader != self.number);
        }
        self.outbox.changed.send_replace(());
    }
}
