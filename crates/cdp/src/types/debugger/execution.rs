//! Running and stopping.

use serde::Serialize;

use crate::types::Empty;

plain_commands! {
    /// Begins debugging of this thread. V8 reports all loaded scripts, then those that load later.
    Enable = "Debugger.enable";
    /// Ends debugging of this thread; if it is paused, it runs.
    Disable = "Debugger.disable";
    /// Runs.
    Resume = "Debugger.resume";
    /// Steps into the next call, or to the next statement.
    StepInto = "Debugger.stepInto";
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
    SetAsyncCallStackDepth = "Debugger.setAsyncCallStackDepth" => Empty;
    SetBlackboxPatterns = "Debugger.setBlackboxPatterns" => Empty;
    SetBlackboxedRanges = "Debugger.setBlackboxedRanges" => Empty;
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
    /// Where such a range begins, where it ends, where the next one begins …; each after the one before it.
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
