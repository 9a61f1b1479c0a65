//! Functions that are requested by name alone.
//!
//! V8 knows functions by their start positions, so this module searches the sources: those of the project, so that
//! functions are found before they load, and every loaded script.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::places;
use super::program::NodeProgram;
use super::sources::Sources;
use crate::debugger::FunctionBreakpoint;
use crate::model::source::Function;
use crate::policy::SharedPolicy;

/// The largest source that is looked into, in bytes.
const LARGEST: u64 = 10 * 1024 * 1024;

/// The user's sources: those that are loaded, and those of the project that the program belongs to. The project of a
/// program that is a library's, such as a test runner, is where it is started.
pub(super) async fn candidates(sources: &Sources) -> Vec<PathBuf> {
    let program = &sources.program;
    let loaded = sources.scripts.paths();
    let users = program.setup.program.clone().filter(|start| program.is_users(start));
    let start = users.or_else(|| program.setup.folder.as_ref().map(|folder| folder.join("package.json")));
    let (adapter, policy) = (program.adapter, Arc::clone(&program.policy));
    let search = move || {
        let mut paths = loaded;
        paths.extend(start.iter().flat_map(|start| places::project_sources(start)));
        paths.sort();
        paths.dedup();
        paths.retain(|path| !adapter.is_internal(path));
        // What a compiler made of another source is reached by that one.
        let is_made = |path: &PathBuf| places::is_made_of_another(path, &policy.safety);
        paths.into_iter().filter(|path| !is_made(path)).collect()
    };
    tokio::task::spawn_blocking(search).await.unwrap_or_default()
}

/// Where a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FunctionStart {
    /// The line with its name, 1-based.
    pub(super) declared: u32,
    /// The line of its first statement, 0-based.
    pub(super) line: u32,
    /// Its column, 0-based.
    pub(super) column: u32,
}

impl From<&Function> for FunctionStart {
    fn from(function: &Function) -> Self {
        Self {
            declared: function.header,
            line: function.body.saturating_sub(1),
            column: function.body_column.saturating_sub(1),
        }
    }
}

/// Where the requested functions begin in a file.
pub(super) async fn find(
    program: &NodeProgram,
    path: &Path,
    wanted: Vec<FunctionBreakpoint>,
) -> Vec<(FunctionBreakpoint, Vec<FunctionStart>)> {
    let policy = Arc::clone(&program.policy);
    let mentioned = mentioned(path.to_owned(), wanted, policy).await;
    if mentioned.is_empty() || program.setup.is_hook(path) {
        return Vec::new();
    }
    let Some(code) = program.analyze(path).await else { return Vec::new() };
    let starts =
        |wanted: &FunctionBreakpoint| code.functions_named(&wanted.name).map(FunctionStart::from).collect();
    let found = mentioned.into_iter().map(|wanted| (wanted.clone(), starts(&wanted)));
    found.filter(|(_, starts): &(_, Vec<_>)| !starts.is_empty()).collect()
}

/// Those whose names occur in a file at all, which is much faster to check than their meaning.
async fn mentioned(
    path: PathBuf,
    wanted: Vec<FunctionBreakpoint>,
    policy: SharedPolicy,
) -> Vec<FunctionBreakpoint> {
    let look = move || {
        let is_small = policy.safety.check_path(&path).is_ok()
            && path.metadata().is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
        let text = is_small.then(|| std::fs::read(&path).ok()).flatten().unwrap_or_default();
        let is_mentioned = |wanted: &FunctionBreakpoint| {
            let own = wanted.name.rsplit('.').next().unwrap_or(&wanted.name);
            memchr::memmem::find(&text, own.as_bytes()).is_some()
        };
        wanted.into_iter().filter(is_mentioned).collect()
    };
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}
