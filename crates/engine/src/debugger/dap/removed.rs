//! Global variables that the linker has removed, and that debug information still lists.

use super::{DapDebugger, commands};
use crate::deadlines;
use crate::model::ids::RawId;

/// The variables of a scope, without those that the program does not have. `frame` is that of a scope of globals.
pub(super) async fn without(
    debugger: &DapDebugger,
    frame: Option<RawId>,
    mut found: Vec<::dap::Variable>,
) -> Vec<::dap::Variable> {
    let Some((command, frame)) = debugger.quirks().removed_command.zip(frame) else { return found };
    let command = format!("{command} {}", frame.0);
    let printed = commands::run(debugger, Some(frame), command, deadlines::READ).await.unwrap_or_default();
    let removed: Vec<_> = printed
        .lines()
        .filter_map(|line| line.strip_prefix("removed "))
        .flat_map(|placed| [placed, placed.rsplit_once(" @ ").map_or(placed, |(name, _)| name)])
        .collect();
    found.retain(|variable| !removed.contains(&variable.name.as_str()));
    found
}
