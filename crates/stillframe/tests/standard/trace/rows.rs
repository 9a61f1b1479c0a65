//! What rows hold.

use serde_json::json;
use test_support::{Dynamic, DynamicLanguage, Fixture, Language, PerLanguage, Texts, dynamic, each};

use super::{at, column, of_rows, open_sessions, trace, trace_in, values};
use crate::STILLFRAME;
use crate::debugging::{written, written_in};

each![
    each_hit_is_a_row,
    several_locations_with_several_expressions_are_distinguished,
    a_location_is_found_by_the_text_of_its_line,
    an_expression_that_throws_gives_an_error_and_the_others_stay,
    a_condition_selects_hits,
    a_condition_that_throws_is_reported_and_gives_no_row,
    a_value_is_captured_at_the_hit,
    a_line_without_code_is_reported_with_where_it_moved,
    recursion_has_a_row_per_hit,
];

dynamic![
    // Of a text of C, LLDB shows no more than the first 1024 characters, and not how long it is.
    a_long_value_is_truncated_and_marked,
    // lldb-dap debugs one process.
    several_processes_are_named,
];

async fn each_hit_is_a_row(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let traced = trace(&server, language, json!({ "points": [at(&program, "deposit", &["amount"])] })).await;
    assert_eq!(column(&traced), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(traced.at("/rows/0/values/0/type"), language.words().number);
    assert_eq!(of_rows(&traced, "hit"), [1, 2, 3, 4, 5, 6]);
    let times: Vec<f64> = of_rows(&traced, "time").iter().map(|time| time.as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] >= 0.0, "{times:?}");
    // What there is only one of is not repeated in each row.
    for field in ["point", "thread", "pid"] {
        assert_eq!(of_rows(&traced, field), vec![json!(null); 6], "{field}");
    }
    assert_eq!(traced["totals"], json!({ "hits": 6, "rows": 6, "shown": 6 }));
    assert_eq!(
        (&traced["endedBy"], &traced["state"], &traced["exitCode"]),
        (&json!("program"), &json!("ended"), &json!(0))
    );
    assert_eq!(traced["message"], "Recorded 6 rows of 6 hits. The program exited with code 0");
    assert_eq!(traced["output"], "odd even\n6\n");
    let point = &traced["points"][0];
    assert_eq!((&point["file"], &point["line"]), (&json!(program.path()), &json!(program.line("deposit"))));
    assert_eq!((&point["hits"], &point["rows"], &point["notes"]), (&json!(6), &json!(6), &json!(null)));
    let text = format!("balance += {}", language.variable("amount"));
    assert!(point["text"].as_str().unwrap().contains(&text), "{point}");
    assert_eq!((&traced["closed"], open_sessions(&server).await), (&json!(true), json!(0)));
    server.finish().await;
}

async fn several_locations_with_several_expressions_are_distinguished(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let balance = language.own("balance");
    let points = [
        at(&program, "deposit", &["amount", &balance]),
        at(&program, "deposit_return", &[&balance]),
        at(&program, "kind_return", &["number", "name"]),
    ];
    let traced = trace(&server, language, json!({ "points": points, "maxHits": 100 })).await;
    assert_eq!(of_rows(&traced, "point"), [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 3, 3]);
    let rows = values(&traced);
    assert_eq!(rows[..3], [vec!["1", "0"], vec!["1"], vec!["2", "1"]]);
    for (row, (number, name)) in rows[12..].iter().zip([("3", "odd"), ("4", "even")]) {
        assert_eq!((row[0].as_str(), language.plain(&row[1])), (number, language.text(name).as_str()));
    }
    let hits: Vec<_> = (0..3).map(|at| traced["points"][at]["hits"].clone()).collect();
    assert_eq!(hits, [6, 6, 2]);
    assert_eq!(traced["points"][2]["expressions"], json!(["number", "name"]));
    server.finish().await;
}

async fn a_location_is_found_by_the_text_of_its_line(language: Language) {
    let server = STILLFRAME.serve().await;
    let statement = PerLanguage {
        name: "rows: even",
        python: "name = \"even\"",
        node: "name = 'even'",
        c: "name = \"even\"",
    };
    let point = json!({ "statement": statement.of(language), "expressions": ["number"] });
    let traced = trace(&server, language, json!({ "points": [point] })).await;
    assert_eq!(column(&traced), ["4"]);
    server.finish().await;
}

async fn an_expression_that_throws_gives_an_error_and_the_others_stay(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let (throws, error) = PerLanguage {
        name: "rows: throws",
        python: ("1 // (amount - 2)", "!ZeroDivisionError: integer division or modulo by zero"),
        node: ("1n / BigInt(amount - 2)", "!RangeError: Division by zero"),
        c: (
            "amount == 2 ? *(int *)8 : 1",
            "!supposed to interpret, but failed: Interpreter couldn't read from memory",
        ),
    }
    .of(language);
    let traced = trace(
        &server,
        language,
        json!({ "points": [at(&program, "deposit", &["amount", throws, "amuont"])], "maxHits": 2 }),
    )
    .await;
    let unknown = format!("!{}", language.undefined("amuont"));
    let rows = values(&traced);
    assert_eq!((rows[0][0].as_str(), rows[0][2].as_str()), ("1", unknown.as_str()));
    assert_eq!(rows[1], ["2", error, &unknown]);
    server.finish().await;
}

async fn a_condition_selects_hits(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let mut point = at(&program, "deposit", &["amount"]);
    point["condition"] = json!("amount > 4");
    let traced = trace(&server, language, json!({ "points": [point] })).await;
    assert_eq!(
        (column(&traced), of_rows(&traced, "hit")),
        (vec!["5".to_owned(), "6".to_owned()], vec![json!(1), json!(2)])
    );
    assert_eq!(
        (&traced["points"][0]["condition"], &traced["points"][0]["hits"]),
        (&json!("amount > 4"), &json!(2))
    );
    server.finish().await;
}

async fn a_condition_that_throws_is_reported_and_gives_no_row(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let mut point = at(&program, "deposit", &["amount"]);
    point["condition"] = json!("amuont > 4");
    let traced = trace(&server, language, json!({ "points": [point] })).await;
    let error = language.undefined("amuont");
    assert_eq!(traced["points"][0]["failure"], format!("6 times; last error: {error}"));
    assert_eq!(traced["totals"], json!({ "hits": 0, "rows": 0, "shown": 0 }));
    server.finish().await;
}

/// Fills one list, and empties it at the end.
const FILLS: Texts = Texts {
    name: "trace_fills",
    python: "items = []\nfor i in range(3):\n    items.append(i)\n    items = items  # @here\nitems.clear()\n",
    node: "const items = [];\nfor (let i = 0; i < 3; i++) {\n  items.push(i);\n  items.length; // @here\n}\nitems.length = 0;\n",
    c: "\
int main(void) {
    char items[4] = \"\";
    for (volatile int i = 0; i < 3; i++) {
        items[i] = '0' + i;
        i += 0; // @here
    }
    items[0] = 0;
}
",
};

async fn a_value_is_captured_at_the_hit(language: Language) {
    let (_folder, program) = written_in(language, "fills", FILLS);
    let server = STILLFRAME.serve().await;
    let traced = trace_in(&server, &program, json!({ "points": [at(&program, "here", &["items"])] })).await;
    let expected = [&["0"][..], &["0", "1"], &["0", "1", "2"]].map(|items| match language {
        // The items of an array are shown only where they are characters.
        Language::C => language.text(&items.concat()),
        _ => language.shown_list(items),
    });
    assert_eq!(column(&traced), expected);
    server.finish().await;
}

async fn a_line_without_code_is_reported_with_where_it_moved(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let traced = trace(&server, language, json!({ "points": [at(&program, "comment", &["amount"])] })).await;
    let (asked, line) = (program.line("comment"), program.line("deposit"));
    let point = &traced["points"][0];
    assert_eq!((&point["requestedLine"], &point["line"]), (&json!(asked), &json!(line)));
    assert_eq!(
        point["notes"],
        json!([format!("line {asked} has no code to stop at; recording on line {line}")])
    );
    assert_eq!(column(&traced).len(), 6);
    server.finish().await;
}

const RECURSES: Texts = Texts {
    name: "trace_recurses",
    python: "def down(n):\n    if n:  # @here\n        down(n - 1)\n    return n  # @back\n\ndown(3)\n",
    node: "function down(n) {\n  if (n) // @here\n    down(n - 1);\n  return n; // @back\n}\n\ndown(3);\n",
    c: "\
static int down(int n) {
    if (n) // @here
        down(n - 1);
    return n; // @back
}
int main(void) {
    return down(3) - 3;
}
",
};

async fn recursion_has_a_row_per_hit(language: Language) {
    let (_folder, program) = written_in(language, "recurses", RECURSES);
    let server = STILLFRAME.serve().await;
    let points = [at(&program, "here", &["n"]), at(&program, "back", &["n"])];
    let traced = trace_in(&server, &program, json!({ "points": points })).await;
    assert_eq!(column(&traced), ["3", "2", "1", "0", "0", "1", "2", "3"]);
    assert_eq!(of_rows(&traced, "point"), [1, 1, 1, 1, 2, 2, 2, 2]);
    server.finish().await;
}

async fn a_long_value_is_truncated_and_marked(language: DynamicLanguage) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let long = language.pick("'x' * 10000", "'x'.repeat(10000)");
    let points = [at(&program, "main_first", &[long, "1"])];
    let traced = trace(&server, language, json!({ "points": points, "limits": { "value": 50 } })).await;
    let cells = &traced["rows"][0]["values"];
    assert_eq!((&cells[0]["truncated"], &cells[1]["truncated"]), (&json!(true), &json!(null)));
    let length = cells[0]["value"].as_str().unwrap().chars().count();
    assert!((40..=60).contains(&length), "{cells}");
    // All of it can be had, too, although the line in the pipe is longer than what is written at once.
    let traced = trace(&server, language, json!({ "points": points, "limits": { "value": 20_000 } })).await;
    assert_eq!(column(&traced)[0].len(), 10_002);
    server.finish().await;
}

/// Starts itself again as another process; both come to the place.
const FORKS: Dynamic = Dynamic {
    python: "\
import subprocess, sys
who = sys.argv[1] if len(sys.argv) > 1 else 'parent'
print(who)  # @here
if who == 'parent':
    subprocess.run([sys.executable, __file__, 'child'], check=True)
",
    node: "\
const { spawnSync } = require('node:child_process');
const who = process.argv[2] ?? 'parent';
console.log(who); // @here
if (who === 'parent') spawnSync(process.execPath, [__filename, 'child'], { stdio: 'inherit' });
",
};

async fn several_processes_are_named(language: DynamicLanguage) {
    let (_folder, program) = written_in(language, "forks", FORKS);
    let server = STILLFRAME.serve().await;
    let traced = trace_in(&server, &program, json!({ "points": [at(&program, "here", &["who"])] })).await;
    assert_eq!(column(&traced), ["'parent'", "'child'"]);
    let pids = of_rows(&traced, "pid");
    assert!(pids.iter().all(serde_json::Value::is_u64) && pids[0] != pids[1], "{}", traced.text);
    assert_eq!((of_rows(&traced, "hit"), &traced["totals"]["hits"]), (vec![json!(1), json!(1)], &json!(2)));
    server.finish().await;
}

const PYTHON_THREADS: &str = "\
import asyncio, threading

def work(n):
    n += 1  # @here

for name in 'one', 'two':
    thread = threading.Thread(target=work, args=(1,), name=name)
    thread.start()
    thread.join()

async def task(n):
    await asyncio.sleep(0)
    n += 1  # @task

async def both():
    await asyncio.gather(task(10), task(20))

asyncio.run(both())
";

#[tokio::test]
async fn python_threads_are_named_and_tasks_have_rows() {
    let (_folder, program) = written("threads.py", PYTHON_THREADS);
    let server = STILLFRAME.serve().await;
    let points = [at(&program, "here", &["n"]), at(&program, "task", &["n"])];
    let traced = trace_in(&server, &program, json!({ "points": points })).await;
    assert_eq!(of_rows(&traced, "thread"), ["one", "two", "MainThread", "MainThread"]);
    assert_eq!(column(&traced), ["1", "1", "10", "20"]);
    // The threads of a process count together.
    assert_eq!(of_rows(&traced, "hit"), [1, 2, 1, 2]);
    server.finish().await;
}

const NODE_THREADS: &str = "\
const { Worker, isMainThread, workerData } = require('node:worker_threads');
const who = isMainThread ? 'main' : workerData;
console.log(who); // @here
if (isMainThread) new Worker(__filename, { workerData: 'worker' });
setTimeout(async () => {
  await null;
  console.log('later', who); // @later
}, 1);
";

#[tokio::test]
async fn node_threads_are_named_and_callbacks_have_rows() {
    let (_folder, program) = written("threads.js", NODE_THREADS);
    let server = STILLFRAME.serve().await;
    let points = [at(&program, "here", &["who"]), at(&program, "later", &["who"])];
    let traced = trace_in(&server, &program, json!({ "points": points })).await;
    let mut rows: Vec<(String, String)> = of_rows(&traced, "thread")
        .iter()
        .map(|thread| thread.as_str().unwrap().to_owned())
        .zip(column(&traced))
        .collect();
    rows.sort();
    assert_eq!(
        rows.iter().map(|(_, who)| who.as_str()).collect::<Vec<_>>(),
        ["'main'", "'main'", "'worker'", "'worker'"]
    );
    assert!(rows[0].0 == "main" && rows[1].0 == "main" && rows[2].0 == rows[3].0, "{rows:?}");
    // Each thread counts on its own.
    assert_eq!(of_rows(&traced, "hit"), [1, 1, 1, 1]);
    server.finish().await;
}
