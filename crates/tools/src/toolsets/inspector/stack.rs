//! The stack, and the selected frame.

use engine::model::ids::ThreadId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::StatusAnswer;
use super::data::FrameData;
use crate::ops::inspect;
use crate::{Context, Effects, Tool, ToolError};

/// Frames of a page.
const FRAMES: usize = 50;

/// Lists frames.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerGetStack {
    /// default: the only open session
    session_id: Option<String>,
    /// default: the thread that stopped
    thread_id: Option<u32>,
    /// first frame, default 0
    start: Option<usize>,
    /// default 50
    count: Option<usize>,
    /// include frames of libraries and of the runtime
    include_internals: Option<bool>,
}

/// A stack.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackData {
    /// Innermost first.
    stack: Vec<FrameData>,
    /// Number of frames, including hidden ones.
    total_frames: usize,
    /// Number of omitted frames of libraries and of the runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden_frames: Option<usize>,
}

impl Tool for DebuggerGetStack {
    type Answer = StatusAnswer<StackData>;
    const NAME: &'static str = "debugger_get_stack";
    const TITLE: &'static str = "Get stack";
    const DESCRIPTION: &'static str = "Show the call stack, innermost frame first, with absolute paths.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<StatusAnswer<StackData>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let (start, count) = (self.start.unwrap_or(0), self.count.unwrap_or(FRAMES));
        let internals = self.include_internals.unwrap_or(false);
        let stack = inspect::stack(&session, self.thread_id.map(ThreadId), start, count, internals).await?;
        let frames = (start..).zip(&stack.frames);
        Ok(StatusAnswer(StackData {
            stack: frames.map(|(index, frame)| FrameData::new(index, frame)).collect(),
            total_frames: stack.total,
            hidden_frames: Some(stack.hidden).filter(|hidden| *hidden > 0),
        }))
    }
}

/// Chooses the frame to look at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerSwitchStackFrame {
    session_id: Option<String>,
    /// index in `debugger_get_stack`; 0 is the innermost
    frame_index: usize,
    /// the index counts internal frames too
    include_internals: Option<bool>,
}

/// The selected frame.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SelectedFrame {
    frame_index: usize,
    frame: FrameData,
}

impl Tool for DebuggerSwitchStackFrame {
    type Answer = StatusAnswer<SelectedFrame>;
    const NAME: &'static str = "debugger_switch_stack_frame";
    const TITLE: &'static str = "Switch stack frame";
    const DESCRIPTION: &'static str =
        "Select the frame for variables and expressions, until the program resumes.";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<SelectedFrame>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let (index, internals) = (self.frame_index, self.include_internals.unwrap_or(false));
        let frame = inspect::frame_at(&session, index, internals).await?;
        session.select_frame(frame.id);
        Ok(StatusAnswer(SelectedFrame { frame_index: index, frame: FrameData::new(index, &frame) }))
    }
}
