//! Breakpoints.

use engine::error::UNDEBUGGED;
use engine::model::breakpoint::{Binding, Breakpoint, BreakpointFate, Failures, Pending};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A breakpoint.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BreakpointData {
    /// Its name.
    pub breakpoint_id: String,
    /// Absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line that it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The line that was asked for, when it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_line: Option<u32>,
    /// The column that it is at, when one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The column that was asked for, when it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_column: Option<u32>,
    /// The columns of the line where code begins, when the one asked for is none of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<u32>,
    /// The function that it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// It is bound to a place in the running program.
    pub verified: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why the place may not be the one that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// Off: kept, and not in the program.
    pub enabled: bool,
    /// Stops only where this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Stops only at these hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_condition: Option<String>,
    /// Prints this instead of stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_message: Option<String>,
    /// How often it stopped the program, or logged.
    pub hits: u64,
    /// How often its condition or log message failed, and how the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl From<&Breakpoint> for BreakpointData {
    fn from(breakpoint: &Breakpoint) -> Self {
        let line = breakpoint.line();
        let failure = breakpoint.failures.as_ref();
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
            verified: breakpoint.is_verified(),
            reason: unbound(breakpoint),
            outdated: breakpoint.warning().map(str::to_owned),
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
