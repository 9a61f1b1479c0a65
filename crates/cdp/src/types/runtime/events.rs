//! Events: calls of bindings and of `console`.

use serde::Deserialize;

use super::{RemoteObject, StackTrace};

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
