//! Uncaught errors, thrown at once or later.

use serde_json::json;
use test_support::Answer;

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// Asserts that a report is a stop at an uncaught error.
fn is_uncaught(report: &Answer, script: &Script, line: &str, kind: &str, message: &str) {
    assert_eq!(report.outcome(), "exception", "{}", report.text);
    assert_eq!(report.place(), (script.path(), script.line(line)), "{}", report.text);
    let exception = &report["exception"];
    assert_eq!((&exception["type"], &exception["message"]), (&json!(kind), &json!(message)));
    assert_eq!(exception["uncaught"], true, "{}", report.text);
}

/// Runs on to an end with code 1, and returns what was written to standard error.
async fn fails(session: &Debugging) -> String {
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)), "{}", ended.text);
    session.written("stderr").await
}

#[tokio::test]
async fn an_error_in_an_unawaited_async_function_stops_at_its_throw() {
    let script = Script::new(
        "async function pay(amount) {\n  throw new RangeError(`no ${amount}`); // @throw\n}\n\npay(3);\n",
    );
    let (session, stopped) = script.start().await;
    is_uncaught(&stopped, &script, "throw", "RangeError", "no 3");
    assert_eq!(session.evaluate("amount").await, "3");
    assert!(fails(&session).await.contains("RangeError: no 3"));
    session.finish().await;
}

#[tokio::test]
async fn an_error_after_an_await_stops_at_its_throw() {
    let script = Script::new(
        r#"
const timers = require("node:timers/promises");

async function pay(amount) {
  await timers.setTimeout(1);
  null.pay(amount); // @throw
}

pay(3);
"#,
    );
    let (session, stopped) = script.start().await;
    is_uncaught(&stopped, &script, "throw", "TypeError", "Cannot read properties of null (reading 'pay')");
    assert!(fails(&session).await.contains("TypeError"));
    session.finish().await;
}

/// Node rejects from native code, with no function on the stack. The stack of the error names who waits for it.
#[tokio::test]
async fn a_rejection_by_node_stops_at_the_code_that_waits_for_it() {
    let script = Script::module(
        r#"
import { readFile } from "node:fs/promises";
async function load(path) {
  return JSON.parse(await readFile(path, "utf8")); // @waits
}
await load("/no/such/file");
"#,
    );
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.outcome(), "exception", "{}", stopped.text);
    assert_eq!(stopped.place(), (script.path(), script.line("waits")), "{}", stopped.text);
    assert_eq!(session.evaluate("error.code").await, "'ENOENT'");
    session.finish().await;
}

#[tokio::test]
async fn an_unhandled_rejection_stops_where_it_is_rejected() {
    let script = Script::new(
        "function later() {\n  return Promise.reject(new Error('left')); // @reject\n}\n\nlater();\n",
    );
    let (session, stopped) = script.start().await;
    is_uncaught(&stopped, &script, "reject", "Error", "left");
    fails(&session).await;
    session.finish().await;
}

#[tokio::test]
async fn an_error_in_a_callback_stops_at_its_throw() {
    let script = Script::new("setTimeout(() => {\n  throw new SyntaxError('odd input'); // @throw\n}, 1);\n");
    let (session, stopped) = script.start().await;
    is_uncaught(&stopped, &script, "throw", "SyntaxError", "odd input");
    fails(&session).await;
    session.finish().await;
}

#[tokio::test]
async fn thrown_non_errors_are_reported() {
    let script = Script::new("function main() {\n  throw { code: 7 }; // @throw\n}\n\nmain();\n");
    let (session, stopped) = script.start().await;
    is_uncaught(&stopped, &script, "throw", "Object", "{ code: 7 }");
    fails(&session).await;
    session.finish().await;
}

/// The innermost frame is one of Node's own; the report is about the program's.
#[tokio::test]
async fn an_error_thrown_by_node_is_reported_at_the_calling_line() {
    let script = Script::new("function load() {\n  return require('./missing.js'); // @call\n}\n\nload();\n");
    let (session, stopped) = script.start().await;
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", (script.path(), script.line("call"))));
    assert!(stopped.at("/exception/message").as_str().unwrap().contains("./missing.js"), "{}", stopped.text);
    fails(&session).await;
    session.finish().await;
}

#[tokio::test]
async fn an_error_with_a_cause_reports_both() {
    let script = Script::new(
        r#"
function load() {
  try {
    JSON.parse("{");
  } catch (cause) {
    throw new Error("no settings", { cause }); // @throw
  }
}

load();
"#,
    );
    let (session, stopped) = script.start().await;
    is_uncaught(&stopped, &script, "throw", "Error", "no settings");
    let stack = stopped.at("/exception/stack").as_str().unwrap();
    assert!(stack.contains("[cause]: SyntaxError: "), "{stack}");
    fails(&session).await;
    session.finish().await;
}

#[tokio::test]
async fn caught_errors_do_not_stop() {
    let script = Script::new(
        r#"
const timers = require("node:timers/promises");

async function fails() {
  await timers.setTimeout(1);
  throw new Error("handled"); // @throw
}

async function main() {
  try {
    throw new Error("at once"); // @first
  } catch {
    console.log("caught");
  }
  try {
    await fails();
  } catch {
    console.log("caught later");
  }
}

main();
"#,
    );
    let (session, ended) = script.start().await;
    assert_eq!(
        (ended.outcome(), ended.text_of("output")),
        ("ended", "caught\ncaught later\n"),
        "{}",
        ended.text
    );
    session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    let first = session.start(&script).await;
    assert_eq!((first.outcome(), first.place()), ("exception", (script.path(), script.line("first"))));
    assert_eq!(first.at("/exception/uncaught"), false);
    let second = session.go_on().await;
    assert_eq!((second.outcome(), second.place()), ("exception", (script.path(), script.line("throw"))));
    session.finish_at_end().await;
}

#[tokio::test]
async fn with_exceptions_off_a_rejection_ends_the_program() {
    let script = Script::new("Promise.reject(new Error('left'));\n");
    let session = Debugging::of(script.language()).await;
    session.ok("set_exception_breakpoints", json!({ "mode": "none" })).await;
    let ended = session.start(&script).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)), "{}", ended.text);
    assert!(session.written("stderr").await.contains("Error: left"));
    session.finish().await;
}

/// Node's loader catches what leaves a module, to end the program with it.
#[tokio::test]
async fn an_error_that_leaves_an_es_module_is_uncaught() {
    let table = [
        ("function f() {\n  throw new Error('at once'); // @throw\n}\nf();\n", "at once"),
        (
            "const fails = async () => {\n  await null;\n  throw new Error('awaited'); // @throw\n};\nawait fails();\n",
            "awaited",
        ),
        (
            "const fails = async (n) => {\n  await null;\n  throw new Error('one of ' + n); // @throw\n};\n\
             await Promise.all([fails(2), null]);\n",
            "one of 2",
        ),
        ("await Promise.reject(new Error('rejected')); // @throw\n", "rejected"),
        (
            "const [only] = await Promise.allSettled([Promise.reject(new Error('kept'))]);\n\
             throw only.reason; // @throw\n",
            "kept",
        ),
    ];
    for (text, message) in table {
        let script = Script::module(text);
        let (session, stopped) = script.start().await;
        is_uncaught(&stopped, &script, "throw", "Error", message);
        fails(&session).await;
        session.finish().await;
    }
}

#[tokio::test]
async fn an_error_caught_by_a_module_does_not_stop() {
    let text = r#"
const fails = async () => { await null; throw new Error("awaited"); };
function throws() { throw new Error("at once"); }
try { throws(); } catch {}
try { await fails(); } catch {}
try { await Promise.all([fails(), fails()]); } catch {}
await fails().catch(() => {});
await Promise.allSettled([fails(), Promise.reject(new Error("rejected"))]);
setTimeout(() => { try { throws(); } catch {} }, 1);
console.log("fine");
"#;
    let script = Script::module(text);
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "fine\n"), "{}", ended.text);
    session.finish().await;
}

/// The handler is added when the call that throws has returned. One outside of functions reports what nothing else has
/// handled.
#[tokio::test]
async fn an_error_that_a_caller_handles_later_does_not_stop() {
    let program = |main: &str| {
        let fails = "const stat = require('util').promisify(require('fs').stat);\n\
                     async function fails(message) {\n  throw new Error(message); // @throw\n}\n";
        format!("{fails}async function main() {{\n{main}}}\nmain().catch(() => process.exit(1));\n")
    };
    let script = Script::new(&program(
        "  await fails('handled').catch(() => {});\n  await Promise.allSettled([fails('one'), fails('two')]);\n  \
         try { await stat(undefined); } catch {}\n",
    ));
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    session.finish().await;

    let script = Script::new(&program("  await fails('not handled');\n"));
    let (session, stopped) = script.start().await;
    is_uncaught(&stopped, &script, "throw", "Error", "not handled");
    fails(&session).await;
    session.finish().await;
}

/// What Node makes of a promise that its own code rejects is thrown by no function of the program's.
#[tokio::test]
async fn a_rejection_without_a_throw_stops_before_the_end() {
    let table = [
        "import { readFile } from 'node:fs/promises';\nawait Promise.all([readFile('/no/such/file')]);\n",
        "import { readFile } from 'node:fs/promises';\nreadFile('/no/such/file');\n",
    ];
    for text in table {
        let script = Script::module(text);
        let (session, stopped) = script.start().await;
        assert_eq!(stopped.outcome(), "exception", "{}", stopped.text);
        let exception = &stopped["exception"];
        assert!(exception["message"].to_string().contains("ENOENT"), "{}", stopped.text);
        assert_eq!(exception["uncaught"], true, "{}", stopped.text);
        assert_eq!(session.evaluate("error.code").await, "'ENOENT'");
        fails(&session).await;
        session.finish().await;
    }
}

#[tokio::test]
async fn a_rethrown_error_and_an_aggregate_error_stop_once() {
    let table = [
        (
            "process.on('unhandledRejection', (error) => { throw error; });\nPromise.reject(new Error('a')); // @throw\n",
            "Error",
            "a",
        ),
        (
            "process.on('uncaughtException', (error) => { throw error; });\nthrow new Error('a'); // @throw\n",
            "Error",
            "a",
        ),
        (
            "throw new AggregateError([new Error('a'), new Error('b')], 'both'); // @throw\n",
            "AggregateError",
            "both",
        ),
    ];
    for (text, kind, message) in table {
        let script = Script::new(text);
        let (session, stopped) = script.start().await;
        is_uncaught(&stopped, &script, "throw", kind, message);
        let ended = session.go_on().await;
        assert_eq!(ended.outcome(), "ended", "{}", ended.text);
        session.finish().await;
    }
}
