//! What programs of Node are doing, seen while they run.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper that fails is a test that fails"
)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::adapter;
use engine::model::activity::{Activity, CallNode, ProcessActivity, ThreadActivity, WaitKind, Waiting};
use engine::model::launch::{Launch, Program, Start, Stdin};
use engine::session::Session;
use engine::sessions::Sessions;
use tempfile::TempDir;
use tokio::time::Instant;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(1);

/// A program that is watched.
struct Scene {
    folder: TempDir,
    sessions: Sessions,
    session: Session,
}

impl Scene {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let sessions = Sessions::new();
        let node = adapter::by_name("node").unwrap();
        let session = sessions.open(node, "sampling".to_owned(), None).unwrap();
        Self { folder, sessions, session }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Runs a program of this one file, watched from its start.
    async fn run(text: &str) -> Self {
        let scene = Self::new(&[("main.js", text)]);
        scene.start("main.js", Stdin::Empty).await;
        scene
    }

    async fn start(&self, file: &str, stdin: Stdin) {
        self.session.start_sampling(Duration::from_millis(100)).await.unwrap();
        self.session.start(launch(&self.path(file), stdin)).await.unwrap();
    }

    /// Looks until this is to be seen; samples are added up.
    async fn until(&self, is_seen: impl Fn(&[ProcessActivity]) -> bool) -> Vec<ProcessActivity> {
        let end = Instant::now() + LONG;
        let mut last = Vec::new();
        while Instant::now() < end {
            last = self.session.activity().await.unwrap();
            if is_seen(&last) {
                return last;
            }
            // sleep: between two polls, because there is no event for new samples.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{last:#?}\n{}", self.session.output().tail(0, 10_000).text());
    }

    async fn until_blocked(&self, by: WaitKind) -> (ThreadActivity, Waiting) {
        let is_it = |waiting: &Waiting| waiting.kind == by;
        let observed =
            self.until(|observed| main(observed).threads[0].blocked.as_ref().is_some_and(is_it)).await;
        let thread = main(&observed).threads[0].clone();
        let waiting = thread.blocked.clone().unwrap();
        (thread, waiting)
    }

    /// What is waited for, and is called at that mark then.
    async fn until_pending_at(&self, kind: WaitKind, mark: &str) -> Waiting {
        let is_it = |waiting: &&Waiting| waiting.kind == kind && self.is_at(waiting, "main.js", mark);
        let observed =
            self.until(|observed| main(observed).pending.iter().any(|waiting| is_it(&waiting))).await;
        main(&observed).pending.iter().find(is_it).unwrap().clone()
    }

    /// The line with the mark `// @name`.
    fn line(&self, file: &str, mark: &str) -> u32 {
        let text = std::fs::read_to_string(self.path(file)).unwrap();
        let mark = format!("// @{mark}");
        let at = text.lines().position(|line| line.ends_with(&mark)).unwrap();
        u32::try_from(at + 1).unwrap()
    }

    fn is_at(&self, waiting: &Waiting, file: &str, mark: &str) -> bool {
        let found = waiting.location.as_ref().map(|location| (location.source.path.clone(), location.line));
        found == Some((Some(self.path(file)), self.line(file, mark)))
    }

    async fn end(self) {
        self.sessions.close_all().await;
    }
}

fn launch(path: &Path, stdin: Stdin) -> Start {
    let mut launch = Launch::new(Program::Script(path.to_owned()));
    launch.stdin = stdin;
    Start::Launch(launch)
}

fn main(observed: &[ProcessActivity]) -> &Activity {
    &observed.iter().find(|process| process.activity.threads[0].name == "main").unwrap().activity
}

/// The calls of a function, wherever they are.
fn calls<'c>(calls: &'c [CallNode], function: &str) -> Vec<&'c CallNode> {
    let inner = calls.iter().flat_map(|call| self::calls(&call.calls, function));
    calls.iter().filter(|call| call.function == function).chain(inner).collect()
}

fn lines(thread: &ThreadActivity, function: &str) -> Vec<u32> {
    let mut lines: Vec<u32> =
        calls(&thread.calls, function).iter().flat_map(|call| &call.lines).map(|(line, _)| *line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

const BUSY: &str = "\
function heavy(count) {
  let total = 0;
  for (let i = 0; i < count; i++) {
    total += i % 7; // @first
    total ^= 3; // @last
  }
  return total;
}
class Job {
  spin() {
    let sum = 0;
    while (true) {
      sum += heavy(1000); // @call
    }
  }
}
new Job().spin(); // @module
";

#[tokio::test]
async fn a_busy_loop_has_its_function_and_lines() {
    let scene = Scene::run(BUSY).await;
    let (first, last) = (scene.line("main.js", "first"), scene.line("main.js", "last"));
    let is_seen = |observed: &[ProcessActivity]| {
        let lines = lines(&main(observed).threads[0], "heavy");
        let thread = &main(observed).threads[0];
        let inside: u64 = calls(&thread.calls, "spin").iter().map(|call| call.total).sum();
        let is_most = inside * 10 > thread.samples * 8;
        is_most && lines.contains(&first) && lines.contains(&last) && !thread.stack.is_empty()
    };
    for _ in 0..3 {
        let observed = scene.until(is_seen).await;
        let thread = &main(&observed).threads[0];
        let names: Vec<_> = thread.stack.iter().map(|frame| frame.function.as_str()).collect();
        assert!(
            names.starts_with(&["heavy", "spin", "<module>"]) || names.starts_with(&["spin", "<module>"]),
            "{names:?}"
        );
        let module = thread.stack.iter().find(|frame| frame.function == "<module>").unwrap();
        assert_eq!(module.location.as_ref().unwrap().line, scene.line("main.js", "module"));
        assert_eq!(thread.os_thread, observed[0].pid);
        assert_eq!(thread.blocked, None);
    }
    scene.end().await;
}

#[tokio::test]
async fn an_idle_server_waits_for_connections() {
    let text = "\
const http = require('http');
function answer(request, response) { // @handler
  response.end('ok');
}
const server = http.createServer(answer).listen(0, '127.0.0.1', () => console.log(server.address().port));
setTimeout(function later() {}, 100000); // @timer
setInterval(() => {}, 100000).unref();
";
    let scene = Scene::run(text).await;
    let server = scene.until_pending_at(WaitKind::Server, "handler").await;
    let timer = scene.until_pending_at(WaitKind::Timer, "timer").await;
    let printed = || scene.session.output().tail(0, 100).text();
    scene.until(|_| printed().ends_with('\n')).await;
    let port = printed();
    assert_eq!(server.what, format!("connections to port {}", port.trim()));
    assert_eq!((timer.what.as_str(), timer.is_timed), ("a timer of 100000 ms (`later`)", true));
    let is_whole = |observed: &[ProcessActivity]| {
        main(observed).threads[0].samples > 0 && !main(observed).pending.is_empty()
    };
    let observed = scene.until(is_whole).await;
    let kinds: Vec<WaitKind> = main(&observed).pending.iter().map(|waiting| waiting.kind).collect();
    assert_eq!(kinds, [WaitKind::Timer, WaitKind::Server]);
    assert_eq!(main(&observed).threads[0].stack, []);
    scene.end().await;
}

#[tokio::test]
async fn awaited_command_is_reported() {
    let text = "\
const { execSync } = require('child_process');
function run() {
  execSync('sleep 1000'); // @run
}
run();
";
    let scene = Scene::run(text).await;
    let (thread, waiting) = scene.until_blocked(WaitKind::Child).await;
    assert_eq!(waiting.what, "the command `sleep 1000`");
    assert!(!waiting.is_timed);
    assert!(scene.is_at(&waiting, "main.js", "run"), "{waiting:?}");
    assert!(thread.stack.iter().any(|frame| frame.function == "run"), "{thread:?}");
    scene.end().await;
}

#[tokio::test]
async fn reading_standard_input_is_reported() {
    for read in
        ["fs.readSync(0, Buffer.alloc(10))", "fs.readFileSync(0, 'utf8')", "fs.readFileSync('/dev/stdin')"]
    {
        let text =
            format!("import fs from 'node:fs';\nfunction read() {{\n  {read}; // @read\n}}\nread();\n");
        let scene = Scene::new(&[("main.mjs", &text)]);
        scene.start("main.mjs", Stdin::Open).await;
        let (_, waiting) = scene.until_blocked(WaitKind::Input).await;
        assert_eq!(waiting.what, "standard input", "{read}");
        assert!(scene.is_at(&waiting, "main.mjs", "read"), "{waiting:?}");
        scene.end().await;
    }
}

#[tokio::test]
async fn waiting_for_shared_memory_is_reported() {
    let text =
        "const shared = new Int32Array(new SharedArrayBuffer(4));\nAtomics.wait(shared, 0, 0); // @wait\n";
    let scene = Scene::run(text).await;
    let (_, waiting) = scene.until_blocked(WaitKind::Lock).await;
    assert!(scene.is_at(&waiting, "main.js", "wait"), "{waiting:?}");
    scene.end().await;
}

#[tokio::test]
async fn waiting_for_a_named_pipe_is_reported() {
    let text = "\
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
const path = new URL('pipe', import.meta.url);
execFileSync('mkfifo', [path.pathname]);
readFileSync(path); // @read
";
    let scene = Scene::new(&[("main.mjs", text)]);
    scene.start("main.mjs", Stdin::Empty).await;
    let (_, waiting) = scene.until_blocked(WaitKind::File).await;
    let pipe = scene.path("pipe");
    assert_eq!(waiting.what, format!("the pipe `{}`", pipe.display()));
    scene.end().await;
}

#[tokio::test]
async fn regular_expression_is_reported_where_it_is_matched() {
    let text = "\
function check(text) {
  return /^(a+)+$/.test(text); // @match
}
console.log(check('a'.repeat(40) + 'b'));
";
    let scene = Scene::run(text).await;
    let line = scene.line("main.js", "match");
    let is_seen = |observed: &[ProcessActivity]| {
        let thread = &main(observed).threads[0];
        let at = thread.stack.iter().find(|frame| frame.function == "check");
        at.and_then(|frame| frame.location.as_ref()).is_some_and(|location| location.line == line)
            && calls(&thread.calls, "check").iter().any(|call| call.total > 0)
    };
    scene.until(is_seen).await;
    scene.end().await;
}

/// What a compiler makes of `main.ts`, with the map beside it.
const COMPILED: &str = "\
\"use strict\";
function spin(count) {
    while (count > 0) {
        count += 1;
        if (count > 1000)
            count = 1;
    }
}
spin(1);
//# sourceMappingURL=main.js.map
";

const TYPED: &str = "\
interface Options { count: number }


function spin(count: Options['count']): void { // @begin
  while (count > 0) { // @loop
    count += 1; // @add
    if (count > 1000)
      count = 1;
  }
}
spin(1);
";

/// The map of [`COMPILED`]: each line to one line of [`TYPED`].
const MAP: &str = r#"{"version":3,"file":"main.js","sources":["main.ts"],"names":[],
"mappings":";AAGA,SAAS,IAAI,CAAC,KAAuB;IACnC,OAAO,KAAK,GAAG,CAAC,EAAE,CAAC;QACjB,KAAK,IAAI,CAAC,CAAC;QACX,IAAI,KAAK,GAAG,IAAI;YACd,KAAK,GAAG,CAAC,CAAC;IACd,CAAC;AACH,CAAC;AACD,IAAI,CAAC,CAAC,CAAC,CAAC"}"#;

#[tokio::test]
async fn compiled_code_is_reported_by_its_source() {
    let scene = Scene::new(&[("main.js", COMPILED), ("main.ts", TYPED), ("main.js.map", MAP)]);
    scene.start("main.js", Stdin::Empty).await;
    // Of a loop, compiled code may note one place only.
    let inside = ["loop", "add"].map(|name| scene.line("main.ts", name));
    let is_seen = |observed: &[ProcessActivity]| {
        lines(&main(observed).threads[0], "spin").iter().any(|line| inside.contains(line))
    };
    let observed = scene.until(is_seen).await;
    let thread = &main(&observed).threads[0];
    let location = calls(&thread.calls, "spin")[0].location.clone().unwrap();
    assert_eq!(location.source.path, Some(scene.path("main.ts")));
    assert_eq!(location.line, scene.line("main.ts", "begin"));
    assert_eq!(thread.stack[0].location.as_ref().unwrap().source.path, Some(scene.path("main.ts")));
    scene.end().await;
}

#[tokio::test]
async fn each_sample_is_reported_once() {
    let text = "\
function first() {
  while (!go()) {}
}
function second() {
  while (true) {}
}
function go() {
  return require('fs').existsSync(__dirname + '/go');
}
first();
second();
";
    let scene = Scene::run(text).await;
    scene.until(|observed| !calls(&main(observed).threads[0].calls, "first").is_empty()).await;
    std::fs::write(scene.path("go"), "").unwrap();
    scene.until(|observed| !calls(&main(observed).threads[0].calls, "second").is_empty()).await;
    // What was fetched before is not among these.
    let observed = scene.until(|observed| main(observed).threads[0].samples > 0).await;
    assert!(calls(&main(&observed).threads[0].calls, "first").is_empty(), "{observed:#?}");
    scene.end().await;
}

#[tokio::test]
async fn workers_are_sampled_separately() {
    let text = "\
const { Worker } = require('worker_threads');
new Worker(__dirname + '/spin.js', { name: 'spins' });
new Worker(__dirname + '/wait.js', { name: 'waits' });
";
    let spin = "function spin() {\n  while (true) {}\n}\nspin();\n";
    let wait = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e9); // @wait\n";
    let scene = Scene::new(&[("main.js", text), ("spin.js", spin), ("wait.js", wait)]);
    scene.start("main.js", Stdin::Empty).await;
    let thread = |observed: &[ProcessActivity], name: &str| {
        let mut threads = observed.iter().flat_map(|process| process.activity.threads.clone());
        threads.find(|thread| thread.name == name)
    };
    let observed = scene
        .until(|observed| {
            let spins =
                thread(observed, "spins").is_some_and(|spins| !calls(&spins.calls, "spin").is_empty());
            spins && thread(observed, "waits").is_some_and(|waits| waits.blocked.is_some())
        })
        .await;
    let waiting = thread(&observed, "waits").unwrap().blocked.unwrap();
    assert_eq!((waiting.kind, waiting.is_timed), (WaitKind::Lock, true));
    assert!(scene.is_at(&waiting, "wait.js", "wait"), "{waiting:?}");
    scene.end().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn sampling_does_not_delay_the_end_of_the_program() {
    let text = "let total = 0;\nfor (let i = 0; i < 3e8; i++) total += i;\nconsole.log('done');\n";
    let scene = Scene::run(text).await;
    let end = Instant::now() + LONG;
    while scene.session.execution().is_live() && Instant::now() < end {
        // It may end at any moment.
        let _ = scene.session.activity().await;
    }
    assert_eq!(scene.session.output().tail(0, 100).text(), "done\n");
    assert_eq!(scene.session.activity().await.unwrap_err().code(), "not_started");
    scene.end().await;
}

#[tokio::test]
async fn programs_that_already_run_can_be_sampled() {
    let scene = Scene::new(&[("main.js", BUSY)]);
    scene.session.start(launch(&scene.path("main.js"), Stdin::Empty)).await.unwrap();
    scene.session.start_sampling(Duration::from_millis(5)).await.unwrap();
    let first = scene.line("main.js", "first");
    scene.until(|observed| lines(&main(observed).threads[0], "heavy").contains(&first)).await;
    scene.session.stop_sampling().await.unwrap();
    let observed = scene.session.activity().await.unwrap();
    assert_eq!(main(&observed).threads[0].samples, 0);
    scene.end().await;
}

#[tokio::test]
async fn other_waits_are_reported() {
    let text = "\
const net = require('net');
const { spawn } = require('child_process');
process.stdin.on('data', function typed() {}); // @input
const server = net.createServer(() => {}).listen(0, '127.0.0.1', () => {
  const client = net.connect(server.address().port, '127.0.0.1');
  client.on('data', function received() {}); // @socket
});
spawn('sleep', ['1000']).on('exit', function over() {}); // @child
Object.defineProperty(Function.prototype, 'name', { get() { throw new Error('ran'); } });
";
    let scene = Scene::new(&[("main.js", text)]);
    scene.start("main.js", Stdin::Open).await;
    let input = scene.until_pending_at(WaitKind::Input, "input").await;
    assert_eq!(input.what, "standard input");
    let child = scene.until_pending_at(WaitKind::Child, "child").await;
    assert!(child.what.starts_with("the command `sleep 1000`, process "), "{child:?}");
    // Both ends of the connection.
    let is_client = |waiting: &Waiting| {
        let is_connected = waiting.what.starts_with("data on a connection with 127.0.0.1:");
        is_connected && scene.is_at(waiting, "main.js", "socket")
    };
    let is_whole = |observed: &[ProcessActivity]| {
        let pending = &main(observed).pending;
        let sockets = pending.iter().filter(|waiting| waiting.kind == WaitKind::Socket);
        pending.iter().any(is_client) && sockets.count() == 2
    };
    scene.until(is_whole).await;
    scene.end().await;
}
