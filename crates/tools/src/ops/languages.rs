//! Which languages can be debugged here, and what is missing where one cannot.

use engine::adapter::{self, Adapter, Guarded, Host, Runtime};
use engine::safety::Safety;

/// The state of one language on this machine.
#[derive(Debug)]
pub struct Language {
    /// The language.
    pub adapter: &'static dyn Adapter,
    /// The interpreter, or why there is none.
    pub runtime: Result<Runtime, String>,
    /// The debugger is installed; otherwise it is on first use.
    pub provided: bool,
    /// Why it must not be used.
    pub forbidden: Option<String>,
    /// Why attaching to a process is not possible.
    pub attach_obstacle: Option<String>,
}

/// Checks all of them. Nothing of the repository around the working folder runs.
pub async fn languages(host: &dyn Host, safety: &Safety) -> Vec<Language> {
    let mut found = Vec::new();
    for adapter in adapter::all() {
        let here = std::env::current_dir().ok().map(|folder| folder.join("program"));
        // The user has chosen the programs of one that is described, and nothing runs before a start.
        let guarded = if adapter.facts().is_configured {
            Guarded::starting(host, safety)
        } else {
            Guarded::for_reading(host, safety, None)
        };
        let runtime = adapter.locate(&guarded, None, here.as_deref()).await;
        found.push(Language {
            adapter,
            forbidden: safety.check_language(adapter.name()).err().map(|error| error.to_string()),
            provided: runtime.as_ref().is_ok_and(|runtime| adapter.is_provided(host, runtime)),
            runtime: runtime.map_err(|error| crate::ToolError::from(error).message),
            attach_obstacle: adapter.attach_obstacle(host),
        });
    }
    found
}
