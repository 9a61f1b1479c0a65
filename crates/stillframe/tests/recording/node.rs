//! The same questions about JavaScript programs.

use serde_json::json;
use test_support::{Fixture, repository, toolchains};

use crate::recorder::{Client, at, has, written};

#[tokio::test]
async fn the_first_bad_moment_and_its_cause_take_two_questions() {
    let program = Fixture::node("recording_shop");
    let (client, said) = Client::recorded("node", &program).await;
    has(
        &said,
        &[
            "recorded as rec-1: the program exited with code 1; ",
            "output:\ncheap: pen, book\n",
            // The heading and the stack are those of a plain run.
            &format!("main.js:{}\n    throw new RangeError(", program.line("thrown")),
            "    ^\n\nRangeError: negative total: -9\n    at checkout (",
            &format!("main.js:{}:11)", program.line("thrown")),
        ],
    );
    let first = client.ask("find_first", json!({ "condition": "total < 0" })).await;
    let negative = format!("`total < 0` first holds after {} in Cart.total", at(&program, "negative"));
    has(
        &first,
        &[
            &negative,
            "called from ",
            " in checkout ← ",
            "total: 21 → -9",
            "total = -9   (before: 21)",
            "code = 'WELCOME'",
        ],
    );
    let number = client.ask("find_first", json!({ "condition": "typeof total === 'number'" })).await;
    has(&number, &["first holds after ", "total = 0"]);
    let cart = client.ask("find_first", json!({ "condition": "this instanceof Cart" })).await;
    has(&cart, &["`this instanceof Cart` first holds "]);

    let writes = client.ask("find_writes", json!({ "target": "cart.items" })).await;
    has(
        &writes,
        &[
            "`cart.items` is [Item {",
            "written, newest first:",
            "name: 'lamp'",
            "→ (none) by",
            &format!("{} in withoutExpensive: `items.splice(", at(&program, "lost")),
            " in preview ← ",
            &at(&program, "appended"),
            &at(&program, "created"),
        ],
    );
    client.server.finish().await;
}

#[tokio::test]
async fn the_origin_of_a_value_is_what_it_was_computed_from() {
    let program = Fixture::node("recording_shop");
    let (client, _) = Client::recorded("node", &program).await;
    let origin = client.ask("find_origin", json!({ "target": "total" })).await;
    has(
        &origin,
        &[
            "`total` is -9 at event ",
            ": Cart.total returned this at ",
            "total: 21 → -9 by ",
            &at(&program, "negative"),
            "amount = 30 by ",
            "['WELCOME'] = 30 by ",
            &at(&program, "discounted"),
            "argument of Cart.apply from ",
        ],
    );
    client.server.finish().await;
}

#[tokio::test]
async fn what_comes_after_an_exception_that_left_several_calls_is_recorded() {
    let text = "function inner(n) { if (n > 1) throw new Error('no'); return n; }\n\
                function outer(n) { return inner(n) + 1; }\n\
                let found = 0;\n\
                for (const n of [1, 2, 3, 1]) {\n  try {\n    found += outer(n);\n  } catch {\n    found -= 1;\n  }\n}\n\
                console.log(found);\n";
    let (_folder, program) = written("main.js", text);
    let (client, said) = Client::recorded("node", &program).await;
    has(&said, &["exited with code 0", "output:\n2\n"]);
    assert!(!said.contains("incomplete"), "{said}");
    let outer = client.ask("count_hits", json!({ "target": "outer" })).await;
    has(&outer, &["outer was called 4 times", "return: 2, exception: 2"]);
    let writes = client.ask("find_writes", json!({ "target": "found", "at": "end" })).await;
    has(&writes, &["`found` is 2 ", "found: 0 → 2", "found: 1 → 0", "found: 2 → 1", "found: 0 → 2"]);
    client.server.finish().await;
}

#[tokio::test]
async fn the_state_and_changes_and_hits_are_as_they_were() {
    let program = Fixture::node("recording_shop");
    let (client, _) = Client::recorded("node", &program).await;
    let state = client.ask("state_at", json!({ "at": format!("{}#2", at(&program, "appended")) })).await;
    has(&state, &["this.items.push(item)", "called from", " in fill ← ", "owner: 'Bob', items: [Item {"]);
    let own = state.lines().find(|line| line.starts_with("  this = ")).unwrap();
    assert!(own.contains("pen") && !own.contains("lamp"), "{state}");

    let thrown = client.ask("state_at", json!({ "at": "exception" })).await;
    has(
        &thrown,
        &[
            "RangeError: negative total: -9 at ",
            &at(&program, "thrown"),
            "#sealed: true",
            "total = -9",
            "in main:",
        ],
    );
    has(&thrown, &["password = '[redacted]'", "output so far ends:", "shown: 2"]);
    assert!(!thrown.contains("correct-horse"), "{thrown}");

    let (from, to) = (at(&program, "discounted"), at(&program, "thrown"));
    let changes = client.ask("compare_moments", json!({ "from": from, "to": to })).await;
    has(&changes, &["checkout:\n", "total added: -9", "Map #", "['WELCOME'] added: 30", "len(): 0 → 1"]);

    let line = client.ask("count_hits", json!({ "target": at(&program, "appended") })).await;
    has(&line, &["was reached 3 times, first at event "]);
    let function = client.ask("count_hits", json!({ "target": "withoutExpensive" })).await;
    has(
        &function,
        &["withoutExpensive was called once", "(items=Array of 3, limit=30)", "return: 1, exception: 0"],
    );
    let checkout = client.ask("count_hits", json!({ "target": "checkout" })).await;
    has(&checkout, &["return: 0, exception: 1"]);
    client.server.finish().await;
}

#[tokio::test]
async fn async_functions_generators_and_closures_are_recorded() {
    let program = Fixture::node("recording_stock");
    let (client, said) = Client::recorded("node", &program).await;
    has(
        &said,
        &["exited with code 0", "left: { pen: -8, book: 7 } 120", "problems: { pen: 'pen', last: 'book' }"],
    );
    let first = client.ask("find_first", json!({ "condition": "this.stock['pen'] < 0" })).await;
    has(&first, &[&at(&program, "taken"), "pen: 4 → -2", "size = 'small'", "pieces = 6"]);
    let writes = client
        .ask("find_writes", json!({ "target": "this.cache['pen']", "at": at(&program, "taken") }))
        .await;
    has(&writes, &["`this.cache['pen']` is 6", &format!("by {}", at(&program, "cached"))]);
    let calls = client.ask("count_hits", json!({ "target": "fact" })).await;
    has(&calls, &["fact was called 5 times", "(n=5)", "return: 5"]);
    let takes = client.ask("count_hits", json!({ "target": "take" })).await;
    has(&takes, &["Warehouse.take was called 6 times", "return: 6"]);
    let closure = client.ask("find_first", json!({ "condition": "count === 21" })).await;
    has(&closure, &[&at(&program, "counted"), "count: 18 → 21"]);
    let caught = client.ask("state_at", json!({ "at": "exception" })).await;
    has(&caught, &["RangeError: pen at", &at(&program, "looked_up"), "name = 'pen'", "left = -8"]);
    client.server.finish().await;
}

#[tokio::test]
async fn two_runs_of_an_es_module_part_at_the_first_different_step_and_value() {
    let program = Fixture::read(repository().join("fixtures/recording_runs/main.mjs"));
    Client::new("node").await.compares_runs(&program).await;
}

/// What the program has done until it kills itself is there.
#[tokio::test]
async fn a_killed_program_is_recorded_to_its_last_line() {
    let text = "function spin() {\n  let count = 0;\n  for (;;) {\n    count++;\n    if (count === 5000) {\n      \
                process.kill(process.pid, 'SIGKILL'); // @killed\n    }\n  }\n}\nspin();\n";
    let (_folder, program) = written("main.js", text);
    let (client, said) = Client::recorded("node", &program).await;
    has(&said, &["the program killed by signal 9"]);
    let state = client.ask("state_at", json!({ "at": format!("{}#last", at(&program, "killed")) })).await;
    has(&state, &["before ", &at(&program, "killed"), "count = 5000"]);
    client.server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_program_without_free_file_descriptors_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let text = "const fs = require('fs');\nconst held = [];\ntry {\n  for (;;) held.push(fs.openSync(__filename));\n\
                } catch (error) {\n  console.log(error.code);\n}\nlet text = '';\n\
                for (let i = 0; i < 40000; i++) text = String(i).padEnd(1000);\n\
                held.forEach((each) => fs.closeSync(each));\nconsole.log('over'); // @over\n";
    let program = Fixture::write(folder.path(), "main.js", text);
    let client = Client::new("sh").await;
    let line = format!("ulimit -n 64; exec node {}", program.path());
    let arguments = json!({ "command": "sh", "args": ["-c", line], "cwd": folder.path() });
    let said = client.ask("record_run", arguments).await;
    has(&said, &["exited with code 0", "EMFILE\nover\n"]);
    assert!(!said.contains("incomplete"), "{said}");
    has(&client.ask("state_at", json!({ "at": at(&program, "over") })).await, &["before ", "text = '39999 "]);
    client.server.finish().await;
}

/// The position is in the next part before that is the current one; a thread that writes files may see this twice.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "it ends by itself")]
async fn a_part_that_is_being_left_is_written_to_its_end_and_no_further() {
    let folder = tempfile::tempdir().unwrap();
    let scripts = repository().join("crates/recording/src/debuggee/node");
    let text = "const { flush } = require(`${process.argv[2]}/record_flusher.cjs`);\n\
                const control = new Int32Array(new SharedArrayBuffer(41 * 4));\n\
                const shared = new SharedArrayBuffer(32 * 4 << 16);\n\
                const data = { prefix: process.argv[3], shared, control };\n\
                const [POSITION, CURRENT, SIZES] = [0, 1, 9];\n\
                control[SIZES] = 10;\ncontrol[POSITION] = 1 << 16;\n\
                flush(data, false, flush(data, false));\n\
                control[CURRENT] = 1;\nflush(data, false);\n";
    let program = Fixture::write(folder.path(), "race.cjs", text);
    let prefix = folder.path().join("segment");
    let mut node = tokio::process::Command::new("node");
    let status = node.arg(program.path()).args([&scripts, &prefix]).status().await.unwrap();
    assert!(status.success());
    assert_eq!(std::fs::metadata(folder.path().join("segment-0")).unwrap().len(), 10 * 4);
    assert!(!folder.path().join("segment-1").exists());
}

#[tokio::test]
async fn the_programs_own_code_is_not_run_by_the_recorder() {
    let text = "const said = (word) => { console.log(word); return 1; };\n\
                class Loud {\n  constructor() { this.value = 1; }\n  get loud() { return said('getter'); }\n  \
                toString() { return said('toString'); }\n  toJSON() { return said('toJSON'); }\n  \
                [Symbol.toPrimitive]() { return said('toPrimitive'); }\n  get [Symbol.toStringTag]() { return \
                said('tag'); }\n}\n\
                class Odd extends Map {\n  get size() { return said('size'); }\n  entries() { return said('entries'); \
                }\n  [Symbol.iterator]() { return said('iterator'); }\n}\n\
                const trap = new Proxy({}, { get: () => said('get'), ownKeys: () => { said('ownKeys'); return []; }, \
                getPrototypeOf: () => { said('prototype'); return null; }, has: () => said('has') });\n\
                function use(one, odd, trap) {\n  const both = [one, new Loud(), trap];\n  \
                Object.defineProperty(both, 5, { configurable: true, get: () => said('item'), set() {} });\n  odd.set('a', one);\n  one.value = 2;\n  \
                both.shift();\n  return both.length; // @used\n}\n\
                use(new Loud(), new Odd(), trap);\nconsole.log('done');\n";
    let (_folder, program) = written("main.js", text);
    let (client, said) = Client::recorded("node", &program).await;
    // `shift()` itself reads the items.
    assert!(said.ends_with("output:\nitem\ndone\n") || said.ends_with("output:\ndone\n"), "{said}");
    let state = client.ask("state_at", json!({ "at": at(&program, "used") })).await;
    has(
        &state,
        &["one = Loud {value: 2}", "odd = Odd {'a' => Loud {value: 2}}", "both = [Loud {value: 1}, "],
    );
    client.server.finish().await;
}

#[tokio::test]
async fn what_is_thrown_by_the_language_is_found_where_it_began() {
    let text = "function name(user) {\n  return user.name.trim(); // @thrown\n}\nfunction all(users) {\n  return \
                users.map((user) => name(user));\n}\ntry {\n  all([{ name: 'a' }, {}]);\n} catch (error) {\n  \
                console.log(error instanceof TypeError);\n}\n";
    let (_folder, program) = written("main.cjs", text);
    let (client, said) = Client::recorded("node", &program).await;
    has(&said, &["exited with code 0", "true\n"]);
    let state = client.ask("state_at", json!({ "at": "exception" })).await;
    has(&state, &["TypeError: Cannot read properties of undefined", &at(&program, "thrown"), "user = {}"]);
    client.server.finish().await;
}

/// The stack may be full in a function of the recorder as well.
#[tokio::test]
async fn a_recursion_without_end_shows_only_the_program() {
    let text = "function over(node) {\n  return over({ parent: node }) + 1; // @over\n}\ntry {\n  over(null);\n} catch \
                (error) {\n  console.log(error.message, error.stack.includes('record_'));\n}\nover(null);\n";
    let (_folder, program) = written("main.js", text);
    let (client, said) = Client::recorded("node", &program).await;
    has(
        &said,
        &["exited with code 1", "stack size exceeded false", "RangeError: Maximum call stack", "at over ("],
    );
    assert!(!said.contains("record_"), "{said}");
    let state = client.ask("state_at", json!({ "at": "exception" })).await;
    has(&state, &["RangeError: Maximum call stack size exceeded at ", " in over: `return over("]);
    client.server.finish().await;
}

#[tokio::test]
async fn tests_are_recorded_in_the_processes_that_run_them() {
    let folder = tempfile::tempdir().unwrap();
    let text = "const test = require('node:test');\nconst assert = require('node:assert');\nfunction half(n) {\n  \
                return n / 2; // @half\n}\ntest('halves', () => {\n  assert.strictEqual(half(3), 1);\n});\n";
    let program = Fixture::write(folder.path(), "half.test.js", text);
    let client = Client::new("node").await;
    let arguments = json!({ "command": "node", "args": ["--test", program.path()], "cwd": folder.path() });
    let said = client.ask("record_run", arguments).await;
    has(&said, &["exited with code 1"]);
    let state = client.ask("state_at", json!({ "at": at(&program, "half") })).await;
    has(&state, &["called from ", "n = 3"]);
    client.server.finish().await;
}

#[tokio::test]
async fn worker_threads_and_child_processes_are_recorded() {
    let text = "const { Worker, isMainThread, workerData } = require('worker_threads');\n\
                const { fork } = require('child_process');\n\
                function outer(n) {\n  let twice = 0;\n  const work = () => {\n    twice = n * 2; // @twice\n    \
                return twice;\n  };\n  return work;\n}\n\
                const [, , word] = process.argv;\n\
                if (word) outer(9)();\n\
                else if (!isMainThread) outer(workerData)();\n\
                else {\n  outer(1)();\n  new Worker(__filename, { workerData: 5 }).on('exit', () => fork(__filename, \
                ['child']));\n}\n";
    let (_folder, program) = written("main.js", text);
    let (client, said) = Client::recorded("node", &program).await;
    has(&said, &["exited with code 0"]);
    for (value, caller) in
        [("2", "main.js:15 in <module>"), ("10", "main.js:13 in <module>"), ("18", "main.js:12 in <module>")]
    {
        let first = client.ask("find_first", json!({ "condition": format!("twice === {value}") })).await;
        has(&first, &[&at(&program, "twice"), "called from ", caller, &format!("twice: 0 → {value}")]);
    }
    client.server.finish().await;
}

/// A compiler of the program's own is asked where its output comes from.
#[tokio::test]
async fn lines_of_typescript_are_those_of_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let modules = toolchains().await;
    std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).unwrap();
    let text = "interface Person {\n  name: string;\n}\n\nconst greet = (person: Person): string => {\n  const text: \
                string = `hi ${person.name}`;\n  return text; // @greeted\n};\n\nconsole.log(greet({ name: 'bo' }));\n";
    let program = Fixture::write(folder.path(), "main.ts", text);
    let (client, said) = Client::recorded("node", &program).await;
    has(&said, &["exited with code 0", "output:\nhi bo\n"]);
    let state = client.ask("state_at", json!({ "at": at(&program, "greeted") })).await;
    has(&state, &["in greet: `return text;", "called from main.ts:10 in ", "text = 'hi bo'"]);
    client.server.finish().await;
}

#[tokio::test]
async fn programs_do_the_same_when_they_are_recorded() {
    let program = Fixture::node("recording_syntax");
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str| folder.path().join(name);
    let client = Client::new("node").await;
    let (plain, recorded) = (written("plain"), written("recorded"));
    let path = program.path();
    let command =
        format!("STILLFRAME_RECORD= node {path} > {}; node {path} > {}", plain.display(), recorded.display());
    let said = client.ask("record_run", json!({ "command": "sh", "args": ["-c", command] })).await;
    has(&said, &["exited with code 0; "]);
    let (plain, recorded) = (std::fs::read(plain).unwrap(), std::fs::read(recorded).unwrap());
    assert_eq!(String::from_utf8_lossy(&recorded), String::from_utf8_lossy(&plain));
    assert!(plain.ends_with(b"timeout\n"));
    client.server.finish().await;
}

#[tokio::test]
async fn a_program_does_not_see_the_recorders_option_and_files() {
    let text = "const { Worker, isMainThread } = require('worker_threads');\n\
                console.log(process.execArgv, Object.keys(require.cache).length);\n\
                if (isMainThread) new Worker(__filename, { execArgv: process.execArgv });\n";
    let (_folder, program) = written("main.js", text);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "output:\n[] 1\n[] 1\n"]);
    client.server.finish().await;
}

#[tokio::test]
async fn timers_run_in_their_order() {
    let text = "setTimeout(() => console.log('one'), 1);\nsetTimeout(() => console.log('five'), 5);\n\
                const until = Date.now() + 30;\nwhile (Date.now() < until);\n";
    let (_folder, program) = written("main.js", text);
    let client = Client::new("node").await;
    for _ in 0..3 {
        has(&client.record(&program, &[]).await, &["output:\none\nfive\n"]);
    }
    client.server.finish().await;
}

/// Some of them compile modules themselves, and some in a process that they soon kill.
#[tokio::test]
async fn test_runners_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    std::fs::write(folder.path().join("package.json"), "{}").unwrap();
    let text = "exports.half = (n) => {\n  const result = n / 2;\n  return result; // @halved\n};\n";
    let program = Fixture::write(folder.path(), "half.js", text);
    let text = "const { half } = require('./half.js');\nconst assert = require('assert');\ndescribe('half', () => {\n  \
                it('halves', () => assert.strictEqual(half(3), 1));\n});\n";
    std::fs::write(folder.path().join("half.spec.js"), text).unwrap();
    let client = Client::new("npx").await;
    for words in
        [["mocha", "half.spec.js"].as_slice(), &["jest", "half.spec.js"], &["vitest", "run", "--globals"]]
    {
        let arguments = json!({ "command": "npx", "args": words, "cwd": folder.path() });
        let said = client.ask("record_run", arguments).await;
        has(&said, &["exited with code 1"]);
        let state = client.ask("state_at", json!({ "at": at(&program, "halved") })).await;
        has(&state, &["called from half.spec.js:4 in ", "n = 3", "result = 1.5"]);
    }
    client.server.finish().await;
}

/// Up to Node.js 22.14, loaders that a program registers run in a thread of their own.
#[tokio::test]
async fn modules_that_pass_through_loaders_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    let write = |name: &str, text: &str| Fixture::write(folder.path(), name, text);
    write("package.json", "{ \"type\": \"module\" }");
    write("loader.mjs", "export const load = (url, context, next) => next(url, context);\n");
    write("register.mjs", "import { register } from 'module';\nregister('./loader.mjs', import.meta.url);\n");
    let main = "import { half } from './half.js';\nfor (const n of [4, 3]) {\n  console.log(half(n));\n}\n";
    write("main.ts", main);
    write("main.mjs", &main.replace(".js", ".mjs"));
    let half = "export function half(n: number): number {\n  const result: number = n / 2;\n  return result; // @halved\n}\n";
    let typed = write("half.ts", half);
    let plain = write("half.mjs", &half.replace(": number", ""));
    let client = Client::new("node").await;
    for (words, half) in [
        (["--import", "tsx", "main.ts"], &typed),
        (["--import", "./register.mjs", "main.mjs"], &plain),
        (["--experimental-loader", "./loader.mjs", "main.mjs"], &plain),
    ] {
        let arguments = json!({ "command": "node", "args": words, "cwd": folder.path() });
        let said = client.ask("record_run", arguments).await;
        has(&said, &["exited with code 0", "2\n1.5\n"]);
        let state = client.ask("state_at", json!({ "at": format!("{}#2", at(half, "halved")) })).await;
        has(&state, &["called from main.", ":3 in <module>", "n = 3", "result = 1.5"]);
    }
    client.server.finish().await;
}

/// Node reads a file that is imported where its package does not say what it is.
#[tokio::test]
async fn an_imported_file_is_of_the_kind_that_node_takes_it_for() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| Fixture::write(folder.path(), name, text);
    write("package.json", "{}");
    let half = "function half(n) {\n  const result = n / 2;\n  return result; // @halved\n}\n";
    let common = write("common.js", &format!("{half}require('fs');\nmodule.exports = {{ half }};\n"));
    let module = write("module.js", &format!("export {half}"));
    let program = write(
        "main.js",
        "const main = async () => {\n  for (const name of ['common', 'module']) {\n    \
         const { half } = await import(`./${name}.js`);\n    console.log(name, half(3));\n  }\n};\nmain();\n",
    );
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "common 1.5\n", "module 1.5\n"]);
    for file in [&common, &module] {
        let state = client.ask("state_at", json!({ "at": at(file, "halved") })).await;
        has(&state, &["called from main.js:4 in main", "n = 3", "result = 1.5"]);
    }
    client.server.finish().await;
}

#[tokio::test]
async fn assignments_without_effect_write_nothing() {
    let text = "const frozen = Object.freeze({ a: 1 });\nconst list = Object.freeze([1, 2]);\nconst fixed = \
                Object.defineProperty({ b: 1 }, 'c', { value: 3, enumerable: true });\nfrozen.a = 2;\nlist[0] = 5;\n\
                fixed.c = 4;\nfixed.b = 2;\nlet size = 0;\nfor (const { now } of [{ now: 3 }, { now: 3 }]) {\n  size = now; // \
                @sized\n}\nconsole.log('done'); // @done\n";
    let (_folder, program) = written("main.js", text);
    let (client, _) = Client::recorded("node", &program).await;
    let state = client.ask("state_at", json!({ "at": at(&program, "done") })).await;
    has(&state, &["frozen = {a: 1}", "list = [1, 2]", "fixed = {b: 2, c: 3}"]);
    let writes = client.ask("find_writes", json!({ "target": "size" })).await;
    let sized = format!("size: 0 → 3 by {}", at(&program, "sized"));
    has(&writes, &["`size` is 3 ", &sized, "this line ran once more", "size = 0 by "]);
    assert!(!writes.contains("3 → 3"), "{writes}");
    client.server.finish().await;
}

// A cart of Immer, whose drafts have what they copy, a counter of Vue, and a shop of MobX, whose properties are accessors.
// No trap runs for the recording.
const PROXIES: &str = "\
const { produce } = require('immer');
const { makeAutoObservable } = require('mobx');
const { computed, reactive, ref } = require('@vue/reactivity');

function add(cart, sku, count) {
  const found = cart.lines.find((line) => line.sku === sku);
  if (found) found.count = count; // @forgot
  else cart.lines.push({ sku, count }); // @pushes
  cart.total += count;
  return cart.total; // @added
}

let cart = { lines: [], total: 0 };
for (const [sku, count] of [['a', 1], ['b', 2], ['a', 3]]) cart = produce(cart, (draft) => { add(draft, sku, count); });

class Shop {
  prices = [1];
  total = 1;

  constructor() {
    makeAutoObservable(this);
  }

  get mean() {
    return this.total / this.prices.length;
  }

  add(price) {
    this.prices.push(price); // @priced
    this.total += price; // @observed
  }
}

const shop = new Shop();
shop.add(5);
const counter = reactive({ count: 0, seen: [] });
let asked = 0;
const watched = new Proxy({ size: 0 }, { get: (target, name) => { asked += 1; return target[name]; } });
counter.count += 1;
counter.seen.push('x'); // @seen
watched.size = 4; // @sized
const size = ref(1);
const double = computed(() => size.value * 2);
size.value += 3; // @held
console.log(cart.total, counter.count, asked); // @printed
";

#[tokio::test]
async fn proxies_are_read_as_what_is_behind_them() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    let program = Fixture::write(folder.path(), "cart.js", PROXIES);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["6 1 0"]);
    let state = client.ask("state_at", json!({ "at": at(&program, "printed") })).await;
    has(
        &state,
        &[
            "shop = Shop {prices: [1, 5], total: 6}",
            "counter = {count: 1, seen: ['x']}",
            "watched = {size: 4}",
            "size = RefImpl {value: 4}",
        ],
    );
    let state = client.ask("state_at", json!({ "at": format!("{}#3", at(&program, "added")) })).await;
    has(
        &state,
        &[
            "cart = {lines: [{sku: 'a', count: 3}, {sku: 'b', count: 2}], total: 6}",
            "found = {sku: 'a', count: 3}",
        ],
    );
    let first = client.ask("find_first", json!({ "condition": "cart.lines.length > 1" })).await;
    has(&first, &["first holds after ", &at(&program, "pushes")]);
    let first = client.ask("find_first", json!({ "condition": "found.count === 3" })).await;
    has(&first, &["first holds after ", &at(&program, "forgot"), ".count: 1 → 3"]);
    let first = client.ask("find_first", json!({ "condition": "counter.seen.length > 0" })).await;
    has(&first, &[&at(&program, "seen")]);
    for (condition, name) in [("shop.prices.length > 1", "priced"), ("this.total > 5", "observed")] {
        let first = client.ask("find_first", json!({ "condition": condition })).await;
        has(&first, &["first holds after ", &at(&program, name)]);
    }
    let first = client.ask("find_first", json!({ "condition": "size.value > 2" })).await;
    has(&first, &["first holds after ", &at(&program, "held")]);
    let first = client.ask("find_first", json!({ "condition": "double.value > 2" })).await;
    has(&first, &["never holds", "Only the text is recorded for `ComputedRefImpl`"]);
    let writes = client.ask("find_writes", json!({ "target": "cart.total" })).await;
    has(&writes, &["`cart.total` is 6 ", ".total: 3 → 6 by ", "in add: `cart.total += count;"]);
    let writes = client.ask("find_writes", json!({ "target": "watched.size" })).await;
    has(&writes, &[".size: 0 → 4 by ", &at(&program, "sized")]);
    client.server.finish().await;
}

#[tokio::test]
async fn a_program_that_replaces_methods_of_arrays_is_recorded() {
    let text = "const push = Array.prototype.push;\nlet pushes = 0;\nArray.prototype.push = function (...items) {\n  \
                pushes += 1;\n  return push.apply(this, items);\n};\nconst list = [];\nlist.push({ name: 'a' });\n\
                const behind = new Proxy({ size: 1 }, {});\nconsole.log(list.length, pushes, behind.size); // @done\n";
    let (_folder, program) = written("main.js", text);
    let client = Client::new("node").await;
    has(&client.record(&program, &[]).await, &["exited with code 0", "1 1 1"]);
    let state = client.ask("state_at", json!({ "at": at(&program, "done") })).await;
    has(&state, &["pushes = 1", "list = [{name: 'a'}]"]);
    client.server.finish().await;
}
