//! Reading what a program wrote.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Context, Effects, Tool, ToolError};

/// Reads output.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetOutput {
    session_id: Option<String>,
    /// cursor: nextSince of the last answer; default: the start
    since: Option<u64>,
    /// bytes, default 20000
    limit: Option<usize>,
}

/// Output of the program.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProgramOutput {
    success: bool,
    session_id: String,
    output: Vec<OutputPiece>,
    /// Pass it as `since` the next time.
    next_since: u64,
    has_more: bool,
    /// Bytes after the cursor that are not kept any more.
    dropped: u64,
}

/// A piece of output.
#[derive(Debug, Serialize, JsonSchema)]
struct OutputPiece {
    /// `stdout`, `stderr`, `log` (a logpoint) or `console` (the debugger).
    category: String,
    text: String,
}

impl Tool for GetOutput {
    type Answer = ProgramOutput;
    const NAME: &'static str = "get_output";
    const TITLE: &'static str = "Get output";
    const DESCRIPTION: &'static str = "What the program wrote, from a cursor on.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<ProgramOutput, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        // Fewer bytes than a character has would read nothing for ever.
        let limit = self.limit.unwrap_or(20_000).max(4);
        let excerpt = session.output().read(self.since.unwrap_or(0), limit).with_whole_lines();
        let output = excerpt
            .pieces
            .iter()
            .map(|piece| OutputPiece { category: piece.category.to_string(), text: piece.text.clone() })
            .collect();
        Ok(ProgramOutput {
            success: true,
            session_id: session.id().to_string(),
            output,
            next_since: excerpt.next,
            has_more: excerpt.more > 0,
            dropped: excerpt.dropped,
        })
    }
}
