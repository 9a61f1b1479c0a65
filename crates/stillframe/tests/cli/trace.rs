//! `trace`: rows for people and for scripts, and its exit codes.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::{Fixture, Mark, eventually, interrupt};

use crate::{STILLFRAME, folder, stillframe};

fn at(program: &Fixture, name: &str) -> String {
    format!("{}:{}", program.path(), program.line(name))
}

/// The lines of a table, without times.
fn table(out: &str) -> Vec<String> {
    let rows = out.lines().skip_while(|line| !line.trim_start().starts_with("hit"));
    let rows = rows.take_while(|line| !line.starts_with("Recorded"));
    let without_time = |line: &str| {
        let words = line.split_whitespace().enumerate().filter(|(at, _)| *at != 1);
        words.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
    };
    rows.map(without_time).collect()
}

#[tokio::test]
async fn rows_are_shown_as_a_table() {
    let program = Fixture::python("bank");
    let ran = stillframe(["trace", &at(&program, "deposit"), "-e", "amount", "-e", "self.balance"]).await;
    let ran = ran.ended_with(0);
    let expected = ["hit amount self.balance", "1 1 0", "2 2 1", "3 3 3", "4 4 6", "5 5 10", "6 6 15"];
    assert_eq!(table(&ran.out), expected, "{}", ran.out);
    assert!(ran.out.contains("bank/main.py:"), "{}", ran.out);
    assert!(ran.out.ends_with("The program exited with code 0\noutput\n  odd even\n  6\n"), "{}", ran.out);
}

#[tokio::test]
async fn options_apply_to_the_preceding_location() {
    let program = Fixture::node("bank");
    let (deposit, kind) = (at(&program, "deposit"), at(&program, "kind_return"));
    let arguments = [
        "trace",
        &deposit,
        "-e",
        "amount",
        "--condition",
        "amount > 4",
        "--at",
        &kind,
        "-e",
        "number",
        "-e",
        "name",
        "--at",
        program.path(),
        "--statement",
        "return coins;",
        "-e",
        "coins",
    ];
    let ran = stillframe(arguments).await.ended_with(0);
    let expected = [
        "hit at values",
        "1 1 amount=5",
        "2 1 amount=6",
        "1 3 coins=3",
        "1 2 number=3 name='odd'",
        "2 2 number=4 name='even'",
    ];
    assert_eq!(table(&ran.out), expected, "{}", ran.out);
    assert!(ran.out.starts_with("1 "), "{}", ran.out);
}

#[tokio::test]
async fn a_table_fits_the_terminal() {
    let program = Fixture::node("bank");
    let long = "'x'.repeat(300)";
    let ran = stillframe([
        "trace",
        &at(&program, "deposit"),
        "-e",
        long,
        "-e",
        "amount",
        "-e",
        "[long]",
        "--max-hits",
        "2",
    ])
    .await;
    let ran = ran.ended_with(0);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    assert!(ran.out.contains("xxx…") && ran.out.contains("ReferenceError: long is n"), "{}", ran.out);
    assert!(ran.out.contains("--max-hits was reached"), "{}", ran.out);
}

#[tokio::test]
async fn json_contains_every_field() {
    let program = Fixture::python("bank");
    let deposit = at(&program, "deposit");
    let arguments = [
        "trace",
        &deposit,
        "-e",
        "amount",
        "--json",
        "--sample-every",
        "4",
        "--only-when-changed",
        "--length",
        "100",
    ];
    let report = stillframe(arguments).await.ended_with(0).json();
    let values: Vec<&Value> =
        report["rows"].as_array().unwrap().iter().map(|row| &row["values"][0]["value"]).collect();
    assert_eq!(values, ["1", "5"]);
    assert_eq!((&report["endedBy"], &report["exitCode"]), (&json!("program"), &json!(0)));
    assert_eq!(report["totals"], json!({ "hits": 6, "rows": 2, "shown": 2 }));
}

#[tokio::test]
async fn both_methods_record_the_same_rows() {
    let program = Fixture::node("bank");
    let mut tables = Vec::new();
    for way in ["auto", "stop"] {
        let ran =
            stillframe(["trace", &at(&program, "deposit"), "-e", "amount", "--way", way]).await.ended_with(0);
        tables.push(table(&ran.out));
    }
    assert_eq!((tables[0].len(), &tables[0]), (7, &tables[1]));
}

#[tokio::test]
async fn a_program_that_ends_without_a_row_exits_3() {
    let program = Fixture::python("endings");
    let ran = stillframe(["trace", &at(&program, "never"), "-e", "how", "--", "exit"]).await.ended_with(3);
    assert!(ran.out.contains("Recorded 0 rows of 0 hits. The program exited with code 4\n"), "{}", ran.out);
    assert!(ran.out.contains("was not reached"), "{}", ran.out);
}

#[tokio::test]
async fn a_location_whose_expression_ends_the_program_has_a_note() {
    let folder = folder();
    let program = Fixture::write(folder.path(), "two.py", "import os\nx = 1  # @first\nx = 2  # @second\n");
    let (first, second) = (at(&program, "first"), at(&program, "second"));
    let ran = stillframe(["trace", &first, "-e", "1", "--at", &second, "-e", "os._exit(0)"]).await;
    let ran = ran.ended_with(0);
    assert!(ran.out.contains("Recorded 1 row of 2 hits"), "{}", ran.out);
    assert!(ran.out.contains("the evaluation there did not return"), "{}", ran.out);
}

#[tokio::test]
async fn a_condition_is_shown_as_it_was_given() {
    let program = Fixture::python("bank");
    let deposit = at(&program, "deposit");
    let ran = stillframe(["trace", &deposit, "-e", "amount", "--condition", "maxHits > 3"]).await;
    let ran = ran.ended_with(3);
    assert!(ran.out.contains("maxHits") && !ran.out.contains("--max-hits"), "{}", ran.out);
}

#[tokio::test]
async fn an_uncaught_exception_ends_the_trace_and_is_in_the_output() {
    let program = Fixture::python("endings");
    let ran = stillframe(["trace", &at(&program, "never"), "-e", "how", "--", "raise"]).await.ended_with(3);
    assert!(ran.out.contains("ValueError: nobody catches this\n"), "{}", ran.out);
    assert!(ran.out.contains("The program exited with code 1\n"), "{}", ran.out);
}

#[tokio::test]
async fn the_timeout_exits_5_without_rows_and_0_with_some() {
    let folder = folder();
    let source =
        "import time\nx = 0\nwhile time:\n    time.sleep(0.01)\n    x += 1  # @here\nx = 1  # @never\n";
    let program = Fixture::write(folder.path(), "endless.py", source);
    stillframe(["trace", &at(&program, "never"), "-e", "x", "--timeout", "1"]).await.ended_with(5);
    let ran = stillframe(["trace", &at(&program, "here"), "-e", "x", "--timeout", "1", "--json"]).await;
    assert_eq!(ran.ended_with(0).json()["endedBy"], "timeout");
}

#[tokio::test]
async fn usage_errors_exit_2_and_impossible_requests_exit_1() {
    let program = Fixture::python("bank");
    let deposit = at(&program, "deposit");
    for arguments in [
        vec!["trace", &deposit],
        vec!["trace", program.path(), "-e", "x"],
        vec!["trace", &deposit, "-e", "x", "--at", &deposit],
        vec!["trace", &deposit, "-e", "x", "--max-hits", "0"],
        vec!["trace", &deposit, "-e", "x", "--max-hits", "1000001"],
        vec!["trace", &deposit, "-e", "x", "--timeout", "0"],
    ] {
        let ran = stillframe(&arguments).await.ended_with(2);
        assert!(ran.err.starts_with("error: "), "{arguments:?}: {}", ran.err);
    }
    let ran = stillframe(["trace", &deposit, "-e", "x ="]).await.ended_with(1);
    assert!(ran.err.contains("`x =` is not a valid expression: SyntaxError"), "{}", ran.err);
    let ran = stillframe(["trace", &deposit, "-e", "x", "--max-hits", "100001"]).await.ended_with(1);
    let answer = "`maxHits` is 100001: the limit `rows` is 100000, the default; ask for 100000 rows or less";
    assert!(ran.err.contains(answer), "{}", ran.err);
    let ran = stillframe(["trace", &deposit, "-e", "x", "--length", "100001"]).await.ended_with(1);
    let answer = "`--length` is 100001: the limit `longest_value` is 100000, the default";
    assert!(ran.err.contains(answer), "{}", ran.err);
}

#[tokio::test]
async fn an_interrupt_prints_the_rows_so_far() {
    let folder = folder();
    let ticked = folder.path().join("ticked");
    let source = r#"
        let x = 0;
        setInterval(() => {
          x += 1; // @here
          if (x === 20) require("fs").writeFileSync(process.argv[2], "");
        }, 5);
    "#;
    let program = Fixture::write(folder.path(), "endless.js", source);
    let mark = Mark::default();
    let (name, value) = mark.variable();
    let mut command = STILLFRAME.command();
    command.args(["trace", &at(&program, "here"), "-e", "x", "--timeout", "100", "--max-hits", "100000"]);
    command.arg("--").arg(&ticked);
    command.env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await).env(name, value);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let child = command.spawn().expect("the program under test runs");
    eventually(|| ticked.exists()).await;
    interrupt(child.id().expect("it runs"));
    let output = child.wait_with_output().await.expect("it ends");
    mark.assert_gone_within(Duration::from_secs(2));
    let out = String::from_utf8(output.stdout).expect("text");
    assert_eq!(output.status.code(), Some(130), "{out}");
    assert!(table(&out).len() > 10 && out.contains("interrupted, and the program was ended"), "{out}");
}
