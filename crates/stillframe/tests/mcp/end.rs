//! The end of the server is the end of all that it started, and of nothing else.

use std::time::Duration;

use serde_json::json;
use test_support::{Fixture, Server, Shutdown, assert_gone, eventually};

use crate::STILLFRAME;
use crate::scenes::{Listening, output_of, paused_at, printed, read_output, running, session};

const GOODBYES: [Shutdown; 3] = [Shutdown::EndOfInput, Shutdown::Terminate, Shutdown::Interrupt];

/// Ends one server in each way, and kills one, with this program running.
async fn ends_with_everything(program: &str) {
    let program = Fixture::python(program);
    for goodbye in GOODBYES {
        let server = STILLFRAME.serve().await;
        running(&server, &program).await;
        server.finish_by(goodbye).await;
    }
    let server = STILLFRAME.serve().await;
    running(&server, &program).await;
    server.kill().await;
}

#[tokio::test]
async fn an_idle_server_ends() {
    for goodbye in GOODBYES {
        STILLFRAME.serve().await.finish_by(goodbye).await;
    }
    // Not even a session of the protocol.
    STILLFRAME.serve_stateless().await.finish().await;
}

#[tokio::test]
async fn closed_input_ends_the_server() {
    let served = STILLFRAME.command().arg("serve").output().await.unwrap();
    assert!(served.status.success(), "{}", served.status);
    assert_eq!((served.stdout.as_slice(), served.stderr.as_slice()), (&b""[..], &b""[..]));
}

#[tokio::test]
async fn requests_before_the_end_of_input_are_answered() {
    let server = STILLFRAME.serve().await;
    let request = |id: usize| {
        let params = json!({ "name": "list_debug_sessions", "arguments": {} });
        json!({ "jsonrpc": "2.0", "id": format!("call {id}"), "method": "tools/call", "params": params })
    };
    for id in 0..30 {
        server.send(&request(id)).await;
    }
    let (lines, _) = server.finish().await;
    let answers = lines.iter().filter(|line| line.contains("\"call ") && line.contains("\"count\":0"));
    assert_eq!(answers.count(), 30);
}

#[tokio::test]
async fn a_paused_program_ends_with_the_server() {
    let program = Fixture::python("shop");
    for goodbye in GOODBYES {
        let server = STILLFRAME.serve().await;
        paused_at(&server, &program, "call").await;
        server.finish_by(goodbye).await;
    }
    let server = STILLFRAME.serve().await;
    paused_at(&server, &program, "call").await;
    server.kill().await;
}

/// The guardian ends what a killed server has left. It may be killed itself before that.
#[tokio::test]
async fn a_killed_guardian_is_replaced() {
    let program = Fixture::python("shop");
    let server = STILLFRAME.serve().await;
    paused_at(&server, &program, "call").await;
    server.kill_started(server.mark().guardians()[0]);
    paused_at(&server, &program, "call").await;
    server.kill().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_program_in_a_busy_loop_ends_with_the_server() {
    ends_with_everything("spins").await;
}

#[tokio::test]
async fn a_program_that_ignores_sigterm_ends_with_the_server() {
    ends_with_everything("ignores_sigterm").await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn children_and_a_grandchild_in_another_session_end_with_the_server() {
    ends_with_everything("family").await;
}

#[tokio::test]
async fn children_end_with_their_session() {
    let server = STILLFRAME.serve().await;
    let before = server.mark().processes();
    let session = running(&server, &Fixture::python("family")).await;
    assert!(server.mark().processes().len() >= before.len() + 4, "{:#?}", server.mark().processes());
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    let left = server.mark().processes();
    let left: Vec<_> =
        left.iter().filter(|(_, line)| line.contains("python") || line.contains("sleep")).collect();
    assert!(left.is_empty(), "{left:#?}");
    server.finish().await;
}

/// Only its process group identifies it, and the group's leader has ended.
const LEAVES: &str = r#"
import subprocess, sys

left = subprocess.Popen(["/bin/sleep", "1000"], env={})
print("left", left.pid, "behind", flush=True)
if len(sys.argv) > 1:
    subprocess.Popen([sys.executable, "-c", "import time; print('ready', flush=True); time.sleep(1000)"])
"#;

/// The process that such a program has left.
async fn left_behind(server: &Server, session: &str) -> u32 {
    printed(server, session, "behind").await;
    let output = read_output(server, session).await;
    let words = output.split_whitespace().skip_while(|word| *word != "left");
    words.skip(1).find_map(|word| word.parse().ok()).expect("the number of the process")
}

#[tokio::test]
async fn a_child_with_an_empty_environment_ends_with_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let program = Fixture::write(folder.path(), "leaves.py", LEAVES);
    let server = STILLFRAME.serve().await;
    let session = session(&server).await;
    let start = json!({ "sessionId": session, "scriptPath": program.path(), "timeout": 60_000 });
    assert_eq!(server.ok("start_debugging", start).await["state"], "ended");
    assert_gone(left_behind(&server, &session).await);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_orphan_with_an_empty_environment_ends_with_the_session_and_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let program = Fixture::write(folder.path(), "leaves.py", LEAVES);
    for goodbye in [None, Some(Shutdown::EndOfInput), Some(Shutdown::Terminate)] {
        for is_closed in [true, false] {
            let server = STILLFRAME.serve().await;
            let session = session(&server).await;
            let start = json!({
                "sessionId": session, "scriptPath": program.path(), "args": ["on"], "timeout": 0,
            });
            server.ok("start_debugging", start).await;
            let left = left_behind(&server, &session).await;
            printed(&server, &session, "ready").await;
            // A child is debugged still.
            let leads = |(_, line): &(u32, String)| line.contains("leaves.py");
            eventually(|| !server.mark().processes().iter().any(leads)).await;
            if is_closed {
                server.ok("close_debug_session", json!({ "sessionId": session })).await;
                assert_gone(left);
            }
            match goodbye {
                Some(goodbye) => {
                    server.finish_by(goodbye).await;
                }
                None => server.kill().await,
            }
            assert_gone(left);
        }
    }
}

#[tokio::test]
async fn a_waiting_call_does_not_delay_the_end() {
    for goodbye in GOODBYES {
        let server = STILLFRAME.serve().await;
        let session = running(&server, &Fixture::python("spins")).await;
        let wait = json!({ "sessionId": session, "timeout": 600_000 });
        let params = json!({ "name": "continue_execution", "arguments": wait });
        let _waiting = server.begin("tools/call", params).await;
        server.request("ping", json!({})).await.unwrap();
        server.finish_by(goodbye).await;
    }
}

#[tokio::test]
async fn an_endless_expression_does_not_delay_the_end() {
    let server = STILLFRAME.serve().await;
    let session = paused_at(&server, &Fixture::python("shop"), "call").await;
    let expression = "[print('evaluating', flush=True), [None for _ in iter(int, 1)]]";
    let arguments = json!({ "sessionId": session, "expression": expression, "timeout": 120_000 });
    let params = json!({ "name": "evaluate_expression", "arguments": arguments });
    let _waiting = server.begin("tools/call", params).await;
    printed(&server, &session, "evaluating").await;
    server.finish().await;
}

#[tokio::test]
async fn a_starting_program_ends_with_the_server() {
    for questions in 0..6 {
        let server = STILLFRAME.serve().await;
        let session = session(&server).await;
        let start = json!({ "sessionId": session, "scriptPath": Fixture::python("spins").path() });
        let params = json!({ "name": "start_debugging", "arguments": start });
        let _starting = server.begin("tools/call", params).await;
        // Each takes a little time, so that the end comes at another moment of the start.
        for _ in 0..questions * questions * 20 {
            server.ok("list_debug_sessions", json!({})).await;
        }
        server.finish().await;
    }
}

#[tokio::test]
async fn a_pending_run_until_ends_with_the_server() {
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "program": Fixture::python("naps").path(), "timeout": 600_000 });
    let params = json!({ "name": "run_until", "arguments": arguments });
    let _running = server.begin("tools/call", params).await;
    let opened = loop {
        let sessions = server.ok("list_debug_sessions", json!({})).await;
        if let Some(id) = sessions.at("/sessions/0/id").as_str() {
            break id.to_owned();
        }
    };
    printed(&server, &opened, "nap 1").await;
    server.finish().await;
}

#[tokio::test]
async fn closing_standard_output_ends_the_server() {
    let mut server = STILLFRAME.serve().await;
    paused_at(&server, &Fixture::python("shop"), "call").await;
    server.close_output().await;
    server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await;
    assert!(server.ended().await.success());
    server.mark().assert_gone_within(Duration::from_secs(2));
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_delay_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let program =
        "print('x' * 1_000_000, flush=True)\nprint('all', flush=True)\nimport time\ntime.sleep(1000)\n";
    let program = Fixture::write(folder.path(), "wide.py", program);
    let mut server = STILLFRAME.options().await.start().await;
    let session = session(&server).await;
    let start = json!({ "sessionId": session, "scriptPath": program.path(), "timeout": 0 });
    server.ok("start_debugging", start).await;
    printed(&server, &session, "all").await;
    server.stop_reading();
    // More than a pipe can buffer, so the server has answers that it cannot write.
    for id in 0..5 {
        let params = json!({ "uri": output_of(&session) });
        let read = json!({ "jsonrpc": "2.0", "id": format!("read {id}"), "method": "resources/read", "params": params });
        server.send(&read).await;
    }
    server.close_input().await;
    assert!(server.ended().await.success());
    server.mark().assert_gone_within(Duration::from_secs(2));
}

async fn attached(program: &Listening) -> Server {
    let server = STILLFRAME.serve().await;
    let session = session(&server).await;
    let attach = json!({ "sessionId": session, "port": program.port, "stopOnEntry": false });
    assert_eq!(server.ok("attach_to_process", attach).await["state"], "running");
    server
}

#[tokio::test]
async fn an_attached_program_outlives_the_server() {
    let mut program = Listening::start().await;
    for goodbye in GOODBYES {
        let server = attached(&program).await;
        program.say("hello").await;
        program.answers("hello").await;
        server.finish_by(goodbye).await;
        program.say("and now").await;
        program.answers("and now").await;
    }
    let server = attached(&program).await;
    server.kill().await;
    program.say("at last").await;
    program.answers("at last").await;
    program.end().await;
}

#[tokio::test]
async fn an_attached_and_paused_program_outlives_the_server() {
    let mut program = Listening::start().await;
    let listens = Fixture::python("listens");
    let server = attached(&program).await;
    let target_location = json!({ "file": listens.path(), "line": listens.line("answer") });
    assert_eq!(server.ok("set_breakpoint", target_location).await["verified"], true);
    program.say("paused").await;
    let stopped = server.ok("continue_execution", json!({})).await;
    assert_eq!(stopped.at("/location/line"), listens.line("answer"));
    assert_eq!(stopped.variable("line"), r"'paused\n'");
    server.finish().await;
    program.answers("paused").await;
    program.say("free").await;
    program.answers("free").await;
    program.end().await;
}
