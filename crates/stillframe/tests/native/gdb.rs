//! GDB in place of LLDB, on machines that have no `lldb-dap`.

mod calls;
mod containers;
mod data;
mod hangs;
mod recording;

use std::collections::BTreeSet;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Server, gdb};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, folder};
use crate::source::{Sources, assert_evaluated, assert_locals, exception, run_until};

/// A folder with all that is on the `PATH`, except for debuggers of machine code.
fn without_debuggers() -> tempfile::TempDir {
    let folder = folder();
    let path = std::env::var_os("PATH").expect("there is one");
    let mut names = BTreeSet::new();
    for entry in std::env::split_paths(&path).filter_map(|folder| folder.read_dir().ok()).flatten().flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with("lldb-dap") && name != "gdb" && names.insert(name.clone()) {
            symlink(entry.path(), folder.path().join(name)).expect("a link can be made");
        }
    }
    folder
}

/// A machine whose only debugger of machine code is a GDB.
struct GdbOnly {
    server: Server,
    path: tempfile::TempDir,
}

impl GdbOnly {
    async fn serve() -> Self {
        Self::serve_with(&[]).await
    }

    async fn serve_with(env: &[(&str, &str)]) -> Self {
        let path = without_debuggers();
        symlink(gdb().await, path.path().join("gdb")).expect("a link can be made");
        let mut options = STILLFRAME.options().await;
        options.env.push(("PATH".to_owned(), path.path().to_string_lossy().into_owned()));
        options.env.extend(env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Self { server: options.start().await, path }
    }

    /// A session, stopped at a named line.
    async fn stopped_at(program: &Fixture, language: &str, line: &str) -> (Debugging, tempfile::TempDir) {
        let (session, path) = Self::session(language).await;
        session.break_at(program, line).await;
        let stopped = session.start(program).await;
        assert_eq!(stopped.place(), (program.path(), program.line(line)), "{}", stopped.text);
        (session, path)
    }

    async fn session(language: &str) -> (Debugging, tempfile::TempDir) {
        let Self { server, path } = Self::serve().await;
        let created = server.ok("create_debug_session", json!({ "language": language })).await;
        (Debugging { id: created.text_of("sessionId").to_owned(), server }, path)
    }
}

/// The arguments of a run, with what a test adds.
fn ran(program: &Fixture, mut more: Value) -> Value {
    more["program"] = json!(program.path());
    more["timeout"] = json!(60_000);
    more
}

const C: &str = r#"#include <stdio.h>
struct point { int x; double y; char name[8]; };
static int add(int left, int right) {
    // Nothing here.
    int sum = left + right; // @sum
    return sum; // @return
}
int main(int count, char **arguments) {
    struct point point = {1, 2.5, "abc"}; // @first
    int list[5] = {1, 2, 3};
    printf("out %d %s\n", count, count > 1 ? arguments[1] : "-");
    fprintf(stderr, "err\n");
    for (int index = 0; index < 4; index++) { // @loop
        point.x = add(point.x, index); // @call
    }
    printf("x = %d\n", point.x); // @after
    return list[2] + 4;
}
"#;

#[tokio::test]
async fn a_c_source_is_debugged_by_gdb_where_there_is_no_lldb() {
    let sources = Sources::new(&[("main.c", C)]);
    let program = sources.file("main.c");
    let (session, _path) = GdbOnly::stopped_at(&program, "c", "return").await;
    let frames = session.ok("get_stack_trace", json!({})).await;
    assert_eq!(frames.at("/stackFrames/0/name"), "add", "{}", frames.text);
    assert_eq!(frames.at("/stackFrames/1/line"), program.line("call"), "{}", frames.text);
    for (expression, value) in [
        ("sum", "1"),
        ("add(left, 40)", "41"),
        ("(int)strcmp(\"a\", \"a\")", "0"),
        ("strlen(strstr(\"xyz\", \"y\"))", "2"),
    ] {
        assert_eq!(session.evaluate(expression).await, value);
    }
    let unknown =
        session.fails("evaluation_failed", "evaluate_expression", json!({ "expression": "nothing" })).await;
    assert!(
        unknown.text_of("message").contains("No symbol \"nothing\" in current context."),
        "{}",
        unknown.text
    );
    let failed = session.call("evaluate_expression", json!({ "expression": "*(int *)8" })).await;
    assert!(
        failed.is_error && failed.text.contains("Cannot access memory at address 0x8"),
        "{}",
        failed.text
    );
    let pure = json!({ "expression": "add(1, 2)", "sideEffects": false });
    let failed = session.call("evaluate_expression", pure).await;
    assert!(failed.is_error && failed.text.contains("may-call-functions is off"), "{}", failed.text);
    session.ok("set_variable", json!({ "name": "sum", "value": "9" })).await;
    let steps = [
        ("step_out", "call"),
        ("step_over", "loop"),
        ("step_over", "call"),
        ("step_into", "sum"),
        ("step_over", "return"),
    ];
    for (step, line) in steps {
        let stepped = session.step(step).await;
        let at = if line == "return" { "breakpoint" } else { "step" };
        assert_eq!((stepped.outcome(), stepped.place().1), (at, program.line(line)), "{}", stepped.text);
    }
    assert_eq!(session.evaluate("left").await, "9");
    session.ok("clear_breakpoints", json!({})).await;
    let ended = session.go_on().await;
    assert_eq!((&ended["state"], &ended["exitCode"]), (&json!("ended"), &json!(7)), "{}", ended.text);
    assert_eq!(session.written("stdout").await, "out 1 -\nx = 15\n");
    assert_eq!(session.written("stderr").await, "err\n");
    session.finish().await;
}

#[tokio::test]
async fn rules_of_breakpoints_hold_and_failing_conditions_are_reported() {
    let sources = Sources::new(&[("main.c", C)]);
    let program = sources.file("main.c");
    let GdbOnly { server, path: _path } = GdbOnly::serve().await;
    let until = |mut place: Value| {
        place["file"] = json!(program.path());
        place["line"] = json!(program.line("return"));
        ran(&program, json!({ "until": [place], "expressions": ["sum"] }))
    };
    for condition in ["sum == 4", "(int)strcmp(\"a\", \"a\") == 0 && add(sum, 1) == 5"] {
        let stopped = server.ok("run_until", until(json!({ "condition": condition }))).await;
        assert_eq!(stopped.outcome(), "breakpoint", "{}", stopped.text);
        assert_evaluated(&stopped, &[("sum", "4")]);
    }
    for (condition, problem) in [
        (
            "nothing > 1",
            "failed 4 times and did not stop the program: No symbol \"nothing\" in current context.",
        ),
        ("*(int *)(long)left > 1", "failed 4 times and did not stop the program: Cannot access memory"),
    ] {
        let ended = server.ok("run_until", until(json!({ "condition": condition }))).await;
        assert!(ended.outcome() == "ended" && ended.text_of("message").contains(problem), "{}", ended.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn lines_without_code_functions_log_messages_and_entry() {
    let text = C.replace("    // Nothing here.", "    // @nothing");
    let sources = Sources::new(&[("main.c", &text)]);
    let program = sources.file("main.c");
    let (session, _path) = GdbOnly::session("c").await;
    session
        .break_with(&program, "sum", json!({ "logMessage": "{left}+{right}", "hitCondition": ">= 2" }))
        .await;
    session.ok("set_breakpoint", json!({ "function": "add", "condition": "right == 3" })).await;
    let start = json!({ "scriptPath": program.path(), "args": ["a b'c\""], "dapLaunchArgs": { "stopOnEntry": true } });
    let entered = session.ok("start_debugging", start).await;
    assert_eq!((entered.outcome(), entered.place().1), ("entry", program.line("first")), "{}", entered.text);
    let set = session.break_with(&program, "nothing", json!({ "condition": "0" })).await;
    assert_eq!((&set["verified"], &set["line"]), (&json!(true), &json!(program.line("sum"))), "{}", set.text);
    let stopped = session.go_on().await;
    assert_eq!(
        (stopped.outcome(), stopped.place().1),
        ("breakpoint", program.line("sum")),
        "{}",
        stopped.text
    );
    assert_eq!(session.evaluate("left").await, "4");
    assert_eq!(session.go_on().await["exitCode"], 7);
    assert_eq!(session.written("log").await, "1+1\n2+2\n4+3\n");
    assert!(session.written("stdout").await.starts_with("out 2 a b'c\"\n"));
    session.finish().await;
}

const CPP: &str = r#"#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
namespace shop {
struct Item { std::string name; int price; };
struct Refused : std::runtime_error { using std::runtime_error::runtime_error; };
int total(const std::vector<Item> &items) {
    std::map<std::string, int> prices;
    for (const Item &item : items) prices[item.name] = item.price;
    const std::string &name = items[0].name;
    auto first = std::make_unique<Item>(items[0]);
    return prices.size() + name.size() + first->price; // @values
}
}
static void work(const char *how, int *pointer) {
    if (!strcmp(how, "segv")) *pointer = 1; // @segv
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) raise(SIGKILL);
    if (!strcmp(how, "exit")) exit(3);
    if (!strcmp(how, "throw")) throw shop::Refused("no " + std::string(how)); // @throw
}
int main(int count, char **arguments) {
    std::vector<shop::Item> items{{"pen", 3}, {"ink", 5}};
    int total = shop::total(items);
    try {
        if (total == 8) throw 5; // @caught
    } catch (int) {
    }
    work(count > 1 ? arguments[1] : "", nullptr);
}
"#;

#[tokio::test]
async fn cpp_values_and_exceptions_are_shown() {
    let sources = Sources::new(&[("main.cpp", CPP)]);
    let program = sources.file("main.cpp");
    let GdbOnly { server, path: _path } = GdbOnly::serve().await;
    let stopped =
        run_until(&server, &program, "values", &["items[1].name", "prices.size()", "first->price"]).await;
    assert_locals(&stopped, &["name: const std::string & = \"pen\""]);
    assert_evaluated(
        &stopped,
        &[("items[1].name", "\"ink\""), ("prices.size()", "2"), ("first->price", "3")],
    );
    assert_eq!(stopped.at("/location/function"), "shop::total");
    for (name, part) in [
        ("prices", r#"std::map with 2 elements = {["ink"] = 5, ["pen"] = 3}"#),
        ("items", r#"{{name = "pen", price = 3}, {name = "ink", price = 5}}"#),
    ] {
        assert!(stopped.variable(name).contains(part), "{}", stopped.text);
    }
    let caught = server.ok("run_until", ran(&program, json!({ "exceptions": "all" }))).await;
    assert_eq!(
        (exception(&caught), caught.place().1),
        (("int", "5"), program.line("caught")),
        "{}",
        caught.text
    );
    let thrown = json!({ "args": ["throw"], "exceptions": "uncaught" });
    let thrown = server.ok("run_until", ran(&program, thrown)).await;
    assert_eq!(exception(&thrown), ("shop::Refused", "no throw"), "{}", thrown.text);
    assert_eq!(thrown.place().1, program.line("throw"));
    server.finish().await;
}

#[tokio::test]
async fn signals_and_exit_codes_are_told_apart() {
    let sources = Sources::new(&[("main.cpp", CPP)]);
    let program = sources.file("main.cpp");
    let GdbOnly { server, path: _path } = GdbOnly::serve().await;
    let with = |how: &str| ran(&program, json!({ "args": [how] }));
    let crashed = server.ok("run_until", with("segv")).await;
    assert_eq!(
        (exception(&crashed), crashed.place().1),
        (("SIGSEGV", "address not mapped to object (fault address: 0x0)"), program.line("segv")),
        "{}",
        crashed.text
    );
    assert_eq!((crashed.variable("how") == "\"segv\"", crashed.variable("pointer")), (true, "0x0"));
    let ended = server.ok("continue_execution", json!({ "sessionId": crashed["sessionId"] })).await;
    assert!(ended.text.contains("SIGSEGV"), "{}", ended.text);
    assert_eq!((&ended["state"], &ended["exitCode"]), (&json!("ended"), &Value::Null), "{}", ended.text);
    let aborted = server.ok("run_until", with("abort")).await;
    assert_eq!(exception(&aborted).0, "SIGABRT", "{}", aborted.text);
    let killed = server.ok("run_until", with("kill")).await;
    assert!(killed["exitCode"].is_null() && killed.text.contains("was killed by SIGKILL"), "{}", killed.text);
    let exited = server.ok("run_until", with("exit")).await;
    assert_eq!(exited["exitCode"], 3, "{}", exited.text);
    server.finish().await;
}

const RUST: &str = r#"use std::collections::HashMap;
#[allow(dead_code)]
#[derive(Debug, Clone)]
struct Item { name: String, price: Option<u32> }
#[allow(dead_code)]
enum Shape { Round(f64), Square { side: i32 } }
fn owed(items: &[Item], rate: f64) -> u32 {
    let mut total = 0;
    for item in items {
        total += item.price.unwrap_or(1); // @sums
    }
    total + rate as u32
}
#[allow(unused_variables)]
fn main() {
    let items = vec![Item { name: "pen".into(), price: Some(3) }, Item { name: "ink".into(), price: None }];
    let counts: HashMap<&str, i32> = HashMap::from([("a", 1)]);
    let (round, square) = (Shape::Round(1.5), Shape::Square { side: 2 });
    let (boxed, letter, text, pair) = (Box::new(7), 'é', String::from("hé"), (1u8, "two"));
    let letters = ['"', 'ß', '\'', '\n', '"'];
    let sum = owed(&items, 1.5); // @call
    println!("{sum}");
    let none: Option<u32> = items[1].price;
    none.expect("a price"); // @panics
}
"#;

#[tokio::test]
async fn rust_values_and_panics_are_shown() {
    let sources = Sources::new(&[("main.rs", RUST)]);
    let program = sources.file("main.rs");
    let GdbOnly { server, path: _path } = GdbOnly::serve().await;
    let stopped = run_until(&server, &program, "sums", &["item.name", "total", "nothing"]).await;
    assert_evaluated(
        &stopped,
        &[("item.name", "\"pen\""), ("total", "0"), ("nothing", "No symbol 'nothing'")],
    );
    assert_locals(&stopped, &["rate: f64 = 1.5", "item: &Item = Item {name: \"pen\", price: Some(3)}"]);
    let stopped = run_until(&server, &program, "call", &[]).await;
    assert_locals(
        &stopped,
        &[
            "boxed: &i32 = 7",
            "letter: char = 'é'",
            "letters: [char; 5] = ['\"', 'ß', '\\'', '\\n', '\"']",
            "text: String = \"hé\"",
            "pair: (u8, &str) = (1, \"two\")",
            "round: Shape = Round(1.5)",
            "square: Shape = Square{side: 2}",
            "counts: HashMap<&str, i32> = HashMap(size=1) = {[\"a\"] = 1}",
        ],
    );
    assert!(stopped.variable("items").contains(r#"Item {name: "ink", price: None}"#), "{}", stopped.text);
    let stepped = server.ok("step_into", json!({ "sessionId": stopped["sessionId"] })).await;
    assert_eq!(stepped.at("/location/function"), "main::owed", "{}", stepped.text);
    let panicked = server.ok("run_until", ran(&program, json!({}))).await;
    assert_eq!(
        (exception(&panicked), panicked.place().1),
        (("panic", "a price"), program.line("panics")),
        "{}",
        panicked.text
    );
    let id = json!({ "sessionId": panicked["sessionId"] });
    assert_eq!(server.ok("continue_execution", id).await["exitCode"], 101);
    server.finish().await;
}

const LOOPS: &str = r#"#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int ends = 0;
static void *waits(void *unused) {
    while (!ends) usleep(1000);
    return unused;
}
static void spins(long *count) {
    while (!ends) {
        ++*count; // @spins
    }
}
int main(void) {
    long count = 0;
    pthread_t other;
    pthread_create(&other, NULL, waits, NULL);
    puts("ready"), fflush(stdout);
    spins(&count);
    return 0;
}
"#;

#[tokio::test]
async fn a_running_program_is_paused_with_all_threads() {
    let sources = Sources::new(&[("main.c", LOOPS)]);
    let program = sources.file("main.c");
    let (session, _path) = GdbOnly::session("c").await;
    let start = json!({ "scriptPath": program.path(), "timeout": 1000 });
    assert_eq!(session.ok("start_debugging", start).await["state"], "running");
    while session.written("stdout").await != "ready\n" {}
    let paused = session.step("pause_execution").await;
    assert_eq!(paused.outcome(), "pause", "{}", paused.text);
    let threads = session.ok("list_threads", json!({})).await;
    assert_eq!(threads["threads"].as_array().map(Vec::len), Some(2), "{}", threads.text);
    session.break_at(&program, "spins").await;
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("spins")));
    session.ok("evaluate_expression", json!({ "expression": "ends = 1" })).await;
    session.ok("clear_breakpoints", json!({})).await;
    session.finish_at_end().await;
}

/// A program that no server has started.
struct Running(Child);

impl Running {
    fn assert_runs(&mut self) {
        assert!(self.0.try_wait().expect("it can be asked").is_none());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn an_attached_program_runs_on_after_detaching_and_when_the_server_is_killed() {
    let sources = Sources::new(&[("main.c", LOOPS)]);
    let program = sources.file("main.c");
    let binary = sources.compiled("gcc -g -O0 -pthread -o main main.c", "main");
    let mut running = Running(Command::new(&binary).stdout(Stdio::null()).spawn().expect("it can be run"));
    let attach = json!({ "processId": running.0.id() });
    let (session, _path) = GdbOnly::session("c").await;
    let attached = session.ok("attach_to_process", attach.clone()).await;
    assert_eq!(attached.outcome(), "pause", "{}", attached.text);
    session.break_at(&program, "spins").await;
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("spins")), "{}", stopped.text);
    session.ok("close_debug_session", json!({})).await;
    session.finish().await;
    running.assert_runs();
    let (session, _path) = GdbOnly::session("c").await;
    session.ok("attach_to_process", attach).await;
    session.server.kill().await;
    running.assert_runs();
}

#[tokio::test]
async fn a_killed_server_leaves_neither_gdb_nor_the_program() {
    let sources = Sources::new(&[("main.c", LOOPS)]);
    let program = sources.file("main.c");
    let (session, _path) = GdbOnly::session("c").await;
    let start = json!({ "scriptPath": program.path(), "timeout": 1000 });
    assert_eq!(session.ok("start_debugging", start).await["state"], "running");
    session.server.kill().await;
}

/// Makes a dump of a program at its crash.
fn dumped(sources: &Sources, binary: &Path) -> PathBuf {
    let dump = sources.path("dump");
    let save = format!("generate-core-file {}", dump.display());
    let words = ["-q", "-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex", "run segv", "-ex", &save];
    let made =
        Command::new("gdb").args(words).arg(binary).stdin(Stdio::null()).output().expect("it can be run");
    assert!(dump.is_file(), "{}", String::from_utf8_lossy(&made.stderr));
    dump
}

#[tokio::test]
async fn a_crash_dump_is_read_by_gdb() {
    let sources = Sources::new(&[("main.cpp", CPP)]);
    let program = sources.file("main.cpp");
    let binary = sources.compiled("g++ -g -O0 -o main main.cpp", "main");
    let dump = dumped(&sources, &binary);
    let (session, _path) = GdbOnly::session("c").await;
    let opened = session.ok("attach_to_process", json!({ "coreFile": dump })).await;
    assert_eq!(
        (opened.outcome(), opened.place()),
        ("exception", (program.path(), program.line("segv"))),
        "{}",
        opened.text
    );
    assert_eq!((exception(&opened).0, opened.variable("pointer")), ("SIGSEGV", "0x0"));
    for expression in ["pointer = 0", "shop::total(items)"] {
        let refused = session.call("evaluate_expression", json!({ "expression": expression })).await;
        assert!(refused.is_error, "{}", refused.text);
    }
    session.finish().await;
}

#[tokio::test]
async fn an_executable_path_chooses_gdb_beside_lldb() {
    let sources = Sources::new(&[("main.c", C)]);
    let program = sources.file("main.c");
    let server = STILLFRAME.serve().await;
    let chosen = json!({ "language": "c", "executablePath": gdb().await });
    let id = server.ok("create_debug_session", chosen).await["sessionId"].clone();
    let dry = json!({ "sessionId": id, "scriptPath": program.path(), "dryRunSpawn": true });
    let dry = server.ok("start_debugging", dry).await;
    assert!(dry.text_of("message").contains(" (given as `executablePath`)"), "{}", dry.text);
    let start = json!({ "sessionId": id, "scriptPath": program.path() });
    assert_eq!(server.ok("start_debugging", start).await["exitCode"], 7);
    server.finish().await;
}

/// The error of a start where this is the only debugger.
async fn refused_with(program: &Fixture, debugger: Option<&str>) -> Answer {
    let path = without_debuggers();
    if let Some(script) = debugger {
        let fake = path.path().join("gdb");
        std::fs::write(&fake, script).expect("it can be written");
        std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let mut options = STILLFRAME.options().await;
    options.env.push(("PATH".to_owned(), path.path().to_string_lossy().into_owned()));
    let server = options.start().await;
    let failed = server.fails("environment", "run_until", ran(program, json!({}))).await;
    server.finish().await;
    failed
}

const LARGE: &str = r"#include <stdbool.h>
static int large[100000];
static bool is_set = true;
static int nothing(void) {
    return large[4]; // @inside
}
int main(void) {
    int items[20] = {1, 2, 3};
    large[0] = items[1]; // @large
    return nothing() + items[15] - 7;
}
";

#[tokio::test]
async fn large_arrays_items_and_empty_scopes_are_read_and_set() {
    let sources = Sources::new(&[("main.c", LARGE)]);
    let program = sources.file("main.c");
    let (session, _path) = GdbOnly::stopped_at(&program, "c", "large").await;
    let items = session.ok("evaluate_expression", json!({ "expression": "items" })).await;
    let set = json!({ "scope": items["variablesReference"], "name": "[15]", "value": "7" });
    session.ok("set_variable", set).await;
    assert_eq!(session.evaluate("items[15]").await, "7");
    let cut = session.ok("evaluate_expression", json!({ "expression": "large", "maxLength": 20 })).await;
    assert_eq!((&cut["truncated"], &cut["children"]), (&json!(true), &json!(100_000)), "{}", cut.text);
    let is_set = session.ok("evaluate_expression", json!({ "expression": "is_set" })).await;
    assert_eq!((is_set.text_of("result"), is_set.text_of("type")), ("true", "bool"));
    session.break_at(&program, "inside").await;
    session.go_on().await;
    let locals = session.ok("get_local_variables", json!({})).await;
    assert_eq!((&locals["count"], &locals["scopeName"]), (&json!(0), &json!("Locals")), "{}", locals.text);
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_missing_or_old_debugger_is_reported_with_both_choices() {
    let sources = Sources::new(&[("main.c", C)]);
    let program = sources.file("main.c");
    let old = "#!/bin/sh\necho 'GNU gdb (Debian 13.1-3) 13.1'\n";
    for (debugger, part) in
        [(None, "and no `gdb`"), (Some(old), "is GDB 13.1, but debugging needs GDB 14 or newer")]
    {
        let failed = refused_with(&program, debugger).await;
        for part in [part, "no `lldb-dap` is on PATH", "apt-get install lldb-19", "apt-get install gdb"] {
            assert!(failed.text.contains(part), "`{part}` is not in: {}", failed.text);
        }
    }
}
