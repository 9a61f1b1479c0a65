//! Values as Node shows them, of which nothing of the program's own code is run.

mod kinds;
mod large;
mod summaries;

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report};
use crate::script::{Script, names, owned};

/// Objects of many kinds; whatever of theirs is run counts itself.
const OBJECTS: &str = r#"
"use strict";
const runs = [];

class Account {
  #balance = 12;
  static #opened = 1;

  constructor(owner) {
    this.owner = owner;
    this[Symbol("key")] = "by symbol";
    Object.defineProperty(this, "hidden", { value: 7, enumerable: false });
  }

  get doubled() {
    runs.push("doubled");
    return this.#balance * 2;
  }

  static count() {
    return Account.#opened;
  }
}

function main() {
  const account = new Account("Ann");
  const object = {
    plain: 1,
    get computed() {
      runs.push("computed");
      return 42;
    },
    set sink(value) {
      runs.push(value);
    },
    toString() {
      runs.push("toString");
      return "text";
    },
  };
  const trap = (name) => () => {
    runs.push(name);
    return undefined;
  };
  const handler = { get: trap("get"), has: trap("has"), ownKeys: trap("ownKeys") };
  const proxy = new Proxy({ inside: 1 }, handler);
  const cause = new TypeError("the cause");
  const error = Object.assign(new RangeError("too far", { cause }), { code: "E_FAR" });
  const table = new Map([["a", 1], [{ b: 2 }, [3]]]);
  const settled = Promise.resolve(42);
  const rejected = Promise.reject(new Error("not now"));
  rejected.catch(() => {});
  const pending = new Promise(() => {});
  return [account, object, proxy, error, table, settled, rejected, pending, runs, Account.count()]; // @here
}

main();
"#;

async fn stopped() -> (Script, Debugging) {
    let script = Script::new(OBJECTS);
    let session = Debugging::of(Language::Node).await;
    // V8 takes the rejection for one that nothing will handle.
    session.ok("set_exception_breakpoints", json!({ "mode": "none" })).await;
    session.break_at(&script.main, "here").await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": script.path() })).await;
    assert_eq!(stopped.outcome(), "breakpoint", "{}", stopped.text);
    (script, session)
}

#[tokio::test]
async fn getters_are_listed_and_run_only_when_evaluated() {
    let (_script, session) = stopped().await;
    let object = owned(&[
        ("plain", "1"),
        ("computed", "[Getter]"),
        ("sink", "[Setter]"),
        ("toString", "[Function: toString]"),
    ]);
    assert_eq!(session.children("object").await, object);
    assert_eq!(
        session.evaluate("object").await,
        "{ plain: 1, computed: [Getter], sink: [Setter], toString: [Function: toString] }"
    );
    assert_eq!(session.evaluate("runs").await, "[]");
    assert_eq!(session.evaluate("object.computed").await, "42");
    assert_eq!(session.evaluate("runs").await, "[ 'computed' ]");
    session.finish().await;
}

#[tokio::test]
async fn private_symbol_and_hidden_members_are_listed() {
    let (_script, session) = stopped().await;
    let children = session.children("account").await;
    for (name, value) in [
        ("owner", "'Ann'"),
        ("#balance", "12"),
        ("[Symbol(key)]", "'by symbol'"),
        ("hidden", "7"),
        ("doubled", "[Getter]"),
    ] {
        assert!(children.contains(&(name.to_owned(), value.to_owned())), "{name}: {children:?}");
    }
    assert_eq!(
        session.evaluate("account").await,
        "Account { owner: 'Ann', [Symbol(key)]: 'by symbol', #balance: 12 }",
        "as Node shows it, with the private field"
    );
    assert_eq!(session.evaluate("runs").await, "[]");
    session.finish().await;
}

#[tokio::test]
async fn private_fields_are_shown_in_object_summaries() {
    let script = Script::new(
        "class Base { #id = 7; }\n\
         class Cart extends Base { #lines = [{ name: 'tea' }]; name = 'c'; #sum() { return 1; } }\n\
         class Only { #kept = 'x'; get #twice() { return 2; } }\n\
         function main(cart, only) {\n  const list = [only];\n  return cart; // @here\n}\n\
         main(new Cart(), new Only());\n",
    );
    let (session, stopped) = script.stopped_at("here").await;
    assert_eq!(
        stopped.variable("cart"),
        "Cart { name: 'c', #id: 7, #lines: [ { name: 'tea' } ] }",
        "{}",
        stopped.text
    );
    assert_eq!(stopped.variable("only"), "Only { #kept: 'x' }", "{}", stopped.text);
    let inside = session.expanded("list").await;
    assert_eq!(inside.variable("0"), "Only { #kept: 'x' }", "{}", inside.text);
    session.finish().await;
}

#[tokio::test]
async fn a_proxy_is_inspected_without_its_traps() {
    let (_script, session) = stopped().await;
    let shown = session.ok("evaluate_expression", json!({ "expression": "proxy" })).await;
    assert!(shown.text_of("result").contains("inside: 1"), "{}", shown.text);
    let inside = session.expanded("proxy").await;
    assert_eq!(inside.variable("[[Target]]"), "{ inside: 1 }");
    assert!(names(&inside).contains(&"[[Handler]]"), "{}", inside.text);
    assert_eq!(session.evaluate("runs").await, "[]");
    session.finish().await;
}

#[tokio::test]
async fn an_error_shows_its_message_its_fields_and_its_cause() {
    let (_script, session) = stopped().await;
    let shown = session.evaluate("error").await;
    assert!(shown.starts_with("RangeError: too far"), "{shown}");
    assert!(shown.contains("TypeError: the cause") && shown.contains("E_FAR"), "{shown}");
    let inside = session.expanded("error").await;
    assert_eq!((inside.variable("message"), inside.variable("code")), ("'too far'", "'E_FAR'"));
    assert!(inside.variable("stack").starts_with("'RangeError: too far\\n    at main ("), "{}", inside.text);
    assert!(inside.variable("cause").starts_with("TypeError: the cause"), "{}", inside.text);
    session.finish().await;
}

#[tokio::test]
async fn map_entries_expand_to_key_and_value() {
    let (_script, session) = stopped().await;
    assert_eq!(session.evaluate("table").await, "Map(2) { 'a' => 1, { b: 2 } => [ 3 ] }");
    let entries = session.expanded("table").await;
    assert_eq!((entries.variable("0"), entries.variable("1")), ("'a' => 1", "{ b: 2 } => [ 3 ]"));
    let second = entries["variables"].as_array().unwrap().iter().find(|entry| entry["name"] == "1");
    let scope = &second.unwrap()["variablesReference"];
    let entry = session.ok("get_variables", json!({ "scope": scope })).await;
    assert_eq!((entry.variable("key"), entry.variable("value")), ("{ b: 2 }", "[ 3 ]"));
    session.finish().await;
}

#[tokio::test]
async fn promises_show_their_state_and_result() {
    let (_script, session) = stopped().await;
    assert_eq!(session.evaluate("pending").await, "Promise { <pending> }");
    assert_eq!(session.evaluate("settled").await, "Promise { 42 }");
    let rejected = session.evaluate("rejected").await;
    assert!(rejected.starts_with("Promise { <rejected> Error: not now"), "{rejected}");
    let inside = session.expanded("settled").await;
    assert_eq!(inside.variable("[[PromiseResult]]"), "42");
    session.finish().await;
}

/// What runs in a debugger must not depend on what the program has made of the language.
#[tokio::test]
async fn a_program_that_replaces_builtins_is_still_inspected() {
    let script = Script::new(
        r#"
const known = new Map([["k", 2]]);
const { defineProperty } = Object;
for (const holder of [Array.prototype, Map.prototype, String.prototype, Object]) {
  for (const name of ["map", "join", "slice", "indexOf", "get", "forEach", "entries", "replace", "keys", "values"]) {
    defineProperty(holder, name, { value: () => { throw new Error("replaced " + name); } });
  }
}
function look() {
  const list = [1, { a: known }];
  return list; // @here
}
look();
"#,
    );
    let (session, stopped) = script.stopped_at("here").await;
    assert_eq!(stopped.variable("list"), "[ 1, { a: Map(1) { 'k' => 2 } } ]");
    assert_eq!(session.children("list").await[0], ("0".to_owned(), "1".to_owned()));
    session.finish().await;
}

#[tokio::test]
async fn inspection_methods_of_the_program_are_not_called() {
    let program = Fixture::node("values");
    let (session, stopped) = Debugging::stopped_at(&program, "hostile").await;
    assert_eq!(stopped.variable("raises"), "Raises {}");
    assert_eq!(stopped.variable("sleeps"), "Sleeps {}");
    assert_eq!(stopped.variable("number"), "Numeric {}");
    assert!(stopped.variable("prints").starts_with("Prints "), "{}", stopped.text);
    assert_eq!(stopped.variable("after"), "'still here'");
    session.evaluate("[raises, sleeps, number, prints]").await;
    assert!(!session.written("stdout").await.contains("printed by"), "nothing of theirs has run");
    session.finish().await;
}

#[tokio::test]
async fn assignment_follows_the_language() {
    let script = Script::new(
        "function main() {\n  const fixed = 1;\n  let free = new Map([['a', 1]]);\n  console.log(fixed, free); // @here\n  return () => fixed;\n}\nmain();\n",
    );
    let (session, _) = script.stopped_at("here").await;
    let fixed = json!({ "name": "fixed", "value": "2" });
    let failed = session.call("set_variable", fixed).await;
    assert!(failed.is_error && failed.text.contains("constant"), "{}", failed.text);
    session.ok("set_variable", json!({ "name": "free", "value": "new Map([['a', fixed + 1]])" })).await;
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "1 Map(1) { 'a' => 2 }\n");
    session.finish().await;
}

#[tokio::test]
async fn the_result_of_a_settled_promise_is_read_without_running_code() {
    let (_script, session) = stopped().await;
    assert_eq!(session.evaluate("await settled").await, "42");
    assert_eq!(session.evaluate("runs").await, "[]");
    session.finish().await;
}

#[tokio::test]
async fn thrown_non_errors_are_reported_by_evaluate() {
    let (_script, session) = stopped().await;
    for (expression, message) in
        [("(() => { throw 'a text'; })()", "'a text'"), ("(() => { throw { code: 3 }; })()", "{ code: 3 }")]
    {
        let arguments = json!({ "expression": expression });
        let failed = session.fails("evaluation_failed", "evaluate_expression", arguments).await;
        assert!(failed.text_of("message").contains(message), "{}", failed.text);
    }
    session.finish().await;
}
