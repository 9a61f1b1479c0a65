//! What is visible in a frame.

use std::time::Duration;

use super::harness::{named, texts};
use super::{PausedProgram, page};
use crate::error::Error;
use crate::model::stack::ScopeKind;
use crate::model::variable::{ExpandedValue, Expansion, Page};

const NESTED: &str = r"
const fs = require('fs');
let level = 'module';
function outer(first) {
  const captured = 1;
  return function inner(a, b) {
    let shadowed = 'outer';
    const uses = () => captured;
    for (const item of [7]) {
      let shadowed = 'inner';
      debugger;
      let later = 1;
      return uses() + item + later;
    }
  };
}
const result = outer(0)(1, 1);
class Kind {}
const path_1 = { default: require('path') };
const settings = { deep: true };
debugger;
";

#[tokio::test]
async fn locals_match_what_a_user_expects() {
    let scene = PausedProgram::of(NESTED).await;
    let locals = scene.locals().await;
    let shown: Vec<_> = texts(&locals).into_iter().filter(|(name, _)| *name != "later").collect();
    let expected = [
        ("a", "1"),
        ("b", "1"),
        ("uses", "[Function: uses]"),
        ("item", "7"),
        ("shadowed", "'inner'"),
        ("captured", "1"),
    ];
    assert_eq!(shown, expected);
    let scopes = scene.values.scopes(&scene.frame(0));
    let names: Vec<_> = scopes.iter().map(|scope| scope.name.as_str()).collect();
    assert_eq!(names.first().copied(), Some("Block"));
    assert_eq!(names.last().copied(), Some("Global"));
    assert!(names.contains(&"Local") && names.contains(&"Closure (outer)"), "{names:?}");
    let own: Vec<_> =
        scopes.iter().filter(|scope| scope.kind == ScopeKind::Locals).map(|scope| &scope.name).collect();
    assert_eq!(own, ["Local"]);
    let global = scopes.iter().find(|scope| scope.kind == ScopeKind::Globals).unwrap();
    assert!(global.expensive);
    let globals = scene.values.variables(global.reference, page(true), 100).await.unwrap();
    assert!(
        globals.total > 50 && globals.variables.iter().any(|variable| variable.name == "process"),
        "{globals:?}"
    );
    let local = scene.values.variables(scene.own_scope(), page(true), 100).await.unwrap();
    assert_eq!(named(&local.variables, "shadowed").value.text, "'outer'");
}

#[tokio::test]
async fn module_scope_shows_data_and_hides_wrapper_variables() {
    let mut scene = PausedProgram::of(NESTED).await;
    scene.resume().await;
    let locals = scene.locals_with(page(false), 100).await;
    let expected = [("level", "'module'"), ("result", "9"), ("settings", "{ deep: true }")];
    let mut observed = texts(&locals.variables);
    observed.retain(|(name, _)| *name != "result");
    assert_eq!(observed, [expected[0], expected[2]]);
    assert_eq!(locals.hidden, 10, "five words of CommonJS, fs, outer, Kind, path_1, this");
    let all = scene.locals_with(page(true), 100).await;
    assert_eq!((all.total, all.hidden), (locals.total + 10, 0));
    assert!(named(&all.variables, "fs").special && named(&all.variables, "this").special);
}

#[tokio::test]
async fn es_module_scope_shows_uninitialized_bindings() {
    let program = "import fs from 'node:fs';\nimport * as path from 'node:path';\nimport * as self from './main.mjs';\n\
                   export let live = 1;\nexport function used() { return live; }\ndebugger;\nexport const later = [1];\n\
                   used(fs, path, self, later);\n";
    let scene = PausedProgram::file("main.mjs", program).await;
    let all = scene.locals_with(page(true), 200).await;
    assert_eq!(named(&all.variables, "live").value.text, "1");
    assert!(!named(&all.variables, "live").special && named(&all.variables, "path").special);
    let module = named(&all.variables, "self");
    assert_eq!(
        module.value.text,
        "[Module: null prototype] { later: <uninitialized>, live: 1, used: [Function: used] }"
    );
    let members = scene.open(&module.value).await;
    assert_eq!(named(&members, "later").value.text, "<uninitialized>");
    assert_eq!(scene.text("live + 1").await, "2");
    assert_eq!(scene.text("require('path').sep").await, "'/'");
}

#[tokio::test]
async fn return_value_comes_first() {
    let mut scene = PausedProgram::of("function f() {\n  debugger;\n  return { a: 1 };\n}\nf();\n").await;
    scene.step_over().await;
    scene.step_over().await;
    let locals = scene.locals_with(page(true), 100).await;
    assert_eq!(texts(&locals.variables)[0], ("(return)", "{ a: 1 }"));
    let opened = scene.open(&locals.variables[0].value).await;
    assert_eq!(texts(&opened)[0], ("a", "1"));
    let set = scene.values.set_variable(scene.own_scope(), "(return)", "[5]", 100).await.unwrap();
    assert_eq!(set.text, "[ 5 ]");
}

#[tokio::test]
async fn values_are_shorter_without_the_helper() {
    let scene = PausedProgram::of(NESTED).await;
    scene.values.refuse_helper();
    let locals = scene.locals().await;
    assert_eq!(named(&locals, "shadowed").value.text, "'inner'");
    assert_eq!(named(&locals, "captured").value.text, "1");
    let value = scene.evaluate("[{ a: 'x' }, 2]").await.unwrap();
    assert_eq!(value.text, "Array(2)");
    let items = scene.open(&value).await;
    assert_eq!(texts(&items)[..2], [("0", "Object"), ("1", "2")]);
    assert_eq!(texts(&scene.open(&items[0].value).await)[0], ("a", "'x'"));
    assert!(matches!(scene.evaluate("missing").await, Err(Error::Raised { .. })));
}

const CONTAINERS: &str = r"
class Box { #secret = 1; get lazy() { throw new Error('run'); } }
(function (box, map, list, text, own) {
  debugger;
})(new Box(), new Map([['k', { deep: [1] }]]), [{ a: 1 }, 2], 'text', { get lazy() { throw new Error('run'); } });
";

#[tokio::test]
async fn what_is_read_with_the_locals_is_what_is_read_alone() {
    let scene = PausedProgram::of(CONTAINERS).await;
    let within = Duration::from_secs(10);
    let expansion = Expansion { values: 6, children: 20, depth: 2, within };
    let frame = scene.frame(0);
    let read = scene.values.locals(&frame, page(false), 100, expansion).await.unwrap();
    let mut paths: Vec<String> = Vec::new();
    for ExpandedValue { parent, name, children } in &read.values {
        let siblings = parent.map_or(&read.variables, |parent| &read.values[parent].children);
        let variable = siblings.variables.iter().find(|variable| variable.name == *name).unwrap();
        let above = parent.map(|parent| format!("{}.", paths[parent])).unwrap_or_default();
        paths.push(format!("{above}{}", variable.name));
        let alone = scene.values.variables(variable.value.reference.unwrap(), page(false), 100).await;
        let alone = alone.unwrap();
        assert_eq!(texts(&children.variables), texts(&alone.variables), "{paths:?}");
        assert_eq!((children.total, children.hidden), (alone.total, alone.hidden), "{paths:?}");
    }
    assert_eq!(paths, ["box", "map", "list", "own", "map.0", "list.0"]);
    let few = Expansion { values: 2, ..expansion };
    let read = scene.values.locals(&frame, page(false), 100, few).await.unwrap();
    assert_eq!(read.values.len(), 2);
}

const METHOD: &str = r"
class Cart {
  constructor() { this.total = 1; }
  add(price) { debugger; }
}
new Cart().add({ amount: 2 });
";

#[tokio::test]
async fn what_a_method_is_called_on_is_expanded_and_not_listed() {
    let scene = PausedProgram::of(METHOD).await;
    let expansion = Expansion { values: 2, children: 20, depth: 1, within: Duration::from_secs(10) };
    let read = scene.values.locals(&scene.frame(0), page(false), 100, expansion).await.unwrap();
    let names: Vec<&str> = read.variables.variables.iter().map(|variable| variable.name.as_str()).collect();
    assert_eq!(names, ["price"]);
    let expanded: Vec<_> =
        read.values.iter().map(|value| (value.name.as_str(), texts(&value.children.variables))).collect();
    assert_eq!(expanded, [("this", vec![("total", "1")]), ("price", vec![("amount", "2")])]);
}

#[tokio::test]
async fn outer_frames_are_read_and_evaluated_in() {
    let program = "function inner(n) {\n  debugger;\n  return n;\n}\nfunction outer(word) {\n  let sum = inner(1);\n  return word + sum;\n}\nouter('w');\n";
    let scene = PausedProgram::of(program).await;
    let frame = scene.frame(1);
    let locals = scene.values.locals(&frame, page(false), 100, Expansion::NONE).await.unwrap().variables;
    assert_eq!(texts(&locals.variables)[0], ("word", "'w'"));
    for (expression, text) in
        [("word + 1", "'w1'"), ("if (word) { word = 'changed' }", "'changed'"), ("word", "'changed'")]
    {
        assert_eq!(scene.text_in(&frame, expression).await, text, "{expression}");
    }
    let locals = scene.values.locals(&frame, page(false), 100, Expansion::NONE).await.unwrap().variables;
    assert_eq!(texts(&locals.variables)[0], ("word", "'changed'"));
}

#[tokio::test]
async fn variables_are_paged() {
    let names: String = (0..300).map(|number| format!("v{number} = {number},")).collect::<Vec<_>>().concat();
    let scene =
        PausedProgram::of(&format!("(function () {{ let {names} last = 'end';\ndebugger; }})();\n")).await;
    let children =
        scene.locals_with(Page { start: 299, count: 5, special: false, internals: false }, 100).await;
    assert_eq!((texts(&children.variables), children.total), (vec![("v299", "299"), ("last", "'end'")], 301));
    assert_eq!(children.next_start(), None);
}

#[tokio::test]
async fn other_contexts_and_workers_are_read_the_same_way() {
    let program = r"
const vm = require('vm');
const { Worker } = require('worker_threads');
const sandbox = vm.createContext({ mine: new Map([[1, [2]]]) });
vm.runInContext('function f(z) { let w = new Map([[z, [1, Promise.resolve({ a: 1 })]]]); debugger; return w; } f({ p: 1 })', sandbox);
const left = Reflect.ownKeys(sandbox).concat(Reflect.ownKeys(globalThis).filter(key => typeof key === 'string' && /stillframe/.test(key)));
debugger;
new Worker('const local = new Set([[1, 2]]); { debugger; }', { eval: true });
";
    let mut scene = PausedProgram::of(program).await;
    let locals = scene.locals().await;
    let expected = [("z", "{ p: 1 }"), ("w", "Map(1) { { p: 1 } => [ 1, Promise { { a: 1 } } ] }")];
    assert_eq!(texts(&locals), expected);
    let entry = &scene.open(&locals[1].value).await[0];
    assert_eq!(
        texts(&scene.open(&entry.value).await),
        [("key", "{ p: 1 }"), ("value", "[ 1, Promise { { a: 1 } } ]")]
    );
    assert_eq!(scene.text("mine.get(1)").await, "[ 2 ]");
    scene.resume().await;
    assert_eq!(scene.text("left").await, "[ 'mine', 'f' ]", "the program sees nothing of us");
    let (values, frame) = scene.worker().await;
    let locals = values.locals(&frame, page(false), 100, Expansion::NONE).await.unwrap().variables;
    assert_eq!(named(&locals.variables, "local").value.text, "Set(1) { [ 1, 2 ] }");
}
