//! Frames, scopes, and what can be done with them.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use crate::types::Empty;
use crate::types::runtime::{CallArgument, Evaluated, RemoteObject};

commands! {
    EvaluateOnCallFrame = "Debugger.evaluateOnCallFrame" => Evaluated;
    SetVariableValue = "Debugger.setVariableValue" => Empty;
    SetReturnValue = "Debugger.setReturnValue" => Empty;
    GetScriptSource = "Debugger.getScriptSource" => ScriptSource;
}

/// A place in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Location {
    /// The script.
    pub script_id: String,
    /// The line.
    pub line_number: i32,
    /// The column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column_number: Option<i32>,
}

/// A call of a thread that is paused.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallFrame {
    /// Its id, good until the thread runs.
    pub call_frame_id: String,
    /// The function's name; empty if it has none.
    pub function_name: String,
    /// Where the function is.
    pub function_location: Option<Location>,
    /// Where the call is.
    pub location: Location,
    /// The script's url, which Node leaves empty: the script is known by its id.
    pub url: String,
    /// Innermost first.
    pub scope_chain: Vec<Scope>,
    /// What `this` is.
    pub this: RemoteObject,
    /// What it returns, if it is at its end.
    pub return_value: Option<RemoteObject>,
}

/// A set of variables.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scope {
    /// `global`, `local`, `with`, `closure`, `catch`, `block`, `script`, `eval`, `module` …
    #[serde(rename = "type")]
    pub kind: String,
    /// The variables as properties; a copy, except for `global` and `with`.
    pub object: RemoteObject,
    /// The function that it belongs to.
    pub name: Option<String>,
    /// Where it begins.
    pub start_location: Option<Location>,
    /// Where it ends.
    pub end_location: Option<Location>,
}

/// Evaluates an expression in a frame. There is no `await` in it.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own shape")]
pub struct EvaluateOnCallFrame {
    /// The frame.
    pub call_frame_id: String,
    /// The text.
    pub expression: String,
    /// The group that the values join, for `Runtime.releaseObjectGroup`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<String>,
    /// `require` and the functions of the console are in scope.
    #[serde(rename = "includeCommandLineAPI", skip_serializing_if = "Not::not")]
    pub include_command_line_api: bool,
    /// Neither pauses at exceptions nor reports them as events.
    #[serde(skip_serializing_if = "Not::not")]
    pub silent: bool,
    /// The value comes as JSON.
    #[serde(skip_serializing_if = "Not::not")]
    pub return_by_value: bool,
    /// The value comes with a preview of its properties.
    #[serde(skip_serializing_if = "Not::not")]
    pub generate_preview: bool,
    /// Refuses to do anything that could be seen afterwards.
    #[serde(skip_serializing_if = "Not::not")]
    pub throw_on_side_effect: bool,
    /// Terminates it after this many milliseconds, with `Execution was terminated`. Without a limit, an endless
    /// evaluation blocks the thread forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u32>,
}

/// Assigns to a variable of a `local`, `closure` or `catch` scope.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetVariableValue {
    /// The scope, by its place in the chain.
    pub scope_number: i32,
    /// The variable.
    pub variable_name: String,
    /// What it becomes.
    pub new_value: CallArgument,
    /// The frame.
    pub call_frame_id: String,
}

/// Changes what a frame at its end returns.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetReturnValue {
    /// What it returns instead.
    pub new_value: CallArgument,
}

/// Asks for the text of a script.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetScriptSource {
    /// The script.
    pub script_id: String,
}

/// The text of a script.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScriptSource {
    /// As it was loaded; empty for WebAssembly.
    pub script_source: String,
}
