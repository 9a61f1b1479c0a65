//! Variables and values.

use engine::model::ids::Reference;
use engine::model::variable::{Children, Value, Variable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ToolError, error};

/// A named value.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VariableData {
    /// Its name.
    pub name: String,
    /// Value as text.
    pub value: String,
    /// Type name.
    #[serde(rename = "type")]
    pub type_name: String,
    /// If above 0, pass it to `get_variables` to get the children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables_reference: Option<u64>,
    /// Whether it has children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expandable: Option<bool>,
    /// Number of children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<u64>,
    /// The text is cut; the whole has this many characters, where that is known.
    #[serde(flatten)]
    pub cut: ValueReadInfo,
}

/// How a value was read.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ValueReadInfo {
    /// The text is truncated; raise `maxLength`, or read a part with `evaluate_expression`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Full length, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The frame in which it was read, if different, or another remark on the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ValueReadInfo {
    /// How a value was read.
    pub fn of<Id>(value: &Value<Id>) -> Self {
        Self { truncated: value.cut, length: value.length.filter(|_| value.cut), note: value.note.clone() }
    }
}

impl From<&Variable<Reference>> for VariableData {
    fn from(variable: &Variable<Reference>) -> Self {
        let value = &variable.value;
        Self {
            name: variable.name.clone(),
            value: value.text.clone(),
            type_name: value.type_name.clone(),
            variables_reference: Some(value.reference.map_or(0, |reference| reference.0)),
            expandable: Some(value.reference.is_some()),
            children: value.children,
            cut: ValueReadInfo::of(value),
        }
    }
}

impl VariableData {
    /// Leaves out what only a program that is still there can be asked for.
    pub fn detach(&mut self) {
        (self.variables_reference, self.expandable, self.children) = (None, None, None);
    }
}

/// All of a page.
pub fn variables(children: &Children<Reference>) -> Vec<VariableData> {
    children.variables.iter().map(VariableData::from).collect()
}

/// The value of an expression.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValueData {
    /// The expression.
    pub expression: String,
    /// Value as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Type name.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// If above 0, pass it to `get_variables` to get the children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables_reference: Option<u64>,
    /// Error, if it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The text is cut.
    #[serde(flatten)]
    pub cut: ValueReadInfo,
}

/// An expression and its result.
pub fn expression_value(expression: String, result: &Result<Value<Reference>, ToolError>) -> ValueData {
    let (value, error) = match result {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(error.with_hint(error::standard))),
    };
    ValueData {
        expression,
        value: value.map(|value| value.text.clone()),
        type_name: value.map(|value| value.type_name.clone()),
        variables_reference: value.and_then(|value| value.reference).map(|reference| reference.0),
        error,
        cut: value.map(ValueReadInfo::of).unwrap_or_default(),
    }
}
