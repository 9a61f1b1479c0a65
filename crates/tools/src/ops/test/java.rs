//! What is particular to tests in Java. The build tool's own reports say how they went.

use std::path::Path;

use super::Runner;
use crate::ops::command::Command;

/// The runner that a command starts.
pub(super) fn runner(command: &Command) -> Option<Runner> {
    if command.adapter.name() != "java" {
        return None;
    }
    match command.executable.as_deref().and_then(Path::file_stem)?.to_str()? {
        "mvn" | "mvnw" => Some(Runner::Maven),
        "gradle" | "gradlew" => Some(Runner::Gradle),
        _ => None,
    }
}
