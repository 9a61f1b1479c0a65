//! `stillframe view` and `stillframe report`: what an agent does, or has done, by the journal alone.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tools::ops::recordings::{self, Library};
use viewer::log::Log;
use viewer::terminal::Options;
use viewer::web;

use crate::one_shot::RunContext;
use crate::signals::cancel_on_signal;
use crate::terminal;

/// What of the journal to show.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Show only this session: an ID, the start of one, a name, or `last`.
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Show it in the browser: print a local address and serve the page there until Ctrl-C.
    #[arg(long)]
    web: bool,
    /// Show this recording as a timeline in the browser: a name, or `last`.
    #[arg(long, value_name = "NAME", requires = "web", conflicts_with = "session")]
    recording: Option<String>,
    /// Port for --web [default: a free one].
    #[arg(long, value_name = "N", requires = "web")]
    port: Option<u16>,
}

/// Shows the journal until the user quits.
pub(crate) async fn run(args: &ViewArgs, run_context: RunContext) -> anyhow::Result<ExitCode> {
    if args.web {
        let library = recordings::library(&run_context.context());
        return serve(args, &journal(run_context.log_file)?, OfUser(library)).await;
    }
    let path = run_context.log_file;
    let without_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let options = Options { session: args.session.clone(), without_colour };
    viewer::terminal::run(&journal(path)?, &options)?;
    Ok(ExitCode::SUCCESS)
}

/// Serves the page until a signal comes. Needs no terminal.
async fn serve(args: &ViewArgs, path: &Path, recordings: OfUser) -> anyhow::Result<ExitCode> {
    let options = web::Options {
        session: args.session.clone(),
        port: args.port,
        recordings: Some(Arc::new(recordings)),
        recording: args.recording.clone(),
    };
    let server = web::Server::open(path, &options).await?;
    terminal::print(&format!("{}\n", server.url()))?;
    let shutdown = CancellationToken::new();
    tokio::spawn(cancel_on_signal(shutdown.clone()));
    server.serve(shutdown.cancelled_owned()).await;
    Ok(ExitCode::SUCCESS)
}

/// The user's recordings, for the browser.
#[derive(Debug)]
struct OfUser(Library);

impl web::Recordings for OfUser {
    fn list(&self) -> Value {
        recordings::listed(&self.0)
    }

    fn timeline(&self, name: &str, from: Option<i64>, to: Option<i64>) -> Result<Value, String> {
        recordings::calls(&self.0, name, from, to)
    }

    fn values(&self, name: &str, target: &str) -> Result<Value, String> {
        recordings::values(&self.0, name, target)
    }

    fn state(&self, name: &str, at: Option<&str>) -> Result<Value, String> {
        recordings::state(&self.0, name, at)
    }
}

/// Prints a session's report.
pub(crate) fn report(session: &str, path: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    let path = journal(path)?;
    if !path.exists() {
        bail!("there is no journal `{}`; for another one, use --log-file", path.display());
    }
    let mut log = Log::open(&path).with_context(|| format!("`{}` cannot be read", path.display()))?;
    log.complete();
    let session = log.find_session(session).map_err(|problem| anyhow!(problem))?;
    terminal::print(&viewer::report::report(&log, session))?;
    Ok(ExitCode::SUCCESS)
}

fn journal(path: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    path.context("the journal is off; give a journal with --log-file")
}
