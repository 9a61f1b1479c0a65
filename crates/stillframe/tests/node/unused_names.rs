//! Names that stand around a function and are not used in it: V8 leaves them out of its frame.

use test_support::Language;

use crate::debugging::{Debugging, Report};
use crate::project::Project;
use crate::script::Script;
use serde_json::json;

const TEXT: &str = "\
const RATE = { percent: 2 };
function outer(list) {
  const limit = 3;
  return list.map((one) => {
    return one + 1; // @inner
  });
}
outer([1]);
setTimeout(() => {
  console.log(1); // @later
}, 1);
";

#[tokio::test]
async fn unused_variables_are_read_by_name_and_reported() {
    let script = Script::new(TEXT);
    let (session, _) = script.stopped_at("inner").await;
    for (expression, value, declared, frame) in [
        ("RATE.percent", "2", "`RATE`, declared on line 1 at the top of its module,", "<module>"),
        ("limit", "3", "`limit`, declared on line 3 in a function around it,", "outer"),
    ] {
        let read = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        let note = format!(
            "{declared} is not used here, so V8 optimized it out; this value is from the frame of `{frame}`"
        );
        assert_eq!((&read["result"], &read["note"]), (&json!(value), &json!(note)), "{}", read.text);
    }
    // Beside names of this frame: the values of the others are lent to it.
    for (expression, value, names) in [
        ("one + limit", "4", &["limit"][..]),
        ("limit * 2 + RATE.percent // both", "8", &["limit", "RATE"]),
        ("[1, 5].filter((it) => it > limit)", "[ 5 ]", &["limit"]),
        ("({ one, RATE })", "{ one: 1, RATE: { percent: 2 } }", &["RATE"]),
    ] {
        let read = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        assert_eq!(read["result"], json!(value), "{}", read.text);
        for name in names {
            assert!(read.text.contains(&format!("`{name}`, declared on line")), "{}", read.text);
        }
    }
    for (expression, advice) in [
        // What has effects has had some of them.
        ("console.log(one), limit", "evaluate `limit` by itself"),
        ("limit = 5", "assign to it in the frame of `outer`"),
    ] {
        let failed = session
            .fails("evaluation_failed", "evaluate_expression", json!({ "expression": expression }))
            .await;
        assert!(failed.text.contains("limit is not defined (`limit`, declared on line 3"), "{}", failed.text);
        assert!(failed.text.contains(advice), "{}", failed.text);
    }
    let failed =
        session.fails("evaluation_failed", "evaluate_expression", json!({ "expression": "nowhere" })).await;
    assert!(!failed.text.contains("optimized it out"), "{}", failed.text);
    session.finish().await;
}

const TYPED: &str = "\
interface Shop {
  limit: number;
}
type Other = Shop & { more: string };
function outer(shop: Shop): number {
  const limit = shop.limit; // @limit
  const inner = () => {
    return 1; // @inner
  };
  return inner();
}
console.log(outer({ limit: 3 }));
";

#[tokio::test]
async fn an_unused_variable_is_declared_on_a_line_of_the_source() {
    let project = Project::with(&["tsx"]).await;
    let program = project.file("shop.ts", TYPED);
    let session = Debugging::of(Language::Node).await;
    session.break_at(&program, "inner").await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("inner")), "{}", stopped.text);
    let read = session.ok("evaluate_expression", json!({ "expression": "limit" })).await;
    let declared = format!("`limit`, declared on line {} in a function", program.line("limit"));
    assert!(read["result"] == "3" && read.text.contains(&declared), "{}", read.text);
    session.finish().await;
}

#[tokio::test]
async fn an_unused_variable_in_no_frame_is_refused_with_advice() {
    let script = Script::new(TEXT);
    let session = Debugging::of(Language::Node).await;
    session.break_at(&script, "later").await;
    session.start(&script).await;
    let failed =
        session.fails("evaluation_failed", "evaluate_expression", json!({ "expression": "RATE" })).await;
    assert!(
        failed.text.contains("has no frame on the stack; stop in that function, or use"),
        "{}",
        failed.text
    );
    session.finish().await;
}

const RETURNS: &str = "\
const wrap = (sum) => ({ sum });
const total = ({ price, count }) => {
  const tax = price / 5;
  const item = wrap((price + tax) * count);
  return item; // @here
};
total({ price: 5, count: 2 });
";

/// V8 has left the body's scope there, because the function's parameters have a separate one.
#[tokio::test]
async fn a_returned_variable_is_read_although_v8_removed_its_scope() {
    let script = Script::new(RETURNS);
    let (session, _) = script.stopped_at("here").await;
    for (expression, value) in [("item.sum", "12"), ("item", "{ sum: 12 }")] {
        let read = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        assert_eq!(read["result"], json!(value), "{}", read.text);
        let note = "at this `return`, V8 has already left the scope of `item`; this is the return value";
        assert_eq!(read["note"], json!(note), "{}", read.text);
    }
    let failed =
        session.fails("evaluation_failed", "evaluate_expression", json!({ "expression": "tax" })).await;
    assert!(failed.text.contains("stop a line before"), "{}", failed.text);
    let failed =
        session.fails("evaluation_failed", "evaluate_expression", json!({ "expression": "nowhere" })).await;
    assert!(!failed.text.contains("stop a line before"), "{}", failed.text);
    session.finish().await;
}
