//! Values whose own code does not behave.

use serde_json::json;
use test_support::Fixture;

use crate::debugging::Debugging;

#[tokio::test]
async fn a_hostile_repr_affects_neither_the_report_nor_other_values() {
    let (session, stopped) = Debugging::stopped_at(&Fixture::python("values"), "hostile").await;
    let locals = session.ok("get_local_variables", json!({})).await;
    for report in [&stopped, &locals] {
        assert_eq!(report.variable("raises"), "<Raises: its __repr__ raised RuntimeError: no text>");
        assert_eq!(report.variable("sleeps"), "<Sleeps: its __repr__ took more than 300 ms>");
        assert_eq!(
            report.variable("number"),
            "<Number: its __repr__ raised TypeError: __repr__ returned non-string (type int)>"
        );
        assert_eq!(report.variable("prints"), "Prints()");
        assert_eq!(report.variable("after"), "'still here'");
    }
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_hostile_repr_does_not_fail_an_expression() {
    let (session, _) = Debugging::stopped_at(&Fixture::python("values"), "hostile").await;
    assert_eq!(session.evaluate("raises").await, "<Raises: its __repr__ raised RuntimeError: no text>");
    let list = "[<Raises: its __repr__ raised RuntimeError: no text>, 'still here']";
    assert_eq!(session.evaluate("[raises, after]").await, list);
    session.finish().await;
}

#[tokio::test]
async fn many_slow_reprs_share_one_deadline() {
    let (session, _) = Debugging::stopped_at(&Fixture::python("values"), "hostile").await;
    session.evaluate("crowd = [Sleeps() for _ in range(50)]").await;
    let value = session.ok("evaluate_expression", json!({ "expression": "crowd" })).await;
    let result = value.text_of("result");
    assert!(result.starts_with("[<Sleeps: its __repr__ took more than 300 ms>, "), "{result}");
    assert!(result.contains("<Sleeps: not read, other values took too long>"), "{result}");
    session.finish().await;
}
