//! Failing tests under the runners that people use. Some run each file in a process or a thread of its own.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Language};

use crate::debugging::{Debugging, Report};
use crate::project::Project;

/// The module that is tested.
const SUM: &str = "
function sum(numbers) {
  let total = 0; // @first
  for (const number of numbers) {
    total += number; // @add
  }
  return total;
}
module.exports = { sum };
";

/// A runner, and a test for it that fails.
struct Runner {
    packages: &'static [&'static str],
    file: &'static str,
    text: &'static str,
    /// How it is started, besides its folder.
    start: Value,
}

fn node_test() -> Runner {
    Runner {
        packages: &[],
        file: "sum.test.js",
        text: r#"
const test = require("node:test"); // @entry
const assert = require("node:assert");
const { sum } = require("./sum.js");

test("sums", () => {
  const total = sum([1, 2]); // @sum
  assert.strictEqual(total, 4); // @fails
});
"#,
        start: json!({ "runtimeArgs": ["--test"] }),
    }
}

fn mocha() -> Runner {
    Runner {
        packages: &["mocha"],
        file: "test/sum.js",
        text: r#"
const assert = require("node:assert"); // @entry
const { sum } = require("../sum.js");

it("sums", () => {
  const total = sum([1, 2]); // @sum
  assert.strictEqual(total, 4); // @fails
});
"#,
        start: json!({ "module": "mocha" }),
    }
}

/// Jest compiles with Babel, and `sum` is called through a name of its own.
fn jest() -> Runner {
    Runner {
        packages: &["jest"],
        file: "sum.test.js",
        text: r#"
const { sum } = require("./sum.js"); // @entry

test("sums", () => {
  const total = sum([1, 2]); // @sum
  expect(total).toBe(4); // @fails
});
"#,
        start: json!({ "module": "jest" }),
    }
}

fn vitest() -> Runner {
    Runner {
        packages: &["vitest"],
        file: "sum.test.ts",
        text: r#"
import { expect, it } from "vitest";
import { sum } from "./sum.js";

it("sums", () => { // @entry
  const total: number = sum([1, 2]); // @sum
  expect(total).toBe(4); // @fails
});
"#,
        start: json!({ "module": "vitest", "args": ["run"] }),
    }
}

impl Runner {
    async fn project(&self) -> (Project, Fixture, Value) {
        let project = Project::with(self.packages).await;
        project.file("sum.js", SUM);
        let test = project.file(self.file, self.text);
        let mut start = self.start.clone();
        start["cwd"] = json!(project.folder());
        (project, test, start)
    }

    /// Stops in the test and in what it tests, steps, and runs to the runner's own end.
    async fn stops_in_the_test(&self) {
        let (project, test, start) = self.project().await;
        let module = project.read("sum.js");
        let session = Debugging::of(Language::Node).await;
        session.break_at(&test, "sum").await;
        session.break_with(&module, "add", json!({ "condition": "number === 2" })).await;
        let stopped = session.ok("start_debugging", start).await;
        let stopped = settled(&session, stopped).await;
        assert_eq!(
            (stopped.outcome(), stopped.place()),
            ("breakpoint", (test.path(), test.line("sum"))),
            "{}",
            stopped.text
        );
        let inside = session.go_on().await;
        assert_eq!(
            (inside.place(), inside.variable("total")),
            ((module.path(), module.line("add")), "1"),
            "{}",
            inside.text
        );
        assert_eq!(inside.at("/stackFrames/1/file"), test.path(), "{}", inside.text);
        // V8 has no place between the return and the next statement of the test.
        let fails = session.step("step_out").await;
        assert_eq!(
            (fails.place(), fails.variable("total")),
            ((test.path(), test.line("fails")), "3"),
            "{}",
            fails.text
        );
        let ended = session.go_on().await;
        let ended = settled(&session, ended).await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)), "{}", ended.text);
        session.finish().await;
    }

    /// Stops before the first statement of the user's, which the runner comes to late, and only once.
    async fn stops_on_entry(&self) {
        let (_project, test, mut start) = self.project().await;
        start["dapLaunchArgs"] = json!({ "stopOnEntry": true });
        let session = Debugging::of(Language::Node).await;
        let entered = session.ok("start_debugging", start).await;
        let entered = settled(&session, entered).await;
        let location = (test.path(), test.line("entry"));
        assert_eq!((entered.outcome(), entered.place()), ("entry", location), "{}", entered.text);
        let ended = session.go_on().await;
        let ended = settled(&session, ended).await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)), "{}", ended.text);
        session.finish().await;
    }

    /// A compiler may leave the first lines of a file where they are.
    async fn stops_in_the_first_line(&self) {
        let (_project, test, start) = self.project().await;
        let session = Debugging::of(Language::Node).await;
        session.break_at(&test, "entry").await;
        let stopped = session.ok("start_debugging", start).await;
        let stopped = settled(&session, stopped).await;
        let location = (test.path(), test.line("entry"));
        assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", location), "{}", stopped.text);
        session.finish().await;
    }

    /// Stops where the test fails, although the runner catches that.
    async fn stops_at_the_failure(&self) {
        let (_project, test, mut start) = self.project().await;
        let session = Debugging::of(Language::Node).await;
        start["sessionId"] = json!(session.id);
        start["exceptions"] = json!("all");
        let mut stopped = session.server.ok("run_until", start).await;
        while stopped["state"] == "running" {
            let more = json!({ "exceptions": "all" });
            stopped = session.ok("run_until", more).await;
        }
        assert_eq!(
            (stopped.outcome(), stopped.place()),
            ("exception", (test.path(), test.line("fails"))),
            "{}",
            stopped.text
        );
        assert_eq!(stopped.variable("total"), "3");
        session.finish().await;
    }

    /// The runner's own package says nothing of where the function is.
    async fn stops_in_a_function_of_any_file(&self) {
        let (project, _, mut start) = self.project().await;
        let sum = project.read("sum.js");
        let session = Debugging::of(Language::Node).await;
        start["until"] = json!([{ "function": "sum" }]);
        start["sessionId"] = json!(session.id);
        let mut stopped = session.server.ok("run_until", start).await;
        while stopped["state"] == "running" {
            stopped = session.ok("run_until", json!({ "until": [{ "function": "sum" }] })).await;
        }
        let location = (sum.path(), sum.line("first"));
        assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", location), "{}", stopped.text);
        session.finish().await;
    }
}

/// Waits longer, where a runner takes its time.
async fn settled(session: &Debugging, mut report: Answer) -> Answer {
    while report.outcome() == "running" {
        report = session.go_on().await;
    }
    report
}

/// The tests of runners. On each push, those of a runner with an attribute are a part of them.
macro_rules! runners {
    ($($(#[$left_out:meta])? $runner:ident as $tests:ident),+ $(,)?) => {
        $(
            mod $tests {
                #[tokio::test]
                async fn a_breakpoint_in_a_test_stops_and_the_exit_code_is_the_runners() {
                    super::$runner().stops_in_the_test().await;
                }

                #[tokio::test]
                $(#[$left_out])?
                async fn a_stop_on_entry_is_before_the_first_line_of_the_test() {
                    super::$runner().stops_on_entry().await;
                }

                #[tokio::test]
                $(#[$left_out])?
                async fn a_breakpoint_on_the_first_line_of_the_test_stops_there() {
                    super::$runner().stops_in_the_first_line().await;
                }

                #[tokio::test]
                async fn the_program_stops_at_the_failing_line() {
                    super::$runner().stops_at_the_failure().await;
                }

                #[tokio::test]
                $(#[$left_out])?
                async fn a_function_is_found_without_its_file() {
                    super::$runner().stops_in_a_function_of_any_file().await;
                }
            }
        )+
    };
}

runners!(
    node_test as under_node_test,
    mocha as under_mocha,
    #[ignore = "cargo xtask test --full"]
    jest as under_jest,
    #[ignore = "cargo xtask test --full"]
    vitest as under_vitest,
);
