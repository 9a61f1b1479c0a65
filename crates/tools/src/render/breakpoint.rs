//! Breakpoints.

use engine::error::UNDEBUGGED;
use engine::model::breakpoint::{Binding, Breakpoint, BreakpointFate, Failures, Pending};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A breakpoint.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointData {
    /// Its ID.
    pub breakpoint_id: String,
    /// Absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Bound line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Requested line, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_line: Option<u32>,
    /// Bound column, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Requested column, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_column: Option<u32>,
    /// Columns of the line that have code, if the requested one has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<u32>,
    /// Function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Watched expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<String>,
    /// Accesses of it that stop the program: `write`, `read` or `readWrite`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// Bound to a location in the running program.
    pub verified: bool,
    /// Why it is not bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why the location may be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// Which writes stop the program, and which do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// False: kept, but not set in the program.
    pub enabled: bool,
    /// Stops only if this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Stops only at these hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
    /// Prints this instead of stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
    /// Number of stops, or of logged messages.
    pub hits: u64,
    /// Number of failures of its condition or log message, and the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl From<&Breakpoint> for BreakpointData {
    fn from(breakpoint: &Breakpoint) -> Self {
        let line = breakpoint.line();
        let failure = breakpoint.failures.as_ref();
        let warning = || breakpoint.warning().map(str::to_owned);
        let is_watch = breakpoint.data().is_some();
        Self {
            breakpoint_id: breakpoint.id.to_string(),
            file: breakpoint.file().map(|path| path.display().to_string()),
            line,
            requested_line: breakpoint.requested_line().filter(|asked| Some(*asked) != line),
            column: breakpoint.column(),
            requested_column: breakpoint
                .requested_column()
                .filter(|asked| Some(*asked) != breakpoint.column()),
            columns: breakpoint.columns().to_vec(),
            function: breakpoint.function().map(str::to_owned),
            watch: breakpoint.data().map(|data| data.expression.clone()),
            access: breakpoint.data().map(|data| data.access.to_string()),
            verified: breakpoint.is_verified(),
            reason: unbound(breakpoint),
            outdated: if is_watch { None } else { warning() },
            note: if is_watch { warning() } else { None },
            enabled: breakpoint.enabled,
            condition: breakpoint.rule.condition.clone(),
            hit_condition: breakpoint.rule.hit_condition.map(|hit| hit.to_string()),
            log_message: breakpoint.rule.log_message.clone(),
            hits: breakpoint.hits,
            failure: failure.map(failed),
        }
    }
}

/// How often something failed, and how the last time.
pub fn failed(failures: &Failures) -> String {
    format!("{} times; last error: {}", failures.count, failures.message)
}

/// Why a breakpoint is not bound.
pub fn unbound(breakpoint: &Breakpoint) -> Option<String> {
    Some(match &breakpoint.binding {
        Binding::Bound { .. } => return None,
        Binding::Refused(reason) | Binding::Pending(Pending::NotLoaded(reason)) => reason.clone(),
        Binding::Pending(Pending::NotStarted) => {
            let last = match &breakpoint.fate {
                BreakpointFate::Unbound(reason) | BreakpointFate::Refused(reason) => {
                    format!("; it was not bound in the last run: {reason}")
                }
                BreakpointFate::Unknown | BreakpointFate::Bound(_) => String::new(),
            };
            format!("no program is running; it binds when one starts{last}")
        }
        Binding::Pending(Pending::Disabled) => "it is disabled".to_owned(),
        Binding::Pending(Pending::Undebugged) => format!("the {UNDEBUGGED}"),
        Binding::Pending(Pending::Underway) => "it is being bound".to_owned(),
    })
}
