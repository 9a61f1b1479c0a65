//! A helper that gets a debugger into a process which runs already.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::process::Stdio;

use tokio::sync::watch;

use super::{ProcessSpec, cannot_start, command};
use crate::error::{Error, Result};

/// How much of its output is reported, in bytes.
const TOLD: u64 = 4000;

/// A running injector. While it is inside the other process, that process would not survive the injector's end: so
/// nothing here kills it, and its output goes to a file that outlives us.
#[derive(Debug)]
pub struct Injector {
    /// Whether it ended well, once it has ended.
    end: watch::Receiver<Option<bool>>,
    printed: File,
}

impl Injector {
    /// Starts it. It has no mark, and no guardian watches it.
    pub fn spawn(spec: &ProcessSpec) -> Result<Self> {
        let no_file = |error| Error::Environment {
            problem: format!("cannot create a temporary file: {error}"),
            remedy: "free space in the temporary folder, or set TMPDIR to another one".to_owned(),
        };
        let printed = tempfile::tempfile().map_err(no_file)?;
        let pipe = || printed.try_clone().map_err(no_file);
        let mut command = command(spec)?;
        command.stdin(Stdio::null()).stdout(pipe()?).stderr(pipe()?);
        // What is typed at our terminal is not meant for it.
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| cannot_start(spec, &error))?;
        let (ended, end) = watch::channel(None);
        tokio::spawn(async move {
            let status = child.wait().await;
            ended.send_replace(Some(status.is_ok_and(|status| status.success())));
        });
        Ok(Self { end, printed })
    }

    /// Waits for its end; true when it ended well.
    pub async fn ended(&self) -> bool {
        let mut end = self.end.clone();
        end.wait_for(Option::is_some).await.is_ok_and(|end| *end == Some(true))
    }

    /// The end of what it has printed.
    pub fn printed(&self) -> String {
        let mut printed = &self.printed;
        let mut bytes = Vec::new();
        let length = printed.metadata().map_or(0, |file| file.len());
        // It shares the place in the file with us, which does not matter once it has ended.
        if printed.seek(SeekFrom::Start(length.saturating_sub(TOLD))).is_ok() {
            let _ = printed.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
