//! How a toolset puts its answers and failures.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::ErrorBody;
use crate::{ToolError, error, schema};

/// What a tool call leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// For the model to read; empty for nothing.
    pub text: String,
    /// The same as data, where the toolset has it.
    pub structured: Option<Value>,
    /// It failed.
    pub is_error: bool,
}

/// What a tool answers, in the way of its toolset.
///
/// Whatever can be written as JSON is one already, in the way of `standard`: an object as structured content,
/// and the same as text.
pub trait Answer: Sized {
    /// The answer of a call that went well.
    fn reply(self) -> Reply;

    /// The answer of a call of this tool that failed.
    fn failure(error: &ToolError, tool: &str) -> Reply;

    /// What the structured content of an answer looks like; none where there is none.
    fn schema() -> Option<Map<String, Value>>;

    /// What that of a failure looks like.
    fn failure_schema() -> Option<Map<String, Value>>;
}

impl<T: Serialize + JsonSchema> Answer for T {
    fn reply(self) -> Reply {
        as_json(&self, false)
    }

    fn failure(error: &ToolError, _tool: &str) -> Reply {
        as_json(&error.body(), true)
    }

    fn schema() -> Option<Map<String, Value>> {
        Some(schema::output::<T>())
    }

    fn failure_schema() -> Option<Map<String, Value>> {
        Some(schema::output::<ErrorBody>())
    }
}

fn as_json(answer: &impl Serialize, is_error: bool) -> Reply {
    let structured = serde_json::to_value(answer).unwrap_or_default();
    Reply { text: structured.to_string(), structured: Some(structured), is_error }
}

/// Text made for a model, and nothing else, in the way of `quick`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(pub String);

impl Answer for Text {
    fn reply(self) -> Reply {
        Reply { text: self.0, structured: None, is_error: false }
    }

    fn failure(failed: &ToolError, _tool: &str) -> Reply {
        Reply { text: format!("Error: {}", failed.told(error::quick)), structured: None, is_error: true }
    }

    fn schema() -> Option<Map<String, Value>> {
        None
    }

    fn failure_schema() -> Option<Map<String, Value>> {
        None
    }
}
