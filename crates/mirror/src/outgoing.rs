//! What an editor is sent. It is written at once or not at all: nothing is kept for an editor that does not read.

use std::io;

use dap::IncomingRequest;
use dap::server::MessageWriter;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::time::timeout;

use crate::limits;

/// What a request came to: a body, or why there is none.
pub(crate) type Answer = Result<Value, Refusal>;

/// Why a request is refused, as a message for a person.
#[derive(Debug)]
pub(crate) struct Refusal(pub(crate) String);

impl From<engine::error::Error> for Refusal {
    fn from(error: engine::error::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<String> for Refusal {
    fn from(problem: String) -> Self {
        Self(problem)
    }
}

/// Something as the body of a message.
pub(crate) fn body(content: &impl Serialize) -> Answer {
    serde_json::to_value(content).map_err(|error| Refusal(format!("cannot serialize the response: {error}")))
}

/// The editor is gone, or does not read.
#[derive(Debug)]
pub(crate) struct EditorGone;

/// Writes to an editor.
pub(crate) struct Outgoing(MessageWriter<OwnedWriteHalf>);

impl Outgoing {
    pub(crate) fn new(writer: OwnedWriteHalf) -> Self {
        Self(MessageWriter::new(writer))
    }

    pub(crate) async fn respond(
        &mut self,
        request: &IncomingRequest,
        answer: Answer,
    ) -> Result<(), EditorGone> {
        written(self.0.respond(request, answer.map_err(|refusal| refusal.0))).await
    }

    pub(crate) async fn event(&mut self, name: &str, content: &impl Serialize) -> Result<(), EditorGone> {
        let content = serde_json::to_value(content).unwrap_or_else(|_| json!({}));
        written(self.0.event(name, content)).await
    }

    /// Nothing more comes.
    pub(crate) async fn end(&mut self) {
        // It may have gone before.
        let _ = timeout(limits::GOODBYE, self.0.shutdown()).await;
    }
}

async fn written(writing: impl Future<Output = io::Result<()>>) -> Result<(), EditorGone> {
    match timeout(limits::UNREAD, writing).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            tracing::debug!(%error, "an editor disconnected");
            Err(EditorGone)
        }
        Err(_) => {
            tracing::info!("disconnected an editor that does not read its messages");
            Err(EditorGone)
        }
    }
}
