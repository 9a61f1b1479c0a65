//! Data breakpoints under GDB.

use serde_json::json;
use test_support::{Answer, Fixture, repository};

use super::GdbOnly;
use crate::debugging::{Debugging, Report, written};

/// The change that stopped the program: its values, and the name of the line that wrote or read.
#[track_caller]
fn assert_change(program: &Fixture, stopped: &Answer, values: (&str, &str), line: &str) {
    assert_eq!(stopped.outcome(), "data breakpoint", "{}", stopped.text);
    let changes = stopped["dataChanges"].as_array().expect("changes");
    assert_eq!(changes.len(), 1, "{}", stopped.text);
    let change = &changes[0];
    assert_eq!((&change["old"], &change["new"]), (&json!(values.0), &json!(values.1)), "{}", stopped.text);
    let by = (change["by"]["file"].as_str(), change["by"]["line"].as_u64());
    assert_eq!(by, (Some(program.path()), Some(program.line(line).into())), "{}", stopped.text);
}

async fn watch(session: &Debugging, expression: &str) -> Answer {
    let set = session.ok("set_breakpoint", json!({ "watch": expression })).await;
    assert_eq!(set["verified"], true, "{}", set.text);
    set
}

fn watched(name: &str) -> Fixture {
    Fixture::read(repository().join("fixtures/watched").join(name))
}

async fn writes_stop_until_the_function_returns(program: Fixture, language: &str) {
    let (session, _path) = GdbOnly::stopped_at(&program, language, "ready").await;
    let total = watch(&session, "cart.total").await;
    assert_change(&program, &session.go_on().await, ("0", "5"), "written");
    assert_change(&program, &session.go_on().await, ("5", "7"), "written_by_alias");
    let in_function = session.go_on().await;
    assert_change(&program, &in_function, ("7", "10"), "written_in_function");
    assert!(in_function.at("/location/function").as_str().is_some_and(|name| name.contains("add")));
    session.ok("remove_breakpoint", json!({ "breakpointId": total["breakpointId"] })).await;
    session.break_at(&program, "local").await;
    session.go_on().await;
    watch(&session, "local").await;
    assert_change(&program, &session.go_on().await, ("1", "5"), "local_written");
    session.break_at(&program, "print").await;
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("print")));
    let listed = session.breakpoints().await;
    let local = listed.iter().find(|one| one["watch"] == "local").expect("it is listed");
    let reason = local["reason"].as_str().unwrap_or_default();
    assert!(local["verified"] == false && reason.ends_with("count` has returned"), "{local:?}");
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await.lines().count(), 1);
    session.finish().await;
}

#[tokio::test]
async fn writes_by_any_name_stop_in_c() {
    writes_stop_until_the_function_returns(watched("main.c"), "c").await;
}

#[tokio::test]
async fn writes_by_any_name_stop_in_rust() {
    writes_stop_until_the_function_returns(watched("main.rs"), "rust").await;
}

const THREADS: &str = r"#include <thread>
struct Shop { int open; double prices[8]; unsigned flags : 3; };
static Shop shop{1, {}, 0};
static int sums = 0;
static int &open_of(Shop &shop) { return shop.open; }
int main() {
    int &open = open_of(shop); // @begins
    std::thread([] {
        sums += shop.open; // @read
        shop.prices[2] = 1.5; // @written
    }).join();
    return open - 1; // @ends
}
";

#[tokio::test]
async fn reads_and_writes_of_other_threads_stop() {
    let (_folder, program) = written("threads.cpp", THREADS);
    let (session, _path) = GdbOnly::stopped_at(&program, "c", "begins").await;
    session.step("step_over").await;
    session.ok("set_breakpoint", json!({ "watch": "open", "access": "read" })).await;
    for expression in ["shop.open", "shop.prices[2]"] {
        watch(&session, expression).await;
    }
    assert_eq!(session.evaluate("open_of(shop)").await, "1");
    assert_change(&program, &session.go_on().await, ("1", "1"), "read");
    assert_change(&program, &session.go_on().await, ("0", "1.5"), "written");
    assert_change(&program, &session.go_on().await, ("1", "1"), "ends");
    session.finish_at_end().await;
}

#[tokio::test]
async fn what_the_processor_cannot_watch_is_refused_with_the_reason() {
    let (_folder, program) = written("threads.cpp", THREADS);
    let (session, _path) = GdbOnly::stopped_at(&program, "c", "begins").await;
    for expression in ["sums", "shop.open", "shop.prices[1]", "shop.prices[2]"] {
        watch(&session, expression).await;
    }
    for (expression, reason) in [
        ("shop.open + 1", "it is not in the program's memory"),
        ("shop.open = 0", "it may change the program"),
        ("shop.flags", "it is a bit field"),
        ("nothing", "No symbol"),
        ("shop.prices", "processors watch at most 4 values"),
        ("shop.prices[3]", "processors watch at most 4 values"),
    ] {
        let refused = session.call("set_breakpoint", json!({ "watch": expression })).await;
        assert!(refused.is_error && refused.text.contains(reason), "{}", refused.text);
    }
    assert_change(&program, &session.go_on().await, ("0", "1"), "read");
    assert_change(&program, &session.go_on().await, ("0", "1.5"), "written");
    session.finish_at_end().await;
}
