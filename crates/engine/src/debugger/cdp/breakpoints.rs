//! The requested breakpoints of a thread, and their state in V8.
//!
//! A location in a source becomes breakpoints in the files that are, or will be, loaded for it; see `places`. Each
//! location has a number. Reading order: `table` (requests and state), `binder` (shared parts), `bind` (how V8
//! receives them), `transpiled` (sources that are compiled when they load), `paths` (functions found by names in the
//! running program), `entry` (where the program begins), `hits` (which breakpoints a pause belongs to), `unbound`
//! (those that never bound), this file (changes of the requests).

mod bind;
mod binder;
mod entry;
mod hits;
mod paths;
mod table;
mod transpiled;
mod unbound;

use std::path::Path;
use std::sync::Arc;

use self::table::{BreakpointTarget, TargetKind};
use super::places::{self, real};
use super::scripts::Script;
use super::{functions, recording};
use crate::debugger::{BindResult, Event, FunctionBreakpoint, SourceBreakpoint};
use crate::error::Result;
use crate::model::ids::BreakpointId;

pub(super) use self::binder::BreakpointBinder;
pub(super) use self::hits::Hit;

impl BreakpointBinder {
    /// Replaces the breakpoints of a source.
    pub(super) async fn set_in_source(
        &self,
        path: &Path,
        wanted: Vec<SourceBreakpoint>,
    ) -> Result<Vec<BindResult>> {
        let source = real(&self.sources.program.setup.to_remote(path));
        let made = if wanted.is_empty() { Vec::new() } else { places::made_of(&self.sources, &source).await };
        let places =
            wanted.into_iter().map(|wanted| BreakpointTarget::on_line(&source, &made, wanted)).collect();
        let recorded = self.table.recorded(&source);
        let (numbers, removed) = self.table.replace(&source, places);
        self.remove(removed).await?;
        self.end_recording(&source, recorded).await;
        self.bind_places(&numbers).await?;
        Ok(numbers.into_iter().map(|number| self.table.outcome(number)).collect())
    }

    /// Stops recordings that are no longer requested.
    async fn end_recording(&self, source: &Path, before: Vec<BreakpointId>) {
        let now = self.table.recorded(source);
        let over: Vec<BreakpointId> = before.into_iter().filter(|id| !now.contains(id)).collect();
        if !over.is_empty() {
            recording::end(&self.v8, &over).await;
        }
    }

    /// A statement in the source records here, so V8 does not need the condition.
    pub(super) async fn inlined(&self, id: BreakpointId) {
        if let Err(error) = self.remove(self.table.release(id)).await {
            tracing::debug!(%error, "cannot remove a breakpoint");
        }
    }

    /// Whether a breakpoint is nowhere in this thread.
    pub(super) fn is_refused(&self, id: BreakpointId) -> bool {
        self.table.is_refused(id)
    }

    async fn bind_places(&self, numbers: &[u64]) -> Result<()> {
        self.announce_sources().await;
        for number in numbers {
            self.bind_place(*number).await?;
        }
        self.insertions
            .announce(&self.v8, &self.sources.program, self.thread.name(), self.table.only_recorded())
            .await;
        Ok(())
    }

    /// Makes the program stop at a line of its script, and a column where that is needed, once.
    pub(super) async fn set_entry(&self, script: &Path, (line, column): (u32, Option<u32>)) -> Result<()> {
        let source = real(script);
        let made = places::made_of(&self.sources, &source).await;
        let wanted = SourceBreakpoint { line, column, rules: Vec::new() };
        let place =
            BreakpointTarget { kind: TargetKind::Entry, ..BreakpointTarget::on_line(&source, &made, wanted) };
        let number = self.table.add(place);
        self.bind_places(&[number]).await
    }

    /// Replaces the breakpoints on functions.
    pub(super) async fn set_on_functions(&self, wanted: Vec<FunctionBreakpoint>) -> Result<Vec<BindResult>> {
        let removed = self.table.replace_functions(wanted);
        self.remove(removed).await?;
        if !self.table.functions().is_empty() {
            self.announce_sources().await;
            for path in functions::candidates(&self.sources).await {
                self.resolve_functions(&path).await?;
            }
            self.look_up().await;
        }
        Ok(self.table.function_outcomes())
    }

    /// Sets breakpoints in the requested functions of a file.
    async fn resolve_functions(&self, path: &Path) -> Result<Vec<u64>> {
        let source = real(path);
        let names = self.table.functions();
        let mut numbers = Vec::new();
        for (wanted, starts) in functions::find(&self.sources.program, &source, names).await {
            let made = places::made_of(&self.sources, &source).await;
            for start in starts {
                numbers.extend(self.table.add_function(&wanted, &source, &made, start));
            }
        }
        // Most files hold none of them, and nothing need be sent for those.
        if !numbers.is_empty() {
            self.bind_places(&numbers).await?;
        }
        Ok(numbers)
    }

    /// A script was loaded. A script from a compiler may contain a requested location and may not have been on disk
    /// before.
    pub(super) async fn loaded(&self, script: &Arc<Script>) -> Vec<Event> {
        let Some(path) = &script.path else { return Vec::new() };
        let mut changed = Vec::new();
        if !self.table.functions().is_empty() && !self.sources.program.adapter.is_internal(path) {
            changed.extend(self.resolve_functions(path).await.unwrap_or_default());
        }
        if !script.is_mapped() {
            return changed.into_iter().flat_map(|number| self.table.news(number)).collect();
        }
        for (source, is_found) in self.table.unbound_sources() {
            let is_itself = source == *path;
            let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !is_itself
                && (is_found
                    || self.sources.program.adapter.is_internal(path)
                    || !script.may_mention(name).await)
            {
                continue;
            }
            if let Some(Ok(map)) = script.map_to(&source).await {
                changed.extend(self.retarget(&source, path, map).await);
            }
        }
        changed.into_iter().flat_map(|number| self.table.news(number)).collect()
    }
}
