//! Events: calls of bindings and of `console`.

use serde::Deserialize;
use serde_json::Value;

use super::{ExceptionDetails, RemoteObject, StackTrace};

/// Parameters of [`crate::Event::BindingCalled`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BindingCalled {
    /// The function's name.
    pub name: String,
    /// What it was called with.
    pub payload: String,
    /// In which context.
    pub execution_context_id: i32,
}

/// Parameters of [`crate::Event::ConsoleApiCalled`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConsoleApiCalled {
    /// `log`, `debug`, `info`, `error`, `warning`, `dir`, `table`, `trace`, `assert` …
    #[serde(rename = "type")]
    pub kind: String,
    /// What it was called with.
    pub args: Vec<RemoteObject>,
    /// In which context.
    pub execution_context_id: i32,
    /// Milliseconds since 1970.
    pub timestamp: f64,
    /// From where.
    pub stack_trace: Option<StackTrace>,
}

/// Parameters of [`crate::Event::ExceptionThrown`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionThrown {
    /// Milliseconds since 1970.
    pub timestamp: f64,
    /// What and where.
    pub exception_details: ExceptionDetails,
}

/// Parameters of [`crate::Event::ExecutionContextCreated`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ExecutionContextCreated {
    /// The context.
    pub context: ExecutionContextDescription,
}

/// A global object and its program.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecutionContextDescription {
    /// Its number.
    pub id: i32,
    /// Where it is from; empty in Node.
    pub origin: String,
    /// `node[PID]` for the main one.
    pub name: String,
    /// A name that no other context of any process has.
    pub unique_id: String,
    /// `isDefault` is true for the main one.
    pub aux_data: Option<Value>,
}

/// Parameters of [`crate::Event::ExecutionContextDestroyed`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExecutionContextDestroyed {
    /// Its number.
    pub execution_context_id: i32,
}
