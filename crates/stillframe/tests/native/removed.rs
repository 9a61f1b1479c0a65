//! Variables that the linker has removed because nothing uses them, and that debug information still lists.

use serde_json::json;

use crate::STILLFRAME;
use crate::source::{Sources, assert_evaluated, run_until};

const REMOVED: &str = "the program does not have `LIMIT`: the linker removed it";

#[tokio::test]
async fn a_variable_that_the_linker_removed_has_no_value() {
    let text = "static LIMIT: i32 = 42;\nstatic USED: i32 = 7;\n\n#[allow(dead_code)]\nfn report() {\n    \
                println!(\"{LIMIT}\");\n}\n\nfn main() {\n    let count = USED + 1;\n    \
                println!(\"{count}\"); // @here\n}\n";
    let sources = Sources::new(&[("main.rs", text)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let values = [("LIMIT", REMOVED), ("LIMIT == 42", REMOVED), ("USED", "7")];
    let ran = run_until(&server, &program, "here", &values.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &values);
    let point =
        json!({ "file": program.path(), "line": program.line("here"), "expressions": ["LIMIT", "USED"] });
    let recorded = server.ok("trace_values", json!({ "program": program.path(), "points": [point] })).await;
    let error = recorded.at("/rows/0/values/0/error").as_str().unwrap_or_default();
    assert!(error.starts_with(REMOVED), "{}", recorded.text);
    server.finish().await;
}

#[tokio::test]
async fn a_variable_that_the_linker_removed_is_not_listed() {
    let text = "int LIMIT = 42;\nint shared = 1;\nstatic const char *names[] = {\"a\", \"b\"};\nint used = 7;\n\
                const char *report(void) { return names[LIMIT + shared]; }\n\
                int main(void) {\n    static int shared = 3;\n    int count = used + shared;\n    return count; // @here\n}\n";
    let sources = Sources::new(&[("main.c", text)]);
    let built = "gcc -g -gdwarf-4 -ffunction-sections -fdata-sections -Wl,--gc-sections";
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.c"));
    for (binary, more) in [("moved", "-fPIE -pie"), ("fixed", "-fno-pie -no-pie")] {
        let binary = sources.compiled(&format!("{built} {more} main.c -o {binary}"), binary);
        let created = server.ok("create_debug_session", json!({ "language": "c" })).await;
        let id = &created["sessionId"];
        let place = json!({ "sessionId": id, "file": program.path(), "line": program.line("here") });
        server.ok("set_breakpoint", place).await;
        let started = server
            .ok("start_debugging", json!({ "sessionId": id, "scriptPath": binary, "timeout": 60_000 }))
            .await;
        let frame = started.at("/stackFrames/0/id");
        let scopes = server.ok("get_scopes", json!({ "sessionId": id, "frameId": frame })).await;
        let globals =
            scopes["scopes"].as_array().expect("a list").iter().find(|scope| scope["name"] == "Globals");
        let reference = &globals.expect("such a scope")["variablesReference"];
        let listed =
            server.ok("get_variables", json!({ "sessionId": id, "variablesReference": reference })).await;
        let variables = listed["variables"].as_array().expect("a list");
        let mut values: Vec<_> = variables.iter().filter_map(|variable| variable["value"].as_str()).collect();
        values.sort_unstable();
        assert_eq!((&listed["total"], values), (&json!(2), vec!["3", "7"]), "{}", listed.text);
        let watch = json!({ "sessionId": id, "watch": "LIMIT" });
        for (tool, arguments) in [
            ("evaluate_expression", json!({ "sessionId": id, "expression": "LIMIT + 1" })),
            ("evaluate_expression", json!({ "sessionId": id, "expression": "LIMIT = 3" })),
            ("set_breakpoint", watch),
        ] {
            let failed = server.call(tool, arguments).await;
            assert!(failed.text.contains(REMOVED), "{binary:?}: {}", failed.text);
        }
        server.ok("close_debug_session", json!({ "sessionId": id })).await;
    }
    server.finish().await;
}
