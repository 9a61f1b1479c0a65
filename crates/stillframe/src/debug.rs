//! `stillframe debug`: a debug session that continues between commands.
//!
//! The session lives in a background process (`host.rs`), which is found by a file in the working directory
//! (`record.rs`) and answers calls of tools on a socket of this user alone. A command is some calls of the tools of
//! `standard` (`commands.rs`, by `client.rs`), and prints what they answer (`show.rs`) in the words of the command line
//! (`words.rs`). `start.rs` is what begins a session.

mod breakpoints;
mod client;
mod commands;
mod host;
mod record;
mod show;
mod start;
mod words;

use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand};
use tools::Toolset;
use tools::toolsets::standard;

use self::commands::Command;
use self::record::SessionPlace;
use self::start::{AttachArgs, LaunchArgs};
use crate::config::Settings;
use crate::one_shot::{INTERRUPTED, RunContext};
use crate::terminal;

/// The hidden first argument of the background process; the rest are those of the command that it is started by.
pub(crate) const ARGUMENT: &str = "__debug";

/// Whose tools are called.
const TOOLSETS: &[&Toolset] = &[&standard::TOOLSET];

/// What the exit codes of commands say that let the program run.
const EXIT_CODES: &str = "\
Exit codes: 0 stopped; 1 error; 2 usage error; 3 the program has ended;
  4 stopped at an uncaught exception; 5 still running at the timeout;
  130 interrupted: the program keeps running";

/// The session and the command.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  stillframe debug launch app.py --break app.py:42 -- --verbose
  stillframe debug eval 'len(items)'
  stillframe debug step into
  stillframe debug stop

A background process keeps the session. Commands find it through
.debug_session.json in the working directory or the nearest folder above it, up
to the root of the repository. It ends with `stop`, or after 15 minutes without
a command (--limit debug_idle=SECONDS with `launch` or `attach`)."
)]
pub(crate) struct DebugArgs {
    /// Session name, for several in one folder.
    #[arg(long, global = true, value_name = "NAME", value_parser = record::session_name)]
    session: Option<String>,
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Start a program and wait for its first stop.
    #[command(after_help = EXIT_CODES)]
    Launch(Box<LaunchArgs>),
    /// Attach to a running program, which keeps running after the session.
    Attach(AttachArgs),
    #[command(flatten)]
    Command(Command),
    /// List the sessions of this folder.
    List,
}

/// Runs the background process that keeps a session.
pub(crate) async fn keep(args: &DebugArgs, run_context: &RunContext) -> anyhow::Result<ExitCode> {
    host::keep(&SessionPlace::here(args.session.as_deref())?, run_context).await
}

/// Runs the command.
pub(crate) async fn run(args: DebugArgs, settings: &Settings) -> anyhow::Result<ExitCode> {
    let is_start = matches!(args.action, Action::Launch(_) | Action::Attach(_));
    if let Some(option) = settings.option().filter(|_| !is_start) {
        bail!("`{option}` applies to a whole session: pass it to `launch` or `attach`");
    }
    // What is to be hidden was hidden by the background process.
    terminal::show_credentials();
    let session = args.session.as_deref();
    let action = async {
        match args.action {
            Action::Launch(launch) => launch.run(session).await,
            Action::Attach(attach) => attach.run(session).await,
            Action::Command(command) => command.run(&mut record::find(session).await?).await,
            Action::List => commands::list().await,
        }
    };
    let shown = tokio::select! {
        shown = action => shown?,
        Ok(()) = tokio::signal::ctrl_c() => {
            terminal::hint(
                "interrupted: a started program keeps running; `stillframe debug pause` stops it, \
                 `stillframe debug stop` ends it",
            );
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    let as_json = || anyhow::Ok(serde_json::to_string_pretty(&shown.data)? + "\n");
    terminal::print(&if args.json { as_json()? } else { shown.text })?;
    Ok(ExitCode::from(shown.code))
}
