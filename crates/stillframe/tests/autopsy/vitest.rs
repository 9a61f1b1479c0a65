//! Vitest, with TypeScript.

use serde_json::json;

use crate::node::{Runner, expect_equal, expect_rejects, expect_throws, runs};

const VITEST: Runner = Runner {
    name: "vitest",
    packages: &["vitest"],
    file: "cart.test.ts",
    head: "import { expect, test } from 'vitest';\nimport { parse, price, total, load } from './cart.js';",
    command: "node node_modules/vitest/vitest.mjs run",
    none: "node node_modules/vitest/vitest.mjs run -t nothing",
    equal: expect_equal,
    throws: expect_throws,
    rejects: expect_rejects,
};

runs!(VITEST, #[ignore = "cargo xtask test --full"]);

/// An error of Chai holds what was compared, which is not always what is written.
#[tokio::test]
async fn values_are_shown_beside_the_text_that_has_them() {
    let table = [
        ("expect(cart).to.have.property('sum', 9)", (None, Some("7")), (None, Some("9"))),
        ("expect(cart.ids).toHaveLength(3)", (None, Some("2")), (None, Some("3"))),
        ("expect(cart.ids).toContain(5)", (Some("cart.ids"), Some("[ 1, 2 ]")), (Some("5"), None)),
        ("expect(cart.ids).toBeInstanceOf(Map)", (Some("cart.ids"), Some("[ 1, 2 ]")), (Some("Map"), None)),
        ("expect(() => 4).toThrow()", (Some("() => 4"), None), (None, None)),
        (
            "expect(cart.sum).toBe(cart.no)",
            (Some("cart.sum"), Some("7")),
            (Some("cart.no"), Some("undefined")),
        ),
    ];
    let tests = table.iter().enumerate();
    let tests = tests.map(|(at, (check, ..))| format!("test('{at}', () => {{\n  {check};\n}});\n"));
    let body = format!("const cart: any = {{ sum: 7, ids: [1, 2] }};\n{}", tests.collect::<String>());
    let ran = VITEST.run(&body, json!({ "failures": table.len() })).await;
    ran.came_to("failed", 1);
    let more = ran.answer["moreFailures"].as_array().unwrap();
    let failures: Vec<_> = std::iter::once(&ran.answer["failure"]).chain(more).collect();
    assert_eq!(failures.len(), table.len(), "{}", ran.answer.text);
    for (failure, (check, left, right)) in failures.into_iter().zip(table) {
        let side = |name: &str| {
            let side = &failure["assertion"][name];
            (side["expression"].as_str(), side["value"].as_str())
        };
        assert_eq!(failure["assertion"]["expression"], check, "{failure}");
        assert_eq!((side("left"), side("right")), (left, right), "{failure}");
    }
    ran.finish().await;
}

#[tokio::test]
async fn errors_that_no_test_has_caught_are_not_failed_tests() {
    let body = "
test('floats', async () => {
  for (const id of [-1, -2]) void load(id);
  await new Promise((done) => setTimeout(done, 5));
  expect(parse('1')).toBe(1);
});
test('adds', () => expect(parse('1')).toBe(2));";
    let ran = VITEST.run(body, json!({})).await;
    ran.came_to("failed", 1);
    let (answer, tests) = (&ran.answer, &ran.answer["tests"]);
    assert_eq!((&tests["run"], &tests["passed"], &tests["failed"]), (&json!(2), &json!(1), &json!(1)));
    let message = "1 of 2 tests failed: cart.test.ts > adds; 2 errors were not caught";
    assert_eq!(answer["message"], message, "{}", answer.text);
    assert_eq!(answer["failure"]["phase"], "call", "{}", answer.text);
    let others = answer["otherFailures"].as_array().unwrap();
    assert_eq!(others.len(), 2, "{}", answer.text);
    for other in others {
        assert!(other["name"].as_str().unwrap().starts_with("during or after cart.test.ts > "), "{other}");
    }
    ran.finish().await;
}

#[tokio::test]
async fn an_error_that_no_test_has_caught_is_a_failure() {
    let body = "
test('floats', async () => {
  void load(-1);
  await new Promise((done) => setTimeout(done, 5));
  expect(parse('1')).toBe(1);
});";
    let ran = VITEST.run(body, json!({})).await;
    ran.came_to("failed", 1);
    let (failure, tests) = (&ran.answer["failure"], &ran.answer["tests"]);
    assert_eq!((&tests["run"], &tests["passed"], &tests["failed"]), (&json!(1), &json!(1), &json!(0)));
    let message = "no test failed, but 1 error was not caught; it came during or after cart.test.ts > floats";
    assert_eq!((&ran.answer["message"], &failure["phase"]), (&json!(message), &json!("unhandled")));
    assert_eq!(
        (&failure["test"], &failure["message"]),
        (&json!("cart.test.ts > floats"), &json!("no such cart"))
    );
    assert_eq!(failure["frames"][0]["name"], "load", "{}", ran.answer.text);
    ran.finish().await;
}
