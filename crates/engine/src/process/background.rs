//! This program once more, for work that outlives who asked for it.

use std::ffi::OsString;
use std::io;
use std::process::Stdio;

use tokio::process::{ChildStdout, Command};

/// Starts this program with these arguments, without input and without a log; its standard output is read here, for
/// as long as the caller wants.
#[expect(clippy::disallowed_methods, reason = "this is the place where child processes start")]
pub fn start(arguments: impl IntoIterator<Item = OsString>) -> io::Result<ChildStdout> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let written = command.spawn()?.stdout.take();
    written.ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))
}

/// Detaches from the terminal, so that its Ctrl-C and its end have no effect.
pub fn detach() {
    if let Err(error) = rustix::process::setsid() {
        tracing::warn!(%error, "the terminal that started this process can end it");
    }
}
