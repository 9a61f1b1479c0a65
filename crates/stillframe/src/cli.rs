//! The command line: what can be asked, and who answers.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValue;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use engine::adapter::{Adapter, Host, Machine};
use engine::process::presence;
use journal::{Journal, default_path};
use tools::{Toolset, toolsets};

use crate::config::{self, ConfigArgs, Settings};
use crate::debug::{self, DebugArgs};
use crate::hang::HangArgs;
use crate::one_shot::RunContext;
use crate::probe::ProbeArgs;
use crate::signals::outlive_full_files;
use crate::test::TestArgs;
use crate::trace::TraceArgs;
use crate::view::ViewArgs;
use crate::{doctor, hang, listing, mcp, probe, setup, terminal, test, trace, view};

/// A run-time debugger for AI agents: stops programs at the right moment and shows real values.
#[derive(Debug, Parser)]
#[command(name = "stillframe", version, max_term_width = 80)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Where it is written down what happens; `off` for nowhere. It is in your state folder otherwise.
    /// [env: `STILLFRAME_LOG_FILE`]
    #[arg(long, global = true, value_name = "PATH")]
    log_file: Option<OsString>,
    #[command(flatten)]
    redact: RedactArg,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Debug, clap::Args)]
struct RedactArg {
    /// Redact likely credentials in answers (default), by shape and by name; `false` shows them. In the log file
    /// they are always redacted. [env: `STILLFRAME_REDACT`]
    #[arg(
        long,
        global = true,
        value_name = "BOOL",
        default_value = "true",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set,
        value_parser = config::yes_or_no,
        hide_default_value = true
    )]
    redact: bool,
    /// Show likely credentials in answers. In the log file they are still redacted.
    #[arg(long, global = true)]
    no_redact: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a program, stop at a place, print what is there, and end it.
    Probe(Box<ProbeArgs>),
    /// Run a program, and print the values of expressions at each pass of a place.
    Trace(Box<TraceArgs>),
    /// Run tests, and print what made the first one fail, as it was when it was thrown.
    Test(Box<TestArgs>),
    /// Run a command, and find out why it does not end.
    Hang(Box<HangArgs>),
    /// Keep a debug session from command to command: step, look, go on.
    Debug(DebugArgs),
    /// Serve MCP on standard input and output, or by HTTP.
    Serve {
        #[command(flatten)]
        toolset: ToolsetArg,
        #[command(flatten)]
        http: mcp::HttpArgs,
    },
    /// Watch what an agent does, or has done: in the terminal, or in the browser.
    View(ViewArgs),
    /// Print the story of a session as Markdown: what was asked, where it stopped, what was seen.
    Report {
        /// Its id, the beginning of its id, or its name.
        #[arg(default_value = "last")]
        session: String,
    },
    /// Tell per language what works here, what is missing and how to get it.
    Doctor {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Install the debugger of a language into stillframe's own cache, ahead of time.
    Setup {
        /// The language.
        #[arg(value_parser = languages())]
        language: String,
        /// The interpreter to install it for.
        #[arg(long, value_name = "PATH")]
        executable_path: Option<PathBuf>,
    },
    /// List the tools that agents are offered.
    Tools {
        #[command(flatten)]
        toolset: ToolsetArg,
        /// Print JSON, with the schemas.
        #[arg(long)]
        json: bool,
    },
    /// Print what holds of all that can be set, and where each is from.
    Config {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script.
    Completions {
        /// For which shell.
        shell: Shell,
    },
}

#[derive(Debug, clap::Args)]
struct ToolsetArg {
    /// The vocabularies to offer, separated by commas; `all` is all of them. It is `standard` otherwise.
    /// [env: `STILLFRAME_TOOLSET`]
    #[arg(long, value_parser = choose)]
    toolset: Option<Chosen>,
}

impl ToolsetArg {
    /// What was asked for, here or in the configuration.
    fn chosen(self, settings: &Settings) -> anyhow::Result<Vec<&'static Toolset>> {
        if let Some(Chosen(toolsets)) = self.toolset {
            return Ok(toolsets);
        }
        let names = settings.toolset.as_deref().unwrap_or("standard");
        toolsets::choose(names).map_err(anyhow::Error::msg)
    }
}

/// Chosen toolsets; clap would take a bare vector for an option that is given several times.
#[derive(Clone, Debug)]
struct Chosen(Vec<&'static Toolset>);

fn choose(names: &str) -> Result<Chosen, String> {
    toolsets::choose(names).map(Chosen)
}

/// The languages, each under its other names too.
pub(crate) fn languages() -> clap::builder::PossibleValuesParser {
    let value = |adapter: &&dyn Adapter| PossibleValue::new(adapter.name()).aliases(adapter.aliases());
    engine::adapter::ADAPTERS.iter().map(value).collect::<Vec<_>>().into()
}

/// What was asked for.
pub(crate) struct Asked {
    cli: Cli,
    /// With where each value is from.
    matches: ArgMatches,
    /// This is the background process of a debug session, which that command begins.
    keeps_session: bool,
}

/// Reads the command line; on a mistake, says what was wrong and ends with code 2.
pub(crate) fn parse() -> Asked {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let keeps_session = words.get(1).is_some_and(|word| word == debug::ARGUMENT);
    if keeps_session {
        words.remove(1);
    }
    let matches = Cli::command().get_matches_from(words);
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    Asked { cli, matches, keeps_session }
}

/// Where the journal is; none for nowhere.
fn log_file(given: Option<String>) -> Option<PathBuf> {
    let path = given.map(PathBuf::from).or_else(default_path);
    path.filter(|path| path.as_os_str() != "off")
}

/// Does what was asked.
pub(crate) async fn run(Asked { cli, matches, keeps_session }: Asked) -> anyhow::Result<ExitCode> {
    if let Command::Completions { shell } = cli.command {
        return completions(shell);
    }
    outlive_full_files();
    let settings = Settings::read(&cli.config, &matches)?;
    if settings.shows_credentials {
        terminal::show_credentials();
    }
    let log_file = log_file(settings.log_file.clone());
    let debugs = keeps_session
        || matches!(
            cli.command,
            Command::Probe(_)
                | Command::Trace(_)
                | Command::Test(_)
                | Command::Hang(_)
                | Command::Serve { .. }
        );
    let journal = match log_file.clone().filter(|_| debugs) {
        Some(path) => Journal::open(settings.rules().journal(path)),
        None => Journal::none(),
    };
    if debugs {
        presence::begin(&Machine.cache_dir());
    }
    let run_context = RunContext {
        journal: journal.clone(),
        log_file,
        shows_credentials: settings.shows_credentials,
        policy: settings.policy(),
    };
    let code = match cli.command {
        Command::Debug(args) if keeps_session => debug::keep(&args, &run_context).await,
        command => run_command(command, run_context, &settings).await,
    };
    presence::end();
    journal.flush();
    code
}

async fn run_command(
    command: Command,
    run_context: RunContext,
    settings: &Settings,
) -> anyhow::Result<ExitCode> {
    match command {
        Command::Probe(args) => probe::run(*args, run_context).await,
        Command::Trace(args) => trace::run(*args, run_context).await,
        Command::Test(args) => test::run(*args, run_context).await,
        Command::Hang(args) => hang::run(*args, run_context).await,
        Command::Debug(args) => debug::run(args, settings).await,
        Command::Serve { toolset, http } => {
            let toolsets = toolset.chosen(settings)?;
            match http.http {
                Some(address) => mcp::serve_http(&http, address, toolsets, run_context).await,
                None => mcp::serve(toolsets, run_context).await,
            }
        }
        Command::View(args) => view::run(&args, run_context.log_file).await,
        Command::Report { session } => view::report(&session, run_context.log_file),
        Command::Doctor { json } => doctor::run(json, &settings.rules().safety).await,
        Command::Setup { language, executable_path } => {
            setup::run(&language, executable_path.as_deref()).await
        }
        Command::Tools { toolset, json } => listing::run(&toolset.chosen(settings)?, json),
        Command::Config { json } => config::run(settings, json),
        Command::Completions { shell } => completions(shell),
    }
}

fn completions(shell: Shell) -> anyhow::Result<ExitCode> {
    // Into memory first: the generator panics when a reader goes away.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "stillframe", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Agents do what the skill says.
    #[test]
    fn the_skill_gives_commands_that_there_are() {
        let skill = include_str!("../../../skills/stillframe/SKILL.md");
        let commands = skill.lines().filter(|line| line.starts_with("stillframe "));
        let commands: Vec<Vec<&str>> = commands.map(words).collect();
        assert_eq!(commands.len(), 18);
        for command in commands {
            let read = Cli::try_parse_from(&command);
            assert!(read.is_ok(), "{command:?}: {}", read.unwrap_err());
        }
    }

    /// The words of a command, some of which stand in single quotes.
    fn words(command: &'static str) -> Vec<&'static str> {
        let parts = command.split('\'').enumerate();
        let of_part = |(at, part): (usize, &'static str)| {
            if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
        };
        parts.flat_map(of_part).collect()
    }
}
