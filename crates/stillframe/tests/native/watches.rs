//! What is watched in C++ and Rust: types that LLDB's parser cannot name, and as much as processors watch.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Server};

use crate::STILLFRAME;
use crate::source::{Sources, run_until};

const ACCOUNT: &str = r#"
#include <atomic>
#include <cstdio>
#include <optional>
#include <utility>
template <class T> struct Box { T value; static int made; };
template <class T> int Box<T>::made = 0;
struct Account {
    std::atomic<long> hits{0};
    std::optional<int> limit;
    std::pair<int, int> span{1, 2};
    char name[32] = "a";
};
int a = 1, b = 2, c = 3, d = 4, e = 5, sum;
int main() {
    Account account;
    std::puts("ready"); // @ready
    account.hits = 1;
    account.limit = 5;
    account.span.second = 9;
    Box<long>::made = 3;
    sum += a; // @read_a
    sum += 1;
    sum += b; // @read_b
    b = a = 10; // @first
    c = 30;
    d = 40;
    e = 50;
    std::printf("%d %s %d\n", sum, account.name, a + b + c + d + e);
}
"#;

async fn at_ready(sources: &Sources, name: &str) -> (Server, Value, Fixture) {
    let (server, program) = (STILLFRAME.serve().await, sources.file(name));
    let ready = run_until(&server, &program, "ready", &[]).await;
    (server, ready["sessionId"].clone(), program)
}

async fn watch(server: &Server, id: &Value, expression: &str, access: &str) -> Answer {
    let arguments = json!({ "sessionId": id, "watch": expression, "access": access });
    server.call("set_breakpoint", arguments).await
}

/// The changes that a run stops for: expression, old and new value.
async fn changes(server: &Server, id: &Value) -> (Answer, Vec<[String; 3]>) {
    let stopped = server.ok("continue_execution", json!({ "sessionId": id })).await;
    let all = stopped["dataChanges"].as_array().cloned().unwrap_or_default();
    let text = |change: &Value, key: &str| change[key].as_str().unwrap_or_default().to_owned();
    let of = |change: &Value| ["expression", "old", "new"].map(|key| text(change, key));
    let changes = all.iter().map(of).collect();
    (stopped, changes)
}

async fn assert_changes(server: &Server, id: &Value, expected: &[[&str; 3]]) {
    for change in expected {
        let (stopped, changed) = changes(server, id).await;
        assert_eq!(changed, [change.map(str::to_owned)], "{}", stopped.text);
    }
}

#[tokio::test]
async fn fields_of_templates_are_watched() {
    let sources = Sources::new(&[("main.cpp", ACCOUNT)]);
    let (server, id, _) = at_ready(&sources, "main.cpp").await;
    for expression in ["account.hits", "account.limit", "account.span.second", "Box<long>::made"] {
        let set = watch(&server, &id, expression, "write").await;
        assert_eq!(set["verified"], true, "{}", set.text);
    }
    let expected = [
        ["account.hits", "0", "1"],
        ["account.limit", "nullopt", "5"],
        ["account.span.second", "2", "9"],
        ["Box<long>::made", "0", "3"],
    ];
    assert_changes(&server, &id, &expected).await;
    server.finish().await;
}

#[tokio::test]
async fn fields_of_generic_types_are_watched() {
    let sources = Sources::new(&[(
        "main.rs",
        "
use std::cell::Cell;
struct Account { limit: Option<bool>, span: (i32, u8), hits: Cell<i32>, rates: [i16; 3] }
fn main() {
    let mut account = Account { limit: None, span: (1, 2), hits: Cell::new(1), rates: [1, 2, 3] };
    println!(\"ready\"); // @ready
    account.limit = Some(true);
    account.span.0 = 7;
    account.hits.set(5);
    account.rates[1] = 20;
    println!(\"{:?} {:?} {} {:?}\", account.limit, account.span, account.hits.get(), account.rates);
}
",
    )]);
    let (server, id, _) = at_ready(&sources, "main.rs").await;
    for expression in ["account.limit", "account.span.0", "account.hits", "account.rates[1]"] {
        let set = watch(&server, &id, expression, "write").await;
        assert_eq!(set["verified"], true, "{}", set.text);
    }
    let expected = [
        ["account.limit", "None", "Some(true)"],
        ["account.span.0", "1", "7"],
        ["account.hits", "Cell { value: 1 }", "Cell { value: 5 }"],
        ["account.rates[1]", "2", "20"],
    ];
    assert_changes(&server, &id, &expected).await;
    server.finish().await;
}

#[tokio::test]
async fn what_processors_cannot_watch_leaves_other_watches_alone() {
    let sources = Sources::new(&[("main.cpp", ACCOUNT)]);
    let (server, id, _) = at_ready(&sources, "main.cpp").await;
    for expression in ["b", "account.name", "c", "d", "a"] {
        let set = watch(&server, &id, expression, "write").await;
        assert_eq!(set["verified"] == true, expression != "account.name", "{}", set.text);
    }
    for expression in ["account.name", "e"] {
        let refused = watch(&server, &id, expression, "write").await;
        assert!(refused.text.contains("processors watch at most 4 values"), "{}", refused.text);
    }
    let sum = watch(&server, &id, "a + b", "write").await;
    assert!(sum.text.contains("not in the program's memory"), "{}", sum.text);
    let expected = [["a", "1", "10"], ["b", "2", "10"], ["c", "3", "30"], ["d", "4", "40"]];
    assert_changes(&server, &id, &expected).await;
    let ended = server.ok("continue_execution", json!({ "sessionId": id })).await;
    assert_eq!(ended["exitCode"], 0, "{}", ended.text);
    server.finish().await;
}

const OBJECTS: &str = "
#include <cstdio>
struct Shape { virtual ~Shape() {} };
struct Square : Shape {};
static int &changed(int &number) { return ++number; }
int main() {
    Square first, second;
    Shape *shape = &first;
    int number = 1;
    std::puts(\"ready\"); // @ready
    shape = &second; // @points
    std::printf(\"%p %d\\n\", (void *)shape, changed(number));
}
";

#[tokio::test]
async fn a_pointer_to_an_object_is_watched_and_not_the_object() {
    let sources = Sources::new(&[("main.cpp", OBJECTS)]);
    let (server, id, program) = at_ready(&sources, "main.cpp").await;
    watch(&server, &id, "shape", "write").await;
    let (stopped, changed) = changes(&server, &id).await;
    assert_eq!(changed.len(), 1, "{}", stopped.text);
    assert_eq!(*stopped.at("/dataChanges/0/by/line"), program.line("points"), "{}", stopped.text);
    let ended = server.ok("continue_execution", json!({ "sessionId": id })).await;
    assert_eq!(ended["exitCode"], 0, "{}", ended.text);
    server.finish().await;
}

#[tokio::test]
async fn what_may_change_the_program_is_not_evaluated_to_watch_it() {
    let sources = Sources::new(&[("main.cpp", OBJECTS)]);
    let (server, id, _) = at_ready(&sources, "main.cpp").await;
    for expression in ["number = 7", "++number", "changed(number)", "(changed)(number)"] {
        let refused = watch(&server, &id, expression, "write").await;
        assert!(refused.text.contains("it may change the program"), "{}", refused.text);
    }
    let read = server.ok("evaluate_expression", json!({ "sessionId": id, "expression": "number" })).await;
    assert_eq!(read["result"], "1", "{}", read.text);
    server.finish().await;
}

#[tokio::test]
async fn a_watch_that_was_refused_is_set_once_processors_can() {
    let sources = Sources::new(&[("main.cpp", ACCOUNT)]);
    let (server, id, _) = at_ready(&sources, "main.cpp").await;
    let first = watch(&server, &id, "b", "write").await;
    for expression in ["c", "d", "e"] {
        watch(&server, &id, expression, "write").await;
    }
    let switch = async |enabled: bool| {
        let arguments = json!({ "sessionId": id, "breakpointId": first["breakpointId"], "enabled": enabled });
        server.call("set_breakpoint", arguments).await
    };
    switch(false).await;
    let other = watch(&server, &id, "a", "write").await;
    assert_eq!(other["verified"], true, "{}", other.text);
    let refused = switch(true).await;
    assert!(refused.text.contains("at most 4 values"), "{}", refused.text);
    server.ok("remove_breakpoint", json!({ "sessionId": id, "breakpointId": other["breakpointId"] })).await;
    let listed = server.ok("list_breakpoints", json!({ "sessionId": id })).await;
    assert!(!listed.text.contains("at most 4 values"), "{}", listed.text);
    assert_changes(&server, &id, &[["b", "2", "10"]]).await;
    server.finish().await;
}

#[tokio::test]
async fn a_read_is_reported_for_the_value_that_was_read() {
    let sources = Sources::new(&[("main.cpp", ACCOUNT)]);
    let (server, id, program) = at_ready(&sources, "main.cpp").await;
    for expression in ["a", "b"] {
        let set = watch(&server, &id, expression, "read").await;
        assert_eq!(set["verified"], true, "{}", set.text);
    }
    for (expression, value, line) in [("a", "1", "read_a"), ("b", "2", "read_b")] {
        let (stopped, changed) = changes(&server, &id).await;
        assert_eq!(changed, [[expression, value, value].map(str::to_owned)], "{}", stopped.text);
        assert_eq!(*stopped.at("/dataChanges/0/by/line"), program.line(line), "{}", stopped.text);
    }
    server.finish().await;
}
