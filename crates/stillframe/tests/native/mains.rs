//! The function `main` of Rust, which rustc calls from another one of this name.

use serde_json::json;

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::source::{Sources, assert_locals, exception};

const SUMS: &str = r#"
#[derive(Debug)]
enum Failure { Number(String), Range { least: i32 } }

fn number(text: &str) -> Result<i32, Failure> {
    let found = text.parse().map_err(|_| Failure::Number(text.to_string()))?;
    if found < 1 {
        return Err(Failure::Range { least: 1 });
    }
    Ok(found)
}

fn counted(names: Vec<String>) -> Result<i32, Failure> {
    number(&names.len().to_string())
}

fn main() -> Result<(), Failure> {
    let names = vec![String::from("pen"), String::from("ink")]; // @begin
    let mut sum = 0;
    match std::env::args().nth(1) {
        None => sum += counted(names)?,
        Some(text) => {
            for part in text.split(',') {
                sum += number(part)?; // @converts
            }
        }
    }
    println!("{sum}");
    Ok(())
}
"#;

/// Whether `names` has been moved is known only while the program runs.
#[tokio::test]
async fn an_error_that_main_returns_stops_there_whatever_is_dropped_after_it() {
    let sources = Sources::new(&[("main.rs", SUMS)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    for (text, error, sum) in [("3,x", "Number(\"x\")", "3"), ("4,0", "Range { least: 1 }", "4")] {
        let asked = json!({ "program": program.path(), "args": [text], "timeout": 60_000 });
        let ran = server.ok("run_until", asked).await;
        let place = (program.path(), program.line("converts"));
        assert_eq!((ran.outcome(), ran.place()), ("exception", place), "{}", ran.text);
        assert_eq!(exception(&ran), ("error", error), "{}", ran.text);
        assert_locals(&ran, &[&format!("sum: i32 = {sum}"), "names: Vec<String> = [\"pen\", \"ink\"]"]);
    }
    let asked = json!({ "program": program.path(), "args": ["3,4"], "timeout": 60_000 });
    let ran = server.ok("run_until", asked).await;
    assert_eq!((ran.outcome(), &ran["exitCode"]), ("ended", &json!(0)), "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
async fn the_main_of_a_binary_is_that_of_its_source() {
    let sources = Sources::new(&[("sums.rs", SUMS)]);
    let (binary, program) = (sources.compiled("rustc -g sums.rs", "sums"), sources.file("sums.rs"));
    let server = STILLFRAME.serve().await;
    let asked = json!({ "program": binary, "language": "rust", "until": [{ "function": "main" }], "timeout": 60_000 });
    let ran = server.ok("run_until", asked).await;
    assert_eq!(ran.place(), (program.path(), program.line("begin")), "{}", ran.text);
    assert_eq!(ran.at("/location/function"), &json!("sums::main"), "{}", ran.text);
    server.finish().await;
}
