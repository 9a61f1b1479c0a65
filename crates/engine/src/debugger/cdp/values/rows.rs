//! What the helper answers, and what it becomes.
//!
//! The helper writes values and rows as lists, with the fields in this order.

use serde::Deserialize;
use serde_json::Value as Json;

use super::reader::ValueReader;
use super::references::{Expandable, ValuePath};
use crate::model::ids::RawId;
use crate::model::variable::{Children, Page, Value, Variable};

/// A value.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ShownValue {
    pub(super) text: String,
    pub(super) type_name: String,
    pub(super) has_children: bool,
    /// How many of the children are data.
    pub(super) children: Option<u64>,
    pub(super) is_cut: bool,
    pub(super) length: Option<u64>,
    /// The text may lack private fields.
    pub(super) lacks_private: bool,
}

/// A value by its name.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ValueRow {
    pub(super) name: String,
    pub(super) value: ShownValue,
    pub(super) special: bool,
    pub(super) step: Json,
    /// Where a variable of a frame was found.
    pub(super) scope: i64,
}

/// A page of children.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ValueRows {
    pub(super) total: u64,
    pub(super) hidden: u64,
    #[serde(rename = "rows")]
    pub(super) variables: Vec<ValueRow>,
    /// There may be members that only the debugger can list.
    pub(super) inner: bool,
    /// It is a getter, which has not been run.
    pub(super) accessor: bool,
    /// What some of the variables contain.
    pub(super) expanded: Vec<ExpandedRows>,
    /// What is expanded and not listed: its place is after the variables.
    pub(super) unlisted: Vec<ValueRow>,
}

/// What an expanded value contains.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ExpandedRows {
    /// The expanded value that it is a child of; none for a variable.
    pub(super) parent: Option<usize>,
    /// Its place there.
    pub(super) index: usize,
    pub(super) children: ValueRows,
}

impl ValueReader {
    /// A value that was found at a place.
    pub(super) fn value(&self, shown: ShownValue, place: impl FnOnce() -> Option<ValuePath>) -> Value<RawId> {
        let ShownValue { text, type_name, has_children, children, is_cut: cut, length, .. } = shown;
        let place = has_children.then(place).flatten();
        let reference = place.map(|place| self.0.references.hold(Expandable::Value(place)));
        let kind = kind_of(&type_name);
        Value { text, type_name, kind, reference, children, cut, length, note: None }
    }

    pub(super) fn rows(&self, rows: ValueRows, parent: &ValuePath, page: Page) -> Children<RawId> {
        let variable = |ValueRow { name, value, special, step, .. }| Variable {
            name,
            value: self.value(value, || Some(parent.then(step))),
            special,
        };
        Children {
            variables: rows.variables.into_iter().map(variable).collect(),
            total: rows.total,
            start: page.start,
            hidden: rows.hidden,
        }
    }
}

/// What `typeof` says of a value, by the name of its type. A variable before its declaration has none.
fn kind_of(type_name: &str) -> Option<&'static str> {
    const PRIMITIVE: [&str; 6] = ["string", "number", "boolean", "bigint", "symbol", "undefined"];
    match type_name {
        "uninitialized" => None,
        "function" | "class" => Some("function"),
        name => PRIMITIVE.into_iter().find(|primitive| *primitive == name).or(Some("object")),
    }
}
