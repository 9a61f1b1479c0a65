//! The thrown value.

use std::sync::Arc;

use ::cdp::runtime::RemoteObject;
use serde::Deserialize;
use serde_json::json;

use super::frame::{Frame, context_of};
use super::helper::object;
use super::reader::ValueReader;
use super::rows::ShownValue;
use super::text;
use crate::error::{Error, Result};
use crate::model::limits::MAX_VALUE;
use crate::model::stop::Exception;

/// A thrown value, as the helper describes it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ThrownDescription {
    /// The name of the error, or the type of another value.
    #[serde(rename = "type")]
    type_name: String,
    /// The error's own, or the text of another value.
    message: String,
    /// Name and message of an error.
    headline: Option<String>,
    /// With those of the causes.
    stack: String,
    /// The stack was not read, because code of the program would put it together.
    unread: bool,
}

impl ValueReader {
    /// The exception that the thread is stopped at.
    ///
    /// For an error, the helper returns name, message, and the stack with the stacks of its causes after `[cause]:`.
    /// For any other thrown value, it returns type and text; there is no stack. Error stacks are computed when they
    /// are first read, by the program's code if it has set `Error.prepareStackTrace`. V8 itself reads the stack of a
    /// thrown error before it reports the stop.
    pub(in super::super) async fn exception(
        &self,
        thrown: &RemoteObject,
        uncaught: bool,
    ) -> Result<Exception> {
        let ThrownDescription { type_name, message, stack, .. } = self.thrown(thrown, None).await?;
        Ok(Exception { type_name, message, stack, uncaught })
    }

    pub(super) async fn thrown(
        &self,
        thrown: &RemoteObject,
        frame: Option<&Arc<Frame>>,
    ) -> Result<ThrownDescription> {
        let id = thrown.object_id.as_deref();
        let context = id.and_then(context_of).or_else(|| frame.and_then(|frame| frame.context()));
        let helper = self.helper(context.filter(|_| id.is_some())).await?;
        let (Some(id), Some(helper)) = (id, helper) else { return Ok(ThrownDescription::plain(thrown)) };
        let described = thrown.description.clone();
        let mut thrown: ThrownDescription =
            self.call(&helper, "exception", json!({ "limit": MAX_VALUE }), [object(id)]).await?;
        if thrown.unread {
            thrown.stack = described.unwrap_or_default();
        }
        thrown.stack = without_evaluation(&thrown.stack);
        Ok(thrown)
    }

    /// Whether an error was asked about before; it is known from here on.
    pub(in super::super) async fn is_known(&self, thrown: &RemoteObject) -> bool {
        let Some(id) = thrown.object_id.as_deref() else { return false };
        // Where the program cannot be asked, a stop is one too many, not one too few.
        let Ok(Some(helper)) = self.helper(context_of(id)).await else { return false };
        self.call(&helper, "known", json!({}), [object(id)]).await.unwrap_or(false)
    }
}

impl ThrownDescription {
    /// From what V8 says of it.
    fn plain(thrown: &RemoteObject) -> Self {
        let ShownValue { text, type_name, .. } = text::shown(thrown, MAX_VALUE);
        if thrown.subtype.as_deref() != Some("error") {
            return Self { type_name, message: text, ..Self::default() };
        }
        let stack = without_evaluation(thrown.description.as_deref().unwrap_or_default());
        let message = text.split_once(": ").map_or(String::new(), |(_, message)| message.to_owned());
        Self { type_name, message, headline: Some(text), stack, unread: false }
    }

    /// Whether it is what V8 throws in place of an effect. A program that throws the same is taken for refused.
    pub(super) fn is_refusal(&self) -> bool {
        self.headline.is_some() && self.message == "Possible side-effect in debug-evaluate"
    }

    /// As the failure of an expression.
    pub(super) fn raised(self) -> Error {
        let message = match &self.headline {
            Some(headline) => headline.lines().next().unwrap_or_default().to_owned(),
            None => format!("Uncaught {}", self.message),
        };
        Error::Raised { type_name: self.type_name, message, traceback: self.stack }
    }
}

/// A stack without the frames of an expression that we evaluate.
fn without_evaluation(stack: &str) -> String {
    let is_ours = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("at ") && line.contains("(eval at ") && line.contains("<anonymous>:")
    };
    let lines: Vec<&str> = stack.lines().filter(|line| !is_ours(line)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_expression_are_omitted() {
        let stack = "TypeError: x\n    at g (/app/a.js:1:2)\n    at eval (eval at f (/app/a.js:6:5), \
                     <anonymous>:2:6)\n    at f (/app/a.js:6:5)";
        let trimmed = "TypeError: x\n    at g (/app/a.js:1:2)\n    at f (/app/a.js:6:5)";
        assert_eq!(without_evaluation(stack), trimmed);
    }

    #[test]
    fn thrown_non_errors_are_reported_as_values() {
        let thrown =
            RemoteObject { kind: "string".to_owned(), value: Some("no".into()), ..RemoteObject::default() };
        let Error::Raised { type_name, message, traceback } = ThrownDescription::plain(&thrown).raised()
        else {
            panic!()
        };
        assert_eq!(
            (type_name.as_str(), message.as_str(), traceback.as_str()),
            ("string", "Uncaught 'no'", "")
        );
    }
}
