//! Asking a thread where it is and what it waits for; see `debuggee/node/waiting.js`.
//!
//! A thread that computes takes messages between two steps, and its stack is whole then.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use ::cdp::debugger::Location as ScriptPlace;
use ::cdp::runtime::{CallArgument, CallFunctionOn, GetProperties, Properties, ReleaseObjectGroup};
use serde::Deserialize;

use super::super::function_names::{function_name, or_anonymous};
use super::super::injected::{named, stripped};
use super::super::scripts::{Script, path_of};
use super::super::sources::Sources;
use super::super::v8::{V8Client, function_location};
use super::sending::evaluate;
use crate::deadlines;
use crate::model::activity::{SampledFrame, WaitKind, Waiting};
use crate::model::source::{Location, Source};

static SOURCE: LazyLock<String> =
    LazyLock::new(|| named(stripped(include_str!("../../../debuggee/node/waiting.js")), "waiting"));

/// What is held as long as the thread is.
const KEPT: &str = "stillframe-sampling";
/// The objects that are released after an answer.
const GIVEN: &str = "stillframe-waiting";

/// Of what an answer is made of, objects of the thread's.
#[derive(Clone, Debug)]
pub(super) struct WaitTools {
    /// What `this` is.
    node: String,
    /// Node's timers, where they could be found.
    timers: Option<String>,
}

/// The thread's answer.
#[derive(Debug, Deserialize)]
pub(super) struct WaitAnswer {
    /// Innermost first.
    pub(super) stack: Vec<StackSite>,
    pub(super) pending: Vec<PendingWait>,
}

/// A call on a stack: a list of these fields in JSON. Lines and columns are 1-based, 0 for not known.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StackSite {
    function: String,
    pub(super) script: String,
    line: i32,
    column: i32,
    /// Where the function begins.
    own_line: i32,
    own_column: i32,
}

/// Something that is waited for: a list of these fields in JSON.
#[derive(Debug, Deserialize)]
pub(super) struct PendingWait {
    kind: String,
    what: String,
    is_timed: bool,
    /// The number of the function that is called then, from 1; 0 for none.
    function: usize,
    /// Where that begins.
    #[serde(skip)]
    place: Option<ScriptPlace>,
}

/// Asks; waits as long as the thread is in native code.
pub(super) async fn ask(v8: V8Client, tools: Option<WaitTools>) -> Option<(WaitTools, WaitAnswer)> {
    let tools = match tools {
        Some(tools) => tools,
        None => find_tools(&v8).await?,
    };
    let call = CallFunctionOn {
        function_declaration: SOURCE.clone(),
        object_id: Some(tools.node.clone()),
        arguments: vec![CallArgument { object_id: tools.timers.clone(), ..CallArgument::default() }],
        silent: true,
        object_group: Some(GIVEN.to_owned()),
        ..CallFunctionOn::default()
    };
    let given = v8.request_within(deadlines::LONGEST_WAIT, call).await.ok()?;
    if let Some(exception) = &given.exception_details {
        tracing::warn!(?exception, "cannot read what the program waits for");
        return None;
    }
    let mut elements = properties(&v8, given.result.object_id?).await?.result.into_iter();
    let text = elements.next()?.value?.value?;
    let mut answer: WaitAnswer = serde_json::from_str(text.as_str()?).ok()?;
    let functions: Vec<_> = elements.filter_map(|element| element.value?.object_id).collect();
    let places = functions.into_iter().map(|function| place_of(&v8, function));
    let places = futures_util::future::join_all(places).await;
    for pending in &mut answer.pending {
        pending.place = pending.function.checked_sub(1).and_then(|at| places.get(at)?.clone());
    }
    let release = ReleaseObjectGroup { object_group: GIVEN.to_owned() };
    v8.request_within(deadlines::LONGEST_WAIT, release).await.ok()?;
    Some((tools, answer))
}

pub(super) async fn find_tools(v8: &V8Client) -> Option<WaitTools> {
    let mut find = evaluate(
        "({process:require('process'),net:require('net'),isMainThread:require('worker_threads').isMainThread})"
            .to_owned(),
    );
    find.object_group = Some(KEPT.to_owned());
    let found = v8.request_within(deadlines::LONGEST_WAIT, find).await.ok()?;
    let node = found.result.object_id.filter(|_| found.exception_details.is_none())?;
    let timers = find_timers(v8).await;
    Some(WaitTools { node, timers })
}

/// Node's timers are a variable of the module that its own functions for them are in.
async fn find_timers(v8: &V8Client) -> Option<String> {
    let mut find = evaluate("require('timers').clearTimeout".to_owned());
    find.object_group = Some(KEPT.to_owned());
    let function = v8.request_within(deadlines::LONGEST_WAIT, find).await.ok()?.result.object_id?;
    let internal = properties(v8, function).await?.internal_properties;
    let scopes = internal.into_iter().find(|property| property.name == "[[Scopes]]")?.value?.object_id?;
    let scope = properties(v8, scopes).await?.result.into_iter().next()?.value?.object_id?;
    let variables = properties(v8, scope).await?.result;
    variables.into_iter().find(|variable| variable.name == "timerListMap")?.value?.object_id
}

async fn place_of(v8: &V8Client, function: String) -> Option<ScriptPlace> {
    function_location(properties(v8, function).await?)
}

async fn properties(v8: &V8Client, object_id: String) -> Option<Properties> {
    let question = GetProperties { object_id, own_properties: true, ..GetProperties::default() };
    v8.request_within(deadlines::LONGEST_WAIT, question).await.ok()
}

/// A stack in the user's sources, without what is ours.
pub(super) async fn stack(sources: &Sources, sites: &[StackSite]) -> Vec<SampledFrame> {
    let mut scripts = HashMap::new();
    let mut frames = Vec::new();
    for StackSite { function, script: name, line, column, own_line, own_column } in sites {
        let script = scripts.entry(name).or_insert_with(|| {
            let is_named = |script: &Script| {
                !name.is_empty() && (script.url == *name || script.path.as_deref() == Some(Path::new(name)))
            };
            sources.scripts.newest(is_named)
        });
        let Some(script) = script else {
            // V8 may be about to tell of it.
            let (path, internal) = (path_of(name), name.starts_with("node:"));
            let source = Source { path, internal, name: name.clone() };
            let number = |value: &i32| u32::try_from(*value).unwrap_or_default();
            let location = Location { source, line: number(line), column: number(column), generated: None };
            let location = (!name.is_empty()).then_some(location);
            frames.push(SampledFrame { function: or_anonymous(function), location });
            continue;
        };
        if sources.is_own(script) {
            continue;
        }
        let place = |line: i32, column: i32| ScriptPlace {
            script_id: script.id.clone(),
            line_number: line.saturating_sub(1),
            column_number: Some(column.saturating_sub(1).max(0)),
        };
        let function = match *own_line {
            0 => or_anonymous(function),
            _ => function_name(script, function, &place(*own_line, *own_column)).await,
        };
        frames.push(SampledFrame { function, location: sources.location(&place(*line, *column)).await });
    }
    frames
}

/// What is waited for, in the user's sources.
pub(super) async fn pending(sources: &Sources, pending: Vec<PendingWait>) -> Vec<Waiting> {
    let mut waits = Vec::new();
    for PendingWait { kind, what, is_timed, place, .. } in pending {
        let location = match &place {
            Some(place) => sources.location(place).await.filter(|location| !location.source.internal),
            None => None,
        };
        let kind = WaitKind::named(&kind);
        waits.push(Waiting { kind, what, location, is_timed, holders: Vec::new(), task: None });
    }
    waits
}
