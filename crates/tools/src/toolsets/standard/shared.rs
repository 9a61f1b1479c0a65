//! Parameters and answers that several tools have.

use engine::bounds::Bounds;
use engine::error::Error;
use engine::model::limits::Limits;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::render::LineData;

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

    /// Short, because twelve tools have it: every model reads every word this often. A request for too much gets an
    /// error with the maximum.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let size = || json_schema!({ "type": "integer" });
        json_schema!({
            "type": "object",
            "properties": {
                "frames": size(),
                "variables": size(),
                "value": size(),
                "source": size(),
                "output": size(),
            },
            "additionalProperties": false,
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

impl LimitsParam {
    /// Omitted limits have defaults. More than the maximum is an error.
    pub(super) fn limits(bounds: &Bounds, limits: Option<Self>) -> Result<Limits, Error> {
        let usual = Limits { changes: true, ..bounds.report() };
        let Some(limits) = limits else { return Ok(usual) };
        let sizes = [
            ("frames", "limits.frames", limits.frames),
            ("variables", "limits.variables", limits.variables),
            ("value", "limits.value", limits.value),
            ("source", "limits.source", limits.source.map(|lines| lines as usize)),
            ("report_output", "limits.output", limits.output),
        ];
        for (bound, argument, asked) in sizes {
            if let Some(asked) = asked {
                bounds.settable(bound, argument, asked as u64)?;
            }
        }
        Ok(Limits {
            frames: limits.frames.unwrap_or(usual.frames),
            variables: limits.variables.unwrap_or(usual.variables),
            value: bounds.requested_length("limits.value", limits.value, usual.value)?,
            source: limits.source.unwrap_or(usual.source),
            output: limits.output.unwrap_or(usual.output),
            changes: true,
        })
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

/// A line and those around it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LineContext {
    pub(super) line_content: String,
    surrounding: Vec<LineData>,
}

impl LineContext {
    /// None where the line is not among those that are known.
    pub(super) fn new(line: u32, surrounding: Vec<LineData>) -> Option<Self> {
        let line_content = surrounding.iter().find(|near| near.line == line)?.content.clone();
        Some(Self { line_content, surrounding })
    }
}
