//! The test runners of Ruby.

use std::path::Path;

use engine::model::launch::{Launch, Program};

use super::Runner;

/// The runner that a command starts. Which one `rake` starts is known when it does.
pub(super) fn runner(launch: &Launch, executable: Option<&Path>) -> Option<Runner> {
    let executable = executable.and_then(|path| path.file_name()?.to_str());
    let module = match &launch.program {
        Program::Module(name) => Some(name.as_str()),
        Program::Script(_) | Program::Package(_) | Program::Command => None,
    };
    let words = launch.args.iter().map(String::as_str).take(2);
    let names: Vec<&str> = executable.into_iter().chain(module).chain(words).collect();
    if names.contains(&"rspec") {
        return Some(Runner::Rspec);
    }
    let is_test = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with("_test.rb") || name.starts_with("test_")
    };
    matches!(&launch.program, Program::Script(path) if is_test(path)).then_some(Runner::Minitest)
}
