//! Mocha, also behind `npm test`.

use serde_json::json;

use crate::STILLFRAME;
use crate::node::{Runner, assert_equal, assert_rejects, assert_throws, runs};
use crate::project::Project;

const MOCHA: Runner = Runner {
    name: "mocha",
    packages: &["mocha"],
    file: "cart.spec.js",
    head: "const assert = require('node:assert');\nconst test = it;\n\
           const { parse, price, total, load } = require('./cart.js');",
    command: "node node_modules/mocha/bin/mocha.js cart.spec.js",
    none: "node node_modules/mocha/bin/mocha.js -g nothing cart.spec.js",
    equal: assert_equal,
    throws: assert_throws,
    rejects: assert_rejects,
};

runs!(MOCHA);

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_runner_started_by_npm_reports_as_much() {
    let project = Project::with(&["mocha"]).await;
    project.file(
        "package.json",
        r#"{ "scripts": { "test": "node node_modules/mocha/bin/mocha.js a.spec.js" } }"#,
    );
    let test = project.file(
        "a.spec.js",
        "const assert = require('node:assert');\n\nit('a', () => {\n  const b = 1;\n  assert.ok(b > 2); // @fails\n});\n",
    );
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "command": "npm test", "cwd": project.folder(), "timeout": 60_000 });
    let answer = server.ok("debug_test", arguments).await;
    assert_eq!(answer["verdict"], "failed", "{}", answer.text);
    assert_eq!(answer["failure"]["test"], "a.spec.js > a", "{}", answer.text);
    assert_eq!(answer["failure"]["line"], json!(test.line("fails")), "{}", answer.text);
    let assertion = &answer["failure"]["assertion"];
    assert_eq!(
        (&assertion["left"]["expression"], &assertion["left"]["value"]),
        (&json!("b > 2"), &json!("false"))
    );
    server.finish().await;
}

/// A compiler has given the class of an assertion library another name.
#[tokio::test]
async fn an_assertion_is_recognized_by_the_name_of_its_error() {
    let body = "
class _AssertionError2 extends Error {
  constructor(actual, expected) {
    super(`expected ${actual} to equal ${expected}`);
    Object.assign(this, { actual, expected });
  }
  get name() { return 'AssertionError'; }
}
const expect = (actual) => ({ toBe(expected) { throw new _AssertionError2(actual, expected); } });
test('adds', () => {
  expect(total([])).toBe(7);
});
";
    let ran = MOCHA.run(body, json!({})).await;
    ran.came_to("failed", 1);
    let assertion = &ran.answer["failure"]["assertion"];
    let values = (&assertion["left"]["value"], &assertion["right"]["value"]);
    assert_eq!(values, (&json!("0"), &json!("7")), "{}", ran.answer.text);
    ran.finish().await;
}

/// A place that throws in vain is given up, and what the test itself asserts is still seen.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_test_that_catches_many_exceptions_ends() {
    let project = Project::with(&["mocha"]).await;
    let test = project.file(
        "many.spec.js",
        "const assert = require('node:assert');\n\nfunction refuse(i) {\n  throw new Error(`no ${i}`);\n}\n\n\
         it('many', () => {\n  let caught = 0;\n  for (let i = 0; i < 20000; i++) {\n    \
         try {\n      refuse(i);\n    } catch {\n      caught++;\n    }\n  }\n  \
         assert.strictEqual(caught, 1); // @fails\n});\n",
    );
    let server = STILLFRAME.serve().await;
    let command = "node node_modules/mocha/bin/mocha.js many.spec.js";
    let arguments = json!({ "command": command, "cwd": project.folder(), "timeout": 60_000 });
    let answer = server.ok("debug_test", arguments).await;
    assert_eq!(answer["verdict"], "failed", "{}", answer.text);
    assert_eq!(answer["failure"]["line"], json!(test.line("fails")), "{}", answer.text);
    assert_eq!(answer["failure"]["assertion"]["left"]["value"], "20000", "{}", answer.text);
    server.finish().await;
}

#[tokio::test]
async fn a_suite_whose_tests_were_still_ending_at_the_timeout_is_not_hung() {
    let project = Project::with(&["mocha"]).await;
    project.file(
        "slow.spec.js",
        "for (let i = 0; i < 3000; i++) {\n  it(`waits ${i}`, (done) => setTimeout(done, 50));\n}\n",
    );
    let server = STILLFRAME.serve().await;
    let command = "node node_modules/mocha/bin/mocha.js slow.spec.js";
    let arguments = json!({ "command": command, "cwd": project.folder(), "timeout": 100 });
    let answer = server.ok("debug_test", arguments).await;
    assert_eq!(answer["verdict"], "timeout", "{}", answer.text);
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("pass a longer `timeout`"), "{message}");
    server.finish().await;
}

#[tokio::test]
async fn an_endless_test_is_named() {
    let project = Project::with(&["mocha"]).await;
    project.file(
        "idle.spec.js",
        "it('waits', async () => {\n  setInterval(() => {}, 1000);\n  await new Promise(() => {});\n});\n",
    );
    let server = STILLFRAME.serve().await;
    let command = "node node_modules/mocha/bin/mocha.js idle.spec.js";
    let arguments = json!({ "command": command, "cwd": project.folder(), "timeout": 100 });
    let answer = server.ok("debug_test", arguments).await;
    assert_eq!(answer["verdict"], "hung", "{}", answer.text);
    server.finish().await;
}
