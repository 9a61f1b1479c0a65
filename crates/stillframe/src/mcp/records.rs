//! The warnings of the server's own log, for the client of a server that has only one. Those of a server with several
//! clients do not say whose session they are about, and go to standard error alone.

#![expect(deprecated, reason = "the current revision has log messages, even if a later one may not")]

use std::fmt::{self, Write as _};
use std::sync::OnceLock;

use rmcp::model::LoggingLevel;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use super::log::Message;

/// Records that the client was not sent yet. More are left out, the oldest first.
const QUEUED: usize = 64;

/// Where they go; unset for a server with several clients.
static RECORDS: OnceLock<Sender<Message>> = OnceLock::new();

/// From now on, the client gets them.
pub(super) fn offer() {
    // Only the first server of a process would matter, and there is one.
    drop(RECORDS.set(Sender::new(QUEUED)));
}

/// Those to come; none for a server with several clients.
pub(super) fn subscribe() -> Option<Receiver<Message>> {
    RECORDS.get().map(Sender::subscribe)
}

pub(super) async fn next(records: &mut Option<Receiver<Message>>) -> Message {
    loop {
        let Some(receiver) = records else { return std::future::pending().await };
        match receiver.recv().await {
            Ok(message) => return message,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => *records = None,
        }
    }
}

/// Hands warnings and errors on.
pub(crate) struct Records;

impl<S: Subscriber> Layer<S> for Records {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let Some(records) = RECORDS.get() else { return };
        let level = match *event.metadata().level() {
            Level::ERROR => LoggingLevel::Error,
            Level::WARN => LoggingLevel::Warning,
            _ => return,
        };
        let mut text = Text::default();
        event.record(&mut text);
        drop(records.send((level, text.message + &text.fields)));
    }
}

/// A record as text: the message, then what goes with it.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            let _ = write!(self.fields, " {}={value:?}", field.name());
        }
    }
}
