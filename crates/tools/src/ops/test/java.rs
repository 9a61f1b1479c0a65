//! Tests in Java. Their results are in the build tool's own reports.

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
