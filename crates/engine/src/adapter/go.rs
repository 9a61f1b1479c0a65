//! Go, debugged by Delve's own adapter, `dlv dap`.
//!
//! We build the program, into the cache (`build.rs`), so that a compile error is the answer and nothing is written beside
//! the sources. Facts about the adapter hold for Delve 1.27.2.

mod analysis;
mod build;
mod commands;
mod comparisons;
mod delve;
mod expressions;
mod panics;
mod quirks;
mod rehearsal;
mod standard;
mod type_names;
mod values;
mod waits;

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::plan::{ADDRESS, DapSetup, Plan, StartRequest, Transport};
use super::{
    Adapter, Commands, Host, LanguageFacts, PrintedFormat, Reporting, Runtime, Sample, SourceAnalysis, native,
};
use crate::error::{Error, Result};
use crate::model::launch::{Attach, Endpoint, Launch, Program, Start};
use crate::process::ProcessSpec;
use crate::progress::Progress;

/// The language.
#[derive(Clone, Copy, Debug)]
pub struct Go;

const FACTS: LanguageFacts = LanguageFacts {
    aliases: &["golang", "delve", "dlv"],
    extensions: &["go"],
    sample: Sample {
        source: "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tanswer := 6 * 7\n\tfmt.Println(answer)\n}\n",
        line: 7,
    },
    debug_flags: "`go build -gcflags='all=-N -l'`, without `-ldflags=-s -w`",
    is_machine_code: true,
    passes_definitions: false,
    deadlock_error: Some("all goroutines are asleep"),
    samples: true,
    reporting: Reporting::Printed(PrintedFormat::Go),
    ..LanguageFacts::new("go", "Go")
};

#[async_trait]
impl Adapter for Go {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        _near: Option<&Path>,
    ) -> Result<Runtime> {
        delve::locate(host, executable).await
    }

    async fn provide(&self, host: &dyn Host, runtime: &Runtime, progress: &Progress) -> Result<PathBuf> {
        delve::provide(host, runtime, progress).await
    }

    fn is_provided(&self, host: &dyn Host, runtime: &Runtime) -> bool {
        host.is_file(&runtime.executable)
    }

    /// A folder with sources of Go is a package.
    fn program(&self, host: &dyn Host, path: PathBuf) -> Program {
        let is_source = |name: &String| build::is_source(name) || name == "go.mod";
        let is_package = !host.is_file(&path) && host.names_in(&path).iter().any(is_source);
        if is_package { Program::Package(path) } else { Program::Script(path) }
    }

    async fn build(
        &self,
        host: &dyn Host,
        _runtime: &Runtime,
        launch: Launch,
        progress: &Progress,
    ) -> Result<Launch> {
        build::build(host, launch, progress).await
    }

    fn plan(&self, host: &dyn Host, _runtime: &Runtime, debugger: &Path, start: &Start) -> Result<Plan> {
        let dump = match start {
            Start::Attach(Attach { to: Endpoint::Core { file, .. }, .. }) => Some(file),
            Start::Attach(_) | Start::Launch(_) => None,
        };
        let (request, arguments, launch) = match start {
            Start::Launch(launch) => (StartRequest::Launch, launch_arguments(launch), Some(launch)),
            // Delve opens a dump by `launch`.
            Start::Attach(attach) if dump.is_some() => {
                (StartRequest::Launch, attach_arguments(host, attach)?, None)
            }
            Start::Attach(attach) => (StartRequest::Attach, attach_arguments(host, attach)?, None),
        };
        let transport = match start {
            Start::Attach(Attach { to: Endpoint::Address { host, port }, .. }) => {
                Transport::Connect { host: host.clone(), port: *port }
            }
            Start::Attach(_) | Start::Launch(_) => Transport::Spawn {
                process: ProcessSpec {
                    program: debugger.to_owned(),
                    args: ["dap", "--listen", ADDRESS].map(Into::into).into(),
                    env: launch.map(|launch| launch.env.clone()).unwrap_or_default(),
                    cwd: launch.map(Launch::working_folder),
                    stdin: launch.map(|launch| launch.stdin.clone()).unwrap_or_default(),
                    ..ProcessSpec::default()
                },
                announces: Some("DAP server listening at: "),
                is_program: false,
            },
        };
        let setup = DapSetup {
            stdin: launch.map(|launch| launch.stdin.clone()).unwrap_or_default(),
            stops_on_entry: launch.is_some_and(|launch| launch.stop_on_entry),
            is_local: start.is_on_this_machine(),
            leaves_libraries: launch.is_none_or(|launch| launch.just_my_code),
            no_code: dump.map(|_| native::DUMP_DOES_NOT_RUN.to_owned()),
            is_dump: dump.is_some(),
            dump_signal: dump.and_then(|dump| native::signal_of_dump(host, dump)),
            ..DapSetup::new("go", request, with_settings(&arguments), &quirks::QUIRKS)
        };
        Ok(Plan::Dap { transport, setup })
    }

    /// The standard library, and what is in the module cache.
    fn is_internal(&self, path: &Path) -> bool {
        delve::is_library(path)
    }

    capabilities! { commands: Commands, source_analysis: SourceAnalysis }

    fn attach_obstacle(&self, host: &dyn Host) -> Option<String> {
        native::debugger::attach_obstacle(host)
    }
}

/// The adapter's own streams are the program's, and its input is ours.
fn launch_arguments(launch: &Launch) -> Value {
    json!({
        "mode": "exec", "program": launch.program.name(), "args": launch.args, "cwd": launch.working_folder(),
        "stdinFrom": "/dev/stdin",
    })
}

fn attach_arguments(host: &dyn Host, attach: &Attach) -> Result<Value> {
    let paths: Vec<Value> =
        attach.path_mappings.iter().map(|(ours, theirs)| json!({ "from": ours, "to": theirs })).collect();
    Ok(match &attach.to {
        Endpoint::Process(pid) => json!({ "mode": "local", "processId": pid }),
        Endpoint::Address { .. } => json!({ "mode": "remote", "substitutePath": paths }),
        Endpoint::Core { file, program } => {
            let program = native::program_of_dump(host, file, program.as_deref())?;
            json!({ "mode": "core", "program": program, "coreFilePath": file })
        }
    })
}

/// Goroutines of the runtime are not the user's, and texts are longer than by default.
fn with_settings(arguments: &Value) -> Map<String, Value> {
    let mut arguments = arguments.as_object().cloned().unwrap_or_default();
    arguments.insert("hideSystemGoroutines".to_owned(), json!(true));
    arguments.insert("maxStringLen".to_owned(), json!(4096));
    arguments
}

/// What cannot be started as requested.
fn unusable(problem: String) -> Error {
    Error::Unsupported(problem)
}
