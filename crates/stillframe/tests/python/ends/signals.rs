//! Programs that are killed.

use std::path::Path;

use serde_json::{Value, json};
use test_support::Answer;

use crate::debugging::{Debugging, Report};
use crate::script::{Script, plain};

/// Kills a process from outside.
async fn kill(pid: &str) {
    let code = format!("import os, signal; os.kill({pid}, signal.SIGKILL)");
    assert_eq!(plain(Path::new("/"), &["-c", &code]).await.code, Some(0));
}

/// The report of a program killed by a signal.
fn killed_by(report: &Answer) -> (&str, &Value, &Value) {
    (report.outcome(), &report["signal"], &report["exitCode"])
}

async fn pid(session: &Debugging) -> String {
    session.evaluate("__import__('os').getpid()").await
}

#[tokio::test]
async fn a_crash_is_reported_with_its_signal() {
    let note = "if the crash was in an extension";
    let table = [
        ("import ctypes\nctypes.string_at(0)", "SIGSEGV", note),
        ("import os\nos.abort()", "SIGABRT", ""),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", "SIGTERM", ""),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "SIGKILL", ""),
    ];
    let session = Debugging::new().await;
    for (program, signal, note) in table {
        let script = Script::new(&format!("print('before', flush=True)\n{program}\n"));
        let ended = session.start(&script).await;
        assert_eq!(killed_by(&ended), ("ended", &json!(signal), &Value::Null), "{program}: {}", ended.text);
        assert!(ended.text_of("message").ends_with(&format!("killed by {signal}")), "{}", ended.text);
        assert_eq!(ended["output"], "before\n");
        let notes = ended["notes"].as_array().map_or(0, Vec::len);
        assert!(notes == usize::from(!note.is_empty()) && ended.text.contains(note), "{}", ended.text);
    }
    session.finish().await;
}

/// The step that does it is answered with the end, whatever pydevd made of the step.
#[tokio::test]
async fn a_crash_during_a_step_is_reported_as_the_end() {
    let script = Script::new("import ctypes\nctypes.string_at(0)  # @here\n");
    let (session, _) = script.stopped_at("here").await;
    let ended = session.step("step_over").await;
    assert_eq!(killed_by(&ended), ("ended", &json!("SIGSEGV"), &Value::Null), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn a_crash_during_an_expression_is_reported_at_once() {
    let script = Script::new("import ctypes\nx = 1  # @here\n");
    let (session, _) = script.stopped_at("here").await;
    let failed = session.call("evaluate_expression", json!({ "expression": "ctypes.string_at(0)" })).await;
    assert_eq!(failed["code"], "connection_lost", "{}", failed.text);
    session.finish().await;
}

#[tokio::test]
async fn a_program_killed_while_paused_is_reported_as_ended() {
    let script = Script::new("print('before', flush=True)\nx = 1  # @here\n");
    let (session, _) = script.stopped_at("here").await;
    kill(&pid(&session).await).await;
    let report = session.call("continue_execution", json!({})).await;
    if report.is_error {
        assert_eq!((&report["code"], report.at("/context/state")), (&json!("not_paused"), &json!("ended")));
    } else {
        assert_eq!(killed_by(&report), ("ended", &json!("SIGKILL"), &Value::Null), "{}", report.text);
    }
    session.finish().await;
}

#[tokio::test]
async fn a_program_killed_while_a_call_waits_answers_the_call() {
    let script = Script::new("import time\nx = 1  # @here\nprint('on', flush=True)\ntime.sleep(1000)\n");
    let (session, _) = script.stopped_at("here").await;
    let pid = pid(&session).await;
    let killed = async {
        // The program has come to its sleep when it has written.
        while session.written("stdout").await.is_empty() {}
        kill(&pid).await;
    };
    let (report, ()) = tokio::join!(session.go_on(), killed);
    assert_eq!(killed_by(&report), ("ended", &json!("SIGKILL"), &Value::Null), "{}", report.text);
    session.finish().await;
}

/// The debugger does not replace the program's handling of SIGINT.
#[tokio::test]
async fn a_program_sees_pythons_default_signal_handlers() {
    let source = "import signal\nfor number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD, signal.SIGUSR1):\n    print(number.name, signal.getsignal(number))\n";
    let script = Script::new(source);
    let (session, ended) = script.start().await;
    // Not compared with plain Python, which would inherit ignored signals from the test runner.
    let handlers =
        "SIGINT <built-in function default_int_handler>\nSIGTERM 0\nSIGPIPE 1\nSIGCHLD 0\nSIGUSR1 0\n";
    assert_eq!(ended["output"], handlers);
    session.finish().await;
}

#[tokio::test]
async fn a_debugged_program_handles_its_signals() {
    let script = Script::new(
        r#"
import os, signal

def handle(number, frame):
    print("got", signal.Signals(number).name)  # @handler

signal.signal(signal.SIGINT, handle)
signal.signal(signal.SIGTERM, handle)
os.kill(os.getpid(), signal.SIGINT)
os.kill(os.getpid(), signal.SIGTERM)
print("end")
"#,
    );
    let (session, stopped) = script.stopped_at("handler").await;
    assert_eq!(stopped.variable("number"), "2");
    assert_eq!(session.go_on().await.variable("number"), "15");
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "got SIGINT\ngot SIGTERM\nend\n");
    session.finish().await;
}
