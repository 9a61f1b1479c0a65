//! Lines without code of their own, and classes within methods.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report, folder};

const PROGRAM: &str = "\
class Main {
    enum Level {
        LOW, HIGH;
        int factor; // @field
        int twice() { return 2 * factor; }
    }

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

/// The class is loaded when `main`, which has code around it, runs already.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_line_of_a_class_within_a_method_is_not_taken_for_one_of_the_method() {
    let folder = folder();
    let program = Fixture::write(folder.path(), "Main.java", PROGRAM);
    for (line, stop, note) in [("runs", "runs", false), ("comment", "prints", true)] {
        let session = Debugging::of(Language::Java).await;
        let until = json!([{ "line": program.line(line) }]);
        let stopped = session
            .server
            .ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 }))
            .await;
        assert_eq!(stopped.place(), (program.path(), program.line(stop)), "{}", stopped.text);
        let moved =
            format!("line {} has no code; stopping on line {}", program.line(line), program.line(stop));
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
    let folder = folder();
    let program = Fixture::write(folder.path(), "Main.java", PROGRAM);
    let session = Debugging::of(Language::Java).await;
    let until = json!([{ "line": program.line("field") }]);
    let ended = session
        .server
        .ok("run_until", json!({ "program": program.path(), "until": until, "timeout": 60_000 }))
        .await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    session.finish().await;
}
