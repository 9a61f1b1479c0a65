//! Commands of the debugger itself, which its adapter takes as expressions.

use std::time::Duration;

use super::DapDebugger;
use crate::deadlines;
use crate::error::Result;
use crate::model::ids::RawId;

/// Runs a command, about a frame where it needs one, and returns what it prints.
pub(super) async fn run(
    debugger: &DapDebugger,
    frame: Option<RawId>,
    command: String,
    within: Duration,
) -> Result<String> {
    Ok(debugger.request::<::dap::Evaluate>(arguments(frame, command), within).await?.result)
}

/// Has a command run before whatever is requested next. What it prints is not waited for.
pub(super) fn begin(debugger: &DapDebugger, command: String) {
    tokio::spawn(debugger.client().begin::<::dap::Evaluate>(&arguments(None, command), deadlines::REQUEST));
}

fn arguments(frame: Option<RawId>, command: String) -> ::dap::EvaluateArguments {
    ::dap::EvaluateArguments {
        expression: command,
        frame_id: frame.map(|frame| frame.0),
        context: Some("repl".to_owned()),
        ..Default::default()
    }
}

/// JSON as an argument. A debugger may evaluate what is between two backticks.
pub(super) fn argument(json: &str) -> String {
    json.replace('`', "\\u0060")
}
