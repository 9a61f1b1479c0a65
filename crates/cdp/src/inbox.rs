//! Dispatches arriving messages: to a waiting caller, to the consumer of events, or to a worker.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::client::{Client, Failure, Incoming, Message, PendingCommands, Reply, Worker, lock};
use crate::text::{addressee, without_lone_surrogates};
use crate::types::{Event, node_worker};

/// Takes every message of a connection and gives it to whom it concerns.
///
/// Workers of workers need no care: Node attaches all of them to the main thread.
pub(crate) struct Inbox {
    main: Thread,
    /// By their session ids.
    workers: HashMap<String, Thread>,
    frames: mpsc::WeakUnboundedSender<String>,
    limit: usize,
}

/// A thread of JavaScript, identified by its messages. When it is dropped, its callers learn that no reply will come.
struct Thread {
    pending: Arc<Mutex<PendingCommands>>,
    events: mpsc::UnboundedSender<Message>,
}

impl Inbox {
    pub(crate) fn new(
        pending: &Arc<Mutex<PendingCommands>>,
        frames: mpsc::WeakUnboundedSender<String>,
        limit: usize,
    ) -> (Self, Incoming) {
        let (main, incoming) = Thread::new(pending);
        (Self { main, workers: HashMap::new(), frames, limit }, incoming)
    }

    /// Takes the text of one message.
    pub(crate) fn receive(&mut self, json: &str) {
        if json.len() > self.limit {
            self.skip(json);
        } else if let Some(event) = self.main.answer_or_read(json) {
            self.happened(event);
        }
    }

    fn happened(&mut self, event: Event) {
        match event {
            Event::ReceivedMessageFromWorker(received) => {
                let Some(worker) = self.workers.get(&received.session_id) else {
                    tracing::debug!(
                        session_id = received.session_id,
                        "skipped a message of an unknown worker"
                    );
                    return;
                };
                if let Some(event) = worker.answer_or_read(&received.message) {
                    worker.hand_on(Message::Event(event));
                }
            }
            Event::AttachedToWorker(attached) => {
                let worker = self.attach(attached);
                self.main.hand_on(Message::Worker(Box::new(worker)));
            }
            Event::DetachedFromWorker(detached) => {
                self.workers.remove(&detached.session_id);
                self.main.hand_on(Message::Event(Event::DetachedFromWorker(detached)));
            }
            event => self.main.hand_on(Message::Event(event)),
        }
    }

    fn attach(&mut self, attached: node_worker::AttachedToWorker) -> Worker {
        let pending = PendingCommands::shared();
        let (thread, incoming) = Thread::new(&pending);
        let session_id = attached.session_id.clone();
        self.workers.insert(session_id.clone(), thread);
        let main = Arc::clone(&self.main.pending);
        let client = Client::of_worker(session_id, self.frames.clone(), main, pending);
        Worker { attached, client, incoming }
    }

    /// Fails the command that a message over the limit belongs to; an event of that size is lost.
    fn skip(&self, json: &str) {
        tracing::warn!(length = json.len(), "skipped a message over the size limit");
        let Some((session_id, id)) = addressee(json) else { return };
        let thread = session_id.map_or(Some(&self.main), |session_id| self.workers.get(session_id));
        if let Some(thread) = thread {
            thread.answer(id, Err(Failure::TooLong { length: json.len(), limit: self.limit }));
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<i64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<ErrorReply>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorReply {
    code: i64,
    message: String,
    /// Which parameter is wrong, for example.
    data: Option<String>,
}

impl Thread {
    #[expect(clippy::disallowed_methods, reason = "this is the wire client: its reader must never wait")]
    fn new(pending: &Arc<Mutex<PendingCommands>>) -> (Self, Incoming) {
        let (events, incoming) = mpsc::unbounded_channel();
        (Self { pending: Arc::clone(pending), events }, incoming)
    }

    /// Gives a reply to its caller, or returns the event.
    fn answer_or_read(&self, json: &str) -> Option<Event> {
        let json = without_lone_surrogates(json);
        let envelope: Envelope<'_> = match serde_json::from_str(&json) {
            Ok(envelope) => envelope,
            Err(error) => {
                tracing::warn!(%error, "skipped a malformed message");
                return None;
            }
        };
        match envelope {
            Envelope { method: Some(method), params, .. } => {
                return Some(Event::parse(&method, params.map_or("{}", RawValue::get)));
            }
            Envelope { id: Some(id), error: None, result, .. } => {
                self.answer(id, Ok(result.map(ToOwned::to_owned)));
            }
            Envelope { id: Some(id), error: Some(ErrorReply { code, message, data }), .. } => {
                let message = data.map(|data| format!("{message}: {data}")).unwrap_or(message);
                self.answer(id, Err(Failure::Refused { code, message }));
            }
            Envelope { error: Some(refusal), .. } => {
                tracing::warn!(refusal.code, refusal.message, "the debugger refused an unknown command");
            }
            _ => tracing::warn!("skipped a message without ID and method"),
        }
        None
    }

    fn answer(&self, id: i64, reply: Reply) {
        let Some(slot) = lock(&self.pending).take(id) else {
            tracing::trace!(id, "skipped a response without a request");
            return;
        };
        // The caller may have given up since.
        let _ = slot.send(reply);
    }

    fn hand_on(&self, message: Message) {
        // The receiver is gone when the session is ending.
        let _ = self.events.send(message);
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        lock(&self.pending).close();
    }
}
