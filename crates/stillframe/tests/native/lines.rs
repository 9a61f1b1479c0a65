//! Rust: which lines stop, how often, and which variable a name means.

use serde_json::json;
use test_support::{Answer, Fixture, Server};

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::source::{Sources, locals, run_until};

const SHADOWS: &str = r#"fn parse(text: &str) -> Option<u32> {
    let text = text.trim();
    let number = text.parse::<u32>().ok()?;
    let number = number + 1;
    Some(number) // @parsed
}

fn main() {
    let x = 1;
    println!("{x}");
    let mut x = format!("{x}a");
    x.push('b');
    for x in 10..13 {
        let x = x * 2;
        println!("{x}"); // @inner
    }
    println!("{x} {:?}", parse(" 3 ")); // @outer
}
"#;

/// What is recorded of an expression on a line.
async fn traced(server: &Server, program: &Fixture, line: &str, expression: &str) -> Answer {
    let points = json!([{ "file": program.path(), "line": program.line(line), "expressions": [expression] }]);
    server.ok("trace_values", json!({ "program": program.path(), "points": points, "timeout": 60_000 })).await
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_name_means_the_variable_of_the_innermost_block() {
    let sources = Sources::new(&[("main.rs", SHADOWS)]);
    let program = sources.file("main.rs");
    let server = STILLFRAME.serve().await;
    let until = json!([{ "file": program.path(), "line": program.line("inner"), "condition": "x == 22" }]);
    let arguments = json!({ "program": program.path(), "until": until, "expressions": ["x", "x + 1"], "timeout": 60_000 });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(ran.place(), (program.path(), program.line("inner")), "{}", ran.text);
    let named = |name: &str| -> Vec<String> {
        locals(&ran).into_iter().filter(|one| one.starts_with(&format!("{name}: "))).collect()
    };
    assert_eq!(named("x"), ["x: i32 = 22"], "{}", ran.text);
    assert_eq!((&ran["values"][0]["value"], &ran["values"][1]["value"]), (&json!("22"), &json!("23")));
    let id = json!({ "sessionId": ran["sessionId"] });
    let set = json!({ "sessionId": ran["sessionId"], "name": "x", "value": "77" });
    server.ok("set_variable", set).await;
    let shown = server.ok("get_local_variables", id.clone()).await;
    let values: Vec<_> =
        shown["variables"].as_array().unwrap().iter().filter(|one| one["name"] == "x").collect();
    assert_eq!((values.len(), &values[0]["value"]), (1, &json!("77")), "{}", shown.text);
    let until = json!([{ "file": program.path(), "line": program.line("parsed") }]);
    let ran =
        server.ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 })).await;
    assert_eq!(locals(&ran), [r#"text: &str = "3""#, "number: u32 = 4"], "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_macro_with_several_blocks_on_a_line_is_one_hit() {
    let sources = Sources::new(&[("main.rs", SHADOWS)]);
    let program = sources.file("main.rs");
    let server = STILLFRAME.serve().await;
    let traced = traced(&server, &program, "inner", "x").await;
    assert_eq!(traced.at("/totals/hits"), 3, "{}", traced.text);
    let created = server.ok("create_debug_session", json!({ "language": "rust" })).await;
    let id = json!({ "sessionId": created["sessionId"] });
    let place =
        json!({ "sessionId": created["sessionId"], "file": program.path(), "line": program.line("inner") });
    server.ok("set_breakpoint", place).await;
    let start = json!({ "sessionId": created["sessionId"], "scriptPath": program.path(), "timeout": 60_000 });
    let mut stopped = server.ok("start_debugging", start).await;
    for value in ["20", "22", "24"] {
        assert_eq!(
            (stopped.place().1, stopped.variable("x")),
            (program.line("inner"), value),
            "{}",
            stopped.text
        );
        stopped = server.ok("continue_execution", id.clone()).await;
    }
    assert_eq!(stopped.outcome(), "ended", "{}", stopped.text);
    server.finish().await;
}

/// A future that is ready when it has been polled so often.
const LATER: &str = r"use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

struct Later(u32);

impl Future for Later {
    type Output = u32;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
        if self.0 == 0 { return Poll::Ready(7); }
        self.0 -= 1;
        Poll::Pending
    }
}
";

const POLLED: &str = r#"
async fn price(name: &str) -> u32 { // @declared
    let later = Later(3).await; // @awaits
    let length = name.len() as u32;
    let other = Later(1).await + length; // @awaits_again
    println!("{later}"); // @prints
    other
} // @ends

fn main() {
    let mut future = pin!(price("pen"));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(price) = future.as_mut().poll(&mut context) {
            println!("{price}");
            break;
        }
    }
}
"#;

#[tokio::test]
async fn a_line_of_an_async_function_is_hit_once_although_it_is_polled_several_times() {
    let sources = Sources::new(&[("main.rs", &format!("{LATER}{POLLED}"))]);
    let program = sources.file("main.rs");
    let server = STILLFRAME.serve().await;
    for line in ["declared", "awaits", "awaits_again", "prints", "ends"] {
        let traced = traced(&server, &program, line, "name").await;
        assert_eq!(traced.at("/totals/hits"), 1, "{line}: {}", traced.text);
    }
    let ran = run_until(&server, &program, "ends", &["later"]).await;
    assert_eq!(ran.at("/location/function"), "main::price::{{closure}}", "{}", ran.text);
    server.finish().await;
}

/// The first future that is awaited has no variable before it, the other one is ready at once.
const AWAITED: &str = r#"
async fn price(items: &[u32]) -> u32 {
    let mut sum = 0;
    for item in items {
        sum += item; // @adds
        Later(*item).await; // @awaits
    }
    let found = discount(sum).await; // @calls
    sum - found // @left
}

async fn discount(sum: u32) -> u32 {
    let off = Later(2).await; // @off
    off.min(sum) // @min
}

fn main() {
    let mut futures = [Box::pin(price(&[3, 0])), Box::pin(price(&[1, 2]))];
    let mut context = Context::from_waker(Waker::noop());
    let mut open = vec![true, true];
    while open.contains(&true) { // @polls
        for (future, open) in futures.iter_mut().zip(&mut open) {
            if *open && let Poll::Ready(price) = future.as_mut().poll(&mut context) {
                println!("{price}");
                *open = false;
            }
        }
    }
}
"#;

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_line_that_awaits_is_hit_before_it_does() {
    let sources = Sources::new(&[("main.rs", &format!("{LATER}{AWAITED}"))]);
    let program = sources.file("main.rs");
    let server = STILLFRAME.serve().await;
    for (line, hits) in [("awaits", 4), ("calls", 2), ("off", 2), ("left", 2)] {
        let traced = traced(&server, &program, line, "sum").await;
        assert_eq!(traced.at("/totals/hits"), hits, "{line}: {}", traced.text);
    }
    let until = json!([{ "file": program.path(), "line": program.line("awaits"), "condition": "sum > 2" }]);
    let ran =
        server.ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 })).await;
    assert_eq!((ran.place().1, ran.variable("sum")), (program.line("awaits"), "3"), "{}", ran.text);
    let ended = server.ok("continue_execution", json!({ "sessionId": ran["sessionId"] })).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    server.finish().await;
}

const CLOSURES: &str = r#"fn main() { // @declares
    let pairs = vec![("a", 1), ("b", 2)]; // @begins
    let dear: Vec<_> = pairs.iter().filter(|(_, price)| *price > 1).collect(); // @filters
    let mut sum = 0;
    pairs.iter().for_each(|(name, price)| {
        sum += price + name.len(); // @sums
    });
    println!("{dear:?}{sum}{}", boxed(1)); // @after
}
// @uncompiled
fn boxed(number: i32) -> i32 { let kept = Box::new(number); *kept + 1 } // @boxed
"#;

#[tokio::test]
async fn a_closure_stops_with_the_names_of_its_pattern() {
    let sources = Sources::new(&[("main.rs", CLOSURES)]);
    let program = sources.file("main.rs");
    let server = STILLFRAME.serve().await;
    let until =
        json!([{ "file": program.path(), "line": program.line("filters"), "condition": "*price == 2" }]);
    let arguments = json!({ "program": program.path(), "until": until, "timeout": 60_000 });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(locals(&ran), ["price: &usize = 2"], "{}", ran.text);
    // The body begins with code of the library that is compiled into it.
    let at = |name| json!({ "file": program.path(), "line": program.line(name) });
    let until = [at("declares"), at("uncompiled")];
    let ran =
        server.ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 })).await;
    assert_eq!(ran.place(), (program.path(), program.line("begins")), "{}", ran.text);
    // What is written again with the same text is not compiled again, and has not changed.
    std::fs::write(program.path(), CLOSURES).unwrap();
    // Of several breakpoints at the same code, each counts.
    let mut again = at("boxed");
    again["condition"] = json!("number == 1");
    let until = json!([{ "function": "main::boxed", "condition": "number == 2" }, again]);
    let ran =
        server.ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 })).await;
    assert_eq!(ran.place(), (program.path(), program.line("boxed")), "{}", ran.text);
    assert_eq!(locals(&ran)[0], "number: i32 = 1", "{}", ran.text);
    assert!(!ran.text.contains("has changed"), "{}", ran.text);
    server.finish().await;
}

/// The library that calls it has debug information.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_step_off_the_end_of_a_closure_continues_in_user_code() {
    let sources = Sources::new(&[("main.rs", CLOSURES)]);
    let program = sources.file("main.rs");
    let server = STILLFRAME.serve().await;
    let ran = run_until(&server, &program, "sums", &[]).await;
    let id = json!({ "sessionId": ran["sessionId"] });
    server.ok("clear_breakpoints", id.clone()).await;
    let out = server.ok("step_out", id.clone()).await;
    let line = out.place().1;
    assert!((program.line("sums") - 1..=program.line("sums") + 1).contains(&line), "{}", out.text);
    assert_eq!(out.place().0, program.path(), "{}", out.text);
    server.finish().await;
}

#[tokio::test]
async fn a_column_that_moves_is_noted_where_it_is_used() {
    let text = "int main(void) {\n    int sum = 0;\n    for (int n = 0; n < 4; ++n) { sum += n; sum *= 2; } // @loop\n    \
                return sum;\n}\n";
    let sources = Sources::new(&[("main.c", text)]);
    let program = sources.file("main.c");
    let server = STILLFRAME.serve().await;
    let asked = 60;
    let place = json!({ "file": program.path(), "line": program.line("loop"), "column": asked, "expressions": ["n"] });
    let traced = json!({ "program": program.path(), "points": [place], "timeout": 60_000 });
    let traced = server.ok("trace_values", traced).await;
    let expected = format!("moved from column {asked} to ");
    assert!(traced["points"][0]["notes"].to_string().contains(&expected), "{}", traced.text);
    let place = json!({ "file": program.path(), "line": program.line("loop"), "column": asked });
    let ran = json!({ "program": program.path(), "until": [place], "timeout": 60_000 });
    let ran = server.ok("run_until", ran).await;
    assert!(ran["notes"].to_string().contains(&expected), "{}", ran.text);
    server.finish().await;
}
