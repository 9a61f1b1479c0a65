//! Looking at a suspended program.

use engine::model::ids::Reference;
use engine::model::variable::Page;
use engine::session::Session;
use schemars::JsonSchema;
use serde::Deserialize;

use super::QuickTool;
use super::text;
use crate::ops::inspect;
use crate::render::unquoted;
use crate::{Context, Effects, ToolError};

/// Characters of a result unless it is asked for more.
const RESULT: usize = 1000;
/// Variables of a frame.
const VARIABLES: u64 = 100;
/// Frames of a stack unless it is asked for more.
const FRAMES: usize = 50;

/// The frame of that number in the stack; the innermost of the user's without one.
async fn frame(session: &Session, number: Option<usize>) -> Result<Reference, ToolError> {
    let number = number.unwrap_or(0);
    let frames = inspect::stack(session, None, number, 1, false).await?.frames;
    let frame = frames.first().map(|frame| frame.id);
    frame.ok_or_else(|| ToolError::argument("frame", format!("is past the end of the stack: #{number}")))
}

/// Evaluates.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugEvaluate {
    /// an expression, or a statement such as x = 1
    expression: String,
    /// frame number in the stack, default 0
    frame: Option<usize>,
    /// ms, default 5000; interrupted after that
    timeout: Option<u64>,
    /// maximum characters of the result, default 1000
    max_length: Option<usize>,
}

impl QuickTool for DebugEvaluate {
    const NAME: &'static str = "debug_evaluate";
    const TITLE: &'static str = "Evaluate";
    const DESCRIPTION: &'static str =
        "Evaluate an expression in the current frame. Side effects are allowed and persist.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let session = context.quick_session().await?;
        let frame = frame(&session, self.frame).await?;
        let length = context.bounds().requested_length("max_length", self.max_length, RESULT)?;
        let value =
            inspect::evaluate(&session, &self.expression, Some(frame.0), self.timeout, length, false).await?;
        // A string is shown as it would be printed.
        let is_string = matches!(value.type_name.as_str(), "str" | "string");
        let plain = is_string.then(|| unquoted(&value.text)).flatten();
        let shown = plain.as_ref().unwrap_or(&value.text);
        let mut said = format!("({}) {shown}", text::type_name(&value, session.adapter()));
        if value.cut {
            let all = value.length.map(|length| format!(" of {length} characters")).unwrap_or_default();
            said = format!("{said}\nnote: only the beginning{all} is shown; raise `max_length` for more");
        }
        if let Some(note) = &value.note {
            said = format!("{said}\nnote: {note}");
        }
        Ok(said)
    }
}

/// Lists frames.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugStack {
    /// maximum frames, default 50
    count: Option<usize>,
}

impl QuickTool for DebugStack {
    const NAME: &'static str = "debug_stack";
    const TITLE: &'static str = "Stack";
    const DESCRIPTION: &'static str = "Show the current call stack, innermost frame first.";
    const EFFECTS: Effects = Effects::NONE;

    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let session = context.quick_session().await?;
        let count = self.count.unwrap_or(FRAMES);
        let stack = inspect::stack(&session, None, 0, count, false).await?;
        let shown = stack.frames.iter().enumerate().map(|(number, frame)| text::frame(number, frame));
        let more = stack.total.saturating_sub(stack.hidden + stack.frames.len());
        let more = (more > 0).then(|| format!("... and {more} more; raise `count` to see them"));
        let said = text::lines(shown.chain(more));
        Ok(said)
    }
}

/// Lists variables.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugVariables {
    /// frame number in the stack, default 0
    frame: Option<usize>,
}

impl QuickTool for DebugVariables {
    const NAME: &'static str = "debug_variables";
    const TITLE: &'static str = "Variables";
    const DESCRIPTION: &'static str = "Show the local variables of the current frame, with types and values.";
    const EFFECTS: Effects = Effects::NONE;

    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let session = context.quick_session().await?;
        let frame = frame(&session, self.frame).await?;
        let page = Page { start: 0, count: VARIABLES, special: false, internals: false };
        let (scope, children) = session.locals(frame, page, context.bounds().report().value).await?;
        let said = if children.variables.is_empty() {
            format!("The scope {scope} has no variables.")
        } else {
            text::variables(&children, session.adapter())
        };
        Ok(said)
    }
}
