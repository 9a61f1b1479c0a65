//! The part of the protocol that we speak, in its own names.
//!
//! Source: Debug Adapter Protocol 1.71. Every request is an uninhabited type that ties its arguments, its
//! response and its name together, so a mismatched reply cannot be written. Every field that is not
//! necessary to understand a message is optional, because adapters leave out what the specification demands.
//! What one side writes the other one reads, so everything can be both.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lenient;

/// A request that the client may send.
pub trait Request {
    /// What goes into `arguments`.
    type Arguments: Serialize + Send + Sync;
    /// What comes back in `body`.
    type Response: DeserializeOwned;
    /// The name on the wire.
    const COMMAND: &'static str;
}

macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident = $command:literal: $arguments:ty => $response:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}

        impl Request for $name {
            type Arguments = $arguments;
            type Response = $response;
            const COMMAND: &'static str = $command;
        }
    )*};
}

requests! {
    /// Opens the conversation and exchanges capabilities.
    Initialize = "initialize": InitializeArguments => Capabilities;
    /// Starts the debuggee. The arguments are the adapter's own.
    Launch = "launch": Map<String, Value> => Empty;
    /// Connects to a debuggee that runs already. The arguments are the adapter's own.
    Attach = "attach": Map<String, Value> => Empty;
    /// Ends the configuration: the debuggee may run.
    ConfigurationDone = "configurationDone": Empty => Empty;
    /// Replaces all breakpoints of one source.
    SetBreakpoints = "setBreakpoints": SetBreakpointsArguments => SetBreakpointsResponse;
    /// Replaces all function breakpoints.
    SetFunctionBreakpoints = "setFunctionBreakpoints": SetFunctionBreakpointsArguments => SetBreakpointsResponse;
    /// Finds what to watch a value by.
    DataBreakpointInfo = "dataBreakpointInfo": DataBreakpointInfoArguments => DataBreakpointInfoResponse;
    /// Replaces all data breakpoints.
    SetDataBreakpoints = "setDataBreakpoints": SetDataBreakpointsArguments => SetBreakpointsResponse;
    /// Chooses the exceptions to stop at.
    SetExceptionBreakpoints = "setExceptionBreakpoints": SetExceptionBreakpointsArguments => Empty;
    /// Resumes.
    Continue = "continue": ThreadArguments => ContinueResponse;
    /// Steps over.
    Next = "next": ThreadArguments => Empty;
    /// Steps into.
    StepIn = "stepIn": ThreadArguments => Empty;
    /// Steps out.
    StepOut = "stepOut": ThreadArguments => Empty;
    /// Steps to the line before.
    StepBack = "stepBack": ThreadArguments => Empty;
    /// Runs backwards.
    ReverseContinue = "reverseContinue": ThreadArguments => Empty;
    /// Suspends.
    Pause = "pause": ThreadArguments => Empty;
    /// Lists the threads.
    Threads = "threads": Empty => ThreadsResponse;
    /// Lists the frames of a thread.
    StackTrace = "stackTrace": StackTraceArguments => StackTraceResponse;
    /// Returns the text of a source that only the adapter has.
    SourceText = "source": SourceArguments => SourceResponse;
    /// Lists the scopes of a frame.
    Scopes = "scopes": ScopesArguments => ScopesResponse;
    /// Lists the children of a variable.
    Variables = "variables": VariablesArguments => VariablesResponse;
    /// Evaluates an expression.
    Evaluate = "evaluate": EvaluateArguments => EvaluateResponse;
    /// Assigns to a child of a variable.
    SetVariable = "setVariable": SetVariableArguments => SetVariableResponse;
    /// Assigns to an expression.
    SetExpression = "setExpression": SetExpressionArguments => SetVariableResponse;
    /// Gives up a request in flight, which is answered all the same.
    Cancel = "cancel": CancelArguments => Empty;
    /// Describes the exception that a thread stopped at.
    ExceptionInfo = "exceptionInfo": ThreadArguments => ExceptionInfoResponse;
    /// Asks the debuggee to end.
    Terminate = "terminate": Empty => Empty;
    /// Asks a program that has connected to us to show the secret that it was given. It is not in the specification.
    Identify = "identify": Empty => IdentifyResponse;
    /// Describes what a thread has thrown beyond [`ExceptionInfo`]. It is not in the specification.
    Thrown = "thrown": ThrownArguments => ThrownResponse;
    /// Begins to take samples of a program that runs. It is not in the specification.
    StartSampling = "startSampling": StartSamplingArguments => Empty;
    /// Returns what was sampled since the last time. It is not in the specification.
    Activity = "activity": Empty => Value;
    /// Stops taking samples. It is not in the specification.
    StopSampling = "stopSampling": Empty => Empty;
    /// Ends the conversation.
    Disconnect = "disconnect": DisconnectArguments => Empty;
}

/// Arguments of [`StartSampling`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct StartSamplingArguments {
    /// The time between two samples, in milliseconds.
    pub interval: u64,
}

/// Arguments of [`Thrown`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThrownArguments {
    /// The thread.
    pub thread_id: i64,
    /// The longest text of a value, in characters.
    pub text: u64,
}

/// What a thread has thrown.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct ThrownResponse {
    /// What the program has marked it with.
    pub mark: Option<String>,
    /// What was asserted, if an assertion threw it.
    pub assertion: Option<ThrownAssertion>,
}

/// An assertion that does not hold.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct ThrownAssertion {
    /// As the source has it.
    pub expression: Option<String>,
    /// How the sides are compared.
    pub operator: Option<String>,
    /// The actual value.
    pub left: Option<ThrownSide>,
    /// The expected value.
    pub right: Option<ThrownSide>,
}

/// One side of an assertion.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct ThrownSide {
    /// Its value as text.
    pub text: String,
    /// The type of that.
    #[serde(rename = "type")]
    pub kind: String,
    /// The text is not all of it.
    pub cut: bool,
}

/// The secret that a program was given.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct IdentifyResponse {
    /// The secret.
    #[serde(deserialize_with = "lenient::string")]
    pub token: String,
}

/// No content. Accepts any object when read.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Empty {}

/// What the client is and can do.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the protocol has one flag for each capability of a client"
)]
pub struct InitializeArguments {
    /// Which adapter to use, if one program has several.
    #[serde(rename = "adapterID")]
    pub adapter_id: String,
    /// The client's display name.
    pub client_name: String,
    /// The first line is line 1.
    pub lines_start_at1: bool,
    /// The first column is column 1.
    pub columns_start_at1: bool,
    /// How sources are named; `path` for file paths.
    pub path_format: String,
    /// Variables have a type field.
    pub supports_variable_type: bool,
    /// `variables` may be asked for pages.
    pub supports_variable_paging: bool,
    /// The adapter may ask us to start the debuggee.
    pub supports_run_in_terminal_request: bool,
    /// The adapter may ask for further sessions, one a child process.
    pub supports_start_debugging_request: bool,
    /// The adapter may report the progress of long operations.
    pub supports_progress_reporting: bool,
}

/// What the adapter can do. Absent means no.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "the protocol's own shape")]
pub struct Capabilities {
    /// `configurationDone` is expected.
    pub supports_configuration_done_request: bool,
    /// Breakpoints may have conditions.
    pub supports_conditional_breakpoints: bool,
    /// Breakpoints may have hit conditions.
    pub supports_hit_conditional_breakpoints: bool,
    /// Breakpoints may be logpoints.
    pub supports_log_points: bool,
    /// Breakpoints may be set by function name.
    pub supports_function_breakpoints: bool,
    /// Data breakpoints can be set.
    pub supports_data_breakpoints: bool,
    /// `setVariable` is served.
    pub supports_set_variable: bool,
    /// `setExpression` is served.
    pub supports_set_expression: bool,
    /// `exceptionInfo` is served.
    pub supports_exception_info_request: bool,
    /// `cancel` is served.
    pub supports_cancel_request: bool,
    /// `evaluate` supports the context `hover`, which has no side effects.
    pub supports_evaluate_for_hovers: bool,
    /// `terminate` is served.
    pub supports_terminate_request: bool,
    /// `disconnect` takes `terminateDebuggee`.
    pub support_terminate_debuggee: bool,
    /// `stackTrace` takes `startFrame` and `levels`.
    pub supports_delayed_stack_trace_loading: bool,
    /// `stepBack` and `reverseContinue` are served.
    pub supports_step_back: bool,
    /// `evaluate` supports the context `clipboard`.
    pub supports_clipboard_context: bool,
    /// The exceptions that can be stopped at; none means the request must not be sent.
    #[serde(deserialize_with = "lenient::list")]
    pub exception_breakpoint_filters: Vec<ExceptionBreakpointsFilter>,
}

/// A class of exceptions that the adapter can stop at.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionBreakpointsFilter {
    /// The name to send back.
    pub filter: String,
    /// The display name.
    #[serde(deserialize_with = "lenient::string")]
    pub label: String,
    /// On unless chosen otherwise.
    pub default: bool,
}

/// A source file, or a text that only the adapter has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// Short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Path of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Above 0: the text must be asked for with the request `source`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub source_reference: Option<i64>,
    /// `subtle` or `deemphasize` for code that is not the user's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<String>,
}

/// Arguments of [`SourceText`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceArguments {
    /// The source.
    pub source: Source,
    /// The same as in `source`; servers of older versions look here.
    #[serde(deserialize_with = "lenient::integer")]
    pub source_reference: i64,
}

/// The text of a source.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceResponse {
    /// All of it.
    #[serde(deserialize_with = "lenient::string")]
    pub content: String,
}

/// Arguments of [`SetBreakpoints`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SetBreakpointsArguments {
    /// Where.
    pub source: Source,
    /// All breakpoints that the source is to have.
    pub breakpoints: Vec<SourceBreakpoint>,
}

/// A breakpoint on a line.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceBreakpoint {
    /// 1-based.
    #[serde(deserialize_with = "lenient::integer")]
    pub line: i64,
    /// 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<i64>,
    /// Stops only where this expression is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Stops only at these hits; the grammar is the adapter's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
    /// Prints this instead of stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
}

/// Arguments of [`SetFunctionBreakpoints`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct SetFunctionBreakpointsArguments {
    /// All function breakpoints.
    pub breakpoints: Vec<FunctionBreakpoint>,
}

/// A breakpoint on a function's entry.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FunctionBreakpoint {
    /// The function, in the words of the adapter.
    pub name: String,
    /// Stops only where this expression is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Stops only at these hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
}

/// Arguments of [`DataBreakpointInfo`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DataBreakpointInfoArguments {
    /// The expression.
    pub name: String,
    /// In which frame.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub frame_id: Option<i64>,
}

/// What a value can be watched by.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DataBreakpointInfoResponse {
    /// The adapter's name for the storage; none where it cannot be watched.
    pub data_id: Option<String>,
    /// What it is, or why it cannot be watched.
    #[serde(deserialize_with = "lenient::string")]
    pub description: String,
    /// `read`, `write`, `readWrite`; empty where the adapter does not say.
    #[serde(deserialize_with = "lenient::list")]
    pub access_types: Vec<String>,
}

/// Arguments of [`SetDataBreakpoints`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct SetDataBreakpointsArguments {
    /// All data breakpoints.
    pub breakpoints: Vec<DataBreakpoint>,
}

/// A breakpoint on the storage of a value.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DataBreakpoint {
    /// The adapter's name for the storage.
    pub data_id: String,
    /// `read`, `write` or `readWrite`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_type: Option<String>,
}

/// What became of the breakpoints, in the order of the request.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct SetBreakpointsResponse {
    /// One for each that was requested.
    #[serde(deserialize_with = "lenient::list")]
    pub breakpoints: Vec<Breakpoint>,
}

/// What the adapter says about a breakpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Breakpoint {
    /// The adapter's number for it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub id: Option<i64>,
    /// The adapter's claim that it is bound.
    pub verified: bool,
    /// Why not, or what else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The line that it is on.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub line: Option<i64>,
    /// The column that it is on.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub column: Option<i64>,
}

/// Arguments of [`SetExceptionBreakpoints`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct SetExceptionBreakpointsArguments {
    /// The filters that are on.
    pub filters: Vec<String>,
}

/// A request that is about one thread.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ThreadArguments {
    /// The adapter's number of the thread.
    #[serde(deserialize_with = "lenient::integer")]
    pub thread_id: i64,
}

/// What runs again.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContinueResponse {
    /// All threads, not only the requested one; adapters that leave it out mean that, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_threads_continued: Option<bool>,
}

/// The threads of the debuggee.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct ThreadsResponse {
    /// All of them.
    #[serde(deserialize_with = "lenient::list")]
    pub threads: Vec<Thread>,
}

/// A thread.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Thread {
    /// The adapter's number.
    #[serde(deserialize_with = "lenient::integer")]
    pub id: i64,
    /// Its name.
    #[serde(deserialize_with = "lenient::string")]
    pub name: String,
    /// The operating system's number, if it is another one: not in the specification.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub os_thread: Option<i64>,
}

/// Arguments of [`StackTrace`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTraceArguments {
    /// Of which thread.
    #[serde(deserialize_with = "lenient::integer")]
    pub thread_id: i64,
    /// How many frames to leave out at the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_frame: Option<i64>,
    /// How many frames to give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<i64>,
}

/// The frames of a thread, innermost first.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackTraceResponse {
    /// The requested frames.
    #[serde(deserialize_with = "lenient::list")]
    pub stack_frames: Vec<StackFrame>,
    /// How many there are in all, where the adapter says so.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub total_frames: Option<i64>,
}

/// A frame.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StackFrame {
    /// The adapter's number, good until the thread runs.
    #[serde(deserialize_with = "lenient::integer")]
    pub id: i64,
    /// The function.
    #[serde(deserialize_with = "lenient::string")]
    pub name: String,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// 1-based; 0 where there is none.
    #[serde(deserialize_with = "lenient::integer")]
    pub line: i64,
    /// 1-based; 0 where there is none.
    #[serde(deserialize_with = "lenient::integer")]
    pub column: i64,
    /// `normal`, `label` (no code), `subtle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<String>,
    /// The address of its next instruction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction_pointer_reference: Option<String>,
}

/// Arguments of [`Scopes`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScopesArguments {
    /// Of which frame.
    #[serde(deserialize_with = "lenient::integer")]
    pub frame_id: i64,
}

/// The scopes of a frame.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct ScopesResponse {
    /// Innermost first.
    #[serde(deserialize_with = "lenient::list")]
    pub scopes: Vec<Scope>,
}

/// A named set of variables.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scope {
    /// Its name.
    #[serde(deserialize_with = "lenient::string")]
    pub name: String,
    /// `locals`, `arguments`, `registers` or another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<String>,
    /// What [`Variables`] takes.
    #[serde(deserialize_with = "lenient::integer")]
    pub variables_reference: i64,
    /// Large or slow: not to be fetched unasked.
    pub expensive: bool,
    /// The source of the code that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The first line of that code.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub line: Option<i64>,
    /// The column where it begins.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub column: Option<i64>,
    /// The last line of that code.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub end_line: Option<i64>,
    /// The column after its end.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub end_column: Option<i64>,
}

/// Arguments of [`Variables`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VariablesArguments {
    /// Of a scope or of a variable.
    #[serde(deserialize_with = "lenient::integer")]
    pub variables_reference: i64,
    /// `indexed` or `named`; none for both kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// The first child of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<i64>,
    /// How many children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
    /// The longest text of a value, in characters; for adapters that take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<u64>,
}

/// The children of a scope or variable.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct VariablesResponse {
    /// In the adapter's order.
    #[serde(deserialize_with = "lenient::list")]
    pub variables: Vec<Variable>,
}

/// A variable.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Variable {
    /// Its name.
    #[serde(deserialize_with = "lenient::string")]
    pub name: String,
    /// Its value as text.
    #[serde(deserialize_with = "lenient::string")]
    pub value: String,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none", rename = "type")]
    pub kind: Option<String>,
    /// How to show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<VariablePresentationHint>,
    /// An expression that gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluate_name: Option<String>,
    /// Above 0: it has children.
    #[serde(deserialize_with = "lenient::integer")]
    pub variables_reference: i64,
    /// How many numbered children it has.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub indexed_variables: Option<i64>,
    /// How many named children it has.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub named_variables: Option<i64>,
    /// The length of the whole text, where the adapter has cut it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub text_length: Option<i64>,
}

/// How a variable is to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct VariablePresentationHint {
    /// `property`, `method`, `class`, `data`, `virtual` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `static`, `constant`, `readOnly`, `rawString`, `hasSideEffects` …
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "lenient::list")]
    pub attributes: Vec<String>,
}

/// Arguments of [`Evaluate`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EvaluateArguments {
    /// The text.
    pub expression: String,
    /// In which frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<i64>,
    /// How long it may take, in ms. Not in the specification: for an adapter that takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// `watch`, `repl`, `hover`, `clipboard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The longest text of the value, in characters; for adapters that take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<u64>,
}

/// The value of an expression.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EvaluateResponse {
    /// As text.
    #[serde(deserialize_with = "lenient::string")]
    pub result: String,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none", rename = "type")]
    pub kind: Option<String>,
    /// How to show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presentation_hint: Option<VariablePresentationHint>,
    /// Above 0: it has children.
    #[serde(deserialize_with = "lenient::integer")]
    pub variables_reference: i64,
    /// How many numbered children it has.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub indexed_variables: Option<i64>,
    /// How many named children it has.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub named_variables: Option<i64>,
    /// The length of the whole text, where the adapter has cut it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub text_length: Option<i64>,
}

/// Arguments of [`SetVariable`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SetVariableArguments {
    /// The scope or variable that has the child.
    #[serde(deserialize_with = "lenient::integer")]
    pub variables_reference: i64,
    /// The child.
    pub name: String,
    /// An expression for the new value.
    pub value: String,
    /// The longest text of the value, in characters; for adapters that take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<u64>,
}

/// Arguments of [`SetExpression`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SetExpressionArguments {
    /// An expression that can be assigned to.
    pub expression: String,
    /// An expression for the new value.
    pub value: String,
    /// In which frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<i64>,
}

/// Arguments of [`Cancel`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CancelArguments {
    /// The `seq` of the request to give up.
    #[serde(deserialize_with = "lenient::integer")]
    pub request_id: i64,
}

/// What a variable holds now.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SetVariableResponse {
    /// As text. Some adapters call it `result`.
    #[serde(alias = "result", deserialize_with = "lenient::string")]
    pub value: String,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none", rename = "type")]
    pub kind: Option<String>,
    /// Above 0: it has children.
    #[serde(deserialize_with = "lenient::integer")]
    pub variables_reference: i64,
    /// The length of the whole text, where the adapter has cut it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub text_length: Option<i64>,
}

/// The exception that a thread stopped at.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionInfoResponse {
    /// Its type, mostly.
    #[serde(deserialize_with = "lenient::string")]
    pub exception_id: String,
    /// Its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `never`, `always`, `unhandled`, `userUnhandled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub break_mode: Option<String>,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<ExceptionDetails>,
}

/// Details of an exception.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExceptionDetails {
    /// Its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// Its stack as the language prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,
}

/// Arguments of [`Disconnect`].
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DisconnectArguments {
    /// End the debuggee too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminate_debuggee: Option<bool>,
}

/// Arguments of the reverse request `runInTerminal`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunInTerminalArguments {
    /// The working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The command and its arguments.
    pub args: Vec<String>,
    /// Changes to the environment; null removes a variable.
    pub env: BTreeMap<String, Option<String>>,
}

/// Arguments of the reverse request `startDebugging`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StartDebuggingArguments {
    /// The arguments of `launch` or `attach` of the new session.
    pub configuration: Map<String, Value>,
    /// `launch` or `attach`.
    pub request: String,
}

/// An event of an adapter.
#[derive(Clone, Debug)]
pub enum Event {
    /// Breakpoints may be sent now.
    Initialized,
    /// A thread, or all of them, stopped.
    Stopped(StoppedEvent),
    /// A thread, or all of them, run again.
    Continued(ContinuedEvent),
    /// The debuggee ended with this code.
    Exited(ExitedEvent),
    /// Debugging ended.
    Terminated,
    /// The debuggee, or the adapter, wrote something.
    Output(OutputEvent),
    /// The state of a breakpoint changed.
    Breakpoint(BreakpointEvent),
    /// The debuggee's process is known.
    Process(ProcessEvent),
    /// A long operation has begun, progresses or has finished.
    Progress(ProgressEvent),
    /// The condition of a breakpoint could not be evaluated where the breakpoint is. Only our own adapter sends it.
    ConditionFailed(ConditionFailedEvent),
    /// Any other, with its body.
    Other(String, Value),
}

/// Body of [`Event::Stopped`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StoppedEvent {
    /// `step`, `breakpoint`, `exception`, `pause`, `entry`, `goto`, `function breakpoint` …
    #[serde(deserialize_with = "lenient::string")]
    pub reason: String,
    /// The reason, for messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// More, for an exception mostly its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Which thread.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub thread_id: Option<i64>,
    /// The others stopped too.
    pub all_threads_stopped: bool,
    /// The breakpoints that were hit, in the adapter's numbers.
    #[serde(deserialize_with = "lenient::list")]
    pub hit_breakpoint_ids: Vec<i64>,
}

/// Body of [`Event::Continued`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContinuedEvent {
    /// Which thread.
    #[serde(deserialize_with = "lenient::integer")]
    pub thread_id: i64,
    /// The others run too.
    pub all_threads_continued: bool,
}

/// Body of [`Event::Exited`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExitedEvent {
    /// As the adapter has it; some give 256 minus the signal for a killed program.
    #[serde(deserialize_with = "lenient::integer")]
    pub exit_code: i64,
}

/// Body of [`Event::Output`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OutputEvent {
    /// `console`, `important`, `stdout`, `stderr`, `telemetry` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The text.
    #[serde(deserialize_with = "lenient::string")]
    pub output: String,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The line that it came from.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub line: Option<i64>,
}

/// Body of [`Event::Breakpoint`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BreakpointEvent {
    /// `changed`, `new`, `removed`.
    #[serde(deserialize_with = "lenient::string")]
    pub reason: String,
    /// The current state.
    pub breakpoint: Breakpoint,
}

/// Body of [`Event::Process`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProcessEvent {
    /// The program's name.
    #[serde(deserialize_with = "lenient::string")]
    pub name: String,
    /// The operating system's number.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient::optional_integer")]
    pub system_process_id: Option<i64>,
}

/// Body of the three events in [`Event::Progress`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProgressEvent {
    /// What is being done; only when it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Body of [`Event::ConditionFailed`].
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConditionFailedEvent {
    /// The breakpoint, in the adapter's numbers.
    pub breakpoint_id: i64,
    /// How often.
    pub times: u64,
    /// Why.
    pub message: String,
}

impl ConditionFailedEvent {
    /// The name of the event.
    pub const NAME: &'static str = "stillframe/conditionFailed";
}

impl Event {
    /// Reads an event. A body that does not fit its name is kept as [`Event::Other`].
    pub fn parse(name: &str, body: &str) -> Self {
        Self::typed(name, body).unwrap_or_else(|| {
            Self::Other(name.to_owned(), serde_json::from_str(body).unwrap_or(Value::Null))
        })
    }

    fn typed(name: &str, body: &str) -> Option<Self> {
        fn read<T: DeserializeOwned>(body: &str) -> Option<T> {
            serde_json::from_str(body).ok()
        }
        Some(match name {
            "initialized" => Self::Initialized,
            "stopped" => Self::Stopped(read(body)?),
            "continued" => Self::Continued(read(body)?),
            "exited" => Self::Exited(read(body)?),
            "terminated" => Self::Terminated,
            "output" => Self::Output(read(body)?),
            "breakpoint" => Self::Breakpoint(read(body)?),
            "process" => Self::Process(read(body)?),
            "progressStart" | "progressUpdate" | "progressEnd" => Self::Progress(read(body)?),
            ConditionFailedEvent::NAME => Self::ConditionFailed(read(body)?),
            _ => return None,
        })
    }
}
