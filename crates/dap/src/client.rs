//! The client: requests go out, replies find their request, everything else is handed on in order.

use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

use crate::codec::{Decoder, Frame, encode};
use crate::messages::{Envelope, IncomingRequest, OutgoingRequest, OutgoingResponse};
use crate::types::{Cancel, CancelArguments, Event, Request};

/// A message longer than this is skipped; its request runs into its deadline. Adapters cut values long
/// before, so only an adapter that went astray comes near it.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The connection is closed.
    #[error("the connection to the debugger is closed")]
    Closed,
    /// No answer came in time.
    #[error("the debugger did not answer `{command}` within {} ms", deadline.as_millis())]
    Deadline {
        /// The request.
        command: &'static str,
        /// How long it was waited for.
        deadline: Duration,
    },
    /// The debugger refused; the text is its own.
    #[error("{message}")]
    Refused {
        /// The request.
        command: &'static str,
        /// The debugger's message, from whichever of its two fields has it.
        message: String,
    },
    /// The answer does not have the shape that the request calls for.
    #[error("cannot read the response to `{command}`: {reason}")]
    Malformed {
        /// The request.
        command: &'static str,
        /// The parser's message.
        reason: String,
    },
}

/// What arrives without having been requested.
#[derive(Debug)]
pub enum Message {
    /// Something happened.
    Event(Event),
    /// The other side's request, which must be answered.
    Request(IncomingRequest),
}

/// Events and reverse requests, in the order of their arrival. Ends when the connection does.
pub type Incoming = mpsc::UnboundedReceiver<Message>;

/// The future that moves the bytes. It ends when the connection or the last [`Client`] is gone.
pub type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A handle to one connection. Clones share it.
#[derive(Clone, Debug)]
pub struct Client {
    outgoing: mpsc::UnboundedSender<Bytes>,
    pending: Arc<Mutex<PendingRequests>>,
}

#[derive(Debug)]
struct PendingRequests {
    next_seq: i64,
    /// `None` once the connection is closed.
    replies: Option<HashMap<i64, oneshot::Sender<Reply>>>,
    /// The debugger takes `cancel`.
    cancels: bool,
}

#[derive(Debug)]
struct Reply {
    success: bool,
    message: Option<String>,
    body: Option<Box<RawValue>>,
}

/// Makes a client of a connection. The caller spawns the driver.
///
/// The reader never waits for a consumer, because a reply may be behind an event that is not consumed yet: the queue
/// of incoming messages is unbounded, and its consumer must drain it.
#[expect(clippy::disallowed_methods, reason = "this is the wire client: its reader must never wait")]
pub fn connect<R, W>(reader: R, writer: W) -> (Client, Incoming, Driver)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (outgoing, frames) = mpsc::unbounded_channel();
    let (events, incoming) = mpsc::unbounded_channel();
    let pending =
        Arc::new(Mutex::new(PendingRequests { next_seq: 1, replies: Some(HashMap::new()), cancels: false }));
    let client = Client { outgoing, pending: Arc::clone(&pending) };
    let driver = async move {
        tokio::select! {
            ended = read(reader, &pending, &events) => if let Err(error) = ended {
                tracing::debug!(%error, "cannot read from the debugger");
            },
            () = write_while_read(writer, frames) => {}
        }
        // Dropping the reply slots notifies the callers that no reply will come.
        lock(&pending).replies = None;
    };
    (client, incoming, Box::pin(driver))
}

impl Client {
    /// Sends a request and waits for its answer, at most for `deadline`.
    ///
    /// Dropping the future abandons the request; the debugger may still act on it, unless it supports cancelling.
    pub async fn request<R: Request>(
        &self,
        arguments: R::Arguments,
        deadline: Duration,
    ) -> Result<R::Response, Error> {
        self.begin::<R>(&arguments, deadline).await
    }

    /// Sends a request at once, whether the answer is waited for or not.
    pub fn begin<R: Request>(
        &self,
        arguments: &R::Arguments,
        deadline: Duration,
    ) -> impl Future<Output = Result<R::Response, Error>> + Send + use<R> {
        let command = R::COMMAND;
        let sent = self.send(command, arguments);
        async move {
            let reply = tokio::time::timeout(deadline, sent?.reply())
                .await
                .map_err(|_| Error::Deadline { command, deadline })??;
            if !reply.success {
                return Err(Error::Refused { command, message: reply.refusal() });
            }
            let body = reply.body.as_deref().map_or("{}", RawValue::get);
            // Some adapters send `null` where the specification requires no body.
            let body = if body == "null" { "{}" } else { body };
            serde_json::from_str(body)
                .map_err(|error| Error::Malformed { command, reason: error.to_string() })
        }
    }

    /// From here on, requests that are dropped before their answer are cancelled at the debugger too. Only for
    /// one that has the capability `supportsCancelRequest`.
    pub fn cancel_dropped_requests(&self) {
        lock(&self.pending).cancels = true;
    }

    /// Answers a reverse request.
    pub fn respond(&self, request: &IncomingRequest, result: Result<Value, String>) {
        let response = OutgoingResponse::new(lock(&self.pending).next(), request, result);
        if let Ok(json) = serde_json::to_vec(&response) {
            // A closed connection needs no answer.
            let _ = self.outgoing.send(encode(&json));
        }
    }

    /// Arrives when the connection has ended, on either side.
    pub async fn closed(&self) {
        self.outgoing.closed().await;
    }

    fn send<A: Serialize>(&self, command: &'static str, arguments: &A) -> Result<PendingRequest, Error> {
        let (slot, reply) = oneshot::channel();
        let seq = {
            let mut pending = lock(&self.pending);
            let seq = pending.next();
            pending.replies.as_mut().ok_or(Error::Closed)?.insert(seq, slot);
            seq
        };
        let waiting = PendingRequest { client: self.clone(), seq, reply };
        let request = OutgoingRequest { seq, kind: "request", command, arguments };
        let json = serde_json::to_vec(&request)
            .map_err(|error| Error::Malformed { command, reason: error.to_string() })?;
        tracing::trace!(seq, command, "request");
        self.outgoing.send(encode(&json)).map_err(|_| Error::Closed)?;
        Ok(waiting)
    }
}

/// A request in flight. Its slot goes when it is dropped, answered or not.
struct PendingRequest {
    client: Client,
    seq: i64,
    reply: oneshot::Receiver<Reply>,
}

impl PendingRequest {
    async fn reply(mut self) -> Result<Reply, Error> {
        (&mut self.reply).await.map_err(|_| Error::Closed)
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        let mut pending = lock(&self.client.pending);
        let cancels = pending.cancels;
        let unanswered = pending.replies.as_mut().is_some_and(|replies| replies.remove(&self.seq).is_some());
        if !(unanswered && cancels) {
            return;
        }
        let arguments = CancelArguments { request_id: self.seq };
        let cancel = OutgoingRequest {
            seq: pending.next(),
            kind: "request",
            command: Cancel::COMMAND,
            arguments: &arguments,
        };
        if let Ok(json) = serde_json::to_vec(&cancel) {
            // A closed connection has nothing to cancel.
            let _ = self.client.outgoing.send(encode(&json));
        }
    }
}

impl PendingRequests {
    fn next(&mut self) -> i64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        seq
    }
}

impl Reply {
    /// The debugger's words. The specification puts them into `body.error.format`, and a short code into
    /// `message`; many adapters use `message` alone, and some `body.message`.
    fn refusal(&self) -> String {
        let body: Value =
            self.body.as_deref().and_then(|body| serde_json::from_str(body.get()).ok()).unwrap_or_default();
        let text = |at: &str| body.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        let variables = body.pointer("/error/variables").and_then(Value::as_object);
        let detail = variables.into_iter().flatten().fold(text("/error/format"), |text, (name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
            text.replace(&format!("{{{name}}}"), &value)
        });
        let message = self.message.clone().unwrap_or_default();
        [detail, message, text("/message")].into_iter().find(|text| !text.is_empty()).unwrap_or_default()
    }
}

/// Nothing panics while the lock is held, and the table is whole between any two statements.
fn lock(pending: &Mutex<PendingRequests>) -> MutexGuard<'_, PendingRequests> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn read<R: AsyncRead + Unpin>(
    mut reader: R,
    pending: &Mutex<PendingRequests>,
    events: &mpsc::UnboundedSender<Message>,
) -> io::Result<()> {
    let mut decoder = Decoder::new(MAX_MESSAGE);
    loop {
        if reader.read_buf(decoder.buffer()).await? == 0 {
            return Ok(());
        }
        while let Some(frame) = decoder.next_frame().map_err(io::Error::other)? {
            match frame {
                Frame::Message(json) => dispatch(&json, pending, events),
                Frame::TooLarge(size) => tracing::warn!(size, "skipped a message over the size limit"),
            }
        }
    }
}

fn dispatch(json: &[u8], pending: &Mutex<PendingRequests>, events: &mpsc::UnboundedSender<Message>) {
    let envelope: Envelope<'_> = match serde_json::from_slice(json) {
        Ok(envelope) => envelope,
        Err(error) => {
            tracing::warn!(%error, "skipped a malformed message");
            return;
        }
    };
    match &*envelope.kind {
        "response" => {
            let slot =
                lock(pending).replies.as_mut().and_then(|replies| replies.remove(&envelope.request_seq));
            let Some(slot) = slot else {
                tracing::debug!(request_seq = envelope.request_seq, "skipped a response without a request");
                return;
            };
            // The caller may have given up since.
            let _ = slot.send(Reply {
                success: envelope.success,
                message: envelope.message,
                body: envelope.body.map(ToOwned::to_owned),
            });
        }
        "event" => {
            let name = envelope.event.unwrap_or_default();
            let event = Event::parse(&name, envelope.body.map_or("{}", RawValue::get));
            // The receiver is gone when the session is ending.
            let _ = events.send(Message::Event(event));
        }
        "request" => {
            let _ = events.send(Message::Request(envelope.into_request()));
        }
        kind => tracing::warn!(kind, "skipped a message of unknown type"),
    }
}

/// Ends when the last client is gone. A debugger that accepts no more messages may have sent something before, such
/// as how the program ended: the reader decides whether it is gone.
async fn write_while_read<W: AsyncWrite + Unpin>(writer: W, mut frames: mpsc::UnboundedReceiver<Bytes>) {
    if let Err(error) = write(writer, &mut frames).await {
        tracing::debug!(%error, "cannot write to the debugger");
        while frames.recv().await.is_some() {}
    }
}

async fn write<W: AsyncWrite + Unpin>(
    mut writer: W,
    frames: &mut mpsc::UnboundedReceiver<Bytes>,
) -> io::Result<()> {
    while let Some(frame) = frames.recv().await {
        writer.write_all(&frame).await?;
        if frames.is_empty() {
            writer.flush().await?;
        }
    }
    writer.shutdown().await
}

#[cfg(test)]
mod tests;
