//! Where a program begins for its user, when that is not in its main script: `npm run` and a test runner come to the
//! user's files late, and perhaps in a child.
//!
//! The thread stops before each file that it runs: V8 stops before ES modules and `vm.Script`s, and our hook before
//! `CommonJS` modules. In the first file of the user's, a breakpoint is set on its first statement. To step there
//! would take seconds, because V8 also steps through Node's own code.

use std::path::Path;
use std::sync::atomic::Ordering;

use ::cdp::debugger::{Instrumentation, Location, SetBreakpoint, SetInstrumentationBreakpoint};

use super::super::scripts::Script;
use super::super::sources::is_nodes;
use super::binder::BreakpointBinder;
use crate::error::Result;
use crate::lock::lock;

impl BreakpointBinder {
    /// Makes the thread stop at the first statement of the user's, unless another thread or process of the
    /// program has done so.
    pub(in super::super) async fn stop_in_first_file(&self) -> Result<()> {
        if self.sources.program.has_entered.load(Ordering::Acquire) {
            return Ok(());
        }
        let instrumentation = Instrumentation::BeforeScriptExecution;
        let set = self.v8.request(SetInstrumentationBreakpoint { instrumentation }).await?;
        *lock(&self.files) = Some(set.breakpoint_id);
        let scope = if self.sources.program.setup.just_my_code { "users" } else { "all" };
        self.report_modules(&format!("'{scope}'")).await;
        Ok(())
    }

    /// Makes the hook stop before the `CommonJS` modules of a scope.
    async fn report_modules(&self, scope: &str) {
        self.v8.update_hook(format!("globalThis[Symbol.for('stillframe.files')] = {scope}")).await;
    }

    /// The thread is about to run a `CommonJS` module.
    pub(super) async fn reaches_module(&self, path: &Path) {
        if self.is_users_file(path)
            && let Some(first) = self.sources.program.analyze(path).await.and_then(|code| code.first)
            && self.ends_search().await
            && let Err(error) = self.set_entry(path, first).await
        {
            tracing::warn!(%error, "cannot stop on entry");
        }
    }

    /// The thread is about to run an ES module or a script, at this place. The text of an option such as `-e` is in no
    /// file.
    pub(super) async fn reaches_script(&self, script: &Script, place: &Location) {
        if let Some(path) = &script.path {
            return self.reaches_module(path).await;
        }
        let is_text = script.url.starts_with("[eval") && !is_nodes(&script.url);
        if !is_text || !self.ends_search().await {
            return;
        }
        let at = SetBreakpoint { location: place.clone(), condition: None };
        match self.v8.request(at).await {
            Ok(set) => self.table.set_entry_stop(set.breakpoint_id),
            Err(error) => tracing::warn!(%error, "cannot stop on entry"),
        }
    }

    /// Whether the program begins for its user where this file does.
    fn is_users_file(&self, path: &Path) -> bool {
        lock(&self.files).is_some() && !self.sources.program.is_skipped(path)
    }

    /// Stops before files no longer; false when another thread has begun before, so that this one does not stop.
    async fn ends_search(&self) -> bool {
        let Some(id) = lock(&self.files).take() else { return false };
        // It is removed when the thread resumes.
        let _ = self.remove(vec![id]).await;
        self.report_modules("undefined").await;
        !self.sources.program.has_entered.swap(true, Ordering::AcqRel)
    }
}
