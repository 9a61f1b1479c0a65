//! `stillframe view`: watch what an agent does.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use viewer::terminal::Options;

/// Which journal, and what of it.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Show this session alone: its id, the beginning of its id, its name, or `last`.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The journal; otherwise the one in the user's state folder.
    #[arg(long, env = "STILLFRAME_LOG_FILE", value_name = "PATH")]
    log_file: Option<PathBuf>,
}

/// Shows it until the person leaves.
pub(crate) fn run(args: &ViewArgs) -> anyhow::Result<ExitCode> {
    let path = args.log_file.clone().or_else(engine::journal::default_path);
    let path = path.context("there is no home folder to look for the journal in; give --log-file")?;
    let without_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let options = Options { session: args.session.clone(), without_colour };
    viewer::terminal::run(&path, &options)?;
    Ok(ExitCode::SUCCESS)
}
