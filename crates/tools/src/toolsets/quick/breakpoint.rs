//! Breakpoints, before and after a launch.

use std::path::{Path, PathBuf};

use engine::adapter;
use engine::model::breakpoint::Breakpoint;
use engine::sources;
use schemars::JsonSchema;
use serde::Deserialize;

use super::QuickTool;
use super::state::{RequestedBreakpoint, State};
use super::target::{base_name, language};
use super::text;
use crate::ops::closing::CloseOnDrop;
use crate::{Context, Effects, ToolError};

/// Sets a breakpoint, or removes one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugBreakpoint {
    /// absolute, or relative to the server's directory
    file: PathBuf,
    /// 1-based
    line: u32,
    /// stop only if this expression is true
    condition: Option<String>,
    /// true: remove it
    remove: Option<bool>,
}

impl QuickTool for DebugBreakpoint {
    const NAME: &'static str = "debug_breakpoint";
    const TITLE: &'static str = "Breakpoint";
    const DESCRIPTION: &'static str =
        "Set a breakpoint at file:line, at any time; a second one on the same line replaces the first.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let mut state = context.quick.lock().await;
        let file = sources::absolute(&self.file);
        let said = if self.remove == Some(true) {
            remove(&mut state, &file, self.line).await?
        } else {
            let condition = self.condition.filter(|condition| !condition.trim().is_empty());
            let wished = RequestedBreakpoint { file, line: self.line, condition, set: None };
            set(&mut state, wished, context).await?
        };
        state.save();
        drop(state);
        Ok(said)
    }
}

async fn set(
    state: &mut State,
    mut wished: RequestedBreakpoint,
    context: &Context,
) -> Result<String, ToolError> {
    let (breakpoint, note) = match &state.session {
        Some(session) => {
            context.sessions.note(session);
            session.set_breakpoint(wished.wanted()).await?
        }
        None => try_binding(state, &wished, context).await?,
    };
    wished.mark_set(&breakpoint);
    let is_same = |other: &RequestedBreakpoint| {
        other.file == wished.file && (other.line == wished.line || other.at() == wished.at())
    };
    let replaced: Vec<RequestedBreakpoint> =
        state.breakpoints.extract_if(.., |other| is_same(other)).collect();
    state.breakpoints.push(wished);
    forget(state, &replaced).await?;
    Ok(text::lines([text::breakpoint(&breakpoint), text::notes(&Vec::from_iter(note))]))
}

/// Without a program, a temporary session checks a breakpoint.
async fn try_binding(
    state: &State,
    wished: &RequestedBreakpoint,
    context: &Context,
) -> Result<(Breakpoint, Option<String>), ToolError> {
    let last = state.target.as_ref().map(|target| target.adapter);
    let adapter = match (adapter::by_extension(&wished.file), last) {
        (Some(adapter), _) | (None, Some(adapter)) => adapter,
        (None, None) => language(None, &wished.file)?,
    };
    let executable = state.target.as_ref().and_then(|target| target.executable.clone());
    let session = context.sessions.open_unlisted(adapter, base_name(&wished.file), executable)?;
    let guard = CloseOnDrop::new(context, &session, true);
    let set = session.set_breakpoint(wished.wanted()).await;
    guard.settle(true).await;
    Ok(set?)
}

async fn remove(state: &mut State, file: &Path, line: u32) -> Result<String, ToolError> {
    let is_it =
        |known: &RequestedBreakpoint| known.file == file && (known.line == line || known.at() == line);
    let removed: Vec<RequestedBreakpoint> = state.breakpoints.extract_if(.., |known| is_it(known)).collect();
    let Some(first) = removed.first() else {
        let known: Vec<String> = state.breakpoints.iter().map(RequestedBreakpoint::label).collect();
        let known = if known.is_empty() {
            "there is none".to_owned()
        } else {
            format!("they are at {}", known.join(", "))
        };
        let problem = format!("has no breakpoint: {}:{line}", base_name(file));
        return Err(ToolError::argument("line", problem).and(&known));
    };
    let said = format!("Breakpoint at {} removed", first.label());
    forget(state, &removed).await?;
    Ok(said)
}

/// Takes breakpoints away from the session.
async fn forget(state: &State, gone: &[RequestedBreakpoint]) -> Result<(), ToolError> {
    let ids: Vec<_> = gone.iter().filter_map(|wished| wished.set.map(|(id, _)| id)).collect();
    if let (Some(session), false) = (&state.session, ids.is_empty()) {
        session.remove_breakpoints(move |id, _| ids.contains(&id)).await?;
    }
    Ok(())
}
