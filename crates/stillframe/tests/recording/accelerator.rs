//! The native code of the recorder, which the user's C compiler makes, records what its Python code does.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use test_support::Fixture;

use crate::export::rows;
use crate::recorder::{Client, has, pythons, written};

/// Turns it off with 0.
const SWITCH: &str = "STILLFRAME_RECORD_NATIVE";

/// The Pythons that it is written for, by their paths.
async fn accelerated() -> Vec<String> {
    let text = "import sys\nprint('%d.%d' % sys.version_info[:2], sys.executable)\n";
    let (_folder, program) = written("main.py", text);
    let mut found = Vec::new();
    for python in pythons() {
        let (client, said) = Client::recorded(&python, &program).await;
        client.server.finish().await;
        let (version, path) = said.split("output:\n").nth(1).unwrap().trim().split_once(' ').unwrap();
        if ["3.11", "3.12", "3.13"].contains(&version) {
            found.push(path.to_owned());
        }
    }
    assert!(!found.is_empty(), "install Python 3.11 to 3.13 with its headers");
    found
}

/// What is said about a run, and its rows without their times.
async fn recorded(program: &Fixture, python: &str, switch: &str) -> (String, Vec<BTreeMap<String, String>>) {
    // The order of a set's members depends on their hashes.
    let client = Client::with_env(&[("PYTHONHASHSEED", "0"), (SWITCH, switch)], python).await;
    let said = client.record(program, &[]).await;
    let mut rows = rows(&client.export(json!({ "format": "csv" })).await);
    for row in &mut rows {
        row.remove("milliseconds");
    }
    client.server.finish().await;
    (said, rows)
}

#[tokio::test]
async fn it_records_what_the_python_code_records() {
    let (all, changes) = (Fixture::python("recording_native"), Fixture::python("recording_changes"));
    for python in accelerated().await {
        for (program, least, ends) in [
            (&all, 10_000, [&["exited with code 3", "plain"], &["exited with code 3", "native"]]),
            (&changes, 400, [&["exited with code 0", "done"]; 2]),
        ] {
            let (said, plain) = recorded(program, &python, "0").await;
            has(&said, ends[0]);
            let (said, native) = recorded(program, &python, "1").await;
            has(&said, ends[1]);
            assert!(plain.len() > least, "{}", plain.len());
            for (at, (one, other)) in plain.iter().zip(&native).enumerate() {
                assert_eq!(one, other, "{python}: row {at}");
            }
            assert_eq!(plain.len(), native.len(), "{python}");
        }
    }
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn without_a_compiler_a_long_run_says_what_would_make_it_faster() {
    let text = "\
total = 0
for number in range(160_000):
    total += number
print('total', total)
";
    let (folder, program) = written("main.py", text);
    let cache = tempfile::tempdir().unwrap();
    let programs = tempfile::tempdir().unwrap();
    let python = accelerated().await.swap_remove(0);
    std::os::unix::fs::symlink(&python, programs.path().join("python3")).unwrap();
    let env = [
        ("PATH", programs.path().to_str().unwrap()),
        ("STILLFRAME_CACHE_DIR", cache.path().to_str().unwrap()),
    ];
    let client = Client::with_env(&env, &python).await;
    let said = client.record(&program, &[]).await;
    has(
        &said,
        &[
            "exited with code 0",
            "recording is about ten times faster with a C compiler (cc, gcc or clang) on the PATH",
            "total 12799920000",
        ],
    );
    let short = Fixture::write(folder.path(), "short.py", "print('short')\n");
    assert!(!client.record(&short, &[]).await.contains("faster"));
    client.server.finish().await;
}

#[tokio::test]
async fn a_compiler_that_fails_is_tried_once() {
    let (folder, program) = written("main.py", "number = 1\nprint('number', number)\n");
    let cache = tempfile::tempdir().unwrap();
    let programs = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls");
    let compiler = programs.path().join("cc");
    let script =
        format!("#!/bin/sh\necho called >>'{}'\necho 'no such thing' >&2\nexit 1\n", calls.display());
    std::fs::write(&compiler, script).unwrap();
    std::fs::set_permissions(&compiler, Permissions::from_mode(0o755)).unwrap();
    let python = accelerated().await.swap_remove(0);
    let env = [
        ("PATH", programs.path().to_str().unwrap()),
        ("STILLFRAME_CACHE_DIR", cache.path().to_str().unwrap()),
    ];
    let client = Client::with_env(&env, &python).await;
    for _ in 0..2 {
        has(&client.record(&program, &[]).await, &["exited with code 0", "number 1"]);
    }
    assert_eq!(std::fs::read_to_string(&calls).unwrap(), "called\n");
    let modules = std::fs::read_dir(cache.path().join("recorder")).unwrap().next().unwrap().unwrap().path();
    let files = std::fs::read_dir(modules).unwrap().flatten().map(|entry| entry.path());
    let notes: Vec<_> = files.filter(|path| path.extension().is_some_and(|kind| kind == "failed")).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    has(&std::fs::read_to_string(&notes[0]).unwrap(), &["no such thing"]);
    client.server.finish().await;
}
