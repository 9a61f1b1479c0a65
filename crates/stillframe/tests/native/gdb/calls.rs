//! Functions that expressions call, under GDB.

use serde_json::json;

use super::GdbOnly;
use crate::debugging::written;

const BUSY: &str = r"#include <atomic>
#include <thread>
static volatile long turns = 0;
static std::atomic<bool> is_over{false};
static long sum(long most) {
    volatile long all = 0;
    for (long at = 0; at < most; at++) all = all + at;
    return all;
}
int main() {
    std::thread other([] { while (!is_over) turns = turns + 1; });
    while (turns == 0) {}
    is_over = true; // @spins
    other.join();
    return sum(2) == 1 ? 0 : 1;
}
";

#[tokio::test]
async fn other_threads_rest_while_a_function_is_called() {
    let (_folder, program) = written("busy.cpp", BUSY);
    let (session, _path) = GdbOnly::stopped_at(&program, "cpp", "spins").await;
    let evaluated = async |expression: &str| {
        let answer = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        answer.text_of("result").to_owned()
    };
    let before = evaluated("turns").await;
    assert_eq!(evaluated("sum(100000)").await, "4999950000");
    assert_eq!(evaluated("turns").await, before);
    session.finish_at_end().await;
}

const CHANGES: &str = "#include <vector>\nstruct Counter {\n    int count;\n    std::vector<int> seen;\n    int bump(int by) { count += by; seen.push_back(by); return count; }\n};\n\
                       int main() {\n    Counter counter{1, {}};\n    int total = 5;\n    counter.bump(2);\n    return total + counter.count > 3 ? 0 : 1; // @here\n}\n";

#[tokio::test]
async fn variables_have_the_values_that_expressions_have_given_them() {
    let (_folder, program) = written("changes.cpp", CHANGES);
    let (session, _path) = GdbOnly::stopped_at(&program, "cpp", "here").await;
    let shown = async || {
        let locals = session.ok("get_local_variables", json!({})).await;
        (locals.variable("total").to_owned(), locals.variable("counter").to_owned())
    };
    assert_eq!(shown().await.0, "5");
    for expression in ["total = 9", "counter.count = 40", "counter.bump(2)"] {
        session.ok("evaluate_expression", json!({ "expression": expression })).await;
    }
    let (total, counter) = shown().await;
    assert_eq!(total, "9");
    assert!(counter.starts_with("{count = 42,") && counter.ends_with("{2, 2}}"), "{counter}");
    session.finish().await;
}
