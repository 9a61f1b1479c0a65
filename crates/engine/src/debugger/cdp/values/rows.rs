//! What the helper answers, and what it becomes.

use serde::Deserialize;
use serde_json::Value as Json;

use super::reader::ValueReader;
use super::references::{Expandable, ValuePath};
use crate::model::ids::RawId;
use crate::model::variable::{Children, Page, Value, Variable};

/// Text, type, whether it can be opened, children, cut, length, and whether the text may lack private fields.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ShownValue(
    pub(super) String,
    pub(super) String,
    pub(super) bool,
    pub(super) Option<u64>,
    pub(super) bool,
    pub(super) Option<u64>,
    #[serde(default)] pub(super) bool,
);

/// Name, value, whether it is special, the step to it, and for variables of a frame where they were found.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ValueRow(
    pub(super) String,
    pub(super) ShownValue,
    pub(super) bool,
    pub(super) Json,
    #[serde(default)] pub(super) i64,
);

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
    /// What is expanded and not listed: its place is behind the variables.
    pub(super) unlisted: Vec<ValueRow>,
}

/// Whose child an expanded value is, its place there, and its own children.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ExpandedRows(pub(super) Option<usize>, pub(super) usize, pub(super) ValueRows);

impl ValueReader {
    /// A value that was found at a place.
    pub(super) fn value(&self, shown: ShownValue, place: impl FnOnce() -> Option<ValuePath>) -> Value<RawId> {
        let ShownValue(text, type_name, expandable, children, cut, length, _) = shown;
        let place = expandable.then(place).flatten();
        let reference = place.map(|place| self.0.references.hold(Expandable::Value(place)));
        let kind = kind_of(&type_name);
        Value { text, type_name, kind, reference, children, cut, length, note: None }
    }

    /// The children of a value.
    pub(super) fn rows(&self, rows: ValueRows, parent: &ValuePath, page: Page) -> Children<RawId> {
        let variable = |ValueRow(name, shown, special, step, _)| Variable {
            name,
            value: self.value(shown, || Some(parent.then(step))),
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

/// A row of a value that is described without the helper.
pub(super) fn row(name: String, shown: ShownValue, special: bool) -> ValueRow {
    ValueRow(name, shown, special, Json::Null, 0)
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
