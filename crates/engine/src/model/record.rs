//! What to record at a breakpoint, and where it goes.

use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// What to record at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Evaluated at each counted hit, in its frame.
    pub expressions: Vec<String>,
    /// Of the passes at which the condition holds, the first and then every Nth. At least 1.
    pub sample_every: u64,
    /// Only rows whose cells differ from those of the row before, at the same place in the same thread.
    pub only_when_changed: bool,
    /// Each JavaScript thread, or Python process, writes at most this many rows and continues counting.
    pub max_rows: u64,
    /// How values are written.
    pub cells: CellFormat,
    /// Where the rows go.
    pub recorder: SharedSink,
}

/// How the values of a row are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellFormat {
    /// As everywhere else, cut after this many characters.
    Text(usize),
    /// As JSON where that can say all of it, of at most this many characters; as text otherwise.
    Json(usize),
}

/// What an expression came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A value.
    Value {
        /// The name of its type.
        type_name: String,
        /// The value.
        text: String,
        /// The text is not all of it.
        cut: bool,
        /// The text is JSON.
        json: bool,
    },
    /// It threw this, in one line.
    Error(String),
}

/// A cell as a debugger writes it, in the form in which other tools show the value; a longer text than this many characters
/// is cut.
pub type CellShape = Box<dyn Fn(Cell, usize) -> Cell + Send + Sync>;

/// Takes rows in.
pub trait RowSink: fmt::Debug + Send + Sync {
    /// Where programs write their lines. No other sink has the same pipe.
    fn pipe(&self) -> &Path;

    /// Adds a line that did not come through the pipe.
    fn read(&self, line: &str);

    /// From now on, lines are a debugger's, which writes values like this.
    fn shape(&self, shape: CellShape);
}

/// A sink that many share. Clones are the same one.
#[derive(Clone, Debug)]
pub struct SharedSink(pub Arc<dyn RowSink>);

impl Deref for SharedSink {
    type Target = dyn RowSink;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for SharedSink {
    fn eq(&self, other: &Self) -> bool {
        self.pipe() == other.pipe()
    }
}

impl Eq for SharedSink {}
