//! What a journal's line says, in the format of mcp-debugger's logging specification 1.0.0.
//!
//! Where that lists the key `timestamp` twice, the number keeps it and the text is `time`. What goes beyond the
//! specification is marked as an addition; readers must not need it.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Time in milliseconds since 1970. Entries are sorted by it.
    pub timestamp: i64,
    /// The same in ISO 8601 (UTC), for people.
    pub time: String,
    /// Severity.
    pub level: Level,
    /// Topic, such as `debug-mcp:tools`.
    pub namespace: String,
    /// ID of its session; absent for a call without a session, or before it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Name of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_name: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl Entry {
    /// An entry with the current time.
    pub fn now(session: Option<(String, String)>, event: Event) -> Self {
        Self::at(Timestamp::now(), session, event)
    }

    /// An entry with a time, and the ID and name of its session.
    pub fn at(time: Timestamp, session: Option<(String, String)>, event: Event) -> Self {
        let (session_id, session_name) = session.unzip();
        Self {
            timestamp: time.as_millisecond(),
            time: format!("{time:.3}"),
            level: event.level(),
            namespace: event.namespace().to_owned(),
            session_id,
            session_name,
            event,
        }
    }
}

/// The JSON Schema of an entry.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Entry)
}

/// The severity of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For developers of the debugger.
    Debug,
    /// Normal operation.
    Info,
    /// Something is missing.
    Warn,
    /// A call failed.
    Error,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "message")]
pub enum Event {
    /// A tool is called.
    #[serde(rename = "tool:call")]
    Call(Call),
    /// A tool has answered.
    #[serde(rename = "tool:response")]
    Response(Response),
    /// A tool has failed.
    #[serde(rename = "tool:error")]
    Failure(Failure),
    /// The state of a program has changed.
    #[serde(rename = "debug:state")]
    State(State),
    /// A breakpoint was set, verified, hit or removed.
    #[serde(rename = "debug:breakpoint")]
    Breakpoint(BreakpointChange),
    /// Variables were read.
    #[serde(rename = "debug:variables")]
    Variables(Variables),
    /// A session was opened.
    #[serde(rename = "session:created")]
    Created(Created),
    /// A session was closed.
    #[serde(rename = "session:closed")]
    Closed(Closed),
    /// An editor can attach to a session, or no longer can. An addition.
    #[serde(rename = "session:exposure")]
    Exposure(Exposure),
    /// Output of a program or its debugger.
    #[serde(rename = "debug:output")]
    Output(OutputWritten),
    /// Entries are missing here, because they arrived faster than they could be written. An addition.
    #[serde(rename = "journal:dropped")]
    Dropped(Dropped),
}

impl Event {
    fn level(&self) -> Level {
        match self {
            Self::Failure(_) => Level::Error,
            Self::Dropped(_) => Level::Warn,
            _ => Level::Info,
        }
    }

    fn namespace(&self) -> &'static str {
        match self {
            Self::Call(_) | Self::Response(_) | Self::Failure(_) => "debug-mcp:tools",
            Self::State(_) => "debug-mcp:state",
            Self::Breakpoint(_) => "debug-mcp:breakpoint",
            Self::Variables(_) => "debug-mcp:variables",
            Self::Created(_) | Self::Closed(_) | Self::Exposure(_) => "debug-mcp:session",
            Self::Output(_) => "debug-mcp:output",
            Self::Dropped(_) => "debug-mcp:journal",
        }
    }
}

/// A tool is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Tool name; for a command-line call, such as `stillframe probe`.
    pub tool: String,
    /// Links a call to its answer; unique in all journals. An addition.
    #[serde(default)]
    pub call_id: String,
    /// The arguments, truncated.
    pub request: Map<String, Value>,
}

/// A tool has answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// The tool.
    pub tool: String,
    /// The call's. An addition.
    #[serde(default)]
    pub call_id: String,
    /// True.
    pub success: bool,
    /// The answer's data, truncated; `{ "text": … }` if there is only text.
    pub response: Map<String, Value>,
}

/// A tool has failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The tool.
    pub tool: String,
    /// The call's. An addition.
    #[serde(default)]
    pub call_id: String,
    /// Error message.
    pub error: String,
}

/// What a program does now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// The new state.
    pub event: StateEvent,
    /// The launched or attached program, such as `pytest tests/test_cart.py`, in the first state of each run. An
    /// addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Reason: for a pause `breakpoint`, `step`, `entry`, `exception`, `pause` or the debugger's own; for an end a
    /// description, such as `exited with code 1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where it is suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// The thread that is suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<u32>,
    /// The debugger's description, such as the exception. An addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The innermost frames, innermost first. An addition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Location>,
    /// The source around the location. An addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceWindow>,
}

impl State {
    /// A state without details.
    pub fn of(event: StateEvent) -> Self {
        Self {
            event,
            reason: None,
            location: None,
            thread_id: None,
            description: None,
            program: None,
            stack: Vec::new(),
            source: None,
        }
    }
}

/// What a program does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StateEvent {
    /// It is suspended.
    Paused,
    /// It runs.
    Running,
    /// It has ended.
    Stopped,
}

/// A location in a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// File, with the home folder as `~`.
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// The function.
    #[serde(default)]
    pub function: String,
    /// Frame ID, as in `debug:variables`. An addition.
    #[serde(rename = "frameId", default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<u64>,
}

/// An excerpt of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceWindow {
    /// Number of the first line, 1-based.
    pub first_line: u32,
    /// The lines, each truncated at 200 characters.
    pub lines: Vec<String>,
}

/// A breakpoint event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointChange {
    /// What happened to it.
    pub event: BreakpointEvent,
    /// Its id, such as `bp-1`.
    pub breakpoint_id: String,
    /// File; empty for a function breakpoint.
    #[serde(default)]
    pub file: String,
    /// Bound or else requested line, 1-based; 0 for an unbound function breakpoint.
    #[serde(default)]
    pub line: u32,
    /// It is bound.
    #[serde(default)]
    pub verified: bool,
    /// Function of a function breakpoint. An addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Condition. An addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Log message of a logpoint. An addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
}

/// What happened to a breakpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BreakpointEvent {
    /// It was set.
    Set,
    /// The debugger has bound it.
    Verified,
    /// It stopped a program.
    Hit,
    /// It was removed. An addition.
    Removed,
}

/// Variables were read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variables {
    /// Frame ID, if they belong to a frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<u64>,
    /// Scope, such as `Locals`; absent for the children of a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Requested reference; absent if they were requested by frame ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables_reference: Option<u64>,
    /// Total number.
    pub variable_count: u64,
    /// The first hundred variables that were read.
    pub variables: Vec<Variable>,
}

/// A variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Type name in the language.
    #[serde(rename = "type", default)]
    pub type_name: String,
    /// Value as text, truncated at 200 characters.
    pub value: String,
    /// Reference to request its children, if it has any. An addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables_reference: Option<u64>,
}

/// A session was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Created {
    /// Its language.
    pub language: String,
    /// The selected interpreter, without its absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executable_path: Option<String>,
    /// The process id of the server. An addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<u32>,
}

/// A session was closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Closed {
    /// Time it was open, in milliseconds.
    pub duration: u64,
}

/// An editor can attach to a session, or no longer can.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exposure {
    /// Whether it was opened or closed.
    pub event: ExposureEvent,
    /// The address.
    pub host: String,
    /// The port. The token is not recorded.
    pub port: u16,
    /// The editor may step, set breakpoints and change values.
    #[serde(default)]
    pub control: bool,
}

/// Whether an editor can attach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExposureEvent {
    /// It can.
    Opened,
    /// It no longer can.
    Closed,
}

/// Output of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputWritten {
    /// `stdout`, `stderr`, `log` for a logpoint, `console` for the debugger.
    pub category: String,
    /// Text, truncated at 200 characters.
    pub output: String,
    /// Number of bytes omitted before it, because there were too many at once. An addition.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u64,
}

/// Entries are missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dropped {
    /// Number of missing entries.
    pub count: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
