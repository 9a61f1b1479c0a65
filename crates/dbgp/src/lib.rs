//! The debugger's side of DBGp, the protocol of Xdebug.
//!
//! Reading order: [`element`] (the XML that answers are made of), [`codec`] (how it is framed), [`Client`] (commands,
//! and what comes back). The crate knows no session: a command is a name with options, and an answer is an element.
//! Source: the specification at <https://xdebug.org/docs/dbgp>.

mod client;
pub mod codec;
pub mod element;

pub use client::{Client, Command, Error, Incoming, Message, connect};
pub use element::Element;
