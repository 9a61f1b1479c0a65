//! Running tests under the debugger.

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::adapter::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::LimitsParam;
use crate::ops::closing::CloseOnDrop;
use crate::ops::command::Command;
use crate::ops::settle::Wait;
use crate::ops::test::{self, Test};
use crate::ops::trace::check_counts;
use crate::render::{Shown, TestData};
use crate::{ArgumentList, CommandLine, Context, Effects, Tool, ToolError};

/// Runs tests.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebugTest {
    /// as typed: `pytest -x test_a.py::test_b`
    command: CommandLine,
    args: Option<ArgumentList>,
    cwd: Option<PathBuf>,
    env: Option<BTreeMap<String, String>>,
    timeout: Option<u64>,
    /// stay stopped at the first failure
    keep_session: Option<bool>,
    /// failures in full, default 1
    failures: Option<usize>,
    limits: Option<LimitsParam>,
}

/// How the tests went.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DebuggedTest {
    /// Always true, even if tests fail; failed calls have a different shape.
    success: bool,
    #[serde(flatten)]
    tested: TestData,
    /// The session, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

impl Tool for DebugTest {
    type Answer = DebuggedTest;
    const NAME: &'static str = "debug_test";
    const TITLE: &'static str = "Debug test";
    const DESCRIPTION: &'static str = "Run tests; reports the first failure with its state at the throw: both sides of the assertion, source, locals.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<DebuggedTest, ToolError> {
        check_counts(context.bounds(), None, None, self.timeout)?;
        let mut command = Command::read(&Machine, &self.command, self.args, self.cwd)?;
        command.launch.env.extend(self.env.into_iter().flatten().map(|(name, value)| (name, Some(value))));
        let usual = test::limits(context.bounds());
        let limits = match self.limits {
            Some(limits) => LimitsParam::limits(context.bounds(), Some(limits))?,
            None => usual,
        };
        let shown = Shown { failures: self.failures.unwrap_or(1), ..Shown::usual(limits) };
        let session = test::open(context, &command)?;
        let closing = CloseOnDrop::new(context, &session, true);
        let request = Test {
            command,
            wait: Wait::new(context.bounds(), self.timeout, limits)?,
            keeps: self.keep_session == Some(true),
        };
        let tested = test::test(&session, request, context).await;
        let is_kept = tested.as_ref().is_ok_and(|tested| tested.is_kept);
        closing.settle(!is_kept).await;
        let session_id = is_kept.then(|| session.id().to_string());
        Ok(DebuggedTest { success: true, tested: TestData::new(tested?, shown), session_id })
    }
}
