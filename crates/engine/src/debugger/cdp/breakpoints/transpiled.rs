//! Sources that are compiled when they are loaded, by a loader such as tsx, ts-node, Babel's or Jest's, and modules
//! that a bundle evaluates.
//!
//! Their scripts have the names of the sources but different positions, which only the script itself contains. So V8
//! or our hook stops between compilation and the first statement: V8 does so for ES modules and `vm.Script`s that
//! have a map, our hook for `CommonJS` modules that Node compiles.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::cdp::debugger::{self, CallFrame, Instrumentation, SetInstrumentationBreakpoint};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::super::places::{self, ScriptSpot};
use super::super::stop::V8Stop;
use super::super::v8::V8Client;
use super::binder::BreakpointBinder;
use crate::adapter::node::read_map;
use crate::javascript;
use crate::source_map::SourceMap;

/// Where our hook stops: with a file that was transpiled, and before a file.
const TRANSPILED: &str = "transpiled";
const LOADING: &str = "loading";

impl BreakpointBinder {
    /// Sends V8 and the hook the requested sources. `Runtime.evaluate` works while a process waits for us.
    pub(super) async fn announce_sources(&self) {
        let sources = self.table.sources();
        // What nothing on disk was made of is compiled when it is loaded.
        let is_unmade = |(path, is_made): &(PathBuf, bool)| !is_made && !javascript::is_plain(path);
        let transpiles =
            self.sources.program.setup.transpiles || self.table.unbound_sources().iter().any(is_unmade);
        // A file that Node runs unchanged bypasses our hook, whose frame would be visible in the stacks of its
        // errors.
        let wanted = sources.iter().filter(|path| transpiles || !javascript::is_plain(path));
        let paths: Vec<String> = wanted.map(|path| path.display().to_string()).collect();
        if paths.is_empty() && !transpiles {
            return;
        }
        // It stops at every script that has a map, because any of them may contain a requested function.
        if transpiles && (!paths.is_empty() || !self.table.functions().is_empty()) {
            let instrumentation = Instrumentation::BeforeScriptWithSourceMapExecution;
            // V8 refuses a second one, which changes nothing.
            let _ = self.v8.request(SetInstrumentationBreakpoint { instrumentation }).await;
        }
        let expression = format!(
            "{{ const wanted = globalThis[Symbol.for('stillframe.wanted')]; \
             if (wanted) {{ wanted.clear(); for (const path of {}) wanted.add(path); }} }}",
            json!(paths)
        );
        self.v8.update_hook(expression).await;
    }

    /// Deals with a stop between compilation and execution; true when it was one.
    pub(in super::super) async fn take_compiled(
        &self,
        reason: &str,
        data: Option<&Json>,
        stop: &V8Stop,
    ) -> bool {
        if reason == "instrumentation" {
            if let Some(data) = data {
                self.compiled(data, stop).await;
            }
            return true;
        }
        // V8 stops once for several reasons, which are deeper in then.
        let reasons = data.and_then(|data| data.get("reasons")).and_then(Json::as_array);
        for reason in reasons.into_iter().flatten() {
            if reason.get("reason").and_then(Json::as_str) == Some("instrumentation")
                && let Some(data) = reason.get("auxData")
            {
                self.compiled(data, stop).await;
            }
        }
        let is_hooks = |frame: &&CallFrame| self.sources.is_in_hook(frame, &[TRANSPILED, LOADING]);
        let Some(frame) = stop.frames.first().filter(is_hooks) else { return false };
        if frame.function_name == LOADING {
            if let Some(path) = argument::<PathBuf>(&self.v8, frame, "filename").await {
                self.reaches_module(&path).await;
            }
        } else if let Some((path, map_url)) =
            argument::<(PathBuf, String)>(&self.v8, frame, "[filename, sourceMapURL]").await
        {
            let script = path.clone();
            let policy = Arc::clone(&self.sources.program.policy);
            let read = tokio::task::spawn_blocking(move || read_map(&map_url, &script, &policy.safety)).await;
            if let Ok(Ok(map)) = read {
                self.retarget(&path, &path, &map).await;
            }
        }
        true
    }

    /// V8 has compiled a script that has a map, which `data` names.
    async fn compiled(&self, data: &Json, stop: &V8Stop) {
        if let Some(id) = data.get("scriptId").and_then(Json::as_str)
            && let Some(script) = self.sources.scripts.get(id)
        {
            if let Some(frame) = stop.frames.first().filter(|frame| frame.location.script_id == id) {
                self.reaches_script(&script, &frame.location).await;
            }
            let Some(path) = &script.path else { return };
            if !self.table.functions().is_empty() && !self.sources.program.adapter.is_internal(path) {
                let _ = self.resolve_functions(path).await;
            }
            if self.table.is_wanted(path)
                && let Some(Ok(map)) = script.map_to(path).await
            {
                self.retarget(path, path, map).await;
            }
        }
    }

    /// A script is about to run that a compiler made of a source: the source's places are where its map says.
    pub(super) async fn retarget(&self, source: &Path, script: &Path, map: &Arc<SourceMap>) -> Vec<u64> {
        if map.source_of(source).is_none() {
            return Vec::new();
        }
        let numbers = self.table.made(source, script, map);
        for &number in &numbers {
            let Some(place) = self.table.place(number) else { continue };
            let mut spots: Vec<ScriptSpot> =
                place.spots.iter().map(|bound_spot| bound_spot.spot.clone()).collect();
            spots.retain(|spot| spot.path != script);
            spots.extend(places::mapped(source, script, map, place.line, place.column));
            if let Err(error) = self.set_spots(number, spots).await {
                tracing::warn!(%error, "cannot bind a breakpoint in transpiled code");
            }
        }
        numbers
    }
}

/// What our hook was called with: an expression over its parameters.
async fn argument<T: DeserializeOwned>(v8: &V8Client, frame: &CallFrame, expression: &str) -> Option<T> {
    let evaluate = debugger::EvaluateOnCallFrame {
        call_frame_id: frame.call_frame_id.clone(),
        expression: expression.to_owned(),
        return_by_value: true,
        ..Default::default()
    };
    serde_json::from_value(v8.request(evaluate).await.ok()?.result.value?).ok()
}
