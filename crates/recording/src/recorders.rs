//! What records a run inside the program: one recorder for each language.

mod python;

use std::path::Path;

use engine::adapter::{Adapter, Host, Runtime, unsupported};
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

/// Starts programs of one language with what records them.
pub trait Recorder: Sync {
    /// The language, by the name of its adapter.
    fn language(&self) -> &'static str;

    /// How to start a program so that it writes records into files whose names begin with `segments`.
    fn plan(
        &self,
        host: &dyn Host,
        runtime: &Runtime,
        launch: &Launch,
        segments: &Path,
        limits: Limits,
    ) -> Result<ProcessSpec>;
}

const RECORDERS: &[&dyn Recorder] = &[&python::Python];

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
