//! Small programs that are written where they are tested.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;
use test_support::{Answer, Fixture, python_with_packages};

use crate::STILLFRAME;
use crate::debugging::Debugging;

/// A session whose interpreter has the packages of the tests.
pub(crate) async fn with_packages() -> Debugging {
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "python", "executablePath": python_with_packages().await });
    let id = server.ok("create_debug_session", arguments).await.text_of("sessionId").to_owned();
    Debugging { server, id }
}

/// A program in a folder of its own, which goes with it.
pub(crate) struct Script {
    folder: TempDir,
    main: Fixture,
}

impl Script {
    /// `main.py` with this text.
    pub(crate) fn new(text: &str) -> Self {
        let folder = folder();
        let main = Fixture::write(folder.path(), "main.py", text);
        Self { folder, main }
    }

    /// One more file in the folder.
    pub(crate) fn file(&self, name: &str, text: &str) -> Fixture {
        let path = self.path_of(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder can be made");
        Fixture::write(self.folder(), name, text)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in the folder.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts it in a session of its own.
    pub(crate) async fn start(&self) -> (Debugging, Answer) {
        let session = Debugging::new().await;
        let report = session.start(&self.main).await;
        (session, report)
    }

    /// Starts it in a session of its own, and stops at a named line.
    pub(crate) async fn stopped_at(&self, name: &str) -> (Debugging, Answer) {
        Debugging::stopped_at(&self.main, name).await
    }
}

impl Deref for Script {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.main
    }
}

/// A folder for the programs of one test.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made")
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("tests have plain names")
}

/// What plain Python makes of a program.
#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: Option<i32>,
}

/// Runs `python3` without a debugger, to compare with.
pub(crate) async fn plain(folder: &Path, args: &[&str]) -> Plain {
    run("python3", folder, args).await
}

/// Runs a program to its end.
#[expect(clippy::disallowed_methods, reason = "short programs that have nothing to do with the server")]
pub(crate) async fn run(program: &str, folder: &Path, args: &[&str]) -> Plain {
    let mut command = tokio::process::Command::new(program);
    command.args(args).current_dir(folder).stdin(std::process::Stdio::null()).kill_on_drop(true);
    let done = command.output().await.expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("the program writes text");
    Plain { stdout: text(done.stdout), stderr: text(done.stderr), code: done.status.code() }
}
