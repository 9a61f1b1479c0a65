//! Options of Node that get in the way of code in the program.

use serde_json::json;
use test_support::Language;

use crate::debugging::{Debugging, Report};
use crate::script::Script;

#[tokio::test]
async fn programs_with_strict_options_are_debugged() {
    let script = Script::new("const a = 1;\nconsole.log(a); // @print\n");
    for option in [
        "--no-deprecation",
        "--throw-deprecation",
        "--trace-deprecation",
        "--pending-deprecation",
        "--disable-proto=throw",
        "--disable-proto=delete",
        "--frozen-intrinsics",
    ] {
        let session = Debugging::of(Language::Node).await;
        session.break_at(&script.main, "print").await;
        let start = json!({ "scriptPath": script.path(), "runtimeArgs": [option] });
        let stopped = session.ok("start_debugging", start).await;
        let location = (script.path(), script.line("print"));
        assert_eq!(
            (stopped.outcome(), stopped.place()),
            ("breakpoint", location),
            "{option}: {}",
            stopped.text
        );
        assert_eq!(session.evaluate("a + 1").await, "2", "{option}");
        let ended = session.go_on().await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{option}: {}", ended.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn a_program_that_keeps_its_inspector_closed_is_refused() {
    let script = Script::new("console.log(1);\n");
    let session = Debugging::of(Language::Node).await;
    let options = ["--experimental-permission", "--allow-fs-read=*"];
    let start = json!({ "scriptPath": script.path(), "runtimeArgs": options });
    let refused = session.call("start_debugging", start).await;
    assert!(
        refused.text.contains("with `--experimental-permission`, Node.js does not open"),
        "{}",
        refused.text
    );
    session.finish().await;
}

#[tokio::test]
async fn a_command_that_replaces_our_options_is_named() {
    let script = Script::new("console.log(1);\n");
    let session = Debugging::with_executable("sh".into()).await;
    let start = json!({ "args": ["-c", "NODE_OPTIONS=--no-warnings node main.js"], "cwd": script.folder() });
    let failed = session.call("start_debugging", start).await;
    assert!(failed.text.contains("its command replaces NODE_OPTIONS"), "{}", failed.text);
    session.finish().await;
}

/// The last one of these does set options, and has no others than ours then.
const SCRIPTS: &str = r#"
const { execSync, spawn } = require('node:child_process');
for (const script of [
  'echo NODE_OPTIONS=--no-warnings',
  'docker() { echo "$@"; }; docker run -e NODE_OPTIONS=--no-warnings app node a.js',
  'make() { echo "$@"; }; make NODE_OPTIONS=--no-warnings',
  'cat <<END\nNODE_OPTIONS=--no-warnings node a.js\nEND',
  'echo "a; NODE_OPTIONS=--no-warnings node a.js" # NODE_OPTIONS=--no-warnings node a.js',
  'env NODE_OPTIONS=--no-warnings | grep ^NODE_OPTIONS',
  'NODE_OPTIONS= node -p Error.stackTraceLimit',
]) {
  process.stdout.write(execSync(script));
}
console.log(spawn('NODE_OPTIONS=--no-warnings true', { shell: true }).spawnargs.at(-1));
"#;
const PRINTED: &str = "\
NODE_OPTIONS=--no-warnings
run -e NODE_OPTIONS=--no-warnings app node a.js
NODE_OPTIONS=--no-warnings
NODE_OPTIONS=--no-warnings node a.js
a; NODE_OPTIONS=--no-warnings node a.js
NODE_OPTIONS=--no-warnings
10
NODE_OPTIONS=--no-warnings true
";

#[tokio::test]
async fn options_that_a_shell_script_only_mentions_stay_as_they_are() {
    let script = Script::new(SCRIPTS);
    let session = Debugging::of(Language::Node).await;
    let env = json!({ "NODE_OPTIONS": "--stack-trace-limit=7" });
    let start = json!({ "scriptPath": script.path(), "env": env });
    let mut ended = session.ok("start_debugging", start).await;
    while ended.outcome() == "running" {
        ended = session.go_on().await;
    }
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    assert_eq!(session.written("stdout").await, PRINTED);
    session.finish().await;
}

/// The option of another program is not one of Node, and the inspector is open.
#[tokio::test]
async fn an_option_of_another_program_is_not_taken_for_one_of_node() {
    let script = Script::new("console.log(process.argv[2]); // @print\n");
    for command in ["grant() { :; }; grant --permission && node main.js", "node main.js --permission"] {
        let session = Debugging::with_executable("sh".into()).await;
        session.break_at(&script.main, "print").await;
        let start = json!({ "args": ["-c", command], "cwd": script.folder() });
        let stopped = session.ok("start_debugging", start).await;
        assert_eq!(stopped.outcome(), "breakpoint", "{command}: {}", stopped.text);
        session.finish().await;
    }
    let session = Debugging::with_executable("sh".into()).await;
    let start = json!({ "args": ["-c", "node --experimental-permission main.js"], "cwd": script.folder() });
    let refused = session.call("start_debugging", start).await;
    assert!(refused.text.contains("with `--experimental-permission`, Node.js"), "{}", refused.text);
    let start = json!({ "args": ["-c", "echo --permission"], "cwd": script.folder() });
    let failed = session.call("start_debugging", start).await;
    assert!(failed.text.contains("if `--permission` is for Node.js"), "{}", failed.text);
    session.finish().await;
}

/// A program that a test starts is not a test process.
#[tokio::test]
async fn a_program_that_a_test_starts_has_its_own_options() {
    let script = Script::new(
        "\
const { spawnSync } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const { test } = require('node:test');
test('starts', () => {
  spawnSync(process.execPath, ['child.cjs']);
  writeFileSync('test.json', JSON.stringify(process.execArgv));
});
",
    );
    let child = "require('node:fs').writeFileSync('child.json', JSON.stringify(process.execArgv));\n";
    script.file("child.cjs", child);
    let setup = script.file("setup.cjs", "");
    let session = Debugging::of(Language::Node).await;
    let start = json!({
        "cwd": script.folder(),
        "runtimeArgs": ["--test"],
        "args": [script.path()],
        "env": { "NODE_OPTIONS": format!("--require {}", setup.path()) },
    });
    let mut ended = session.ok("start_debugging", start).await;
    while ended.outcome() == "running" {
        ended = session.go_on().await;
    }
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    let options = |name: &str| std::fs::read_to_string(script.folder().join(name)).unwrap();
    assert!(options("test.json").contains("--enable-source-maps"), "{}", options("test.json"));
    assert_eq!(options("child.json"), "[]");
    session.finish().await;
}
