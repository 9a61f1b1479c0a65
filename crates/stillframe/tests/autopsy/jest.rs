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

runs!(JEST);

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
