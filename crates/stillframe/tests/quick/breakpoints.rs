//! Breakpoints, and what is said of them.

use serde_json::json;
use test_support::{Dynamic, DynamicLanguage as Language, Fixture, dynamic};

use crate::client::{ADDS, ENDLESS, ToolClient, app, at, folder, name_of, scene, stop};

dynamic![
    breakpoints_set_before_a_launch_are_pending_and_then_hit,
    a_breakpoint_on_a_line_without_code_reports_where_it_moved,
    a_breakpoint_that_cannot_bind_is_an_error_with_the_nearest_lines,
    a_condition_selects_the_hit,
    a_failing_condition_is_reported_at_the_end,
    an_invalid_condition_is_an_error,
    a_second_breakpoint_on_a_line_replaces_the_first,
    a_breakpoint_is_removed_by_its_line,
    a_breakpoint_in_an_unloaded_file_says_so,
    a_breakpoint_on_the_first_line_stops_at_the_launch,
    an_unreached_breakpoint_is_named_at_the_end,
    a_breakpoint_can_be_set_while_the_program_runs,
];

async fn breakpoints_set_before_a_launch_are_pending_and_then_hit(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    let reason = "no program is running; it binds when one starts";
    let set = client.break_at(&program, "add").await;
    assert_eq!(set, format!("Breakpoint at {} (pending: {reason})", at(&program, "add")));
    client.launch(&program).await;
    assert!(client.step("debug_continue").await.starts_with(&stop("breakpoint", &program, "add")));
    client.server.finish().await;
}

async fn a_breakpoint_on_a_line_without_code_reports_where_it_moved(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.launch(&program).await;
    let set = client.break_at(&program, "comment").await;
    let arguments = program.line("comment");
    let file = language.file("app");
    let expected = format!(
        "Breakpoint at {file}:{} (verified) (moved from line {arguments}: that line has no code to stop at)",
        arguments + 1
    );
    assert_eq!(set, expected);
    client.server.finish().await;
}

async fn a_breakpoint_that_cannot_bind_is_an_error_with_the_nearest_lines(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    let lines = std::fs::read_to_string(program.path()).unwrap().lines().count();
    for launched in [false, true] {
        if launched {
            client.launch(&program).await;
        }
        let failed = client.fails("debug_breakpoint", json!({ "file": program.path(), "line": 9999 })).await;
        let problem = format!(
            "Error: line 9999 of `{}` is past the end of the file, which has {lines} lines; lines that can \
             have a breakpoint: ",
            program.path(),
        );
        assert!(failed.starts_with(&problem), "{failed}");
    }
    let missing = client.fails("debug_breakpoint", json!({ "file": language.file("ap"), "line": 1 })).await;
    assert!(missing.starts_with("Error: no file `") && missing.contains(program.path()), "{missing}");
    client.server.finish().await;
}

async fn a_condition_selects_the_hit(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.launch(&program).await;
    let location = json!({ "file": program.path(), "line": program.line("add"), "condition": "item > 1" });
    let set = client.succeeds("debug_breakpoint", location).await;
    assert_eq!(set, format!("Breakpoint at {} if item > 1 (verified)", at(&program, "add")));
    client.step("debug_continue").await;
    let number = language.words().number;
    assert_eq!(
        client.succeeds("debug_evaluate", json!({ "expression": "item" })).await,
        format!("({number}) 2")
    );
    client.server.finish().await;
}

async fn a_failing_condition_is_reported_at_the_end(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.launch(&program).await;
    let location = json!({ "file": program.path(), "line": program.line("add"), "condition": "nope > 1" });
    client.succeeds("debug_breakpoint", location).await;
    let error = language.pick("NameError: name 'nope' is not defined", "ReferenceError: nope is not defined");
    let expected = format!(
        "Program exited with code 0.\nOutput:\nbegin\n3\nnote: the condition of the breakpoint at {} failed \
         2 times and did not stop the program: {error}",
        at(&program, "add")
    );
    assert_eq!(client.step("debug_continue").await, expected);
    client.server.finish().await;
}

async fn an_invalid_condition_is_an_error(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    let location = json!({ "file": program.path(), "line": program.line("add"), "condition": "1 +" });
    let failed = client.fails("debug_breakpoint", location).await;
    assert!(failed.starts_with("Error: `1 +` is not a valid expression: "), "{failed}");
    client.launch(&program).await;
    assert_eq!(client.step("debug_continue").await, "Program exited with code 0.\nOutput:\nbegin\n3");
    client.server.finish().await;
}

async fn a_second_breakpoint_on_a_line_replaces_the_first(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    for launched in [false, true] {
        if launched {
            client.launch(&program).await;
        }
        client.break_at(&program, "add").await;
        let location =
            json!({ "file": program.path(), "line": program.line("add"), "condition": "item > 5" });
        client.succeeds("debug_breakpoint", location).await;
    }
    let ended = client.step("debug_continue").await;
    let never =
        format!("note: the breakpoint at {} was never reached with `item > 5` true", at(&program, "add"));
    assert_eq!(ended, format!("Program exited with code 0.\nOutput:\nbegin\n3\n{never}"));
    client.server.finish().await;
}

async fn a_breakpoint_is_removed_by_its_line(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    let remove = |name| json!({ "file": program.path(), "line": program.line(name), "remove": true });
    let none = client.fails("debug_breakpoint", remove("add")).await;
    assert_eq!(none, format!("Error: `line` has no breakpoint: {}; there is none", at(&program, "add")));
    client.break_at(&program, "first").await;
    client.launch(&program).await;
    client.break_at(&program, "add").await;
    for name in ["first", "add"] {
        let removed = client.succeeds("debug_breakpoint", remove(name)).await;
        assert_eq!(removed, format!("Breakpoint at {} removed", at(&program, name)));
    }
    client.break_at(&program, "return").await;
    let other = client.fails("debug_breakpoint", remove("add")).await;
    let known = format!("they are at {}", at(&program, "return"));
    assert_eq!(other, format!("Error: `line` has no breakpoint: {}; {known}", at(&program, "add")));
    assert!(client.step("debug_continue").await.starts_with(&stop("breakpoint", &program, "return")));
    client.server.finish().await;
}

async fn a_breakpoint_in_an_unloaded_file_says_so(language: Language) {
    const MODULE: Dynamic = Dynamic {
        python: "def help():\n    return 1  # @help\n",
        node: "exports.help = () => {\n  return 1; // @help\n};\n",
    };
    const PROGRAM: Dynamic = Dynamic {
        python: "import helper\nprint(helper.help())\n",
        node: "const helper = require('./helper.js');\nconsole.log(helper.help());\n",
    };
    let folder = folder();
    let module = Fixture::write_in(language, folder.path(), "helper", MODULE);
    let program = app(language, &folder, PROGRAM);
    let client = ToolClient::within(folder.path()).await;
    client.break_at(&module, "help").await;
    let launched = client.launch(&program).await;
    let first = format!(
        "Debugger started for {} ({}). Ready for breakpoints.",
        language.file("app"),
        name_of(language)
    );
    let reason = "its file is not loaded yet; it binds when the program loads it";
    let pending = format!("{first}\nBreakpoint at {} (pending: {reason})", at(&module, "help"));
    assert_eq!(launched, pending);
    assert!(client.step("debug_continue").await.starts_with(&stop("breakpoint", &module, "help")));
    client.server.finish().await;
}

async fn a_breakpoint_on_the_first_line_stops_at_the_launch(language: Language) {
    const PROGRAM: Dynamic =
        Dynamic { python: "x = 1  # @start\nprint(x)\n", node: "const x = 1; // @start\nconsole.log(x);\n" };
    let (_folder, program, client) = scene(language, PROGRAM).await;
    client.break_at(&program, "start").await;
    let expected = format!(
        "Debugger started for {} ({}). Ready for breakpoints.\n{}",
        language.file("app"),
        name_of(language),
        stop("breakpoint", &program, "start"),
    );
    assert_eq!(client.launch(&program).await, expected);
    assert_eq!(client.step("debug_continue").await, "Program exited with code 0.\nOutput:\n1");
    client.server.finish().await;
}

async fn an_unreached_breakpoint_is_named_at_the_end(language: Language) {
    let program = Fixture::of(language, "endings");
    let folder = folder();
    let client = ToolClient::within(folder.path()).await;
    client.break_at(&program, "never").await;
    client.succeeds("debug_launch", json!({ "program": program.path(), "args": ["return"] })).await;
    let ended = client.step("debug_continue").await;
    let never = format!("note: the breakpoint at {} was never reached", at(&program, "never"));
    assert_eq!(ended, format!("Program exited with code 0.\nOutput:\nabout to return\n{never}"));
    client.server.finish().await;
}

async fn a_breakpoint_can_be_set_while_the_program_runs(language: Language) {
    let (_folder, program, client) = scene(language, ENDLESS).await;
    client.launch(&program).await;
    let running = client.succeeds("debug_continue", json!({ "timeout": 0 })).await;
    assert!(running.starts_with("Still running. "), "{running}");
    client.break_at(&program, "turn").await;
    let stopped = client.step("debug_continue").await;
    assert!(stopped.starts_with(&stop("breakpoint", &program, "turn")), "{stopped}");
    client.server.finish().await;
}
