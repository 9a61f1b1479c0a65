//! Looking at a suspended program.

use std::path::PathBuf;

use engine::error::Error;
use engine::model::ids::{Reference, ThreadId};
use engine::model::stack::ScopeKind;
use engine::model::variable::Page;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::last_stop::LastStop;
use super::truncation::Truncation;
use crate::ops::inspect::{self, NamedChildren};
use crate::render::{FrameData, LineData, ValueReadInfo, VariableData, surrounding, variables};
use crate::{Context, Effects, Tool, ToolError};

/// Characters of a value unless it is asked for more.
const VALUE: usize = 1000;
/// Variables of a page unless it is asked for more.
const VARIABLES: u64 = 100;
/// Variables of a page of a function's.
const LOCALS: u64 = 500;

/// Lists frames.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetStackTrace {
    session_id: Option<String>,
    /// default: the stopped one
    thread_id: Option<u32>,
    /// first frame, default 0
    start: Option<usize>,
    /// default 50
    count: Option<usize>,
    /// library frames too
    include_internals: Option<bool>,
}

/// A stack.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackTrace {
    success: bool,
    /// Innermost first.
    stack_frames: Vec<FrameData>,
    count: usize,
    /// Number of frames, including hidden ones.
    total_frames: usize,
    /// Whether library frames are included.
    include_internals: bool,
    /// Number of omitted library frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden_frames: Option<usize>,
    /// How to include them.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Reason of `lastStop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<String>,
    /// Why the program is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_stop: Option<LastStop>,
}

impl Tool for GetStackTrace {
    type Answer = StackTrace;
    const NAME: &'static str = "get_stack_trace";
    const TITLE: &'static str = "Get stack trace";
    const DESCRIPTION: &'static str = "Get the call stack, innermost frame first.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<StackTrace, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let (start, count) = (self.start.unwrap_or(0), self.count.unwrap_or(50));
        let internals = self.include_internals.unwrap_or(false);
        let stack = inspect::stack(&session, self.thread_id.map(ThreadId), start, count, internals).await?;
        let stack_frames: Vec<FrameData> = stack.frames.iter().map(FrameData::from).collect();
        let hidden = Some(stack.hidden).filter(|hidden| *hidden > 0);
        let last_stop = LastStop::of(&session).await;
        Ok(StackTrace {
            success: true,
            count: stack_frames.len(),
            stack_frames,
            total_frames: stack.total,
            include_internals: internals,
            hidden_frames: hidden,
            note: hidden
                .map(|hidden| format!("{hidden} library frames are hidden; includeInternals shows them")),
            stop_reason: last_stop.as_ref().map(|stop| stop.reason.clone()),
            last_stop,
        })
    }
}

/// Lists children.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetVariables {
    session_id: Option<String>,
    /// of a scope or variable
    variables_reference: Option<u64>,
    /// the same
    scope: Option<u64>,
    /// first, default 0
    start: Option<u64>,
    /// default 100, at most 10000
    count: Option<u64>,
    /// only these
    names: Option<Vec<String>>,
    /// characters per value, default 1000
    max_length: Option<usize>,
    /// default false; true: hidden members too
    include_special: Option<bool>,
}

/// Children of a scope or value.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "public field names")]
#[serde(rename_all = "camelCase")]
pub(super) struct Variables {
    success: bool,
    variables: Vec<VariableData>,
    count: usize,
    variables_reference: u64,
    /// Total number.
    total: u64,
    /// Where the next page starts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start: Option<u64>,
    /// Requested names that do not exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_found: Vec<String>,
    /// Number of children searched for the names before the time limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
}

impl Tool for GetVariables {
    type Answer = Variables;
    const NAME: &'static str = "get_variables";
    const TITLE: &'static str = "Get variables";
    const DESCRIPTION: &'static str = "Get children of a scope or variable, in pages.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Variables, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let missing = || ToolError::argument("variablesReference", "is missing; expected a whole number");
        let reference = reference(self.variables_reference, self.scope)?.ok_or_else(missing)?;
        let page = Page {
            start: self.start.unwrap_or(0),
            count: context.bounds().requested_count(self.count, VARIABLES)?,
            special: true,
            internals: self.include_special.unwrap_or(false),
        };
        let text = context.bounds().requested_length("maxLength", self.max_length, VALUE)?;
        let NamedChildren { children, missing, searched } = if let Some(names) = &self.names {
            inspect::named(&session, reference, names, text).await?
        } else {
            let children = inspect::variables(&session, reference, page, text).await?;
            NamedChildren { children, missing: Vec::new(), searched: None }
        };
        let next_start = children.next_start().filter(|_| self.names.is_none());
        Ok(Variables {
            success: true,
            truncation: Truncation::of(&children, next_start),
            count: children.variables.len(),
            variables: variables(&children),
            variables_reference: reference,
            total: children.total,
            next_start,
            not_found: missing,
            searched,
        })
    }
}

/// What a call is about, by the name that answers have for it or by the one of the tool reference.
fn reference(variables_reference: Option<u64>, scope: Option<u64>) -> Result<Option<u64>, ToolError> {
    match (variables_reference, scope) {
        (Some(one), Some(other)) if one != other => {
            Err(ToolError::argument("scope", "means the same as `variablesReference`; give only one"))
        }
        _ => Ok(variables_reference.or(scope)),
    }
}

/// Lists the variables of a frame.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetLocalVariables {
    session_id: Option<String>,
    /// __builtins__, modules, functions too
    include_special: Option<bool>,
    /// default: the innermost frame
    frame_id: Option<u64>,
    /// first, default 0
    start: Option<u64>,
    #[schemars(extend("unlisted" = true))]
    names: Option<Vec<String>>,
    /// characters per value, default 1000
    max_length: Option<usize>,
}

/// The variables of a frame.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalVariables {
    success: bool,
    variables: Vec<VariableData>,
    count: usize,
    /// Total number.
    total: u64,
    /// Where the next page starts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start: Option<u64>,
    frame: LocalFrame,
    scope_name: String,
    /// Requested names that do not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_found: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Number of omitted special variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
}
/// Frame of the variables.
#[derive(Debug, Serialize, JsonSchema)]
struct LocalFrame {
    name: String,
    file: String,
    line: u32,
}

impl Tool for GetLocalVariables {
    type Answer = LocalVariables;
    const NAME: &'static str = "get_local_variables";
    const TITLE: &'static str = "Get local variables";
    const DESCRIPTION: &'static str = "Get the current function's variables.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<LocalVariables, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let execution = session.execution();
        if execution.stop().is_none() {
            return Err(ToolError::not_paused_for_locals(execution.as_str()));
        }
        let id = inspect::frame(&session, self.frame_id).await?;
        let frame = inspect::find_frame(&session, id).await?.as_ref().map(FrameData::from);
        let start = self.start.unwrap_or(0);
        let page = if self.names.is_some() {
            // What is requested by name is never filtered.
            Page { start: 0, count: context.bounds().children, special: true, internals: false }
        } else {
            Page { start, count: LOCALS, special: self.include_special.unwrap_or(false), internals: false }
        };
        let text = context.bounds().requested_length("maxLength", self.max_length, VALUE)?;
        let (scope_name, mut children) = session.locals(id, page, text).await?;
        let next_start = children.next_start().filter(|_| self.names.is_none());
        let not_found = self.names.map(|names| inspect::keep(&mut children, &names));
        let message = (children.total == 0).then(|| format!("The {scope_name} scope is empty."));
        Ok(LocalVariables {
            success: true,
            count: children.variables.len(),
            total: children.total,
            next_start,
            variables: variables(&children),
            not_found,
            frame: LocalFrame {
                name: frame.as_ref().map(|frame| frame.name.clone()).unwrap_or_default(),
                file: frame.as_ref().map(|frame| frame.file.clone()).unwrap_or_default(),
                line: frame.map_or(0, |frame| frame.line),
            },
            scope_name,
            message,
            truncation: Truncation::of(&children, next_start),
            hidden: Some(children.hidden).filter(|hidden| *hidden > 0),
        })
    }
}

/// Evaluates.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EvaluateExpression {
    session_id: Option<String>,
    /// an expression, or a statement such as x = 1
    expression: String,
    /// default: the innermost frame
    frame_id: Option<u64>,
    /// ms, default 5000; then interrupted
    timeout: Option<u64>,
    /// characters of the result, default 1000
    max_length: Option<usize>,
    /// true: stop reports say when its value changed; false: no longer
    watch: Option<bool>,
    /// default true; false: refused if it could change anything
    side_effects: Option<bool>,
}

/// Nothing.
#[derive(Debug, Serialize, JsonSchema)]
struct EmptyObject {}

/// The value of an expression.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Evaluated {
    success: bool,
    result: String,
    #[serde(rename = "type")]
    type_name: String,
    /// If above 0, pass it to `get_variables`.
    variables_reference: u64,
    /// Number of children.
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<u64>,
    #[serde(flatten)]
    cut: ValueReadInfo,
    /// Always empty; for compatibility.
    presentation_hint: EmptyObject,
}

impl Tool for EvaluateExpression {
    type Answer = Evaluated;
    const NAME: &'static str = "evaluate_expression";
    const TITLE: &'static str = "Evaluate expression";
    const DESCRIPTION: &'static str = "Evaluate an expression in a frame. Side effects persist.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<Evaluated, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let text = context.bounds().requested_length("maxLength", self.max_length, VALUE)?;
        let pure = self.side_effects == Some(false);
        if pure && self.watch == Some(true) {
            return Err(ToolError::argument("sideEffects", "needs `watch: false`"));
        }
        let value = if self.watch == Some(true) {
            inspect::watch(&session, &self.expression, self.frame_id, self.timeout).await?
        } else {
            if self.watch == Some(false) {
                session.watches().remove(&self.expression);
            }
            inspect::evaluate(&session, &self.expression, self.frame_id, self.timeout, text, pure).await?
        };
        Ok(Evaluated {
            success: true,
            cut: ValueReadInfo::of(&value),
            result: value.text,
            type_name: value.type_name,
            variables_reference: value.reference.map_or(0, |reference| reference.0),
            children: value.children,
            presentation_hint: EmptyObject {},
        })
    }
}

/// Assigns.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SetVariable {
    session_id: Option<String>,
    name: String,
    /// an expression
    value: String,
    /// of the container; default: the locals
    variables_reference: Option<u64>,
    scope: Option<u64>,
}

/// What a variable holds now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VariableSet {
    success: bool,
    name: String,
    value: String,
    #[serde(rename = "type")]
    type_name: String,
    variables_reference: u64,
    /// Why the program may not use the new value.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl Tool for SetVariable {
    type Answer = VariableSet;
    const NAME: &'static str = "set_variable";
    const TITLE: &'static str = "Set variable";
    const DESCRIPTION: &'static str = "Set a variable, item or attribute of the paused program.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<VariableSet, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let parents = if let Some(reference) = reference(self.variables_reference, self.scope)? {
            vec![Reference(reference)]
        } else {
            let frame = inspect::frame(&session, None).await?;
            let scopes = session.scopes(frame).await?.into_iter();
            scopes.filter(|scope| scope.kind == ScopeKind::Locals).map(|scope| scope.reference).collect()
        };
        let mut set = Err(Error::Refused("the frame has no variables".to_owned()));
        for parent in parents {
            set = session.set_variable(parent, self.name.clone(), self.value.clone(), VALUE).await;
            if !matches!(set, Err(Error::Refused(_))) {
                break;
            }
        }
        let value = set.map_err(|error| match (&error, container(&self.name)) {
            (Error::Refused(_), Some(container)) => ToolError::from(error).and(&format!(
                "if that is a part of `{container}`, assign to it with evaluate_expression, or pass the \
                 variablesReference of `{container}`, and as `name` what get_variables calls the part"
            )),
            _ => ToolError::from(error),
        })?;
        Ok(VariableSet {
            success: true,
            name: self.name,
            value: value.text,
            type_name: value.type_name,
            variables_reference: value.reference.map_or(0, |reference| reference.0),
            note: value.note,
        })
    }
}

/// What a path such as `names[0]`, `self.size` or `next->size` is a part of; none for a plain name.
fn container(name: &str) -> Option<&str> {
    let end = name.rfind(['[', '.', '-']).filter(|end| *end > 0)?;
    name.get(..end)
}

/// Shows source.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetSourceContext {
    session_id: Option<String>,
    /// a path, or a frame's file name
    file: PathBuf,
    line: u32,
    /// lines before and after, default 5
    lines_context: Option<u32>,
}

/// Lines of source.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SourceContext {
    success: bool,
    file: String,
    line: u32,
    line_content: String,
    surrounding: Vec<LineData>,
    context_lines: u32,
}

impl Tool for GetSourceContext {
    type Answer = SourceContext;
    const NAME: &'static str = "get_source_context";
    const TITLE: &'static str = "Get source context";
    const DESCRIPTION: &'static str = "Get the source around a line.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<SourceContext, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let (file, lines) = inspect::source(&session, &self.file).await?;
        let around = self.lines_context.unwrap_or(5);
        let surrounding = surrounding(&lines, self.line, around);
        let Some(line) = surrounding.iter().find(|near| near.line == self.line) else {
            let problem = match lines.len() {
                0 => format!("is not in {file}, which is empty"),
                length => format!("must be between 1 and {length} in {file}"),
            };
            return Err(ToolError::argument("line", problem));
        };
        Ok(SourceContext {
            success: true,
            file,
            line: self.line,
            line_content: line.content.clone(),
            surrounding,
            context_lines: around,
        })
    }
}

/// Lists threads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListThreads {
    session_id: Option<String>,
}

/// The threads.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ThreadList {
    success: bool,
    threads: Vec<ThreadData>,
    count: usize,
}

/// A thread.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ThreadData {
    /// Pass it as `threadId`.
    id: u32,
    name: String,
    /// `paused` or `running`.
    state: &'static str,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    process_id: Option<u32>,
    /// The thread of the last stop.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    current: bool,
}

impl Tool for ListThreads {
    type Answer = ThreadList;
    const NAME: &'static str = "list_threads";
    const TITLE: &'static str = "List threads";
    const DESCRIPTION: &'static str = "List threads of the program and its child processes.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<ThreadList, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let current = session.execution().stop().map(|stop| stop.thread);
        let threads = session.threads().await?.into_iter().map(|thread| ThreadData {
            id: thread.id.0,
            name: thread.name,
            state: if thread.stopped { "paused" } else { "running" },
            process_id: thread.pid,
            current: current == Some(thread.id),
        });
        let threads: Vec<ThreadData> = threads.collect();
        Ok(ThreadList { success: true, count: threads.len(), threads })
    }
}
