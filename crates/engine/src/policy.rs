//! A server's policy: its limits, and what it may access.

use std::path::PathBuf;
use std::sync::Arc;

use crate::bounds::Bounds;
use crate::safety::Safety;
use journal::{Options, SourceReader};

/// A server's policy. It is created once, from the command line and the configuration, and passed on.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// How far things may go.
    pub bounds: Bounds,
    /// What may be touched.
    pub safety: Safety,
}

impl Policy {
    /// A journal that is as large as may be, and shows the sources that may be read.
    pub fn journal(&self, path: PathBuf) -> Options {
        Options {
            path,
            file_size: self.bounds.journal_size,
            kept: usize::try_from(self.bounds.journal_files).unwrap_or(usize::MAX),
            sources: self.source_reader(),
        }
    }

    /// Reads the sources for a journal, as far as that is allowed.
    pub fn source_reader(&self) -> SourceReader {
        let safety = self.safety.clone();
        SourceReader::new(move |source| safety.read_lines(source).ok())
    }
}

/// A policy that many share.
pub type SharedPolicy = Arc<Policy>;
