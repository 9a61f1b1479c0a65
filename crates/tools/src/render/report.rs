//! The report of a program that was waited for.

use engine::error::UNDEBUGGED;
use engine::model::data_breakpoint::DataChange;
use engine::model::ids::Reference;
use engine::model::stop::{End, Exception, Stop};
use engine::model::variable::Children;
use engine::output::Excerpt;
use engine::session::Session;
use engine::session::seen_values::ChangedValue;
use engine::session::watches::Changed;
use engine::snapshot::{Caller, RuleFailure, Snapshot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::traces::shortened;
use super::{FrameData, GeneratedData, VariableData, output_text, variables, window};
use crate::error::{Next, standard};
use crate::ops::settle::{Runs, Settled};
use crate::ops::unreached;

/// What a program is doing, with all that the next decision needs.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StopReport {
    /// Always true; failures have a different shape.
    pub success: bool,
    /// `paused`, `running` or `ended`.
    pub state: String,
    /// State before this call closed the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_before_close: Option<String>,
    /// Summary in a sentence.
    pub message: String,
    /// Why it stopped: `breakpoint`, `data breakpoint`, `step`, `entry`, `exception`, `pause`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Location of the stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<LocationData>,
    /// Source around the location, with `>` at the line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Exception at which it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionData>,
    /// Breakpoints at which it stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breakpoint_ids: Vec<String>,
    /// Accesses to watched values, at a data breakpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_changes: Vec<DataChangeData>,
    /// Innermost frames of user code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack_frames: Vec<FrameData>,
    /// Number of omitted frames; `get_stack_trace` returns all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_frames: Option<usize>,
    /// Variables of the innermost frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locals: Option<Vec<VariableData>>,
    /// Number of omitted variables; `get_local_variables` returns all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_locals: Option<u64>,
    /// Variables, and what is reachable from them, that have changed since the last stop in the function.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedData>,
    /// Watched expressions whose values have changed since the last report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watches: Vec<WatchData>,
    /// New output since the last report.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Number of omitted bytes before `output`; read them with `get_output` from `outputSince`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_skipped: Option<u64>,
    /// Cursor of the omitted output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_since: Option<u64>,
    /// Exit code, if the program has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Signal that killed the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Additional notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A place, and the thread that is there.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocationData {
    /// Absolute path, or a name for code without a file.
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based.
    pub column: u32,
    /// Location of the generated code that runs, if this file was compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<GeneratedData>,
    /// The function.
    pub function: String,
    /// The thread, as in `list_threads`.
    pub thread_id: u32,
}

/// What happened to the value of a data breakpoint.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataChangeData {
    /// The breakpoint.
    pub breakpoint_id: String,
    /// The expression.
    pub expression: String,
    /// Previous value as text.
    pub old: String,
    /// Current value; the same if it was only read.
    pub new: String,
    /// The code that accessed it, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<CodeLineData>,
}

/// A line of code.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CodeLineData {
    /// The function.
    pub function: String,
    /// The file.
    pub file: String,
    /// 1-based.
    pub line: u32,
}

impl From<&DataChange> for DataChangeData {
    fn from(change: &DataChange) -> Self {
        let DataChange { id, expression, old, new, by, .. } = change;
        Self {
            breakpoint_id: id.to_string(),
            expression: expression.clone(),
            old: old.clone(),
            new: new.clone(),
            by: by.as_ref().map(|by| CodeLineData {
                function: by.function.clone(),
                file: by.file.clone(),
                line: by.line,
            }),
        }
    }
}

/// A value that has changed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChangedData {
    /// Path to the value from a variable: `cart.items[0]`.
    pub name: String,
    /// Previous value as text; absent if it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// Current value; absent if it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
}

/// The changes, unless they are longer than the variables themselves.
fn changed(values: Vec<ChangedValue>, locals: Option<&[VariableData]>) -> Vec<ChangedData> {
    let data = |ChangedValue { path, old, new }| ChangedData { name: path, old, new };
    let changed: Vec<ChangedData> = values.into_iter().map(data).collect();
    let size = |value: serde_json::Result<Vec<u8>>| value.map_or(usize::MAX, |bytes| bytes.len());
    let is_shorter =
        size(serde_json::to_vec(&changed)) < size(serde_json::to_vec(&locals.unwrap_or_default()));
    if is_shorter { changed } else { Vec::new() }
}

/// A watched expression whose value has changed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WatchData {
    /// The expression.
    pub expression: String,
    /// Previous value as text, or its error.
    pub old: String,
    /// Current value.
    pub new: String,
}

/// An exception.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExceptionData {
    /// Type name.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Message, unless it equals the failure's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the debugger predicts that nothing catches it.
    pub uncaught: bool,
    /// Stack and causes, as the language prints them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stack: String,
}

/// A frame that waits for the one that it called, with its variables.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallerData {
    /// The frame.
    #[serde(flatten)]
    pub frame: FrameData,
    /// Its variables.
    pub locals: Vec<VariableData>,
    /// Number of omitted variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_locals: Option<u64>,
    /// Why its variables are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl CallerData {
    /// Removes the references, which are invalid once the program has ended.
    pub fn detach(&mut self) {
        self.frame.id = None;
        self.locals.iter_mut().for_each(VariableData::detach);
    }
}

impl From<&Caller> for CallerData {
    fn from(caller: &Caller) -> Self {
        let frame = FrameData::from(&caller.frame);
        match &caller.locals {
            Ok(children) => {
                Self { frame, locals: variables(children), more_locals: more(children), problem: None }
            }
            Err(problem) => {
                let problem = Some(format!("its variables {problem}"));
                Self { frame, locals: Vec::new(), more_locals: None, problem }
            }
        }
    }
}

/// What to do about a crash that a program's debugger does not see.
const CRASH: &str = "if the crash was in an extension, pass `nativeToo` (`--native-too`) or set a breakpoint in one of its \
                     source files before you start the program again: then it stops at the crash with its stack";

impl StopReport {
    /// The report. `did` says what was done, for the message of one that is not ended: `Stepped over`.
    pub fn new(did: &str, settled: Settled) -> Self {
        match settled {
            Settled::Stopped(snapshot) => Self::stopped(did, *snapshot),
            Settled::Running { output, runs, remarks } => {
                Self::running(did, &output, &runs, with_failures(&remarks.failures, remarks.notes(standard)))
            }
            Settled::Ended { end, output, unreached, remarks } => {
                let mut missed = with_failures(&remarks.failures, Vec::new());
                let (told, more) = unreached::shown(&unreached);
                missed.extend(told.iter().map(ToString::to_string));
                if more > 0 {
                    missed
                        .push(format!("and {more} more that were not reached; list_breakpoints shows them"));
                }
                let mut notes = remarks.notes(standard);
                notes.extend(remarks.is_unseen_crash.then(|| CRASH.to_owned()));
                Self::ended(&end, &output, notes).with_unreached(missed)
            }
        }
    }

    fn stopped(did: &str, snapshot: Snapshot) -> Self {
        let location = location(&snapshot);
        let place = location
            .as_ref()
            .map(|location| format!(" at {}:{} in {}", location.file, location.line, location.function));
        let why = describe_stop(&snapshot.stop, snapshot.exception.as_ref());
        let message = after(did, &format!("Paused{} ({why})", place.unwrap_or_default()));
        let current = location.as_ref().map_or(0, |location| location.line);
        let users = snapshot.total_frames.saturating_sub(snapshot.hidden_frames);
        let (locals, more_locals) = match &snapshot.locals {
            Some((_, children)) => (Some(variables(children)), more(children)),
            None => (None, None),
        };
        let changed = changed(snapshot.changed.unwrap_or_default(), locals.as_deref());
        Self {
            success: true,
            state: "paused".to_owned(),
            message,
            reason: Some(snapshot.stop.reason.to_string()),
            source: window(&snapshot.source, current),
            exception: snapshot
                .exception
                .map(|exception| ExceptionData::new(exception, snapshot.frames.len().max(1))),
            data_changes: snapshot.stop.changes.iter().map(DataChangeData::from).collect(),
            breakpoint_ids: snapshot.stop.breakpoints.iter().map(ToString::to_string).collect(),
            more_frames: Some(users.saturating_sub(snapshot.frames.len())).filter(|more| *more > 0),
            stack_frames: snapshot.frames.iter().map(FrameData::from).collect(),
            location,
            locals,
            more_locals,
            changed,
            watches: snapshot.watches.into_iter().map(WatchData::from).collect(),
            notes: with_failures(&snapshot.failures, snapshot.notes),
            ..Self::default()
        }
        .with_output(&snapshot.output)
    }

    fn running(did: &str, output: &Excerpt, runs: &Runs, notes: Vec<String>) -> Self {
        let message = match runs {
            Runs::Undebugged => {
                let next = standard(Next::EndFirst);
                after(did, &format!("The {UNDEBUGGED}; call continue_execution to wait for its end; {next}"))
            }
            Runs::Others(end) => {
                after(did, &format!("The program {end}, but a process that it started is still running"))
            }
            Runs::Program => after(
                did,
                "The program is running; call continue_execution to wait for it, or pause_execution to stop \
                 it",
            ),
        };
        Self { success: true, state: "running".to_owned(), message, notes, ..Self::default() }
            .with_output(output)
    }

    fn ended(end: &End, output: &Excerpt, notes: Vec<String>) -> Self {
        Self {
            success: true,
            state: "ended".to_owned(),
            message: format!("The program {end}"),
            exit_code: end.exit_code(),
            signal: end.signal(),
            notes,
            ..Self::default()
        }
        .with_output(output)
    }

    fn with_output(mut self, output: &Excerpt) -> Self {
        self.output = output_text(output);
        if output.skipped > 0 {
            self.output_skipped = Some(output.skipped);
            self.output_since = Some(output.start - output.skipped);
        }
        self
    }

    /// The same with what did not stop it: the first sentence before the message, and all of them in the notes.
    #[must_use]
    pub fn with_unreached(mut self, missed: Vec<String>) -> Self {
        if let Some(first) = missed.first() {
            let mut letters = first.chars();
            let begin = letters
                .next()
                .filter(|_| !first.starts_with("bp-"))
                .map(|letter| letter.to_ascii_uppercase());
            let end = if first.ends_with(['?', '.']) { "" } else { "." };
            let sentence =
                begin.map_or_else(|| first.clone(), |begin| format!("{begin}{}", letters.as_str()));
            self.message = format!("{sentence}{end} {}", self.message);
        }
        self.notes.extend(missed);
        self
    }

    /// The notes, without those that the message has.
    pub fn further_notes(&self) -> impl Iterator<Item = &String> {
        let message = self.message.to_lowercase();
        self.notes.iter().filter(move |note| !message.contains(&note.to_lowercase()))
    }

    /// The report of a program that is ended with it: what it was doing, and nothing to ask for more with.
    #[must_use]
    pub fn closed(mut self) -> Self {
        if self.state == "ended" {
            return self;
        }
        let was = std::mem::replace(&mut self.state, "ended".to_owned());
        self.message = match was.as_str() {
            "running" => "The program was running when the session was closed".to_owned(),
            _ => format!("{}; then the session was closed", self.message),
        };
        self.state_before_close = Some(was);
        self.stack_frames.iter_mut().for_each(|frame| frame.id = None);
        self.locals.iter_mut().flatten().for_each(VariableData::detach);
        self.notes.retain(|note| !note.contains("continue_execution"));
        self
    }

    /// A report that says nothing but what the program is doing right now.
    pub fn brief(session: &Session, message: String) -> Self {
        Self { success: true, state: session.execution().as_str().to_owned(), message, ..Self::default() }
    }
}

/// What was done, and its result.
pub fn after(did: &str, sentence: &str) -> String {
    if did.is_empty() { sentence.to_owned() } else { format!("{did}. {sentence}") }
}

/// Notes with a sentence for each failure, breakpoints named by their ids.
pub fn with_failures(failures: &[RuleFailure], mut notes: Vec<String>) -> Vec<String> {
    notes.extend(failures.iter().map(ToString::to_string));
    notes
}

/// How many variables there are besides those that are shown.
pub fn more(children: &Children<Reference>) -> Option<u64> {
    children.next_start().map(|next| children.total - next)
}

fn location(snapshot: &Snapshot) -> Option<LocationData> {
    let frame = snapshot.frame()?;
    let location = frame.location.as_ref()?;
    Some(LocationData {
        file: location.source.name.clone(),
        line: location.line,
        column: location.column,
        generated: GeneratedData::of(location),
        function: frame.name.clone(),
        thread_id: snapshot.stop.thread.0,
    })
}

/// Why it stopped, in a few words.
pub fn describe_stop(stop: &Stop, exception: Option<&Exception>) -> String {
    match exception {
        Some(exception) => format!("exception {}", exception.headline()),
        None => match stop.breakpoints.as_slice() {
            [] => stop.reason.to_string(),
            ids => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                let changes: Vec<String> = stop.changes.iter().map(ToString::to_string).collect();
                let colon = if changes.is_empty() { "" } else { ": " };
                format!("{} {}{colon}{}", stop.reason, ids.join(", "), changes.join("; "))
            }
        },
    }
}

impl From<Changed> for WatchData {
    fn from(changed: Changed) -> Self {
        let Changed { expression, old, new, .. } = changed;
        Self { expression, old: old.to_string(), new: new.to_string() }
    }
}

impl ExceptionData {
    /// How many frames of each exception are shown where the stack has fewer.
    const FRAMES: usize = 5;

    /// The exception that a program is stopped at. Where the report has not all frames, it has as many of each
    /// exception.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let shown = snapshot.frames.len();
        let users = snapshot.total_frames.saturating_sub(snapshot.hidden_frames);
        let frames = if users > shown { shown } else { shown.max(Self::FRAMES) };
        snapshot.exception.clone().map(|exception| Self::new(exception, frames))
    }

    /// An exception, with at most this many frames of its stack and its causes.
    pub fn new(exception: Exception, frames: usize) -> Self {
        Self {
            type_name: exception.type_name,
            message: Some(exception.message),
            uncaught: exception.uncaught,
            stack: shortened(&exception.stack, frames),
        }
    }
}
