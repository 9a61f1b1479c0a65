//! Recording in attached programs.

use std::path::PathBuf;
use std::process::Stdio;

use engine::adapter::Adapter;
use engine::adapter::python::Python;
use engine::model::launch::{Attach, Endpoint, Start};
use engine::progress::Progress;
use engine::recording::Record;
use test_support::Fixture;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::machine::{TestMachine, Way};
use crate::scene::{Scene, scenes};

/// debugpy for an interpreter, as it is provisioned.
async fn debugpy(way: &Way) -> PathBuf {
    let runtime = Python.locate(&TestMachine, Some(&way.python), None).await.unwrap();
    let scripts = Python.provide(&TestMachine, &runtime, &Progress::new()).await.unwrap();
    let folders = std::fs::read_dir(scripts.parent().unwrap()).unwrap().flatten().map(|entry| entry.path());
    let mut installed = folders.filter(|folder| folder.join("debugpy/__init__.py").is_file());
    installed.find(|folder| folder.to_str().is_some_and(|name| name.ends_with(&runtime.tag))).unwrap()
}

/// A program that waits on a port for debuggers. It ends when its input does.
#[expect(clippy::disallowed_methods, reason = "a program that is not ours, which ends with its input")]
async fn listening(way: &Way, program: &Fixture) -> (Child, u16) {
    let mut command = Command::new(&way.python);
    command.args(["-X", "frozen_modules=off", program.path()]).env("PYTHONPATH", debugpy(way).await);
    for (name, value) in way.env() {
        command.env(name, value.unwrap_or_default());
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let port = lines.next_line().await.unwrap().unwrap();
    (child, port.parse().unwrap())
}

async fn attach(scene: &Scene, port: u16) {
    let to = Endpoint::Address { host: "127.0.0.1".to_owned(), port };
    let attach = Attach { to, path_mappings: Vec::new(), just_my_code: true };
    scene.session.start(Start::Attach(attach)).await.unwrap();
}

/// The recorder is sent there, and is silent when the debugger goes.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_attached_program_is_recorded_detached_and_recorded_again() {
    let program = Fixture::python("debugpy_port");
    let source = std::fs::read_to_string(program.path()).unwrap();
    let scenes_of_one = scenes(&[("main.py", &source)]).await;
    let scenes_of_two = scenes(&[("main.py", &source)]).await;
    // debugpy 1.8.22 listens on no port in older versions.
    let pairs =
        scenes_of_one.into_iter().zip(scenes_of_two).filter(|(first, _)| first.way.version >= (3, 10));
    for (first, second) in pairs {
        let way = first.way.clone();
        let (mut child, port) = listening(&way, &Fixture::read(first.path("main.py"))).await;
        for (scene, rows) in [(&first, 5), (&second, 8)] {
            attach(scene, port).await;
            let file = first.path("main.py");
            let record = Record { max_rows: rows, ..scene.record(&["rounds >= 0"]) };
            scene.with(file.to_str().unwrap(), "work", record).await;
            scene.passed(1, rows + 5).await;
            scene.session.detach().await.unwrap();
            scene.recorder.sync().await;
            let recorded = scene.recorder.recorded();
            assert_eq!(recorded.rows.len() as u64, rows, "{way:?}");
            let hits: Vec<u64> = recorded.rows.iter().map(|row| row.hit).collect();
            assert_eq!(hits, (1..=rows).collect::<Vec<_>>(), "{way:?}");
            assert!(recorded.rows.iter().all(|row| crate::scene::texts(row) == ["True"]));
        }
        for scene in [first, second] {
            scene.session.end().await.unwrap();
        }
        assert_eq!(child.try_wait().unwrap(), None, "{way:?}: it runs on");
        drop(child.stdin.take());
        assert!(child.wait().await.unwrap().success(), "{way:?}");
    }
}
