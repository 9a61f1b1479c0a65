//! A command that is run when the program listens.

use std::path::PathBuf;

use engine::adapter::{Machine, commands};
use engine::model::launch::{Launch, Program};
use engine::output::Output;
use engine::process::{Process, ProcessSpec};
use engine::safety::Safety;
use engine::session::Session;

use super::TriggerProgress;
use crate::ops::command::{self, Command};
use crate::ops::lifecycle;
use crate::{CommandLine, ToolError};

/// A command that runs when the program listens. There is no shell around it.
#[derive(Debug)]
pub struct Client(ProcessSpec);

impl Client {
    /// Reads a command, and refuses one that must not be started.
    pub fn read(command: &CommandLine, cwd: Option<PathBuf>, safety: &Safety) -> Result<Self, ToolError> {
        let words = command.words("run a script that does this")?;
        check_as_program(words.clone(), cwd.clone(), safety)?;
        let (env, words) = command::assignments(words);
        let mut words = words.into_iter();
        let name = words.next().filter(|name| !name.trim().is_empty());
        let name = name.ok_or_else(|| ToolError::argument("command", "is empty; give a command"))?;
        let (program, args): (PathBuf, Vec<String>) = (name.into(), words.collect());
        let mut launch = Launch::new(Program::Command);
        (launch.runtime_args, launch.cwd, launch.env) = (args.clone(), cwd.clone(), env.clone());
        safety.check_launch(&Machine, Some(&program), &launch, commands::names_files)?;
        let args = args.into_iter().map(Into::into).collect();
        Ok(Self(ProcessSpec { program, args, env, cwd, ..ProcessSpec::default() }))
    }

    /// Runs it to its end. It is killed when this is dropped.
    pub(super) async fn run(self, session: &Session, limit: usize) -> Result<TriggerProgress, String> {
        let output = Output::new();
        let process = Process::spawn(&self.0, session.id().as_str(), &output);
        let process = process.map_err(|error| error.to_string())?;
        let end = process.ended().await;
        Ok(TriggerProgress::Ended { end, output: output.tail(0, limit).text() })
    }
}

/// What is a program of a language passes the checks of a program. Where only some folders or languages may be
/// used, anything else is refused: what it would touch cannot be known.
fn check_as_program(words: Vec<String>, cwd: Option<PathBuf>, safety: &Safety) -> Result<(), ToolError> {
    match Command::of_words(&Machine, words, cwd) {
        Ok(Command { adapter, executable, launch, .. }) => {
            safety.check_language(adapter.name())?;
            lifecycle::check_program(safety, adapter, executable.as_deref(), &launch)
        }
        Err(_) if safety.roots.is_none() && safety.languages.is_none() => Ok(()),
        Err(error) => Err(error),
    }
}
