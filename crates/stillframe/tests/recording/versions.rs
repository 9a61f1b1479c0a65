//! Two versions of a program, before and after a commit, whose runs are compared.

use serde_json::json;
use test_support::{Fixture, toolchains};

use crate::recorder::{Client, at, has};

/// A program of which the tests have other versions.
const PYTHON: &str = "\
def rate(amount):
    if amount > 100:  # @decides
        return 0.2  # @rate
    return 0.1


def total(prices):
    total = 0
    for price in prices:
        total += price  # @added
    return total  # @summed


def main():
    prices = [30, 40, 50]
    amount = total(prices)
    discount = amount * rate(amount)  # @discounted
    print(amount - discount)  # @printed


here = __file__
main()
";

const NODE: &str = "\
function rate(amount) {
  if (amount > 100) { // @decides
    return 0.2; // @rate
  }
  return 0.1;
}

function total(prices) {
  let total = 0;
  for (const price of prices) {
    total += price; // @added
  }
  return total; // @summed
}

function main() {
  const prices = [30, 40, 50];
  const amount = total(prices);
  const discount = amount * rate(amount); // @discounted
  console.log(amount - discount); // @printed
}

require('../both.js');
module.exports = main;
main();
";

/// A change of a program.
#[derive(Clone, Copy)]
enum Edit<'a> {
    /// Lines above all others.
    Above(&'a str),
    /// Lines above the one with this text, with its indentation.
    Before(&'a str, &'a str),
    /// A text in place of another one, wherever that is.
    Replace(&'a str, &'a str),
}

fn edited(text: &str, edits: &[Edit<'_>]) -> String {
    edits.iter().fold(text.to_owned(), |text, edit| match *edit {
        Edit::Above(lines) => format!("{lines}{text}"),
        Edit::Before(anchor, line) => {
            assert!(text.contains(anchor), "{anchor}");
            let lines = text.lines().map(|known| {
                let indent = &known[..known.len() - known.trim_start().len()];
                let added = if known.contains(anchor) { format!("{indent}{line}\n") } else { String::new() };
                format!("{added}{known}\n")
            });
            lines.collect()
        }
        Edit::Replace(old, new) => {
            assert!(text.contains(old), "{old}");
            text.replace(old, new)
        }
    })
}

/// What the comparison of a program with another version of it says, and that version.
async fn compared(name: &str, text: &str, edits: &[Edit<'_>]) -> (String, Fixture, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let client = Client::new(if name == "main.py" { "python3" } else { "node" }).await;
    Fixture::write(folder.path(), "both.js", "module.exports = 1;\n");
    for (version, text) in [("before", text.to_owned()), ("after", edited(text, edits))] {
        let path = folder.path().join(version);
        std::fs::create_dir(&path).unwrap();
        client.record(&Fixture::write(&path, name, &text), &[]).await;
    }
    let said = client.ask("compare_runs", json!({ "first": "rec-1", "second": "rec-2" })).await;
    client.server.finish().await;
    let after = Fixture::read(folder.path().join("after").join(name));
    (said, after, folder)
}

/// Both languages, with what is spelled differently.
const PROGRAMS: [(&str, &str); 2] = [("main.py", PYTHON), ("main.js", NODE)];

#[tokio::test]
async fn lines_that_moved_are_the_same() {
    for ((name, text), above) in PROGRAMS.into_iter().zip([
        "import os\n\nVERSION = os.sep\n\n\n",
        "const path = require('node:path');\n\nconst version = path.sep;\n\n",
    ]) {
        let (said, ..) = compared(name, text, &[Edit::Above(above)]).await;
        has(
            &said,
            &[
                &format!("the sources differ in {name}: 2 lines only in the second run\n"),
                "no recorded value differs\n",
                "both runs take the same steps",
            ],
        );
    }
}

#[tokio::test]
async fn a_line_that_was_inserted_in_a_function_is_left_out_and_so_is_what_it_calls() {
    let edits = [
        ("def log(value):\n    text = str(value)\n    print(text)\n\n\n", "log(total)"),
        ("function log(value) {\n  const text = String(value);\n  console.log(text);\n}\n\n", "log(total);"),
    ];
    for ((name, text), (above, call)) in PROGRAMS.into_iter().zip(edits) {
        let edits = [Edit::Above(above), Edit::Before("@summed", call)];
        let (said, ..) = compared(name, text, &edits).await;
        has(
            &said,
            &["only in the second run", "no recorded value differs\n", "both runs take the same steps"],
        );
    }
}

#[tokio::test]
async fn a_constant_that_was_changed_is_the_first_different_value() {
    for (name, text) in PROGRAMS {
        let (said, after, _folder) = compared(name, text, &[Edit::Replace("0.2", "0.3")]).await;
        let place = at(&after, "rate");
        has(
            &said,
            &[
                &format!("{name}: 1 line edited"),
                "first different value:",
                &format!("return of 0.2 from {place} in rate"),
                " in main",
                "amount = 120",
                &format!("return of 0.3 from {place} in rate"),
                "both runs take the same steps",
            ],
        );
    }
}

#[tokio::test]
async fn a_variable_that_was_renamed_has_the_same_values() {
    for (name, text) in PROGRAMS {
        let renamed = [
            Edit::Replace("total = 0", "summed = 0"),
            Edit::Replace("total +=", "summed +="),
            Edit::Replace("return total", "return summed"),
        ];
        let (said, ..) = compared(name, text, &renamed).await;
        has(&said, &["3 lines edited", "no recorded value differs\n", "both runs take the same steps"]);
        let wrong = [Edit::Replace("total = 0", "summed = 1"), renamed[1], renamed[2]];
        let (said, ..) = compared(name, text, &wrong).await;
        has(&said, &["first different value:", "total = 0 by ", "summed = 1 by "]);
    }
}

#[tokio::test]
async fn a_condition_that_was_edited_is_where_the_steps_differ() {
    for (name, text) in PROGRAMS {
        let (said, after, _folder) = compared(name, text, &[Edit::Replace("> 100", "> 200")]).await;
        let decides = at(&after, "decides");
        has(
            &said,
            &[
                "1 line edited",
                "no recorded value differs before the runs diverge",
                "first different step:",
                &format!("after the edited line: {decides} in rate: "),
                "> 100",
                &format!("in the second: {decides} in rate: "),
                "> 200",
                "first run: ",
                &at(&after, "rate"),
                "amount = 120",
                "second run:",
                "return 0.1",
                "amount = 120",
            ],
        );
    }
}

#[tokio::test]
async fn what_an_inserted_line_changes_or_skips_is_found() {
    let inserted = [
        ("total = total * 2", "if total > 100: return 100"),
        ("total = total * 2;", "if (total > 100) return 100;"),
    ];
    for ((name, text), (doubled, capped)) in PROGRAMS.into_iter().zip(inserted) {
        let (said, ..) = compared(name, text, &[Edit::Before("@summed", doubled)]).await;
        has(&said, &["first different value:", "total: 70 → 120 by ", "total: 120 → 240 by ", "total * 2"]);

        let (said, ..) = compared(name, text, &[Edit::Before("@summed", capped)]).await;
        has(
            &said,
            &[
                "first different step:",
                "first run: ",
                "return total",
                "second run:",
                "last line that only this run has: ",
                "total > 100",
                "return of 100",
            ],
        );
    }
}

#[tokio::test]
async fn a_call_in_a_line_that_was_edited_is_left_out_but_its_result_is_compared() {
    let edits = [
        ("def cap(value):\n    return min(value, 100)\n\n\n", "total += price", "total += cap(price)"),
        (
            "function cap(value) {\n  return Math.min(value, 100);\n}\n\n",
            "total += price",
            "total += cap(price)",
        ),
    ];
    for ((name, text), (above, old, new)) in PROGRAMS.into_iter().zip(edits) {
        let edits = [Edit::Above(above), Edit::Replace(old, new)];
        let (said, ..) = compared(name, text, &edits).await;
        has(&said, &["no recorded value differs\n", "both runs take the same steps"]);
        let edits = [Edit::Above(&above.replace("100", "45")), Edit::Replace(old, new)];
        let (said, ..) = compared(name, text, &edits).await;
        has(
            &said,
            &[
                "first different value:",
                "total: 70 → 120 by ",
                "total: 70 → 115 by ",
                "both runs take the same steps",
            ],
        );
    }
}

#[tokio::test]
async fn functions_that_were_moved_or_renamed_are_the_same() {
    for (name, text) in PROGRAMS {
        let (rate, rest) = text.split_at(text.find("total(prices)").unwrap());
        let begin = rate.rfind('\n').unwrap() + 1;
        let (rate, total) = (&rate[..begin], format!("{}{rest}", &rate[begin..]));
        let (total, main) = total.split_at(total.find("main()").unwrap());
        let end = total.rfind('\n').unwrap() + 1;
        let moved = format!("{}{rate}{}{main}", &total[..end], &total[end..]);
        let (said, ..) = compared(name, text, &[Edit::Replace(text, &moved)]).await;
        has(&said, &["no recorded value differs\n", "both runs take the same steps"]);

        let moved = moved.replace("0.2", "0.3").replace("rate(", "share(");
        let (said, ..) = compared(name, text, &[Edit::Replace(text, &moved)]).await;
        has(&said, &["first different value:", "discount = 24", "discount = 36"]);
    }
}

const SAME_VALUES: &str = "no recorded value differs\n";
const SAME_STEPS: &str = "both runs take the same steps";
const DIFFERENT_VALUE: &str = "first different value:";
const DIFFERENT_STEP: &str = "first different step:";

/// Checks what the comparison of two versions of a program says.
async fn compares(name: &str, before: &str, after: &str, expected: &[&str]) {
    let (said, ..) = compared(name, before, &[Edit::Replace(before, after)]).await;
    has(&said, expected);
}

#[tokio::test]
async fn closures_have_the_same_values_in_other_calls() {
    let text = "function log() {}\nfunction main() {\n  const k = 2;\n  return [1, 2].map((x) => x * k);\n}\nmain();\n";
    let after = text.replace("\nmain();", "\nlog();\nmain();");
    compares("main.js", text, &after, &[SAME_VALUES, SAME_STEPS]).await;
}

/// Each thread begins with the one before it.
const THREADS: &str = "\
import threading

def work(out, count):
    total = 0
    for number in range(count):
        total += number
    out.append(total)

out = []
for name, count in [('one', 2), ('two', 3)]:
    thread = threading.Thread(target=work, args=(out, count), name=name)
    thread.start()
    thread.join()
print(len(out))
";

#[tokio::test]
async fn other_threads_are_compared_where_the_main_thread_takes_the_same_steps() {
    let value = [
        "first different value in the thread `one`:\n",
        "[0] = 1 by",
        "[0] = 2 by",
        "both runs take the same steps in the 3 threads",
    ];
    compares("main.py", THREADS, &THREADS.replace("append(total)", "append(total + 1)"), &value).await;
    let step = [
        "first different value in the main thread:\n",
        "count = 3",
        "first different step in the thread `two`:\n",
        "out.append(total)",
        "total += number",
    ];
    compares("main.py", THREADS, &THREADS.replace("3)", "4)"), &step).await;
    let same = [
        "no recorded value in the 3 threads differs\n",
        "both runs take the same steps in the 3 threads as far",
    ];
    compares("main.py", THREADS, &THREADS.replace("import", "\nimport"), &same).await;
    let fewer = ["first different step in the main thread:\n"];
    compares("main.py", THREADS, &THREADS.replace(", ('two', 3)", ""), &fewer).await;
    let other = ["only the first run has: two\n", "only the second run has: second\n"];
    compares("main.py", THREADS, &THREADS.replace("name=name", "name=name.replace('two', 'second')"), &other)
        .await;
}

/// A compiler makes a function of an `enum`, of which only the contents are in the source.
#[tokio::test]
async fn an_enum_of_typescript_is_the_same_in_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(toolchains().await, folder.path().join("node_modules")).unwrap();
    let client = Client::new("node").await;
    let text = "enum Kind { Pen, Ink = 3 }\nfunction price(kind: Kind): number {\n  let sum = kind * 2;\n  \
                sum += 1;\n  return sum;\n}\nconsole.log(price(Kind.Ink));\n";
    for text in [text, &text.replace("  sum += 1;\n", "")] {
        Fixture::write(folder.path(), "main.ts", text);
        let words =
            json!({ "command": "node", "args": ["--import", "tsx", "main.ts"], "cwd": folder.path() });
        has(&client.ask("record_run", words).await, &["exited with code 0"]);
    }
    let said = client.ask("compare_runs", json!({ "first": "rec-1", "second": "rec-2" })).await;
    has(&said, &["first different value:", "sum: 6 → 7 by main.ts:4 ", "sum = 6 by main.ts:3 "]);
    client.server.finish().await;
}

#[tokio::test]
async fn lines_in_another_order_are_different_steps() {
    let text = "def main():\n    n = 2\n    tax = n * 10\n    n = n + 1\n    print(tax, n)\n\nmain()\n";
    let tax = "    tax = n * 10\n";
    let after = text.replace(tax, "").replace("    print", &format!("{tax}    print"));
    let expected =
        ["1 line moved\n", DIFFERENT_STEP, "first run: ", "tax = n * 10", "second run:", "n = n + 1"];
    compares("main.py", text, &after, &expected).await;
    let loops = "def main():\n    total = 1\n    for i in range(3):\n        total += i\n        total *= 2\n\nmain()\n";
    let after = loops.replace("        total *=", "    total *=");
    let expected = ["1 line indented differently\n", DIFFERENT_STEP, "total *= 2", "for i in range(3):"];
    compares("main.py", loops, &after, &expected).await;
}

#[tokio::test]
async fn a_list_that_an_edited_line_makes_longer_is_found() {
    let python = "def fill(out, n):\n    out.extend(range(n))\n\nout = []\nfill(out, 3)\nprint(len(out))\n";
    let node =
        "function fill(out, n) {\n  out.push(...Array(n).keys());\n}\nconst out = [];\nfill(out, 3);\n";
    for (name, text) in [("main.py", python), ("main.js", node)] {
        let after = text.replace("(n))", "(n + 1))").replace("Array(n)", "Array(n + 1)");
        let expected = [DIFFERENT_VALUE, "first run: ", "0 → 3 by ", "second run:", "0 → 4 by ", SAME_STEPS];
        compares(name, text, &after, &expected).await;
    }
}

#[tokio::test]
async fn functions_and_classes_that_were_renamed_hide_no_difference() {
    let python = "\
def nums(n):
    return n + 1

class Box:
    def __init__(self):
        self.v = 1

def main():
    b = Box()
    r = nums(3) + b.v
    r = r * 2
    print(r)

main()
";
    let node = "\
function nums(n) {
  return n + 1;
}
class Box {
  constructor() {
    this.v = 1;
  }
}
function main() {
  const b = new Box();
  let r = nums(3) + b.v;
  r = r * 2;
  console.log(r);
}
main();
";
    for (name, text) in [("main.py", python), ("main.js", node)] {
        let renamed = text.replace("nums", "numbers").replace("Box", "Case");
        compares(name, text, &renamed, &["4 lines edited\n", SAME_VALUES, SAME_STEPS]).await;
        let wrong = renamed.replace("r * 2", "r * 3");
        compares(name, text, &wrong, &[DIFFERENT_VALUE, "r: 5 → 10 by ", "r: 5 → 15 by ", SAME_STEPS]).await;
    }
}

#[tokio::test]
async fn a_line_that_was_inserted_in_a_long_loop_is_left_out() {
    let text =
        "def main():\n    t = 0\n    for i in range(20000):\n        t = t + 1\n    return t\n\nmain()\n";
    let (said, ..) = compared("main.py", text, &[Edit::Before("t = t + 1", "u = i")]).await;
    has(&said, &[SAME_VALUES, SAME_STEPS]);
}

#[tokio::test]
async fn an_await_or_a_yield_that_was_inserted_is_left_out() {
    let awaits = "\
import asyncio

async def work(i):
    t = i * 2
    return t

async def main():
    a = await work(1)
    print(a)

asyncio.run(main())
";
    let after = awaits.replace("    return t", "    await asyncio.sleep(0)\n    return t");
    compares("main.py", awaits, &after, &["1 line only in the second run\n", SAME_VALUES, SAME_STEPS]).await;
    let yields = "def numbers():\n    yield 1\n    yield 2\n\nprint(sum(numbers()))\n";
    let after = yields.replace("    yield 2", "    yield 0\n    yield 2");
    compares("main.py", yields, &after, &[SAME_VALUES, SAME_STEPS]).await;
    let after = yields.replace("    yield 2", "    number = 2\n    yield number");
    compares("main.py", yields, &after, &[SAME_VALUES, SAME_STEPS]).await;
    // What runs next is another function.
    let node = "async function main() {\n  const a = await 1;\n  return a;\n}\nmain();\n";
    let after = node.replace("  const", "  await null;\n  const");
    let expected = [DIFFERENT_STEP, "second run:", "last line that only this run has: ", "await null"];
    compares("main.js", node, &after, &expected).await;
}

#[tokio::test]
async fn a_decorator_that_was_added_or_removed_is_left_out() {
    let plain = "\
import functools

def double(x):
    return x * 2

class Cart:
    count = 3

print(double(Cart().count))
";
    let decorated = plain.replace("def double", "@functools.lru_cache\ndef double");
    for (before, after) in [(plain, decorated.as_str()), (&decorated, plain)] {
        compares("main.py", before, after, &["1 line only in the ", SAME_VALUES, SAME_STEPS]).await;
    }
}

#[tokio::test]
async fn a_function_that_became_an_arrow_function_is_the_same() {
    let after = NODE
        .replace("function main() {", "const main = () => {")
        .replace("function rate(amount) {", "const rate = (amount) => {");
    compares("main.js", NODE, &after, &["2 lines edited\n", SAME_VALUES, SAME_STEPS]).await;
}
