//! Earlier versions of test runners of Node.js, which report in other ways than the newest.

use serde_json::json;
use test_support::earlier_runners;

use crate::STILLFRAME;
use crate::project::Project;

#[tokio::test]
async fn earlier_versions_report_each_test_once() {
    let mocha = "const assert = require('node:assert');\nconst test = it;\n";
    let vitest = "import { expect, test } from 'vitest';\n";
    let (assertion, expectation) = ("assert.strictEqual(sum, 7)", "expect(sum).toBe(7)");
    let table = [
        ("mocha", "bin/mocha.js cart.test.js", "cart.test.js", mocha, assertion),
        ("jest", "bin/jest.js", "cart.test.js", "", expectation),
        ("jest", "bin/jest.js --testRunner jest-jasmine2", "cart.test.js", "", expectation),
        ("vitest", "vitest.mjs run", "cart.test.ts", vitest, expectation),
    ];
    let server = STILLFRAME.serve().await;
    for (package, words, file, head, check) in table {
        let project = Project::linked(&earlier_runners().await, &[package, "jest-jasmine2"]);
        let tests = project.file(
            file,
            &format!(
                "{head}test('is fine', () => {{}});\ntest('adds', () => {{\n  const sum = 2 * 3;\n  {check}; // @fails\n}});\n"
            ),
        );
        let command = format!("node node_modules/{package}/{words}");
        let arguments = json!({ "command": command, "cwd": project.folder(), "timeout": 60_000 });
        let answer = server.ok("debug_test", arguments).await;
        assert_eq!(answer["verdict"], "failed", "{words}: {}", answer.text);
        let counts = (&answer["tests"]["run"], &answer["tests"]["passed"], &answer["tests"]["failed"]);
        assert_eq!(counts, (&json!(2), &json!(1), &json!(1)), "{words}: {}", answer.text);
        let failure = &answer["failure"];
        assert_eq!(failure["test"], format!("{file} > adds"), "{words}: {}", answer.text);
        assert_eq!(failure["line"], json!(tests.line("fails")), "{words}: {}", answer.text);
        assert_eq!(failure["frames"][0]["locals"][0]["value"], "6", "{words}: {}", answer.text);
    }
    server.finish().await;
}
