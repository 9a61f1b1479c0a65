//! What there is beside the specification.

use serde_json::json;
use test_support::Fixture;

use crate::{MAIN, Scripting};

/// More hits than `script` has results by default.
const MANY: &str = "for (let n = 0; n < 30000; n++) {\n  Math.abs(n); // @here\n}\n";

#[tokio::test]
async fn a_condition_and_a_count_select_hits() {
    let scripting = Scripting::with_files(&[("main.js", MAIN)]).await;
    assert_eq!(
        scripting.values("node main.js", "number", json!({ "condition": "number > 1" })).await,
        [2, 3]
    );
    let result =
        scripting.ask("node main.js", "number", json!({ "maxHits": 2, "includeOutput": true })).await;
    let data = &result["structuredContent"];
    assert_eq!(data["results"].as_array().unwrap().len(), 2);
    // It has run on to its end.
    assert_eq!(
        (&data["hits"], &data["output"], &data["error"]),
        (&json!(3), &json!("1\n4\n9\n"), &json!(null))
    );
    scripting.finish().await;
}

#[tokio::test]
async fn a_timeout_after_all_requested_values_is_a_note() {
    let scripting =
        Scripting::with_files(&[("main.js", "setInterval(() => {\n  Date.now(); // @here\n}, 5);\n")]).await;
    let result = scripting.ask("node main.js", "1", json!({ "maxHits": 2, "timeout": 1000 })).await;
    let data = &result["structuredContent"];
    assert_eq!((&data["error"], data["results"].as_array().unwrap().len()), (&json!(null), 2), "{data}");
    assert_eq!(data["notes"], json!(["the program was still running after 1000 ms, and was ended"]));
    scripting.finish().await;
}

#[tokio::test]
async fn the_stacks_that_a_program_prints_have_no_frame_of_ours() {
    let text = "console.log(new Error('x').stack);\nconsole.log(1); // @here\n";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    let result = scripting.ask("node main.js", "1", json!({ "includeOutput": true })).await;
    let output = result["structuredContent"]["output"].as_str().unwrap();
    let frames: Vec<&str> = output.lines().filter_map(|line| line.trim().strip_prefix("at ")).collect();
    assert!(frames.len() > 1, "{output}");
    let folder = scripting.folder().display().to_string();
    assert!(frames.iter().all(|frame| frame.contains(&folder) || frame.contains("node:")), "{output}");
    scripting.finish().await;
}

#[tokio::test]
async fn a_line_whose_expression_does_not_return_counts_as_reached() {
    let exits = "import os\nprint(1)  # @here\n";
    let scripting = Scripting::with_files(&[("main.js", MAIN), ("main.py", exits)]).await;
    for (command, file, expression) in [
        ("node main.js", "main.js", "(() => { for (;;); })()"),
        ("node main.js", "main.js", "process.exit(3)"),
        ("python3 main.py", "main.py", "os._exit(3)"),
    ] {
        let more = json!({ "timeout": 2000, "breakpoint": { "file": file, "line": 0 } });
        let result = scripting.ask(command, expression, more).await;
        let notes = result["structuredContent"]["notes"].as_array().unwrap();
        let note = json!("it was reached, but the evaluation there did not return");
        assert!(notes.contains(&note), "{expression}: {result}");
    }
    scripting.finish().await;
}

/// Lines count from 0 there.
#[tokio::test]
async fn the_original_has_every_hit_and_no_more_fields_or_else_an_error() {
    let here = json!({ "breakpoint": { "file": "main.js", "line": 1 } });
    let all = Scripting::started(&[("main.js", MANY)], &[], &["--toolset", "nodejs-debug-mcp"]).await;
    let result = all.ask("node main.js", "n", here.clone()).await;
    let data = result["structuredContent"].as_object().unwrap();
    assert_eq!(data.keys().collect::<Vec<_>>(), ["results"]);
    assert_eq!(data["results"].as_array().unwrap().len(), 30_000);
    all.finish().await;

    let options = ["--toolset", "nodejs-debug-mcp", "--limit", "rows=2,longest_value=200"];
    let some = Scripting::started(&[("main.js", MANY)], &[], &options).await;
    let result = some.ask("node main.js", "n", here.clone()).await;
    let error = "2 of 30000 hits are here; the limits `rows` and `answer` allow no more";
    let zero_and_one = json!([{ "type": "number", "value": 0 }, { "type": "number", "value": 1 }]);
    assert_eq!(result["structuredContent"], json!({ "results": zero_and_one, "error": error }));
    some.finish().await;
}

#[tokio::test]
async fn stacks_are_reported_on_request() {
    let text = "function inner(n) {\n  return n + 1; // @here\n}\nfunction outer() {\n  return inner(1); // @call\n}\nouter();\n";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    let result = scripting.ask("node main.js", "n", json!({ "includeStack": true })).await;
    let first = &result["structuredContent"]["results"][0];
    assert_eq!((&first["type"], &first["value"]), (&json!("number"), &json!(1)));
    let names: Vec<_> =
        first["stack"].as_array().unwrap().iter().map(|frame| frame["function"].clone()).collect();
    assert_eq!(names, ["inner", "outer", "<module>"]);
    let main = scripting.folder().join("main.js");
    let call = &first["stack"][1];
    assert_eq!((&call["file"], &call["line"]), (&json!(main), &json!(Fixture::read(&main).line("call"))));
    assert!(call["column"].as_u64().unwrap() > 0);
    scripting.finish().await;
}

#[tokio::test]
async fn a_directory_and_an_environment_are_applied() {
    let scripting = Scripting::with_files(&[("sub/main.js", MAIN)]).await;
    let more =
        json!({ "cwd": "sub", "env": { "WHO": "me" }, "breakpoint": { "file": "main.js", "line": 3 } });
    let values = scripting.values("node main.js", "process.env.WHO + number", more).await;
    assert_eq!(values, ["me1", "me2", "me3"]);
    scripting.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_flood_of_hits_is_limited() {
    let text = "let n = 0;\nwhile (n < 1e9) {\n  n += 1; // @here\n}\n";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    let result = scripting.ask("node main.js", "n", json!({ "maxHits": 100, "timeout": 1500 })).await;
    let data = &result["structuredContent"];
    let values: Vec<u64> =
        data["results"].as_array().unwrap().iter().map(|result| result["value"].as_u64().unwrap()).collect();
    assert_eq!(values, (0..100).collect::<Vec<_>>());
    // All requested values were recorded, so ending the program is not an error.
    assert_eq!(result["isError"], json!(null), "{}", data["error"]);
    assert!(data["hits"].as_u64().unwrap() > 100, "{}", data["hits"]);
    scripting.finish().await;
}
