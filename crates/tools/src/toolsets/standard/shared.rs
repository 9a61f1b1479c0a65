//! Parameters and answers that several tools have.

use engine::bounds::Bounds;
use engine::model::limits::Limits;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// How much a stop report holds.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsParam {
    frames: Option<usize>,
    variables: Option<usize>,
    value: Option<usize>,
    source: Option<u32>,
    output: Option<usize>,
}

impl JsonSchema for LimitsParam {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limits".into()
    }

    /// Short, because ten tools have it: every word here is read ten times by every model.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let size = json_schema!({ "type": "integer" });
        json_schema!({
            "type": "object",
            "description": "report size",
            "properties": { "frames": size, "variables": size, "value": size, "source": size, "output": size },
            "additionalProperties": false,
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

impl LimitsParam {
    /// What is left out is as usual, and nothing is larger than what is ever handed out.
    pub(super) fn limits(bounds: &Bounds, limits: Option<Self>) -> Limits {
        let usual = bounds.report();
        let Some(limits) = limits else { return usual };
        Limits {
            frames: limits.frames.unwrap_or(usual.frames),
            variables: limits.variables.unwrap_or(usual.variables),
            value: bounds.text(limits.value.unwrap_or(usual.value)),
            source: limits.source.unwrap_or(usual.source),
            output: limits.output.unwrap_or(usual.output),
        }
    }
}

/// A plain success.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Done {
    success: bool,
    message: String,
}

impl Done {
    pub(super) fn new(message: String) -> Self {
        Self { success: true, message }
    }
}
