//! A program that a bare client debugs.

use std::process::{Child, ChildStderr, Command, Stdio};

/// It is killed when this is dropped, also when the measurement fails.
pub(super) struct Program(Child);

impl Program {
    /// Starts it. Its output is not read; `errors` sets its standard error.
    pub(super) fn start(command: &mut Command, errors: Stdio) -> anyhow::Result<Self> {
        Ok(Self(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn()?))
    }

    /// Its standard error, once, if it is a pipe.
    pub(super) fn take_errors(&mut self) -> Option<ChildStderr> {
        self.0.stderr.take()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
