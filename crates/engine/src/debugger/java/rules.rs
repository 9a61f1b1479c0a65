//! The rules of a place, as the bridge reads them.

use serde_json::{Value as Json, json};

use crate::debugger::RuleFor;
use crate::recording::{CellFormat, Record};

/// All rules of a place, in place of its condition.
pub(super) fn as_condition(rules: &[RuleFor], process: u32) -> String {
    let rule = |RuleFor { id, rule, .. }: &RuleFor| {
        json!({
            "id": id.0,
            "condition": rule.condition,
            "operator": rule.hit_condition.map(|hit| hit.operator.as_str()),
            "count": rule.hit_condition.map(|hit| hit.count),
            "log": rule.log_message,
            "record": rule.record.as_ref().map(|record| record_of(record, process)),
        })
    };
    Json::Array(rules.iter().map(rule).collect()).to_string()
}

fn record_of(record: &Record, process: u32) -> Json {
    let (is_json, limit) = match record.cells {
        CellFormat::Text(limit) => (false, limit),
        CellFormat::Json(limit) => (true, limit),
    };
    json!({
        "expressions": record.expressions,
        "pipe": record.recorder.pipe().to_string_lossy(),
        "every": record.sample_every,
        "changes": record.only_when_changed,
        "most": record.max_rows,
        "json": is_json,
        "text": limit,
        "process": process,
    })
}
