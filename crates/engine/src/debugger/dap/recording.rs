//! Values that the debugger records while the program runs, and conditions that it examines, by our code inside the
//! debugger.
//!
//! The code runs at each hit. A breakpoint whose condition is false there does not stop the program, as far as its client
//! sees; where it may be true, the program stops, and the rule is applied here. A breakpoint that only records does not
//! stop it either: the code evaluates, and writes rows as `crate::recording` describes. It stops the program where
//! another rule of the place is to be applied here, and where it cannot record ([`left`]). If the debugger does not have
//! the code, the program stops at each hit.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::time::Instant;

use super::{DapDebugger, commands, lock};
use crate::adapter::plan::Quirks;
use crate::deadlines;
use crate::debugger::RuleFor;
use crate::error::{Error, Result};
use crate::model::ids::{BreakpointId, RawId};
use crate::recording::{Cell, CellFormat, Record};

/// What the command answers when it has done what was asked.
const RECORDING: &str = "recording";
/// How long a hit is waited for.
const NEXT_HIT: Duration = Duration::from_millis(300);

/// Whether the debugger can record what a rule asks for.
pub(super) fn is_recordable(rule: &RuleFor) -> bool {
    rule.rule.record.is_some() && rule.rule.hit_condition.is_none() && rule.rule.log_message.is_none()
}

/// What is recorded at a place, which has this number, if anything `is_recorded`, and the conditions of its other rules.
/// None if it stops at each hit and records nothing.
pub(super) fn place(number: i64, rules: &[RuleFor], is_recorded: bool) -> Option<Json> {
    let (recorded, others): (Vec<_>, Vec<_>) =
        rules.iter().partition(|rule| is_recorded && is_recordable(rule));
    let records: Vec<Json> = recorded
        .into_iter()
        .filter_map(|rule| Some(specification(rule, rule.rule.record.as_ref()?)))
        .collect();
    let conditions: Vec<_> = others.iter().filter_map(|rule| rule.rule.condition.as_ref()).collect();
    let stops = conditions.len() < others.len();
    (!records.is_empty() || !stops)
        .then(|| json!({ "number": number, "stops": stops, "conditions": conditions, "records": records }))
}

/// A cell that the debugger has recorded, as other tools show it: a text that is longer than `limit` is cut.
pub(super) fn shown(quirks: &Quirks, cell: Cell, limit: usize) -> Cell {
    match cell {
        Cell::Error(message) => {
            let message = (quirks.message)(&message);
            if (quirks.is_timeout)(&message) {
                let late = Error::Deadline { what: "the expression".to_owned(), after: deadlines::EVALUATE };
                return Cell::Error(late.to_string());
            }
            Cell::Error(message)
        }
        Cell::Value { type_name, text, json, .. } => {
            let (type_name, mut text) = (quirks.value)(&type_name, text);
            let end = text.char_indices().nth(limit).map(|(end, _)| end);
            if let Some(end) = end {
                text.truncate(end);
                text.push_str("...");
            }
            Cell::Value { type_name, text, cut: end.is_some(), json }
        }
    }
}

fn specification(rule: &RuleFor, record: &Record) -> Json {
    let (CellFormat::Text(limit) | CellFormat::Json(limit)) = record.cells;
    json!({
        "id": rule.id.0,
        "condition": rule.rule.condition,
        "expressions": record.expressions,
        "every": record.sample_every,
        "changes": record.only_when_changed,
        "most": record.max_rows,
        "limit": limit,
        "pipe": record.recorder.pipe().to_string_lossy(),
    })
}

/// Has the debugger record at the breakpoints that it has now, and nowhere else.
pub(super) async fn announce(debugger: &DapDebugger) {
    let Some(command) = debugger.quirks().record_command else { return };
    let Some(places) = lock(&debugger.0.breakpoints).recorded_anew() else { return };
    let text = format!("{command} {}", commands::argument(&places));
    let is_recording = match run(debugger, text).await {
        Ok(answer) => answer.lines().any(|line| line == RECORDING),
        Err(error) => {
            tracing::warn!(%error, "the debugger cannot record");
            false
        }
    };
    if !is_recording {
        lock(&debugger.0.breakpoints).not_recorded();
    }
}

/// Stops the program at the next hit of a breakpoint that records. False if none comes soon: then it is to be paused.
///
/// A debugger that is asked for a pause while a thread stops at a hit may lose it, or answer nothing for a long time.
pub(super) async fn stop_at_next_hit(debugger: &DapDebugger) -> bool {
    let Some(command) = debugger.quirks().record_command else { return false };
    if !lock(&debugger.0.breakpoints).records() {
        return false;
    }
    if let Err(error) = run(debugger, format!("{command} pause")).await {
        tracing::warn!(%error, "a pause may be lost");
        return false;
    }
    let until = Instant::now() + NEXT_HIT;
    while Instant::now() < until {
        if !lock(&debugger.0.motion).is_running() {
            return true;
        }
        tokio::time::sleep(deadlines::LOOK).await;
    }
    false
}

/// The breakpoints at which a thread has stopped so that their rules are applied here: a condition cannot be evaluated,
/// or an expression runs code of the program.
pub(super) async fn left(debugger: &DapDebugger, thread: RawId) -> Vec<BreakpointId> {
    let Some(command) = debugger.quirks().record_command else { return Vec::new() };
    let answer = match run(debugger, format!("{command} left {}", thread.0)).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::warn!(%error, "a hit may be lost");
            return Vec::new();
        }
    };
    let ids =
        answer.lines().find_map(|line| serde_json::from_str::<Vec<u32>>(line.strip_prefix("left ")?).ok());
    ids.unwrap_or_default().into_iter().map(BreakpointId).collect()
}

async fn run(debugger: &DapDebugger, command: String) -> Result<String> {
    commands::run(debugger, None, command, deadlines::REQUEST).await
}
