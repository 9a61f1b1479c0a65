//! `node --test`, which runs each file in a process of its own.

use serde_json::json;

use crate::STILLFRAME;
use crate::node::{Runner, assert_equal, assert_rejects, assert_throws, runs};
use crate::project::Project;

const NODE: Runner = Runner {
    name: "node_test",
    packages: &[],
    file: "cart.test.js",
    head: "const assert = require('node:assert');\nconst test = require('node:test');\n\
           const { parse, price, total, load } = require('./cart.js');",
    command: "node --test cart.test.js",
    none: "node --test --test-name-pattern nothing cart.test.js",
    equal: assert_equal,
    throws: assert_throws,
    rejects: assert_rejects,
};

runs!(NODE);

/// The runner passes errors from one process to another, and only their texts. All of these have the same message, and
/// there are more throws than are kept.
#[tokio::test]
async fn failures_of_one_message_have_their_own_places() {
    let caught = "  for (let i = 0; i < 30; i++) assert.throws(() => parse(''));\n";
    let subtest = |name: &str| {
        format!(
            "  await t.test('{name}', async () => {{\n    await null;\n    assert.equal(405, 404); // @{name}\n  }});\n"
        )
    };
    let subtests = ["a", "b", "c", "d"].map(subtest).join(caught);
    let body = format!("test('all', async (t) => {{\n  await load(1);\n{subtests}}});\n");
    let ran = NODE.run(&body, json!({})).await;
    assert_eq!(ran.answer["failure"]["line"], json!(ran.tests.line("a")), "{}", ran.answer.text);
    let others = ran.answer["otherFailures"].as_array().expect("a list");
    let found: Vec<_> = others.iter().map(|other| &other["line"]).collect();
    assert_eq!(
        found,
        ["b", "c", "d"].map(|name| json!(ran.tests.line(name))).each_ref(),
        "{}",
        ran.answer.text
    );
    ran.finish().await;
}

/// tsx puts all of a file on one line.
#[tokio::test]
async fn a_failure_without_a_throw_has_the_line_of_the_source() {
    let project = Project::with(&["tsx"]).await;
    project.file(
        "package.json",
        r#"{ "type": "module", "scripts": { "test": "node --import tsx --test a.test.ts" } }"#,
    );
    let tests = project.file(
        "a.test.ts",
        "\
import { test, type TestContext } from 'node:test';

test('passes', () => {});
test('planned', (t: TestContext) => { // @planned
  t.plan(2);
});
",
    );
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "command": "npm test", "cwd": project.folder(), "timeout": 60_000 });
    let answer = server.ok("debug_test", arguments).await;
    assert_eq!(answer["failure"]["test"], "a.test.ts > planned", "{}", answer.text);
    assert_eq!(answer["failure"]["line"], json!(tests.line("planned")), "{}", answer.text);
    server.finish().await;
}
