//! Objects in depth.

use engine::model::ids::Reference;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::StatusAnswer;
use super::data::VariableData;
use crate::ops::objects::{self, Properties, Property, ReadLimits};
use crate::{Context, Effects, Tool, ToolError};

/// Levels unless it is asked for more.
const LEVELS: usize = 2;
/// Properties of a page.
const PAGE: u64 = 100;
/// Characters of a value.
const VALUE: usize = 500;

/// Opens an object.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerInspectObject {
    /// default: the only open session
    session_id: Option<String>,
    /// from `debugger_inspect` or a variable; valid until the program resumes
    object_id: String,
    /// levels, default 2, at most 10
    max_depth: Option<usize>,
    /// first property, default 0
    start: Option<u64>,
    /// default 100
    count: Option<u64>,
}

/// An object.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectData {
    object_id: String,
    properties: Vec<PropertyData>,
    max_depth: usize,
    /// Number of properties, private fields and inherited getters included.
    total: u64,
    /// Where the next page starts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start: Option<u64>,
}

/// A property.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PropertyData {
    #[serde(flatten)]
    variable: VariableData,
    /// A reference to the value this many levels up.
    #[serde(skip_serializing_if = "Option::is_none")]
    circular: Option<usize>,
    /// Its properties, in the same form.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<VariableData>")]
    properties: Option<Vec<PropertyData>>,
    /// Where the rest starts: request it with the objectId.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start: Option<u64>,
}

fn list(properties: &Properties) -> Vec<PropertyData> {
    properties.list.iter().map(PropertyData::from).collect()
}

impl From<&Property> for PropertyData {
    fn from(property: &Property) -> Self {
        let mut variable = VariableData::from(&property.variable);
        let inside = property.inside.as_ref();
        variable.value.property_count = inside.map(|inside| inside.total).or(variable.value.property_count);
        Self {
            variable,
            circular: property.circular,
            properties: inside.map(list),
            next_start: inside.and_then(|inside| inside.next_start),
        }
    }
}

impl Tool for DebuggerInspectObject {
    type Answer = StatusAnswer<ObjectData>;
    const NAME: &'static str = "debugger_inspect_object";
    const TITLE: &'static str = "Inspect object";
    const DESCRIPTION: &'static str =
        "Show the properties of an object and their contents, with types at every level; long ones in pages.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<StatusAnswer<ObjectData>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let Ok(object) = self.object_id.trim().parse().map(Reference) else {
            return Err(ToolError::no_object_id(&self.object_id));
        };
        let levels = objects::levels(context.bounds(), self.max_depth, LEVELS)?;
        let count = context.bounds().requested_count(self.count, PAGE)?;
        let depth = ReadLimits { levels, start: self.start.unwrap_or(0), count, text: VALUE };
        let properties = objects::properties(&session, object, depth).await?;
        Ok(StatusAnswer(ObjectData {
            object_id: object.to_string(),
            properties: list(&properties),
            max_depth: levels,
            total: properties.total,
            next_start: properties.next_start,
        }))
    }
}
