//! The session that a one-shot tool works in: one that is there, or a new one for the program that it starts.

use std::path::{Path, PathBuf};

use engine::adapter::commands::by_program;
use engine::adapter::{self, Machine};
use engine::model::launch::{Launch, Program};
use engine::session::Session;
use engine::sources;

use super::launch::ProgramParams;
use crate::ops::closing::CloseOnDrop;
use crate::ops::command::Command;
use crate::ops::{execution, lifecycle};
use crate::{CommandLine, Context, ToolError};

/// What the parameters of a one-shot tool say of its session.
pub(super) struct OneShotParams<'a> {
    /// The session that is named.
    pub(super) session_id: Option<&'a str>,
    /// What is started.
    pub(super) program: &'a ProgramParams,
    /// The same as one command line.
    pub(super) line: Option<&'a CommandLine>,
    pub(super) language: Option<&'a str>,
    pub(super) executable: Option<&'a Path>,
    /// Files that places are in.
    pub(super) files: Vec<&'a Path>,
}

/// The session of a one-shot tool.
pub(super) struct OneShotSession<'a> {
    /// Closes it when the call is cancelled, if it was opened for it: its ID is unknown to the client.
    closing: CloseOnDrop<'a>,
    /// It was opened for this call.
    pub(super) opened_here: bool,
    /// What is started, where a command line, or the executable and its arguments, say all of it.
    command: Option<Launch>,
    /// It starts a program.
    pub(super) starts: bool,
}

impl<'a> OneShotSession<'a> {
    /// Opens or finds it. `closes` is for one that is closed afterwards in any case.
    pub(super) fn open(
        context: &'a Context,
        asked: &OneShotParams<'_>,
        closes: bool,
    ) -> Result<Self, ToolError> {
        asked.check_line()?;
        let is_named = asked.session_id.is_some();
        let starts = asked.starts() || (!is_named && asked.has_arguments());
        let opened_here = starts && !is_named;
        let mut command = None;
        let session = if opened_here {
            if let Some(read) = asked.command()? {
                let name = read.title();
                let Command { adapter, executable, launch } = read;
                command = Some(launch);
                lifecycle::open(context, adapter.name(), Some(name), executable)?
            } else {
                let script = asked.program.script.clone();
                let name = script.map(|script| Launch::new(Program::Script(script)).title(None));
                let executable = asked.executable.map(Path::to_owned);
                lifecycle::open(context, &asked.language()?, name, executable)?
            }
        } else {
            let session = found(context, asked.session_id, "`program`, `module` or `command`")?;
            if !starts {
                execution::must_be_live(&session)?;
            }
            session
        };
        let closing = CloseOnDrop::new(context, &session, opened_here || closes);
        Ok(Self { closing, opened_here, command, starts })
    }

    /// The script of its command line, if that is what is started.
    pub(super) fn script(&self) -> Option<PathBuf> {
        match &self.command.as_ref()?.program {
            Program::Script(script) => Some(script.clone()),
            _ => None,
        }
    }

    /// What to start; none if the session's program continues.
    pub(super) fn launch(&mut self, params: ProgramParams) -> Result<Option<Launch>, ToolError> {
        if !self.starts {
            return Ok(None);
        }
        match self.command.take() {
            Some(command) => params.with_program_of(command).map(Some),
            None => params.launch("program", self.closing.session()).map(Some),
        }
    }

    pub(super) fn session(&self) -> Session {
        self.closing.session().clone()
    }

    /// The call is done: closes the session or leaves it open.
    pub(super) async fn settle(self, close: bool) {
        self.closing.settle(close).await;
    }
}

/// The session of that ID, or the only one. Where there is none, the arguments are named that start a program.
pub(super) fn found(context: &Context, id: Option<&str>, starting: &str) -> Result<Session, ToolError> {
    context.session(id).map_err(|error| match id {
        None if context.sessions.list().is_empty() => ToolError::nothing_to_run(starting),
        _ => error,
    })
}

impl OneShotParams<'_> {
    /// Whether there is a program to start in the session that is named.
    fn starts(&self) -> bool {
        let ProgramParams { script, module, runtime_args, .. } = self.program;
        script.is_some() || module.is_some() || runtime_args.is_some()
    }

    /// Whether there are arguments that only a start has.
    fn has_arguments(&self) -> bool {
        self.line.is_some() || self.executable.is_some() || self.program.args.is_some()
    }

    /// A command line says all of what to start, but for its arguments.
    fn check_line(&self) -> Result<(), ToolError> {
        let others = [
            ("sessionId", self.session_id.is_some()),
            ("program", self.program.script.is_some()),
            ("module", self.program.module.is_some()),
            ("executablePath", self.executable.is_some()),
            ("runtimeArgs", self.program.runtime_args.is_some()),
        ];
        let other = others.into_iter().find(|(_, is_given)| self.line.is_some() && *is_given);
        if let Some((name, _)) = other {
            return Err(ToolError::argument("command", format!("cannot be combined with `{name}`")));
        }
        let is_line = |program: &&PathBuf| {
            program.to_string_lossy().trim().contains(' ') && !sources::absolute(program).exists()
        };
        match self.program.script.as_ref().filter(is_line) {
            Some(_) => Err(ToolError::argument("program", "is not a file; pass a command line as `command`")),
            None => Ok(()),
        }
    }

    /// What a command line starts, or an executable and its arguments where nothing else says what to run: an
    /// interpreter with a script, or a command such as a test runner.
    fn command(&self) -> Result<Option<Command>, ToolError> {
        let args = self.program.args.clone().filter(|args| !args.0.is_empty());
        let cwd = self.program.cwd.clone();
        if let Some(line) = self.line {
            return Command::read(&Machine, line, args, cwd).map(Some);
        }
        let Some(executable) = self.executable.filter(|_| !self.starts()) else { return Ok(None) };
        let has_args = args.is_some();
        let words = std::iter::once(executable.to_string_lossy().into_owned());
        let words = words.chain(args.unwrap_or_default().0).collect();
        let command = Command::of_words(&Machine, words, cwd);
        let runs = |command: &Command| {
            command.launch.program != Program::Command
                || command
                    .adapter
                    .needs_no_program(command.executable.as_deref(), &command.launch.runtime_args)
        };
        // In a language that is named, it may be a script that is not recognized.
        let is_of_language = || {
            let adapter = self.language.and_then(adapter::by_name);
            adapter.is_some_and(|adapter| adapter.needs_no_program(Some(executable), &[]))
        };
        match command {
            Err(error) if error.code == "command_unknown" && is_of_language() => Ok(None),
            Err(error) if error.code != "invalid_arguments" || has_args => Err(error),
            Ok(command) if runs(&command) => Ok(Some(command)),
            _ => Err(ProgramParams::missing("program")),
        }
    }

    fn language(&self) -> Result<String, ToolError> {
        if let Some(language) = self.language {
            return Ok(language.to_owned());
        }
        let ProgramParams { script, module, cwd, .. } = self.program;
        let files = script.as_deref().into_iter().chain(self.files.iter().copied());
        let by_file = files.into_iter().find_map(|file| by_program(&Machine, file));
        let by_module = || {
            let folder = cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
            module.as_deref().map(|module| adapter::by_module(&Machine, &folder, module))
        };
        let adapter = by_file.or_else(by_module);
        let missing = || match script.as_deref().map(sources::absolute).and_then(lifecycle::not_a_file) {
            _ if !self.starts() && self.files.is_empty() => ProgramParams::missing("program"),
            Some(problem) => problem.into(),
            None => ToolError::argument("language", "is missing, and the program does not determine it"),
        };
        let adapter = adapter.ok_or_else(missing)?;
        Ok(adapter.name().to_owned())
    }
}
