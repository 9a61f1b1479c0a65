//! Steps out of functions that an exception leaves, over comprehensions, and beside tools of monitoring.

use serde_json::json;
use test_support::{Answer, pythons};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// The program, stopped at a named line in that Python.
async fn stopped_at(script: &Script, name: &str, python: &str) -> Debugging {
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "python", "executablePath": python });
    let id = server.ok("create_debug_session", arguments).await.text_of("sessionId").to_owned();
    let session = Debugging { server, id };
    session.break_at(script, name).await;
    let stopped = session.start(script).await;
    assert_eq!(stopped.place().1, script.line(name), "{python}: {}", stopped.text);
    session
}

fn stopped(report: &Answer, reason: &str, script: &Script, name: &str) {
    assert_eq!((report.outcome(), report.place().1), (reason, script.line(name)), "{}", report.text);
}

const STEPS: [&str; 3] = ["step_over", "step_into", "step_out"];

#[tokio::test]
async fn a_step_ends_where_a_caller_handles_the_exception() {
    let script = Script::new(
        "\
def divide(number):
    return 1 / number  # @raise

def halve(number):
    return divide(number) + 1

def handled(number):
    try:
        return halve(number)
    except ZeroDivisionError:  # @handler
        return 0

handled(0)
",
    );
    for (python, tool) in
        pythons(&["3.8.", "3.12."]).iter().flat_map(|python| STEPS.map(|tool| (python, tool)))
    {
        let session = stopped_at(&script, "raise", python).await;
        stopped(&session.step(tool).await, "step", &script, "handler");
        let out = session.step("step_out").await;
        assert_eq!(out.variable("(return) handled"), "0", "a step ends in a caller if the function returns");
        session.finish_at_end().await;
    }
}

#[tokio::test]
async fn a_step_that_raises_what_nothing_catches_stops_at_the_exception() {
    let script = Script::new(
        "\
def divide(number):
    return 1 / number  # @raise

def halve(number):
    return divide(number) + 1

def main():
    halve(0)

main()
",
    );
    for (python, tool) in
        pythons(&["3.8.", "3.12."]).iter().flat_map(|python| STEPS.map(|tool| (python, tool)))
    {
        let session = stopped_at(&script, "raise", python).await;
        stopped(&session.step(tool).await, "exception", &script, "raise");
        session.finish().await;
    }
}

#[tokio::test]
async fn a_step_stops_in_what_an_exception_runs_on_its_way() {
    let script = Script::new(
        "\
import asyncio

async def divide(number):
    await asyncio.sleep(0)
    return 1 / number  # @raise

async def cleaned(number):
    try:
        return await divide(number)
    finally:
        print('cleaned')  # @cleaned

async def main():
    try:
        await cleaned(0)
    except ZeroDivisionError:  # @handler
        print('handled')

asyncio.run(main())
",
    );
    for python in pythons(&["3.8.", "3.12."]) {
        let session = stopped_at(&script, "raise", &python).await;
        stopped(&session.step("step_over").await, "step", &script, "cleaned");
        stopped(&session.step("step_out").await, "step", &script, "handler");
        session.finish_at_end().await;
    }
}

/// While something steps, there is a tool that the program has not registered.
#[tokio::test]
async fn a_program_frees_the_tools_of_monitoring_that_it_finds_in_use() {
    let script = Script::new(
        "\
import sys

def free():
    monitoring = getattr(sys, 'monitoring', None)
    for tool in range(1, 6) if monitoring else ():
        if monitoring.get_tool(tool):
            monitoring.free_tool_id(tool)

free()  # @free
print('free')  # @first
print('done')  # @second
",
    );
    for python in pythons(&["3.12."]) {
        let session = stopped_at(&script, "free", &python).await;
        stopped(&session.step("step_over").await, "step", &script, "first");
        stopped(&session.step("step_over").await, "step", &script, "second");
        assert_eq!(session.run_to_the_end().await["output"], "done\n");
        session.finish().await;
    }
}

/// From Python 3.12 on, it runs in the frame around it, whose line it does not leave.
#[tokio::test]
async fn a_step_over_a_comprehension_on_one_line_ends_after_it() {
    let script = Script::new(
        "\
def double(number):
    return number * 2  # @double

def main():
    numbers = [double(each) for each in range(5) if each]  # @all
    print(numbers)  # @after

main()
",
    );
    for python in pythons(&["3.8.", "3.12."]) {
        let session = stopped_at(&script, "all", &python).await;
        session.ok("clear_breakpoints", json!({})).await;
        stopped(&session.step("step_over").await, "step", &script, "after");
        session.finish().await;
        let session = stopped_at(&script, "all", &python).await;
        session.ok("clear_breakpoints", json!({})).await;
        let mut into = session.step("step_into").await;
        while into.at("/location/function") == "<listcomp>" {
            into = session.step("step_into").await;
        }
        stopped(&into, "step", &script, "double");
        session.finish().await;
    }
}
