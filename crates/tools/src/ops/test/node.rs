//! What is particular to the test runners of Node.js.

use engine::model::launch::Launch;
use engine::test_reports::TestReports;

use super::Runner;
use crate::ToolError;
use crate::ops::command::Command;

/// The runner that a command starts.
pub(super) fn runner(_command: &Command) -> Option<Runner> {
    None
}

/// Has a reporter of ours run beside the user's.
pub(super) fn prepare(
    _runner: Runner,
    _launch: &mut Launch,
    _reports: &TestReports,
) -> Result<(), ToolError> {
    Ok(())
}

/// What is said when the runner is not installed.
pub(super) fn missing(_runner: Runner, _command: &Command, _output: &str) -> Option<ToolError> {
    None
}
