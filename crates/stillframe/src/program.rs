//! The program to run, as `probe`, `trace` and `debug launch` take it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use engine::adapter::{self, Adapter, Machine, commands};
use engine::model::launch::{Launch, Program, Stdin};
use engine::session::Session;
use engine::sources;
use tools::Context;
use tools::ops::command::Command;
use tools::ops::lifecycle;

use crate::setup::cli_error;

/// What to run, and with what.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProgramArgs {
    /// Script to run, if it is not FILE.
    #[arg(long, value_name = "SCRIPT")]
    program: Option<PathBuf>,
    /// Module to run, as in `python -m`; in Node.js, a package with a command, such as `vitest`.
    #[arg(long, value_name = "NAME", conflicts_with = "program")]
    module: Option<String>,
    /// Interpreter, or a command that starts it, such as `npm`.
    #[arg(long, value_name = "PATH")]
    executable_path: Option<PathBuf>,
    /// Argument for the interpreter or command, before the script (repeatable).
    #[arg(long = "runtime-arg", value_name = "ARG", allow_hyphen_values = true)]
    runtime_args: Vec<String>,
    /// Working directory of the program.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// Environment variable for the program (repeatable).
    #[arg(long, value_name = "NAME=VALUE", value_parser = read_variable)]
    env: Vec<(String, String)>,
    /// File to use as the program's standard input.
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Show library frames, and stop in library code too.
    #[arg(long)]
    all_code: bool,
    /// Also debug C extensions that the interpreter loads, and stop at a crash in one.
    #[arg(long)]
    native_too: bool,
    /// Arguments for the program.
    #[arg(last = true)]
    args: Vec<String>,
}

fn read_variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl ProgramArgs {
    /// A session for the program, and how it is started. `file` is what is run when nothing else is named.
    pub(crate) fn open(self, file: &Path, context: &Context) -> anyhow::Result<(Session, Launch)> {
        let command = self.command(Some(file))?;
        let title = command.title();
        let Command { adapter, executable, launch } = command;
        let session = lifecycle::open(context, adapter.name(), Some(title), executable);
        Ok((session.map_err(cli_error)?, launch))
    }

    /// The program as a command. Without a file, the arguments are one.
    pub(crate) fn command(mut self, file: Option<&Path>) -> anyhow::Result<Command> {
        if let Some(command) = self.other_command(file) {
            return Ok(self.with_options(command));
        }
        if let Some(file) = file.map(Path::to_owned).or_else(|| self.program.clone()) {
            let (adapter, executable) = (self.adapter(&file)?, self.executable_path.clone());
            return Ok(Command { adapter, executable, launch: self.launch(adapter, &file) });
        }
        if self.module.is_some() || self.executable_path.is_some() || !self.runtime_args.is_empty() {
            bail!("FILE is missing; give a file, or a whole command such as `-- python3 -m NAME`");
        }
        let words = std::mem::take(&mut self.args);
        let command = Command::of_words(&Machine, words, self.cwd.clone()).map_err(cli_error)?;
        Ok(self.with_options(command))
    }

    /// `--executable-path cargo -- test`, where these words name the program: a build tool's package, or what is in
    /// another language than FILE, which is then of a child process.
    fn other_command(&self, file: Option<&Path>) -> Option<Command> {
        let executable =
            self.executable_path.as_ref().filter(|_| self.program.is_none() && self.module.is_none())?;
        let words = std::iter::once(executable.to_string_lossy().into_owned())
            .chain(self.runtime_args.iter().chain(&self.args).cloned());
        let command = Command::of_words(&Machine, words.collect(), self.cwd.clone()).ok()?;
        let of_file = file.and_then(adapter::by_extension);
        // A debugger, which an executable is too, is a binary.
        let is_other = of_file.is_some_and(|adapter| adapter.name() != command.adapter.name())
            && !command.adapter.facts().is_machine_code;
        (is_other || matches!(command.launch.program, Program::Package(_))).then_some(command)
    }

    /// A command with what the options say beside it.
    fn with_options(self, mut command: Command) -> Command {
        let rest = self.launch(command.adapter, Path::new(""));
        let launch = &mut command.launch;
        launch.env.extend(rest.env);
        (launch.stdin, launch.just_my_code) = (rest.stdin, rest.just_my_code);
        launch.native_too = rest.native_too;
        command
    }

    /// The language of the interpreter that is chosen.
    fn interpreter(&self) -> Option<&'static dyn Adapter> {
        let executable = self.executable_path.as_deref()?;
        let runs = |adapter: &&dyn Adapter| {
            adapter.process_identity().is_some_and(|identity| identity.may_be_interpreter(executable))
        };
        adapter::all().find(runs)
    }

    /// The language of the command that starts the program, such as `thor`.
    fn starter(&self) -> Option<&'static dyn Adapter> {
        let words = vec![self.executable_path.as_ref()?.to_string_lossy().into_owned()];
        let command = Command::of_words(&Machine, words, self.cwd.clone()).ok()?;
        (!command.adapter.facts().is_machine_code).then_some(command.adapter)
    }

    fn adapter(&self, place: &Path) -> anyhow::Result<&'static dyn Adapter> {
        // A module may be for another language than the place, which is then in a child process.
        if let Some(interpreter) = self.module.as_ref().and_then(|_| self.interpreter()) {
            return Ok(interpreter);
        }
        let file = self.program.as_deref().unwrap_or(place);
        let by_name = commands::by_program(&Machine, file).or_else(|| adapter::by_extension(place));
        by_name.or_else(|| self.interpreter()).or_else(|| self.starter()).ok_or_else(|| {
            let names: Vec<&str> = adapter::all().map(Adapter::name).collect();
            anyhow::anyhow!(
                "the language of `{}` is unknown; name what runs it as `--executable-path`; supported languages: {}",
                file.display(),
                names.join(", ")
            )
        })
    }

    fn launch(self, adapter: &dyn Adapter, file: &Path) -> Launch {
        let program = match (self.module, self.program) {
            (Some(module), _) => Program::Module(module),
            (None, Some(script)) => adapter.program(&Machine, sources::absolute(&script)),
            (None, None) if adapter.needs_no_program(self.executable_path.as_deref(), &self.runtime_args) => {
                Program::Command
            }
            (None, None) => adapter.program(&Machine, sources::absolute(file)),
        };
        Launch {
            args: self.args,
            runtime_args: self.runtime_args,
            cwd: self.cwd,
            env: self.env.into_iter().map(|(name, value)| (name, Some(value))).collect::<BTreeMap<_, _>>(),
            stdin: self.stdin.map_or(Stdin::Empty, |file| Stdin::File(sources::absolute(&file))),
            just_my_code: !self.all_code,
            native_too: self.native_too,
            ..Launch::new(program)
        }
    }
}
