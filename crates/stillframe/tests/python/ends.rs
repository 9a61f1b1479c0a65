//! How programs end, and what they leave behind.

mod signals;

use serde_json::{Value, json};

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// All output of the program is available when its end is reported.
#[tokio::test]
async fn half_a_megabyte_of_final_output_arrives_before_the_end() {
    let script = Script::new("import os\nprint('x' * 499_999)\nos._exit(3)\n");
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(3)));
    assert_eq!(session.written("stdout").await, "x".repeat(499_999) + "\n");
    let (skipped, shown) = (ended["outputSkipped"].as_u64().unwrap(), ended.text_of("output").len() as u64);
    assert_eq!(skipped + shown, 500_000, "what is not shown is counted");
    session.finish().await;
}

/// The child keeps the pipe open; the program's own end is reported nevertheless.
#[tokio::test]
async fn a_child_that_keeps_the_pipe_open_does_not_delay_the_end() {
    let script = Script::new("import subprocess\nsubprocess.Popen(['sleep', '1000'])\nprint('bye')\n");
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)));
    assert_eq!(ended["output"], "bye\n");
    session.finish().await;
}

#[tokio::test]
async fn atexit_handlers_run_and_their_output_arrives() {
    let script = Script::new(
        "import atexit\natexit.register(print, 'late')\natexit.register(print, 'sooner')\nprint('early')\n",
    );
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "early\nsooner\nlate\n"));
    session.finish().await;
}

/// A launcher that waits for the threads itself keeps the main thread alive, and such a program never ends.
#[tokio::test]
async fn a_thread_that_outlives_the_main_thread_is_awaited() {
    let script = Script::new(
        r#"
import threading, time

def work():
    threading.main_thread().join()
    print("worker ends")  # @late

threading.Thread(target=work).start()
print("main ends")
"#,
    );
    let (session, stopped) = script.stopped_at("late").await;
    assert_eq!(stopped["output"], "main ends\n");
    assert_eq!(session.run_to_the_end().await["output"], "worker ends\n");
    session.finish().await;
}

#[tokio::test]
async fn daemon_threads_do_not_delay_the_end() {
    let script = Script::new(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\nprint('end')\n",
    );
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), ended.text_of("output"), &ended["exitCode"]), ("ended", "end\n", &json!(0)));
    session.finish().await;
}

#[tokio::test]
async fn a_program_that_closes_its_output_ends_normally() {
    let script = Script::new(
        "import os, sys\nprint('open')\nsys.stdout.close()\nos.close(2)\nvalue = 5\nvalue += 1  # @here\nsys.exit(value)\n",
    );
    let (session, stopped) = script.stopped_at("here").await;
    assert_eq!((stopped.text_of("output"), stopped.variable("value")), ("open\n", "5"));
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(6)));
    session.finish().await;
}

#[tokio::test]
async fn a_program_that_exits_during_a_step_is_reported_as_ended() {
    let script = Script::new("import os\nos._exit(9)  # @here\n");
    for tool in ["step_over", "step_into", "step_out"] {
        let (session, _) = script.stopped_at("here").await;
        let ended = session.step(tool).await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(9)), "{tool}: {}", ended.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn a_step_from_the_last_line_ends_the_program() {
    let script = Script::new("x = 1\nprint(x)  # @here\n");
    let (session, _) = script.stopped_at("here").await;
    let ended = session.step("step_over").await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "1\n"), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn after_the_end_tools_report_it_and_the_program_restarts() {
    let script = Script::new("x = 1  # @here\n");
    let (session, _) = script.stopped_at("here").await;
    session.run_to_the_end().await;
    for tool in ["continue_execution", "step_over", "get_local_variables"] {
        session.fails("not_paused", tool, json!({})).await;
    }
    assert_eq!(session.breakpoints().await[0]["verified"], false);
    let again = session.step("restart_debugging").await;
    assert_eq!(again.place(), (script.path(), script.line("here")));
    session.finish().await;
}

/// The connection of the parent is inherited by the child, which must not speak on it.
#[tokio::test]
async fn both_processes_of_a_fork_continue_and_stop() {
    let script = Script::new(
        r#"
import os

pid = os.fork()
who = "parent" if pid else "child"
if pid:
    os.waitpid(pid, 0)
print(who, flush=True)  # @both
"#,
    );
    let (session, first) = script.stopped_at("both").await;
    assert_eq!(first.variable("who"), "'child'");
    let second = session.go_on().await;
    assert_eq!((second.outcome(), second.variable("who")), ("breakpoint", "'parent'"), "{}", second.text);
    let ended = session.run_to_the_end().await;
    assert_eq!(
        (session.written("stdout").await, &ended["signal"]),
        ("child\nparent\n".to_owned(), &Value::Null)
    );
    session.finish().await;
}

#[tokio::test]
async fn standard_input_is_empty_unless_given() {
    let script = Script::new("import sys\nprint(repr(sys.stdin.read()))\n");
    let (session, ended) = script.start().await;
    assert_eq!(ended["output"], "''\n");
    let given =
        session.ok("start_debugging", json!({ "scriptPath": script.path(), "stdin": "zwei\né" })).await;
    assert_eq!(given["output"], "'zwei\\né'\n");
    session.finish().await;
}

#[tokio::test]
async fn two_sessions_end_independently() {
    let script = Script::new("import sys, time\nprint('up', flush=True)\ntime.sleep(1000)\n");
    let first = Debugging::new().await;
    let slow = json!({ "scriptPath": script.path(), "timeout": 500 });
    assert_eq!(first.ok("start_debugging", slow.clone()).await.outcome(), "running");
    let other = first.server.ok("create_debug_session", json!({ "language": "python" })).await;
    let id = other["sessionId"].clone();
    let mut arguments = slow;
    arguments["sessionId"] = id.clone();
    assert_eq!(first.server.ok("start_debugging", arguments).await.outcome(), "running");
    first.server.ok("close_debug_session", json!({ "sessionId": id })).await;
    let listed = first.server.ok("list_debug_sessions", json!({})).await;
    assert_eq!((&listed["count"], listed.at("/sessions/0/state")), (&json!(1), &json!("running")));
    first.finish().await;
}
