//! What records a run inside the program: one recorder for each language.

mod node;
mod python;

use std::path::Path;

use engine::adapter::{Adapter, BoxFuture, Host, Runtime, unsupported};
use engine::error::Result;
use engine::model::launch::Launch;
use engine::process::ProcessSpec;

/// How much of a value is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Items of a list, a dictionary or a set, and attributes of an object.
    pub items: usize,
    /// Levels of objects in objects.
    pub depth: usize,
    /// Characters of a text.
    pub text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { items: 100, depth: 4, text: 200 }
    }
}

/// A program to start, and what is recorded of it.
#[derive(Clone, Copy, Debug)]
pub struct RecordedStart<'a> {
    /// The program.
    pub launch: &'a Launch,
    /// The names of the files that it writes records into begin with this.
    pub segments: &'a Path,
    /// How much of values.
    pub limits: Limits,
    /// What was named, to be recorded alone; all if empty.
    pub only: &'a [String],
}

/// Starts programs of one language with what records them.
pub trait Recorder: Sync {
    /// The language, by the name of its adapter.
    fn language(&self) -> &'static str;

    /// Prepares what makes recording faster. What is missing for it, if something is that the user can install.
    fn accelerate<'a>(&'a self, _host: &'a dyn Host, _runtime: &'a Runtime) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    /// How to start a program so that it writes records.
    fn plan(&self, host: &dyn Host, runtime: &Runtime, start: &RecordedStart<'_>) -> Result<ProcessSpec>;

    /// What must be there while the program runs, until it is dropped.
    fn assist(&self, _host: &dyn Host, _start: &RecordedStart<'_>) -> Result<Option<Box<dyn Send>>> {
        Ok(None)
    }
}

/// The folder of the cache with what recorders load.
const CACHED: &str = "recorder";

const RECORDERS: &[&dyn Recorder] = &[&node::Node, &python::Python];

/// The recorder for a language.
pub fn recorder_for(adapter: &dyn Adapter) -> Result<&'static dyn Recorder> {
    let found = RECORDERS.iter().find(|recorder| recorder.language() == adapter.name());
    found.copied().ok_or_else(|| {
        unsupported(
            adapter,
            "recording a run",
            "trace_values records expressions at chosen lines, and works here",
        )
    })
}
