//! What Node's loader of ES modules catches. V8 takes it for caught, and it ends the program all the same.

use std::path::{Path, PathBuf};

use ::cdp::debugger::{CallFrame, EvaluateOnCallFrame, Paused};
use ::cdp::runtime::{Evaluate, RemoteObject};

use super::super::scripts::path_of;
use super::super::v8::evaluation;
use super::ExceptionPauses;
use crate::{deadlines, javascript, sources};

/// Where our hook stops.
const FUNCTION: &str = "uncaught";

impl ExceptionPauses {
    /// Whether the program's main script is an ES module.
    pub(super) async fn runs_module(&self) -> bool {
        let question = Evaluate { return_by_value: true, ..evaluation("process.argv[1]".to_owned()) };
        let answer = self.v8.request_within(deadlines::GOODBYE, question).await.ok();
        let main = answer.and_then(|answer| path_of(answer.result.value?.as_str()?));
        let Some(main) = main.filter(|main| self.sources.program.policy.safety.check_path(main).is_ok())
        else {
            return false;
        };
        tokio::task::spawn_blocking(move || is_module(&main)).await.unwrap_or(false)
    }

    /// What nothing has caught, when our hook stops because Node says so.
    pub(in super::super) async fn unwound(&self, paused: &Paused) -> Option<RemoteObject> {
        let is_there = |frame: &&CallFrame| self.sources.is_in_hook(frame, &[FUNCTION]);
        let frame = paused.call_frames.first().filter(is_there)?;
        let question = EvaluateOnCallFrame {
            call_frame_id: frame.call_frame_id.clone(),
            expression: "error".to_owned(),
            silent: true,
            ..EvaluateOnCallFrame::default()
        };
        Some(self.v8.request(question).await.ok()?.result)
    }
}

/// Whether Node takes a script for an ES module: by its extension, its package, or else its text. The loader of ES
/// modules also runs what a package compiles, as TypeScript.
fn is_module(main: &Path) -> bool {
    match main.extension().and_then(|extension| extension.to_str()) {
        Some("mjs" | "mts" | "ts" | "tsx" | "cts") => return true,
        Some("cjs" | "json" | "node") => return false,
        _ => {}
    }
    let manifests = main.ancestors().skip(1).map(|folder| folder.join("package.json"));
    let manifest = manifests.into_iter().find_map(|path: PathBuf| std::fs::read_to_string(path).ok());
    let manifest = manifest.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    match manifest.as_ref().and_then(|manifest| manifest.get("type")?.as_str()) {
        Some(kind) => kind == "module",
        None => sources::read_text(main).is_ok_and(|text| javascript::has_module_syntax(main, &text)),
    }
}
