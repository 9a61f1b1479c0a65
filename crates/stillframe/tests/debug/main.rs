//! `stillframe debug`: a session from command to command, as a shell has it.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod attaching;
mod commands;
mod ends;
mod folders;
mod rules;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use test_support::{Built, Mark, eventually};
use tokio::process::Command;

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };

struct CommandRun {
    code: i32,
    out: String,
    err: String,
}

impl CommandRun {
    fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("text");
        let code = output.status.code().expect("it ended by itself");
        Self { code, out: text(output.stdout), err: text(output.stderr) }
    }

    /// Fails unless it ended with this code; shows what it said.
    #[track_caller]
    fn ended_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }

    /// Fails unless it says this.
    #[track_caller]
    fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text) || self.err.contains(text), "out: {}\nerr: {}", self.out, self.err);
        self
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("no JSON: {error}: {}", self.out))
    }
}

/// A shell in a folder of its own.
struct Shell {
    folder: TempDir,
    /// Where sockets are; their paths have to be short.
    runtime: TempDir,
    mark: Mark,
}

impl Shell {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made");
        // Folders above belong to the repository, and are not searched.
        std::fs::create_dir(folder.path().join(".git")).expect("a folder can be made");
        let runtime = tempfile::tempdir().expect("a folder can be made");
        std::fs::set_permissions(runtime.path(), Permissions::from_mode(0o700)).expect("it is ours");
        Self { folder, runtime, mark: Mark::default() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// `stillframe debug` with these words.
    async fn command<I: AsRef<str>>(&self, words: impl IntoIterator<Item = I>) -> Command {
        let (name, value) = self.mark.variable();
        let mut command = STILLFRAME.command();
        command.arg("debug").args(words.into_iter().map(|word| word.as_ref().to_owned()));
        command.current_dir(self.path()).env("XDG_RUNTIME_DIR", self.runtime.path()).env(name, value);
        command
            .env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await)
            .env("STILLFRAME_LOG_FILE", self.journal());
        command
    }

    fn journal(&self) -> PathBuf {
        self.runtime.path().join("journal.jsonl")
    }

    /// Comes back when this many commands have continued the program.
    async fn continued(&self, times: usize) {
        let journal = self.journal();
        let is_call = |line: &&str| line.contains("tool:call") && line.contains("\"continue_execution\"");
        let has_continued = || {
            let text = std::fs::read_to_string(&journal).unwrap_or_default();
            text.lines().filter(is_call).count() == times
        };
        eventually(has_continued).await;
    }

    /// Runs it until its output is closed.
    async fn debug<I: AsRef<str>>(&self, words: impl IntoIterator<Item = I>) -> CommandRun {
        CommandRun::of(self.command(words).await.output().await.expect("the program under test runs"))
    }

    /// The background process of the session without a name.
    fn background(&self) -> u32 {
        let text = std::fs::read(self.path().join(".debug_session.json")).expect("a session is open");
        let record: Value = serde_json::from_slice(&text).expect("JSON");
        record["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).expect("a process number")
    }

    /// Fails unless nothing is left: no process, no socket and no file.
    fn assert_nothing_left(&self) {
        self.mark.assert_gone_within(Duration::from_secs(2));
        let names = |folder: &Path| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let mut files = names(self.path());
        files.retain(|name| name.starts_with(".debug_session"));
        assert_eq!(files, [""; 0]);
        assert_eq!(names(&self.runtime.path().join("stillframe")), [""; 0]);
    }

    /// Ends the session, and fails unless nothing is left.
    async fn finish(self) {
        self.debug(["stop"]).await.ended_with(0).says("The debug session is closed");
        self.assert_nothing_left();
    }
}

/// Ticks until it is ended.
const TICKS: &str = "import time\nticks = 0\nwhile True:\n    ticks += 1\n    time.sleep(0.01)\n";
