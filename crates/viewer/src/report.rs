//! The story of a session as a document in Markdown.

use crate::log::Log;

/// What was asked, where it stopped, what was seen, in a session (an index into [`Log::sessions`]).
pub fn report(log: &Log, session: usize) -> String {
    let _ = (log, session);
    String::new()
}
