//! Behaviour of all test runners of Node.js: the file of each runner runs these with its own spelling.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Server};

use crate::STILLFRAME;
use crate::golden::assert_golden;
use crate::project::Project;

/// The module that is tested.
const CART: &str = "// Prices, and what is in a cart.
'use strict';

function parse(text) {
  if (text === '') {
    throw new Error('empty price'); // @throws
  }
  return Number(text);
}

function price(text) {
  try {
    return parse(text);
  } catch {
    return 0;
  }
}

function total(items) {
  let sum = 0;
  for (const item of items) {
    sum += item.count * parse(item.price); // @adds
  }
  return sum;
}

async function load(id) {
  await null;
  if (id < 0) throw new RangeError('no such cart'); // @rejects
  return { id };
}

module.exports = { parse, price, total, load };
";

/// A runner, and how tests are written for it.
pub(crate) struct Runner {
    /// Of its golden file.
    pub(crate) name: &'static str,
    pub(crate) packages: &'static [&'static str],
    /// The file of the tests.
    pub(crate) file: &'static str,
    /// What the file begins with.
    pub(crate) head: &'static str,
    /// What runs the file.
    pub(crate) command: &'static str,
    /// What runs no test of the file.
    pub(crate) none: &'static str,
    pub(crate) equal: fn(&str, &str) -> String,
    pub(crate) throws: fn(&str) -> String,
    pub(crate) rejects: fn(&str) -> String,
}

/// A project with tests, and the report of a run.
pub(crate) struct TestRun {
    server: Server,
    project: Project,
    cart: Fixture,
    pub(crate) tests: Fixture,
    pub(crate) answer: Answer,
}

impl Runner {
    /// Runs a file of tests with this body.
    pub(crate) async fn run(&self, body: &str, more: Value) -> TestRun {
        let (project, cart) = self.project().await;
        let tests = project.file(self.file, &format!("{}\n{body}", self.head));
        let mut arguments = json!({ "command": self.command, "cwd": project.folder(), "timeout": 60_000 });
        for (name, value) in more.as_object().into_iter().flatten() {
            arguments[name] = value.clone();
        }
        let server = STILLFRAME.serve().await;
        let answer = server.ok("debug_test", arguments).await;
        TestRun { server, project, cart, tests, answer }
    }

    async fn project(&self) -> (Project, Fixture) {
        let project = Project::with(self.packages).await;
        let cart = project.file("cart.js", CART);
        (project, cart)
    }

    pub(crate) async fn a_failing_assertion_is_reported_with_both_sides(&self) {
        let assertion = (self.equal)("sum", "7");
        let body = format!(
            "test('adds', () => {{\n  const items = [{{ count: 2, price: '3' }}];\n  const sum = total(items);\n  \
             {assertion} // @fails\n}});\n"
        );
        let ran = self.run(&body, json!({})).await;
        ran.came_to("failed", 1);
        let failure = &ran.answer["failure"];
        assert_eq!(failure["assertion"]["left"]["value"], "6", "{}", ran.answer.text);
        assert_eq!(failure["assertion"]["right"]["value"], "7", "{}", ran.answer.text);
        assert_eq!(failure["line"], json!(ran.tests.line("fails")), "{}", ran.answer.text);
        assert_golden(self.name, failure, ran.project.folder());
        assert!(ran.answer.text.len() <= 2_500, "{} bytes: {}", ran.answer.text.len(), ran.answer.text);
        ran.finish().await;
    }

    pub(crate) async fn an_error_is_reported_where_it_is_thrown(&self) {
        let caught = (self.equal)("price('')", "0");
        let body =
            format!("test('deep', () => {{\n  {caught}\n  total([{{ count: 2, price: '' }}]);\n}});\n");
        let ran = self.run(&body, json!({})).await;
        ran.came_to("failed", 1);
        let failure = &ran.answer["failure"];
        assert_eq!(failure["message"], "empty price", "{}", ran.answer.text);
        assert_eq!(failure["line"], json!(ran.cart.line("throws")), "{}", ran.answer.text);
        let names: Vec<&str> = names(&failure["frames"]);
        assert_eq!(names[..2], ["parse", "total"], "{}", ran.answer.text);
        assert_eq!(names.len(), 3, "{}", ran.answer.text);
        ran.finish().await;
    }

    pub(crate) async fn a_rejection_is_reported_where_it_is_thrown(&self) {
        let body = "test('loads', async () => { await load(-1); });\n";
        let ran = self.run(body, json!({})).await;
        ran.came_to("failed", 1);
        let failure = &ran.answer["failure"];
        assert_eq!(failure["exception"]["type"], "RangeError", "{}", ran.answer.text);
        assert_eq!(failure["line"], json!(ran.cart.line("rejects")), "{}", ran.answer.text);
        ran.finish().await;
    }

    /// With a session to keep, any throw that counts would end the run.
    pub(crate) async fn caught_and_expected_errors_are_not_failures(&self) {
        let (caught, throws, rejects) =
            ((self.equal)("price('')", "0"), (self.throws)("() => parse('')"), (self.rejects)("load(-1)"));
        let body = format!(
            "test('a', () => {{\n  {caught}\n  {throws}\n  console.log('said by the test');\n}});\n\
             test('b', async () => {{\n  {rejects}\n  await load(-1).catch(() => 0);\n  \
             try {{ await load(-1); }} catch {{}}\n}});\n"
        );
        let ran = self.run(&body, json!({ "keepSession": true })).await;
        ran.came_to("passed", 0);
        assert_eq!(ran.answer["tests"]["passed"], 2, "{}", ran.answer.text);
        assert!(ran.answer.text_of("output").contains("said by the test"), "{}", ran.answer.text);
        ran.finish().await;
    }

    pub(crate) async fn further_failures_are_summarized(&self) {
        let (first, second) = ((self.equal)("1", "2"), (self.equal)("3", "4"));
        let body = format!("test('a', () => {{ {first} }});\ntest('b', () => {{ {second} }});\n");
        let ran = self.run(&body, json!({})).await;
        assert_eq!(ran.answer["verdict"], "failed", "{}", ran.answer.text);
        assert_eq!(ran.answer["tests"]["failed"], 2, "{}", ran.answer.text);
        let others = ran.answer["otherFailures"].as_array().expect("a list");
        assert_eq!(others.len(), 1, "{}", ran.answer.text);
        assert!(others[0]["name"].as_str().unwrap().ends_with(" > b"), "{}", ran.answer.text);
        ran.finish().await;
    }

    pub(crate) async fn tests_of_the_same_name_are_counted_separately(&self) {
        let ran = self.run("test('same', () => {});\ntest('same', () => {});\n", json!({})).await;
        ran.came_to("passed", 0);
        let tests = &ran.answer["tests"];
        assert_eq!((&tests["run"], &tests["passed"]), (&json!(2), &json!(2)), "{}", ran.answer.text);
        ran.finish().await;
    }

    pub(crate) async fn a_file_that_cannot_be_loaded_is_not_a_failing_test(&self) {
        let body = "parse(''); // @loads\ntest('a', () => {});\n";
        let ran = self.run(body, json!({})).await;
        ran.came_to("error", 1);
        let problem = &ran.answer["problem"];
        assert_eq!(problem["message"], "empty price", "{}", ran.answer.text);
        assert_eq!(problem["line"], json!(ran.cart.line("throws")), "{}", ran.answer.text);
        ran.finish().await;
    }

    pub(crate) async fn an_unmatched_name_runs_no_test(&self) {
        let ran = self.run("test('a', () => {});\n", json!({ "command": self.none })).await;
        ran.came_to("no_tests", 0);
        ran.finish().await;
    }

    pub(crate) async fn a_missing_file_has_no_tests(&self) {
        let command = format!("{} missing.js", self.command.replace(self.file, ""));
        let ran = self.run("test('a', () => {});\n", json!({ "command": command })).await;
        assert_eq!(ran.answer["verdict"], "no_tests", "{}", ran.answer.text);
        ran.finish().await;
    }
}

impl TestRun {
    pub(crate) fn came_to(&self, verdict: &str, code: i32) {
        assert_eq!(self.answer["verdict"], verdict, "{}", self.answer.text);
        assert_eq!(self.answer["exitCode"], json!(code), "{}", self.answer.text);
        assert!(self.answer["sessionId"].is_null(), "{}", self.answer.text);
    }

    pub(crate) async fn finish(self) {
        self.server.finish().await;
        drop(self.project);
    }
}

fn names(frames: &Value) -> Vec<&str> {
    frames.as_array().into_iter().flatten().filter_map(|frame| frame["name"].as_str()).collect()
}

/// The tests of a runner. On each push, most are left out if an attribute is given.
macro_rules! runs {
    (@test [$(#[$left_out:meta])?] $runner:expr, $body:ident) => {
        #[tokio::test]
        $(#[$left_out])?
        async fn $body() {
            $runner.$body().await;
        }
    };
    (@tests $left_out:tt $runner:expr => $($body:ident),+ $(,)?) => {
        $(crate::node::runs!(@test $left_out $runner, $body);)+
    };
    ($runner:expr $(, #[$left_out:meta])?) => {
        crate::node::runs!(
            @tests [] $runner =>
            a_failing_assertion_is_reported_with_both_sides,
            an_error_is_reported_where_it_is_thrown,
        );
        crate::node::runs!(
            @tests [$(#[$left_out])?] $runner =>
            a_rejection_is_reported_where_it_is_thrown,
            caught_and_expected_errors_are_not_failures,
            further_failures_are_summarized,
            tests_of_the_same_name_are_counted_separately,
            a_file_that_cannot_be_loaded_is_not_a_failing_test,
            an_unmatched_name_runs_no_test,
            a_missing_file_has_no_tests,
        );
    };
}
pub(crate) use runs;

pub(crate) fn expect_equal(left: &str, right: &str) -> String {
    format!("expect({left}).toBe({right});")
}

pub(crate) fn expect_throws(function: &str) -> String {
    format!("expect({function}).toThrow();")
}

pub(crate) fn expect_rejects(promise: &str) -> String {
    format!("await expect({promise}).rejects.toThrow();")
}

pub(crate) fn assert_equal(left: &str, right: &str) -> String {
    format!("assert.strictEqual({left}, {right});")
}

pub(crate) fn assert_throws(function: &str) -> String {
    format!("assert.throws({function});")
}

pub(crate) fn assert_rejects(promise: &str) -> String {
    format!("await assert.rejects({promise});")
}
