//! What is particular to tests in Java. The build tool's own reports say how they went.

use std::path::Path;

use super::Runner;

/// The runner that a command starts.
pub(super) fn runner(executable: Option<&Path>) -> Option<Runner> {
    match executable.and_then(Path::file_stem)?.to_str()? {
        "mvn" | "mvnw" => Some(Runner::Maven),
        "gradle" | "gradlew" => Some(Runner::Gradle),
        _ => None,
    }
}
