//! A command as typed, such as `node server.js` or `pytest -x`, parsed into a program to debug.
//!
//! No shell is started: the words say which language runs, and its program is started by its adapter. What the
//! words do not say is looked up where the command would be found, in the file's first bytes: a script names its
//! interpreter there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::adapter::commands::{self, CommandFile, CommandProblem};
use engine::adapter::{self, Adapter, Host};
use engine::model::launch::{Launch, Program};
use engine::sources;

use crate::{ArgumentList, CommandLine, ToolError};

/// A program, and how it is started.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its language.
    pub adapter: &'static dyn Adapter,
    /// The interpreter, or the command instead of it; none to search for it.
    pub executable: Option<PathBuf>,
    /// The rest.
    pub launch: Launch,
}

impl Command {
    /// Its display name, which is also its session's.
    pub fn title(&self) -> String {
        self.launch.title(self.executable.as_deref())
    }

    /// Reads a command: its words, and the arguments that follow them.
    ///
    /// `cwd` is where it is run; relative names are of that folder.
    pub fn read(
        host: &dyn Host,
        command: &CommandLine,
        args: Option<ArgumentList>,
        cwd: Option<PathBuf>,
    ) -> Result<Self, ToolError> {
        let mut words = match command {
            CommandLine::Typed(text) => typed_words(host, text, cwd.as_deref())?,
            CommandLine::Words(words) => words.clone(),
        };
        words.extend(args.into_iter().flat_map(|args| args.0));
        Self::of_words(host, words, cwd)
    }

    /// The same for words. One that has spaces may be a whole command in quotes.
    pub fn of_words(host: &dyn Host, words: Vec<String>, cwd: Option<PathBuf>) -> Result<Self, ToolError> {
        let words = match words.as_slice() {
            [text] if text.trim().contains(' ') => typed_words(host, text, cwd.as_deref())?,
            _ => words,
        };
        let cwd = cwd.map(|cwd| sources::absolute(&cwd));
        let folder = cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        let (env, words) = assignments(words);
        let mut words = without_wrapper(words)?.into_iter();
        let name = words.next().filter(|name| !name.trim().is_empty());
        let name = name.ok_or_else(|| ToolError::argument("command", "is empty; give a command"))?;
        let parsed = ParsedCommand { host, folder, name, args: words.collect() };
        let (adapter, executable, launch) = parsed.resolve()?;
        Ok(Self { adapter, executable, launch: Launch { cwd, env, ..launch } })
    }
}

/// The words of what was typed: the name of a file, which may have spaces, or else a command.
fn typed_words(host: &dyn Host, text: &str, cwd: Option<&Path>) -> Result<Vec<String>, ToolError> {
    let folder = cwd.map(sources::absolute).or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    if host.is_file(&folder.join(text)) {
        return Ok(vec![text.to_owned()]);
    }
    CommandLine::from(text).words("no shell runs here; give one program and its arguments")
}

/// A command split into name and arguments, with the folder it runs in.
struct ParsedCommand<'a> {
    host: &'a dyn Host,
    folder: PathBuf,
    name: String,
    args: Vec<String>,
}

/// Commands that run those of a file, in whatever language, and the option with which they print them.
const RUNNERS: [(&str, &str); 4] = [("make", "-n"), ("gmake", "-n"), ("just", "-n"), ("task", "--dry")];

/// Commands that make an environment and run another command in it.
const ENVIRONMENTS: [&str; 3] = ["uv", "uvx", "pixi"];

/// The language, the interpreter and the launch.
type ResolvedCommand = (&'static dyn Adapter, Option<PathBuf>, Launch);

impl ParsedCommand<'_> {
    fn resolve(self) -> Result<ResolvedCommand, ToolError> {
        let stem = Path::new(&self.name).file_name().map(|name| name.to_string_lossy().into_owned());
        let stem = stem.unwrap_or_default();
        for (adapter, commands) in commands::all() {
            if let Some(launch) = commands.of_interpreter(&stem, self.args.clone(), &self.folder) {
                let executable = Some(self.executable()).filter(|_| !commands.is_any_interpreter(&self.name));
                return Ok((adapter, executable, launch?));
            }
        }
        if let Some(adapter) = adapter::by_extension(Path::new(&self.name)) {
            let program = Program::Script(self.folder.join(&self.name));
            return Ok((adapter, None, Launch { args: self.args, ..Launch::new(program) }));
        }
        let path = self.find().ok_or_else(|| self.not_found(&stem))?;
        if let Some((name, prints)) = RUNNERS.iter().find(|(name, _)| *name == stem) {
            let printing = format!("`{name} {prints} {}` prints it", self.args.join(" "));
            return Err(ToolError::runs_other_commands(name, &printing));
        }
        if ENVIRONMENTS.contains(&stem.as_str()) {
            let there = "with the interpreter of the environment that it makes";
            return Err(ToolError::runs_other_commands(&stem, there));
        }
        let file = CommandFile::read(self.host, &stem, path);
        commands::of_file(&file, &self.args).ok_or_else(|| match &file.interpreter {
            Some(shell) if shell.ends_with("sh") => {
                ToolError::runs_other_commands(&self.name, "it is a shell script")
            }
            _ => ToolError::unknown_command(&self.name),
        })
    }

    /// The interpreter that is named: a path is one of the folder, a plain name is looked up later.
    fn executable(&self) -> PathBuf {
        if self.name.contains('/') { self.folder.join(&self.name) } else { PathBuf::from(&self.name) }
    }

    /// The file of a command: a path, a command of an installed package, or one on the search path.
    fn find(&self) -> Option<PathBuf> {
        if self.name.contains('/') {
            return Some(self.folder.join(&self.name)).filter(|path| self.host.is_file(path));
        }
        let folders: Vec<&str> =
            commands::all().flat_map(|(_, commands)| commands.folders()).copied().collect();
        // `/bin` belongs to the system, not to a package.
        let around = self.folder.ancestors().filter(|folder| folder.parent().is_some());
        let mut files = around.flat_map(|folder| folders.iter().map(|bin| folder.join(bin).join(&self.name)));
        files.find(|file| self.host.is_file(file)).or_else(|| self.host.which(&self.name))
    }

    fn not_found(&self, stem: &str) -> ToolError {
        let hint = commands::all().find_map(|(_, commands)| commands.install_hint(stem));
        let general = "check its name, or give its path, in quotes if it has spaces; relative paths start at the \
                       working directory";
        ToolError::no_command(&self.name, hint.unwrap_or(general))
    }
}

impl From<CommandProblem> for ToolError {
    fn from(CommandProblem { problem, next }: CommandProblem) -> Self {
        Self::argument("command", problem).and(next)
    }
}

/// What is added to the environment before a command, and the rest.
pub(super) fn assignments(words: Vec<String>) -> (BTreeMap<String, Option<String>>, Vec<String>) {
    let mut words = words.into_iter().peekable();
    words.next_if(|word| word == "env");
    let mut env = BTreeMap::new();
    let assigns = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_name(name));
    while let Some(word) = words.next_if(assigns) {
        if let Some((name, value)) = word.split_once('=') {
            env.insert(name.to_owned(), Some(value.to_owned()));
        }
    }
    (env, words.collect())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The command behind `uv run` and its like: its interpreter is that of the project's environment anyway.
fn without_wrapper(words: Vec<String>) -> Result<Vec<String>, ToolError> {
    let mut wrappers = commands::all().flat_map(|(_, commands)| commands.wrappers());
    let Some(wrapper) =
        wrappers.find(|wrapper| words.iter().zip(wrapper.words).all(|(word, part)| word == part))
    else {
        return Ok(words);
    };
    let mut rest = words.into_iter().skip(wrapper.words.len()).peekable();
    while let Some(option) = rest.next_if(|word| word.starts_with('-')) {
        let takes_value = |known: &&str| known.strip_suffix('=') == Some(option.as_str());
        let has_value = |known: &&str| known.ends_with('=') && option.starts_with(*known);
        if option == "--" {
            break;
        } else if let ("-m" | "--module", Some(interpreter)) = (option.as_str(), wrapper.module) {
            return Ok([interpreter.to_owned(), "-m".to_owned()].into_iter().chain(rest).collect());
        } else if wrapper.options.iter().any(takes_value) {
            rest.next();
        } else if !wrapper.options.iter().any(|known| *known == option || has_value(known)) {
            return Err(ToolError::wrapped(&wrapper.words.join(" "), &option));
        }
    }
    Ok(rest.collect())
}

#[cfg(test)]
mod tests;
