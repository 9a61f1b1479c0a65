//! Steps over, into and out of calls of all kinds.

use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage, Fixture, Language, PerLanguage, dynamic, each};

use crate::debugging::{Debugging, Report};

each![
    a_step_over_runs_the_call_and_stops_on_the_next_line,
    a_step_into_and_out_shows_the_returned_value,
    a_step_over_a_line_with_a_breakpoint_inside_stops_there,
    a_step_from_the_last_line_ends_the_program,
    a_step_into_a_library_steps_over_it_with_just_my_code,
    a_step_over_a_recursive_call_does_not_stop_inside_it,
    every_level_of_a_recursion_has_its_own_variables,
    a_step_over_a_loop_header_does_not_stop_in_its_generator,
    a_step_over_an_await_stops_once_the_value_is_available,
    a_step_into_an_await_enters_the_coroutine_and_steps_over_its_own_awaits,
];

dynamic![
    // C has no generators.
    a_step_over_a_yield_stays_in_the_generator,
    // Whether a library of C can be stepped into depends on the debug information that is installed for it.
    a_step_into_a_library_enters_it_without_just_my_code,
];

fn steps(language: impl Into<Language>) -> Fixture {
    Fixture::of(language, "steps")
}

/// Whether a report is of a step that ended at a named line.
fn stepped_to(report: &Answer, program: &Fixture, name: &str) {
    assert_eq!(report.outcome(), "step", "{}", report.text);
    assert_eq!(report.place(), (program.path(), program.line(name)), "{}", report.text);
}

async fn a_step_over_runs_the_call_and_stops_on_the_next_line(language: Language) {
    let program = steps(language);
    let (session, _) = Debugging::stopped_at(&program, "call").await;
    let stepped = session.step("step_over").await;
    stepped_to(&stepped, &program, "library");
    assert_eq!(stepped.variable("x"), "8");
    session.finish().await;
}

async fn a_step_into_and_out_shows_the_returned_value(language: Language) {
    let program = steps(language);
    let (session, _) = Debugging::stopped_at(&program, "call").await;
    let inside = session.step("step_into").await;
    assert_eq!(inside.place(), (program.path(), language.entry(&program, "double")), "{}", inside.text);
    assert_eq!(
        (inside.variable("number"), inside.at("/location/function")),
        ("4", &json!(language.words().double))
    );
    let out = session.step("step_out").await;
    // V8 has no place between a return and the next thing that the caller does.
    let back = PerLanguage { name: "steps: back", python: "call", node: "library", c: "call" };
    stepped_to(&out, &program, back.of(language));
    if let Some(returned) = language.returned("double") {
        assert_eq!(out.variable(&returned), "8");
    }
    session.finish().await;
}

async fn a_step_over_a_line_with_a_breakpoint_inside_stops_there(language: Language) {
    let program = steps(language);
    let (session, _) = Debugging::stopped_at(&program, "call").await;
    let inside = session.break_at(&program, "double_return").await;
    let stopped = session.step("step_over").await;
    assert_eq!(
        (stopped.outcome(), stopped.place()),
        ("breakpoint", (program.path(), program.line("double_return")))
    );
    assert_eq!(stopped["breakpointIds"], json!([inside["breakpointId"]]));
    session.finish().await;
}

async fn a_step_from_the_last_line_ends_the_program(language: Language) {
    let program = steps(language);
    let (session, _) = Debugging::stopped_at(&program, "last").await;
    let mut report = session.step("step_over").await;
    // Some versions of Python have one more place at the end of a module, and JavaScript one at the end of a
    // function; C has one, and the code that calls `main`.
    let more = PerLanguage { name: "steps: to the end", python: 1, node: 1, c: 3 };
    for _ in 0..more.of(language) {
        if report.outcome() == "step" {
            report = session.step("step_over").await;
        }
    }
    assert_eq!((report.outcome(), &report["exitCode"]), ("ended", &json!(0)), "{}", report.text);
    let library = PerLanguage { name: "steps: library", python: "[1]", node: "b", c: "1" }.of(language);
    assert_eq!(session.written("stdout").await, format!("8 {library} 24 3 6\nend\n"));
    session.fails("not_paused", "step_over", json!({})).await;
    session.finish().await;
}

async fn a_step_into_a_library_steps_over_it_with_just_my_code(language: Language) {
    let program = steps(language);
    let (session, _) = Debugging::stopped_at(&program, "library").await;
    let stepped = session.step("step_into").await;
    stepped_to(&stepped, &program, "recursive_call");
    session.finish().await;
}

async fn a_step_into_a_library_enters_it_without_just_my_code(language: DynamicLanguage) {
    let program = steps(language);
    let session = Debugging::of(language).await;
    session.break_at(&program, "library").await;
    let arguments = json!({ "scriptPath": program.path(), "dapLaunchArgs": { "justMyCode": false } });
    session.ok("start_debugging", arguments).await;
    let inside = session.step("step_into").await;
    let (function, file, argument, value) = language
        .pick(("loads", "json/__init__.py", "s", "'[1]'"), ("basename", "node:path", "path", "'/a/b'"));
    assert_eq!(
        (inside.outcome(), inside.at("/location/function")),
        ("step", &json!(function)),
        "{}",
        inside.text
    );
    assert!(inside.place().0.ends_with(file), "{}", inside.text);
    assert_eq!(inside.variable(argument), value);
    assert_eq!(session.evaluate(argument).await, value, "the innermost frame is where it stopped");
    let stack = session.ok("get_stack_trace", json!({})).await;
    assert_eq!(stack.at("/stackFrames/0/name"), function);
    session.finish().await;
}

async fn a_step_over_a_recursive_call_does_not_stop_inside_it(language: Language) {
    let program = steps(language);
    let (session, stopped) = Debugging::stopped_at(&program, "recursion").await;
    assert_eq!(stopped.variable("number"), "4");
    session.ok("clear_breakpoints", json!({})).await;
    let mut stepped = session.step("step_over").await;
    if language.is_compiled() {
        // The line returns by way of the end of the function, and into the middle of the caller's.
        assert_eq!(
            (stepped.at("/location/function"), stepped.variable("number")),
            (&json!("factorial"), "4")
        );
        stepped_to(&session.step("step_over").await, &program, "recursive_call");
        stepped = session.step("step_over").await;
    }
    // The line returns, so the step ends in the caller, which has its value.
    stepped_to(&stepped, &program, "before_loop");
    if let Some(returned) = language.returned("factorial") {
        assert_eq!(stepped.variable(&returned), "24");
    }
    assert_eq!(stepped.variable("z"), "24");
    session.finish().await;
}

async fn every_level_of_a_recursion_has_its_own_variables(language: Language) {
    let program = steps(language);
    let (session, stopped) = Debugging::stopped_at(&program, "bottom").await;
    assert_eq!(stopped.variable("number"), "1");
    let stack = session.ok("get_stack_trace", json!({})).await;
    let frames = stack["stackFrames"].as_array().unwrap();
    let names: Vec<&Value> = frames.iter().map(|frame| &frame["name"]).collect();
    assert_eq!(
        json!(names),
        json!(language.stack(&["factorial", "factorial", "factorial", "factorial", "main"]))
    );
    for (frame, number) in frames.iter().zip(["1", "2", "3", "4"]) {
        let locals = session.ok("get_local_variables", json!({ "frameId": frame["id"] })).await;
        assert_eq!(locals.variable("number"), number);
        let arguments = json!({ "frameId": frame["id"], "expression": "number * 10" });
        assert_eq!(session.ok("evaluate_expression", arguments).await["result"], format!("{number}0"));
    }
    // Out of the innermost one, into the one that called it.
    let out = session.step("step_out").await;
    stepped_to(&out, &program, "recursion");
    assert_eq!(out.variable("number"), "2");
    session.finish().await;
}

async fn a_step_over_a_yield_stays_in_the_generator(language: DynamicLanguage) {
    let program = steps(language);
    let (session, _) = Debugging::stopped_at(&program, "before_loop").await;
    stepped_to(&session.step("step_over").await, &program, "loop");
    let inside = session.step("step_into").await;
    stepped_to(&inside, &program, "first_yield");
    // The consumer has worked with the first value when the generator is asked for the second one.
    let next = session.step("step_over").await;
    stepped_to(&next, &program, "second_yield");
    let consumer = next.at("/stackFrames/1/id");
    let total =
        session.ok("evaluate_expression", json!({ "expression": "total", "frameId": consumer })).await;
    assert_eq!(total["result"], "1");
    let out = session.step("step_out").await;
    assert_eq!((out.outcome(), out.at("/location/function")), ("step", &json!("main")), "{}", out.text);
    session.finish().await;
}

async fn a_step_over_a_loop_header_does_not_stop_in_its_generator(language: Language) {
    let program = steps(language);
    let (session, _) = Debugging::stopped_at(&program, "before_loop").await;
    for (place, total) in
        [("loop", "0"), ("loop_body", "0"), ("loop", "1"), ("loop_body", "1"), ("loop", "3")]
    {
        let stepped = session.step("step_over").await;
        stepped_to(&stepped, &program, place);
        assert_eq!(stepped.variable("total"), total, "at {place}");
    }
    stepped_to(&session.step("step_over").await, &program, "async_call");
    session.finish().await;
}

async fn a_step_over_an_await_stops_once_the_value_is_available(language: Language) {
    let program = steps(language);
    let (session, stopped) = Debugging::stopped_at(&program, "await").await;
    assert_eq!(stopped.at("/location/function"), "together");
    let stepped = session.step("step_over").await;
    stepped_to(&stepped, &program, "after_await");
    assert_eq!(stepped.variable("value"), "5");
    session.finish().await;
}

async fn a_step_into_an_await_enters_the_coroutine_and_steps_over_its_own_awaits(language: Language) {
    let program = steps(language);
    let (session, _) = Debugging::stopped_at(&program, "await").await;
    stepped_to(&session.step("step_into").await, &program, "sleep");
    let stepped = session.step("step_over").await;
    stepped_to(&stepped, &program, "later_return");
    assert_eq!(stepped.variable("value"), "5");
    session.finish().await;
}
