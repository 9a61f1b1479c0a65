//! The state of a program, in this vocabulary.

use engine::error::UNDEBUGGED;
use engine::model::stop::End;
use engine::output::Excerpt;
use engine::session::watches::{Changed, WatchValue};
use engine::snapshot::Snapshot;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use super::data::{FrameData, VariableData, variables};
use crate::error::{Next, inspector};
use crate::ops::settle::{Runs, Settled};
use crate::ops::unreached;
use crate::render::{ExceptionData, after, describe_stop, more, output_text, plain, window, with_failures};

/// What a program is doing, with all that the next decision needs.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// `paused`, `running` or `terminated`.
    pub(super) state: &'static str,
    /// Summary in a sentence.
    message: String,
    /// Why it stopped: `breakpoint`, `step`, `entry`, `exception`, `pause`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Location of the stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<FrameData>,
    /// Source around the location, with `>` at the line.
    #[serde(skip_serializing_if = "String::is_empty")]
    source: String,
    /// Exception at which it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    exception: Option<ExceptionData>,
    /// Breakpoints at which it stopped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    breakpoint_ids: Vec<String>,
    /// Innermost frames of user code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stack: Vec<FrameData>,
    /// Number of omitted frames; `debugger_get_stack` returns all.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_frames: Option<usize>,
    /// Variables of the innermost frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    locals: Option<Vec<VariableData>>,
    /// Number of omitted variables; `debugger_get_local_variables` returns all.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_locals: Option<u64>,
    /// Watched expressions whose values have changed since the last stop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    watches: Vec<ChangeData>,
    /// New output since the last report.
    #[serde(skip_serializing_if = "String::is_empty")]
    output: String,
    /// Number of omitted bytes before `output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_skipped: Option<u64>,
    /// Exit code, if the program has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Signal that killed the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// Additional notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A watched expression whose value has changed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChangeData {
    watch_id: String,
    expression: String,
    /// Value at the last stop where it had one; absent if it never had one.
    old_value: Json,
    /// Whether it had a value before.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_in_scope: Option<bool>,
    /// Current value.
    new_value: Json,
}

impl From<Changed> for ChangeData {
    fn from(changed: Changed) -> Self {
        let Changed { id, expression, old, new } = changed;
        Self {
            watch_id: id.to_string(),
            expression,
            old_value: seen(&old),
            old_in_scope: no_value(&old),
            new_value: seen(&new),
        }
    }
}

/// False for an expression that had no value.
pub(super) fn no_value(seen: &WatchValue) -> Option<bool> {
    matches!(seen, WatchValue::NotInScope).then_some(false)
}

/// What a watched expression was found to be, as JSON where that says all of it.
pub(super) fn seen(seen: &WatchValue) -> Json {
    match seen {
        WatchValue::Value { text, type_name, .. } => plain(type_name, text),
        // Any text could be the value of a string.
        WatchValue::NotInScope => Json::Null,
        other @ WatchValue::Failed(_) => Json::from(other.to_string()),
    }
}

impl Report {
    /// The report. `did` says what was done: `Stepped over`.
    pub(super) fn new(did: &str, settled: Settled) -> Self {
        match settled {
            Settled::Stopped(snapshot) => Self::paused(did, *snapshot),
            Settled::Running { output, runs, remarks } => Self {
                state: "running",
                message: running(did, &runs),
                notes: with_failures(&remarks.failures, remarks.notes(inspector)),
                ..Self::default()
            }
            .with_output(&output),
            Settled::Ended { end, output, unreached, remarks } => {
                let mut notes = with_failures(&remarks.failures, remarks.notes(inspector));
                let (told, more) = unreached::shown(&unreached);
                notes.extend(told.iter().map(ToString::to_string));
                if more > 0 {
                    let way = "debugger_list_breakpoints shows them";
                    notes.push(format!("and {more} more that were not reached; {way}"));
                }
                Self { notes, ..Self::terminated(&end) }.with_output(&output)
            }
        }
    }

    fn paused(did: &str, snapshot: Snapshot) -> Self {
        let location = snapshot.frame().map(|frame| FrameData::new(0, frame));
        let place = location.as_ref().map(|at| format!(" at {}:{} in {}", at.file, at.line, at.function));
        let why = describe_stop(&snapshot.stop, snapshot.exception.as_ref());
        let users = snapshot.total_frames.saturating_sub(snapshot.hidden_frames);
        let frames = snapshot.frames.iter().enumerate();
        let locals = snapshot.locals.as_ref().map(|(_, children)| children);
        Self {
            state: "paused",
            message: after(did, &format!("Paused{} ({why})", place.unwrap_or_default())),
            reason: Some(snapshot.stop.reason.to_string()),
            source: window(&snapshot.source, location.as_ref().map_or(0, |at| at.line)),
            location,
            breakpoint_ids: snapshot.stop.breakpoints.iter().map(ToString::to_string).collect(),
            stack: frames.map(|(index, frame)| FrameData::new(index, frame)).collect(),
            more_frames: Some(users.saturating_sub(snapshot.frames.len())).filter(|more| *more > 0),
            locals: locals.map(variables),
            more_locals: locals.and_then(more),
            exception: ExceptionData::of(&snapshot),
            notes: with_failures(&snapshot.failures, snapshot.notes),
            watches: snapshot.watches.into_iter().map(ChangeData::from).collect(),
            ..Self::default()
        }
        .with_output(&snapshot.output)
    }

    fn terminated(end: &End) -> Self {
        let message = format!("The program {end}");
        Self {
            state: "terminated",
            message,
            exit_code: end.exit_code(),
            signal: end.signal(),
            ..Self::default()
        }
    }

    fn with_output(mut self, output: &Excerpt) -> Self {
        self.output = output_text(output);
        self.output_skipped = Some(output.skipped).filter(|skipped| *skipped > 0);
        self
    }
}

fn running(did: &str, runs: &Runs) -> String {
    match runs {
        Runs::Undebugged => {
            let next = inspector(Next::EndFirst);
            format!("{did}. The {UNDEBUGGED}; call debugger_continue to wait for its end; {next}")
        }
        Runs::Others(end) => {
            format!("{did}. The program {end}, but a process that it started is still running")
        }
        Runs::Program => {
            format!(
                "{did}. The program is running; call debugger_continue to wait for it, or debugger_pause to \
                 stop it"
            )
        }
    }
}
