//! The command line as people and scripts have it.

#![expect(clippy::expect_used, clippy::panic, reason = "a helper that fails is a test that fails")]

mod config;
mod doctor;
mod errors;
mod init;
mod plain;
mod probe;
mod readme;
mod tools;
mod trace;

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::Value;
use test_support::{Built, Mark};

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };

struct CommandRun {
    code: i32,
    out: String,
    err: String,
}

impl CommandRun {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON: {error}: {}", self.out))
    }

    /// Fails unless it ended with this code; shows what it said.
    fn ended_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }
}

/// Runs the program with the tests' cache. Everything that it started must be gone when it is.
async fn stillframe<I: AsRef<str>>(arguments: impl IntoIterator<Item = I>) -> CommandRun {
    stillframe_with(arguments, &STILLFRAME.cache().await, &[]).await
}

/// The same with another cache and more environment.
async fn stillframe_with<I: AsRef<str>>(
    arguments: impl IntoIterator<Item = I>,
    cache: &Path,
    environment: &[(&str, &str)],
) -> CommandRun {
    let mark = Mark::default();
    let (name, value) = mark.variable();
    let mut command = STILLFRAME.command();
    command.args(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    command.env("STILLFRAME_CACHE_DIR", cache).env(name, value).envs(environment.iter().copied());
    let Output { status, stdout, stderr } = command.output().await.expect("the program under test runs");
    mark.assert_gone_within(Duration::from_secs(2));
    CommandRun {
        code: status.code().expect("it ended by itself"),
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made")
}
