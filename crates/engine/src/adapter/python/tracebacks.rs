//! Tracebacks as Python prints them, outermost frame first:
//!
//! ```text
//! Traceback (most recent call last):
//!   File "/p/app.py", line 5, in index
//!     return carts[name]
//! KeyError: 'x'
//! ```

use std::path::Path;

use super::{Python, is_internal};
use crate::adapter::tracebacks::{PrintedFrame, Tracebacks, below};

/// The functions of the standard library that keep whatever a task or a job raises for those who wait for it, and where
/// they are.
const KEEPERS: [(&str, &str, &str); 2] = [
    ("_run", "/asyncio/events.py", "asyncio"),
    ("run", "/concurrent/futures/thread.py", "concurrent.futures"),
];

/// The runtime's own code that starts the program or a thread of it. What gets there is caught by nothing.
const ROOTS: [&str; 3] = ["/threading.py", "/runpy.py", "<frozen runpy>"];

impl Tracebacks for Python {
    fn frame<'a>(&self, line: &'a str) -> Option<PrintedFrame<'a>> {
        let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once('"')?;
        let rest = rest.strip_prefix(", line ").unwrap_or_default();
        let (number, rest) = rest.split_once(',').unwrap_or((rest, ""));
        let function = rest.strip_prefix(" in ").unwrap_or_default().trim_end();
        Some(PrintedFrame {
            function,
            file,
            line: number.trim().parse().unwrap_or(0),
            is_users: is_users(file),
        })
    }

    fn package<'a>(&self, file: &'a str) -> Option<&'a str> {
        let path = below(file, "site-packages").or_else(|| below(file, "dist-packages"))?;
        let name = path.split('/').next().unwrap_or(path).trim_start_matches('_');
        Some(name.strip_suffix(".py").unwrap_or(name))
    }

    fn catches_all(&self, function: &str, file: &str) -> Option<&'static str> {
        let is_there = |(name, end, _): &&(&str, &str, &str)| function == *name && file.ends_with(end);
        KEEPERS.iter().find(is_there).map(|(.., package)| *package)
    }

    fn is_innermost_first(&self) -> bool {
        false
    }

    /// A traceback begins with the frame that has caught the exception.
    fn catcher(&self, frames: &[PrintedFrame<'_>]) -> Option<usize> {
        let first = frames.first()?;
        (!first.is_users && !ROOTS.iter().any(|root| first.file.ends_with(root))).then_some(0)
    }
}

/// Code that a library has made itself has whatever name the library gave it, not that of a file.
fn is_users(file: &str) -> bool {
    let path = Path::new(file);
    let is_file = path.is_absolute() || path.extension().is_some_and(|extension| extension == "py");
    let is_typed = file.starts_with('<') && !file.starts_with("<frozen ");
    is_typed || is_file && !is_internal(path)
}
