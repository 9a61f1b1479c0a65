//! Interpreters that may have their version in their name, such as `php8.2`, and commands that start them.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::known::Known;
use super::{Host, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::process::ProcessSpec;

/// How the interpreter of a language is found.
pub(super) struct Interpreter {
    pub(super) language: &'static str,
    pub(super) name: &'static str,
    /// A command that starts it.
    pub(super) command: &'static str,
    /// What to install where it is missing.
    pub(super) install: &'static str,
    pub(super) find: fn(&dyn Host) -> Option<PathBuf>,
    /// A start of one that prints three lines about it.
    pub(super) question: fn(&Path) -> ProcessSpec,
    /// What the lines say, unless it cannot be debugged.
    pub(super) read: fn(&dyn Host, &Path, [String; 3]) -> Result<Answer>,
}

/// The version, and the tag of the runtime.
pub(super) type Answer = (String, String);

static ANSWERS: Known<Answer> = Known::new();

impl Interpreter {
    /// Finds the program to run: the requested one, or else the interpreter on the search path. Another executable
    /// is a command that starts the interpreter.
    pub(super) async fn locate(
        &self,
        host: &dyn Host,
        executable: Option<&Path>,
        near: Option<&Path>,
    ) -> Result<Runtime> {
        let Self { language, name, .. } = self;
        let find = |problem: String| (self.find)(host).ok_or_else(|| self.missing(problem));
        let Some(executable) = executable else {
            let found = find(format!("no `{name}` on PATH"))?;
            return self.probe(host, &found, format!("`{name}` on PATH"), found.clone()).await;
        };
        let path = self.program(host, executable, near)?;
        if is_called(&path, name) {
            return self
                .probe(host, &host.permitted(&path)?, "given as `executablePath`".to_owned(), path)
                .await;
        }
        let given = executable.display();
        let found = find(format!("`{given}` needs {language}, and no `{name}` is on PATH"))?;
        let origin = format!("`{given}` given as `executablePath`; the version is that of `{name}` on PATH");
        self.probe(host, &found, origin, path).await
    }

    /// A path is taken as it is; a name is looked for on the search path, then in `bin` of the project.
    pub(super) fn program(&self, host: &dyn Host, executable: &Path, near: Option<&Path>) -> Result<PathBuf> {
        let found = if executable.components().count() > 1 {
            host.is_file(executable).then(|| executable.to_owned())
        } else {
            let folders = near.into_iter().flat_map(|near| near.ancestors().skip(1));
            let mut binstubs = folders.map(|folder| folder.join("bin").join(executable));
            host.which(&executable.to_string_lossy()).or_else(|| binstubs.find(|path| host.is_file(path)))
        };
        let Self { name, command, .. } = self;
        found.ok_or_else(|| Error::Environment {
            problem: format!("no program at `{}`", executable.display()),
            remedy: format!(
                "give the path of `{name}`, or a command such as `{command}` that starts it, as `executablePath`, or \
                 leave it out to have `{name}` found"
            ),
        })
    }

    pub(super) fn missing(&self, problem: String) -> Error {
        let remedy = format!("install {}, or give the path of one as `executablePath`", self.install);
        Error::Environment { problem, remedy }
    }

    /// A program to run, with what an interpreter says of itself.
    pub(super) async fn probe(
        &self,
        host: &dyn Host,
        interpreter: &Path,
        origin: String,
        executable: PathBuf,
    ) -> Result<Runtime> {
        let ask = self.ask(host, interpreter);
        let (version, tag) = ANSWERS.or_ask(interpreter.to_owned(), interpreter, ask).await?;
        Ok(Runtime { executable, version, tag, origin })
    }

    async fn ask(&self, host: &dyn Host, interpreter: &Path) -> Result<Answer> {
        let broken = |problem: String| Error::Environment {
            problem: format!("`{}` {problem}", interpreter.display()),
            remedy: format!("give the path of a working {} as `executablePath`", self.language),
        };
        let spec = (self.question)(interpreter);
        let finished = host.run(&spec, deadlines::HELPER).await.map_err(|error| broken(error.to_string()))?;
        let lines: Vec<&str> = finished.stdout.lines().map(str::trim).collect();
        let Some(lines) = lines.last_chunk() else {
            return Err(broken(format!("does not report its version: {}", finished.stderr.trim())));
        };
        (self.read)(host, interpreter, lines.map(str::to_owned))
    }
}

/// Whether a program has this name, with or without a version: `php`, `php8.2`.
pub(super) fn is_called(path: &Path, name: &str) -> bool {
    let file = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let rest = file.strip_suffix(".exe").unwrap_or(&file).strip_prefix(name);
    rest.is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '-')))
}

/// The programs of this name on the search path, then those with a version, the newest first.
pub(super) fn on_path<'a>(
    host: &'a dyn Host,
    name: &'a str,
    majors: RangeInclusive<u32>,
) -> impl Iterator<Item = PathBuf> + 'a {
    let minors = move |major| (0..=9).rev().map(move |minor| format!("{name}{major}.{minor}"));
    let versions = majors.rev().flat_map(minors);
    std::iter::once(name.to_owned()).chain(versions).filter_map(|name| host.which(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_known_by_their_names() {
        for (name, expected) in
            [("php", true), ("/usr/bin/php8.2", true), ("phpunit", false), ("php-cgi", false)]
        {
            assert_eq!(is_called(Path::new(name), "php"), expected, "{name}");
        }
    }
}
