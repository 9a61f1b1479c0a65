//! A client of the Chrome `DevTools` Protocol, of the part that Node's inspector speaks.
//!
//! Reading order: [`types`] (messages), `text` (their encoding), [`discovery`] (where an inspector listens),
//! [`transport`] (the connection), [`Client`] (sends commands), `inbox` (dispatches arriving messages). The crate has
//! no sessions: it sends typed commands, matches replies, and forwards everything else in order.

mod client;
pub mod discovery;
mod error;
mod inbox;
mod text;
pub mod transport;
pub mod types;

pub use client::{Client, Driver, Incoming, Message, Worker};
pub use discovery::Address;
pub use error::{ConnectError, Error};
pub use text::parse;
pub use transport::{connect, connect_over};
pub use types::*;
