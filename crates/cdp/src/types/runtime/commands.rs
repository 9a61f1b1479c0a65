//! What can be asked.

use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::{CallArgument, ExceptionDetails, PropertyDescriptor, RemoteObject};
use crate::types::Empty;

plain_commands! {
    /// Announces contexts, exceptions, bindings and every call of `console`, those of the past included.
    Enable = "Runtime.enable";
    /// Lets a program run that was started with `--inspect-brk`, or a worker that waits.
    RunIfWaitingForDebugger = "Runtime.runIfWaitingForDebugger";
}

commands! {
    Evaluate = "Runtime.evaluate" => Evaluated;
    CallFunctionOn = "Runtime.callFunctionOn" => Evaluated;
    GetProperties = "Runtime.getProperties" => Properties;
    ReleaseObjectGroup = "Runtime.releaseObjectGroup" => Empty;
    GetHeapUsage = "Runtime.getHeapUsage" => HeapUsage;
    AddBinding = "Runtime.addBinding" => Empty;
}

/// Asks how much memory the program uses for its objects.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct GetHeapUsage {}

/// The result of [`GetHeapUsage`], in bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HeapUsage {
    /// Taken by objects.
    pub used_size: f64,
    /// Held for them.
    pub total_size: f64,
}

/// Evaluates an expression on the global object.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own shape")]
pub struct Evaluate {
    /// The text.
    pub expression: String,
    /// The group that the values join, for [`ReleaseObjectGroup`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<String>,
    /// `require` and the functions of the console are in scope.
    #[serde(rename = "includeCommandLineAPI", skip_serializing_if = "Not::not")]
    pub include_command_line_api: bool,
    /// Neither pauses at exceptions nor reports them as events.
    #[serde(skip_serializing_if = "Not::not")]
    pub silent: bool,
    /// The context; the main one by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_id: Option<i32>,
    /// The value comes as JSON.
    #[serde(skip_serializing_if = "Not::not")]
    pub return_by_value: bool,
    /// The value comes with a preview of its properties.
    #[serde(skip_serializing_if = "Not::not")]
    pub generate_preview: bool,
    /// Refuses to do anything that could be seen afterwards.
    #[serde(skip_serializing_if = "Not::not")]
    pub throw_on_side_effect: bool,
    /// Ends it after this many milliseconds, with `Execution was terminated`; native waits go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u32>,
    /// Breakpoints are not hit.
    #[serde(skip_serializing_if = "Not::not")]
    pub disable_breaks: bool,
}

/// The value of an expression or a call.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Evaluated {
    /// The value, or the thrown value.
    pub result: RemoteObject,
    /// It threw.
    pub exception_details: Option<ExceptionDetails>,
}

/// Calls a function that is given as text, on an object or in a context.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own shape")]
pub struct CallFunctionOn {
    /// `function (a, b) { … }`.
    pub function_declaration: String,
    /// What `this` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_id: Option<String>,
    /// What it is called with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<CallArgument>,
    /// Neither pauses at exceptions nor reports them as events.
    #[serde(skip_serializing_if = "Not::not")]
    pub silent: bool,
    /// The value comes as JSON.
    #[serde(skip_serializing_if = "Not::not")]
    pub return_by_value: bool,
    /// The value comes with a preview of its properties.
    #[serde(skip_serializing_if = "Not::not")]
    pub generate_preview: bool,
    /// The context, if there is no object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context_id: Option<i32>,
    /// The group that the values join; the object's group by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_group: Option<String>,
    /// Refuses to do anything that could be seen afterwards.
    #[serde(skip_serializing_if = "Not::not")]
    pub throw_on_side_effect: bool,
}

/// Lists the properties of an object. No getter and no trap of a proxy is run.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetProperties {
    /// Of which object.
    pub object_id: String,
    /// Not those of its prototypes.
    #[serde(skip_serializing_if = "Not::not")]
    pub own_properties: bool,
    /// The values come with previews of their properties.
    #[serde(skip_serializing_if = "Not::not")]
    pub generate_preview: bool,
    /// Not the elements of an array.
    #[serde(skip_serializing_if = "Not::not")]
    pub non_indexed_properties_only: bool,
}

/// The properties of an object.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Properties {
    /// Those that the program can see.
    pub result: Vec<PropertyDescriptor>,
    /// `[[Prototype]]`, `[[Entries]]` and their like; they have a name and a value.
    pub internal_properties: Vec<PropertyDescriptor>,
    /// `#private` ones.
    pub private_properties: Vec<PropertyDescriptor>,
    /// Listing them threw.
    pub exception_details: Option<ExceptionDetails>,
}

/// Releases all values of a group.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseObjectGroup {
    /// The group.
    pub object_group: String,
}

/// Defines a global function of one string, whose calls arrive as [`crate::Event::BindingCalled`].
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddBinding {
    /// The function's name.
    pub name: String,
    /// The context; by default all of them, including future ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_context_id: Option<i32>,
}
