//! A program that is watched, as a test talks to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use engine::adapter::python::Python;
use engine::debugger::python::PythonConnector;
use engine::model::activity::{Activity, CallNode, ThreadActivity};
use engine::model::launch::{Launch, Program, Start, Stdin};
use engine::model::source::Location;
use engine::session::{Session, SessionOptions};
use journal::Journal;
use tempfile::TempDir;
use test_support::Mark;
use tokio::time::Instant;

use crate::machine::{TestMachine, Way, ways};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(1);

pub(crate) struct Scene {
    pub(crate) way: Way,
    pub(crate) session: Session,
    source: String,
    folder: TempDir,
    mark: Mark,
}

/// Each version once.
pub(crate) async fn versions() -> Vec<Way> {
    ways().await.into_iter().filter(|way| way.by_pydevd).collect()
}

impl Scene {
    /// A program that runs and is watched.
    pub(crate) async fn start(way: Way, source: &str) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::write(folder.path().join("main.py"), source).unwrap();
        let executable = Some(way.python.clone());
        let connector = PythonConnector::new(&Python, &TestMachine, executable.clone());
        let options = SessionOptions {
            id: engine::model::ids::SessionId::random(),
            name: "sampling".to_owned(),
            adapter: &Python,
            host: &TestMachine,
            executable,
            connector: std::sync::Arc::new(connector),
            journal: Journal::none(),
            policy: std::sync::Arc::default(),
        };
        let session = Session::spawn(options);
        let scene = Self { way, session, source: source.to_owned(), folder, mark: Mark::default() };
        scene.session.start_sampling(Duration::from_millis(50)).await.unwrap();
        let (name, value) = scene.mark.variable();
        let env: BTreeMap<_, _> = [(name.to_owned(), Some(value.to_owned()))].into();
        let cwd = Some(scene.folder.path().to_owned());
        let program = Program::Script(scene.path("main.py"));
        let launch = Launch { cwd, env, stdin: Stdin::Open, ..Launch::new(program) };
        scene.session.start(Start::Launch(launch)).await.unwrap();
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The line with the mark `# @name`.
    pub(crate) fn line(&self, mark: &str) -> u32 {
        let mark = format!("# @{mark}");
        let index = self.source.lines().position(|line| line.ends_with(&mark)).unwrap();
        u32::try_from(index).unwrap() + 1
    }

    /// What the program itself is doing.
    pub(crate) async fn activity(&self) -> Activity {
        let mut all = self.session.activity().await.unwrap();
        assert!(!all.is_empty(), "{:?}: the program is there", self.way);
        all.remove(0).activity
    }

    /// Looks until what is seen satisfies the test, and returns that.
    pub(crate) async fn until(&self, mut satisfies: impl FnMut(&Activity) -> bool) -> Activity {
        let until = Instant::now() + LONG;
        loop {
            let activity = self.activity().await;
            if satisfies(&activity) {
                return activity;
            }
            assert!(Instant::now() < until, "{:?}: {activity:#?}", self.way);
        }
    }

    /// Looks until a thread is blocked by the same thing twice in a row, and returns all that was seen then. On its way
    /// there it may wait for something else for a moment.
    pub(crate) async fn blocked(&self, thread: &str) -> Activity {
        let mut before = None;
        self.until(|activity| {
            let is_blocked = |each: &&ThreadActivity| each.name == thread && each.blocked.is_some();
            let now = activity.threads.iter().find(is_blocked).map(|_| waits(activity, thread));
            let is_settled = now.is_some() && now == before;
            before = now;
            is_settled
        })
        .await
    }

    /// Ends the program.
    pub(crate) async fn end(self) {
        self.session.end().await.unwrap();
        self.mark.assert_gone_within(Duration::from_secs(10));
    }
}

pub(crate) fn thread<'a>(activity: &'a Activity, name: &str) -> &'a ThreadActivity {
    match activity.threads.iter().find(|thread| thread.name == name) {
        Some(thread) => thread,
        None => panic!("{name}: {activity:#?}"),
    }
}

/// A place as `main.py:3`.
pub(crate) fn place(location: Option<&Location>) -> String {
    let Some(location) = location else { return "nowhere".to_owned() };
    let file = location.source.path.as_deref().and_then(|path| path.file_name());
    format!("{}:{}", file.unwrap_or_default().to_string_lossy(), location.line)
}

/// What a thread waits for, as `kind: what at main.py:3, timed, held by a, b`.
pub(crate) fn waits(activity: &Activity, name: &str) -> String {
    let thread = thread(activity, name);
    let Some(waiting) = &thread.blocked else { return "nothing".to_owned() };
    let timed = if waiting.is_timed { ", timed" } else { "" };
    let holder = |id| {
        let found = activity.threads.iter().find(|thread| thread.thread == id);
        found.map_or_else(|| format!("{id:?}"), |thread| thread.name.clone())
    };
    let holders: Vec<String> = waiting.holders.iter().map(|id| holder(*id)).collect();
    let held = if holders.is_empty() { String::new() } else { format!(", held by {}", holders.join(", ")) };
    let target_location = place(waiting.location.as_ref());
    format!("{:?}: {} at {target_location}{timed}{held}", waiting.kind, waiting.what)
}

/// The call of a function, wherever it is.
pub(crate) fn call<'a>(calls: &'a [CallNode], function: &str) -> Option<&'a CallNode> {
    calls.iter().find_map(
        |node| {
            if node.function == function { Some(node) } else { call(&node.calls, function) }
        },
    )
}
