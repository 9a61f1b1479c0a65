//! What is debugged, and how this vocabulary calls it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::adapter::{self, Adapter, Machine, commands};
use engine::model::launch::{Launch, Program};

use crate::ToolError;
use crate::ops::lifecycle;

/// A program, and how it is started.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) adapter: &'static dyn Adapter,
    /// Absolute.
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    /// Absolute; none is the server's.
    pub(super) cwd: Option<PathBuf>,
    /// Added to the environment.
    pub(super) env: BTreeMap<String, String>,
    /// It was added too, and its values are no longer known.
    pub(super) lost_env: Vec<String>,
    /// The interpreter.
    pub(super) executable: Option<PathBuf>,
}

impl Target {
    /// A program that is started plainly.
    pub(super) fn new(adapter: &'static dyn Adapter, program: PathBuf) -> Self {
        Self {
            adapter,
            program,
            args: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            lost_env: Vec::new(),
            executable: None,
        }
    }

    /// How to start it.
    pub(super) fn launch(&self, stop_on_entry: bool) -> Launch {
        let set = |(name, value): (&String, &String)| (name.clone(), Some(value.clone()));
        Launch {
            args: self.args.clone(),
            cwd: self.cwd.clone(),
            env: self.env.iter().map(set).collect(),
            stop_on_entry,
            ..Launch::new(Program::Script(self.program.clone()))
        }
    }

    /// What its session is called.
    pub(super) fn title(&self) -> String {
        self.launch(false).title(None)
    }

    /// `app.py (python)`.
    pub(super) fn label(&self) -> String {
        format!("{} ({})", base_name(&self.program), language_name(self.adapter))
    }
}

/// The last part of a path, which is what texts call a file.
pub(super) fn base_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// What this vocabulary calls a language: JavaScript goes by the name of its runtime.
pub(super) fn language_name(adapter: &dyn Adapter) -> &'static str {
    match adapter.name() {
        "javascript" => "node",
        name => name,
    }
}

/// The language of that name, or else of a file.
pub(super) fn language(name: Option<&str>, file: &Path) -> Result<&'static dyn Adapter, ToolError> {
    match name {
        Some(name) => adapter::by_name(name).ok_or_else(|| ToolError::no_language(name, &languages())),
        None => commands::by_program(&Machine, file).ok_or_else(|| {
            if let Some(problem) = lifecycle::not_a_file(file.to_owned()) {
                return problem.into();
            }
            let problem = format!("is missing, and `{}` does not determine it", base_name(file));
            ToolError::argument("language", problem)
                .and(&format!("supported languages: {}", languages().join(", ")))
        }),
    }
}

fn languages() -> Vec<&'static str> {
    adapter::all().map(language_name).collect()
}
