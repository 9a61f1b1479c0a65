//! What several tools read from their parameters alike.

use std::path::{Path, PathBuf};

use engine::model::ids::{BreakpointId, Reference};
use engine::model::launch::Start;
use engine::session::Session;
use engine::sources;

use crate::ToolError;
use crate::ops::inspect;

/// A file that is named: one of the program's working directory, where there is one of that name, else of the
/// server's.
pub(super) async fn file(session: &Session, named: &Path) -> PathBuf {
    let cwd = match session.last_start().await {
        Ok(Some(Start::Launch(launch))) => launch.cwd,
        _ => None,
    };
    let there = cwd.map(|cwd| cwd.join(named)).filter(|path| path.is_file());
    sources::absolute(there.as_deref().unwrap_or(named))
}

/// A breakpoint that must be there.
pub(super) async fn breakpoint_id(session: &Session, id: &str) -> Result<BreakpointId, ToolError> {
    let known = session.breakpoints().await?;
    let wanted: Option<BreakpointId> = id.parse().ok();
    let found = known.iter().find(|known| Some(known.id) == wanted);
    found.map(|found| found.id).ok_or_else(|| ToolError::no_breakpoint(id, &known))
}

/// A frame by its position in the reported stack; without one the selected frame, or else the innermost.
pub(super) async fn frame(session: &Session, index: Option<usize>) -> Result<Reference, ToolError> {
    match index {
        Some(index) => Ok(inspect::frame_at(session, index, false).await?.id),
        None => inspect::frame(session, None).await,
    }
}
