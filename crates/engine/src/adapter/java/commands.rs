//! Command lines of Java and its build tools.

use std::path::{Path, PathBuf};

use super::{BUILD_TOOLS, Java};
use crate::adapter::commands::{CommandFile, CommandProblem, Commands, ProcessCommand};
use crate::model::launch::{Launch, Program};

/// Options of the JVM that take the next word.
const WITH_VALUE: [&str; 9] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--add-modules",
    "--add-opens",
    "--add-exports",
    "--add-reads",
];

impl Commands for Java {
    /// `java -cp classes shop.Main`, `java -jar shop.jar`, `java Main.java`.
    fn of_interpreter(
        &self,
        name: &str,
        words: Vec<String>,
        folder: &Path,
    ) -> Option<Result<Launch, CommandProblem>> {
        (name == "java").then(|| launch_of(words, folder))
    }

    fn is_any_interpreter(&self, name: &str) -> bool {
        name == "java"
    }

    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)> {
        let launch = Launch { runtime_args: args, ..Launch::new(Program::Command) };
        BUILD_TOOLS.contains(&file.name.as_str()).then(|| (Some(file.path.clone()), launch))
    }

    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf> {
        if process.name() != "java" {
            return None;
        }
        let mut words = process.words.iter();
        let is_jar = words.by_ref().any(|word| word == "-jar");
        Some(words.next().filter(|_| is_jar).map_or(process.folder.clone(), |jar| process.folder.join(jar)))
    }

    fn variables(&self) -> &'static [&'static str] {
        &["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "MAVEN_", "GRADLE_"]
    }

    fn install_hint(&self, name: &str) -> Option<&'static str> {
        match name {
            "mvn" => Some("install Maven (`apt-get install maven`, `brew install maven`)"),
            "gradle" => Some("install Gradle, or run the project's own `./gradlew`"),
            _ => None,
        }
    }
}

fn launch_of(words: Vec<String>, folder: &Path) -> Result<Launch, CommandProblem> {
    let mut words = words.into_iter();
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        let program = if word == "-jar" {
            let jar = words.next().unwrap_or_default();
            Program::Script(folder.join(jar))
        } else if word.starts_with('-') {
            let takes_value = WITH_VALUE.contains(&word.as_str());
            options.push(word);
            if takes_value {
                options.extend(words.next());
            }
            continue;
        } else if Path::new(&word).extension().is_some_and(|extension| extension == "java") {
            Program::Script(folder.join(word))
        } else {
            Program::Module(word)
        };
        return Ok(Launch { args: words.collect(), runtime_args: options, ..Launch::new(program) });
    }
    Err(CommandProblem {
        problem: "names no class, JAR or source file".to_owned(),
        next: "use `java -cp CLASSES MAIN_CLASS`, `java -jar FILE` or `java FILE.java`",
    })
}
