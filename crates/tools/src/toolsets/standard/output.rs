//! Reading what a program wrote.

use engine::output::{Excerpt, Piece};
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
    /// The same, with mcp-debugger's field names.
    entries: Vec<OutputEntry>,
    /// Pass it as `since` in the next call.
    next_since: u64,
    has_more: bool,
    /// Bytes after the cursor that are no longer kept.
    dropped: u64,
}

/// A piece of output.
#[derive(Debug, Serialize, JsonSchema)]
struct OutputPiece {
    /// `stdout`, `stderr`, `log` (a logpoint) or `console` (the debugger).
    category: String,
    text: String,
}

/// A piece of output.
#[derive(Debug, Serialize, JsonSchema)]
struct OutputEntry {
    /// The cursor after it.
    seq: u64,
    category: String,
    output: String,
    /// Time of its beginning, in milliseconds since 1970.
    timestamp: i64,
}

/// An answer has its text twice, in places with every other character escaped, and is to be cut nowhere.
const FORMS: usize = 3;

/// The pieces by the names of mcp-debugger.
fn entries(excerpt: &Excerpt) -> Vec<OutputEntry> {
    let mut seq = excerpt.start;
    let entry = |piece: &Piece| {
        seq += piece.text.len() as u64;
        OutputEntry {
            seq,
            category: piece.category.to_string(),
            output: piece.text.clone(),
            timestamp: piece.at.as_millisecond(),
        }
    };
    excerpt.pieces.iter().map(entry).collect()
}

impl Tool for GetOutput {
    type Answer = ProgramOutput;
    const NAME: &'static str = "get_output";
    const TITLE: &'static str = "Get output";
    const DESCRIPTION: &'static str = "Read the program's output from a cursor.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<ProgramOutput, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        // Fewer bytes than a character has would read nothing forever.
        let limit = self.limit.unwrap_or(20_000).clamp(4, context.bounds().answer_size() / FORMS);
        // As in mcp-debugger, what is read from 0 on is of the program that was started last.
        let since = self.since.filter(|since| *since > 0);
        let since = since.unwrap_or_else(|| session.output().run_start());
        let excerpt = session.output().read(since, limit).with_whole_lines();
        let output = excerpt
            .pieces
            .iter()
            .map(|piece| OutputPiece { category: piece.category.to_string(), text: piece.text.clone() })
            .collect();
        Ok(ProgramOutput {
            success: true,
            session_id: session.id().to_string(),
            output,
            entries: entries(&excerpt),
            next_since: excerpt.next,
            has_more: excerpt.more > 0,
            dropped: excerpt.dropped,
        })
    }
}
