//! One connection, from its first message to its last.

use std::pin::Pin;
use std::sync::Arc;

use dap::server::{RequestReader, Unreadable};
use dap::{IncomingRequest, Request};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::time::{Instant, sleep_until, timeout};

use crate::admission::admit;
use crate::control::is_resume;
use crate::editor::Editor;
use crate::endpoint::Exposed;
use crate::limits;
use crate::news::{EditorUpdates, UpdatesState};
use crate::outgoing::{Answer, EditorGone, Outgoing};

/// Serves a client until it leaves, the program ends, or the session is exposed no longer.
pub(crate) async fn serve(stream: TcpStream, exposed: Arc<Exposed>) {
    // It costs only speed when this fails.
    let _ = stream.set_nodelay(true);
    let (reader, writer) = stream.into_split();
    let mut requests = RequestReader::new(reader, limits::MESSAGE_BEFORE);
    let mut out = Outgoing::new(writer);
    let admitted = tokio::select! {
        () = exposed.over.cancelled() => return,
        admitted = timeout(limits::ADMISSION, admit(&mut requests, &mut out, &exposed)) => admitted,
    };
    let said = match admitted {
        Ok(Ok(Some(admitted))) => {
            requests.set_limit(limits::MESSAGE);
            let _busy = exposed.session.busy();
            let mut conversation = Conversation::new(Arc::clone(&exposed));
            conversation.run(admitted.held, &mut requests, &mut out).await
        }
        Ok(Ok(None)) => Ok(()),
        // It has not shown a token in time.
        Err(_) | Ok(Err(EditorGone)) => Err(EditorGone),
    };
    if said.is_ok() {
        leave(requests, out).await;
    }
}

/// Lets the client read the last messages. A connection that is closed with something unread in it would lose them.
async fn leave(requests: RequestReader<OwnedReadHalf>, mut out: Outgoing) {
    out.end().await;
    let mut reader = requests.into_inner();
    let mut unread = [0; 1024];
    let drained = async { while reader.read(&mut unread).await.is_ok_and(|read| read > 0) {} };
    // One that does not hang up is cut off.
    let _ = timeout(limits::GOODBYE, drained).await;
}

type Answering = Pin<Box<dyn Future<Output = (IncomingRequest, Answer)> + Send>>;

/// The conversation between an attached editor and the session.
struct Conversation {
    editor: Arc<Editor>,
    news: EditorUpdates,
    in_flight: FuturesUnordered<Answering>,
    /// How many requests in flight let the program run: the stop after one comes after its answer.
    resuming: usize,
    /// The same for lists of breakpoints.
    listing: usize,
    /// The editor has sent `configurationDone`, or has had the time to.
    is_configured: bool,
    configured_by: Instant,
}

impl Conversation {
    fn new(exposed: Arc<Exposed>) -> Self {
        Self {
            editor: Arc::new(Editor::new(exposed)),
            news: EditorUpdates::default(),
            in_flight: FuturesUnordered::new(),
            resuming: 0,
            listing: 0,
            is_configured: false,
            configured_by: Instant::now() + limits::CONFIGURATION,
        }
    }

    async fn run(
        &mut self,
        held: Vec<IncomingRequest>,
        requests: &mut RequestReader<OwnedReadHalf>,
        out: &mut Outgoing,
    ) -> Result<(), EditorGone> {
        let exposed = Arc::clone(&self.editor.exposed);
        let mut execution = exposed.session.watch();
        let mut breakpoints = exposed.session.watch_breakpoints();
        let mut output = exposed.session.output().watch();
        // All that holds already is news.
        execution.mark_changed();
        breakpoints.mark_changed();
        output.mark_changed();
        let mut output_due: Option<Instant> = None;
        for request in held {
            if let UpdatesState::Over = self.take(request, out).await? {
                return Ok(());
            }
        }
        loop {
            let next = tokio::select! {
                biased;
                () = exposed.over.cancelled() => {
                    out.event("terminated", &json!({})).await?;
                    UpdatesState::Over
                }
                Some((request, answer)) = self.in_flight.next(), if !self.in_flight.is_empty() => {
                    self.answered(&request, answer, out).await?;
                    UpdatesState::GoesOn
                }
                Ok(()) = execution.changed(), if self.is_configured && self.resuming == 0 => {
                    self.news.execution(&self.editor, out).await?
                }
                Ok(()) = breakpoints.changed(), if self.is_configured && self.listing == 0 => {
                    self.news.breakpoints(&self.editor, out).await?;
                    UpdatesState::GoesOn
                }
                // Before the output, which may come faster than it can be sent.
                request = requests.next(), if self.in_flight.len() < limits::IN_FLIGHT => {
                    match read(request) {
                        Some(request) => self.take(request, out).await?,
                        None => UpdatesState::Over,
                    }
                }
                () = until(output_due) => {
                    let more = self.news.output(&self.editor, out).await?;
                    output_due = more.then(Instant::now);
                    UpdatesState::GoesOn
                }
                Ok(()) = output.changed(), if self.is_configured && output_due.is_none() => {
                    output_due = Some(Instant::now() + limits::COLLECTION);
                    UpdatesState::GoesOn
                }
                () = sleep_until(self.configured_by), if !self.is_configured => {
                    self.is_configured = true;
                    UpdatesState::GoesOn
                }
            };
            if let UpdatesState::Over = next {
                return Ok(());
            }
        }
    }

    /// Begins to answer a request.
    async fn take(
        &mut self,
        request: IncomingRequest,
        out: &mut Outgoing,
    ) -> Result<UpdatesState, EditorGone> {
        match request.command.as_str() {
            dap::ConfigurationDone::COMMAND => {
                out.respond(&request, Ok(json!({}))).await?;
                self.is_configured = true;
            }
            dap::Disconnect::COMMAND => {
                out.respond(&request, Ok(json!({}))).await?;
                return Ok(UpdatesState::Over);
            }
            command => {
                if command.starts_with("set") {
                    // It is at it.
                    self.configured_by = Instant::now() + limits::CONFIGURATION;
                }
                self.resuming += usize::from(is_resume(command));
                self.listing += usize::from(command == dap::SetBreakpoints::COMMAND);
                let editor = Arc::clone(&self.editor);
                self.in_flight.push(Box::pin(async move {
                    let answer = editor.answer(&request).await;
                    (request, answer)
                }));
            }
        }
        Ok(UpdatesState::GoesOn)
    }

    async fn answered(
        &mut self,
        request: &IncomingRequest,
        answer: Answer,
        out: &mut Outgoing,
    ) -> Result<(), EditorGone> {
        let (is_resume, is_list) =
            (is_resume(&request.command), request.command == dap::SetBreakpoints::COMMAND);
        self.resuming -= usize::from(is_resume);
        self.listing -= usize::from(is_list);
        match &answer {
            Ok(_) if is_resume => self.news.resumed(),
            Ok(body) if is_list => self.news.answered(body),
            _ => {}
        }
        out.respond(request, answer).await
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// A malformed message from an editor ends the conversation: the start of the next message is unknown.
fn read(request: Result<Option<IncomingRequest>, Unreadable>) -> Option<IncomingRequest> {
    request.unwrap_or_else(|error| {
        tracing::info!(%error, "disconnected an editor: malformed message");
        None
    })
}
