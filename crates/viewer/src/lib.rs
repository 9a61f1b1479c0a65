//! Shows what an agent is doing, or has done. This crate reads journals, and depends on no debugger.
//!
//! Reading order: [`log`] (the entries of all files, by number), [`moment`] (the state at one of them),
//! [`words`] (an entry as one line), `timeline` (the rows of what happened), `readable` (an entry at length), [`report`] (a session as a document),
//! [`terminal`] (a journal in a terminal), [`web`] (the same in a browser), [`plain`] (what programs wrote, made
//! harmless), [`http`] (how pages are served, here and for MCP).

mod clock;
pub mod http;
mod lexer;
pub mod log;
pub mod moment;
pub mod plain;
mod readable;
pub mod report;
mod source_context;
pub mod terminal;
mod timeline;
pub mod web;
pub mod words;
