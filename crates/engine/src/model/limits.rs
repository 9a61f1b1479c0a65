//! How much to read and report.

/// The size of a stop report. Every cut is marked, with the way to the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Frames of the stack.
    pub frames: usize,
    /// Variables of a scope.
    pub variables: usize,
    /// Characters of a value.
    pub value: usize,
    /// Lines of source before and after the line.
    pub source: u32,
    /// Bytes of output.
    pub output: usize,
    /// Whether values are compared with those at an earlier stop.
    pub changes: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frames: 5, variables: 30, value: 200, source: 3, output: 4000, changes: false }
    }
}

/// The longest text of a value that is handed out, whatever was requested, in characters.
pub const MAX_VALUE: usize = 100_000;
