//! Variables of blocks in JavaScript that have the name of another one of their function.

use serde_json::{Value, json};
use test_support::{Fixture, run_tool, toolchains};

use crate::recorder::{Client, at, has, written};

const SHADOWS: &str = "\
function price(items) {
  let total = 0; // @zero
  for (const item of items) {
    console.log(item.price); // @next
    let total = item.price;
    if (item.sale) {
      const total = -1;
      item.note = total; // @sale
    }
    item.full = total * item.count; // @full
    if (item.sale) continue;
    console.log(total);
  }
  console.log('sum'); // @sum
  for (const item of items) {
    total += item.full; // @added
  }
  return total; // @returned
}
function load(retries) {
  let err = null; // @none
  for (let i = 0; i < retries; i++) {
    try {
      if (i === 0) throw new Error('busy');
      return { err, i }; // @loaded
    } catch (err) {
      console.log('retry', err.message); // @caught
    }
    console.log('after', err); // @after
  }
  return err;
}
function pick(list) {
  let i = 10; // @ten
  for (let i = 0; i < list.length; i++) {
    if (list[i] === 'b') break; // @found
  }
  try {
    let i = 20;
    JSON.parse('{' + i);
  } catch {
    console.log(i); // @handled
  }
  let rounds = 0;
  do {
    const i = rounds + 30;
    rounds = i - 29; // @round
  } while (rounds < 2);
  switch (rounds) {
    case 2: {
      let i = 40;
      console.log(i); // @case
      break;
    }
  }
  return i; // @picked
}
function early() {
  for (const n of [1]) {
    const late = n;
    console.log(late); // @early
  }
  console.log('gap'); // @gap
  let late = 2;
  return () => late; // @late
}
console.log(price([{ price: 3, count: 1, sale: true }, { price: 5, count: 2 }]));
console.log(load(2), pick(['a', 'b', 'c']), early()());
";

#[tokio::test]
async fn a_variable_is_the_one_that_its_line_can_see() {
    let (_folder, program) = written("main.js", SHADOWS);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "13\n", "{ err: null, i: 1 } 10 2\n"]);
    for (name, occurrence, shown) in [
        ("sale", 1, "total = -1"),
        ("full", 1, "total = 3"),
        ("next", 2, "total = 0"),
        ("full", 2, "total = 5"),
        ("sum", 1, "total = 0"),
        ("returned", 1, "total = 13"),
        ("caught", 1, "err = Error"),
        ("after", 1, "err = null"),
        ("loaded", 1, "err = null"),
        ("found", 2, "i = 1"),
        ("handled", 1, "i = 10"),
        ("round", 2, "i = 31"),
        ("case", 1, "i = 40"),
        ("picked", 1, "i = 10"),
        ("early", 1, "late = 1"),
        ("late", 1, "late = 2"),
    ] {
        let moment = format!("{}#{occurrence}", at(&program, name));
        let state = client.ask("state_at", json!({ "at": moment })).await;
        let own = state.split("\nin ").next().unwrap_or_default();
        assert!(own.lines().any(|line| line.trim().starts_with(shown)), "{moment} {shown}: {state}");
    }
    let gap = client.ask("state_at", json!({ "at": at(&program, "gap") })).await;
    assert!(!gap.contains("late ="), "not declared yet: {gap}");
    client.server.finish().await;
}

#[tokio::test]
async fn writes_and_origins_are_those_of_the_outer_variable() {
    let (_folder, program) = written("main.js", SHADOWS);
    let (client, _) = Client::recorded("node", &program).await;
    let about = |target: &str, name: &str| json!({ "target": target, "at": at(&program, name) });
    let written = async |arguments: Value| {
        let said = client.ask("find_writes", arguments).await;
        let changes = said.lines().filter(|line| line.starts_with("event "));
        changes.map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    let total = written(about("total", "returned")).await;
    has(&total, &["total: 3 → 13 by ", "total: 0 → 3 by ", &at(&program, "added"), "total = 0 by "]);
    assert_eq!(total.lines().count(), 3, "{total}");
    let err = written(about("err", "after")).await;
    has(&err, &["err = null by ", &at(&program, "none")]);
    assert_eq!(err.lines().count(), 1, "{err}");
    let origin = client.ask("find_origin", about("i", "picked")).await;
    has(&origin, &["`i` is 10 at event ", &format!("i = 10 by {}", at(&program, "ten"))]);
    let first = client.ask("find_first", json!({ "condition": "total === -1" })).await;
    has(&first, &["`total === -1` first holds after ", " in price"]);
    // A variable that is visible again has not begun to be this.
    let ten = json!({ "condition": "i === 10", "function": "pick", "occurrence": 2 });
    let again = client.ask("find_first", ten).await;
    assert!(!again.contains("holds after"), "{again}");
    client.server.finish().await;
}

/// Outside of strict mode, what is assigned without a declaration is a variable of all scripts.
#[tokio::test]
async fn what_is_assigned_without_a_declaration_is_a_variable_of_the_script() {
    let text = "counter = 0;\nfunction bump(by) {\n  counter += by; // @bumped\n  for (step = 0; step < by; step++) {\n    \
                [last] = [step];\n  }\n}\nbump(2);\nbump(3);\nconsole.log(counter, step, last);\n";
    let (_folder, program) = written("main.js", text);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "5 3 2"]);
    let first = client.ask("find_first", json!({ "condition": "counter > 2" })).await;
    has(&first, &[&at(&program, "bumped"), "counter: 2 → 5"]);
    let state = client.ask("state_at", json!({ "at": "end" })).await;
    has(&state, &["counter = 5"]);
    has(&state, &["last = 2"]);
    has(&state, &["step = 3"]);
    client.server.finish().await;
}

#[tokio::test]
async fn variables_that_a_compiler_renamed_have_the_names_of_the_source() {
    let text = "\
function drain(limit: number): number {
  let rounds = 0;
  while (rounds < limit) rounds += 1; // @drained
  for (const step of [1, 2]) {
    const rounds = step * 10; // @inner
    console.log(rounds);
  }
  return rounds; // @returned
}
const rounds = drain(5);
const step = rounds;
type Box = { n: number };
const held = new Map<string, Box[]>([['k', [{ n: 1 }]]]);
held.get('k')![0].n = 3; // @changed
const certain = held.get('k')![0]!.n;
const cast = (held.get('k') as Box[])[0].n;
console.log(step, certain, cast);
";
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    let program = Fixture::write(folder.path(), "main.ts", text);
    let client = Client::new("node").await;
    let command =
        json!({ "command": "node", "args": ["--import", "tsx", program.path()], "cwd": folder.path() });
    has(&client.ask("record_run", command).await, &["exited with code 0"]);
    for condition in
        [json!({ "condition": "rounds > 2" }), json!({ "condition": "rounds > 2", "function": "drain" })]
    {
        let first = client.ask("find_first", condition).await;
        has(&first, &["`rounds > 2` first holds after ", &at(&program, "drained"), "rounds: 2 → 3"]);
    }
    let state = client.ask("state_at", json!({ "at": at(&program, "returned") })).await;
    has(&state, &["limit = 5", "rounds = 5"]);
    // Its types change no value.
    for target in ["certain", "cast"] {
        let origin = client.ask("find_origin", json!({ "target": target })).await;
        let module = "it belongs to the module main.ts";
        has(&origin, &[&format!("`{target}` is 3 at "), module, ".n: 1 → 3 by ", &at(&program, "changed")]);
    }
    client.server.finish().await;
}

/// A minifier gives variables of different functions the same short name.
#[tokio::test]
async fn variables_of_a_minified_script_have_the_names_of_their_own_functions() {
    let text = "\
function first(event: string): number {
  const length = event.length;
  console.log(event, length); // @first
  return event.length + event.charCodeAt(0) + event.charCodeAt(1);
}
function second(error: string): number {
  const place = error.indexOf('x'); // @second
  console.log(error);
  return place;
}
first('abc');
second('fox');
";
    let (folder, source) = written("main.ts", text);
    run_tool(folder.path(), "esbuild", &["main.ts", "--minify", "--sourcemap", "--outfile=main.js"]).await;
    let program = folder.path().join("main.js");
    let client = Client::new("node").await;
    let command = json!({ "command": "node", "args": [program], "cwd": folder.path() });
    has(&client.ask("record_run", command).await, &["exited with code 0"]);
    let state = client.ask("state_at", json!({ "at": at(&source, "first") })).await;
    has(&state, &["event = 'abc'"]);
    let state = client.ask("state_at", json!({ "at": at(&source, "second") })).await;
    has(&state, &["error = 'fox'"]);
    let writes = client.ask("find_writes", json!({ "target": "error" })).await;
    has(&writes, &["`error` is 'fox' at event ", "error = 'fox' by "]);
    client.server.finish().await;
}
