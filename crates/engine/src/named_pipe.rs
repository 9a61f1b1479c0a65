//! Pipes with a name, into which programs write lines.
//!
//! A line that is not longer than what a pipe takes at once is never mixed with another's, and longer ones are
//! not read. What was written is read even when its writer is killed the moment after.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe;

use crate::error::{Error, Result};
use crate::temporary;

/// How many bytes a pipe of Linux takes at once, and so the longest line that is read. Anyone may write to a pipe,
/// and a line without an end must not fill the memory.
const LONGEST: u64 = 4096;

/// The reading end. The pipe's name is gone when this is.
#[derive(Debug)]
pub(crate) struct NamedPipe {
    reader: BufReader<pipe::Receiver>,
    name: Name,
}

/// The name of a pipe in the file system, until it is dropped.
#[derive(Debug)]
struct Name(PathBuf);

impl NamedPipe {
    /// Makes a pipe that only this user can open.
    pub(crate) fn new() -> Result<Self> {
        let path = temporary::new_path();
        let opened = create(&path).map(|file| (file, Name(path.clone())));
        match opened.and_then(|(file, name)| Ok((pipe::Receiver::from_file(file)?, name))) {
            Ok((receiver, name)) => Ok(Self { reader: BufReader::new(receiver), name }),
            Err(error) => Err(Error::Environment {
                problem: format!("cannot create a pipe at `{}`: {error}", path.display()),
                remedy: "check that the temporary folder is writable".to_owned(),
            }),
        }
    }

    /// Its name in the file system.
    pub(crate) fn path(&self) -> &Path {
        &self.name.0
    }

    /// The next line without its end; none if the pipe cannot be read. A line that is too long or not UTF-8 is not
    /// from our code, and is skipped.
    pub(crate) async fn next_line(&mut self) -> Option<String> {
        let mut begins = true;
        loop {
            let mut line = Vec::new();
            let read = (&mut self.reader).take(LONGEST).read_until(b'\n', &mut line).await.ok()?;
            if read == 0 {
                return None;
            }
            let ends = line.pop_if(|last| *last == b'\n').is_some();
            if begins
                && ends
                && let Ok(line) = String::from_utf8(line)
            {
                return Some(line);
            }
            begins = ends;
        }
    }
}

/// Makes a pipe that only this user can open. Open for writing as well, it does not end when the last writer goes.
pub fn create(path: &Path) -> io::Result<File> {
    make(path)?;
    let opened = File::options().read(true).write(true).open(path);
    opened.inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

#[cfg(not(target_vendor = "apple"))]
fn make(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, Mode, mkfifoat};

    Ok(mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?)
}

#[cfg(target_vendor = "apple")]
fn make(path: &Path) -> io::Result<()> {
    use nix::sys::stat::Mode;

    Ok(nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR)?)
}

impl Drop for Name {
    fn drop(&mut self) {
        // A cleaner of the temporary folder may have removed it first.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn malformed_records_are_skipped() {
        let mut pipe = NamedPipe::new().unwrap();
        let mut writer = pipe::OpenOptions::new().open_sender(pipe.path()).unwrap();
        let writing = tokio::spawn(async move {
            let longest = [b'x'; 4095];
            let parts: [&[u8]; 7] = [b"one\n", &longest, b"\n", &longest, b"xx\n", b"\xff\n\n", b"two\n"];
            for part in parts {
                writer.write_all(part).await.unwrap();
            }
        });
        let mut lines = Vec::new();
        for _ in 0..4 {
            lines.push(pipe.next_line().await.unwrap());
        }
        writing.await.unwrap();
        assert_eq!(lines, ["one", "x".repeat(4095).as_str(), "", "two"]);
    }
}
