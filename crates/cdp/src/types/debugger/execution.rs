//! Running and stopping.

use serde::{Deserialize, Serialize};

use super::CallFrame;
use crate::types::Empty;
use crate::types::runtime::{StackTrace, StackTraceId};

plain_commands! {
    /// Ends debugging of this thread; if it is paused, it runs.
    Disable = "Debugger.disable";
    /// Steps to the next statement of this function, or out of it.
    StepOver = "Debugger.stepOver";
    /// Steps out of this function.
    StepOut = "Debugger.stepOut";
    /// Stops at the next statement. An idle program has none until something happens.
    ///
    /// Between a resume and [`crate::Event::Resumed`] it is acknowledged and has no effect (Node 20 and 22).
    Pause = "Debugger.pause";
}

commands! {
    Enable = "Debugger.enable" => Enabled;
    Resume = "Debugger.resume" => Empty;
    StepInto = "Debugger.stepInto" => Empty;
    RestartFrame = "Debugger.restartFrame" => Restarted;
    SetAsyncCallStackDepth = "Debugger.setAsyncCallStackDepth" => Empty;
    SetBlackboxPatterns = "Debugger.setBlackboxPatterns" => Empty;
    SetBlackboxedRanges = "Debugger.setBlackboxedRanges" => Empty;
}

/// Begins debugging of this thread. V8 reports all loaded scripts, then those that load later.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Enable {
    /// How many bytes of scripts to keep that the program has released.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_scripts_cache_size: Option<u32>,
}

/// Debugging has begun.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Enabled {
    /// Who keeps the stack traces of this thread.
    pub debugger_id: String,
}

/// Runs.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// Ends the JavaScript that was paused instead.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub terminate_on_resume: bool,
}

/// Steps into the next call, or to the next statement.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepInto {
    /// Stops in the first async task that the step starts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub break_on_async_call: bool,
}

/// Begins a frame again. It runs until its first statement, with another stop.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestartFrame {
    /// The frame.
    pub call_frame_id: String,
    /// Needed by Node 20 and later, unknown to Node 18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<RestartMode>,
}

/// How a frame begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum RestartMode {
    /// Stops at its first statement.
    StepInto,
}

/// The frames before the restart; those that hold arrive with [`crate::Event::Paused`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Restarted {
    /// Empty in Node 20 and later.
    pub call_frames: Vec<CallFrame>,
    /// What started them.
    pub async_stack_trace: Option<StackTrace>,
    /// The same, if it is to be asked for.
    pub async_stack_trace_id: Option<StackTraceId>,
}

/// Keeps what started an async task. It costs time.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetAsyncCallStackDepth {
    /// How many generations; 0 is off. They are nested on the wire, so stops with more than a hundred cannot be
    /// read.
    pub max_depth: i32,
}

/// Chooses the scripts that steps do not stop in. Replaces all patterns.
#[derive(Clone, Debug, Serialize)]
pub struct SetBlackboxPatterns {
    /// Regular expressions that find something in a url.
    pub patterns: Vec<String>,
}

/// Replaces the ranges of a script whose functions are passed over by steps and by what is thrown and caught.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetBlackboxedRanges {
    /// The script.
    pub script_id: String,
    /// Where such a range begins, where it ends, where the next one begins …; each behind the one before it.
    pub positions: Vec<ScriptPosition>,
}

/// A place in a script that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptPosition {
    /// The line.
    pub line_number: i32,
    /// The column.
    pub column_number: i32,
}

impl ScriptPosition {
    /// A location, without its script.
    pub fn of(location: &super::Location) -> Self {
        let column_number = location.column_number.unwrap_or(0);
        Self { line_number: location.line_number, column_number }
    }
}
