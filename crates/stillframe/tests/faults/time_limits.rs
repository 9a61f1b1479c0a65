//! Calls with a time limit, on a program that does not answer, and several at once.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage as Language, Signal};

use crate::STILLFRAME;
use crate::attacked::{Attacked, LIMIT, LIMIT_MS};
use crate::cells::{GRACE, with_grace};

/// How much later than its time limit a call may come back here: what a busy machine needs, and less than one request
/// that a debugger does not answer.
const SOON: Duration = Duration::from_millis(3_900);

/// A call with the usual time limit, which comes back soon after it.
async fn soon(attacked: &Attacked<'_>, tool: &str, arguments: Value) -> Answer {
    within(attacked, tool, arguments, SOON).await
}

async fn within(attacked: &Attacked<'_>, tool: &str, mut arguments: Value, grace: Duration) -> Answer {
    arguments["timeout"] = json!(LIMIT_MS);
    with_grace(attacked.server, tool, attacked.with_session(arguments), LIMIT, grace).await
}

/// A place that the program passes again and again.
fn points(attacked: &Attacked<'_>) -> Value {
    let (file, line) = (attacked.program.path(), attacked.program.line("rest"));
    json!({ "points": [{ "file": file, "line": line, "expressions": ["label"] }] })
}

/// A call waits for a suspended program until its timeout, and reports the suspension.
async fn held(language: Language) {
    let server = STILLFRAME.serve().await;
    let attacked = Attacked::running(&server, language, &[]).await;
    let pid = attacked.pid().await;
    server.mark().signal(pid, Signal::STOP);
    let holds = format!("process {pid} is stopped by a signal such as SIGSTOP");
    for tool in ["diagnose_hang", "trace_values", "pause_execution"] {
        let arguments = if tool == "trace_values" { points(&attacked) } else { json!({}) };
        let answer = soon(&attacked, tool, arguments).await;
        assert!(!answer.is_error && answer.text.contains(&holds), "{tool}: {}", answer.text);
        // Where a breakpoint is to be set, V8 is not asked what keeps it.
        assert!(tool == "trace_values" || !answer.text.contains("native code"), "{tool}: {}", answer.text);
    }
    server.mark().signal(pid, Signal::CONT);
    attacked.ok("list_threads", json!({})).await;
    attacked.close().await;
    server.finish().await;
}

#[tokio::test]
async fn time_limits_apply_to_a_suspended_python_program() {
    held(Language::Python).await;
}

#[tokio::test]
async fn time_limits_apply_to_a_suspended_node_program() {
    held(Language::Node).await;
}

/// What one call waits for holds up no other. A diagnosis waits again for a pause that another call has ended.
#[tokio::test]
async fn simultaneous_calls_on_one_session_are_answered() {
    let server = STILLFRAME.serve().await;
    for language in [Language::Python, Language::Node] {
        let attacked = Attacked::running(&server, language, &[]).await;
        tokio::join!(
            within(&attacked, "diagnose_hang", json!({}), GRACE),
            soon(&attacked, "trace_values", points(&attacked)),
            soon(&attacked, "pause_execution", json!({})),
        );
        attacked.close().await;
    }
    server.finish().await;
}
