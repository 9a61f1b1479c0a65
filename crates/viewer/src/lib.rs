//! What an agent is doing, or has done, for a person to see. Knows journals, and no debugger.
//!
//! Reading order: [`log`] (the entries of all files, by number), [`moment`] (what was the case at one of them),
//! [`words`] (an entry as one line), [`report`] (a session as a document), [`terminal`] (a journal in a terminal),
//! [`plain`] (what programs wrote, made harmless).

pub mod log;
pub mod moment;
pub mod plain;
pub mod report;
pub mod terminal;
pub mod words;
