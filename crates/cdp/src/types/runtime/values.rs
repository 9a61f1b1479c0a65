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
    /// As JSON: a simple value, or any if it was asked for by value. `null` is the subtype `null`.
    pub value: Option<Value>,
    /// `NaN`, `Infinity`, `-Infinity`, `-0`, or a big integer with its `n`.
    pub unserializable_value: Option<String>,
    /// As text: the stack of an error, the source of a function, `Array(3)` …
    pub description: Option<String>,
    /// The id, good until its group is released or the thread runs.
    pub object_id: Option<String>,
    /// Some of its properties, where they were asked for.
    pub preview: Option<Box<ObjectPreview>>,
}

/// Some properties of an object: five, or a hundred elements.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectPreview {
    /// What `typeof` says.
    #[serde(rename = "type")]
    pub kind: String,
    /// As for [`RemoteObject`].
    pub subtype: Option<String>,
    /// As for [`RemoteObject`].
    pub description: Option<String>,
    /// There are more.
    pub overflow: bool,
    /// The properties.
    pub properties: Vec<PropertyPreview>,
    /// The entries of a map or set.
    pub entries: Vec<EntryPreview>,
}

/// A property in a preview.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PropertyPreview {
    /// Its name.
    pub name: String,
    /// What `typeof` says, or `accessor`.
    #[serde(rename = "type")]
    pub kind: String,
    /// As for [`RemoteObject`].
    pub subtype: Option<String>,
    /// Its value as text, shortened.
    pub value: Option<String>,
}

/// An entry of a map or set in a preview.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct EntryPreview {
    /// None in a set.
    pub key: Option<ObjectPreview>,
    /// The value.
    pub value: ObjectPreview,
}

/// A property.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own shape")]
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
    /// The value is what was thrown instead.
    pub was_thrown: bool,
    /// It is not a prototype's.
    pub is_own: bool,
    /// The symbol, if it is named by one.
    pub symbol: Option<RemoteObject>,
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
    /// A number for it.
    pub exception_id: i32,
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
    /// What was thrown.
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
    /// The parent, if it is to be asked for with `Debugger.getStackTrace`.
    pub parent_id: Option<StackTraceId>,
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

/// A stack trace that is kept by a debugger.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTraceId {
    /// Its id.
    pub id: String,
    /// Who keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debugger_id: Option<String>,
}
