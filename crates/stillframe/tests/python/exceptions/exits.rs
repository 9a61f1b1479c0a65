//! Programs that raise in order to end: an exit with any code is an end, not an exception.

use serde_json::{Value, json};

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// debugpy 1.8.22 stops at exits with codes and messages, and fails at codes that cannot be hashed.
#[tokio::test]
async fn every_kind_of_exit_has_pythons_code_and_message() {
    let table = [
        ("sys.exit(0)", 0, ""),
        ("sys.exit(None)", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit(-1)", 255, ""),
        ("sys.exit(True)", 1, ""),
        ("sys.exit('text')", 1, "[stderr] text\n"),
        ("sys.exit([1, 2])", 1, "[stderr] [1, 2]\n"),
        ("raise SystemExit", 0, ""),
        ("raise SystemExit(7)", 7, ""),
        ("os._exit(4)", 4, ""),
        ("exit(5)", 5, ""),
    ];
    let session = Debugging::new().await;
    for (statement, code, output) in table {
        let script = Script::new(&format!("import os, sys\ndef leave():\n    {statement}\nleave()\n"));
        let ended = session.start(&script).await;
        assert_eq!(ended.outcome(), "ended", "{statement}: {}", ended.text);
        assert_eq!((&ended["exitCode"], ended.text_of("output")), (&json!(code), output), "{statement}");
        assert_eq!(ended["signal"], Value::Null, "{statement}");
    }
    session.finish().await;
}

#[tokio::test]
async fn an_exit_does_not_stop_even_in_mode_all() {
    let session = Debugging::new().await;
    session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    for (statement, code) in [("sys.exit(3)", 3), ("sys.exit('text')", 1), ("sys.exit()", 0)] {
        let script = Script::new(&format!("import sys\ndef leave():\n    {statement}\nleave()\n"));
        let ended = session.start(&script).await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(code)), "{statement}");
    }
    session.finish().await;
}

#[tokio::test]
async fn a_keyboard_interrupt_ends_the_program_as_in_a_shell() {
    let script =
        Script::new("import os, signal\nprint('before', flush=True)\nos.kill(os.getpid(), signal.SIGINT)\n");
    let (session, ended) = script.start().await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    assert!(session.written("stderr").await.ends_with("KeyboardInterrupt\n"), "{}", ended.text);
    // Plain Python dies of the signal after it has cleaned up.
    assert_eq!((&ended["signal"], &ended["exitCode"]), (&json!("SIGINT"), &Value::Null));
    session.finish().await;
}
