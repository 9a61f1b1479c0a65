//! The reasons of breakpoints that never bound, when the program ends.

use std::path::Path;

use super::super::places;
use super::super::scripts::Script;
use super::binder::BreakpointBinder;
use super::table::BreakpointTarget;
use crate::debugger::{BindResult, Event, RuleFor};
use crate::sources;

impl BreakpointBinder {
    /// The reasons of locations that never bound, when the program ends.
    pub(in super::super) async fn never_bound(&self) -> Vec<Event> {
        let mut events = Vec::new();
        for place in self.table.unbound() {
            let result = BindResult::NotLoaded(self.unbound_reason(&place).await);
            events.extend(
                RuleFor::ids(&place.rules)
                    .into_iter()
                    .map(|id| Event::BindResult { id, result: result.clone() }),
            );
        }
        events
    }

    async fn unbound_reason(&self, place: &BreakpointTarget) -> String {
        let name = place.source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        for script in self.sources.scripts.mapped() {
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
                    return format!("`{}` was loaded, but its source map is unusable: {problem}", script.url);
                }
                _ => {}
            }
        }
        let module = format!("/{name}");
        let is_module = |script: &Script| {
            let url = script.url.split('?').next().unwrap_or_default();
            script.path.is_none()
                && !script.is_mapped()
                && url.starts_with("webpack")
                && url.ends_with(&module)
        };
        if let Some(script) = self.sources.scripts.newest(is_module) {
            return format!(
                "`{}` was loaded, which has no source map; set webpack's `devtool` to `eval-source-map` or \
                 `source-map`",
                script.url
            );
        }
        let loaded = self.sources.scripts.paths();
        if loaded.contains(&place.source) {
            return "its file is loaded, but has no code on or after the line".to_owned();
        }
        let users = loaded.iter().filter(|path| self.sources.program.is_users(path));
        let names: Vec<String> = users.map(|path| path.display().to_string()).collect();
        sources::not_loaded(&place.source, names)
    }
}
