//! What is left to say of breakpoints that never came to be anywhere, when the program ends.

use std::path::Path;

use super::super::{CdpDebugger, places};
use super::table::Place;
use crate::debugger::{Event, Planted, RuleFor};
use crate::sources;

/// What is left to say of places that were never bound, when the program ends.
pub(in super::super) async fn never_bound(debugger: &CdpDebugger) -> Vec<Event> {
    let mut events = Vec::new();
    for place in debugger.0.breakpoints.unbound() {
        let planted = Planted::NotLoaded(why_not(debugger, &place).await);
        events.extend(
            RuleFor::ids(&place.rules).into_iter().map(|id| Event::Planted { id, planted: planted.clone() }),
        );
    }
    events
}

async fn why_not(debugger: &CdpDebugger, place: &Place) -> String {
    let name = place.source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    for script in debugger.0.scripts.mapped() {
        let is_namesake = script.path.as_deref().and_then(Path::file_stem) == place.source.file_stem();
        if !is_namesake && !script.may_mention(name).await {
            continue;
        }
        match script.map().await {
            Some(Ok(map)) if map.source_of(&place.source).is_some() => {
                if let Some(problem) = places::problem(&place.source, &script, map, place.line) {
                    return format!("`{}` was loaded, but {problem}", script.url);
                }
            }
            Some(Err(problem)) if is_namesake => {
                return format!("`{}` was loaded, but its source map is of no use: {problem}", script.url);
            }
            _ => {}
        }
    }
    let loaded = debugger.0.scripts.paths();
    if loaded.contains(&place.source) {
        return "its file was loaded, and has no code on or after the line".to_owned();
    }
    let users = loaded.iter().filter(|path| debugger.0.shared.is_users(path));
    let names: Vec<String> = users.map(|path| path.display().to_string()).collect();
    sources::not_loaded(&place.source, names)
}
