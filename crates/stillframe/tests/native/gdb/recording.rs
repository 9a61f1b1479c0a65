//! Values that GDB records while the program runs: the rows are those of a program that stops at each hit.

use serde_json::{Value, json};
use test_support::{Fixture, Server, rows_to_try};

use super::{C, GdbOnly, RUST, ran};
use crate::debugging::written;
use crate::recording::{BUSY, is_recorded_and_paused, traced};
use crate::source::Sources;

async fn both_ways_record_the_same(program: &Fixture, line: &str, expressions: &[&str], condition: &str) {
    let recording = GdbOnly::serve().await;
    let stopping = GdbOnly::serve_with(&[("STILLFRAME_TRACE", "stop")]).await;
    let point = json!({ "line": program.line(line), "expressions": expressions });
    let with = |condition: &str| {
        let mut point = point.clone();
        point["condition"] = json!(condition);
        point
    };
    let table = [
        json!({ "points": [point], "limits": { "value": 20 } }),
        json!({ "points": [point], "onlyWhenChanged": true }),
        json!({ "points": [with(condition)], "sampleEvery": 2 }),
        json!({ "points": [point], "maxHits": 2, "whenFull": "run" }),
        json!({ "points": [with("unknown > 1")] }),
    ];
    for asked in rows_to_try(table, 2) {
        let (way, recorded) = traced(&recording.server, program, asked.clone()).await;
        assert_eq!(way, "debugger", "{asked}");
        let (way, stopped) = traced(&stopping.server, program, asked).await;
        assert_eq!(way, "stops");
        assert_eq!(recorded, stopped);
    }
    recording.server.finish().await;
    stopping.server.finish().await;
}

#[tokio::test]
async fn c_is_recorded_as_by_stops() {
    let sources = Sources::new(&[("main.c", C)]);
    let program = sources.file("main.c");
    let expressions =
        ["point", "index", "list", "point.name", "index + 1", "unknown", "*(int *)8", "arguments"];
    both_ways_record_the_same(&program, "call", &expressions, "index % 2").await;
}

#[tokio::test]
async fn rust_is_recorded_as_by_stops() {
    let sources = Sources::new(&[("main.rs", RUST)]);
    let program = sources.file("main.rs");
    let expressions = ["item", "item.name", "total", "rate", "items", "total + 1", "unknown"];
    both_ways_record_the_same(&program, "sums", &expressions, "total == 0").await;
}

/// The texts of the values in each row.
async fn rows(server: &Server, program: &Fixture, point: Value) -> (Value, Vec<Vec<String>>) {
    let traced = server.ok("trace_values", ran(program, json!({ "points": [point] }))).await;
    let text = |cell: &Value| cell["value"].as_str().unwrap_or_default().to_owned();
    let rows = traced["rows"].as_array().expect("rows").iter();
    let rows = rows.map(|row| row["values"].as_array().expect("values").iter().map(text).collect());
    (traced["recordedBy"].clone(), rows.collect())
}

#[tokio::test]
async fn expressions_that_call_functions_are_recorded_by_stops() {
    let sources = Sources::new(&[("main.c", C)]);
    let program = sources.file("main.c");
    let GdbOnly { server, path: _path } = GdbOnly::serve().await;
    let point = json!({ "line": program.line("return"), "expressions": ["sum", "add(left, 40)"] });
    let (way, recorded) = rows(&server, &program, point).await;
    assert_eq!(way, "stops");
    assert_eq!(recorded, [["1", "41"], ["2", "41"], ["4", "42"], ["7", "44"]]);
    server.finish().await;
}

#[tokio::test]
async fn a_breakpoint_beside_what_is_recorded_stops_where_its_condition_holds() {
    let sources = Sources::new(&[("main.c", C)]);
    let program = sources.file("main.c");
    let (session, _path) = GdbOnly::session("c").await;
    session.break_with(&program, "return", json!({ "condition": "sum == 4" })).await;
    let point = json!({ "file": program.path(), "line": program.line("return"), "expressions": ["sum"] });
    let trace = json!({ "points": [point], "program": program.path(), "timeout": 60_000 });
    let traced = session.ok("trace_values", trace).await;
    assert_eq!(
        (&traced["recordedBy"], traced["rows"].as_array().map(Vec::len)),
        (&json!("debugger"), Some(3)),
        "{}",
        traced.text
    );
    assert_eq!(session.evaluate("sum").await, "4");
    session.ok("clear_breakpoints", json!({})).await;
    assert_eq!(session.go_on().await["exitCode"], 7);
    session.finish().await;
}

#[tokio::test]
async fn a_program_that_is_recorded_is_paused_and_runs_on() {
    let (_folder, program) = written("busy.c", BUSY);
    let (session, _path) = GdbOnly::session("c").await;
    is_recorded_and_paused(&session, &program, "argc", 3).await;
    session.finish().await;
}
