//! Conditions on whatever can be thrown.

use serde_json::json;
use test_support::{Language, rows_to_try};

use crate::debugging::{Debugging, Report};
use crate::script::Script;

async fn started(script: &Script, condition: &str) -> (Debugging, test_support::Answer) {
    let session = Debugging::of(Language::Node).await;
    let wanted = json!({ "mode": "all", "exceptionCondition": condition });
    session.ok("set_exception_breakpoints", wanted).await;
    let report = session.start(script).await;
    (session, report)
}

#[tokio::test]
async fn system_errors_are_filtered_by_code() {
    let script = Script::new(
        r#"
const fs = require("node:fs");
for (const path of ["/", "/no/such/file"]) {
  try { fs.readFileSync(path); } catch {} // @read
}
"#,
    );
    for (code, path) in [("EISDIR", "'/'"), ("ENOENT", "'/no/such/file'")] {
        let (session, stopped) = started(&script, &format!("error.code === '{code}'")).await;
        assert_eq!(
            (stopped.outcome(), stopped.place().1),
            ("exception", script.line("read")),
            "{}",
            stopped.text
        );
        assert_eq!(stopped.variable("path"), path);
        session.finish_at_end().await;
    }
}

#[tokio::test]
async fn conditions_on_exceptions_see_any_thrown_value() {
    let script = Script::new(
        r#"
const thrown = [
  42, "text", undefined, null, NaN, -0, 10n, true, Symbol.for("mark"),
  { code: 7 }, [1, 2], () => 3, new Proxy({}, { get() { throw new Error("trap"); } }),
];
for (const [at, value] of thrown.entries()) {
  try {
    throw value; // @throw
  } catch {}
}
"#,
    );
    let conditions = [
        "error === 42",
        "error === 'text'",
        "error === undefined && at === 2",
        "error === null",
        "Number.isNaN(error)",
        "Object.is(error, -0)",
        "error === 10n",
        "error === true",
        "error === Symbol.for('mark')",
        "typeof error === 'object' && at === 9 && error.code === 7",
        "Array.isArray(error) && error.length === 2",
        "typeof error === 'function' && error() === 3",
        "at === 12 && error === value",
    ];
    for (at, condition) in rows_to_try(conditions.into_iter().enumerate(), 4) {
        let (session, stopped) = started(&script, condition).await;
        assert_eq!(
            (stopped.outcome(), stopped.place().1),
            ("exception", script.line("throw")),
            "{condition}: {}",
            stopped.text
        );
        assert_eq!(stopped.variable("at"), at.to_string(), "{condition}");
        assert_eq!(
            session
                .evaluate("Reflect.ownKeys(globalThis).filter((key) => /stillframe.error/.test(String(key)))")
                .await,
            "[]"
        );
        let ended = session.run_to_the_end().await;
        assert!(ended["notes"].is_null(), "{condition}: {}", ended.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn an_error_thrown_in_another_realm_is_inspected_there() {
    let script = Script::new(
        r#"
const vm = require("node:vm");
try {
  vm.runInNewContext("throw new RangeError('inner')", {}, { filename: __dirname + "/inner.js" });
} catch {}
"#,
    );
    let (session, stopped) =
        started(&script, "error instanceof RangeError && error.message === 'inner'").await;
    assert_eq!(stopped.outcome(), "exception", "{}", stopped.text);
    session.finish_at_end().await;
}

#[tokio::test]
async fn conditions_on_exceptions_apply_to_rejections() {
    let script = Script::new(
        r#"
async function load(code) {
  throw Object.assign(new Error("load"), { code }); // @throw
}
(async () => {
  for (const code of [1, 2, 3]) await load(code).catch(() => {});
})();
"#,
    );
    let (session, stopped) = started(&script, "error.code === 2").await;
    assert_eq!((stopped.outcome(), stopped.variable("code")), ("exception", "2"), "{}", stopped.text);
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_program_notices_no_listener_of_conditions_and_recorders() {
    let script = Script::new(
        r#"
const names = [];
process.on("newListener", (name) => names.push(name));
let sum = 0;
for (let n = 1; n <= 20; n++) {
  sum += n; // @here
}
process.on("exit", () => console.log(names));
"#,
    );
    let session = Debugging::of(Language::Node).await;
    let breakpoint = json!({ "file": script.path(), "line": script.line("here"), "condition": "missing" });
    session.ok("set_breakpoint", breakpoint).await;
    let ended = session.start(&script).await;
    assert_eq!(ended["output"], "[ 'exit' ]\n", "{}", ended.text);
    let point = json!({ "file": script.path(), "line": script.line("here"), "expressions": ["n"] });
    let traced = json!({ "program": script.path(), "points": [point], "sampleEvery": 3 });
    let traced = session.server.ok("trace_values", traced).await;
    assert_eq!((&traced["output"], &traced["totals"]["hits"]), (&json!("[ 'exit' ]\n"), &json!(20)));
    session.finish().await;
}
