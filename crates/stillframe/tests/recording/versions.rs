//! Two versions of a program, before and after a commit, whose runs are compared.

use serde_json::json;
use test_support::Fixture;

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
                &format!("after the edited: {decides} in rate: "),
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
                "what only it has",
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
