//! Where to stop.

use serde::{Deserialize, Serialize};

use super::Location;
use crate::types::Empty;

commands! {
    SetBreakpointByUrl = "Debugger.setBreakpointByUrl" => SetBreakpointByUrlResult;
    SetBreakpoint = "Debugger.setBreakpoint" => BreakpointSet;
    SetInstrumentationBreakpoint = "Debugger.setInstrumentationBreakpoint" => BreakpointSet;
    RemoveBreakpoint = "Debugger.removeBreakpoint" => Empty;
    GetPossibleBreakpoints = "Debugger.getPossibleBreakpoints" => PossibleBreakpoints;
    SetPauseOnExceptions = "Debugger.setPauseOnExceptions" => Empty;
}

/// Sets a breakpoint in all scripts of a url, loaded or to come. Of `url` and `url_regex`, one is to be given.
///
/// A second one at the same place is refused. One that finds no code slides down, past the end of its function
/// if it must; one past the end of the script has no place.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetBreakpointByUrl {
    /// The line.
    pub line_number: i32,
    /// The column; the first one by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column_number: Option<i32>,
    /// The script's `file:` url; a plain path never matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A regular expression that finds something in the url.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_regex: Option<String>,
    /// Stops only where this expression is true. One that throws or does not compile never stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// A breakpoint, and the places that it has already.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SetBreakpointByUrlResult {
    /// Its id, made of its line, column and url.
    pub breakpoint_id: String,
    /// Later ones arrive as [`crate::Event::BreakpointResolved`].
    pub locations: Vec<Location>,
}

/// Sets a breakpoint in a script that is loaded.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetBreakpoint {
    /// Where.
    pub location: Location,
    /// Stops only where this expression is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
}

/// Stops before a script runs. Not before a `CommonJS` module (Node 20, 22, 24).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetInstrumentationBreakpoint {
    /// Before which.
    pub instrumentation: Instrumentation,
}

/// The scripts to stop before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Instrumentation {
    /// All.
    BeforeScriptExecution,
    /// Those with a source map.
    BeforeScriptWithSourceMapExecution,
}

/// A breakpoint.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BreakpointSet {
    /// Its id.
    pub breakpoint_id: String,
}

/// Removes a breakpoint of any kind. An unknown one is not an error.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoveBreakpoint {
    /// Its id.
    pub breakpoint_id: String,
}

/// Lists the places of a script where a breakpoint can be.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetPossibleBreakpoints {
    /// From here.
    pub start: Location,
    /// To here, exclusive; to the end of the script by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Location>,
    /// Not beyond the function that the start is in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub restrict_to_function: bool,
}

/// Places where a breakpoint can be.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PossibleBreakpoints {
    /// In the order of the text.
    pub locations: Vec<BreakLocation>,
}

/// A place where a breakpoint can be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BreakLocation {
    /// The script.
    pub script_id: String,
    /// The line.
    pub line_number: i32,
    /// The column.
    pub column_number: Option<i32>,
    /// `debuggerStatement`, `call` or `return`, if it is one of these.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// Chooses the exceptions to stop at.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetPauseOnExceptions {
    /// Which ones.
    pub state: PauseOnExceptions,
}

/// Exceptions to stop at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PauseOnExceptions {
    /// None.
    None,
    /// Those that no `catch` will take. For promises that is a guess.
    Uncaught,
    /// All.
    All,
}
