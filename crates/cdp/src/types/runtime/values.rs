//! Values, what they are made of, and where they come from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value of the program: itself if it is simple, else a description and an id.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RemoteObject {
    /// What `typeof` says.
    #[serde(rename = "type")]
    pub kind: String,
    /// `array`, `null`, `map`, `error`, `proxy`, `promise` …, for objects.
    pub subtype: Option<String>,
    /// The name of the constructor, for objects.
    pub class_name: Option<String>,
    /// As JSON: a simple value, or any if it was requested by value. `null` is the subtype `null`.
    pub value: Option<Value>,
    /// `NaN`, `Infinity`, `-Infinity`, `-0`, or a big integer with its `n`.
    pub unserializable_value: Option<String>,
    /// As text: the stack of an error, the source of a function, `Array(3)` …
    pub description: Option<String>,
    /// The id, good until its group is released or the thread runs.
    pub object_id: Option<String>,
}

/// A property.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PropertyDescriptor {
    /// Its name, or the description of its symbol.
    pub name: String,
    /// Its value, if it is not an accessor.
    pub value: Option<RemoteObject>,
    /// Its getter; `undefined` if it has a setter only.
    pub get: Option<RemoteObject>,
    /// Its setter; `undefined` if it has a getter only.
    pub set: Option<RemoteObject>,
    /// It can be assigned to.
    pub writable: bool,
    /// It can be deleted and redefined.
    pub configurable: bool,
    /// It takes part in loops over the object.
    pub enumerable: bool,
}

/// A value for the program: one of these, or `undefined` if all are missing.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallArgument {
    /// As JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// As in [`RemoteObject::unserializable_value`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unserializable_value: Option<String>,
    /// A value that is known already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<String>,
}

/// Something that was thrown, or does not compile.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionDetails {
    /// `Uncaught`, `Uncaught (in promise)`; the message is in the exception.
    pub text: String,
    /// Where it was thrown.
    pub line_number: i32,
    /// Where it was thrown.
    pub column_number: i32,
    /// In which script.
    pub script_id: Option<String>,
    /// In which script, if it is not known by its id.
    pub url: Option<String>,
    /// Through which calls.
    pub stack_trace: Option<StackTrace>,
    /// The thrown value.
    pub exception: Option<RemoteObject>,
    /// In which context.
    pub execution_context_id: Option<i32>,
}

/// The calls that led to a place.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTrace {
    /// `await`, `Promise.then`, `setTimeout`: what links a parent to its child.
    pub description: Option<String>,
    /// Innermost first.
    pub call_frames: Vec<CallFrame>,
    /// What started this one, if async stacks are on.
    pub parent: Option<Box<StackTrace>>,
}

/// A call in a [`StackTrace`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallFrame {
    /// The function's name; empty if it has none.
    pub function_name: String,
    /// The script.
    pub script_id: String,
    /// The script's url.
    pub url: String,
    /// The place.
    pub line_number: i32,
    /// The place.
    pub column_number: i32,
}
