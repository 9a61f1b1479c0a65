//! A program that a bare client debugs.

use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context;

/// It is killed when this is dropped, also when the measurement fails.
pub(super) struct Program(Child);

impl Program {
    /// Starts it. Its output is not read; `errors` sets its standard error.
    pub(super) fn start(command: &mut Command, errors: Stdio) -> anyhow::Result<Self> {
        Ok(Self(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors).spawn()?))
    }

    /// Starts it with pipes for its standard input and output.
    pub(super) fn piped(command: &mut Command) -> anyhow::Result<(Self, ChildStdin, ChildStdout)> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Self(command.spawn()?);
        let streams = child.0.stdin.take().zip(child.0.stdout.take());
        let (input, output) = streams.context("a child without pipes")?;
        Ok((child, input, output))
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
