//! Events: stops, breakpoints that were bound, and scripts that were loaded.

use serde::Deserialize;
use serde_json::Value;

use super::{CallFrame, Location};
use crate::types::runtime::StackTrace;

/// Parameters of [`crate::Event::Paused`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Paused {
    /// Innermost first.
    pub call_frames: Vec<CallFrame>,
    /// `Break on start`, `exception`, `promiseRejection`, `instrumentation`, `OOM`, `ambiguous`; `other` for
    /// breakpoints, `debugger` statements and pauses; for steps `step`, before Node 22 `other`.
    pub reason: String,
    /// The exception as a `RemoteObject` with `uncaught`, or the script of an instrumentation.
    pub data: Option<Value>,
    /// The ids of the breakpoints.
    pub hit_breakpoints: Vec<String>,
    /// What started the async task, if async stacks are on.
    pub async_stack_trace: Option<StackTrace>,
}

/// Parameters of [`crate::Event::BreakpointResolved`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BreakpointResolved {
    /// The breakpoint.
    pub breakpoint_id: String,
    /// A place of it.
    pub location: Location,
}

/// Parameters of [`crate::Event::ScriptParsed`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Script {
    /// Its id.
    pub script_id: String,
    /// A `file:` url for files, `node:…` for Node's own, `evalmachine.<anonymous>` or empty for others.
    pub url: String,
    /// Where it begins in its file.
    pub start_line: i32,
    /// Where it begins in its file.
    pub start_column: i32,
    /// Where it ends.
    pub end_line: i32,
    /// Where it ends.
    pub end_column: i32,
    /// In which context.
    pub execution_context_id: i32,
    /// As written in the script: relative, absolute, or `data:` with the whole map.
    #[serde(rename = "sourceMapURL")]
    pub source_map_url: Option<String>,
    /// It is an ES module.
    pub is_module: bool,
}
