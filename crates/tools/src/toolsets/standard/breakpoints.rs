//! Breakpoints.

use std::collections::BTreeSet;
use std::path::PathBuf;

use engine::error::Error;
use engine::model::breakpoint::{Breakpoint, BreakpointTarget, HitCondition, Rule};
use engine::model::ids::BreakpointId;
use engine::session::Session;
use engine::session::breakpoints::Change;
use engine::session::placing::PlaceRequest;
use engine::sources;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data_breakpoints::{self, AccessParam};
use super::shared::LineContext;
use crate::ops::run_until::moved_to_column;
use crate::render::{BreakpointData, failed, surrounding};
use crate::{Context, Effects, Tool, ToolError};

/// How many lines around a breakpoint are shown.
const AROUND: u32 = 2;

/// Sets a breakpoint, or changes one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SetBreakpoint {
    session_id: Option<String>,
    /// absolute, or relative to the server's directory
    file: Option<PathBuf>,
    /// 1-based
    line: Option<u32>,
    /// for one of several statements on the line (not in Python)
    column: Option<u32>,
    /// instead of line: distinctive text of the line
    statement: Option<String>,
    /// selects one of several such lines
    near_line: Option<u32>,
    /// instead of line: function, or Class.method
    function: Option<String>,
    /// instead, while paused: stop on writes (or `access`) to this variable, field or item
    watch: Option<String>,
    access: Option<AccessParam>,
    frame_id: Option<u64>,
    /// stop only where this expression is true
    condition: Option<String>,
    /// only at these hits: 5, >= 5, % 10
    hit_condition: Option<String>,
    /// print this and do not stop; {expressions} are filled in
    log_message: Option<String>,
    /// fail unless the line contains this
    expected_content: Option<String>,
    /// change this breakpoint instead: condition, hitCondition, logMessage, enabled
    breakpoint_id: Option<String>,
    enabled: Option<bool>,
}

/// A breakpoint, and what is around it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BreakpointSet {
    success: bool,
    #[serde(flatten)]
    breakpoint: BreakpointData,
    message: String,
    /// The line and surrounding ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<LineContext>,
    #[serde(flatten)]
    alike: CompatFields,
}

/// What an answer about a new breakpoint has once more, by the names that clients of mcp-debugger know.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CompatFields {
    /// Text of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// The function.
    #[serde(skip_serializing_if = "Option::is_none")]
    function_name: Option<String>,
    /// Where the function was found in the running program.
    #[serde(flatten)]
    bound: BoundPlace,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<Anchor>,
    /// Message if the breakpoint is not at the requested location.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
}

/// The function that a breakpoint is bound in.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BoundPlace {
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_file: Option<String>,
    /// The line with its name; the program stops on `line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_line: Option<u32>,
}

impl BoundPlace {
    /// Nothing while it is not, or if the debugger does not report it.
    fn of(breakpoint: &Breakpoint) -> Self {
        let bound_line = breakpoint.declared_line();
        let file = breakpoint.file().filter(|_| bound_line.is_some());
        Self { bound_file: file.map(|file| file.display().to_string()), bound_line }
    }
}
/// Text that locates the line again at each start.
#[derive(Debug, Serialize, JsonSchema)]
struct Anchor {
    statement: String,
}

impl Anchor {
    fn of(breakpoint: &Breakpoint) -> Option<Self> {
        Some(Self { statement: breakpoint.statement()?.to_owned() })
    }
}

impl BreakpointSet {
    fn new(session: &Session, breakpoint: &Breakpoint, note: Option<String>) -> Self {
        let data = BreakpointData::from(breakpoint);
        let place = match (&data.file, data.line, &data.function) {
            (Some(file), Some(line), _) => match data.column {
                Some(column) => format!("{file}:{line}:{column}"),
                None => format!("{file}:{line}"),
            },
            (_, _, Some(function)) => format!("function {function}"),
            _ => breakpoint.label(),
        };
        let lines = breakpoint.file().and_then(|path| session.read_lines(path).ok());
        let context = lines
            .zip(data.line)
            .and_then(|(lines, line)| LineContext::new(line, surrounding(&lines, line, AROUND)));
        let mut message = format!("Breakpoint set at {place}");
        if let Some(asked) = data.requested_line {
            let text = context.as_ref().map(|context| context.line_content.trim()).unwrap_or_default();
            message = format!("{message} (`{text}`), because line {asked} has no code to stop at");
        }
        for note in moved_to_column(breakpoint).into_iter().chain(note) {
            message = format!("{message}; {note}");
        }
        let alike = CompatFields {
            content: context.as_ref().map(|context| context.line_content.clone()),
            function_name: data.function.clone(),
            bound: BoundPlace::of(breakpoint),
            anchor: Anchor::of(breakpoint),
            warning: data.requested_line.map(|_| message.clone()),
        };
        Self { success: true, breakpoint: data, message, context, alike }
    }
}

impl Tool for SetBreakpoint {
    type Answer = BreakpointSet;
    const NAME: &'static str = "set_breakpoint";
    const TITLE: &'static str = "Set breakpoint";
    const DESCRIPTION: &'static str =
        "Set a breakpoint by line, line text or function, at any time, even before the program starts.";
    const EFFECTS: Effects = Effects::ADDS;
    const IGNORED: &'static [(&'static str, &'static str)] =
        &[("suspendPolicy", "a stop suspends all threads of the process")];

    async fn call(self, context: &Context) -> Result<BreakpointSet, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let given = self.hit_condition.as_deref();
        let hit_condition =
            given.filter(|text| !text.trim().is_empty()).map(read_hit_condition).transpose()?;
        if let Some(id) = self.breakpoint_id.as_deref().map(read_id).transpose()? {
            return self.change(&session, id, hit_condition).await;
        }
        let rule = Rule {
            hit_condition,
            log_message: self.log_message.clone().filter(|message| !message.trim().is_empty()),
            ..Rule::on(self.condition.clone())
        };
        if let Some(expression) = &self.watch {
            let expression = expression.trim().to_owned();
            return self.watch(&session, expression, rule).await;
        }
        let wanted = PlaceRequest {
            file: self.file,
            line: self.line,
            column: self.column,
            statement: self.statement,
            near_line: self.near_line,
            function: self.function,
            expected_content: self.expected_content,
            rule,
            ..PlaceRequest::default()
        };
        let (breakpoint, note) = session.set_breakpoint(wanted).await?;
        let breakpoint = with_state(&session, breakpoint, self.enabled).await?;
        Ok(BreakpointSet::new(&session, &breakpoint, note))
    }
}

impl SetBreakpoint {
    /// Watches a value instead.
    async fn watch(
        self,
        session: &Session,
        expression: String,
        rule: Rule,
    ) -> Result<BreakpointSet, ToolError> {
        let Self { file, line, statement, function, .. } = &self;
        if file.is_some() || line.is_some() || statement.is_some() || function.is_some() {
            return Err(data_breakpoints::has_place());
        }
        let breakpoint =
            data_breakpoints::watch(session, expression, self.access, self.frame_id, rule).await?;
        let breakpoint = with_state(session, breakpoint, self.enabled).await?;
        Ok(BreakpointSet::new(session, &breakpoint, None))
    }

    /// What is not given stays; an empty text removes.
    async fn change(
        self,
        session: &Session,
        id: BreakpointId,
        hit_condition: Option<HitCondition>,
    ) -> Result<BreakpointSet, ToolError> {
        let known = session.breakpoints().await?;
        let old = known.into_iter().find(|known| known.id == id).ok_or(Error::NoBreakpoint(id))?.rule;
        let changed = |new: Option<String>, old: Option<String>| match new {
            Some(new) if new.trim().is_empty() => None,
            Some(new) => Some(new),
            None => old,
        };
        let rule = Rule {
            condition: changed(self.condition, old.condition.clone()),
            hit_condition: if self.hit_condition.is_some() { hit_condition } else { old.hit_condition },
            log_message: changed(self.log_message, old.log_message.clone()),
            record: old.record.clone(),
        };
        session.check_rule(&rule).await?;
        let change = Change { enabled: self.enabled, rule: Some(rule).filter(|rule| *rule != old) };
        let breakpoint = session.change_breakpoint(id, change).await?;
        Ok(BreakpointSet::new(session, &breakpoint, None))
    }
}

/// A new breakpoint, disabled if asked for.
async fn with_state(
    session: &Session,
    breakpoint: Breakpoint,
    enabled: Option<bool>,
) -> Result<Breakpoint, ToolError> {
    if enabled != Some(false) {
        return Ok(breakpoint);
    }
    let change = Change { enabled, rule: None };
    Ok(session.change_breakpoint(breakpoint.id, change).await?)
}

fn read_id(id: &str) -> Result<BreakpointId, ToolError> {
    id.parse()
        .map_err(|_| ToolError::argument("breakpointId", format!("must be an ID such as `bp-1`, not `{id}`")))
}

fn read_hit_condition(text: &str) -> Result<HitCondition, ToolError> {
    text.parse().map_err(|_| {
        let takes = "must be a number, alone or after ==, >, >=, <, <= or %";
        ToolError::argument("hitCondition", format!("{takes}, not `{text}`"))
    })
}

/// Lists the breakpoints.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListBreakpoints {
    session_id: Option<String>,
    file: Option<PathBuf>,
}
/// A breakpoint, also with mcp-debugger's field names.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedBreakpoint {
    /// Its ID.
    id: String,
    #[serde(flatten)]
    breakpoint: BreakpointData,
    /// Its number in editors attached through `expose_session`.
    #[serde(skip_serializing_if = "Option::is_none")]
    adapter_id: Option<u32>,
    /// Bound line; for a function, the line with its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    bound_line: Option<u32>,
    /// Why it is not bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<Anchor>,
}

impl From<&Breakpoint> for ListedBreakpoint {
    fn from(breakpoint: &Breakpoint) -> Self {
        let mut data = BreakpointData::from(breakpoint);
        data.requested_line = breakpoint.requested_line();
        Self {
            id: data.breakpoint_id.clone(),
            adapter_id: data.verified.then_some(breakpoint.id.0),
            bound_line: breakpoint.declared_line().or(data.line).filter(|_| data.verified),
            message: data.reason.clone(),
            anchor: Anchor::of(breakpoint),
            breakpoint: data,
        }
    }
}

/// A breakpoint on a function.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FunctionBreakpoint {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    adapter_id: Option<u32>,
    function_name: String,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    #[serde(flatten)]
    bound: BoundPlace,
    /// Why it is not bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl FunctionBreakpoint {
    /// One on a line is none.
    fn of(breakpoint: &Breakpoint) -> Option<Self> {
        let listed = ListedBreakpoint::from(breakpoint);
        Some(Self {
            id: listed.id,
            adapter_id: listed.adapter_id,
            function_name: listed.breakpoint.function?,
            verified: listed.breakpoint.verified,
            condition: listed.breakpoint.condition,
            bound: BoundPlace::of(breakpoint),
            message: listed.message,
        })
    }
}

/// The breakpoints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BreakpointList {
    success: bool,
    breakpoints: Vec<ListedBreakpoint>,
    count: usize,
    /// Function breakpoints, with mcp-debugger's field names.
    #[serde(skip_serializing_if = "Option::is_none")]
    function_breakpoints: Option<Vec<FunctionBreakpoint>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_count: Option<usize>,
    /// The exceptions to stop at.
    exceptions: ExceptionsData,
}

/// The exceptions to stop at.
#[derive(Debug, Serialize, JsonSchema)]
struct ExceptionsData {
    /// `none`, `uncaught`, `userUnhandled` or `all`.
    mode: String,
    /// Only if this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// Number of failures of the condition, and the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

impl Tool for ListBreakpoints {
    type Answer = BreakpointList;
    const NAME: &'static str = "list_breakpoints";
    const TITLE: &'static str = "List breakpoints";
    const DESCRIPTION: &'static str = "List breakpoints: bound or why not, hits, failed conditions.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<BreakpointList, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let file = self.file.map(|file| sources::absolute(&file));
        let mut known = session.breakpoints().await?;
        known.retain(|breakpoint| file.is_none() || breakpoint.path() == file.as_deref());
        let breakpoints: Vec<ListedBreakpoint> = known.iter().map(ListedBreakpoint::from).collect();
        // A file is asked for the breakpoints on its lines.
        let functions: Option<Vec<FunctionBreakpoint>> =
            file.is_none().then(|| known.iter().filter_map(FunctionBreakpoint::of).collect());
        let (wanted, failures) = session.exception_breakpoints().await?;
        let exceptions = ExceptionsData {
            mode: wanted.mode.to_string(),
            condition: wanted.condition,
            failure: failures.as_ref().map(failed),
        };
        Ok(BreakpointList {
            success: true,
            count: breakpoints.len(),
            breakpoints,
            function_count: functions.as_ref().map(Vec::len),
            function_breakpoints: functions,
            exceptions,
        })
    }
}

/// Removes breakpoints.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RemoveBreakpoint {
    session_id: Option<String>,
    breakpoint_id: Option<String>,
    /// with line, instead of the id
    file: Option<PathBuf>,
    line: Option<u32>,
    /// instead of the id
    function: Option<String>,
}

/// What was removed.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "public field name")]
pub(super) struct Removed {
    success: bool,
    /// The removed breakpoints.
    removed: Vec<ListedBreakpoint>,
    message: String,
}

impl Removed {
    fn new(known: &[Breakpoint], ids: &[BreakpointId]) -> Self {
        let removed = known.iter().filter(|known| ids.contains(&known.id));
        let removed: Vec<ListedBreakpoint> = removed.map(ListedBreakpoint::from).collect();
        let message = match removed.as_slice() {
            [only] => format!("Removed breakpoint {}", only.id),
            several => format!("Removed {} breakpoints", several.len()),
        };
        Self { success: true, removed, message }
    }
}

impl Tool for RemoveBreakpoint {
    type Answer = Removed;
    const NAME: &'static str = "remove_breakpoint";
    const TITLE: &'static str = "Remove breakpoint";
    const DESCRIPTION: &'static str = "Remove a breakpoint by id, file and line, or function.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<Removed, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let known = session.breakpoints().await?;
        let removed = match (&self.breakpoint_id, self.file, self.line, self.function) {
            (Some(id), ..) => {
                let wanted = read_id(id)?;
                let removed = session.remove_breakpoints(move |id, _| id == wanted).await?;
                if removed.is_empty() {
                    return Err(Error::NoBreakpoint(wanted).into());
                }
                removed
            }
            (None, Some(file), Some(wanted), _) => {
                let file = sources::absolute(&file);
                let at_line: Vec<BreakpointId> = known
                    .iter()
                    .filter(|known| known.path() == Some(&file))
                    .filter(|known| known.line() == Some(wanted) || known.requested_line() == Some(wanted))
                    .map(|known| known.id)
                    .collect();
                if at_line.is_empty() {
                    let place = format!("{}:{wanted}", file.display());
                    return Err(ToolError::argument("line", format!("has no breakpoint: {place}")));
                }
                session.remove_breakpoints(move |id, _| at_line.contains(&id)).await?
            }
            (None, _, _, Some(function)) => {
                let name = function.clone();
                let by_name = move |_, place: &BreakpointTarget| place.function() == Some(&function);
                let removed = session.remove_breakpoints(by_name).await?;
                if removed.is_empty() {
                    return Err(ToolError::argument("function", format!("has no breakpoint: {name}")));
                }
                removed
            }
            _ => {
                return Err(ToolError::argument(
                    "breakpointId",
                    "is missing; give it, or `file` and `line`, or `function`",
                ));
            }
        };
        Ok(Removed::new(&known, &removed))
    }
}

/// What was removed of all breakpoints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AllRemoved {
    #[serde(flatten)]
    removed: Removed,
    /// Number of removed breakpoints.
    cleared: usize,
    /// Their files.
    files: Vec<String>,
}

/// Removes all breakpoints.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ClearBreakpoints {
    session_id: Option<String>,
    /// only in this file
    file: Option<PathBuf>,
}

impl Tool for ClearBreakpoints {
    type Answer = AllRemoved;
    const NAME: &'static str = "clear_breakpoints";
    const TITLE: &'static str = "Clear breakpoints";
    const DESCRIPTION: &'static str = "Remove all breakpoints.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<AllRemoved, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let file = self.file.map(|file| sources::absolute(&file));
        let in_file = move |place: &BreakpointTarget| match (&file, place) {
            (None, _) => true,
            (Some(file), BreakpointTarget::Line { path, .. }) => path == file,
            (Some(_), BreakpointTarget::Function { .. } | BreakpointTarget::Data(_)) => false,
        };
        let known = session.breakpoints().await?;
        let ids = session.remove_breakpoints(move |_, place| in_file(place)).await?;
        let removed = Removed::new(&known, &ids);
        let files = removed.removed.iter().filter_map(|removed| removed.breakpoint.file.clone());
        let files: BTreeSet<String> = files.collect();
        Ok(AllRemoved { cleared: ids.len(), files: files.into_iter().collect(), removed })
    }
}
