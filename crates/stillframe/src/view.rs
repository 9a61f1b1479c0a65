//! `stillframe view`: watch what an agent does.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use viewer::terminal::Options;

/// What of the journal to show.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Show this session alone: its id, the beginning of its id, its name, or `last`.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// Shows a journal until the person leaves.
pub(crate) fn run(args: &ViewArgs, journal: Option<&Path>) -> anyhow::Result<ExitCode> {
    let path = journal.context("there is no journal to show; give its path with --log-file")?;
    let without_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let options = Options { session: args.session.clone(), without_colour };
    viewer::terminal::run(path, &options)?;
    Ok(ExitCode::SUCCESS)
}
