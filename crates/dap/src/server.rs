//! The adapter's side of a connection: requests come in, responses and events go out.
//!
//! Unlike [`Client`](crate::Client) it has no queue. The code that serves a client reads its next request when there
//! is room for it, and waits until a message is written, so a client that does not read gets no further messages.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::codec::{Decoder, Frame, encode};
use crate::messages::{Envelope, IncomingRequest, OutgoingEvent, OutgoingResponse};
use crate::types::Request;

/// The other side does not speak the protocol.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The connection failed, or what arrives is not framed.
    #[error(transparent)]
    Stream(#[from] io::Error),
    /// A message is longer than it may be.
    #[error("a message of {0} bytes is too large")]
    TooLarge(usize),
    /// A frame does not contain a message.
    #[error("cannot read a message: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// Reads the requests of a client.
#[derive(Debug)]
pub struct RequestReader<R> {
    reader: R,
    decoder: Decoder,
}

impl<R: AsyncRead + Unpin> RequestReader<R> {
    /// Reads requests of at most `limit` bytes.
    pub fn new(reader: R, limit: usize) -> Self {
        Self { reader, decoder: Decoder::new(limit) }
    }

    /// From here on, requests may have this many bytes.
    pub fn set_limit(&mut self, limit: usize) {
        self.decoder.set_limit(limit);
    }

    /// What the requests are read from.
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// The next request; none when the client has hung up. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<IncomingRequest>, Unreadable> {
        loop {
            while let Some(frame) = self.decoder.next_frame().map_err(io::Error::other)? {
                let json = match frame {
                    Frame::Message(json) => json,
                    Frame::TooLarge(size) => return Err(Unreadable::TooLarge(size)),
                };
                let envelope: Envelope<'_> = serde_json::from_slice(&json)?;
                // It is asked for nothing, so a response of it answers nothing.
                if envelope.kind == "request" {
                    return Ok(Some(envelope.into_request()));
                }
            }
            if self.reader.read_buf(self.decoder.buffer()).await? == 0 {
                return Ok(None);
            }
        }
    }
}

/// Writes responses and events.
#[derive(Debug)]
pub struct MessageWriter<W> {
    writer: W,
    next_seq: i64,
}

impl<W: AsyncWrite + Unpin> MessageWriter<W> {
    /// Nothing was written yet.
    pub fn new(writer: W) -> Self {
        Self { writer, next_seq: 1 }
    }

    /// Answers a request with a body, or with why there is none.
    pub async fn respond(
        &mut self,
        request: &IncomingRequest,
        result: Result<Value, String>,
    ) -> io::Result<()> {
        let seq = self.next();
        self.write(&OutgoingResponse::new(seq, request, result)).await
    }

    /// Sends an event.
    pub async fn event(&mut self, event: &str, body: Value) -> io::Result<()> {
        let seq = self.next();
        self.write(&OutgoingEvent { seq, kind: "event", event, body }).await
    }

    /// Ends the stream.
    pub async fn shutdown(&mut self) -> io::Result<()> {
        self.writer.shutdown().await
    }

    fn next(&mut self) -> i64 {
        let seq = self.next_seq;
        self.next_seq += 1;
        seq
    }

    async fn write(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.writer.write_all(&encode(&serde_json::to_vec(message)?)).await?;
        self.writer.flush().await
    }
}

impl IncomingRequest {
    /// The arguments as those of a request of this kind; left out, they are empty.
    pub fn read<R: Request<Arguments: DeserializeOwned>>(&self) -> Result<R::Arguments, String> {
        let arguments = match &self.arguments {
            Value::Null => Value::Object(Map::new()),
            arguments => arguments.clone(),
        };
        let problem = |error| format!("invalid arguments of `{}`: {error}", self.command);
        serde_json::from_value(arguments).map_err(problem)
    }

    /// Refuses an `initialize` whose client counts lines or columns from 0, or names files by URIs: our servers convert
    /// neither.
    pub fn check_positions(&self) -> Result<(), String> {
        let said = |name: &str| self.arguments.get(name);
        let is_zero_based = |name: &str| said(name) == Some(&Value::Bool(false));
        if is_zero_based("linesStartAt1") || is_zero_based("columnsStartAt1") {
            return Err(
                "only clients that count lines and columns from 1 are supported: send `linesStartAt1` and \
                        `columnsStartAt1` as true"
                    .to_owned(),
            );
        }
        if said("pathFormat").and_then(Value::as_str) == Some("uri") {
            return Err(
                "only clients that name files by paths are supported: send `pathFormat` as `path`".to_owned()
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
