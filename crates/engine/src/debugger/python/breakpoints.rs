//! Breakpoints of Python: pydevd binds the places, and the agent applies the rules.
//!
//! The agent applies plain rules too: it distinguishes a second line event of one statement from another hit, counts,
//! reports failures, and sees the names that the code at the location sees.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::PythonDebugger;
use super::agent::{AgentClient, FunctionPlace};
use crate::debugger::{BindResult, FunctionBreakpoint, RuleFor, SourceBreakpoint};
use crate::error::Result;
use crate::sources;

pub(super) async fn set_in_source(
    debugger: &PythonDebugger,
    path: &Path,
    wanted: Vec<SourceBreakpoint>,
) -> Result<Vec<BindResult>> {
    let agent = debugger.agent()?;
    let mut places = Vec::with_capacity(wanted.len());
    let mut place = 0;
    for SourceBreakpoint { line, rules, .. } in wanted {
        place = next_place(debugger);
        let condition = agent.define(place, &rules).await?;
        let sent = ::dap::SourceBreakpoint {
            line: i64::from(line),
            condition: Some(condition),
            ..Default::default()
        };
        places.push((sent, rules, true));
    }
    let result = debugger.0.dap.send_breakpoints(path, places).await?;
    let is_known = result.iter().any(|result| matches!(result, BindResult::Bound { .. }));
    let is_loaded = is_known && agent.report_file(next_place(debugger), place).await?.is_there;
    Ok(result.into_iter().map(|result| checked(result, is_loaded)).collect())
}

/// pydevd calls every place verified whose file is there, and has no columns, whatever it answers.
fn checked(result: BindResult, is_loaded: bool) -> BindResult {
    match result {
        BindResult::Bound { line, .. } if is_loaded => BindResult::on(line),
        BindResult::Bound { .. } => BindResult::NotLoaded(sources::NOT_LOADED_YET.to_owned()),
        other => other,
    }
}

pub(super) async fn set_on_functions(
    debugger: &PythonDebugger,
    wanted: Vec<FunctionBreakpoint>,
) -> Result<Vec<BindResult>> {
    let agent = debugger.agent()?;
    let names: Vec<String> = wanted.iter().map(|wanted| wanted.name.clone()).collect();
    // pydevd identifies functions by their simple names, each once; the agent checks the class.
    let mut by_function: BTreeMap<&str, Vec<(&str, Vec<RuleFor>)>> = BTreeMap::new();
    for (name, FunctionBreakpoint { rules, .. }) in names.iter().zip(wanted) {
        let (class, function) = split(name);
        by_function.entry(function).or_default().push((class.unwrap_or_default(), rules));
    }
    let mut places = Vec::with_capacity(by_function.len());
    for (function, rules) in by_function {
        let condition = agent.define_functions(next_place(debugger), &rules).await?;
        let sent = ::dap::FunctionBreakpoint {
            name: function.to_owned(),
            condition: Some(condition),
            hit_condition: None,
        };
        places.push((sent, rules.into_iter().flat_map(|(_, rules)| rules).collect(), true));
    }
    debugger.0.dap.send_function_breakpoints(places).await?;
    let mut result = Vec::with_capacity(names.len());
    for name in &names {
        result.push(is_loaded(debugger, agent, name).await?);
    }
    Ok(result)
}

/// The class of a method, and its name.
fn split(name: &str) -> (Option<&str>, &str) {
    name.rsplit_once('.').map_or((None, name), |(class, name)| (Some(class), name))
}

/// pydevd reports any name as verified, so the agent checks whether there is such a function.
async fn is_loaded(debugger: &PythonDebugger, agent: &AgentClient, name: &str) -> Result<BindResult> {
    let (class, function) = split(name);
    let functions = agent.find_function(next_place(debugger), class, function).await?;
    if functions.is_there {
        return Ok(functions.at.map_or_else(|| BindResult::on(None), FunctionPlace::bound));
    }
    let near = sources::nearest_names(name, functions.names);
    let near =
        if near.is_empty() { String::new() } else { format!("; similar functions: {}", near.join(", ")) };
    Ok(BindResult::NotLoaded(format!(
        "the program has not loaded a function `{name}` yet; it stops when one is entered{near}"
    )))
}

/// A number that no other place or question has.
pub(super) fn next_place(debugger: &PythonDebugger) -> u64 {
    debugger.0.places.fetch_add(1, Ordering::Relaxed) + 1
}
