//! Tracebacks as programs print them.
//!
//! Text does not say which language wrote it: a program in one may start programs in others. So each line is shown to
//! every language.

use super::ADAPTERS;

/// Reads the tracebacks that programs of a language print.
pub trait Tracebacks: std::fmt::Debug + Send + Sync {
    /// The frame that a line names.
    fn frame<'a>(&self, line: &'a str) -> Option<PrintedFrame<'a>>;

    /// The package that an installed file belongs to.
    fn package<'a>(&self, file: &'a str) -> Option<&'a str>;

    /// The part of the runtime that catches whatever the code that it calls in this function throws.
    fn catches_all(&self, _function: &str, _file: &str) -> Option<&'static str> {
        None
    }

    /// Whether frames are printed from the innermost on.
    fn is_innermost_first(&self) -> bool {
        true
    }

    /// The frame that has caught the thrown value, as far as a traceback says it: its frames as they are printed. One
    /// that goes to the bottom of the stack, wherever the exception is caught, does not say it.
    fn catcher(&self, _frames: &[PrintedFrame<'_>]) -> Option<usize> {
        None
    }
}

/// A frame of a traceback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedFrame<'a> {
    /// The function; empty where there is none.
    pub function: &'a str,
    /// The file, or its placeholder.
    pub file: &'a str,
    /// 1-based; 0 where it is not printed.
    pub line: u32,
    /// It is the user's code, not that of a library or of the runtime.
    pub is_users: bool,
}

/// The frame that a line of a traceback names, and the language that prints it so.
pub fn read_frame(line: &str) -> Option<(&'static dyn Tracebacks, PrintedFrame<'_>)> {
    languages().find_map(|language| Some((language, language.frame(line)?)))
}

/// The package that an installed file belongs to: `pytest`, `@vitest/runner`.
pub fn package(file: &str) -> Option<&str> {
    languages().find_map(|language| language.package(file))
}

/// The part of the runtime that catches whatever the code that it calls in this function throws: `asyncio`.
pub fn catches_all(function: &str, file: &str) -> Option<&'static str> {
    languages().find_map(|language| language.catches_all(function, file))
}

fn languages() -> impl Iterator<Item = &'static dyn Tracebacks> {
    ADAPTERS.iter().filter_map(|adapter| adapter.tracebacks())
}

/// The part of a path below the last folder of that name.
pub(super) fn below<'a>(file: &'a str, folder: &str) -> Option<&'a str> {
    file.rsplit_once(&format!("/{folder}/")).map(|(_, below)| below)
}
