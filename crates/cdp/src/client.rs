//! The client: commands go out, replies find their command, everything else is handed on in order.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite;

use crate::error::Error;
use crate::inbox::Inbox;
use crate::text::to_ascii;
use crate::types::{Command, Event, node_worker};

/// What arrives without having been requested.
#[derive(Debug)]
pub enum Message {
    /// Something happened.
    Event(Event),
    /// A worker thread has started, or had before `NodeWorker.enable`.
    Worker(Box<Worker>),
}

/// A worker thread: a debuggee of its own, on the connection of its main thread.
#[derive(Debug)]
pub struct Worker {
    /// What the main thread says about it.
    pub attached: node_worker::AttachedToWorker,
    /// Speaks to it. It does not keep the connection open.
    pub client: Client,
    /// What it says. Ends when the worker or the connection does.
    pub incoming: Incoming,
}

/// Events and workers, in the order of their arrival. Ends when the connection does.
pub type Incoming = mpsc::UnboundedReceiver<Message>;

/// The future that moves the bytes. It ends when the connection or the last [`Client`] is gone.
pub type Driver = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A handle to one thread of JavaScript. Clones share it.
#[derive(Clone, Debug)]
pub struct Client {
    outgoing: Route,
    pending: Arc<Mutex<PendingCommands>>,
}

/// The way to a thread.
#[derive(Clone, Debug)]
enum Route {
    /// Over the socket.
    Socket(mpsc::UnboundedSender<String>),
    /// Wrapped, through the main thread.
    Worker {
        session_id: String,
        frames: mpsc::WeakUnboundedSender<String>,
        main: Arc<Mutex<PendingCommands>>,
    },
}

/// The commands in flight.
#[derive(Debug)]
pub(crate) struct PendingCommands {
    next_id: i64,
    /// `None` once the connection is closed.
    replies: Option<HashMap<i64, oneshot::Sender<Reply>>>,
}

/// What became of a command.
pub(crate) type Reply = Result<Option<Box<RawValue>>, Failure>;

/// Why a reply has no result.
#[derive(Debug)]
pub(crate) enum Failure {
    Refused { code: i64, message: String },
    TooLong { length: usize, limit: usize },
}

/// Makes a client of a WebSocket. Messages longer than the limit are dropped.
///
/// The reader never waits for a consumer, because a reply may be behind an event that is not consumed yet: the queue
/// of incoming messages is unbounded, and its consumer must drain it.
#[expect(clippy::disallowed_methods, reason = "this is the wire client: its reader must never wait")]
pub(crate) fn start<S>(socket: WebSocketStream<S>, limit: usize) -> (Client, Incoming, Driver)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (outgoing, frames) = mpsc::unbounded_channel();
    let pending = PendingCommands::shared();
    let (mut inbox, incoming) = Inbox::new(&pending, outgoing.downgrade(), limit);
    let client = Client { outgoing: Route::Socket(outgoing), pending };
    let driver = async move {
        let (sink, stream) = socket.split();
        // When the inbox is dropped, every caller learns that no reply will come, even if this future is dropped.
        tokio::select! {
            ended = read(stream, &mut inbox) => if let Err(error) = ended {
                tracing::debug!(%error, "cannot read from the debugger");
            },
            () = write_while_read(sink, frames) => {}
        }
    };
    (client, incoming, Box::pin(driver))
}

impl Client {
    /// A client of a worker, by way of the main thread.
    pub(crate) fn of_worker(
        session_id: String,
        frames: mpsc::WeakUnboundedSender<String>,
        main: Arc<Mutex<PendingCommands>>,
        pending: Arc<Mutex<PendingCommands>>,
    ) -> Self {
        Self { outgoing: Route::Worker { session_id, frames, main }, pending }
    }

    /// Sends a command and waits for its result, at most for `deadline`.
    ///
    /// Dropping the future forgets the command; the debugger may still act on it.
    pub async fn request<C: Command>(&self, command: C, deadline: Duration) -> Result<C::Result, Error> {
        let waiting = self.send(&command)?;
        let command = C::METHOD;
        let reply = tokio::time::timeout(deadline, waiting.reply())
            .await
            .map_err(|_| Error::Deadline { command, deadline })??;
        let result = reply.map_err(|failure| failure.of(command))?;
        let result = result.as_deref().map_or("{}", RawValue::get);
        serde_json::from_str(result).map_err(|error| Error::Malformed { command, reason: error.to_string() })
    }

    fn send<C: Command>(&self, command: &C) -> Result<PendingCommand<'_>, Error> {
        let (slot, reply) = oneshot::channel();
        let id = {
            let mut pending = lock(&self.pending);
            let id = pending.next();
            pending.replies.as_mut().ok_or(Error::Closed)?.insert(id, slot);
            id
        };
        let waiting = PendingCommand { client: self, id, reply };
        tracing::trace!(id, command = C::METHOD, "command");
        self.outgoing.send(frame(id, command)?)?;
        Ok(waiting)
    }
}

impl Route {
    fn send(&self, frame_for_it: String) -> Result<(), Error> {
        match self {
            Self::Socket(frames) => frames.send(frame_for_it).map_err(|_| Error::Closed),
            Self::Worker { session_id, frames, main } => {
                let frames = frames.upgrade().ok_or(Error::Closed)?;
                // The answer is ignored: the result is the same whether the worker is alive or not.
                let id = lock(main).next();
                let session_id = session_id.clone();
                let wrapped = node_worker::SendMessageToWorker { message: frame_for_it, session_id };
                frames.send(frame(id, &wrapped)?).map_err(|_| Error::Closed)
            }
        }
    }
}

/// A command as it goes over the wire.
fn frame<C: Command>(id: i64, params: &C) -> Result<String, Error> {
    #[derive(Serialize)]
    struct Frame<'a, C> {
        id: i64,
        method: &'static str,
        params: &'a C,
    }
    let command = C::METHOD;
    to_ascii(&Frame { id, method: command, params })
        .map_err(|error| Error::Malformed { command, reason: error.to_string() })
}

/// A command in flight. Its slot goes when it is dropped, answered or not.
struct PendingCommand<'a> {
    client: &'a Client,
    id: i64,
    reply: oneshot::Receiver<Reply>,
}

impl PendingCommand<'_> {
    async fn reply(mut self) -> Result<Reply, Error> {
        (&mut self.reply).await.map_err(|_| Error::Closed)
    }
}

impl Drop for PendingCommand<'_> {
    fn drop(&mut self) {
        lock(&self.client.pending).take(self.id);
    }
}

impl PendingCommands {
    pub(crate) fn shared() -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { next_id: 1, replies: Some(HashMap::new()) }))
    }

    /// The slot of a command, which has none afterwards.
    pub(crate) fn take(&mut self, id: i64) -> Option<oneshot::Sender<Reply>> {
        self.replies.as_mut()?.remove(&id)
    }

    /// Dropping the slots notifies the callers that no reply will come.
    pub(crate) fn close(&mut self) {
        self.replies = None;
    }

    fn next(&mut self) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }
}

impl Failure {
    fn of(self, command: &'static str) -> Error {
        match self {
            Self::Refused { code, message } => Error::Refused { command, code, message },
            Self::TooLong { length, limit } => {
                let reason = format!("it has {length} bytes, above the limit of {limit}");
                Error::Malformed { command, reason }
            }
        }
    }
}

/// Nothing panics while the lock is held, and the table is whole between any two statements.
pub(crate) fn lock(pending: &Mutex<PendingCommands>) -> MutexGuard<'_, PendingCommands> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn read<S>(
    mut stream: SplitStream<WebSocketStream<S>>,
    inbox: &mut Inbox,
) -> Result<(), tungstenite::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = stream.next().await {
        match message? {
            tungstenite::Message::Text(text) => inbox.receive(&text),
            tungstenite::Message::Close(_) => return Ok(()),
            other => tracing::warn!(length = other.len(), "skipped a message that is not text"),
        }
    }
    Ok(())
}

/// Ends when the last client is gone. An inspector that accepts no more messages may have sent something before, such
/// as that the program has ended: the reader decides whether it is gone.
async fn write_while_read<S>(
    sink: SplitSink<WebSocketStream<S>, tungstenite::Message>,
    mut frames: mpsc::UnboundedReceiver<String>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    if let Err(error) = write(sink, &mut frames).await {
        tracing::debug!(%error, "cannot write to the debugger");
        while frames.recv().await.is_some() {}
    }
}

async fn write<S>(
    mut sink: SplitSink<WebSocketStream<S>, tungstenite::Message>,
    frames: &mut mpsc::UnboundedReceiver<String>,
) -> Result<(), tungstenite::Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(frame) = frames.recv().await {
        sink.feed(tungstenite::Message::text(frame)).await?;
        if frames.is_empty() {
            sink.flush().await?;
        }
    }
    sink.close().await
}

#[cfg(test)]
mod tests;
