//! Breakpoints on values.

use engine::model::breakpoint::{Breakpoint, Rule};
use engine::model::data_breakpoint::DataAccess;
use engine::session::Session;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ToolError;
use crate::ops::inspect;

/// Accesses that stop the program.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) enum AccessParam {
    Write,
    Read,
    ReadWrite,
}

impl From<AccessParam> for DataAccess {
    fn from(access: AccessParam) -> Self {
        match access {
            AccessParam::Write => Self::Write,
            AccessParam::Read => Self::Read,
            AccessParam::ReadWrite => Self::ReadWrite,
        }
    }
}

/// A value is watched wherever it is accessed.
pub(super) fn has_place() -> ToolError {
    ToolError::argument(
        "watch",
        "cannot be combined with a location; leave out `file`, `line`, `statement` and `function`",
    )
}

/// Watches a value in a frame.
pub(super) async fn watch(
    session: &Session,
    expression: String,
    access: Option<AccessParam>,
    frame: Option<u64>,
    rule: Rule,
) -> Result<Breakpoint, ToolError> {
    let access = access.map(DataAccess::from).unwrap_or_default();
    let frame = inspect::frame(session, frame).await?;
    Ok(session.add_data_breakpoint(frame, expression, access, rule).await?)
}
