//! Lines without code of their own, and classes within methods.

use serde_json::json;
use test_support::Language;

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, written};

const PROGRAM: &str = "\
class Main {
    enum Level {
        LOW, HIGH;
        int factor; // @field
        int twice() { return 2 * factor; }
    }
    record Pair(int one, int two) {} // @pair

    int total = 40; // @total

    public static void main(String[] arguments) {
        Main main = new Main();
        Runnable task = new Runnable() {
            int runs = 1; // @runs
            public void run() {
                // @comment
                System.out.println(runs); // @prints
            }
        };
        task.run(); // @calls
        System.out.println(Level.HIGH.twice() + main.total); // @end
    }
}
";

#[tokio::test]
async fn a_function_that_a_source_does_not_have_is_refused_before_the_program_starts() {
    let (_folder, program) = written("Main.java", PROGRAM);
    let server = STILLFRAME.serve().await;
    let arguments =
        json!({ "program": program.path(), "until": [{ "file": program.path(), "function": "thrice" }] });
    let refused = server.call("run_until", arguments).await;
    assert!(
        refused.text_of("error").contains("has no function `thrice`; it has `")
            && refused.text.contains("`twice`"),
        "{}",
        refused.text
    );
    server.finish().await;
}

/// The class is loaded when `main`, which has code around it, runs already.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_line_of_a_class_within_a_method_is_not_taken_for_one_of_the_method() {
    let (_folder, program) = written("Main.java", PROGRAM);
    for (line, stop, note) in [("runs", "runs", false), ("comment", "prints", true)] {
        let session = Debugging::of(Language::Java).await;
        let until = json!([{ "line": program.line(line) }]);
        let stopped = session
            .server
            .ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 }))
            .await;
        assert_eq!(stopped.place(), (program.path(), program.line(stop)), "{}", stopped.text);
        let moved = format!(
            "line {} has no code to stop at; stopping on line {}",
            program.line(line),
            program.line(stop)
        );
        let notes = stopped["notes"].to_string();
        assert_eq!(notes.contains(&moved), note, "{}", stopped.text);
        assert!(note || !notes.contains("has no code"), "{}", stopped.text);
        let ended = session.server.ok("run_until", json!({ "sessionId": stopped["sessionId"] })).await;
        assert_eq!(ended.outcome(), "ended", "{}", ended.text);
        session.finish().await;
    }
}

/// A constructor has the code of all fields, and what is between them is not its own.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_field_without_code_is_not_taken_for_one_of_the_class_around_it() {
    let (_folder, program) = written("Main.java", PROGRAM);
    let session = Debugging::of(Language::Java).await;
    let until = json!([{ "line": program.line("field") }, { "line": program.line("pair") }]);
    let ended = session
        .server
        .ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 }))
        .await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    session.finish().await;
}

const LAMBDA: &str = "\
class Main {
    public static void main(String[] arguments) {
        java.util.Map<String, Integer> known = new java.util.HashMap<>();
        for (String word : new String[] {\"ant\", \"bee\", \"ant\"}) {
            known.computeIfAbsent(word, key -> key.length()); // @knows
        }
    }
}
";

#[tokio::test]
async fn a_lambda_is_left_out_where_a_rule_names_what_the_code_around_it_has() {
    let (_folder, program) = written("Main.java", LAMBDA);
    let server = STILLFRAME.serve().await;
    for (expression, condition, values) in [
        ("word", json!(null), json!(["\"ant\"", "\"bee\"", "\"ant\""])),
        ("known.size()", json!("word.equals(\"bee\")"), json!(["1"])),
    ] {
        let point =
            json!({ "line": program.line("knows"), "expressions": [expression], "condition": condition });
        let arguments = json!({ "program": program.path(), "points": [point], "timeout": 60_000 });
        let traced = server.ok("trace_values", arguments).await;
        let rows = traced["rows"].as_array().unwrap().iter().map(|row| &row["values"][0]["value"]);
        assert_eq!(json!(rows.collect::<Vec<_>>()), values, "{}", traced.text);
        assert!(!traced.text.contains("cannot find symbol"), "{}", traced.text);
    }
    let point =
        json!({ "line": program.line("knows"), "expressions": ["word"], "condition": "key.equals(\"bee\")" });
    let arguments = json!({ "program": program.path(), "points": [point], "timeout": 60_000 });
    let traced = server.ok("trace_values", arguments).await;
    assert_eq!(traced["rows"].as_array().unwrap().len(), 1, "{}", traced.text);
    server.finish().await;
}
