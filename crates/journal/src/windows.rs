//! The source around a place, so that who reads a journal needs no other file.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::entry::{Location, SourceWindow};
use super::{SourceReader, truncation};

/// How many lines are shown before the location and after it.
const AROUND: u32 = 10;

/// Reads them, and remembers the last file.
#[derive(Debug)]
pub(super) struct Windows {
    sources: SourceReader,
    last: Option<(PathBuf, Option<SystemTime>, Vec<String>)>,
}

impl Windows {
    pub(super) fn new(sources: SourceReader) -> Self {
        Self { sources, last: None }
    }

    /// The lines around a place; none when it is in no file that can be read.
    pub(super) fn around(&mut self, at: &Location) -> Option<SourceWindow> {
        let lines = self.lines(Path::new(&at.file))?;
        let first_line = at.line.saturating_sub(AROUND).max(1);
        let skipped = usize::try_from(first_line - 1).ok()?;
        let count = usize::try_from(at.line.saturating_add(AROUND) - first_line + 1).ok()?;
        let lines: Vec<String> =
            lines.iter().skip(skipped).take(count).map(|line| truncation::text(line)).collect();
        Some(SourceWindow { first_line, lines }).filter(|window| !window.lines.is_empty())
    }

    fn lines(&mut self, file: &Path) -> Option<&[String]> {
        let changed = std::fs::metadata(file).ok()?.modified().ok();
        let is_last = matches!(&self.last, Some((path, when, _)) if path == file && *when == changed);
        if !is_last {
            self.last = Some((file.to_owned(), changed, (self.sources.0)(file)?));
        }
        self.last.as_ref().map(|(_, _, lines)| lines.as_slice())
    }
}
