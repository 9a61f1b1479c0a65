//! The rows of a trace.

use std::borrow::Cow;
use std::collections::BTreeSet;

use engine::adapter::RecordingSide;
use engine::model::breakpoint::Breakpoint;
use engine::recording::{Cell, Row};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StopReport, TriggerReport, failed};
use crate::ops::settle::Settled;
use crate::ops::trace::{TraceEndReason, TraceResult, TracedPoint};

/// The bytes of rows in an answer. Rows in the middle are omitted.
const BYTES: usize = 48 * 1024;
/// What a row takes beside its values.
const ROW: usize = 60;
/// What a value takes beside its text.
const VALUE: usize = 30;

/// The result of a trace, and what the program is doing now.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceReport {
    /// The program.
    #[serde(flatten)]
    pub report: StopReport,
    /// What ended the trace: `program` (it ended), `maxHits`, `timeout`, `stop` (any other stop; the program is
    /// paused), `trigger` (it finished) or `interrupt`.
    pub ended_by: String,
    /// `program` or `debugger` if that recorded without stops, else `stops`: each hit stopped the program.
    pub recorded_by: Cow<'static, str>,
    /// Locations, in the requested order.
    pub points: Vec<PointData>,
    /// Sorted by time.
    pub rows: Vec<RowData>,
    /// Totals.
    pub totals: Totals,
    /// Result of the trigger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<TriggerReport>,
    /// Rows omitted from the middle to fit the size limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<OmittedRows>,
}

/// A place.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PointData {
    /// Its number in the rows, starting at 1.
    pub point: usize,
    /// Function, if the location is its entry, which has no file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Absolute path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub file: String,
    /// 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Requested line, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_line: Option<u32>,
    /// Column, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Text of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Expressions, in the order of each row's `values`.
    pub expressions: Vec<String>,
    /// Only hits where this is true count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Number of hits.
    pub hits: u64,
    /// Number of rows.
    pub rows: u64,
    /// Number of failures of its condition, and the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Notes, such as why it was never hit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One hit of a place.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RowData {
    /// The location; omitted if there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<usize>,
    /// Hit number within its process, or thread of JavaScript, starting at 1.
    pub hit: u64,
    /// Milliseconds since the start of the trace.
    pub time: f64,
    /// The thread, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The process, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// In the order of the location's `expressions`.
    pub values: Vec<CellData>,
}

/// What an expression came to: a value, or an error.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CellData {
    /// Type name.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// Value as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The error that it threw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The text is truncated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}
/// Totals.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Hits of all locations.
    pub hits: u64,
    /// Recorded rows.
    pub rows: usize,
    /// Rows in this answer.
    pub shown: usize,
}

/// Rows that the answer has no room for.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OmittedRows {
    /// Number of the first omitted row, starting at 1.
    pub from: usize,
    /// Number of the last omitted row.
    pub to: usize,
    /// Number of omitted rows.
    pub count: usize,
}

/// What the arguments that choose rows are called, for notes that recommend them.
#[derive(Debug)]
pub struct RowArguments {
    /// The condition of a location.
    pub condition: &'static str,
    /// Record only every Nth hit.
    pub sample_every: &'static str,
    /// Omit rows that equal the previous one.
    pub only_when_changed: &'static str,
    /// The number of rows.
    pub max_hits: &'static str,
}

impl RowArguments {
    /// Those of the tool.
    pub const OF_TOOL: Self = Self {
        condition: "condition",
        sample_every: "sampleEvery",
        only_when_changed: "onlyWhenChanged",
        max_hits: "maxHits",
    };
}

impl TraceReport {
    /// The report. `was_started` is for a program that was started for the trace.
    pub fn new(traced: TraceResult, was_started: bool, arguments: &RowArguments) -> Self {
        let hits = traced.points.iter().map(|point| point.hits).sum();
        let limit = limit_note(&traced, hits, arguments);
        let recorded_by = match traced.recorded_by {
            Some(RecordingSide::Program) => "program",
            Some(RecordingSide::Debugger) => "debugger",
            None => "stops",
        };
        let TraceResult { end_reason, settled, points, rows, began, notes, triggered, .. } = traced;
        let total = rows.len();
        let omitted = omitted(&rows.iter().map(size).collect::<Vec<_>>());
        let several = RowLabels::of(&points, &rows);
        let is_shown =
            |at: usize| omitted.as_ref().is_none_or(|omitted| at < omitted.from || at > omitted.to);
        let shown = (1..).zip(&rows).filter(|(at, _)| is_shown(*at));
        let shown: Vec<RowData> = shown.map(|(_, row)| several.row(row, &points, began)).collect();
        let did = format!("Recorded {}", counted(total, hits));
        let mut report = report(end_reason, was_started, settled, &did, arguments);
        report.notes.extend(notes);
        report.notes.extend(limit);
        if let Some(omitted) = &omitted {
            let RowArguments { condition, sample_every, only_when_changed, max_hits } = arguments;
            report.notes.push(format!(
                "rows {} to {} are omitted to keep the answer short; use {condition}, {sample_every} or \
                 {only_when_changed} to choose rows, or a lower {max_hits}",
                omitted.from, omitted.to
            ));
        }
        Self {
            report,
            ended_by: word(end_reason).to_owned(),
            recorded_by: recorded_by.into(),
            totals: Totals { hits, rows: total, shown: shown.len() },
            points: (1..).zip(&points).map(|(number, point)| PointData::new(number, point)).collect(),
            rows: shown,
            trigger: triggered.map(TriggerReport::from),
            omitted,
        }
    }
}

fn word(reason: TraceEndReason) -> &'static str {
    match reason {
        TraceEndReason::ProgramEnded => "program",
        TraceEndReason::Full => "maxHits",
        TraceEndReason::TimedOut => "timeout",
        TraceEndReason::Stopped => "stop",
        TraceEndReason::Triggered => "trigger",
        TraceEndReason::Interrupted => "interrupt",
    }
}

fn counted(rows: usize, hits: u64) -> String {
    format!("{} of {}", plural(rows as u64, "row", "rows"), plural(hits, "hit", "hits"))
}

/// What the program is doing, in a message that begins with what was recorded.
fn report(
    reason: TraceEndReason,
    was_started: bool,
    settled: Settled,
    did: &str,
    arguments: &RowArguments,
) -> StopReport {
    let full = format!("{} was reached", arguments.max_hits);
    let why = match reason {
        TraceEndReason::Full => full.as_str(),
        TraceEndReason::TimedOut => "the timeout was reached",
        TraceEndReason::Triggered => "the trigger finished",
        TraceEndReason::Interrupted => "interrupted",
        TraceEndReason::ProgramEnded | TraceEndReason::Stopped => "",
    };
    let mut report = StopReport::new(did, settled);
    if !why.is_empty() {
        let fate = if was_started { "the program was ended" } else { "the program keeps running" };
        report.message = format!("{did}; {why}, and {fate}");
    } else if report.state == "ended" {
        report.message = format!("{did}. {}", report.message);
    }
    report
}

fn plural(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// How to get at passes that are not among the rows.
fn limit_note(traced: &TraceResult, hits: u64, arguments: &RowArguments) -> Option<String> {
    let RowArguments { condition, sample_every, only_when_changed, max_hits } = arguments;
    let rows = traced.rows.len() as u64;
    if traced.dropped > 0 && rows < traced.max_rows {
        return Some(format!(
            "{} rows did not fit: record fewer ({condition}, {sample_every}, {only_when_changed}) or shorter ones",
            traced.dropped
        ));
    }
    let ways = format!(
        "use {condition}, {sample_every} or {only_when_changed} to choose rows, or a {max_hits} of up to {}",
        traced.most_rows
    );
    if traced.end_reason == TraceEndReason::Full {
        return Some(format!("later hits are not recorded: {ways}"));
    }
    let is_full = rows > 0 && rows >= traced.max_rows || traced.dropped > 0;
    (is_full && hits > rows)
        .then(|| format!("{} not among the rows: {ways}", plural(hits - rows, "hit is", "hits are")))
}

/// The rows to leave out, by their sizes in bytes: those in the middle.
fn omitted(sizes: &[usize]) -> Option<OmittedRows> {
    if sizes.iter().sum::<usize>() <= BYTES {
        return None;
    }
    let fitting = |sizes: &mut dyn Iterator<Item = &usize>| {
        let mut left = BYTES / 2;
        sizes.take_while(|size| left.checked_sub(**size).map(|rest| left = rest).is_some()).count()
    };
    let first = fitting(&mut sizes.iter());
    let last = fitting(&mut sizes.iter().rev()).min(sizes.len() - first);
    let (from, to) = (first + 1, sizes.len() - last);
    (from <= to).then(|| OmittedRows { from, to, count: to + 1 - from })
}

fn size(row: &Row) -> usize {
    let cell = |cell: &Cell| match cell {
        Cell::Value { type_name, text, .. } => type_name.len() + text.len() + VALUE,
        Cell::Error(message) => message.len() + VALUE,
    };
    ROW + row.cells.iter().map(cell).sum::<usize>()
}

/// Of what there are several, so that rows say which.
struct RowLabels {
    points: bool,
    threads: bool,
    processes: bool,
}

impl RowLabels {
    fn of(points: &[TracedPoint], rows: &[Row]) -> Self {
        let threads: BTreeSet<(u32, &str)> = rows.iter().map(|row| (row.pid, row.thread.as_str())).collect();
        let processes: BTreeSet<u32> = rows.iter().map(|row| row.pid).collect();
        Self {
            points: points.len() > 1,
            threads: threads.len() > processes.len() || processes.len() > 1,
            processes: processes.len() > 1,
        }
    }

    fn row(&self, row: &Row, points: &[TracedPoint], began: f64) -> RowData {
        let at = points.iter().position(|point| point.breakpoint.id == row.id);
        RowData {
            point: at.map(|at| at + 1).filter(|_| self.points),
            hit: row.hit,
            // The clocks of a program and ours may differ a little.
            time: ((row.time - began).max(0.0) * 1000.0).round() / 1000.0,
            thread: self.threads.then(|| row.thread.clone()),
            pid: self.processes.then_some(row.pid),
            values: row.cells.iter().map(CellData::from).collect(),
        }
    }
}

impl From<&Cell> for CellData {
    fn from(cell: &Cell) -> Self {
        match cell {
            Cell::Error(message) => Self { error: Some(message.clone()), ..Self::default() },
            Cell::Value { type_name, text, cut, .. } => Self {
                type_name: Some(type_name.clone()),
                value: Some(text.clone()),
                error: None,
                truncated: *cut,
            },
        }
    }
}

impl PointData {
    fn new(number: usize, point: &TracedPoint) -> Self {
        let breakpoint: &Breakpoint = &point.breakpoint;
        let line = breakpoint.line();
        Self {
            point: number,
            function: breakpoint.at_entry_of().map(str::to_owned),
            file: breakpoint.path().map(|path| path.display().to_string()).unwrap_or_default(),
            line,
            requested_line: breakpoint.requested_line().filter(|asked| Some(*asked) != line),
            column: breakpoint.column(),
            text: point.text.clone(),
            expressions: point.expressions.clone(),
            condition: breakpoint.rule.condition.clone(),
            hits: point.hits,
            rows: point.rows,
            failure: breakpoint.failures.as_ref().map(failed),
            notes: point.notes.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_rows_are_omitted_beyond_the_size_limit() {
        let table = [
            (vec![], None),
            (vec![BYTES], None),
            (vec![BYTES / 4; 4], None),
            (vec![BYTES / 8; 10], Some((5, 6))),
            (vec![BYTES, 1, 1], Some((1, 1))),
        ];
        for (sizes, expected) in table {
            let found = omitted(&sizes).map(|omitted| (omitted.from, omitted.to));
            assert_eq!(found, expected, "{sizes:?}");
        }
    }
}
