//! Assignments to values of Rust that LLDB does not find, and what is watched there.

use serde_json::json;

use crate::STILLFRAME;
use crate::source::{Sources, assert_evaluated, run_until};

const ACCOUNT: &str = "
struct Account {
    count: i32, parts: Vec<i32>, letter: char, rate: f32, share: f64, big: u64, open: bool, rows: Vec<Vec<i32>>,
}
fn main() {
    let mut account = Account {
        count: 1, parts: vec![1, 2], letter: 'a', rate: 0.5, share: 0.5, big: 1, open: false, rows: vec![vec![1], vec![2, 3]],
    };
    let row = &mut [3_u8, 4];
    let limit = account.count + 3;
    let mut
        late = 1;
    late += limit;
    println!(\"ready\"); // @ready
    account.parts[0] += 5; // @written
    account.parts[0] += 5; // @written_again
    row[0] += 1;
    println!(\"{} {:?} {} {}\", account.count, account.parts, account.letter, account.rate);
    println!(\"{} {row:?} {} {} {:?} {limit} {late}\", account.big, account.share, account.open, account.rows);
}
";

#[tokio::test]
async fn elements_are_assigned_and_watched() {
    let sources = Sources::new(&[("main.rs", ACCOUNT)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let assigned = [
        ("account.parts[1] = 40", "40"),
        ("account.parts[1] += account.count", "41"),
        ("account.parts[1] <<= 1", "82"),
        ("account.count = account.parts[0] + 1", "2"),
        ("account.letter = 'ü'", "'ü'"),
        ("account.rate *= 0.5", "0.25"),
        ("account.rate = 0.75", "0.75"),
        ("account.rate = 2", "2.0"),
        ("account.share = 0.125", "0.125"),
        ("account.share = 3", "3.0"),
        ("account.open = true", "true"),
        ("account.open", "true"),
        ("account.rows[1][0] = 7", "7"),
        ("account.rows[1]", "[7, 3]"),
        ("account.big = 18446744073709551615", "18446744073709551615"),
        ("row[1] -= 1", "3"),
        ("account.parts", "[1, 82]"),
        ("row", "[3, 3]"),
        ("row[1] = 256", "literal out of range for `u8`"),
        ("row[1] += 255", "attempt to add with overflow"),
        ("account.count = 0.5", "mismatched types: expected `i32`, found `f64`"),
        ("row[1] = account.count", "mismatched types: expected `u8`, found `i32`"),
        ("account.parts[2] = 1", "index 2 is out of range: the length is 2"),
        ("account.parts.len() = 1", "this expression cannot be evaluated here"),
    ];
    let ran = run_until(&server, &program, "ready", &assigned.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &assigned);

    let ready = run_until(&server, &program, "ready", &[]).await;
    let id = &ready["sessionId"];
    let limit = json!({ "sessionId": id, "name": "limit", "value": "9" });
    let set = server.ok("set_variable", limit).await;
    let note = "`limit` is not declared `mut`: the program may go on with the value it had";
    assert_eq!((&set["value"], &set["note"]), (&json!("9"), &json!(note)), "{}", set.text);
    let late = json!({ "sessionId": id, "name": "late", "value": "9" });
    let set = server.ok("set_variable", late).await;
    assert!(set["note"].is_null(), "{}", set.text);
    let mut listed = server.ok("get_local_variables", json!({ "sessionId": id })).await;
    for name in ["account", "parts"] {
        let variables = listed["variables"].as_array().expect("a list");
        let found = variables.iter().find(|variable| variable["name"] == name).expect("it is listed");
        let arguments = json!({ "sessionId": id, "variablesReference": found["variablesReference"] });
        listed = server.ok("get_variables", arguments).await;
    }
    let element = json!({
        "sessionId": id, "variablesReference": listed["variablesReference"], "name": "[1]", "value": "9",
    });
    let set = server.ok("set_variable", element).await;
    assert!(set["note"].is_null(), "{}", set.text);
    let read =
        server.ok("evaluate_expression", json!({ "sessionId": id, "expression": "account.parts" })).await;
    assert_eq!(read["result"], "[1, 9]", "{}", read.text);
    let failed =
        server.call("set_breakpoint", json!({ "sessionId": id, "watch": "account.parts.len()" })).await;
    assert_eq!(failed["success"], false, "{}", failed.text);
    server.ok("set_breakpoint", json!({ "sessionId": id, "watch": "account.parts[0]" })).await;
    for (written, old, new) in [("written", "1", "6"), ("written_again", "6", "11")] {
        let stopped = server.ok("continue_execution", json!({ "sessionId": id })).await;
        let change = &stopped["dataChanges"][0];
        assert_eq!((&change["old"], &change["new"]), (&json!(old), &json!(new)), "{}", stopped.text);
        assert_eq!(change["by"]["line"], program.line(written), "{}", stopped.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn literals_overflow_as_in_rust() {
    let sources = Sources::new(&[("main.rs", ACCOUNT)]);
    let (server, program) = (STILLFRAME.serve().await, sources.file("main.rs"));
    let values = [
        ("1 << 40", "attempt to shift left with overflow"),
        ("account.count << 40", "attempt to shift left with overflow"),
        ("1 << 31", "-2147483648"),
        ("account.big == 1 << 40", "false"),
        ("1_i64 << 40", "1099511627776"),
        ("100000 * 100000", "attempt to multiply with overflow"),
        ("-2147483648", "-2147483648"),
        ("2147483647 + 1", "attempt to add with overflow"),
    ];
    let ran = run_until(&server, &program, "ready", &values.map(|(expression, _)| expression)).await;
    assert_evaluated(&ran, &values);
    server.finish().await;
}
