//! The scopes of a frame.

use engine::model::ids::Reference;
use engine::model::source::Source;
use engine::model::stack::{Scope, ScopeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Context, Effects, Tool, ToolError};

/// Lists scopes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GetScopes {
    session_id: Option<String>,
    /// from `get_stack_trace`
    frame_id: u64,
}

/// The scopes of a frame.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Scopes {
    success: bool,
    scopes: Vec<ScopeData>,
}

/// A scope.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ScopeData {
    name: String,
    /// Pass it to `get_variables`.
    variables_reference: u64,
    /// Large or slow to read.
    expensive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    presentation_hint: Option<&'static str>,
    /// File of the scope's code, if known.
    source: ScopeSource,
    /// First line of that code.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    /// Last line of that code.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<u32>,
}

/// The source of a scope; empty where it is not known.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct ScopeSource {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

impl From<Source> for ScopeSource {
    fn from(source: Source) -> Self {
        let Some(path) = source.path else { return Self { name: Some(source.name), path: None } };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        Self { name, path: Some(path.display().to_string()) }
    }
}

impl From<Scope<Reference>> for ScopeData {
    fn from(scope: Scope<Reference>) -> Self {
        let range = scope.range;
        Self {
            name: scope.name,
            variables_reference: scope.reference.0,
            expensive: scope.expensive,
            presentation_hint: (scope.kind == ScopeKind::Locals).then_some("locals"),
            line: range.as_ref().map(|range| range.line),
            column: range.as_ref().and_then(|range| range.column),
            end_line: range.as_ref().map(|range| range.end_line),
            end_column: range.as_ref().and_then(|range| range.end_column),
            source: range.map(|range| range.source.into()).unwrap_or_default(),
        }
    }
}

impl Tool for GetScopes {
    type Answer = Scopes;
    const NAME: &'static str = "get_scopes";
    const TITLE: &'static str = "Get scopes";
    const DESCRIPTION: &'static str = "Get a frame's variable scopes.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Scopes, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let scopes = session.scopes(Reference(self.frame_id)).await?;
        Ok(Scopes { success: true, scopes: scopes.into_iter().map(ScopeData::from).collect() })
    }
}
