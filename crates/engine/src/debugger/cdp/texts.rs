//! The texts of sources that are in no file: inside a compiler's map, evaluated, or Node's own.

use std::path::Path;

use super::scripts::Script;
use super::{CdpDebugger, frames};

/// The text of a source, by the path or name under which `frames` shows it.
pub(super) async fn of_source(debugger: &CdpDebugger, name: &str) -> Option<String> {
    // A script that was compiled when it was loaded has the name of its source, and another text.
    match in_a_map(debugger, name).await {
        Some(text) => Some(text),
        None => of_script(debugger, name).await,
    }
}

async fn in_a_map(debugger: &CdpDebugger, name: &str) -> Option<String> {
    let path = debugger.0.shared.setup.to_remote(Path::new(name));
    let file_name = name.rsplit('/').next().unwrap_or(name);
    for script in debugger.0.scripts.mapped() {
        if !script.may_mention(file_name).await {
            continue;
        }
        let Some(Ok(map)) = script.map().await else { continue };
        let is_it = |source: &&crate::source_map::Source| match &source.path {
            Some(own) => *own == path,
            None => source.name == name,
        };
        if let Some(content) = map.sources().find(is_it).and_then(|source| source.content.as_deref()) {
            return Some(content.to_owned());
        }
    }
    None
}

async fn of_script(debugger: &CdpDebugger, name: &str) -> Option<String> {
    let is_it = |script: &Script| frames::source(debugger, script).name == name;
    let script = debugger.0.scripts.newest(is_it)?;
    Some(frames::text(debugger, &script).await?.to_string())
}
