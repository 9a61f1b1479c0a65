//! Uncaught exceptions in all kinds of places.

use serde_json::json;

use super::{exception, stops_once};
use crate::debugging::{Debugging, Report};
use crate::script::Script;

#[tokio::test]
async fn an_exception_in_a_thread_stops_and_the_program_continues() {
    let script = Script::new(
        r#"
import threading

def work():
    raise ValueError("in a thread")  # @raise

worker = threading.Thread(target=work, name="worker")
worker.start()
worker.join()
print("main goes on")
"#,
    );
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.place(), (script.path(), script.line("raise")), "{}", stopped.text);
    assert_eq!(exception(&stopped), ("ValueError", "in a thread", true));
    let threads = session.ok("list_threads", json!({})).await;
    let stopped_at = stopped.at("/location/threadId").clone();
    let named = threads["threads"].as_array().unwrap().iter().find(|thread| thread["id"] == stopped_at);
    assert_eq!(named.unwrap()["name"], "worker");
    let ended = session.run_to_the_end().await;
    // The traceback comes by another pipe, and at any time.
    assert!(ended.text_of("output").contains("main goes on\n"), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn an_exception_in_an_asyncio_task_stops_in_the_task() {
    let script = Script::new(
        r#"
import asyncio

async def task():
    await asyncio.sleep(0)
    raise ValueError("in a task")  # @raise

async def main():
    await asyncio.create_task(task())

asyncio.run(main())
"#,
    );
    stops_once(&script, "raise", "ValueError", "in a task").await;
}

#[tokio::test]
async fn an_exception_in_an_import_stops_in_the_imported_file() {
    let script = Script::new("import helper\n");
    let helper = script.file("helper.py", "x = 1\nraise RuntimeError('at import')  # @raise\n");
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.place(), (helper.path(), helper.line("raise")), "{}", stopped.text);
    assert_eq!(exception(&stopped), ("RuntimeError", "at import", true));
    session.finish().await;
}

/// pydevd takes each name without a file for that of a library.
#[tokio::test]
async fn an_exception_in_compiled_text_stops_in_that_text() {
    for name in ["<cell-1>", "cell_1.py"] {
        let text = r#"
import dataclasses

CELL = """
def scale(n):
    factor = 3
    return n * factor
"""

@dataclasses.dataclass
class Size:
    value: object

cells = {}
exec(compile(CELL, NAME, "exec"), cells)
size = Size(2)  # @size
a = cells["scale"](size.value)  # @first
b = cells["scale"](None)  # @second
"#;
        let script = Script::new(&text.replace("NAME", &format!("{name:?}")));
        let (session, _) = script.stopped_at("size").await;
        // Text that a library compiles is skipped.
        let next = session.step("step_into").await;
        assert_eq!(next.place(), (script.path(), script.line("first")), "{}", next.text);
        let into = session.step("step_into").await;
        assert_eq!(into.at("/location/function"), "scale", "{}", into.text);
        assert_eq!(into.variable("n"), "2");
        let stopped = session.go_on().await;
        assert_eq!(exception(&stopped).0, "TypeError", "{}", stopped.text);
        assert!(stopped.place().0.ends_with(name), "{}", stopped.text);
        assert_eq!((stopped.place().1, stopped.variable("factor")), (4, "3"), "{}", stopped.text);
        let frames = stopped["stackFrames"].as_array().unwrap();
        let names: Vec<&str> = frames.iter().filter_map(|frame| frame["name"].as_str()).collect();
        assert_eq!(names, ["scale", "<module>"]);
        assert!(stopped["source"].is_null(), "{}", stopped.text);
        let note = stopped.at("/notes/0").as_str().unwrap();
        assert!(note.starts_with("source is not available: `") && note.contains(name), "{}", stopped.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn a_missing_module_stops_at_the_import() {
    let script = Script::new("x = 1\nimport not_there_at_all  # @raise\n");
    stops_once(&script, "raise", "ModuleNotFoundError", "No module named 'not_there_at_all'").await;
}

#[tokio::test]
async fn a_syntax_error_in_an_imported_file_stops_at_the_import_and_names_the_file() {
    let script = Script::new("x = 1\nimport broken  # @raise\n");
    script.file("broken.py", "def broken(:\n");
    stops_once(&script, "raise", "SyntaxError", "invalid syntax (broken.py, line 1)").await;
}

#[tokio::test]
async fn a_failed_assertion_stops_with_its_message() {
    let script = Script::new("def check(x):\n    assert x > 3, f'{x} is small'  # @raise\ncheck(2)\n");
    stops_once(&script, "raise", "AssertionError", "2 is small").await;
}

#[tokio::test]
async fn an_endless_recursion_stops_with_a_short_report() {
    let script = Script::new("def dive(depth):\n    return dive(depth + 1)\n\ndive(0)\n");
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.outcome(), "exception", "{}", stopped.text);
    let (kind, message, uncaught) = exception(&stopped);
    assert_eq!((kind, uncaught), ("RecursionError", true));
    assert!(message.starts_with("maximum recursion depth exceeded"), "{message}");
    assert!(stopped.text.len() < 20_000, "{} bytes", stopped.text.len());
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)));
    session.finish().await;
}

/// Before Python 3.12 the error takes the tracer away.
#[tokio::test]
async fn a_program_that_caught_an_endless_recursion_can_be_paused_and_stopped() {
    let script = Script::new(
        r#"
import time

def dive(depth):
    return dive(depth + 1)

try:
    dive(0)
except RecursionError:
    print("caught", flush=True)

def work(count):
    return count + 1  # @work

count = 0
while True:
    count = work(count)
    time.sleep(0.01)
"#,
    );
    let session = Debugging::new().await;
    let start = json!({ "scriptPath": script.path(), "timeout": 300 });
    assert_eq!(session.ok("start_debugging", start).await.outcome(), "running");
    while !session.written("stdout").await.contains("caught") {
        session.ok("continue_execution", json!({ "timeout": 100 })).await;
    }
    let paused = session.ok("pause_execution", json!({ "timeout": 20_000 })).await;
    assert_eq!(paused.outcome(), "pause", "{}", paused.text);
    assert_eq!(session.evaluate("count >= 0").await, "True");
    session.break_at(&script, "work").await;
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (script.path(), script.line("work")), "{}", stopped.text);
    session.finish().await;
}

#[tokio::test]
async fn a_message_in_any_script_arrives_whole() {
    let script = Script::new("def f():\n    raise ValueError('ünïcode ☃\\nsecond line')  # @raise\nf()\n");
    stops_once(&script, "raise", "ValueError", "ünïcode ☃\nsecond line").await;
}

/// JSON from debugpy 1.8.22 can hold half a surrogate pair.
#[tokio::test]
async fn a_message_with_lone_surrogates_does_not_break_the_session() {
    let script = Script::new("def f():\n    raise ValueError('bad \\udcff end')  # @raise\nf()\n");
    stops_once(&script, "raise", "ValueError", "bad \u{fffd} end").await;
}

#[tokio::test]
async fn an_exception_with_a_raising_str_still_stops() {
    let script = Script::new(
        r#"
class Silent(Exception):
    def __str__(self):
        raise ValueError("no words")

def f():
    raise Silent()  # @raise

f()
"#,
    );
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.place(), (script.path(), script.line("raise")), "{}", stopped.text);
    assert_eq!(stopped.at("/exception/type"), "Silent");
    session.finish().await;
}

/// The brackets are of the test's own kind: `exec` keeps older versions of Python from refusing the file.
#[tokio::test]
async fn an_exception_group_stops_with_its_size() {
    let script = Script::new(
        r#"
if "ExceptionGroup" not in dir(__builtins__):
    class ExceptionGroup(Exception):
        def __init__(self, message, parts):
            super().__init__(f"{message} ({len(parts)} sub-exceptions)")

def work():
    raise ExceptionGroup("several", [ValueError("a"), TypeError("b")])  # @raise

work()
"#,
    );
    stops_once(&script, "raise", "ExceptionGroup", "several (2 sub-exceptions)").await;
}

#[tokio::test]
async fn an_exception_in_a_child_process_stops_there() {
    let script = Script::new(
        r#"
import os, subprocess, sys

child = os.path.join(os.path.dirname(__file__), "child.py")
print("child ended with", subprocess.run([sys.executable, child]).returncode)
"#,
    );
    let child = script.file("child.py", "def f():\n    raise ValueError('in a child')  # @raise\nf()\n");
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.place(), (child.path(), child.line("raise")), "{}", stopped.text);
    assert_eq!(exception(&stopped), ("ValueError", "in a child", true));
    let stack = stopped.at("/exception/stack").as_str().unwrap();
    assert!(!stack.contains("(Current frame)"), "pydevd's own words: {stack}");
    let ended = session.run_to_the_end().await;
    assert!(ended.text_of("output").ends_with("child ended with 1\n"), "{}", ended.text);
    session.finish().await;
}

/// pydevd 1.8.22 calls `__str__` without a limit before it says that the program has stopped.
#[tokio::test]
async fn an_exception_with_an_endless_str_delays_no_call() {
    let script = Script::new(
        r"
class Endless(Exception):
    def __str__(self):
        while True:
            pass

def f():
    raise Endless()

f()
",
    );
    let session = Debugging::new().await;
    let running =
        session.ok("start_debugging", json!({ "scriptPath": script.path(), "timeout": 1000 })).await;
    assert_eq!(running.outcome(), "running", "{}", running.text);
    session.ok("close_debug_session", json!({})).await;
    session.finish().await;
}
