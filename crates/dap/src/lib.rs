//! Both sides of the Debug Adapter Protocol.
//!
//! Reading order: [`types`] (messages), [`codec`] (their framing), [`transport`] (the connection), [`Client`] (sends
//! requests), [`server`] (answers them). The crate is independent of languages and sessions: the client sends typed
//! requests, matches replies, and forwards everything else in order; the server reads requests and writes everything
//! else.

mod client;
pub mod codec;
mod lenient;
mod messages;
pub mod server;
pub mod transport;
pub mod types;

pub use client::{Client, Driver, Error, Incoming, Message, connect};
pub use messages::IncomingRequest;
pub use types::*;
