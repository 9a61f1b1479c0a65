//! Starts that take longer than the call that asked for them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use test_support::Fixture;

use crate::debugging::{Debugging, Report, folder};

/// An interpreter that starts no program before a file is there.
const SLOW: &str = r#"#!/bin/sh
case "$*" in
*stillframe_launch.py*) while [ ! -e "$0.go" ]; do sleep 0.02; done ;;
*cache_tag*) exec python3 -c "import json, platform, sys
print(json.dumps({'executable': '$0', 'version': platform.python_version(), 'tag': sys.implementation.cache_tag}))" ;;
esac
exec python3 "$@"
"#;

async fn with_slow_interpreter(folder: &Path) -> Debugging {
    let interpreter = folder.join("slow-python");
    std::fs::write(&interpreter, SLOW).expect("the folder of a test can be written to");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&interpreter, executable).expect("a file of ours can be changed");
    let session = Debugging::new().await;
    let arguments = json!({ "language": "python", "executablePath": interpreter });
    let created = session.server.ok("create_debug_session", arguments).await;
    Debugging { id: created.text_of("sessionId").to_owned(), ..session }
}

#[tokio::test]
async fn a_start_that_outlasts_its_call_goes_on_and_is_waited_for_afterwards() {
    let folder = folder();
    let program = Fixture::python("swap_vars");
    let session = with_slow_interpreter(folder.path()).await;
    session.break_at(&program, "call").await;
    let asked = json!({ "scriptPath": program.path(), "timeout": 0 });
    let running = session.ok("start_debugging", asked.clone()).await;
    assert_eq!(running.outcome(), "running", "{}", running.text);
    let note = "the program is still being started; continue_execution waits for it";
    assert_eq!(running["notes"], json!([note]));
    session.fails("already_started", "start_debugging", asked).await;
    std::fs::write(folder.path().join("slow-python.go"), "").unwrap();
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("call")), "{}", stopped.text);
    session.run_to_the_end().await;
    session.finish().await;
}

#[tokio::test]
async fn what_keeps_a_program_from_starting_is_told_however_short_the_call() {
    let folder = folder();
    let broken = Fixture::write(folder.path(), "broken.py", "if x\n");
    let session = Debugging::new().await;
    for script in ["/no/such.py", broken.path()] {
        let failed = session.call("start_debugging", json!({ "scriptPath": script, "timeout": 0 })).await;
        assert!(failed.is_error && failed.text.contains(script), "{}", failed.text);
    }
    let failed = session.fails("start_failed", "continue_execution", json!({})).await;
    assert!(failed.text_of("error").contains("SyntaxError"), "{}", failed.text);
    session.finish().await;
}
