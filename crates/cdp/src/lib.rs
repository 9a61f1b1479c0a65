//! A client of the Chrome `DevTools` Protocol, of the part that Node's inspector speaks.
//!
//! Reading order: [`types`] (what is said), `text` (how it is written), [`discovery`] (where it is said),
//! [`transport`] (what it travels over), [`Client`] (who says it), `inbox` (who is meant by what arrives). The
//! crate knows no session: it sends typed commands, matches replies, and hands everything else on in order.

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
pub use transport::{connect, connect_over};
pub use types::*;
