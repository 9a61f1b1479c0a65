//! Both sides of the Debug Adapter Protocol.
//!
//! Reading order: [`types`] (what is said), [`codec`] (how it is framed), [`transport`] (what it travels over),
//! [`Client`] (who asks), [`server`] (who answers). The crate knows no language and no session: the client sends typed
//! requests, matches replies, and hands everything else on in order; the server reads requests and writes the rest.

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
