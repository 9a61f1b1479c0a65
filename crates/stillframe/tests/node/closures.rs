//! Scopes: blocks, closures, modules of both kinds, and names that hide one another.

use serde_json::{Value, json};

use crate::debugging::{Debugging, Report};
use crate::script::{Script, names};

/// A function inside a function, with a block that hides a name.
const COUNTER: &str = r#"
const { inspect } = require("node:util");
const outside = "module";

function makeCounter(start) {
  let count = start;
  return function add(step) {
    const before = count;
    {
      const before = "block";
      count += step;
      inspect(outside, before); // @block
    }
    return count - before; // @end
  };
}

const add = makeCounter(10);
add(5);
console.log(add(6)); // @module
"#;

/// The names of the scopes of the innermost frame.
async fn scopes(session: &Debugging) -> Vec<(String, Value)> {
    let stack = session.ok("get_stack_trace", json!({})).await;
    let scopes = session.ok("get_scopes", json!({ "frameId": stack.at("/stackFrames/0/id") })).await;
    let scopes = scopes["scopes"].as_array().unwrap().clone();
    let name = |scope: &Value| scope["name"].as_str().unwrap().to_owned();
    scopes.iter().map(|scope| (name(scope), scope["variablesReference"].clone())).collect()
}

#[tokio::test]
async fn locals_include_the_function_its_blocks_and_enclosing_functions() {
    let (session, stopped) = Script::new(COUNTER).stopped_at("block").await;
    assert_eq!(stopped.variable("step"), "5");
    assert_eq!(stopped.variable("count"), "15", "of the function around it");
    assert_eq!(stopped.variable("before"), "'block'", "the inner name hides the outer one");
    let locals = session.ok("get_local_variables", json!({})).await;
    let mut found = names(&locals);
    found.sort_unstable();
    assert_eq!(found, ["before", "count", "step"], "nothing of the module: {}", locals.text);
    assert_eq!(session.evaluate("outside + count").await, "'module15'", "what is not listed is still seen");
    session.finish().await;
}

#[tokio::test]
async fn after_a_block_the_shadowed_name_is_visible_again() {
    let (session, stopped) = Script::new(COUNTER).stopped_at("end").await;
    assert_eq!((stopped.variable("before"), stopped.variable("count")), ("10", "15"));
    session.finish().await;
}

#[tokio::test]
async fn every_scope_can_be_inspected_separately() {
    let (session, _) = Script::new(COUNTER).stopped_at("block").await;
    let scopes = scopes(&session).await;
    let of = |wanted: &str| {
        let found = scopes.iter().find(|(name, _)| name.starts_with(wanted));
        found.unwrap_or_else(|| panic!("no scope {wanted}: {scopes:?}")).1.clone()
    };
    for (scope, name, value) in [
        ("Block", "before", "'block'"),
        ("Local", "before", "10"),
        ("Local", "step", "5"),
        ("Closure (makeCounter)", "count", "15"),
        ("Module", "outside", "'module'"),
    ] {
        let arguments = json!({ "scope": of(scope), "names": [name] });
        assert_eq!(session.ok("get_variables", arguments).await.variable(name), value, "{name} in {scope}");
    }
    assert_eq!(scopes.last().unwrap().0, "Global");
    let mut unique: Vec<&String> = scopes.iter().map(|(name, _)| name).collect();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), scopes.len(), "names tell them apart: {scopes:?}");
    session.finish().await;
}

#[tokio::test]
async fn a_variable_of_an_enclosing_function_is_set_in_its_scope() {
    let script = Script::new(COUNTER);
    let (session, _) = script.stopped_at("end").await;
    session.ok("set_variable", json!({ "name": "count", "value": "100" })).await;
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "6\n");
    session.finish().await;
}

#[tokio::test]
async fn module_variables_of_a_commonjs_module_are_its_locals() {
    let (session, stopped) = Script::new(COUNTER).stopped_at("module").await;
    assert_eq!(stopped.at("/location/function"), "<module>");
    let usual = session.ok("get_local_variables", json!({})).await;
    assert_eq!(names(&usual), ["outside"], "functions and what was required are left out");
    let all = session.ok("get_local_variables", json!({ "includeSpecial": true })).await;
    for name in ["outside", "inspect", "makeCounter", "add", "exports", "require", "module", "__filename"] {
        assert!(names(&all).contains(&name), "{name}: {:?}", names(&all));
    }
    session.finish().await;
}

#[tokio::test]
async fn module_variables_of_an_es_module_are_its_locals() {
    let script = Script::module(
        r#"
import { basename } from "node:path";
import * as path from "node:path";
import { triple } from "./other.mjs";

const first = triple(14); // @first
const second = await Promise.resolve(first + 1);
export const name = basename(import.meta.filename ?? "main.mjs");
console.log(first, second, name, path.sep); // @last
"#,
    );
    let other = script.file(
        "other.mjs",
        "const factor = 3;\nexport function triple(number) {\n  return number * factor; // @triple\n}\n",
    );
    let (session, stopped) = script.stopped_at("first").await;
    assert_eq!(stopped.at("/location/function"), "<module>");
    session.break_at(&other, "triple").await;
    session.break_at(&script, "last").await;
    let inside = session.go_on().await;
    assert_eq!((inside.place(), inside.variable("number")), ((other.path(), other.line("triple")), "14"));
    assert_eq!(session.evaluate("factor").await, "3");
    let last = session.go_on().await;
    assert_eq!(last.place(), (script.path(), script.line("last")), "{}", last.text);
    assert_eq!((last.variable("first"), last.variable("second")), ("42", "43"));
    let locals = session.ok("get_local_variables", json!({})).await;
    assert_eq!(names(&locals), ["first", "second", "name"], "what was imported is left out");
    session.finish_at_end().await;
}

#[tokio::test]
async fn an_uninitialized_variable_is_listed_as_such() {
    let script = Script::new(
        "function main() {\n  console.log('early'); // @early\n  const late = 1;\n  return () => late;\n}\nmain();\n",
    );
    let (session, stopped) = script.stopped_at("early").await;
    // V8 reports the difference from Node 22 on.
    assert!(["<uninitialized>", "undefined"].contains(&stopped.variable("late")), "{}", stopped.text);
    let arguments = json!({ "expression": "late" });
    let failed = session.fails("evaluation_failed", "evaluate_expression", arguments).await;
    assert!(failed.text_of("message").starts_with("ReferenceError: "), "{}", failed.text);
    session.finish().await;
}

#[tokio::test]
async fn every_iteration_of_a_loop_has_its_own_variable() {
    let script = Script::new(
        r"
const calls = [];
for (let turn = 0; turn < 3; turn += 1) {
  calls.push(() => turn); // @turn
}
console.log(calls.map((call) => call())); // @last
",
    );
    let (session, stopped) = script.stopped_at("turn").await;
    assert_eq!(stopped.variable("turn"), "0");
    assert_eq!(session.go_on().await.variable("turn"), "1");
    session.ok("clear_breakpoints", json!({})).await;
    session.break_at(&script, "last").await;
    session.go_on().await;
    assert_eq!(session.evaluate("calls.map((call) => call())").await, "[ 0, 1, 2 ]");
    session.finish().await;
}

#[tokio::test]
async fn anonymous_functions_and_this_are_reported() {
    let script = Script::new(
        r#"
class Basket {
  constructor() {
    this.items = [1, 2];
  }

  total() {
    return [3].map((extra) => {
      return this.items.length + extra; // @arrow
    });
  }
}
new Basket().total();
(function () {
  console.log("here"); // @anonymous
})();
"#,
    );
    let (session, stopped) = script.stopped_at("arrow").await;
    assert_eq!((stopped.at("/location/function"), stopped.variable("extra")), (&json!("<anonymous>"), "3"));
    assert_eq!(session.evaluate("this.items").await, "[ 1, 2 ]");
    let all = session.ok("get_local_variables", json!({ "includeSpecial": true })).await;
    assert_eq!(all.variable("this"), "Basket { items: [ 1, 2 ] }");
    session.break_at(&script, "anonymous").await;
    assert_eq!(session.go_on().await.at("/location/function"), "<anonymous>");
    session.finish().await;
}
