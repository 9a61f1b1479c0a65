//! Values that a program of Node writes down while it runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::adapter;
use engine::model::breakpoint::Rule;
use engine::model::launch::{Launch, Program, Start, Stdin};
use engine::recording::{Cell, Cells, Record, Recorded, Recorder};
use engine::session::placing::Wanted;
use engine::session::{Outcome, Session};
use engine::sessions::Sessions;
use tokio::time::Instant;

fn launch(path: &Path) -> Start {
    Start::Launch(Launch {
        program: Program::Script(path.to_owned()),
        args: Vec::new(),
        runtime_args: Vec::new(),
        cwd: None,
        env: Default::default(),
        stdin: Stdin::Empty,
        stop_on_entry: false,
        just_my_code: true,
    })
}

fn record(recorder: &Recorder, expressions: &[&str]) -> Record {
    Record {
        expressions: expressions.iter().map(|text| (*text).to_owned()).collect(),
        sample_every: 1,
        only_when_changed: false,
        max_rows: 1000,
        cells: Cells::Text(200),
        recorder: recorder.clone(),
    }
}

async fn run(source: &str, statement: &str, rule: impl FnOnce(&Recorder) -> Rule) -> (Recorded, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("main.js");
    std::fs::write(&path, source).unwrap();
    let sessions = Sessions::new();
    let session: Session = sessions.open(adapter::by_name("node").unwrap(), "test".to_owned(), None);
    let recorder = Recorder::new(1_000_000).unwrap();
    let wanted = Wanted {
        file: Some(path.clone()),
        statement: Some(statement.to_owned()),
        rule: rule(&recorder),
        ..Wanted::default()
    };
    session.set_breakpoint(wanted).await.unwrap();
    let began = Instant::now();
    session.start(launch(&path)).await.unwrap();
    let outcome = session.wait(Instant::now() + Duration::from_secs(100)).await;
    assert!(matches!(outcome, Outcome::Ended(_)), "{outcome:?}");
    let took = began.elapsed();
    recorder.sync().await;
    eprintln!("{}", session.output().tail(0, 10000).text());
    sessions.close_all().await;
    (recorder.recorded(), took)
}

#[tokio::test]
async fn loop_rows() {
    let n: u64 = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let source = format!(
        "function run(n) {{\n  let total = 0;\n  for (let i = 0; i < n; i++) {{\n    total += i;\n  }}\n  return total;\n}}\nconst t = performance.now();\nrun({n});\nconsole.log('ms', performance.now() - t);\n"
    );
    let (recorded, took) = run(&source, "total += i;", |recorder| Rule {
        record: Some(Record { max_rows: 1_000_000, ..record(recorder, &["i", "total"]) }),
        ..Rule::default()
    })
    .await;
    eprintln!("{took:?} rows {} hits {:?}", recorded.rows.len(), recorded.hits);
    eprintln!("{:?}", recorded.rows.iter().take(3).collect::<Vec<_>>());
    assert_eq!(recorded.rows.len() as u64, n);
}
