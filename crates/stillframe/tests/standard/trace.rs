//! `trace_values`: one call that returns the values at every hit of a location.

mod bad_input;
mod limits;
mod methods;
mod rows;
mod sessions;

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Language, Server};

/// `trace_values` with the bank.
async fn trace(server: &Server, language: impl Into<Language>, arguments: Value) -> Answer {
    trace_in(server, &Fixture::of(language, "bank"), arguments).await
}

async fn trace_in(server: &Server, program: &Fixture, mut arguments: Value) -> Answer {
    arguments["program"] = json!(program.path());
    server.ok("trace_values", arguments).await
}

/// What `trace` returns when its time limit is reached after the program got far enough. How long a program takes to get
/// there depends on what else the machine does, so a limit that was too short is raised.
async fn at_the_time_limit(
    trace: impl AsyncFn(u64) -> Answer,
    is_far_enough: impl Fn(&Answer) -> bool,
) -> Answer {
    for limit in [1500, 6000, 24_000] {
        let traced = trace(limit).await;
        if is_far_enough(&traced) {
            return traced;
        }
    }
    trace(96_000).await
}

/// A place in a fixture.
fn at(program: &Fixture, name: &str, expressions: &[&str]) -> Value {
    json!({ "line": program.line(name), "expressions": expressions })
}

/// The values of each row as text, with `!` before errors.
fn values(answer: &Answer) -> Vec<Vec<String>> {
    let rows = answer["rows"].as_array().expect("rows");
    let shown = |cell: &Value| match (&cell["value"], &cell["error"]) {
        (Value::String(value), _) => value.clone(),
        (_, error) => format!("!{}", error.as_str().expect("a value or an error")),
    };
    rows.iter().map(|row| row["values"].as_array().expect("values").iter().map(shown).collect()).collect()
}

/// The first value of each row.
fn column(answer: &Answer) -> Vec<String> {
    values(answer).into_iter().map(|row| row.into_iter().next().expect("a value")).collect()
}

/// A field of each row.
fn of_rows(answer: &Answer, field: &str) -> Vec<Value> {
    answer["rows"].as_array().expect("rows").iter().map(|row| row[field].clone()).collect()
}

async fn open_sessions(server: &Server) -> Value {
    server.ok("list_debug_sessions", json!({})).await["count"].clone()
}
