//! What a diagnosis reports.

use serde_json::json;
use test_support::rows_to_try;

use crate::{STILLFRAME, command, diagnose, program};

#[tokio::test]
async fn a_busy_loop_is_reported_with_its_lines_and_changing_values() {
    let server = STILLFRAME.serve().await;
    for name in rows_to_try(["many_lines.py", "many_lines.js"], 2) {
        let answer = diagnose(&server, name).await;
        let held = program(name).line("held");
        assert_eq!(answer.at("/verdict"), "busy_loop", "{answer:?}");
        assert_eq!(answer.at("/hung"), true);
        assert_eq!(answer.at("/completed"), false);
        assert_eq!(answer.at("/loop/function"), "spin");
        assert_eq!(answer.at("/loop/startLine"), held);
        let changing = answer.at("/loop/changing").as_array().unwrap();
        let names: Vec<_> = changing.iter().map(|change| change["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"i"), "{answer:?}");
        assert_eq!(answer.at("/loop/steady"), &json!([{ "name": "limit", "value": "100" }]));
        let lines = answer.at("/loop/lines").as_array().unwrap();
        assert!(!lines.is_empty(), "{answer:?}");
        assert!(answer.at("/samples").as_u64() > Some(0));
        let calls = answer.text_of("calls");
        // What asks the program is none of its calls.
        assert!(calls.contains("spin") && !calls.contains("eval-"), "{answer:?}");
        let functions: Vec<_> =
            answer.at("/stack").as_array().unwrap().iter().map(|frame| frame["function"].clone()).collect();
        assert_eq!(functions, [json!("spin"), json!("<module>")]);
        let threads = answer.at("/threads").as_array().unwrap();
        assert_eq!(threads.len(), 1, "those of the debugger are not the program's: {answer:?}");
    }
    server.finish().await;
}

#[tokio::test]
async fn deadlocked_threads_are_named_with_their_locations() {
    let server = STILLFRAME.serve().await;
    let answer = diagnose(&server, "two_locks.py").await;
    assert_eq!(answer.at("/verdict"), "deadlocked", "{answer:?}");
    let message = answer.text_of("message");
    assert!(message.contains("`one`") && message.contains("`other`"), "{message}");
    let threads = answer.at("/threads").as_array().unwrap();
    let locked: Vec<_> = threads.iter().filter(|thread| thread["deadlocked"] == true).collect();
    assert_eq!(locked.len(), 2, "{answer:?}");
    let held = program("two_locks.py").line("held");
    assert!(locked.iter().any(|thread| thread["stack"][0]["line"] == held), "{answer:?}");
    server.finish().await;
}

#[tokio::test]
async fn deadlocked_tasks_are_named_with_what_they_wait_for() {
    let server = STILLFRAME.serve().await;
    let name = "tasks_wait_for_each_other.py";
    let answer = diagnose(&server, name).await;
    assert_eq!(answer.at("/verdict"), "deadlocked", "{answer:?}");
    let message = answer.text_of("message");
    assert!(message.starts_with("Tasks ") && message.ends_with(" wait for each other"), "{message}");
    assert_eq!(answer.at("/hungAt/function"), "move");
    let held = program(name).line("held");
    let evidence = answer.at("/evidence").to_string();
    for (task, holder) in [("one", "other"), ("other", "one")] {
        let waits = format!(
            "task `{task}` (`move`), which waits for the lock `target` (held by task `{holder}`) at "
        );
        assert!(evidence.contains(&waits), "{evidence}");
        assert!(message.contains(&format!("`{task}`")), "{message}");
    }
    assert_eq!(evidence.matches(&format!("{name}:{held}")).count(), 2, "{evidence}");
    server.finish().await;
}

/// Its thread runs only code of libraries.
#[tokio::test]
async fn a_test_whose_event_loop_nothing_can_wake_is_deadlocked() {
    let server = STILLFRAME.serve().await;
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let tests = test_support::Fixture::write(
        folder.path(),
        "test_wait.py",
        "import asyncio
import unittest


class WaitTest(unittest.IsolatedAsyncioTestCase):
    async def test_wait(self):
        answered = asyncio.Event()
        await answered.wait()  # @waits
",
    );
    let words = ["-m", "unittest", "-q", "test_wait"];
    let arguments = json!({ "command": "python3", "args": words, "cwd": folder.path(), "timeout": 5_000 });
    let answer = server.ok("diagnose_hang", arguments).await;
    assert_eq!(answer.at("/verdict"), "deadlocked", "{answer:?}");
    let evidence = answer.at("/evidence").to_string();
    let place = format!("which waits for the event `answered` at {}:{}", tests.path(), tests.line("waits"));
    assert!(evidence.contains(&place), "{evidence}");
    server.finish().await;
}

#[tokio::test]
async fn output_written_before_the_hang_is_reported() {
    let server = STILLFRAME.serve().await;
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let program =
        test_support::Fixture::write(folder.path(), "main.js", "console.log('begun');\nfor (;;) {}\n");
    let answer = server.ok("diagnose_hang", command(&program)).await;
    assert_eq!(answer.text_of("output"), "begun\n");
    server.finish().await;
}

/// As with `npm`, whose standard input is open.
#[tokio::test]
async fn what_a_child_waits_for_comes_before_the_waits_of_its_parent() {
    let server = STILLFRAME.serve().await;
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let child =
        test_support::Fixture::write(folder.path(), "child.js", "setInterval(() => {}, 3_600_000);\n");
    let parent = format!(
        "const {{ spawn }} = require('child_process');\n\
         spawn(process.execPath, [{}]);\nrequire('net').createServer().listen(0);\n",
        json!(child.path())
    );
    let parent = test_support::Fixture::write(folder.path(), "parent.js", &parent);
    let answer = server.ok("diagnose_hang", command(&parent)).await;
    let waits = answer.at("/waitsFor").as_array().unwrap();
    assert!(waits.iter().any(|wait| wait["kind"] == "child"), "{answer:?}");
    assert!(answer.text_of("message").contains("timer"), "{answer:?}");
    server.finish().await;
}

#[tokio::test]
async fn the_waits_of_a_parent_whose_child_is_unknown_come_before_those_of_its_siblings() {
    let server = STILLFRAME.serve().await;
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let write = |name, text: &str| test_support::Fixture::write(folder.path(), name, text);
    let parent = write(
        "parent.js",
        "require('child_process').spawn('sleep', ['3600']);\nrequire('net').createServer().listen(0);\n",
    );
    let sibling = write("sibling.js", "setInterval(() => {}, 3_600_000);\n");
    let both = [parent.path(), sibling.path()];
    let first = format!(
        "const {{ spawn }} = require('child_process');\n\
         for (const file of {}) spawn(process.execPath, [file]);\n",
        json!(both)
    );
    let first = write("first.js", &first);
    let answer = server.ok("diagnose_hang", command(&first)).await;
    let waits = answer.at("/waitsFor").as_array().unwrap();
    assert!(waits.iter().any(|wait| wait["kind"] == "timer"), "{answer:?}");
    assert!(answer.text_of("message").contains("sleep"), "{answer:?}");
    server.finish().await;
}

#[tokio::test]
async fn a_completed_program_reports_its_exit() {
    let server = STILLFRAME.serve().await;
    let answer = diagnose(&server, "throws.js").await;
    assert_eq!((answer.at("/verdict"), answer.at("/exitCode")), (&json!("failed"), &json!(1)));
    assert_eq!(answer.at("/hung"), false);
    assert!(answer.text_of("output").contains("out of work"), "{answer:?}");
    assert_eq!(answer.at("/closed"), true);
    server.finish().await;
}

const GENERATORS: [(&str, &str); 2] = [
    (
        "main.py",
        "def numbers():\n    n = 0\n    while True:\n        n = (n + 1) % 7\n        yield n\n\n\ntotal = 0\nfor n in \
         numbers():\n    total += n\n",
    ),
    (
        "main.js",
        "function* numbers() { let n = 0; while (true) { n = (n + 1) % 7; yield n; } }\nlet total = 0;\nfor (const n of \
         numbers()) {\n  total += n;\n}\n",
    ),
];

#[tokio::test]
async fn a_loop_over_a_generator_is_not_known_to_progress() {
    let server = STILLFRAME.serve().await;
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    for (name, text) in GENERATORS {
        let program = test_support::Fixture::write(folder.path(), name, text);
        let answer = server.ok("diagnose_hang", command(&program)).await;
        assert_eq!(answer.at("/verdict"), "slow", "{answer:?}");
        let evidence = answer.at("/evidence").to_string();
        assert!(evidence.contains("cannot tell whether the loop progresses toward its end"), "{answer:?}");
    }
    server.finish().await;
}
