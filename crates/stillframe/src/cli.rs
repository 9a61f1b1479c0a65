//! The command line: arguments, and the module that runs each command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::builder::PossibleValue;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use engine::adapter::{Adapter, Host, Machine};
use engine::process::presence;
use journal::{Journal, default_path};
use tools::{LocationArg, Toolset, toolsets};

use crate::config::{self, ConfigArgs, ServerSafetyArgs, Settings};
use crate::debug::{self, DebugArgs};
use crate::hang::HangArgs;
use crate::init::{self, InitArgs};
use crate::one_shot::RunContext;
use crate::probe::ProbeArgs;
use crate::record::{AskArgs, RecordArgs, RecordingsArgs};
use crate::signals::outlive_full_files;
use crate::test::TestArgs;
use crate::trace::TraceArgs;
use crate::via::{PlaceArgs, RemoteSetup, ViaArgs};
use crate::view::ViewArgs;
use crate::{doctor, hang, listing, mcp, probe, record, setup, terminal, test, trace, via, view};

/// A run-time debugger for AI agents: stop programs at the right moment and inspect real values.
#[derive(Debug, Parser)]
#[command(name = "stillframe", version, max_term_width = 80)]
struct Cli<C: Subcommand = Command> {
    #[command(subcommand)]
    command: C,
    /// Journal file, or `off`. Defaults to a file in your state folder. [env: `STILLFRAME_LOG_FILE`]
    #[arg(long, global = true, value_name = "PATH")]
    log_file: Option<OsString>,
    #[command(flatten)]
    redact: RedactArg,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Debug, clap::Args)]
struct RedactArg {
    /// Redact likely credentials in answers (default), by shape and by name. The journal is always redacted.
    /// [env: `STILLFRAME_REDACT`]
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
    /// Show likely credentials in answers. The journal stays redacted.
    #[arg(long, global = true)]
    no_redact: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a program, stop at a location, print its state, and end it.
    Probe {
        #[command(flatten)]
        args: Box<ProbeArgs>,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Run a program and print the values of expressions at each hit of a location.
    Trace {
        #[command(flatten)]
        args: Box<TraceArgs>,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Run tests and print the first failure with its state at the throw.
    Test {
        #[command(flatten)]
        args: Box<TestArgs>,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Run a command and find out why it does not finish.
    Hang {
        #[command(flatten)]
        args: Box<HangArgs>,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Run a program and record every line, call and value change, for `ask`.
    Record(RecordArgs),
    /// Ask a recording: when a value went wrong, what wrote it, what the state was.
    Ask(AskArgs),
    /// List, export and remove recordings.
    Recordings(RecordingsArgs),
    /// Serve a recording to an editor: a debug adapter (DAP) on standard input and output.
    Dap {
        /// Name of the recording, if the editor's configuration has no `recording`.
        #[arg(default_value = "last")]
        recording: String,
    },
    /// Debug one command at a time: keep a session, step, inspect, continue.
    Debug(DebugArgs),
    /// Start the MCP server, on standard input and output or over HTTP.
    Serve(ServeArgs),
    /// Watch an agent's sessions, live or recorded, in the terminal or in the browser.
    View(ViewArgs),
    /// Print a session as a Markdown report: calls, stops and values.
    Report {
        /// Session ID, the start of one, a name, or `last`.
        #[arg(default_value = "last")]
        session: String,
    },
    /// Add stillframe to the agents on this machine: the server and the skill.
    Init(InitArgs),
    /// Check which languages work here, and how to get the rest.
    Doctor {
        /// Start the server as this host would, and check that it works.
        #[arg(long, value_name = "HOST", value_parser = init::names(), conflicts_with_all = ["adapter", "at", "program"])]
        host: Option<String>,
        /// Try one language, or an adapter that the configuration describes.
        #[arg(long, value_name = "NAME")]
        adapter: Option<String>,
        /// Where to stop in the program used to try the adapter: `FILE:LINE`.
        #[arg(long, value_name = "PLACE", requires = "adapter")]
        at: Option<LocationArg>,
        /// Program to try the adapter with, if it is not FILE.
        #[arg(long, value_name = "PROGRAM", requires = "at")]
        program: Option<PathBuf>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Install a language's debugger into stillframe's cache ahead of time.
    Setup {
        /// Language to set up.
        #[arg(value_parser = languages())]
        language: String,
        /// Interpreter to install it for.
        #[arg(long, value_name = "PATH")]
        executable_path: Option<PathBuf>,
    },
    /// List the MCP tools offered to agents.
    Tools {
        #[command(flatten)]
        toolset: ToolsetArg,
        /// Print JSON, including the schemas.
        #[arg(long)]
        json: bool,
    },
    /// Show effective settings and their sources.
    Config {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script.
    Completions {
        /// Shell to print it for.
        shell: Shell,
    },
    /// Find files by their names, sizes and hashes, for a relay.
    #[command(hide = true)]
    MatchSources,
    /// Write the manual pages, one for each command.
    #[command(hide = true)]
    Manual {
        /// Folder to write them to.
        folder: PathBuf,
    },
}

/// The command that agents' hosts start.
#[derive(Debug, Subcommand)]
enum ServeOnly {
    Serve(ServeArgs),
}

#[derive(Debug, clap::Args)]
struct ServeArgs {
    #[command(flatten)]
    toolset: ToolsetArg,
    #[command(flatten)]
    http: mcp::HttpArgs,
    #[command(flatten)]
    safety: ServerSafetyArgs,
    #[command(flatten)]
    via: ViaArgs,
}

#[derive(Debug, clap::Args)]
struct ToolsetArg {
    /// Toolsets to offer, separated by commas, or `all` [default: standard] [env: `STILLFRAME_TOOLSET`]
    #[arg(long, value_parser = choose)]
    toolset: Option<ToolsetList>,
}

impl ToolsetArg {
    /// The toolsets from the option, or else from the configuration.
    fn chosen(self, settings: &Settings) -> anyhow::Result<Vec<&'static Toolset>> {
        if let Some(ToolsetList(toolsets)) = self.toolset {
            return Ok(toolsets);
        }
        let names = settings.toolset.as_deref().unwrap_or("standard");
        toolsets::choose(names).map_err(anyhow::Error::msg)
    }
}

/// Chosen toolsets; clap would take a bare vector for an option that is given several times.
#[derive(Clone, Debug)]
struct ToolsetList(Vec<&'static Toolset>);

fn choose(names: &str) -> Result<ToolsetList, String> {
    toolsets::choose(names).map(ToolsetList)
}

/// The languages, each under its other names too.
pub(crate) fn languages() -> clap::builder::PossibleValuesParser {
    let value = |adapter: &&dyn Adapter| PossibleValue::new(adapter.name()).aliases(adapter.facts().aliases);
    engine::adapter::ADAPTERS.iter().map(value).collect::<Vec<_>>().into()
}

/// How many words an option of every command has, with its value. None for what is not such an option.
pub(crate) fn option_length(word: &str) -> Option<usize> {
    let option = word.strip_prefix("--")?;
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let command = Cli::<ServeOnly>::command();
    let argument = command.get_arguments().find(|argument| argument.get_long() == Some(name))?;
    let has_next =
        value.is_none() && argument.get_action().takes_values() && !argument.is_require_equals_set();
    Some(1 + usize::from(has_next))
}

/// The parsed command line.
pub(crate) struct ParsedCommandLine {
    cli: Cli,
    /// The same with the source of each value.
    matches: ArgMatches,
    /// Whether this is the background process of a debug session.
    keeps_session: bool,
    /// Whether a relay has started this.
    is_relayed: bool,
}

impl ParsedCommandLine {
    /// Whether one thread is enough: the messages of one client, whose calls wait for programs nearly all the time. What
    /// computes for long runs on a thread of its own, as every file that is searched or parsed does.
    pub(crate) fn serves_one_client(&self) -> bool {
        matches!(&self.cli.command, Command::Serve(args) if args.http.http.is_none())
    }
}

/// Parses the command line; on a mistake, reports it and exits with code 2.
pub(crate) fn parse() -> ParsedCommandLine {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let mut begins_with = |argument: &str| {
        let found = words.get(1).is_some_and(|word| word == argument);
        found.then(|| words.remove(1)).is_some()
    };
    let (keeps_session, is_relayed) = (begins_with(debug::ARGUMENT), begins_with(via::RELAYED));
    let (cli, matches) = read_serve(&words).unwrap_or_else(|| {
        let matches = command().get_matches_from(words);
        let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        (cli, matches)
    });
    ParsedCommandLine { cli, matches, keeps_session, is_relayed }
}

/// The command line. Options of every command are in the help of stillframe, and not in that of each command.
fn command() -> clap::Command {
    let command = <Cli>::command();
    let common: Vec<clap::Arg> = command
        .get_arguments()
        .filter(|option| option.is_global_set())
        .map(|option| option.clone().hide(true))
        .collect();
    command.mut_subcommands(|command| with_common(command, &common))
}

fn with_common(command: clap::Command, common: &[clap::Arg]) -> clap::Command {
    let mut help = command.get_after_help().map(|help| format!("{help}\n\n")).unwrap_or_default();
    help.push_str("Options of every command: stillframe --help");
    command.args(common).after_help(help).mut_subcommands(|command| with_common(command, common))
}

/// Reads the command line of a server without building the arguments of all commands, which takes half of its start.
/// None for mistakes and help, whose texts are about the whole command line.
fn read_serve(words: &[OsString]) -> Option<(Cli, ArgMatches)> {
    if words.get(1)? != "serve" {
        return None;
    }
    let matches = Cli::<ServeOnly>::command().try_get_matches_from(words).ok()?;
    let Cli { command: ServeOnly::Serve(args), log_file, redact, config } =
        Cli::from_arg_matches(&matches).ok()?;
    Some((Cli { command: Command::Serve(args), log_file, redact, config }, matches))
}

/// The journal's path; none if it is off.
fn log_file(given: Option<String>) -> Option<PathBuf> {
    let path = given.map(PathBuf::from).or_else(default_path);
    path.filter(|path| path.as_os_str() != "off")
}

/// Runs the command.
pub(crate) async fn run(
    ParsedCommandLine { cli, matches, keeps_session, is_relayed }: ParsedCommandLine,
) -> anyhow::Result<ExitCode> {
    if let Command::Completions { shell } = cli.command {
        return completions(shell);
    }
    if let Command::Manual { folder } = &cli.command {
        std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(<Cli>::command(), folder))
            .with_context(|| format!("cannot write manual pages into `{}`", folder.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if matches!(cli.command, Command::MatchSources) {
        return via::match_sources().map(|()| ExitCode::SUCCESS);
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
            Command::Probe { .. }
                | Command::Trace { .. }
                | Command::Test { .. }
                | Command::Hang { .. }
                | Command::Record(_)
                | Command::Serve(_)
        );
    let policy =
        if matches!(cli.command, Command::Serve(_)) { settings.server_policy() } else { settings.policy() };
    let journal = match log_file.clone().filter(|_| debugs) {
        Some(_) if is_relayed => via::journal(&policy),
        Some(path) => Journal::open(policy.journal(path)),
        None => Journal::none(),
    };
    if debugs {
        presence::begin(&Machine.cache_dir());
    }
    let run_context = RunContext {
        journal: journal.clone(),
        log_file,
        shows_credentials: settings.shows_credentials,
        policy,
        is_relayed,
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
        Command::Probe { place, args } if place.is_given() => {
            via::run_command(place, args.presentation(), settings, run_context).await
        }
        Command::Trace { place, args } if place.is_given() => {
            via::run_command(place, args.presentation(), settings, run_context).await
        }
        Command::Test { place, args } if place.is_given() => {
            via::run_command(place, args.presentation(), settings, run_context).await
        }
        Command::Hang { place, args } if place.is_given() => {
            via::run_command(place, args.presentation(), settings, run_context).await
        }
        Command::Probe { args, .. } => probe::run(*args, run_context).await,
        Command::Trace { args, .. } => trace::run(*args, run_context).await,
        Command::Test { args, .. } => test::run(*args, run_context).await,
        Command::Hang { args, .. } => hang::run(*args, run_context).await,
        Command::Record(args) => record::record(args, run_context).await,
        Command::Ask(args) => record::ask(args, run_context).await,
        Command::Recordings(args) => record::recordings(args, run_context).await,
        Command::Dap { recording } => record::serve(&recording, &run_context).await,
        Command::Debug(args) => debug::run(args, settings).await,
        // The options for safety are among the settings.
        Command::Serve(ServeArgs { toolset, http, safety: _, via }) => {
            let toolsets = toolset.chosen(settings)?;
            let remotes = RemoteSetup::new(&toolsets, settings, &run_context);
            let offer = mcp::ServerFeatures::new(toolsets.clone(), settings.confirms());
            match http.http {
                Some(address) => mcp::serve_http(&http, address, offer, run_context, remotes).await,
                None if via.place().is_given() => via::serve(via, &toolsets, settings, run_context).await,
                None => mcp::serve(offer, run_context, remotes).await,
            }
        }
        Command::View(args) => view::run(&args, run_context).await,
        Command::Report { session } => view::report(&session, run_context.log_file),
        Command::Init(args) => init::run(&args),
        Command::Doctor { host: Some(host), json, .. } => doctor::try_host(&host, json).await,
        Command::Doctor { adapter: Some(name), at, program, json, .. } => {
            doctor::try_adapter(&name, (at, program), json, settings.policy()).await
        }
        Command::Doctor { json, .. } => doctor::run(json, &settings.rules().safety).await,
        Command::Setup { language, executable_path } => {
            setup::run(&language, executable_path.as_deref()).await
        }
        Command::Tools { toolset, json } => listing::run(&toolset.chosen(settings)?, json),
        Command::Config { json } => config::run(settings, json),
        Command::Completions { shell } => completions(shell),
        // Done before there is anything to run.
        Command::Manual { .. } | Command::MatchSources => Ok(ExitCode::SUCCESS),
    }
}

fn completions(shell: Shell) -> anyhow::Result<ExitCode> {
    let all = <Cli>::command();
    // Completions offer what is hidden, too.
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set());
    let command = clap::Command::new("stillframe").version(env!("CARGO_PKG_VERSION"));
    let mut command = command.args(all.get_arguments()).subcommands(shown);
    // Into memory first: the generator panics when a reader goes away.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "stillframe", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Cli>::command().debug_assert();
        Cli::<ServeOnly>::command().debug_assert();
    }

    /// Agents do what the skill says.
    #[test]
    fn the_skill_uses_only_existing_commands() {
        let skill = include_str!("../SKILL.md");
        let commands = skill.lines().filter(|line| line.starts_with("stillframe "));
        let commands: Vec<Vec<&str>> = commands.map(words).collect();
        assert_eq!(commands.len(), 22);
        for command in commands {
            let read = <Cli>::try_parse_from(&command);
            assert!(read.is_ok(), "{command:?}: {}", read.unwrap_err());
        }
    }

    /// The words of a command, which may be in single quotes.
    fn words(command: &'static str) -> Vec<&'static str> {
        let parts = command.split('\'').enumerate();
        let of_part = |(at, part): (usize, &'static str)| {
            if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
        };
        parts.flat_map(of_part).collect()
    }
}
