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
