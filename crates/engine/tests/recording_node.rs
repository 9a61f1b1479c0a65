//! Values that programs of Node write down while they run, whatever way the rows come.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that fails is a test that fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::adapter;
use engine::model::breakpoint::Rule;
use engine::model::launch::{Launch, Program, Start};
use engine::model::stop::End;
use engine::recording::{Cell, CellFormat, Record, RecordedRows, Recorder, Row};
use engine::session::placing::PlaceRequest;
use engine::session::{Outcome, Session};
use engine::sessions::Sessions;
use tempfile::TempDir;
use tokio::time::Instant;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(1);

/// A program that is recorded.
struct Scene {
    folder: TempDir,
    sessions: Sessions,
    session: Session,
    recorder: Recorder,
}

impl Scene {
    /// A program of these files; the first one is run.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let sessions = Sessions::new();
        let node = adapter::by_name("node").unwrap();
        let session = sessions.open(node, "recording".to_owned(), None).unwrap();
        Self { folder, sessions, session, recorder: Recorder::new(10_000).unwrap() }
    }

    /// A program whose `inner.js` runs in two global objects, with two passes of `add` in each.
    fn of_global_objects() -> Self {
        let source = "const vm = require('vm');\nconst fs = require('fs');\nconst file = __dirname + '/inner.js';\n\
                      const run = (names) => new vm.Script(fs.readFileSync(file, 'utf8'), { filename: file }).runInNewContext(names);\n\
                      run({ n: 3 });\nrun({ n: 4 });\n";
        let inner = "for (let i = 0; i < 2; i++) {\n  n += i; // @add\n}\n";
        Self::new(&[("main.js", source), ("inner.js", inner)])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn record(&self, expressions: &[&str]) -> Record {
        Record {
            expressions: expressions.iter().map(|text| (*text).to_owned()).collect(),
            sample_every: 1,
            only_when_changed: false,
            max_rows: 1000,
            cells: CellFormat::Text(200),
            recorder: self.recorder.sink(),
        }
    }

    /// Records at the line with the mark `// @name`.
    async fn at(&self, file: &str, mark: &str, record: Record) {
        self.set(file, mark, Rule { record: Some(record), ..Rule::default() }).await;
    }

    async fn set(&self, file: &str, mark: &str, rule: Rule) {
        let statement = Some(format!("// @{mark}"));
        let wanted = PlaceRequest { file: Some(self.path(file)), statement, rule, ..PlaceRequest::default() };
        self.session.set_breakpoint(wanted).await.unwrap();
    }

    /// Runs it to its end.
    async fn run(self, file: &str) -> Ran {
        self.session.start(launch(&self.path(file))).await.unwrap();
        self.end().await
    }

    async fn end(self) -> Ran {
        let outcome = self.session.wait(Instant::now() + LONG).await;
        let Outcome::Ended(end) = outcome else { panic!("{outcome:?}") };
        self.recorder.sync().await;
        let output = self.session.output().tail(0, 10_000).text();
        self.sessions.close_all().await;
        let RecordedRows { rows, hits, .. } = self.recorder.recorded();
        Ran {
            rows,
            hits: hits.into_iter().map(|(id, hits)| (id.0, hits)).collect(),
            output,
            end: (*end).clone(),
        }
    }
}

struct Ran {
    rows: Vec<Row>,
    hits: BTreeMap<u32, u64>,
    output: String,
    end: End,
}

impl Ran {
    /// Each row as `hit: text, text`.
    fn table(&self) -> Vec<String> {
        let row = |row: &Row| format!("{}: {}", row.hit, texts(row).join(", "));
        self.rows.iter().map(row).collect()
    }
}

fn texts(row: &Row) -> Vec<String> {
    let text = |cell: &Cell| match cell {
        Cell::Value { text, cut, .. } => format!("{text}{}", if *cut { " (cut)" } else { "" }),
        Cell::Error(message) => format!("!{message}"),
    };
    row.cells.iter().map(text).collect()
}

fn launch(path: &Path) -> Start {
    Start::Launch(Launch::new(Program::Script(path.to_owned())))
}

const LOOP: &str = "\
function run(count) {
  let total = 0;
  for (let i = 0; i < count; i++) {
    total += i; // @add
  }
  return total;
}
console.log(run(4));
";

#[tokio::test]
async fn every_hit_is_a_row() {
    let scene = Scene::new(&[("main.js", LOOP)]);
    scene.at("main.js", "add", scene.record(&["i", "total", "nowhere", "'it is ' + i"])).await;
    let ran = scene.run("main.js").await;
    let nowhere = "!ReferenceError: nowhere is not defined";
    let expected = [
        format!("1: 0, 0, {nowhere}, 'it is 0'"),
        format!("2: 1, 0, {nowhere}, 'it is 1'"),
        format!("3: 2, 1, {nowhere}, 'it is 2'"),
        format!("4: 3, 3, {nowhere}, 'it is 3'"),
    ];
    assert_eq!(ran.table(), expected);
    assert_eq!((ran.output.as_str(), ran.end), ("6\n", End::Exited(0)));
    assert!(ran.rows.iter().all(|row| row.thread == "main"));
    let Some(Cell::Value { type_name, .. }) = ran.rows[0].cells.first() else { panic!("{:?}", ran.rows) };
    assert_eq!(type_name, "number");
}

#[tokio::test]
async fn conditions_samples_changes_and_limits_apply() {
    let scene = Scene::new(&[("main.js", LOOP.replace("run(4)", "run(20)").as_str())]);
    let sampled = Record { sample_every: 3, max_rows: 2, ..scene.record(&["i"]) };
    let rule = Rule { condition: Some("i % 2".to_owned()), record: Some(sampled), ..Rule::default() };
    scene.set("main.js", "add", rule).await;
    let changed = Record { only_when_changed: true, ..scene.record(&["i >> 3"]) };
    scene.at("main.js", "add", changed).await;
    let ran = scene.run("main.js").await;
    let of = |id: u32| ran.table().into_iter().zip(&ran.rows).filter(move |(_, row)| row.id.0 == id);
    let table = |id| of(id).map(|(text, _)| text).collect::<Vec<_>>();
    assert_eq!(table(1), ["1: 1", "4: 7"]);
    assert_eq!(table(2), ["1: 0", "9: 1", "17: 2"]);
    assert_eq!(ran.hits, BTreeMap::from([(1, 10), (2, 20)]));
}

#[tokio::test]
async fn values_are_captured_at_the_hit() {
    let source = "const seen = { count: 0, list: [] };\n\
                  for (let i = 0; i < 2; i++) {\n  seen.list.push(i); // @push\n  seen.count += 1;\n}\n";
    let scene = Scene::new(&[("main.js", source)]);
    scene.at("main.js", "push", scene.record(&["seen"])).await;
    let json = Record {
        cells: CellFormat::Json(1000),
        ..scene.record(&["seen", "NaN", "new Map([[1, 2]])", "[i]"])
    };
    scene.at("main.js", "push", json).await;
    let ran = scene.run("main.js").await;
    let expected = [
        "1: { count: 0, list: [] }",
        "1: {\"count\":0,\"list\":[]}, NaN, Map(1) { 1 => 2 }, [0]",
        "2: { count: 1, list: [ 0 ] }",
        "2: {\"count\":1,\"list\":[0]}, NaN, Map(1) { 1 => 2 }, [1]",
    ];
    assert_eq!(ran.table(), expected);
    let is_json =
        |row: &Row| row.cells.iter().map(|cell| matches!(cell, Cell::Value { json: true, .. })).collect();
    let flags: Vec<Vec<bool>> = ran.rows.iter().map(is_json).collect();
    assert_eq!(flags[1], [true, false, false, true]);
}

#[tokio::test]
async fn rows_written_before_a_kill_are_kept() {
    let source =
        "for (let i = 0; i < 50; i++) {\n  Math.abs(i); // @pass\n}\nprocess.kill(process.pid, 'SIGKILL');\n";
    let scene = Scene::new(&[("main.js", source)]);
    scene.at("main.js", "pass", scene.record(&["i"])).await;
    let ran = scene.run("main.js").await;
    assert_eq!((ran.rows.len(), ran.hits[&1]), (50, 50));
    assert!(matches!(ran.end, End::Killed { signal: 9, .. }), "{:?}", ran.end);
}

#[tokio::test]
async fn rows_longer_than_the_pipe_arrive_whole() {
    let source = "for (const text of ['x'.repeat(9000), 'ü'.repeat(3000), '\\ud800']) {\n  String(text); // @pass\n}\n";
    let scene = Scene::new(&[("main.js", source)]);
    scene.at("main.js", "pass", Record { cells: CellFormat::Text(20_000), ..scene.record(&["text"]) }).await;
    let ran = scene.run("main.js").await;
    let quoted = |text: &str, count| format!("'{}'", text.repeat(count));
    let texts: Vec<String> = ran.rows.iter().flat_map(texts).collect();
    assert_eq!(texts, [quoted("x", 9000), quoted("ü", 3000), "'\\ud800'".to_owned()]);
}

#[tokio::test]
async fn another_realm_gets_its_recorder_at_the_first_hit() {
    let scene = Scene::of_global_objects();
    scene.at("inner.js", "add", scene.record(&["n", "i"])).await;
    let ran = scene.run("main.js").await;
    assert_eq!(ran.table(), ["1: 3, 0", "2: 3, 1", "1: 4, 0", "2: 4, 1"]);
}

#[tokio::test]
async fn hits_in_all_realms_are_counted() {
    let scene = Scene::of_global_objects();
    scene.at("inner.js", "add", Record { sample_every: 2, ..scene.record(&["n"]) }).await;
    let ran = scene.run("main.js").await;
    assert_eq!(
        (ran.table(), ran.hits),
        (vec!["1: 3".to_owned(), "1: 4".to_owned()], BTreeMap::from([(1, 4)]))
    );
}

#[tokio::test]
async fn workers_and_children_write_their_own_rows() {
    let source = "const { Worker } = require('worker_threads');\nconst { fork } = require('child_process');\n\
                  const file = __dirname + '/part.js';\n\
                  const worker = new Worker(file, { name: 'helper' });\n\
                  worker.on('exit', () => fork(file));\n";
    let part = "for (let i = 0; i < 3; i++) {\n  Math.abs(i); // @pass\n}\n";
    let scene = Scene::new(&[("main.js", source), ("part.js", part)]);
    scene.at("part.js", "pass", scene.record(&["i"])).await;
    let ran = scene.run("main.js").await;
    let observed: Vec<(&str, u64)> = ran.rows.iter().map(|row| (row.thread.as_str(), row.hit)).collect();
    let expected =
        [("helper", 1), ("helper", 2), ("helper", 3), ("part.js", 1), ("part.js", 2), ("part.js", 3)];
    assert_eq!(observed, expected);
    assert_eq!(ran.hits, BTreeMap::from([(1, 6)]));
    assert_ne!(ran.rows[0].pid, ran.rows[3].pid);
}

#[tokio::test]
async fn a_line_that_stops_is_recorded_as_well() {
    let scene = Scene::new(&[("main.js", LOOP)]);
    scene.at("main.js", "add", scene.record(&["i"])).await;
    let third = Rule { condition: Some("i === 2".to_owned()), ..Rule::default() };
    scene.set("main.js", "add", third).await;
    scene.session.start(launch(&scene.path("main.js"))).await.unwrap();
    let outcome = scene.session.wait(Instant::now() + LONG).await;
    assert!(matches!(outcome, Outcome::Stopped(_)), "{outcome:?}");
    scene.recorder.sync().await;
    assert_eq!(scene.recorder.len(), 3);
    scene.session.resume().await.unwrap();
    assert_eq!(scene.end().await.table(), ["1: 0", "2: 1", "3: 2", "4: 3"]);
}

#[tokio::test]
async fn an_expression_that_reaches_the_breakpoint_is_not_a_hit() {
    let source = "let depth = 0;\nglobalThis.again = function again(n) {\n  depth += 1; // @pass\n  return n;\n};\nagain(1);\nagain(2);\n";
    let scene = Scene::new(&[("main.js", source)]);
    scene.at("main.js", "pass", scene.record(&["n", "again(7)"])).await;
    assert_eq!(scene.run("main.js").await.table(), ["1: 1, 7", "2: 2, 7"]);
}

#[tokio::test]
async fn a_removed_breakpoint_reports_its_count() {
    let source = "let i = 0;\nsetInterval(() => {\n  i += 1; // @pass\n}, 1);\nsetTimeout(() => process.exit(), 20_000);\n";
    let scene = Scene::new(&[("main.js", source)]);
    scene.at("main.js", "pass", Record { max_rows: 3, ..scene.record(&["i"]) }).await;
    scene.session.start(launch(&scene.path("main.js"))).await.unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while scene.recorder.recorded().hits.values().sum::<u64>() < 20 && Instant::now() < until {
        tokio::task::yield_now().await;
    }
    scene.session.remove_breakpoints(|_, _| true).await.unwrap();
    scene.recorder.sync().await;
    let before = scene.recorder.recorded();
    scene.recorder.sync().await;
    assert_eq!(before.rows.len(), 3);
    assert!(before.hits.values().sum::<u64>() >= 20);
    assert_eq!(scene.recorder.recorded(), before);
    scene.sessions.close_all().await;
}

#[tokio::test]
async fn a_condition_is_evaluated_in_another_realm() {
    let scene = Scene::of_global_objects();
    let rule = Rule { condition: Some("n === 4 && i === 0".to_owned()), ..Rule::default() };
    scene.set("inner.js", "add", rule).await;
    scene.session.start(launch(&scene.path("main.js"))).await.unwrap();
    let outcome = scene.session.wait(Instant::now() + LONG).await;
    let Outcome::Stopped(stop) = outcome else { panic!("{outcome:?}") };
    assert_eq!(stop.breakpoints.len(), 1);
    scene.session.resume().await.unwrap();
    assert_eq!(scene.end().await.end, End::Exited(0));
}

#[tokio::test]
async fn v8_refusals_have_a_distinct_error() {
    let scene = Scene::new(&[("main.js", LOOP)]);
    scene.at("main.js", "add", scene.record(&["i", "i.#cents", "/re(/", "((a, a) => 1)(i)"])).await;
    let ran = scene.run("main.js").await;
    assert_eq!((ran.rows.len(), ran.output.as_str()), (4, "6\n"));
    for row in ran.table() {
        assert_eq!(row.matches("!SyntaxError: ").count(), 3, "{row}");
    }
}
