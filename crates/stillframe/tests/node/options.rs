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
