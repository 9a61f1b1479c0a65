//! Values as the adapter reports them, and as they are shown.

use super::super::{DapDebugger, expressions, lock};
use super::References;
use crate::adapter::plan::Quirks;
use crate::model::ids::RawId;
use crate::model::variable::{Value, Variable};

/// A value as the adapter reports it.
#[derive(Default)]
pub(super) struct ReportedValue {
    pub(super) text: String,
    /// Its type.
    pub(super) kind: Option<String>,
    /// Above 0: it has children.
    pub(super) reference: i64,
    /// How many numbered children it has, and how many others.
    pub(super) counts: (Option<i64>, Option<i64>),
    /// The length of the whole text.
    pub(super) length: Option<i64>,
}

impl References {
    /// A child of a scope or value.
    pub(super) fn shown_variable(
        &mut self,
        quirks: &Quirks,
        parent: RawId,
        variable: ::dap::Variable,
        limit: usize,
    ) -> Variable<RawId> {
        let ::dap::Variable { name, evaluate_name, .. } = variable;
        let is_name = |name: &String| {
            let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '@');
            self.of_frames.contains(&parent) && !name.is_empty() && name.chars().all(is_part)
        };
        let expression = evaluate_name.filter(|expression| expressions::is_usable(expression));
        let element = || {
            expressions::index_of(&name)?;
            Some(format!("{}{name}", self.own.get(&parent)?))
        };
        if let Some(expression) = expression.or_else(|| Some(name.clone()).filter(is_name)).or_else(element) {
            self.own.insert(RawId(variable.variables_reference), expression.clone());
            self.expressions.insert((parent, name.clone()), expression);
        }
        let reported = ReportedValue {
            text: variable.value,
            kind: variable.kind,
            reference: variable.variables_reference,
            counts: (variable.indexed_variables, variable.named_variables),
            length: variable.text_length,
        };
        let value = self.shown(quirks, self.frames.get(&parent).copied(), reported, limit);
        let special = variable.presentation_hint.is_some_and(|hint| hint.kind.as_deref() == Some("virtual"));
        Variable { name, value, special }
    }

    /// A value that was found from a frame.
    pub(super) fn shown(
        &mut self,
        quirks: &Quirks,
        frame: Option<RawId>,
        reported: ReportedValue,
        limit: usize,
    ) -> Value<RawId> {
        let ReportedValue { text: full, kind, reference, counts: (indexed, named), length } = reported;
        let count =
            |count: Option<i64>| count.and_then(|count| u64::try_from(count).ok()).filter(|count| *count > 0);
        let reference = (reference > 0).then_some(RawId(reference));
        let indexed = count(indexed).or_else(|| kind.as_deref().and_then(quirks.length));
        let (kind, full) = (quirks.value)(kind.as_deref().unwrap_or_default(), full);
        if let Some(reference) = reference {
            self.frames.extend(frame.map(|frame| (reference, frame)));
            let counts = indexed.map(|indexed| (indexed, count(named).unwrap_or_default()));
            self.counts.extend(counts.map(|counts| (reference, counts)));
        }
        let cut_at = full.char_indices().nth(limit).map(|(at, _)| at);
        let value = Value {
            length: cut_at.map(|_| full.chars().count() as u64),
            cut: cut_at.is_some(),
            text: match cut_at.and_then(|at| full.get(..at)) {
                Some(head) => format!("{head}..."),
                // As of a structure in GDB.
                None if full.is_empty() && reference.is_some() => "{...}".to_owned(),
                None => full,
            },
            type_name: kind,
            kind: None,
            reference,
            children: reference.and(indexed.or(count(named))),
            note: None,
        };
        with_length(quirks, value, length)
    }
}

/// A value with the length that the adapter has reported. One that takes limits has cut the text; for another, it is the
/// length of a string, whose text has quotes and escapes besides.
fn with_length(quirks: &Quirks, value: Value<RawId>, length: Option<i64>) -> Value<RawId> {
    match length.and_then(|length| u64::try_from(length).ok()) {
        Some(length) if quirks.takes_limits => {
            Value { text: format!("{}...", value.text), cut: true, length: Some(length), ..value }
        }
        Some(length) if value.cut => Value { length: Some(length), ..value },
        _ => value,
    }
}

/// The text of a value that the debugger has given by a command.
pub(in super::super) fn shown_text(
    debugger: &DapDebugger,
    kind: Option<String>,
    text: String,
    limit: usize,
) -> String {
    let reported = ReportedValue { text, kind, ..ReportedValue::default() };
    lock(&debugger.0.references).shown(debugger.quirks(), None, reported, limit).text
}
