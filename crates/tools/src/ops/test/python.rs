//! The test runners of Python.

use engine::model::launch::{Launch, Program};

use super::Runner;
use crate::ToolError;
use crate::ops::command::Command;

/// The runner that a command starts.
pub(super) fn runner(launch: &Launch) -> Option<Runner> {
    let Program::Module(module) = &launch.program else { return None };
    match module.as_str() {
        "pytest" | "py.test" => Some(Runner::Pytest),
        "unittest" => Some(Runner::Unittest),
        _ => None,
    }
}

/// Python says so when it has no module of that name.
pub(super) fn missing(runner: Runner, command: &Command, output: &str) -> Option<ToolError> {
    let Program::Module(module) = &command.launch.program else { return None };
    if !output.contains(&format!("No module named {module}")) {
        return None;
    }
    let python = command.executable.as_deref().map_or_else(|| "python".into(), |path| path.to_string_lossy());
    Some(ToolError::no_command(runner.name(), &format!("install it with `{python} -m pip install {module}`")))
}
