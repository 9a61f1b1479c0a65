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
