//! How a toolset puts its answers and failures.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::ErrorBody;
use crate::{ToolError, error, schema};

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// For the model to read; empty for nothing.
    pub text: String,
    /// The same as data, where the toolset has it.
    pub structured: Option<Value>,
    /// It failed.
    pub is_error: bool,
}

/// The key under which an answer with data says what of its call was left out.
const WARNINGS: &str = "warnings";

impl Reply {
    /// The reply with warnings where they are read first: before all data, before a text, and after a text that says
    /// why nothing was done.
    #[must_use]
    pub(crate) fn warning(mut self, warnings: Vec<String>) -> Self {
        if warnings.is_empty() {
            return self;
        }
        let is_same = self.is_its_data();
        if !is_same {
            let lines: Vec<String> = warnings.iter().map(|warning| format!("warning: {warning}")).collect();
            let lines = lines.join("\n");
            self.text = match (self.text.is_empty(), self.is_error) {
                (true, _) => lines,
                (false, true) => format!("{}\n{lines}", self.text),
                (false, false) => format!("{lines}\n{}", self.text),
            };
        }
        if let Some(Value::Object(data)) = &mut self.structured {
            data.shift_insert(0, WARNINGS.to_owned(), warnings.into());
        }
        if is_same {
            self.text = self.structured.as_ref().map(Value::to_string).unwrap_or_default();
        }
        self
    }
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

    /// The schema of an answer's structured content; none if there is none.
    fn schema() -> Option<Map<String, Value>>;

    /// The schema of a failure's.
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

/// The data as structured content, and the same as text.
pub(crate) fn as_json(answer: &impl Serialize, is_error: bool) -> Reply {
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
        let said = failed.clone().naming_executable("executable_path").with_hint(error::quick);
        Reply { text: format!("Error: {said}"), structured: None, is_error: true }
    }

    fn schema() -> Option<Map<String, Value>> {
        None
    }

    fn failure_schema() -> Option<Map<String, Value>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn warnings_come_first() {
        let warnings = || vec!["ignored unknown argument `lien`".to_owned()];
        let data = as_json(&json!({ "success": true }), false).warning(warnings());
        assert_eq!(data.text, r#"{"warnings":["ignored unknown argument `lien`"],"success":true}"#);
        assert_eq!(data.structured.unwrap()["warnings"], json!(warnings()));
        let text = Text("a = 1".to_owned()).reply();
        assert_eq!(text.clone().warning(Vec::new()), text);
        assert_eq!(text.warning(warnings()).text, "warning: ignored unknown argument `lien`\na = 1");
        let failed = Text::failure(&ToolError::argument("line", "is missing"), "").warning(warnings());
        assert_eq!(failed.text, "Error: `line` is missing\nwarning: ignored unknown argument `lien`");
    }

    #[test]
    fn the_argument_for_an_executable_has_the_name_that_its_tool_has_for_it() {
        let error = ToolError::argument("executablePath", "is a folder");
        assert_eq!(Text::failure(&error, "").text, "Error: `executable_path` is a folder");
        let error = error.naming_executable("command");
        assert_eq!(Text::failure(&error, "").text, "Error: `command` is a folder");
    }
}
