//! A client of the Debug Adapter Protocol.
//!
//! Reading order: [`types`] (what is said), [`codec`] (how it is framed), [`transport`] (what it travels over),
//! [`Client`] (who says it). The crate knows no language and no session: it sends typed requests, matches
//! replies, and hands everything else on in order.

mod client;
pub mod codec;
mod lenient;
pub mod transport;
pub mod types;

pub use client::{Client, Driver, Error, Incoming, Message, ReverseRequest, connect};
pub use types::*;
