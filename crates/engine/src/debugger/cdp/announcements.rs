//! How the processes of a program say where their inspectors are.
//!
//! Each process writes one line into our pipe when it starts; see `debuggee/node/hook.cjs`. A line is shorter than
//! the pipe's atomic write size, so lines of several processes do not mix.

use std::path::Path;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::named_pipe::NamedPipe;

/// A process that waits for its debugger.
#[derive(Debug, Deserialize)]
pub(super) struct Announcement {
    /// The operating system's number.
    pub(super) pid: u32,
    /// Where its inspector listens.
    pub(super) url: String,
    /// The name of what it runs.
    pub(super) script: String,
}

/// Where they come in.
#[derive(Debug)]
pub(super) struct Announcements(NamedPipe);

impl Announcements {
    /// Makes a pipe of its own for one program.
    pub(super) fn new() -> Result<Self> {
        NamedPipe::new().map(Self)
    }

    /// Its name in the file system.
    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Waits for the next process.
    pub(super) async fn next(&mut self) -> Result<Announcement> {
        loop {
            let line = self.0.next_line().await.ok_or(Error::Lost)?;
            match serde_json::from_str(&line) {
                Ok(announcement) => return Ok(announcement),
                Err(error) => tracing::warn!(%error, line, "skipped a malformed announcement"),
            }
        }
    }
}
