//! Running tests under the debugger.

use std::path::PathBuf;

use engine::adapter::Machine;
use engine::model::limits::Limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::StatusAnswer;
use crate::ops::closing::CloseOnDrop;
use crate::ops::command::Command;
use crate::ops::settle::Wait;
use crate::ops::test::{self, Test, Verdict};
use crate::ops::trace::check_counts;
use crate::render::{Shown, TestData};
use crate::{ArgumentList, CommandLine, Context, Effects, Tool, ToolError};

/// All of the output that is kept of a program, in bytes.
const OUTPUT: usize = 1 << 20;

/// Runs tests.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerRunTest {
    /// as typed, such as pytest, npx jest, npm test, go test, cargo test or mvn test
    command: CommandLine,
    args: Option<ArgumentList>,
    cwd: Option<PathBuf>,
    /// ms, default 20000
    timeout: Option<u64>,
    /// keep the session, paused at the first failure's throw
    keep_session: Option<bool>,
}

/// How the tests went.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TestRun {
    /// Tests ran, and none failed.
    passed: bool,
    #[serde(flatten)]
    tested: TestData,
    /// The session, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

impl Tool for DebuggerRunTest {
    type Answer = StatusAnswer<TestRun>;
    const NAME: &'static str = "debugger_run_test";
    const TITLE: &'static str = "Run test";
    const DESCRIPTION: &'static str = "Run tests (pytest, unittest, jest, vitest, mocha, node --test, go test, cargo test, GoogleTest, ctest, maven, gradle, rspec, minitest, PHPUnit): reports the first failure at its throw, with both sides of the assertion, source, locals, stack and all output.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<TestRun>, ToolError> {
        check_counts(context.bounds(), None, None, self.timeout)?;
        let command = Command::read(&Machine, &self.command, self.args, self.cwd)?;
        let limits = Limits { output: OUTPUT, ..test::limits(context.bounds()) };
        let session = test::open(context, &command)?;
        let closing = CloseOnDrop::new(context, &session, true);
        let keeps = self.keep_session.unwrap_or(false);
        let request = Test { command, wait: Wait::new(context.bounds(), self.timeout, limits)?, keeps };
        let tested = test::test(&session, request, context).await;
        let is_kept = tested.as_ref().is_ok_and(|tested| tested.is_kept);
        closing.settle(!is_kept).await;
        let tested = tested?;
        Ok(StatusAnswer(TestRun {
            passed: tested.verdict == Verdict::Passed,
            tested: TestData::new(tested, Shown { whole_output: true, ..Shown::usual(limits) }),
            session_id: is_kept.then(|| session.id().to_string()),
        }))
    }
}
