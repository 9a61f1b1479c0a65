//! `await` at a stop, while nothing runs.

use serde_json::json;
use test_support::Language;

use crate::debugging::{Debugging, Report};
use crate::script::Script;

const TEXT: &str = "\
async function rows() { return [{ id: 7 }]; }
async function slow() { await null; return 'slow'; }
class Query { then(done) { done([]); } }
async function main() {
  const number = Promise.resolve(42);
  const text = (async () => 'done')();
  const list = rows();
  const broken = (async () => { await null; throw new RangeError('too far'); })();
  broken.catch(() => {});
  const all = Promise.allSettled([list]);
  const later = new Promise((settle) => setTimeout(settle, 5, 'late'));
  const query = new Query();
  await all;
  console.log(number, text, list, broken, query, all, slow); // @here
  await later; // @wait
  console.log(later); // @behind
}
main();
";

#[tokio::test]
async fn a_settled_promise_gives_its_result_and_a_pending_one_gives_advice() {
    let script = Script::new(TEXT);
    let (session, _) = script.stopped_at("here").await;
    session.break_at(&script, "behind").await;
    for (expression, result) in [
        ("await number", "42"),
        ("await text", "'done'"),
        (" ( await list ) ;", "[ { id: 7 } ]"),
        ("await all", "[ { status: 'fulfilled', value: "),
        ("await rows()", "[ { id: 7 } ]"),
        ("await 1", "1"),
        ("await null", "null"),
        ("await { then: 1 }", "{ then: 1 }"),
    ] {
        let read = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        let shown = read["result"].as_str().unwrap();
        assert!(shown.starts_with(result), "{expression}: {}", read.text);
    }
    let list = session.ok("evaluate_expression", json!({ "expression": "await list" })).await;
    assert_ne!(list["variablesReference"], json!(0), "{}", list.text);
    let raised =
        session.fails("evaluation_failed", "evaluate_expression", json!({ "expression": "await broken" }));
    let raised = raised.await;
    assert!(raised.text.contains("RangeError: too far"), "{}", raised.text);
    for (expression, advice) in [
        ("await later", "let the program run to a later line, and evaluate `await later` there"),
        ("await slow()", "keep it with `globalThis.later = slow()`"),
        ("await query", "the promise is pending"),
        ("(await list)[0]", "evaluate `await X` by itself"),
        ("const [one] = await list", "evaluate `await X` by itself"),
    ] {
        let refused =
            session.fails("refused", "evaluate_expression", json!({ "expression": expression })).await;
        assert!(refused.text.contains(advice), "{expression}: {}", refused.text);
    }
    session.ok("evaluate_expression", json!({ "expression": "globalThis.found = slow()" })).await;
    session.ok("continue_execution", json!({})).await;
    for (expression, result) in [("await later", "'late'"), ("await found", "'slow'")] {
        let read = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        assert_eq!(read["result"], result, "{}", read.text);
    }
    session.finish().await;
}

/// Of a promise that the program has made, the rejection remains unhandled.
#[tokio::test]
async fn a_promise_that_only_an_evaluation_has_made_may_be_rejected() {
    for (expression, code, answer, exit_code) in [
        ("await load('of the evaluation')", "refused", "the promise is pending", 0),
        ("await fail('of the evaluation')", "evaluation_failed", "of the evaluation", 0),
        ("await pending.get('a')", "refused", "the promise is pending", 1),
    ] {
        let script = Script::new(
            "async function load(text) { await null; throw new Error(text); }\n\
             async function fail(text) { throw new Error(text); }\n\
             const pending = new Map();\n\
             if (process.argv.length > 2) pending.set('a', load('of the program'));\n\
             console.log('here', load, fail); // @here\nsetTimeout(() => console.log('later'), 1); // @later\n",
        );
        let session = Debugging::of(Language::Node).await;
        session.break_at(&script, "here").await;
        session.ok("set_exception_breakpoints", json!({ "mode": "none" })).await;
        let args = if exit_code == 1 { json!(["pending"]) } else { json!([]) };
        session.ok("start_debugging", json!({ "scriptPath": script.path(), "args": args })).await;
        let failed = session.fails(code, "evaluate_expression", json!({ "expression": expression })).await;
        assert!(failed.text.contains(answer), "{}", failed.text);
        let ended = session.go_on().await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(exit_code)), "{}", ended.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn a_never_settled_top_level_await_is_named_at_the_end() {
    let script =
        Script::module("console.log('first');\nawait new Promise(() => {});\nconsole.log('never');\n");
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(13)), "{}", ended.text);
    let note = ended.at("/notes/0").as_str().unwrap();
    assert!(note.contains("a top-level `await` of an ES module never settled"), "{}", ended.text);
    session.finish().await;
}
