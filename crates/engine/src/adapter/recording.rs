//! A recording of a run, debugged as a program is: `stillframe dap` serves it, and moves in both directions.
//!
//! It is not a language: a session asks for it by name, and breakpoints are set in the sources of the run.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde_json::{Map, json};

use super::plan::{DapSetup, Plan, Quirks, StartRequest, Transport};
use super::{Adapter, Host, LanguageFacts, Runtime};
use crate::error::{Error, Result};
use crate::model::launch::{Program, Start};
use crate::model::stop::ExceptionMode;
use crate::process::ProcessSpec;

/// Recordings.
#[derive(Clone, Copy, Debug)]
pub struct Recording;

const QUIRKS: Quirks = Quirks {
    exception_filters: |mode| match mode {
        ExceptionMode::None => &[],
        ExceptionMode::Uncaught | ExceptionMode::UserUnhandled => &["uncaught"],
        ExceptionMode::All => &["raised"],
    },
    is_unknown_name: |text| text.contains("has no recorded value here"),
    ..Quirks::NONE
};

const FACTS: LanguageFacts =
    LanguageFacts { editor_type: "stillframe", ..LanguageFacts::new("recording", "recordings of runs") };

#[async_trait]
impl Adapter for Recording {
    fn facts(&self) -> &LanguageFacts {
        &FACTS
    }

    async fn locate(
        &self,
        _host: &dyn Host,
        _executable: Option<&Path>,
        _near: Option<&Path>,
    ) -> Result<Runtime> {
        let executable = std::env::current_exe().map_err(|error| Error::Environment {
            problem: format!("cannot find out where stillframe is installed: {error}"),
            remedy: "start the server from a file that stays where it is".to_owned(),
        })?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Runtime { executable, version, tag: String::new(), origin: "this program".to_owned() })
    }

    /// Its name, which is that of its file without the ending.
    fn program(&self, _host: &dyn Host, path: PathBuf) -> Program {
        Program::Module(path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
    }

    fn plan(&self, _host: &dyn Host, runtime: &Runtime, _debugger: &Path, start: &Start) -> Result<Plan> {
        let Start::Launch(launch) = start else {
            return Err(Error::Unsupported("a recording is started, not attached to".to_owned()));
        };
        let mut arguments = Map::new();
        arguments.insert("recording".to_owned(), launch.program.name().into());
        arguments.insert("stopOnEntry".to_owned(), launch.stop_on_entry.into());
        match launch.args.as_slice() {
            [] => {}
            [moment] => {
                arguments.insert("at".to_owned(), json!(moment));
            }
            _ => {
                let problem =
                    "a recording takes at most one argument, the moment to begin at, such as `exception`";
                return Err(Error::Unsupported(problem.to_owned()));
            }
        }
        let process = ProcessSpec {
            program: runtime.executable.clone(),
            args: vec!["dap".into()],
            ..ProcessSpec::default()
        };
        let setup = DapSetup {
            stops_on_entry: launch.stop_on_entry || !launch.args.is_empty(),
            is_local: false,
            ..DapSetup::new("stillframe", StartRequest::Launch, arguments, &QUIRKS)
        };
        Ok(Plan::Dap { transport: Transport::Stdio(process), setup })
    }

    fn is_internal(&self, _path: &Path) -> bool {
        false
    }

    /// Those that were recorded.
    fn debugs(&self, _other: &dyn Adapter) -> bool {
        true
    }
}
