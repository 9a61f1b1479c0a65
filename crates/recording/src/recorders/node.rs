//! Node.js: calls of our recorder are put into the program's files when they are loaded.
//!
//! `NODE_OPTIONS` makes each process load `record_hook.cjs`, which asks for the text of each file of the program
//! (`service`). The answer has the same lines, and a source map for columns. What writes records is in
//! `record_helpers.cjs` and the modules that it loads.

mod chosen;
mod edits;
mod instrument;
mod modules;
mod original;
mod scopes;
mod service;

use std::path::{Path, PathBuf};

use engine::adapter::{Host, Runtime, node};
use engine::error::{Error, Result};
use engine::parts::folder_with;
use engine::process::ProcessSpec;

use self::chosen::Chosen;
use self::service::Service;
use super::{CACHED, RecordedStart, Recorder};

const HOOK: &str = "record_hook.cjs";
/// What modules import the functions of the recorder from.
const HELPERS: &str = "record_imports.mjs";

macro_rules! script {
    ($name:literal) => {
        ($name, include_str!(concat!("../debuggee/node/", $name)))
    };
}

const SCRIPTS: &[(&str, &str)] = &[
    script!("record_below.cjs"),
    script!("record_flusher.cjs"),
    script!("record_heap.cjs"),
    script!("record_helpers.cjs"),
    script!("record_hook.cjs"),
    script!("record_imports.mjs"),
    script!("record_loader.mjs"),
    script!("record_loading.cjs"),
    script!("record_overflow.cjs"),
    script!("record_proxies.cjs"),
    script!("record_questions.cjs"),
    script!("record_shapes.cjs"),
    script!("record_memory.cjs"),
    script!("record_stacks.cjs"),
    script!("record_symbols.cjs"),
    script!("record_threads.cjs"),
    script!("record_wire.cjs"),
];

/// Where the program finds out about the recording.
const VARIABLE: &str = "STILLFRAME_RECORD";

pub(super) struct Node;

impl Recorder for Node {
    fn language(&self) -> &'static str {
        "javascript"
    }

    fn plan(&self, host: &dyn Host, runtime: &Runtime, start: &RecordedStart<'_>) -> Result<ProcessSpec> {
        let RecordedStart { launch, segments, limits, .. } = *start;
        let folder = provide(&host.cache_dir())?;
        let mut spec = node::plain_launch(host, runtime, &folder.join(HOOK), launch)?;
        let settings = serde_json::json!({
            "segments": segments, "items": limits.items, "depth": limits.depth, "text": limits.text, "stack": node::STACK,
        });
        spec.env.insert(VARIABLE.to_owned(), Some(settings.to_string()));
        Ok(spec)
    }

    fn assist(&self, host: &dyn Host, start: &RecordedStart<'_>) -> Result<Option<Box<dyn Send>>> {
        let RecordedStart { launch, segments, only, .. } = *start;
        let folder = provide(&host.cache_dir())?;
        let helpers = node::file_url(&folder.join(HELPERS));
        let chosen = Chosen { names: only.to_vec(), folder: launch.working_folder() };
        let service = Service::start(segments, helpers, chosen).map_err(|error| Error::Environment {
            problem: format!("cannot use `{}`: {error}", segments.display()),
            remedy: "check that the temporary folder is writable".to_owned(),
        })?;
        Ok(Some(Box::new(service)))
    }
}

/// The folder with our scripts, and the debugger's that knows how Node loads files.
fn provide(cache: &Path) -> Result<PathBuf> {
    let scripts: Vec<_> = SCRIPTS.iter().copied().chain([node::LOADING]).collect();
    folder_with(&cache.join(CACHED), &scripts)
}
