//! Where values are stored, in the words of the adapter or of its debugger, and what is there.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::super::{DapDebugger, commands, lock, values};
use super::{Content, any_frame, evaluate};
use crate::deadlines;
use crate::debugger::DataBreakpoint;
use crate::error::{Error, Result};
use crate::model::data_breakpoint::DataAccess;
use crate::model::ids::{BreakpointId, RawId};
use crate::model::limits::MAX_VALUE;

/// What the command prints about an expression.
#[derive(Deserialize)]
struct Located {
    id: Option<String>,
    problem: Option<String>,
    #[serde(default)]
    has_effect: bool,
}

/// What the command prints about all storages.
#[derive(Default, Deserialize)]
struct Printed {
    accessed: Option<String>,
    values: HashMap<String, PrintedValue>,
}

#[derive(Deserialize)]
struct PrintedValue {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: String,
    bytes: Option<String>,
    is_partial: bool,
}

/// What was read.
pub(super) struct Reading {
    /// The adapter's name for the storage whose access has stopped the program, where the debugger says so.
    pub(super) accessed: Option<String>,
    /// What those storages that could be read had before.
    pub(super) before: HashMap<String, Content>,
}

/// The adapter's name for the storage of a value, from the debugger's command, which also finds what the adapter does
/// not. It remembers the storage under our name. What must not be evaluated to see its value, either, is refused.
pub(super) async fn found(
    debugger: &DapDebugger,
    command: &str,
    frame: RawId,
    name: &str,
    expression: &str,
) -> Result<String> {
    let quoted = commands::argument(&Json::from(expression).to_string());
    let command = format!("{command} find {} {name} {quoted}", frame.0);
    let located: Option<Located> = printed(debugger, frame, command).await;
    let Located { id, problem, has_effect } =
        located.ok_or_else(|| Error::Refused("the debugger does not answer".to_owned()))?;
    let problem = || unwatchable(expression, &problem.unwrap_or_default());
    id.ok_or_else(|| if has_effect { Error::Refused(problem().to_string()) } else { problem() })
}

/// The adapter's name for the storage of a value, by the protocol's request.
pub(super) async fn adapter_id(
    debugger: &DapDebugger,
    frame: RawId,
    expression: &str,
    access: DataAccess,
) -> Result<String> {
    let name = expression.to_owned();
    let arguments = ::dap::DataBreakpointInfoArguments { name, frame_id: Some(frame.0) };
    let info = debugger.request::<::dap::DataBreakpointInfo>(arguments, deadlines::REQUEST).await?;
    let id = info.data_id.ok_or_else(|| unwatchable(expression, &info.description))?;
    if !info.access_types.is_empty() && !info.access_types.iter().any(|known| known == access.as_str()) {
        let known = info.access_types.join(", ");
        return Err(Error::Unsupported(format!("access `{access}` cannot be watched here; use: {known}")));
    }
    Ok(id)
}

fn unwatchable(expression: &str, why: &str) -> Error {
    let instead = "watch a variable, a field or an element";
    Error::Unsupported(format!("`{expression}` cannot be watched: {why}; {instead}"))
}

/// Has the adapter watch these, each storage once: it may keep only one of several. Returns those that it does not
/// watch, with its reasons.
pub(super) async fn set(
    debugger: &DapDebugger,
    active: &[&DataBreakpoint],
) -> Result<HashMap<BreakpointId, String>> {
    let covers = debugger.quirks().data.covers;
    let stored: Vec<(BreakpointId, Option<String>, DataAccess)> = {
        let watched = lock(&debugger.0.watched);
        let id = |data: &DataBreakpoint| Some(watched.known.get(&data.data_id)?.adapter_id.clone());
        active.iter().map(|data| (data.rule.id, id(data), data.access)).collect()
    };
    let mut outermost: Vec<(String, DataAccess)> = Vec::new();
    for (_, id, access) in &stored {
        let (Some(id), mut access) = (id, *access) else { continue };
        if let Some((_, known)) = outermost.iter_mut().find(|(outer, _)| covers(outer, id)) {
            *known = known.with(access);
            continue;
        }
        outermost.retain(|(inner, known)| {
            let is_part = covers(id, inner);
            if is_part {
                access = access.with(*known);
            }
            !is_part
        });
        outermost.push((id.clone(), access));
    }
    let breakpoint = |(id, access): &(String, DataAccess)| ::dap::DataBreakpoint {
        data_id: id.clone(),
        access_type: Some(access.as_str().to_owned()),
    };
    let breakpoints = outermost.iter().map(breakpoint).collect();
    let arguments = ::dap::SetDataBreakpointsArguments { breakpoints };
    let response = debugger.request::<::dap::SetDataBreakpoints>(arguments, deadlines::REQUEST).await?;
    let numbers = response.breakpoints.iter().map(|answer| answer.id).zip(&outermost);
    lock(&debugger.0.watched).numbers =
        numbers.filter_map(|(number, (id, _))| Some((number?, id.clone()))).collect();
    let failure = |(breakpoint, id, _): (BreakpointId, Option<String>, DataAccess)| {
        let at = id.and_then(|id| outermost.iter().position(|(outer, _)| covers(outer, &id)));
        let answer = at.and_then(|at| response.breakpoints.get(at));
        if answer.is_some_and(|answer| answer.verified) {
            return None;
        }
        let message = answer.and_then(|answer| answer.message.as_deref());
        let reason = message.map(debugger.quirks().message);
        Some((breakpoint, reason.unwrap_or_else(|| "the debugger gives no reason".to_owned())))
    };
    Ok(stored.into_iter().filter_map(failure).collect())
}

/// Has the debugger's command remove what is left of earlier watches. False if there is no such command.
pub(super) async fn clear(debugger: &DapDebugger) -> bool {
    let Some(command) = debugger.quirks().data.command else { return false };
    let Some(frame) = any_frame(debugger).await else { return false };
    let command = format!("{command} clear {}", frame.0);
    commands::run(debugger, Some(frame), command, deadlines::REQUEST).await.is_ok()
}

/// Reads all storages that are known, for the next time.
pub(super) async fn read(debugger: &DapDebugger, frame: RawId) -> Reading {
    let known: Vec<(String, String)> = {
        let watched = lock(&debugger.0.watched);
        watched.known.iter().map(|(name, storage)| (name.clone(), storage.expression.clone())).collect()
    };
    let mut now = HashMap::new();
    let mut accessed = None;
    if let Some(command) = debugger.quirks().data.command {
        let names: Vec<&String> = known.iter().map(|(name, _)| name).collect();
        let command = format!("{command} read {} {}", frame.0, json!(names));
        let printed: Printed = printed(debugger, frame, command).await.unwrap_or_default();
        accessed = printed.accessed;
        for (name, PrintedValue { kind, text, bytes, is_partial }) in printed.values {
            let text = values::shown_text(debugger, kind, text, MAX_VALUE);
            now.insert(name, Content { text, bytes, is_partial });
        }
    } else {
        for (name, expression) in known {
            if let Ok(value) = evaluate(debugger, frame, &expression).await {
                now.insert(name, Content { text: value.text, ..Content::default() });
            }
        }
    }
    let mut watched = lock(&debugger.0.watched);
    let mut before = HashMap::new();
    for (name, content) in now {
        if let Some(storage) = watched.known.get_mut(&name) {
            before.insert(name, std::mem::replace(&mut storage.content, content));
        }
    }
    Reading { accessed, before }
}

/// What the command prints.
async fn printed<T: DeserializeOwned>(debugger: &DapDebugger, frame: RawId, command: String) -> Option<T> {
    let answer = commands::run(debugger, Some(frame), command, deadlines::REQUEST).await.ok()?;
    let printed = answer.lines().find_map(|line| line.strip_prefix("watched "))?;
    serde_json::from_str(printed).ok()
}
