//! Stacks of errors as V8 prints them, innermost frame first:
//!
//! ```text
//! TypeError: no price
//!     at total (/p/cart.js:5:9)
//!     at async /p/node_modules/koa/lib/application.js:3:5
//! ```

use std::path::Path;

use super::{Node, is_internal};
use crate::adapter::tracebacks::{PrintedFrame, Tracebacks, below};

impl Tracebacks for Node {
    fn frame<'a>(&self, line: &'a str) -> Option<PrintedFrame<'a>> {
        let call = line.trim_start().strip_prefix("at ")?;
        let call = call.strip_prefix("async ").unwrap_or(call);
        let (function, place) = match call.split_once(" (") {
            Some((function, place)) => (function, place.rsplit_once(')').map_or(place, |(place, _)| place)),
            // Java puts no space before its parenthesis.
            None if call.trim_end().ends_with(')') => return None,
            None => ("", call.trim_end()),
        };
        let place = place.strip_prefix("file://").unwrap_or(place);
        let (file, line) = file_and_line(place);
        if line == 0 && function.is_empty() && place.contains(' ') {
            // Prose.
            return None;
        }
        let is_runtimes = line == 0 || file.contains("<anonymous>") || is_internal(Path::new(file));
        Some(PrintedFrame { function, file, line, is_users: !is_runtimes })
    }

    fn package<'a>(&self, file: &'a str) -> Option<&'a str> {
        let path = below(file, "node_modules")?;
        let parts = if path.starts_with('@') { 2 } else { 1 };
        let end = path.match_indices('/').nth(parts - 1).map_or(path.len(), |(at, _)| at);
        path.get(..end)
    }

    /// A stack is that of the throw and does not say what has caught the error. It is the library that has called the
    /// user's code, where one has.
    fn catcher(&self, frames: &[PrintedFrame<'_>]) -> Option<usize> {
        let thrown = frames.iter().position(|frame| frame.is_users)?;
        let mut callers = frames.iter().enumerate().skip(thrown);
        callers.find(|(_, frame)| self.package(frame.file).is_some()).map(|(at, _)| at)
    }
}

/// `/p/a.js:5:9`, `node:events:517`. The line is 0 where there is none.
fn file_and_line(place: &str) -> (&str, u32) {
    let number = |text: &str| text.parse::<u32>().ok();
    let Some((before, last)) = place.rsplit_once(':') else { return (place, 0) };
    let Some(last) = number(last) else { return (place, 0) };
    match before.rsplit_once(':') {
        Some((file, line)) => match number(line) {
            Some(line) => (file, line),
            None => (before, last),
        },
        None => (before, last),
    }
}
