//! Threads, tasks and generators.

mod pauses;

use std::fs::File;

use serde_json::{Value, json};
use test_support::pythons;

use crate::debugging::{Debugging, Report};
use crate::script::Script;

#[tokio::test]
async fn a_breakpoint_in_a_worker_thread_stops_and_names_it() {
    let script = Script::new(
        r#"
import threading
import time

def work(number):
    time.sleep(0.5)
    return number + 1  # @inside

def main():
    worker = threading.Thread(target=work, args=(4,), name="the worker")
    worker.start()
    worker.join()  # @join
    print("end")

main()
"#,
    );
    let (session, stopped) = script.stopped_at("inside").await;
    assert_eq!(stopped.variable("number"), "4");
    let listed = session.ok("list_threads", json!({})).await;
    let threads = listed["threads"].as_array().unwrap();
    let mut names: Vec<_> = threads.iter().map(|thread| thread["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["MainThread", "the worker"]);
    let current = threads.iter().find(|thread| thread["current"] == true).unwrap();
    assert_eq!((&current["name"], &current["id"]), (&json!("the worker"), stopped.at("/location/threadId")));

    let main = threads.iter().find(|thread| thread["name"] == "MainThread").unwrap();
    let stack = session.ok("get_stack_trace", json!({ "threadId": main["id"] })).await;
    let locations = stack["stackFrames"].as_array().unwrap();
    assert_eq!((&locations[0]["name"], &locations[0]["line"]), (&json!("main"), &json!(script.line("join"))));
    // pydevd evaluates in the thread that is asked, and this one waits for a lock.
    let arguments = json!({ "expression": "worker.name", "frameId": locations[0]["id"] });
    let failed = session.fails("refused", "evaluate_expression", arguments).await;
    assert!(
        failed.text_of("error").starts_with("this frame's thread waits in native code"),
        "{}",
        failed.text
    );
    assert_eq!(session.run_to_the_end().await["output"], "end\n");
    session.finish().await;
}

/// Programs write them to their logs. The debugger has threads, too.
#[tokio::test]
async fn threads_have_the_default_names_that_they_have_without_a_debugger() {
    let script = Script::new(
        r#"
import threading

def work():
    names.append(threading.current_thread().name.split(" ")[0])

names = []
for _ in range(2):
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()  # @join
print(*names)
"#,
    );
    let (session, _) = script.stopped_at("join").await;
    session.evaluate("names").await;
    session.ok("clear_breakpoints", json!({})).await;
    assert_eq!(session.run_to_the_end().await["output"], "Thread-1 Thread-2\n");
    session.finish().await;
}

/// The others run during a step, and pass the same lines.
#[tokio::test]
async fn a_step_stays_in_its_thread() {
    let script = Script::new(
        r#"
import threading, time

over = False

def spin():
    while not over:
        time.sleep(0.001)

def work():
    one = 1  # @one
    time.sleep(0.1)  # @two
    three = 3  # @three
    return three

others = [threading.Thread(target=spin) for _ in range(3)]
for other in others:
    other.start()
worker = threading.Thread(target=work, name="stepped")
worker.start()
worker.join()
over = True
"#,
    );
    let (session, stopped) = script.stopped_at("one").await;
    let thread = stopped.at("/location/threadId").clone();
    for line in ["two", "three"] {
        let stepped = session.step("step_over").await;
        assert_eq!((stepped.outcome(), stepped.place().1), ("step", script.line(line)), "{}", stepped.text);
        assert_eq!(stepped.at("/location/threadId"), &thread);
    }
    session.finish_at_end().await;
}

#[tokio::test]
async fn two_threads_that_hit_a_breakpoint_in_turn_stop_in_turn() {
    let script = Script::new(
        r#"
import threading

def work(number):
    return number * 10  # @inside

for number in (1, 2):
    worker = threading.Thread(target=work, args=(number,), name=f"worker {number}")
    worker.start()
    worker.join()
print("end")
"#,
    );
    let (session, first) = script.stopped_at("inside").await;
    let second = session.go_on().await;
    assert_eq!((first.variable("number"), second.variable("number")), ("1", "2"));
    assert_ne!(first.at("/location/threadId"), second.at("/location/threadId"));
    assert_eq!(session.breakpoints().await[0]["hits"], 2);
    session.finish_at_end().await;
}

/// pydevd 1.8.22 suspends the second thread before it checks the breakpoint, and does not check afterwards.
#[tokio::test]
async fn two_threads_that_hit_a_breakpoint_together_both_stop() {
    let script = Script::new(
        r"
import threading

barrier = threading.Barrier(2)

def work(number):
    barrier.wait()
    return number * 10  # @inside

workers = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
",
    );
    let (session, first) = script.stopped_at("inside").await;
    let first = first.variable("number").to_owned();
    let second = session.go_on().await;
    assert_eq!(second.outcome(), "breakpoint", "only worker {first} stopped: {}", second.text);
    assert_ne!(second.variable("number"), first);
    assert_eq!(session.breakpoints().await[0]["hits"], 2);
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_generator_is_stepped_into_and_out_of() {
    let script = Script::new(
        r"
def numbers():
    for number in (1, 2):
        yield number  # @yield

total = 0
for number in numbers():
    total += number  # @use
print(total)
",
    );
    let (session, stopped) = script.stopped_at("yield").await;
    assert_eq!((stopped.variable("number"), stopped.at("/location/function")), ("1", &json!("numbers")));
    session.break_at(&script, "use").await;
    assert_eq!(session.go_on().await.place(), (script.path(), script.line("use")));
    let again = session.go_on().await;
    assert_eq!((again.place().1, again.variable("number")), (script.line("yield"), "2"));
    session.ok("clear_breakpoints", json!({})).await;
    assert_eq!(session.run_to_the_end().await["output"], "3\n");
    session.finish().await;
}

#[tokio::test]
async fn a_coroutine_stops_with_its_chain_of_awaiters() {
    let script = Script::new(
        r"
import asyncio

async def leaf(number):
    await asyncio.sleep(0)
    return number * 2  # @leaf

async def middle(number):
    return await leaf(number) + 1

async def main():
    print(await middle(4))

asyncio.run(main())
",
    );
    let (session, stopped) = script.stopped_at("leaf").await;
    assert_eq!(stopped.variable("number"), "4");
    let frames = stopped["stackFrames"].as_array().unwrap();
    let names: Vec<_> = frames.iter().map(|frame| frame["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["leaf", "middle", "main", "<module>"]);
    assert_eq!(session.evaluate("asyncio.current_task() is not None").await, "True");
    assert_eq!(session.run_to_the_end().await["output"], "9\n");
    session.finish().await;
}

#[tokio::test]
async fn concurrent_tasks_each_stop() {
    let script = Script::new(
        r"
import asyncio

async def work(number):
    await asyncio.sleep(0)
    return number * 2  # @inside

async def main():
    print(await asyncio.gather(work(1), work(2), work(3)))

asyncio.run(main())
",
    );
    let (session, mut stopped) = script.stopped_at("inside").await;
    for number in ["1", "2", "3"] {
        assert_eq!((stopped.outcome(), stopped.variable("number")), ("breakpoint", number));
        stopped = session.go_on().await;
    }
    assert_eq!((stopped.outcome(), stopped.text_of("output")), ("ended", "[2, 4, 6]\n"));
    session.finish().await;
}

#[tokio::test]
async fn a_recursion_of_nine_hundred_calls_is_abbreviated_and_paged() {
    let script = Script::new(
        r"
def dive(depth):
    if depth == 900:
        return 0  # @deep
    return dive(depth + 1) + 1  # @call

print(dive(0))
",
    );
    let (session, stopped) = script.stopped_at("deep").await;
    assert_eq!(stopped.variable("depth"), "900");
    let shown = stopped["stackFrames"].as_array().unwrap().len();
    assert_eq!(stopped["moreFrames"], 902 - shown);
    assert!(stopped.text.len() < 10_000, "{} bytes", stopped.text.len());
    let last = session.ok("get_stack_trace", json!({ "start": 899, "count": 10 })).await;
    assert_eq!(last["totalFrames"], 902);
    let depths: Vec<&Value> =
        last["stackFrames"].as_array().unwrap().iter().map(|frame| &frame["name"]).collect();
    assert_eq!(depths, ["dive", "dive", "<module>"]);
    assert_eq!(session.step("step_out").await.variable("depth"), "899");
    assert_eq!(session.run_to_the_end().await["output"], "900\n");
    session.finish().await;
}

/// A step has nowhere to end when the function was called by a library, as that of a web framework's handler is.
async fn leaves_for_a_library(ending: &str) {
    let script = Script::new(&format!(
        r"
import concurrent.futures, time

def view(number):
    {ending}  # @ending

pool = concurrent.futures.ThreadPoolExecutor(1)
pool.submit(view, 4)
time.sleep(1000)
"
    ));
    let (session, _) = script.stopped_at("ending").await;
    for tool in ["step_over", "step_out"] {
        let left = session.ok(tool, json!({ "timeout": 30_000 })).await;
        let note = left.at("/notes/0").as_str().unwrap_or_default();
        let answer = "the step left your code: `view` returned to a library, which keeps running";
        assert!(left.outcome() == "running" && note.starts_with(answer), "{ending}, {tool}: {}", left.text);
        session.step("pause_execution").await;
        session.ok("restart_debugging", json!({})).await;
    }
    session.finish().await;
}

#[tokio::test]
async fn a_step_from_a_raise_into_library_callers_reports_that_it_left_user_code() {
    leaves_for_a_library("raise ValueError(number)").await;
}

#[tokio::test]
async fn a_step_from_a_return_into_library_callers_reports_that_it_left_user_code() {
    leaves_for_a_library("return number").await;
}

#[tokio::test]
async fn a_step_over_an_await_stays_in_the_function() {
    let script = Script::new(
        r"
import asyncio

async def view(number):
    await asyncio.sleep(0.7)  # @here
    return number  # @next

print(asyncio.run(view(4)))
",
    );
    let (session, _) = script.stopped_at("here").await;
    let stepped = session.step("step_over").await;
    assert_eq!(stepped.place(), (script.path(), script.line("next")), "{}", stepped.text);
    session.finish_at_end().await;
}

/// pydevd would end the step in the next line of the user's that the thread runs, whenever that is.
#[tokio::test]
async fn a_step_that_left_user_code_does_not_stop_the_program_later() {
    let script = Script::new(
        r"
import asyncio
import os

def on_timer(number):
    return number  # @here

async def main():
    loop = asyncio.get_running_loop()
    loop.call_later(0.1, on_timer, 4)
    await loop.run_in_executor(None, open, later)
    print('late')

later = os.path.join(os.path.dirname(__file__), 'later')
os.mkfifo(later)
asyncio.run(main())
",
    );
    let (session, _) = script.stopped_at("here").await;
    let left = session.step("step_over").await;
    assert!(left.at("/notes/0").to_string().contains("the step left your code: `on_timer`"), "{}", left.text);
    // With both, it opens whether or not the program still waits.
    let later = File::options().read(true).write(true).open(script.path_of("later")).unwrap();
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "late\n"), "{}", ended.text);
    drop(later);
    session.finish().await;
}

/// With a tracer, pydevd sees only that a coroutine is left on a line with a `return`.
#[tokio::test]
async fn a_step_over_a_return_that_awaits_does_not_end_in_what_is_awaited() {
    let script = Script::new(
        r"
import asyncio

async def load(number):
    await asyncio.sleep(0)
    return number + 1

async def fail():
    await asyncio.sleep(0)
    raise ValueError('no')

async def view(number):
    return await load(number)  # @returns

async def bad_view():
    return await fail()  # @raises

async def main():
    value = await view(4)  # @caller
    print(value)  # @after
    try:
        await bad_view()
    except ValueError:  # @caught
        print('caught')

asyncio.run(main())
",
    );
    let (session, _) = script.stopped_at("returns").await;
    session.break_at(&script, "raises").await;
    let stepped = session.step("step_over").await;
    assert!([script.line("caller"), script.line("after")].contains(&stepped.place().1), "{}", stepped.text);
    assert_eq!(session.go_on().await.place().1, script.line("raises"));
    let stepped = session.step("step_over").await;
    assert_eq!(stepped.place().1, script.line("caught"), "{}", stepped.text);
    assert_eq!(session.run_to_the_end().await["output"], "caught\n");
    session.finish().await;
}

/// The limit of an evaluation needs a thread, and so does sampling.
#[tokio::test]
async fn evaluations_and_samples_add_no_thread_to_the_program() {
    let script = Script::new("import threading\n\nprint(1)  # @here\nprint(threading.enumerate()[1:])\n");
    for python in pythons(&["3.12."]) {
        let session = Debugging::new().await;
        session.break_at(&script, "here").await;
        let start = json!({ "scriptPath": script.path(), "executablePath": python });
        session.ok("start_debugging", start).await;
        assert_eq!(session.evaluate("2 + 3").await, "5");
        session
            .fails(
                "deadline_exceeded",
                "evaluate_expression",
                json!({
                    "expression": "[each for each in iter(int, 1)]",
                    "timeout": 300,
                }),
            )
            .await;
        let listed = session.ok("list_threads", json!({})).await;
        assert_eq!(listed["count"], 1, "{python}: {}", listed.text);
        assert_eq!(session.run_to_the_end().await["output"], "1\n[]\n", "{python}");
        let run = json!({ "command": [python, script.path()], "timeout": 20_000 });
        let sampled = session.server.ok("diagnose_hang", run).await;
        assert_eq!(sampled["output"], "1\n[]\n", "{python}: {}", sampled.text);
        session.finish().await;
    }
}
