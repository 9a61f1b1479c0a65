//! Programs that run already.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use test_support::{Fixture, Language, oldest_node, toolchains};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

use crate::debugging::{Debugging, Report};
use crate::project::Project;
use crate::script::Script;

/// A program that was started elsewhere. It ends when its input does.
struct Running {
    child: Child,
    answer: Lines<BufReader<ChildStderr>>,
}

impl Running {
    #[expect(clippy::disallowed_methods, reason = "a program that is not ours, which ends with the test")]
    fn start(program: impl AsRef<Path>, args: &[&str]) -> Self {
        let mut command = Command::new(program.as_ref());
        command.args(args).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        let answer = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        Self { child, answer }
    }

    /// Starts a program that says `ready` when it is.
    async fn ready(program: impl AsRef<Path>, args: &[&str]) -> Self {
        let mut running = Self::start(program, args);
        while running.line().await != "ready" {}
        running
    }

    /// The next line that it writes on its standard error.
    async fn line(&mut self) -> String {
        self.answer.next_line().await.expect("it writes").expect("a line")
    }

    /// The port of its inspector, which Node prints first.
    async fn port(&mut self) -> u16 {
        let line = self.line().await;
        let address = line.strip_prefix("Debugger listening on ws://127.0.0.1:");
        let port = address.and_then(|rest| rest.split('/').next()?.parse().ok());
        port.expect("the port of the inspector")
    }

    fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// It runs, and ends normally on request.
    async fn runs_on(mut self) {
        assert_eq!(self.child.try_wait().unwrap(), None, "what was attached to runs on");
        drop(self.child.stdin.take());
        let status = self.child.wait().await.unwrap();
        assert!(status.success(), "{status}");
    }
}

/// Fails when it takes as long as an inspector is waited for that does not open.
async fn at_once<T>(arguments: impl Future<Output = T>) -> T {
    let limit = std::time::Duration::from_secs(4);
    tokio::time::timeout(limit, arguments).await.expect("what is open is not waited for")
}

/// Node crashes about once in some hundred attachments, by a bare client too, when a breakpoint is set while V8
/// optimizes.
const STABLE: &str = "--no-opt";

/// Works and talks until its input is closed.
fn worker() -> Script {
    Script::new(
        r#"
let rounds = 0;
function work() {
  rounds += 1;
  console.log("round", rounds); // @work
}
process.stdin.on("end", () => process.exit(0)).resume();
setInterval(work, 20);
console.error("ready");
"#,
    )
}

async fn attached(to: Value) -> Debugging {
    let session = Debugging::of(Language::Node).await;
    let to = with(to, "stopOnEntry", json!(false));
    let report = session.ok("attach_to_process", with(to, "timeout", json!(300))).await;
    assert_eq!(report.outcome(), "running", "{}", report.text);
    session
}

fn with(mut arguments: Value, name: &str, value: Value) -> Value {
    arguments[name] = value;
    arguments
}

/// Breakpoints bind at once in what is loaded; values are read; what is printed comes by the inspector.
async fn looks_around(session: &Debugging, program: &Fixture) {
    let set = session.break_at(program, "work").await;
    assert_eq!(set["verified"], true, "{}", set.text);
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("work")), "{}", stopped.text);
    assert_eq!(session.evaluate("rounds > 0").await, "true");
    let next = session.go_on().await;
    assert!(next.text_of("output").contains("round "), "{}", next.text);
}

#[tokio::test]
async fn a_program_is_attached_to_by_port_inspected_detached_and_attached_to_again() {
    let script = worker();
    let mut running = Running::start("node", &[STABLE, "--inspect=0", script.path()]);
    let port = running.port().await;
    for _ in 0..2 {
        let session = attached(json!({ "port": port })).await;
        looks_around(&session, &script).await;
        session.ok("clear_breakpoints", json!({})).await;
        session.ok("detach_from_process", json!({})).await;
        let state = session.server.ok("list_debug_sessions", json!({})).await;
        assert_eq!(state.at("/sessions/0/execution"), "ended");
        session.finish().await;
    }
    running.runs_on().await;
}

#[tokio::test]
async fn an_open_inspector_is_found_at_once_by_pid() {
    let script = worker();
    let mut running = Running::start("node", &[STABLE, "--inspect=0", script.path()]);
    running.port().await;
    for _ in 0..2 {
        let session = at_once(attached(json!({ "processId": running.pid() }))).await;
        looks_around(&session, &script).await;
        session.ok("clear_breakpoints", json!({})).await;
        session.ok("detach_from_process", json!({})).await;
        session.finish().await;
    }
    running.runs_on().await;
}

#[tokio::test]
async fn a_suspended_process_cannot_be_attached_to() {
    let script = worker();
    let running = Running::ready("node", &[STABLE, "--inspect-port=0", script.path()]).await;
    let pid = running.pid();
    send(pid, "STOP").await;
    let session = Debugging::of(Language::Node).await;
    let arguments = json!({ "processId": pid, "timeout": 1_000, "stopOnEntry": false });
    let failed = session.fails("environment", "attach_to_process", arguments.clone()).await;
    assert!(failed.text_of("message").contains("is stopped by a signal such as SIGSTOP"), "{}", failed.text);
    send(pid, "CONT").await;
    assert_eq!(session.ok("attach_to_process", arguments).await.outcome(), "running");
    looks_around(&session, &script).await;
    session.finish().await;
    running.runs_on().await;
}

/// Sends a program a signal, and waits until the system has done what it says.
#[expect(clippy::disallowed_methods, reason = "a command of the system's, which ends at once")]
async fn send(pid: u32, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status().await;
    assert!(sent.unwrap().success());
    let is_held = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        status.rsplit_once(") ").unwrap().1.starts_with('T')
    };
    test_support::eventually(|| is_held() == (signal == "STOP")).await;
}

/// It is suspended when the server goes, and must not stay so.
#[tokio::test]
async fn the_end_of_the_server_detaches_from_programs() {
    let script = worker();
    let mut running = Running::start("node", &[STABLE, "--inspect=0", script.path()]);
    let session = attached(json!({ "port": running.port().await })).await;
    session.break_at(&script, "work").await;
    assert_eq!(session.go_on().await.outcome(), "breakpoint");
    session.finish().await;
    running.runs_on().await;
}

/// A server that is attached to gets the requests of its clients, and no others.
async fn serves_only_its_clients(option: &str) {
    let script = Script::new(
        r#"
const seen = [];
const server = require("node:http").createServer((request, response) => {
  seen.push(request.url);
  response.end(request.url); // @request
});
process.stdin.on("end", () => process.exit(0)).resume();
server.listen(0, "127.0.0.1", () => {
  console.error("ready");
  console.error(server.address().port);
});
"#,
    );
    let mut running = Running::ready("node", &[STABLE, option, script.path()]).await;
    let port: u16 = running.line().await.parse().unwrap();
    let session = attached(json!({ "processId": running.pid() })).await;
    let set = session.break_at(&script, "request").await;
    assert_eq!(set["verified"], true, "{}", set.text);
    let arguments = tokio::spawn(ask(port));
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (script.path(), script.line("request")), "{}", stopped.text);
    assert_eq!(session.evaluate("String(seen)").await, "'/here'");
    session.ok("detach_from_process", json!({})).await;
    assert!(arguments.await.unwrap().ends_with("/here"), "the request is answered after all");
    session.finish().await;
    running.runs_on().await;
}

#[tokio::test]
async fn an_idle_server_opens_its_inspector_on_a_signal() {
    serves_only_its_clients("--inspect-port=0").await;
}

#[tokio::test]
async fn the_open_inspector_of_a_server_is_asked_before_the_server() {
    serves_only_its_clients("--inspect=0").await;
}

/// Sends a request, and returns the answer.
async fn ask(port: u16) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(b"GET /here HTTP/1.0\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_busy_program_is_attached_to_by_pid() {
    let script = Script::new(
        r#"
const { existsSync } = require("node:fs");
console.error("ready");
let rounds = 0;
while (!existsSync(process.argv[2])) {
  rounds += 1; // @round
}
"#,
    );
    let end = script.folder().join("end");
    let mut running =
        Running::ready("node", &[STABLE, "--inspect-port=0", script.path(), end.to_str().unwrap()]).await;
    let session = attached(json!({ "processId": running.pid() })).await;
    let paused = session.ok("pause_execution", json!({})).await;
    assert_eq!((paused.outcome(), paused.place().0), ("pause", script.path()), "{}", paused.text);
    session.break_at(&script, "round").await;
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (script.path(), script.line("round")), "{}", stopped.text);
    session.ok("detach_from_process", json!({})).await;
    session.finish().await;
    assert_eq!(running.child.try_wait().unwrap(), None, "what was attached to runs on");
    std::fs::write(end, "").unwrap();
    assert!(running.child.wait().await.unwrap().success());
}

#[tokio::test]
async fn a_program_that_waits_for_its_debugger_starts_with_all_breakpoints() {
    let script =
        Script::new("const one = 1; // @first\nconst two = one + 1; // @second\nconsole.log(two);\n");
    let mut running = Running::start("node", &[STABLE, "--inspect-brk=0", script.path()]);
    let session = Debugging::of(Language::Node).await;
    session.break_at(&script, "second").await;
    let begun = session.ok("attach_to_process", json!({ "port": running.port().await })).await;
    assert_eq!((begun.outcome(), begun.place()), ("entry", (script.path(), script.line("first"))));
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (script.path(), script.line("second")), "{}", stopped.text);
    assert_eq!(stopped.variable("one"), "1");
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "2\n"), "{}", ended.text);
    session.finish().await;
    assert!(running.child.wait().await.unwrap().success());
}

#[tokio::test]
async fn a_process_that_is_not_node_is_refused_and_survives() {
    let running = Running::ready("sh", &["-c", "echo ready >&2; exec cat"]).await;
    let session = Debugging::of(Language::Node).await;
    let arguments = json!({ "processId": running.pid() });
    let failed = session.fails("environment", "attach_to_process", arguments).await;
    assert!(
        failed.text_of("message").contains("which is not an interpreter for JavaScript"),
        "{}",
        failed.text
    );
    session.finish().await;
    running.runs_on().await;
}

#[tokio::test]
async fn an_unknown_pid_is_refused() {
    let session = Debugging::of(Language::Node).await;
    // Numbers of processes end below this on every Linux.
    let failed = session.fails("environment", "attach_to_process", json!({ "processId": 4_194_305 })).await;
    assert_eq!(failed["error"], "no process 4194305");
    session.finish().await;
}

#[tokio::test]
async fn a_port_without_an_inspector_is_refused() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let session = Debugging::of(Language::Node).await;
    let failed = session.call("attach_to_process", json!({ "port": port })).await;
    assert!(failed.is_error, "{}", failed.text);
    assert_ne!(failed["code"], Value::Null);
    drop(silent);
    let failed = session.fails("environment", "attach_to_process", json!({ "port": port })).await;
    assert!(failed.text_of("message").contains("--inspect"), "{}", failed.text);
    session.finish().await;
}

#[tokio::test]
async fn a_program_that_ends_while_attached_is_reported_as_ended() {
    let script = worker();
    let mut running = Running::start("node", &[STABLE, "--inspect=0", script.path()]);
    let session = attached(json!({ "port": running.port().await })).await;
    drop(running.child.stdin.take());
    let ended = session.call("continue_execution", json!({})).await;
    let state = if ended.is_error { ended.at("/context/state") } else { &ended["state"] };
    assert_eq!(state, "ended", "{}", ended.text);
    session.finish().await;
    assert!(running.child.wait().await.unwrap().success());
}

/// Launch, breakpoints, a child, a step and an attachment, under one version of Node.
async fn works_under(node: &Path) {
    let project = Project::with(&[]).await;
    let child = project.file("child.js", "const value = 6 * 7; // @value\nconsole.log(value);\n");
    let main = project.file(
        "main.mjs",
        "import { spawnSync } from 'node:child_process';\n\
         const done = spawnSync(process.execPath, ['child.js'], { encoding: 'utf8' }); // @spawn\n\
         console.log(done.stdout.trim(), process.version.split('.')[0]); // @done\n",
    );
    let session = Debugging::with_executable(node.to_owned()).await;
    session.break_at(&main, "spawn").await;
    session.break_at(&child, "value").await;
    let start = json!({ "scriptPath": main.path(), "cwd": project.folder() });
    let first = session.ok("start_debugging", start).await;
    assert_eq!(first.place(), (main.path(), main.line("spawn")), "{}", first.text);
    let version = session.evaluate("process.version").await;
    let inside = session.go_on().await;
    assert_eq!(inside.place(), (child.path(), child.line("value")), "{}", inside.text);
    let stepped = session.step("step_over").await;
    assert_eq!(stepped.variable("value"), "42", "{}", stepped.text);
    let major = version.trim_matches('\'').split('.').next().unwrap().to_owned();
    assert_eq!(session.run_to_the_end().await["output"], format!("42 {major}\n"));
    session.finish().await;

    let script = worker();
    let mut running = Running::start(node, &[STABLE, "--inspect=0", script.path()]);
    let session = attached(json!({ "port": running.port().await })).await;
    looks_around(&session, &script).await;
    session.ok("detach_from_process", json!({})).await;
    session.finish().await;
    running.runs_on().await;

    let running = Running::ready(node, &[STABLE, "--inspect-port=0", script.path()]).await;
    let session = attached(json!({ "processId": running.pid() })).await;
    looks_around(&session, &script).await;
    session.finish().await;
    running.runs_on().await;
}

#[tokio::test]
async fn node_on_the_search_path() {
    works_under(Path::new("node")).await;
}

#[tokio::test]
async fn node_18() {
    works_under(&oldest_node().await).await;
}

#[tokio::test]
async fn node_22() {
    works_under(&toolchains().await.join("node22/bin/node")).await;
}

#[tokio::test]
async fn node_24() {
    works_under(&toolchains().await.join("node24/bin/node")).await;
}
