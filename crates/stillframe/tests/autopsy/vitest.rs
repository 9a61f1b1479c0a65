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
    assert_eq!((&tests["run"], &tests["passed"], &tests["failed"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!(
        (&failure["test"], &failure["message"]),
        (&json!("cart.test.ts > floats"), &json!("no such cart"))
    );
    assert_eq!(failure["frames"][0]["name"], "load", "{}", ran.answer.text);
    ran.finish().await;
}
