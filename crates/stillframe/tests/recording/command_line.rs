//! `stillframe record`, `ask` and `recordings`.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::json;
use test_support::{Fixture, eventually, interrupt};

use crate::STILLFRAME;
use crate::recorder::{Client, at, has, pythons, written};

/// The exit code, the output and the errors of a command.
pub(crate) async fn run(state: &std::path::Path, words: &[&str]) -> (i32, String, String) {
    let mut command = STILLFRAME.command();
    command.args(words).env("XDG_STATE_HOME", state).env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
    outcome(command).await
}

async fn outcome(mut command: tokio::process::Command) -> (i32, String, String) {
    let done = command.output().await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap(), text(&done.stdout), text(&done.stderr))
}

#[tokio::test]
async fn a_run_is_recorded_and_asked_about() {
    let program = Fixture::python("recording_shop");
    let state = tempfile::tempdir().unwrap();
    let (code, said, _) = run(state.path(), &["record", "--", "python3", program.path()]).await;
    assert_eq!(code, 0, "{said}");
    has(&said, &["recorded as rec-1: the program exited with code 1"]);
    let moment = at(&program, "lost");
    let questions: [(&[&str], &str); 7] = [
        (&["first", "total < 0"], "first holds after"),
        (&["writes", "cart.items", "--most", "1"], "earlier writes"),
        (&["state", "exception"], "ValueError: negative total"),
        (&["state"], "ValueError: negative total"),
        (&["changes", &moment, "end"], "list #"),
        (&["hits", "checkout"], "checkout was called once"),
        (&["diverged", "rec-1", "last"], "the same steps"),
    ];
    for (words, expected) in questions {
        let words: Vec<&str> = std::iter::once("ask").chain(words.iter().copied()).collect();
        let (code, said, errors) = run(state.path(), &words).await;
        assert!(code == 0 && said.contains(expected), "{words:?}: {said}{errors}");
    }
    let (code, _, errors) = run(state.path(), &["ask", "state", "nowhere"]).await;
    assert_eq!(code, 1);
    has(&errors, &["`nowhere` is not a moment"]);
    let (_, listed, _) = run(state.path(), &["recordings"]).await;
    has(&listed, &["rec-1: main.py; exited with code 1"]);
    assert_eq!(run(state.path(), &["recordings", "remove", "rec-1"]).await.1, "removed: 1\n");
}

#[tokio::test]
async fn a_shell_does_not_hide_programs_that_are_not_recorded() {
    let program = Fixture::python("recording_shop");
    let state = tempfile::tempdir().unwrap();
    let command = format!("python3 {}", program.path());
    let (_, said, _) = run(state.path(), &["record", "--", "sh", "-c", &command]).await;
    has(
        &said,
        &[
            "0 events",
            "incomplete: of what `sh` starts, only JavaScript and TypeScript in Node.js is recorded",
        ],
    );
    let script = Fixture::node("recording_shop");
    let node = format!("node {}", script.path());
    for (first, is_missing) in [("A=1 python3 -c 1", true), ("echo 'written in python'", false)] {
        let command = format!("{first}; {node}");
        let (_, said, _) = run(state.path(), &["record", "--", "sh", "-c", &command]).await;
        assert_eq!(said.contains("programs in other languages may be missing"), is_missing, "{said}");
    }
    let wrapped = ["record", "--", "timeout", "60", "python3", program.path()];
    let (code, _, errors) = run(state.path(), &wrapped).await;
    assert_eq!(code, 1);
    has(&errors, &["`timeout` runs other commands", "give the command that it runs"]);
}

#[tokio::test]
async fn the_documentation_has_the_answers_that_are_printed() {
    let page = test_support::repository().join("docs/recordings.md");
    let page = std::fs::read_to_string(page).unwrap();
    let state = tempfile::tempdir().unwrap();
    let shops = [(Fixture::node("recording_shop"), "node"), (Fixture::python("recording_shop"), "python3")];
    for (program, runtime) in &shops {
        run(state.path(), &["record", "--", runtime, program.path()]).await;
    }
    let questions = [
        "ask first 'total < 0'",
        "ask writes cart.items --most 2",
        "ask why total --most 9",
        "ask hits without_expensive",
        "ask writes cart.items --most 1",
    ];
    for (question, is_node) in questions.into_iter().zip([false, false, false, false, true]) {
        let (_, answer) = page.split_once(&format!("$ stillframe {question}\n")).unwrap();
        let (answer, _) = answer.split_once("```").unwrap();
        let mut words: Vec<&str> = question.split(' ').collect();
        if let Some(condition) = question.split('\'').nth(1) {
            words = vec!["ask", "first", condition];
        }
        if is_node {
            words.extend(["--recording", "rec-1"]);
        }
        assert_eq!(run(state.path(), &words).await.1, answer, "{question}");
    }
}

/// What a program can know of how it was started.
const STARTED: &str = "\
import os
import sys

print(sys.argv, os.path.basename(__file__), sys.path[0] == os.getcwd())
print(type(__loader__).__name__, __spec__, __cached__, __annotations__, sorted(name for name in dir() if name[0] == '_'))
";

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a program that is not ours, which ends at once")]
async fn a_recorded_program_is_started_as_without_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.py"), STARTED).unwrap();
    let state = tempfile::tempdir().unwrap();
    for python in pythons() {
        let words = [&python, "main.py", "-v", "two words"];
        let plain = std::process::Command::new(&python).args(&words[1..]).current_dir(folder.path()).output();
        let plain = String::from_utf8(plain.unwrap().stdout).unwrap();
        let (code, said, errors) = run_in(folder.path(), state.path(), &words).await;
        assert_eq!(code, 0, "{errors}");
        has(&said, &["exited with code 0", &plain]);
    }
}

/// The same for a program that is recorded in a folder.
async fn run_in(folder: &std::path::Path, state: &std::path::Path, words: &[&str]) -> (i32, String, String) {
    let mut command = STILLFRAME.command();
    command.args(["record", "--"]).args(words).current_dir(folder);
    command.env("XDG_STATE_HOME", state).env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
    outcome(command).await
}

/// Ctrl-C is the program's, which may end as it does then; the second one ends it.
#[tokio::test]
async fn an_interrupted_program_is_recorded_to_its_end() {
    let text = "\
import pathlib, sys, time

count = 0
while True:
    try:
        pathlib.Path('ready%d' % count).touch()
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        count += 1
        print('saved', count, flush=True)
        if len(sys.argv) == 1:
            break
";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.py"), text).unwrap();
    let state = tempfile::tempdir().unwrap();
    for (more, ends) in [
        (None, &["rec-1: the program exited with code 0", "saved 1"][..]),
        (Some("stays"), &["rec-2: the program ended by stillframe at the second interrupt", "saved 1"][..]),
    ] {
        let mut command = STILLFRAME.command();
        command.args(["record", "--", "python3", "main.py"]).args(more).current_dir(folder.path());
        command.env("XDG_STATE_HOME", state.path()).env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        for ready in ["ready0", "ready1"].iter().take(1 + usize::from(more.is_some())) {
            let ready = folder.path().join(ready);
            eventually(|| ready.exists()).await;
            std::fs::remove_file(ready).unwrap();
            interrupt(command.id().unwrap());
        }
        let done = command.wait_with_output().await.unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        assert_eq!(done.status.code(), Some(130), "{said}");
        has(&said, ends);
    }
}

/// Before Python 3.12, an interrupt is mostly raised in the recorder, and ends the tracing.
#[tokio::test]
async fn what_a_busy_program_does_after_an_interrupt_is_recorded_or_known_to_be_missing() {
    let text = "\
import os, pathlib, sys


def work(n):
    return n + 1


def save():
    print('saved', flush=True)
    if len(sys.argv) > 1:
        os._exit(0)


n = 0
try:
    while True:
        n = work(n)
        if n == 200:
            pathlib.Path('ready').touch()
except KeyboardInterrupt:
    save()
";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.py"), text).unwrap();
    let state = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    for python in pythons() {
        for more in [None, Some("exits")] {
            let mut command = STILLFRAME.command();
            command.args(["record", "--", &python, "main.py"]).args(more).current_dir(folder.path());
            command.env("XDG_STATE_HOME", state.path()).env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
            command.env("STILLFRAME_RECORD_NATIVE", "0").stdout(Stdio::piped()).stderr(Stdio::piped());
            let command = command.spawn().unwrap();
            eventually(|| ready.exists()).await;
            std::fs::remove_file(&ready).unwrap();
            interrupt(command.id().unwrap());
            let done = command.wait_with_output().await.unwrap();
            has(&String::from_utf8(done.stdout).unwrap(), &["exited with code 0", "saved"]);
            let (_, said, errors) = run(state.path(), &["ask", "hits", "save"]).await;
            let stopped = "the recording is incomplete: an interrupt or an exhausted stack stopped";
            // It may also cut a record that is being written.
            let cut = "the recording is incomplete: records could not be read completely";
            let is_known =
                said.contains("save was called once") || errors.contains(stopped) || errors.contains(cut);
            assert!(is_known, "{python}: {said}{errors}");
        }
    }
}

/// Here the program is looked for, which this one does not end.
#[tokio::test]
async fn an_interrupt_before_the_program_is_started_is_not_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let (python, ready) = (folder.path().join("python3"), folder.path().join("ready"));
    let text = format!("#!/bin/sh\ntouch '{}'\nexec tail -f /dev/null\n", ready.display());
    std::fs::write(&python, text).unwrap();
    std::fs::set_permissions(&python, Permissions::from_mode(0o755)).unwrap();
    std::fs::write(folder.path().join("main.py"), "").unwrap();
    let state = tempfile::tempdir().unwrap();
    let mut command = STILLFRAME.command();
    command.args(["record", "--", "./python3", "main.py"]).current_dir(folder.path());
    command.env("XDG_STATE_HOME", state.path()).env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| ready.exists()).await;
    interrupt(command.id().unwrap());
    let done = command.wait_with_output().await.unwrap();
    let errors = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(130), "{errors}");
    has(&errors, &["interrupted before the program started"]);
    assert!(!errors.contains("interrupted the program"), "{errors}");
}

#[tokio::test]
async fn a_recorded_program_reads_its_input() {
    let (folder, program) = written("main.py", "import sys\nprint(f'<{sys.stdin.read()}>')\n");
    let state = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.txt");
    std::fs::write(&input, "12 pens").unwrap();
    let input = input.to_str().unwrap();
    let (_, said, _) =
        run(state.path(), &["record", "--stdin", input, "--", "python3", program.path()]).await;
    has(&said, &["exited with code 0", "<12 pens>"]);
    let client = Client::new("python3").await;
    for (stdin, read) in [(Some("7 books"), "<7 books>"), (None, "<>")] {
        let mut arguments = json!({ "command": "python3", "args": [program.path()] });
        if let Some(stdin) = stdin {
            arguments["stdin"] = json!(stdin);
        }
        has(&client.ask("record_run", arguments).await, &["exited with code 0", read]);
    }
    client.server.finish().await;
}
