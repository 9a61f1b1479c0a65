//! A program that is recorded, as a test talks to it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use engine::adapter::python::Python;
use engine::debugger::python::PythonConnector;
use engine::model::breakpoint::{Breakpoint, Rule};
use engine::model::launch::{Launch, Program, Start};
use engine::model::stop::End;
use engine::recording::{Cell, CellFormat, Record, RecordedRows, Recorder, Row};
use engine::session::placing::PlaceRequest;
use engine::session::{Outcome, Session, SessionOptions};
use journal::Journal;
use tempfile::TempDir;
use test_support::Mark;
use tokio::time::Instant;

use crate::machine::{TestMachine, Way, ways};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(2);

pub(crate) struct Scene {
    pub(crate) way: Way,
    pub(crate) session: Session,
    pub(crate) recorder: Recorder,
    folder: TempDir,
    mark: Mark,
}

/// The same program once for each way.
pub(crate) async fn scenes(files: &[(&str, &str)]) -> Vec<Scene> {
    ways().await.into_iter().map(|way| Scene::new(way, files)).collect()
}

impl Scene {
    /// A program of these files.
    fn new(way: Way, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let executable = Some(way.python.clone());
        let connector = PythonConnector::new(&Python, &TestMachine, executable.clone());
        let options = SessionOptions {
            id: engine::model::ids::SessionId::random(),
            name: "recording".to_owned(),
            adapter: &Python,
            host: &TestMachine,
            executable,
            connector: std::sync::Arc::new(connector),
            journal: Journal::none(),
            policy: std::sync::Arc::default(),
        };
        let recorder = Recorder::new(100_000).unwrap();
        Self { way, session: Session::spawn(options), recorder, folder, mark: Mark::default() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// What records these expressions, in full.
    pub(crate) fn record(&self, expressions: &[&str]) -> Record {
        Record {
            expressions: expressions.iter().map(|text| (*text).to_owned()).collect(),
            sample_every: 1,
            only_when_changed: false,
            max_rows: 100_000,
            cells: CellFormat::Text(200),
            recorder: self.recorder.sink(),
        }
    }

    /// Records expressions at the line of `main.py` with the mark `# @name`.
    pub(crate) async fn at(&self, mark: &str, expressions: &[&str]) -> Breakpoint {
        self.with("main.py", mark, self.record(expressions)).await
    }

    /// Records at the line with the mark `# @name`.
    pub(crate) async fn with(&self, file: &str, mark: &str, record: Record) -> Breakpoint {
        self.set(file, mark, Rule { record: Some(record), ..Rule::default() }).await
    }

    /// Sets a breakpoint at the line with the mark `# @name`.
    pub(crate) async fn set(&self, file: &str, mark: &str, rule: Rule) -> Breakpoint {
        let statement = Some(format!("# @{mark}"));
        let wanted = PlaceRequest { file: Some(self.path(file)), statement, rule, ..PlaceRequest::default() };
        self.session.set_breakpoint(wanted).await.unwrap().0
    }

    pub(crate) async fn start(&self) {
        let mut env = self.way.env();
        let (name, value) = self.mark.variable();
        env.insert(name.to_owned(), Some(value.to_owned()));
        let cwd = Some(self.folder.path().to_owned());
        let launch = Launch { cwd, env, ..Launch::new(Program::Script(self.path("main.py"))) };
        self.session.start(Start::Launch(launch)).await.unwrap();
    }

    pub(crate) async fn wait(&self) -> Outcome {
        self.session.wait(Instant::now() + LONG).await
    }

    /// Waits until so many passes are known.
    pub(crate) async fn passed(&self, id: u32, times: u64) {
        let until = Instant::now() + LONG;
        while counts(&self.recorder.recorded()).get(&id).copied().unwrap_or(0) < times {
            assert!(Instant::now() < until, "{:?}", self.recorder.recorded().hits);
            tokio::task::yield_now().await;
        }
    }

    /// Releases the program, which waits for this.
    pub(crate) fn give(&self, file: &str) {
        std::fs::write(self.path(file), "").unwrap();
    }

    /// Runs `main.py` to its end.
    pub(crate) async fn run(self) -> Ran {
        self.start().await;
        self.end().await
    }

    /// Waits for the end.
    pub(crate) async fn end(self) -> Ran {
        let outcome = self.wait().await;
        let Outcome::Ended(end) = outcome else { panic!("{:?}: {outcome:?}", self.way) };
        self.recorder.sync().await;
        let output = self.session.output().tail(0, 10_000).text();
        let breakpoints = self.session.breakpoints().await.unwrap();
        self.session.end().await.unwrap();
        self.mark.assert_gone_within(Duration::from_secs(10));
        let recorded = self.recorder.recorded();
        let counts = counts(&recorded);
        Ran { way: self.way, rows: recorded.rows, counts, breakpoints, output, end: (*end).clone() }
    }
}

fn counts(recorded: &RecordedRows) -> BTreeMap<u32, u64> {
    recorded.hits.iter().map(|(id, hits)| (id.0, *hits)).collect()
}

/// How it was.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) way: Way,
    /// In the order in which they were written.
    pub(crate) rows: Vec<Row>,
    /// How often each place was passed.
    pub(crate) counts: BTreeMap<u32, u64>,
    pub(crate) breakpoints: Vec<Breakpoint>,
    pub(crate) output: String,
    pub(crate) end: End,
}

impl Ran {
    /// Each row of a place as `hit: text, text`.
    pub(crate) fn table(&self, id: u32) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| row.id.0 == id);
        rows.map(|row| format!("{}: {}", row.hit, texts(row).join(", "))).collect()
    }

    /// The text of each cell of all rows.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.rows.iter().flat_map(texts).collect()
    }

    /// It ended well, without a word.
    pub(crate) fn was_quiet(&self) {
        assert_eq!((self.output.as_str(), &self.end), ("", &End::Exited(0)), "{:?}", self.way);
    }
}

/// The text of each cell, marked where it is cut or an error.
pub(crate) fn texts(row: &Row) -> Vec<String> {
    let text = |cell: &Cell| match cell {
        Cell::Value { text, cut, .. } => format!("{text}{}", if *cut { " (cut)" } else { "" }),
        Cell::Error(message) => format!("!{message}"),
    };
    row.cells.iter().map(text).collect()
}
