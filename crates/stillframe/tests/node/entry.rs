//! A stop on entry in a command, which comes to the user's code late and in a child.

use std::path::PathBuf;

use serde_json::{Value, json};
use test_support::{Answer, Language};

use crate::debugging::{Debugging, Report};
use crate::project::Project;
use crate::script::{Script, frames};

/// A file of each kind; the first begins with a function, which is called later.
const COMMON: &str = "function twice(n) {
  return 2 * n;
}
const four = twice(2); // @entry
console.log(four);
";
const MODULE: &str = "import { three } from './three.mjs';
console.log(three);
";
const THREE: &str = "export const three = 3; // @entry
";

/// Runs a script of a package by npm, and stops on entry.
async fn entered(project: &Project, script: &str) -> (Debugging, Answer) {
    entered_with(project, script, json!({})).await
}

/// The same, with more in the environment.
async fn entered_with(project: &Project, script: &str, env: Value) -> (Debugging, Answer) {
    project.file("package.json", &json!({ "scripts": { "start": script } }).to_string());
    let session = Debugging::with_executable(PathBuf::from("npm")).await;
    let start = json!({
        "args": ["start"],
        "cwd": project.folder(),
        "env": env,
        "dapLaunchArgs": { "stopOnEntry": true },
    });
    let mut entered = session.ok("start_debugging", start).await;
    while entered.outcome() == "running" {
        entered = session.go_on().await;
    }
    (session, entered)
}

async fn ends(session: Debugging) {
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn a_script_of_npm_stops_before_its_first_statement() {
    let project = Project::with(&[]).await;
    let file = project.file("twice.js", COMMON);
    let (session, entered) = entered(&project, "node twice.js").await;
    let location = (file.path(), file.line("entry"));
    assert_eq!((entered.outcome(), entered.place()), ("entry", location), "{}", entered.text);
    assert_eq!(entered.variable("four"), "undefined");
    ends(session).await;
}

/// In the ways in which scripts set options for Node.
#[tokio::test]
async fn a_script_of_npm_that_replaces_node_options_is_debugged() {
    for (options, keeps_others) in [
        ("NODE_OPTIONS=--stack-trace-limit=7", false),
        ("NODE_OPTIONS='--no-warnings --stack-trace-limit=7'", false),
        ("env A=1 \"NODE_OPTIONS=--no-warnings --stack-trace-limit=7\"", false),
        ("export NODE_OPTIONS=--stack-trace-limit=7 &&", false),
        ("NODE_OPTIONS=\"$NODE_OPTIONS --no-deprecation --stack-trace-limit=7\"", true),
    ] {
        let project = Project::with(&[]).await;
        let file = project.file("twice.js", COMMON);
        let script = format!("{options} node twice.js NODE_OPTIONS=--no-warnings");
        let others = json!({ "NODE_OPTIONS": "--trace-uncaught" });
        let (session, entered) = entered_with(&project, &script, others).await;
        let location = (file.path(), file.line("entry"));
        assert_eq!((entered.outcome(), entered.place()), ("entry", location), "{options}: {}", entered.text);
        assert_eq!(session.evaluate("Error.stackTraceLimit").await, "7", "{options}");
        let kept = session.evaluate("process.env.NODE_OPTIONS.includes('--trace-uncaught')").await;
        assert_eq!(kept, keeps_others.to_string(), "{options}");
        let is_unchanged = session.evaluate("process.argv[2] === 'NODE_OPTIONS=--no-warnings'").await;
        assert_eq!(is_unchanged, "true", "{options}");
        ends(session).await;
    }
}

#[tokio::test]
async fn a_named_script_of_a_package_stops_before_its_first_statement() {
    let script = Script::new("");
    let tool = script.file("node_modules/tool/cli.js", COMMON);
    let session = Debugging::of(Language::Node).await;
    let start = json!({ "scriptPath": tool.path(), "dapLaunchArgs": { "stopOnEntry": true } });
    let entered = session.ok("start_debugging", start).await;
    assert_eq!((entered.outcome(), entered.place()), ("entry", (tool.path(), tool.line("entry"))));
    // Node's own code below it is shown on request, and our hook's is not.
    assert_eq!(frames(&entered), ["<module>"], "{}", entered.text);
    let all = session.ok("get_stack_trace", json!({ "includeInternals": true })).await;
    assert!(all.text.contains("node:internal") && !all.text.contains("loading.cjs"), "{}", all.text);
    ends(session).await;
}

#[tokio::test]
async fn a_command_that_runs_only_a_package_ends_with_a_note() {
    let project = Project::with(&[]).await;
    project.file("node_modules/tool/cli.js", COMMON);
    let (session, ended) = entered(&project, "node node_modules/tool/cli.js").await;
    assert_eq!(ended.outcome(), "ended");
    assert!(ended.text.contains("no stop on entry: "), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn a_program_on_its_way_to_its_entry_has_no_note() {
    let project = Project::with(&[]).await;
    let file = project.file("twice.js", COMMON);
    project.file("node_modules/tool/cli.js", "setTimeout(() => require('../../twice.js'), 1500);\n");
    let package = json!({ "scripts": { "start": "node node_modules/tool/cli.js" } });
    project.file("package.json", &package.to_string());
    let session = Debugging::with_executable(PathBuf::from("npm")).await;
    let start = json!({
        "args": ["start"],
        "cwd": project.folder(),
        "timeout": 100,
        "dapLaunchArgs": { "stopOnEntry": true },
    });
    let mut report = session.ok("start_debugging", start).await;
    assert_eq!(report.outcome(), "running", "{}", report.text);
    while report.outcome() == "running" {
        assert!(!report.text.contains("no stop on entry"), "{}", report.text);
        report = session.go_on().await;
    }
    let location = (file.path(), file.line("entry"));
    assert_eq!((report.outcome(), report.place()), ("entry", location), "{}", report.text);
    ends(session).await;
}

#[tokio::test]
async fn a_module_stops_where_its_imports_begin() {
    let project = Project::with(&[]).await;
    project.file("main.mjs", MODULE);
    let file = project.file("three.mjs", THREE);
    let (session, entered) = entered(&project, "node main.mjs").await;
    let location = (file.path(), file.line("entry"));
    assert_eq!((entered.outcome(), entered.place()), ("entry", location), "{}", entered.text);
    ends(session).await;
}

#[tokio::test]
async fn the_text_of_an_option_stops_before_its_first_statement() {
    let project = Project::with(&[]).await;
    let (session, entered) = entered(&project, "node -e 'const one = 1;\nconsole.log(one)'").await;
    assert_eq!((entered.outcome(), entered.at("/location/file")), ("entry", &json!("[eval]")));
    let next = session.step("step_over").await;
    assert_eq!(next.at("/location/file"), "[eval]", "{}", next.text);
    let one = session.ok("evaluate_expression", json!({ "expression": "one" })).await;
    assert_eq!(one["result"], "1", "{}", one.text);
    ends(session).await;
}

#[tokio::test]
async fn an_empty_file_is_passed_by() {
    let project = Project::with(&[]).await;
    project.file("nothing.js", "// Nothing.\n");
    let file = project.file("twice.js", COMMON);
    let (session, entered) = entered(&project, "node nothing.js && node twice.js && node twice.js").await;
    let location = (file.path(), file.line("entry"));
    assert_eq!((entered.outcome(), entered.place()), ("entry", location), "{}", entered.text);
    ends(session).await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_worker_of_a_runner_stops_before_the_first_line_of_the_test() {
    let project = Project::with(&["vitest"]).await;
    let test =
        project.file("one.test.ts", "import { it } from 'vitest';\nit('passes', () => {}); // @entry\n");
    let (session, entered) =
        entered(&project, "node node_modules/vitest/vitest.mjs run --pool=threads").await;
    let location = (test.path(), test.line("entry"));
    assert_eq!((entered.outcome(), entered.place()), ("entry", location), "{}", entered.text);
    ends(session).await;
}
