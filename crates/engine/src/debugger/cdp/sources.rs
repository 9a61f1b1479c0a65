//! From positions in scripts to the sources that users see.

use std::path::Path;
use std::sync::Arc;

use ::cdp::debugger::{CallFrame, Location as ScriptPlace};

use super::injected::{POKE, is_ours};
use super::program::NodeProgram;
use super::scripts::{Script, Scripts, position};
use crate::javascript::ScriptOutline;
use crate::model::source::{Generated, Location, Source};
use crate::model::stack::SourceRange;
use crate::source_map::{MapSource, Position};

/// The scripts of a thread as sources of its program. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    pub(super) scripts: Arc<Scripts>,
    pub(super) program: Arc<NodeProgram>,
}

impl Sources {
    /// A location as users see it: in the source, with the position in the script if they differ.
    pub(super) async fn location(&self, place: &ScriptPlace) -> Option<Location> {
        let script = self.scripts.get(&place.script_id)?;
        let (line, column) = position(place);
        let here = Location {
            source: self.of_script(&script),
            line: line.saturating_add(1),
            column: column.saturating_add(1),
            generated: None,
        };
        let Some(Ok(map)) = script.map().await else { return Some(here) };
        let Some(original) = map.original(line, column) else {
            let is_source = script.path.as_ref().is_some_and(|path| map.source_of(path).is_some());
            return Some(if is_source { added_by_compiler(here) } else { here });
        };
        let is_named = |found: &&MapSource| found.path.is_some() || !found.name.is_empty();
        let Some(found) = map.source(original.source).filter(is_named) else { return Some(here) };
        let generated = Generated { script: here.source.name, line: here.line, column: here.column };
        let source = match &found.path {
            Some(path) => {
                let path = self.program.setup.to_local(path);
                let internal = here.source.internal || self.program.adapter.is_internal(&path);
                Source { internal, ..Source::file(path) }
            }
            None => Source { path: None, name: found.name.clone(), internal: here.source.internal },
        };
        Some(Location {
            source,
            line: original.line.saturating_add(1),
            column: original.column.saturating_add(1),
            generated: Some(generated),
        })
    }

    /// The part of a source between two places; none where they are not in one.
    pub(super) async fn range(&self, start: &ScriptPlace, end: &ScriptPlace) -> Option<SourceRange> {
        let (start, end) = (self.location(start).await?, self.location(end).await?);
        (start.source == end.source && start.line <= end.line).then_some(SourceRange {
            source: start.source,
            line: start.line,
            column: Some(start.column),
            end_line: end.line,
            end_column: Some(end.column),
        })
    }

    /// What a script is called where its map does not say of what it was made.
    pub(super) fn of_script(&self, script: &Script) -> Source {
        if let Some(path) = script.file() {
            let path = self.program.setup.to_local(path);
            return Source { internal: !self.program.is_users(&path), ..Source::file(path) };
        }
        let name = if script.url.is_empty() { format!("eval-{}", script.id) } else { script.url.clone() };
        Source { path: None, internal: is_nodes(&name) || is_ours(&name), name }
    }

    /// The line of a location as users see it, with the identity of its source; none for code without a source.
    pub(super) async fn line(&self, place: &ScriptPlace) -> Option<(String, u32)> {
        let script = self.scripts.get(&place.script_id)?;
        let (line, column) = position(place);
        match script.map().await {
            Some(Ok(map)) => {
                let original = map.original(line, column)?;
                Some((format!("{} {:?}", script.id, original.source), original.line))
            }
            _ => Some((script.id.clone(), line)),
        }
    }

    /// Whether a script is the user's.
    pub(super) fn is_users(&self, script_id: &str) -> bool {
        self.is_at(script_id, |path| self.program.is_users(path))
    }

    /// Whether a frame runs the user's code.
    pub(super) fn is_users_frame(&self, frame: &CallFrame) -> bool {
        self.is_users(&frame.location.script_id)
    }

    /// Whether a frame runs Node's own code.
    pub(super) fn is_nodes_frame(&self, frame: &CallFrame) -> bool {
        self.scripts.get(&frame.location.script_id).is_some_and(|script| is_nodes(&script.url))
    }

    pub(super) fn is_hook(&self, frame: &CallFrame) -> bool {
        self.is_at(&frame.location.script_id, |path| self.program.setup.is_hook(path))
    }

    /// Whether a frame is in one of these functions of our hook.
    pub(super) fn is_in_hook(&self, frame: &CallFrame, functions: &[&str]) -> bool {
        functions.contains(&frame.function_name.as_str())
            && self.is_at(&frame.location.script_id, |path| path == self.program.setup.hook)
    }

    /// Whether a script is ours: our hook, or what we have sent into the program.
    pub(super) fn is_own(&self, script: &Script) -> bool {
        is_ours(&script.url) || script.path.as_deref().is_some_and(|path| self.program.setup.is_hook(path))
    }

    /// A frame of an internal evaluation.
    pub(super) fn is_own_evaluation(&self, frame: &CallFrame) -> bool {
        self.scripts.get(&frame.location.script_id).is_some_and(|script| script.url == POKE)
    }

    /// Whether a frame is at a `debugger` statement.
    pub(super) async fn is_at_debugger_statement(&self, frame: &CallFrame) -> bool {
        let Some(script) = self.scripts.get(&frame.location.script_id) else { return false };
        let Some((text, at)) = script.text_at(&frame.location).await else { return false };
        text.get(at..).is_some_and(|rest| rest.starts_with("debugger"))
    }

    /// What the text of a script says of a place; none when it cannot be read or parsed.
    pub(super) async fn at_outline<T: Send + 'static>(
        &self,
        place: &ScriptPlace,
        answer: impl FnOnce(&ScriptOutline, Position) -> T + Send + 'static,
    ) -> Option<T> {
        self.scripts.get(&place.script_id)?.at_outline(place, answer).await
    }

    /// Whether a frame runs an accessor that stands in for a watched property.
    pub(super) fn is_accessor(&self, frame: &CallFrame) -> bool {
        let is_sent =
            || self.scripts.get(&frame.location.script_id).is_some_and(|script| script.path.is_none());
        matches!(frame.function_name.as_str(), READ | WRITTEN) && is_sent()
    }

    /// Code that no step ends in: Node's own, our hook, what stands in for watched properties, and libraries unless they
    /// are the user's code too.
    pub(super) fn is_skipped(&self, frame: &CallFrame) -> bool {
        let Some(script) = self.scripts.get(&frame.location.script_id) else { return false };
        let just_my_code = self.program.setup.just_my_code;
        (just_my_code && is_nodes(&script.url))
            || script.url.starts_with("node:internal/")
            || script.url == POKE
            || self.is_accessor(frame)
            || script.path.as_deref().is_some_and(|path| self.program.is_skipped(path))
    }

    /// Whether the file of a script is one of these.
    fn is_at(&self, script_id: &str, is_it: impl Fn(&Path) -> bool) -> bool {
        self.scripts.get(script_id).is_some_and(|script| script.path.as_deref().is_some_and(is_it))
    }
}

/// A place in what a compiler added to a script, which has the path of its source: its line is none of that source's.
fn added_by_compiler(here: Location) -> Location {
    let name = format!("{} (compiled)", here.source.name);
    Location { source: Source { path: None, name, internal: true }, ..here }
}

/// What the accessors of a watched property are called, in `debuggee/node/values.js`.
pub(super) const READ: &str = "stillframeRead";
const WRITTEN: &str = "stillframeWritten";

/// Whether a script is Node's own. What `-e` is given runs in a function of Node's.
pub(super) fn is_nodes(url: &str) -> bool {
    url.starts_with("node:") || url == "[eval]-wrapper"
}
