//! Jest.

use serde_json::json;

use crate::STILLFRAME;
use crate::node::{Runner, expect_equal, expect_rejects, expect_throws, runs};
use crate::project::Project;

const JEST: Runner = Runner {
    name: "jest",
    packages: &["jest"],
    file: "cart.test.js",
    head: "const { parse, price, total, load } = require('./cart.js');",
    command: "node node_modules/jest/bin/jest.js",
    none: "node node_modules/jest/bin/jest.js -t nothing",
    equal: expect_equal,
    throws: expect_throws,
    rejects: expect_rejects,
};

runs!(JEST, #[ignore = "cargo xtask test --full"]);

#[tokio::test]
async fn a_missing_runner_is_reported_with_how_to_install_it() {
    let project = Project::with(&[]).await;
    project.file("package.json", r#"{ "scripts": { "test": "jest" } }"#);
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "command": "npm test", "cwd": project.folder() });
    let refused = server.fails("command_not_found", "debug_test", arguments).await;
    assert!(refused.text.contains("npm install --save-dev jest"), "{}", refused.text);
    server.finish().await;
}

/// Jest collects mismatches of snapshots, and throws only when the test has ended.
#[tokio::test]
async fn a_mismatch_of_a_snapshot_and_a_time_limit_are_reported_with_their_lines() {
    let body = "test('shows', () => {\n  expect(total([])).toMatchInlineSnapshot(`1`); // @differs\n});\n\
                test('waits', async () => { // @waits\n  await new Promise(() => {});\n}, 50);\n";
    let ran = JEST.run(body, json!({})).await;
    assert_eq!(ran.answer["verdict"], "failed", "{}", ran.answer.text);
    let file = ran.tests.path().to_owned();
    for (failure, line) in [("/failure", "differs"), ("/otherFailures/0", "waits")] {
        let failure = ran.answer.at(failure);
        let place = (&failure["file"], &failure["line"]);
        assert_eq!(place, (&json!(file), &json!(ran.tests.line(line))), "{}", ran.answer.text);
    }
    ran.finish().await;
}
