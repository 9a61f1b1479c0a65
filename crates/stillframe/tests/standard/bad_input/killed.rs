//! Programs that are killed from outside while a call waits for them.

use serde_json::json;
use test_support::{Language, each};

use crate::debugging::{Debugging, ENDLESS, Report, written_in};

each![
    a_program_killed_while_a_call_waits_ends_only_that_call,
    a_program_killed_during_an_evaluation_ends_the_call,
    a_program_killed_while_paused_is_detected,
];

impl Debugging {
    async fn program_pid(&self) -> u32 {
        // What runs may be a compiler still.
        for _ in 0..100 {
            let threads = self.ok("list_threads", json!({})).await;
            if let Some(pid) = threads.at("/threads/0/processId").as_u64() {
                return u32::try_from(pid).expect("a process number");
            }
            self.call("continue_execution", json!({ "timeout": 100 })).await;
        }
        panic!("no process number");
    }
}

async fn a_program_killed_while_a_call_waits_ends_only_that_call(language: Language) {
    let (_folder, program) = written_in(language, "endless", ENDLESS);
    let (other_program, session) = Debugging::with(language, "swap_vars").await;
    let other = session.server.ok("create_debug_session", json!({ "language": language.name() })).await;
    let other = other.text_of("sessionId").to_owned();
    let location =
        json!({ "sessionId": other, "file": other_program.path(), "line": other_program.line("call") });
    session.server.ok("set_breakpoint", location).await;
    let start = json!({ "sessionId": other, "scriptPath": other_program.path() });
    session.server.ok("start_debugging", start).await;

    // Delve reports exit code 0 if it was about to give the program a signal of Go's scheduler.
    let env = json!({ "GODEBUG": "asyncpreemptoff=1" });
    let running = json!({ "scriptPath": program.path(), "timeout": 300, "env": env });
    assert_eq!(session.ok("start_debugging", running).await.outcome(), "running");
    let pid = session.program_pid().await;
    let waits = session.ok("continue_execution", json!({ "timeout": 60_000 }));
    let (ended, ()) = tokio::join!(waits, async { session.server.kill_started(pid) });
    assert_eq!((ended.outcome(), &ended["signal"]), ("ended", &json!("SIGKILL")), "{}", ended.text);
    assert_eq!(ended["message"], "The program was killed by SIGKILL");

    let arguments = json!({ "sessionId": other, "expression": "x + y" });
    assert_eq!(session.server.ok("evaluate_expression", arguments).await["result"], "30");
    let failed = session.fails("not_paused", "evaluate_expression", json!({ "expression": "1" })).await;
    assert!(failed.text_of("message").contains("restart_debugging"), "{}", failed.text);
    session.finish().await;
}

async fn a_program_killed_during_an_evaluation_ends_the_call(language: Language) {
    let (program, session) = Debugging::paused(language, "swap_vars", "call").await;
    let pid = session.program_pid().await;
    let arguments = json!({ "expression": language.words().sleep, "timeout": 60_000 });
    let waits = session.call("evaluate_expression", arguments);
    let (failed, ()) = tokio::join!(waits, async { session.server.kill_started(pid) });
    assert!(failed.is_error, "{}", failed.text);
    session.assert_ended().await;
    let again = session.step("restart_debugging").await;
    assert_eq!(again.place(), (program.path(), program.line("call")));
    session.finish().await;
}

async fn a_program_killed_while_paused_is_detected(language: Language) {
    let (_, session) = Debugging::paused(language, "swap_vars", "call").await;
    session.server.kill_started(session.program_pid().await);
    session.assert_ended().await;
    session.finish().await;
}
