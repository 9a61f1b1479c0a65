//! Steps that come back to code which V8 itself does not see them come back to, and breakpoints that it would miss.

mod generators;

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report, folder};
use crate::script::Script;

/// Whether each of these steps from a named line comes to the next line of the list, in whichever of the files.
async fn steps_lead(files: &[(&str, &str)], from: (&str, &str), steps: &[(&str, &str, &str)]) {
    let folder = folder();
    let written: Vec<(&str, Fixture)> =
        files.iter().map(|(name, text)| (*name, Fixture::write(folder.path(), name, text))).collect();
    let file = |name: &str| &written.iter().find(|(written, _)| *written == name).unwrap().1;
    let session = Debugging::of(Language::Node).await;
    session.break_at(file(from.0), from.1).await;
    let stopped = session.start(&written[0].1).await;
    assert_eq!(stopped.outcome(), "breakpoint", "{}", stopped.text);
    session.ok("clear_breakpoints", json!({})).await;
    for (tool, name, line) in steps {
        let stepped = session.step(tool).await;
        let program = file(name);
        assert_eq!(
            (stepped.outcome(), stepped.place()),
            ("step", (program.path(), program.line(line))),
            "{tool} from {from:?} to {line}: {}",
            stepped.text
        );
    }
    session.finish().await;
}

#[tokio::test]
async fn a_step_from_the_last_line_of_a_required_file_returns_to_the_requiring_file() {
    let files = [
        ("main.js", "require('./part.js');\nconst b = 2; // @next\nconsole.log(b); // @last\n"),
        ("part.js", "let x = 1;\nx = 2;\nx = 3; // @end\n"),
    ];
    for step in ["step_over", "step_out", "step_into"] {
        let steps = [(step, "main.js", "next"), ("step_over", "main.js", "last")];
        steps_lead(&files, ("part.js", "end"), &steps).await;
    }
}

#[tokio::test]
async fn a_step_from_the_end_of_an_imported_module_goes_to_the_next_module_and_then_the_importer() {
    let files = [
        ("main.mjs", "import './one.mjs';\nimport './two.mjs';\nconsole.log(1); // @main\n"),
        ("one.mjs", "let x = 1;\nx = 2; // @end\n"),
        ("two.mjs", "let y = 1; // @two\n"),
    ];
    let steps = [("step_out", "two.mjs", "two"), ("step_out", "main.mjs", "main")];
    steps_lead(&files, ("one.mjs", "end"), &steps).await;
}

#[tokio::test]
async fn a_step_from_a_return_in_an_iterator_loop_goes_to_the_caller() {
    let text = "\
function find(list) {
  for (const item of list) {
    if (item > 1) return item; // @return
  }
}
const a = find([2, 3]);
const b = find([3, 2]); // @next
console.log(a, b); // @last
";
    for step in ["step_over", "step_out"] {
        steps_lead(&[("main.js", text)], ("main.js", "return"), &[(step, "main.js", "next")]).await;
    }
}

#[tokio::test]
async fn a_step_from_a_finally_after_a_return_goes_to_the_caller() {
    let text = "\
let depth = 0;
function inner() {
  return 1; // @inner
}
function outer() {
  depth++;
  try {
    return inner();
  } finally {
    depth--; // @finally
  }
}
const a = outer();
const b = outer(); // @next
console.log(a, b);
";
    let files = [("main.js", text)];
    let over = [("step_over", "main.js", "finally"), ("step_over", "main.js", "next")];
    steps_lead(&files, ("main.js", "inner"), &over).await;
    steps_lead(&files, ("main.js", "finally"), &[("step_out", "main.js", "next")]).await;
}

#[tokio::test]
async fn a_step_from_a_return_in_a_loop_goes_to_the_recursive_call() {
    let text = "\
function walk(node, name) {
  if (node.name === name) return node;
  for (const child of node.children) {
    const found = walk(child, name); // @call
    if (found) return found; // @return
  }
}
const c = { name: 'c' };
const a = { name: 'a', children: [{ name: 'b', children: [c] }] };
console.log(walk(a, 'c') === c); // @last
";
    let steps = [("step_over", "main.js", "return"), ("step_over", "main.js", "last")];
    steps_lead(&[("main.js", text)], ("main.js", "return"), &steps).await;
}

#[tokio::test]
async fn a_breakpoint_on_the_next_line_is_hit_after_the_functions_other_one_was_removed() {
    let text = "\
function work() {
  let x = 0; // @first
  for (;;) {
    x = x + 1; // @one
    x = x + 10; // @ten
    if (x > 30) return x;
  }
}
work();
";
    let program = Script::new(text);
    let (session, _) = program.stopped_at("first").await;
    let mut expected = 0;
    for (line, more) in [("one", 0), ("ten", 1), ("one", 10)] {
        session.ok("clear_breakpoints", json!({})).await;
        session.break_at(&program.main, line).await;
        let stopped = session.go_on().await;
        expected += more;
        assert_eq!(stopped.place(), (program.main.path(), program.main.line(line)), "{}", stopped.text);
        assert_eq!(session.evaluate("x").await, expected.to_string(), "at {line}");
    }
    session.finish().await;
}

/// The program pauses inside the inner call, where our hook has a file with a map.
#[tokio::test]
async fn a_step_over_a_call_that_requires_a_file_ends_after_the_outer_call() {
    let program = Script::new(
        "\
globalThis.load = function load(name) {
  const loaded = require('./' + name); // @call
  return loaded; // @return
};
load('outer.js');
",
    );
    program.file("outer.js", "module.exports = load('inner.js');\n");
    let inner = "module.exports = () => {\n  return 1; // @never\n};\n//# sourceMappingURL=inner.js.map\n";
    let inner = program.file("inner.js", inner);
    let map = r#"{ "version": 3, "sources": [], "names": [], "mappings": "" }"#;
    program.file("inner.js.map", map);
    a_step_over_the_call_ends_after_it(&program, (&inner, "never"), ("name === 'outer.js'", "true")).await;
}

/// The program pauses inside the inner call, where V8 has compiled a script that has a map.
#[tokio::test]
async fn a_step_over_a_call_that_loads_a_script_ends_after_the_outer_call() {
    let text = "\
const vm = require('node:vm');
const map = '\\n//# sourceMappingURL=data:application/json;base64,\
eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbXSwibmFtZXMiOltdLCJtYXBwaW5ncyI6IiJ9';
globalThis.load = function load(code) {
  const value = run(code); // @call
  return value; // @return
};
function run(code) {
  return new vm.Script(code + map).runInThisContext();
}
load('load(\"1\")');
console.log(1); // @last
";
    let program = Script::new(text);
    a_step_over_the_call_ends_after_it(&program, (&program.main, "last"), ("code.length", "9")).await;
}

/// A breakpoint elsewhere makes the search for its compiled script part of each step, and the value differs between calls.
async fn a_step_over_the_call_ends_after_it(program: &Script, other: (&Fixture, &str), value: (&str, &str)) {
    let session = Debugging::of(Language::Node).await;
    session.break_at(&program.main, "call").await;
    // With options, something may compile the files.
    let start = json!({ "scriptPath": program.path(), "runtimeArgs": ["--no-warnings"] });
    let stopped = session.ok("start_debugging", start).await;
    assert_eq!(stopped.outcome(), "breakpoint", "{}", stopped.text);
    session.ok("clear_breakpoints", json!({})).await;
    session.break_at(other.0, other.1).await;
    let stepped = session.step("step_over").await;
    let location = (program.path(), program.line("return"));
    assert_eq!((stepped.outcome(), stepped.place()), ("step", location), "{}", stepped.text);
    assert_eq!(session.evaluate(value.0).await, value.1);
    session.finish().await;
}
