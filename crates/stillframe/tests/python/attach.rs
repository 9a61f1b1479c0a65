//! Programs that run already.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Fixture, Language, ServerOptions, python_with_packages};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};
use crate::script::{Script, folder, text};

/// A program that was started elsewhere, and its first line of output. It ends when its input does.
#[expect(clippy::disallowed_methods, reason = "a program that is not ours, which ends with its input")]
async fn running(program: &str, args: &[&str]) -> (Child, String) {
    let mut command = Command::new(program);
    command.args(args).env("PYTHONPATH", STILLFRAME.debugpy().await).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let line = lines.next_line().await.expect("it writes").expect("a line");
    (child, line)
}

async fn listening(program: &Fixture) -> (Child, u16) {
    let (child, port) = running("python3", &["-X", "frozen_modules=off", program.path()]).await;
    (child, port.parse().expect("a port"))
}

/// It runs, and ends normally on request.
async fn runs_on(mut child: Child) {
    assert_eq!(child.try_wait().unwrap(), None, "what was attached to runs on");
    drop(child.stdin.take());
    assert!(child.wait().await.unwrap().success());
}

/// Works until its input is closed.
fn worker() -> Script {
    Script::new(
        r"
import os, sys, threading, time

def end_with_input():
    sys.stdin.read()
    os._exit(0)

def work(rounds):
    time.sleep(0.02)
    return rounds + 1  # @work

threading.Thread(target=end_with_input, daemon=True).start()
print(os.getpid(), flush=True)
rounds = 0
while True:
    rounds = work(rounds)
",
    )
}

#[tokio::test]
async fn a_program_is_attached_to_by_port_inspected_detached_and_attached_to_again() {
    let program = Fixture::python("debugpy_port");
    let (child, port) = listening(&program).await;
    let session = Debugging::new().await;
    for _ in 0..2 {
        let attached = session
            .ok("attach_to_process", json!({ "port": port, "timeout": 300, "stopOnEntry": false }))
            .await;
        assert_eq!(attached.outcome(), "running", "{}", attached.text);
        session.break_at(&program, "work").await;
        let stopped = session.go_on().await;
        assert_eq!(stopped.place(), (program.path(), program.line("work")), "{}", stopped.text);
        assert_eq!(session.evaluate("rounds >= 0").await, "True");
        session.ok("clear_breakpoints", json!({})).await;
        session.ok("detach_from_process", json!({})).await;
        let state = session.server.ok("list_debug_sessions", json!({})).await;
        assert_eq!(state.at("/sessions/0/execution"), "ended");
    }
    session.finish().await;
    runs_on(child).await;
}

/// If the next client connects too early, debugpy's adapter stops serving.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn another_client_can_attach_right_after_detach() {
    let (child, port) = listening(&Fixture::python("debugpy_port")).await;
    let session = Debugging::new().await;
    for _ in 0..20 {
        session.ok("attach_to_process", json!({ "port": port, "timeout": 300, "stopOnEntry": false })).await;
        session.ok("detach_from_process", json!({})).await;
    }
    session.finish().await;
    runs_on(child).await;
}

/// The folder has one name here and another one where the program runs. The debugger is the program's: none is installed
/// here.
#[tokio::test]
async fn path_mappings_translate_both_ways() {
    let here = folder();
    let source = std::fs::read_to_string(Fixture::python("debugpy_port").path()).unwrap();
    let (local, remote) = (here.path().join("local"), here.path().join("remote"));
    for folder in [&local, &remote] {
        std::fs::create_dir(folder).unwrap();
    }
    let ours = Fixture::write(&local, "main.py", &source);
    let theirs = Fixture::write(&remote, "main.py", &source);
    let (child, port) = listening(&theirs).await;
    let cache = here.path().join("cache");
    let options = ServerOptions { cache: cache.clone(), ..STILLFRAME.options().await };
    let session = Debugging::on(options.start().await, Language::Python).await;
    let mappings = json!({ text(&local): text(&remote) });
    session
        .ok(
            "attach_to_process",
            json!({ "port": port, "pathMappings": mappings, "timeout": 300, "stopOnEntry": false }),
        )
        .await;
    session.break_at(&ours, "work").await;
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (ours.path(), ours.line("work")), "{}", stopped.text);
    session.ok("close_debug_session", json!({})).await;
    session.finish().await;
    runs_on(child).await;
    let installed = std::fs::read_dir(cache.join("python")).into_iter().flatten();
    assert!(installed.flatten().all(|entry| !text(&entry.path()).contains("debugpy-")));
}

/// What was sent to the program has no file, and is not in the folder that the program works in.
#[tokio::test]
async fn exceptions_caught_by_a_library_stop_an_attached_program() {
    let script = Script::new(
        r"
import concurrent.futures, os, sys, threading, time

def end_with_input():
    sys.stdin.read()
    os._exit(0)

def price(carts):
    return carts['b']  # @raise

os.chdir(os.path.dirname(os.path.abspath(__file__)))
threading.Thread(target=end_with_input, daemon=True).start()
pool = concurrent.futures.ThreadPoolExecutor(1)
print(os.getpid(), flush=True)
while True:
    pool.submit(price, {}).exception()
    time.sleep(0.02)
",
    );
    let (child, pid) = running("python3", &[script.path()]).await;
    let session = Debugging::new().await;
    let arguments = json!({ "processId": pid.parse::<u32>().unwrap(), "timeout": 300, "stopOnEntry": false });
    session.ok("attach_to_process", arguments).await;
    let stopped = session.ok("run_until", json!({ "exceptions": "userUnhandled" })).await;
    assert_eq!(stopped.place(), (script.path(), script.line("raise")), "{}", stopped.text);
    session.finish().await;
    runs_on(child).await;
}

#[tokio::test]
async fn a_program_is_attached_to_by_pid_and_left_running() {
    let script = worker();
    let (child, pid) = running("python3", &[script.path()]).await;
    let pid: u32 = pid.parse().unwrap();
    let session = Debugging::new().await;
    let attached = session
        .ok("attach_to_process", json!({ "processId": pid, "timeout": 300, "stopOnEntry": false }))
        .await;
    assert_eq!(attached.outcome(), "running", "{}", attached.text);
    session.break_at(&script, "work").await;
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (script.path(), script.line("work")), "{}", stopped.text);
    assert_eq!(session.evaluate("rounds >= 0").await, "True");
    assert_eq!(
        session.evaluate("'pydevd_vars' in str(__import__('traceback').extract_stack())").await,
        "False"
    );
    let endless = json!({ "expression": "while True: pass", "timeout": 500 });
    session.fails("deadline_exceeded", "evaluate_expression", endless).await;
    session.ok("detach_from_process", json!({})).await;
    session.finish().await;
    runs_on(child).await;
}

#[tokio::test]
async fn a_lock_that_another_process_may_have_is_no_deadlock() {
    let script = Script::new(
        r"
import multiprocessing, sys

def wait(lock):
    with lock:  # @waits
        pass

if __name__ == '__main__':
    lock = multiprocessing.Lock()
    lock.acquire()
    child = multiprocessing.Process(target=wait, args=(lock,))
    child.start()
    print(child.pid, flush=True)
    sys.stdin.read()
    lock.release()
    child.join()
",
    );
    let (parent, pid) = running("python3", &[script.path()]).await;
    let pid: u32 = pid.parse().unwrap();
    let session = Debugging::new().await;
    let attach = json!({ "processId": pid, "timeout": 300, "stopOnEntry": false });
    session.ok("attach_to_process", attach).await;
    let diagnosis = session.ok("diagnose_hang", json!({ "timeout": 1500 })).await;
    assert_eq!(diagnosis.at("/verdict"), "waiting", "{}", diagnosis.text);
    assert_eq!(diagnosis.at("/waitsFor/0/kind"), "process", "{}", diagnosis.text);
    assert_eq!(diagnosis.at("/hungAt/line"), script.line("waits"), "{}", diagnosis.text);
    session.ok("detach_from_process", json!({})).await;
    session.finish().await;
    runs_on(parent).await;
}

#[tokio::test]
async fn the_end_of_the_server_detaches_from_programs() {
    let script = worker();
    let (child, pid) = running("python3", &[script.path()]).await;
    let session = Debugging::new().await;
    let arguments = json!({ "processId": pid.parse::<u32>().unwrap(), "timeout": 300, "stopOnEntry": false });
    session.ok("attach_to_process", arguments).await;
    session.break_at(&script, "work").await;
    assert_eq!(session.go_on().await.outcome(), "breakpoint");
    session.finish().await;
    runs_on(child).await;
}

/// A thread that limited the evaluations of an earlier debugger still runs.
#[tokio::test]
async fn a_program_that_is_attached_to_again_has_only_its_own_threads_and_data_breakpoints() {
    let script = worker();
    let (child, pid) = running("python3", &[script.path()]).await;
    let arguments = json!({ "processId": pid.parse::<u32>().unwrap(), "timeout": 300, "stopOnEntry": false });
    for _ in 0..2 {
        let session = Debugging::new().await;
        session.ok("attach_to_process", arguments.clone()).await;
        session.break_at(&script, "work").await;
        assert_eq!(session.go_on().await.outcome(), "breakpoint");
        assert_eq!(session.evaluate("threading.active_count()").await, "2");
        let listed = session.ok("list_threads", json!({})).await;
        assert_eq!(listed["count"], 2, "{}", listed.text);
        session.ok("clear_breakpoints", json!({})).await;
        session.ok("set_breakpoint", json!({ "watch": "sys.modules['__main__'].rounds" })).await;
        assert_eq!(session.go_on().await.outcome(), "data breakpoint");
        // The end of this debugger takes half a second then: the next one comes in the midst of it.
        let writer = "sys.modules['pydevd'].get_global_debugger().writer";
        session.evaluate(&format!("setattr({writer}, 'empty', bool)")).await;
        session.ok("detach_from_process", json!({})).await;
        // The test must not end it: the program would not survive that.
        session.server.mark().wait_for_ends("stillframe_attach.py", Duration::from_secs(30));
        session.finish().await;
    }
    runs_on(child).await;
}

/// Its main thread may be in the midst of a call then that is not its own.
#[tokio::test]
async fn a_program_survives_a_client_that_leaves_during_attach() {
    let script = worker();
    let (child, pid) = running("python3", &[script.path()]).await;
    let arguments = json!({ "processId": pid.parse::<u32>().unwrap(), "timeout": 300, "stopOnEntry": false });
    for _ in 0..3 {
        let session = Debugging::new().await;
        session.ok("attach_to_process", arguments.clone()).await;
        session.ok("detach_from_process", json!({})).await;
        // The test must not end it: the program would not survive that.
        session.server.mark().wait_for_ends("stillframe_attach.py", Duration::from_secs(30));
        session.finish().await;
    }
    runs_on(child).await;
}

#[tokio::test]
async fn a_program_is_attached_to_by_pid_and_paused_in_any_state() {
    let script = Script::new(
        r#"
import os, sys, threading, time

def compute():
    while True:
        sorted(str(number) for number in range(100))

def end_with_input():
    sys.stdin.read()
    os._exit(0)

threading.Thread(target=end_with_input, daemon=True).start()
print(os.getpid(), flush=True)
if sys.argv[1] == "waits":
    threading.Event().wait()
elif sys.argv[1] == "computes":
    compute()
elif sys.argv[1] == "takes turns":
    threading.Thread(target=compute, daemon=True).start()
    compute()
else:
    threading.Thread(target=time.sleep, args=(1000,)).start()
"#,
    );
    // In the last one, the main thread has ended for Python.
    for (doing, outcome) in
        [("waits", "pause"), ("computes", "pause"), ("takes turns", "pause"), ("ends", "running")]
    {
        let (child, pid) = running("python3", &[script.path(), doing]).await;
        let session = Debugging::new().await;
        let arguments =
            json!({ "processId": pid.parse::<u32>().unwrap(), "timeout": 300, "stopOnEntry": false });
        let attached = session.ok("attach_to_process", arguments).await;
        assert_eq!(attached.outcome(), "running", "{doing}: {}", attached.text);
        let timeout = if outcome == "running" { 500 } else { 20_000 };
        let paused = session.ok("pause_execution", json!({ "timeout": timeout })).await;
        assert_eq!(paused.outcome(), outcome, "{doing}: {}", paused.text);
        session.ok("detach_from_process", json!({})).await;
        session.finish().await;
        runs_on(child).await;
    }
}

/// gevent makes greenlets of threads that begin later. The debugger's would never let the others run.
#[tokio::test]
async fn a_program_of_greenlets_continues_after_an_evaluation() {
    let script = Script::new(
        "\
from gevent import monkey
monkey.patch_all()
import os, time

def work(rounds):
    return rounds + 1  # @works

def rest(rounds):
    return rounds  # @rests

print(os.getpid(), flush=True)
rounds = 0
while True:
    time.sleep(0.01)
    rounds = work(rounds)
    if rounds % 20 == 0:
        rest(rounds)
",
    );
    let python = python_with_packages().await;
    let (child, pid) = running(text(&python), &[script.path()]).await;
    let session = Debugging::new().await;
    let arguments = json!({ "processId": pid.parse::<u32>().unwrap(), "stopOnEntry": false });
    session.ok("attach_to_process", arguments).await;
    for place in ["works", "rests"] {
        session.ok("clear_breakpoints", json!({})).await;
        session.break_at(&script, place).await;
        assert_eq!(session.go_on().await.outcome(), "breakpoint", "{place}");
        assert_eq!(session.evaluate("len(os.listdir('/')) > 0").await, "True");
    }
    session.finish().await;
    drop(child);
}

#[tokio::test]
async fn existing_worker_threads_are_named() {
    let script = Script::new(
        r"
import os, subprocess, sys

worker = subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'], stdin=subprocess.PIPE)
print(os.getpid(), worker.pid, flush=True)
sys.stdin.read()
worker.communicate()
",
    );
    let (child, pids) = running("python3", &[script.path()]).await;
    let (pid, worker) = pids.split_once(' ').unwrap();
    let session = Debugging::new().await;
    let arguments = json!({ "processId": pid.parse::<u32>().unwrap(), "timeout": 300, "stopOnEntry": false });
    let attached = session.ok("attach_to_process", arguments).await;
    let note = attached.at("/notes/0").as_str().unwrap_or_default();
    assert!(
        note.starts_with(&format!("process {worker} is not debugged, because process {pid} started it")),
        "{}",
        attached.text
    );
    session.finish().await;
    runs_on(child).await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_interpreter_that_runs_no_python_code_is_reported_and_continues() {
    let script = Script::new("import os\nprint(os.getpid(), flush=True)\nsum(range(10 ** 12))\n");
    let (mut child, pid) = running("python3", &[script.path()]).await;
    let session = Debugging::new().await;
    let arguments = json!({ "processId": pid.parse::<u32>().unwrap() });
    let failed = session.fails("start_failed", "attach_to_process", arguments).await;
    assert!(failed.text_of("message").contains("without running Python"), "{}", failed.text);
    session.finish().await;
    assert_eq!(child.try_wait().unwrap(), None);
    child.kill().await.unwrap();
}

#[tokio::test]
async fn an_unknown_pid_is_refused() {
    let session = Debugging::new().await;
    // Numbers of processes end below this on every Linux.
    let arguments = json!({ "processId": 4_194_305 });
    let failed = session.fails("environment", "attach_to_process", arguments).await;
    assert_eq!(failed["error"], "no process 4194305");
    session.finish().await;
}

/// As one of another user. With the capability to trace any process, it can be attached to.
#[tokio::test]
async fn a_process_that_cannot_be_read_is_refused_in_one_sentence() {
    let hides =
        "import ctypes, sys; ctypes.CDLL(None).prctl(4, 0); print('up', flush=True); sys.stdin.read()";
    let (child, _) = running("python3", &["-c", hides]).await;
    let session = Debugging::new().await;
    let attached = session.call("attach_to_process", json!({ "processId": child.id().unwrap() })).await;
    if attached.is_error {
        assert!(attached.text_of("message").contains("cannot be traced"), "{}", attached.text);
        assert!(!attached.text.contains("Traceback"), "{}", attached.text);
    } else {
        assert_eq!(attached["state"], "paused", "{}", attached.text);
    }
    session.finish().await;
    runs_on(child).await;
}

#[tokio::test]
async fn a_process_that_is_not_python_is_refused() {
    let (child, _) = running("sh", &["-c", "echo up; exec cat"]).await;
    let pid = child.id().unwrap();
    let session = Debugging::new().await;
    let failed = session.call("attach_to_process", json!({ "processId": pid })).await;
    assert!(failed.is_error, "{}", failed.text);
    assert!(failed.text_of("message").contains("which is not an interpreter for Python"), "{}", failed.text);
    session.finish().await;
    runs_on(child).await;
}

#[tokio::test]
async fn a_port_with_another_service_is_refused_within_the_deadline() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let silent = tokio::spawn(async move {
        let accepted = listener.accept().await;
        std::future::pending::<()>().await;
        drop(accepted);
    });
    let session = Debugging::new().await;
    let failed = session.call("attach_to_process", json!({ "port": port })).await;
    assert!(failed.is_error, "{}", failed.text);
    assert_ne!(failed["code"], Value::Null);
    silent.abort();
    session.finish().await;
}

/// The adapter that `debugpy.listen` starts outlives the program, with our connection to it open.
#[tokio::test]
async fn a_program_that_ends_while_attached_is_reported_as_ended() {
    let program = Fixture::python("debugpy_port");
    let (mut child, port) = listening(&program).await;
    let session = Debugging::new().await;
    session.ok("attach_to_process", json!({ "port": port, "timeout": 300, "stopOnEntry": false })).await;
    drop(child.stdin.take());
    let ended = session.call("continue_execution", json!({})).await;
    let state = if ended.is_error { ended.at("/context/state") } else { &ended["state"] };
    assert_eq!(state, "ended", "{}", ended.text);
    assert!(child.wait().await.unwrap().success());
    session.finish().await;
}

/// debugpy suspends children until a client attaches, and their parents wait for them.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn children_of_a_program_attached_by_port_join_the_session() {
    let child = Script::new("answer = 6 * 7\nprint(answer)  # @child\n");
    let program = child.file(
        "parent.py",
        r#"
import debugpy, subprocess, sys

print(debugpy.listen(("127.0.0.1", 0))[1], flush=True)
sys.stdin.readline()
subprocess.run([sys.executable, sys.argv[1]], check=True, stdout=subprocess.DEVNULL)
sys.stdin.read()
"#,
    );
    let (mut parent, port) = running("python3", &[program.path(), child.path()]).await;
    let session = Debugging::new().await;
    session.break_at(&child, "child").await;
    session
        .ok("attach_to_process", json!({ "port": port.parse::<u16>().unwrap(), "stopOnEntry": false }))
        .await;
    let input = parent.stdin.as_mut().unwrap();
    tokio::io::AsyncWriteExt::write_all(input, b"go\n").await.unwrap();
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (child.path(), child.line("child")), "{}", stopped.text);
    assert_eq!(stopped.variable("answer"), "42");
    session.ok("close_debug_session", json!({})).await;
    runs_on(parent).await;
    session.finish().await;
}
