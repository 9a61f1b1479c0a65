//! What stands before a script, or in its place: arguments of the interpreter, and commands.

use std::path::Path;

use serde_json::{Value, json};
use test_support::Fixture;

use crate::STILLFRAME;
use crate::debugging::{Debugging, folder, written};

async fn session_in(language: &str, executable: Option<&str>) -> Debugging {
    let server = STILLFRAME.serve().await;
    let mut arguments = json!({ "language": language });
    if let Some(executable) = executable {
        arguments["executablePath"] = json!(executable);
    }
    let created = server.ok("create_debug_session", arguments).await;
    Debugging { id: created.text_of("sessionId").to_owned(), server }
}

/// The words of the command line that would be run.
async fn command(session: &Debugging, mut arguments: Value) -> Vec<String> {
    arguments["dryRunSpawn"] = json!(true);
    let dry = session.ok("start_debugging", arguments).await;
    let words = dry.at("/data/command").as_array().expect("a command line");
    words.iter().map(|word| word.as_str().expect("a word").to_owned()).collect()
}

fn install(folder: &Path, package: &str) {
    let installed = folder.join("node_modules").join(package);
    std::fs::create_dir_all(&installed).expect("a folder");
    let manifest = json!({ "name": package, "bin": "cli.js" }).to_string();
    std::fs::write(installed.join("package.json"), manifest).expect("a file");
}

#[tokio::test]
async fn the_interpreter_gets_its_own_options() {
    let (_folder, program) = written("told.py", "import sys\nprint(sys.warnoptions, sys.argv[1:])\n");
    let session = Debugging::new().await;
    let start = json!({ "scriptPath": program.path(), "runtimeArgs": ["-W", "error"], "args": ["own"] });
    let ended = session.ok("start_debugging", start).await;
    assert_eq!(ended.text_of("output"), "['error'] ['own']\n");
    let nothing = json!({ "runtimeArgs": ["-W", "error"] });
    let failed = session.fails("invalid_arguments", "start_debugging", nothing).await;
    assert!(failed.text_of("message").starts_with("`scriptPath` is missing"), "{}", failed.text);
    session.finish().await;
}

#[tokio::test]
async fn a_command_ending_in_node_needs_no_script() {
    let session = session_in("typescript", Some("npm")).await;
    let words = command(&session, json!({ "runtimeArgs": ["run", "start"], "args": ["--", "x"] })).await;
    assert!(words[0].ends_with("npm"), "{words:?}");
    assert_eq!(words[1..], ["run", "start", "--", "x"]);
    let module = json!({ "module": "vitest", "dryRunSpawn": true });
    session.fails("unsupported", "start_debugging", module).await;
    session.finish().await;
}

#[tokio::test]
async fn node_runs_package_commands_and_names_missing_ones() {
    let folder = folder();
    install(folder.path(), "mocha");
    let session = session_in("node", None).await;
    let words = command(&session, json!({ "module": "mocha", "cwd": folder.path() })).await;
    let script = folder.path().join("node_modules/mocha/cli.js").display().to_string();
    assert_eq!(words[1..], [script.as_str(), "--timeout=0"]);
    let missing = json!({ "module": "moka", "cwd": folder.path(), "dryRunSpawn": true });
    let failed = session.fails("environment", "start_debugging", missing).await;
    assert!(failed.text_of("message").contains("npm install --save-dev moka"), "{}", failed.text);
    session.finish().await;
}

#[tokio::test]
async fn a_script_with_a_syntax_error_is_not_started() {
    let (_folder, broken) = written("broken.js", "const a = 1;\nif (a {\n");
    let session = session_in("javascript", None).await;
    let start = json!({ "scriptPath": broken.path(), "dryRunSpawn": true });
    let failed = session.fails("file_unusable", "start_debugging", start).await;
    assert!(
        failed.text_of("message").contains("SyntaxError: Unexpected token '{' at line 2"),
        "{}",
        failed.text
    );
    session.finish().await;
}

#[tokio::test]
async fn javascript_breakpoints_and_conditions_are_checked_before_the_start() {
    let folder = folder();
    let source = "\
function total(list) { // @header
  // adds up
  return list.reduce((sum, item) => sum + item, 0); // @body
}
module.exports = total;
";
    let program = Fixture::write(folder.path(), "total.js", source);
    let session = session_in("javascript", None).await;
    let ask = |name: &str, more: Value| {
        let mut arguments = json!({ "file": program.path(), "line": program.line(name) });
        for (name, value) in more.as_object().into_iter().flatten() {
            arguments[name] = value.clone();
        }
        arguments
    };
    let moved = session.ok("set_breakpoint", ask("header", json!({}))).await;
    assert_eq!(moved["line"], program.line("body"), "{}", moved.text);
    session.ok("set_breakpoint", ask("body", json!({ "condition": "list.length > 1" }))).await;
    for condition in ["list.", "await list"] {
        let refused = ask("body", json!({ "condition": condition }));
        session.fails("bad_expression", "set_breakpoint", refused).await;
    }
    session.finish().await;
}
