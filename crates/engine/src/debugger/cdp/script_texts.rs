//! The texts of sources that are in no file: inside a compiler's map, evaluated, or Node's own.

use std::path::Path;

use super::scripts::Script;
use super::sources::Sources;

/// The text of a source, by the path or name under which stacks show it.
pub(super) async fn of_source(sources: &Sources, name: &str) -> Option<String> {
    // A script that was compiled when it was loaded has the name of its source, and another text.
    match in_a_map(sources, name).await {
        Some(text) => Some(text),
        None => of_script(sources, name).await,
    }
}

async fn in_a_map(sources: &Sources, name: &str) -> Option<String> {
    let path = sources.program.setup.to_remote(Path::new(name));
    let file_name = name.rsplit('/').next().unwrap_or(name);
    for script in sources.scripts.mapped() {
        if !script.may_mention(file_name).await {
            continue;
        }
        let Some(Ok(map)) = script.map().await else { continue };
        let is_it = |source: &&crate::source_map::MapSource| match &source.path {
            Some(own) => *own == path,
            None => source.name == name,
        };
        if let Some(content) = map.sources().find(is_it).and_then(|source| source.content.as_deref()) {
            return Some(content.to_owned());
        }
    }
    None
}

async fn of_script(sources: &Sources, name: &str) -> Option<String> {
    let is_it = |script: &Script| sources.of_script(script).name == name;
    let script = sources.scripts.newest(is_it)?;
    Some(script.text().await?.to_string())
}
