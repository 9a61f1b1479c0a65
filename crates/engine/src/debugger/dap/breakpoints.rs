//! Breakpoints as the protocol has them, and whose they are.
//!
//! Rules are applied by the inspector where there is one, plain ones too: it knows a second line event of one
//! statement from another pass, counts, reports what fails, and sees the names that the code at the place
//! sees. Otherwise the server gets one rule a place as it is.

use std::collections::HashMap;
use std::path::Path;
use std::sync::PoisonError;

use super::DapDebugger;
use super::inspector::InspectorClient;
use crate::deadlines;
use crate::debugger::{FunctionBreakpoint, Planted, RuleFor, SourceBreakpoint};
use crate::error::{Error, Result};
use crate::model::ids::BreakpointId;
use crate::sources;

/// What the server's numbers of breakpoints stand for.
#[derive(Debug, Default)]
pub(super) struct Planting {
    owners: HashMap<i64, Owners>,
    next_place: u64,
}

#[derive(Debug)]
struct Owners {
    ids: Vec<BreakpointId>,
    /// The inspector decides whose it was, and says so in an event of its own.
    decided_inside: bool,
}

impl Planting {
    /// The breakpoints that a stop at these numbers belongs to, without those that the inspector names.
    pub(super) fn owners(&self, numbers: &[i64]) -> Vec<BreakpointId> {
        let plain = numbers
            .iter()
            .filter_map(|number| self.owners.get(number))
            .filter(|owners| !owners.decided_inside);
        plain.flat_map(|owners| owners.ids.iter().copied()).collect()
    }

    /// All breakpoints behind a number.
    pub(super) fn all_owners(&self, number: i64) -> Vec<BreakpointId> {
        self.owners.get(&number).map(|owners| owners.ids.clone()).unwrap_or_default()
    }
}

/// What is sent for one place.
struct Translated {
    condition: Option<String>,
    hit_condition: Option<String>,
    log_message: Option<String>,
    decided_inside: bool,
}

pub(super) async fn set_in_source(
    debugger: &DapDebugger,
    path: &Path,
    wanted: Vec<SourceBreakpoint>,
) -> Result<Vec<Planted>> {
    let mut breakpoints = Vec::with_capacity(wanted.len());
    let mut owners = Vec::with_capacity(wanted.len());
    for place in &wanted {
        let translated = translate(debugger, &place.rules, None).await?;
        owners.push((RuleFor::ids(&place.rules), translated.decided_inside));
        breakpoints.push(::dap::SourceBreakpoint {
            line: i64::from(place.line),
            column: None,
            condition: translated.condition,
            hit_condition: translated.hit_condition,
            log_message: translated.log_message,
        });
    }
    let source = ::dap::Source { path: Some(path.display().to_string()), ..Default::default() };
    let arguments = ::dap::SetBreakpointsArguments { source, breakpoints };
    let response = debugger.request::<::dap::SetBreakpoints>(arguments, deadlines::REQUEST).await?;
    Ok(settle(debugger, response, owners))
}

pub(super) async fn set_on_functions(
    debugger: &DapDebugger,
    wanted: Vec<FunctionBreakpoint>,
) -> Result<Vec<Planted>> {
    if !debugger.capabilities().supports_function_breakpoints {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        return Err(Error::Unsupported("this debugger has no breakpoints on function names".to_owned()));
    }
    let mut breakpoints = Vec::with_capacity(wanted.len());
    let mut owners = Vec::with_capacity(wanted.len());
    for place in &wanted {
        // Servers know functions by their own names alone; the class is checked by the inspector.
        let (class, name) = match place.name.rsplit_once('.') {
            Some((class, name)) if debugger.inspector().is_some() => (Some(class), name),
            _ => (None, place.name.as_str()),
        };
        let translated = translate(debugger, &place.rules, class).await?;
        owners.push((RuleFor::ids(&place.rules), translated.decided_inside));
        breakpoints.push(::dap::FunctionBreakpoint {
            name: name.to_owned(),
            condition: translated.condition,
            hit_condition: translated.hit_condition,
        });
    }
    let arguments = ::dap::SetFunctionBreakpointsArguments { breakpoints };
    let response = debugger.request::<::dap::SetFunctionBreakpoints>(arguments, deadlines::REQUEST).await?;
    let mut planted = settle(debugger, response, owners);
    if let Some(inspector) = debugger.inspector() {
        for (planted, place) in planted.iter_mut().zip(&wanted) {
            *planted = is_loaded(debugger, inspector, &place.name).await?;
        }
    }
    Ok(planted)
}

/// Servers call any name verified, so the inspector looks whether there is such a function.
async fn is_loaded(debugger: &DapDebugger, inspector: &InspectorClient, name: &str) -> Result<Planted> {
    let (class, function) = name.rsplit_once('.').map_or((None, name), |(class, name)| (Some(class), name));
    let functions = inspector.look_for(next_place(debugger), class, function).await?;
    if functions.found {
        return Ok(Planted::on(None));
    }
    let near = sources::nearest_names(name, functions.names);
    let near = if near.is_empty() { String::new() } else { format!("; loaded are {}", near.join(", ")) };
    Ok(Planted::NotLoaded(format!(
        "the program has loaded no function `{name}` of its own so far, and stops when one is entered{near}"
    )))
}

async fn translate(debugger: &DapDebugger, rules: &[RuleFor], class: Option<&str>) -> Result<Translated> {
    let plain = Translated { condition: None, hit_condition: None, log_message: None, decided_inside: false };
    if let Some(inspector) = debugger.inspector() {
        let condition = inspector.define(next_place(debugger), class, rules).await?;
        return Ok(Translated { condition: Some(condition), decided_inside: true, ..plain });
    }
    if rules.iter().any(|rule| rule.rule.record.is_some()) {
        return Err(Error::Unsupported(
            "this debugger has no way to record values while the program runs; stop the program at each pass \
             and evaluate there"
                .to_owned(),
        ));
    }
    if rules.iter().all(|rule| rule.rule.is_plain()) {
        return Ok(plain);
    }
    let [only] = rules else {
        return Err(Error::Unsupported(
            "this debugger takes one condition a line; remove the other breakpoint on it".to_owned(),
        ));
    };
    Ok(Translated {
        condition: only.rule.condition.clone(),
        hit_condition: only.rule.hit_condition.map(|hit| hit.to_string()),
        log_message: only.rule.log_message.clone(),
        decided_inside: false,
    })
}

fn next_place(debugger: &DapDebugger) -> u64 {
    let mut planting = debugger.0.planting.lock().unwrap_or_else(PoisonError::into_inner);
    planting.next_place += 1;
    planting.next_place
}

fn settle(
    debugger: &DapDebugger,
    response: ::dap::SetBreakpointsResponse,
    owners: Vec<(Vec<BreakpointId>, bool)>,
) -> Vec<Planted> {
    let mut answers = response.breakpoints.into_iter();
    let mut planting = debugger.0.planting.lock().unwrap_or_else(PoisonError::into_inner);
    owners
        .into_iter()
        .map(|(ids, decided_inside)| {
            let Some(answer) = answers.next() else {
                return Planted::Refused("the debugger did not answer for it".to_owned());
            };
            if let Some(number) = answer.id {
                planting.owners.insert(number, Owners { ids, decided_inside });
            }
            planted(answer)
        })
        .collect()
}

/// The protocol has no word for the difference between "not yet" and "never", so one that is not verified
/// counts as "not yet" with the server's reason.
pub(super) fn planted(answer: ::dap::Breakpoint) -> Planted {
    if answer.verified {
        return Planted::on(answer.line.and_then(|line| u32::try_from(line).ok()));
    }
    Planted::NotLoaded(answer.message.unwrap_or_else(|| "the debugger has not bound it".to_owned()))
}
