//! `stillframe hang`: run a command, and find out why it does not end.

pub(crate) mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use engine::adapter::{Machine, by_name};
use engine::model::launch::{Attach, Endpoint, Stdin};
use engine::session::Session;
use tools::Context;
use tools::ops::command::Command;
use tools::ops::hang::{self, Diagnosis, HangRequest, Verdict};
use tools::ops::lifecycle;
use tools::ops::run_until::whole;
use tools::ops::settle::Wait;
use tools::render::HangReport;

use crate::one_shot::{CommandOutput, CommandReport, LONGEST_TIMEOUT, OneShot, Presentation, RunContext};
use crate::setup::cli_error;

/// What to run, and how long.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 finished successfully; 1 error in stillframe; 2 usage error;
  3 waiting, as a server does; 4 hung: a busy loop, a busy event loop or a
  deadlock; 5 still computing at the timeout; 6 failed: exited with an error
  or by a signal; 130 interrupted")]
pub(crate) struct HangArgs {
    /// Seconds to watch the program.
    #[arg(long, value_name = "SECONDS", default_value_t = hang::TIMEOUT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=LONGEST_TIMEOUT))]
    timeout: u64,
    /// Milliseconds between samples.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    interval: u64,
    /// Working directory of the program.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// Watch this running process, and leave it running.
    #[arg(long, value_name = "PID", requires = "language", conflicts_with = "command")]
    pid: Option<u32>,
    /// Language of that process.
    #[arg(long, value_parser = crate::cli::languages())]
    language: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Command to run: `node server.js`, `python -m app`, `npm test`.
    #[arg(last = true, required_unless_present = "pid", value_name = "COMMAND")]
    command: Vec<String>,
}

impl CommandReport for HangReport {
    fn text(&self) -> String {
        report::to_text(self)
    }
}

impl HangArgs {
    /// How its report is printed.
    pub(crate) fn presentation(&self) -> Presentation {
        Presentation::of::<HangReport>(self.json)
    }
}

/// Runs the command.
pub(crate) async fn run(args: HangArgs, run_context: RunContext) -> anyhow::Result<ExitCode> {
    let one_shot = OneShot { name: "hang", run_context, as_json: args.json, patience: 1 };
    let operation = async |context: &Context| {
        let found = diagnose(args, context).await?;
        let code = exit_code(found.verdict);
        let report = HangReport::new(found);
        CommandOutput::new(&report, code)
    };
    one_shot.run(operation).await
}

async fn diagnose(args: HangArgs, context: &Context) -> anyhow::Result<Diagnosis> {
    let wait = Wait { timeout: Duration::from_secs(args.timeout), limits: whole(context.bounds()) };
    let (session, launch) = if let Some(pid) = args.pid {
        (attach(&args, pid, wait, context).await?, None)
    } else {
        let mut command = Command::of_words(&Machine, args.command, args.cwd).map_err(cli_error)?;
        command.launch.stdin = Stdin::Open;
        let session = context.sessions.open(command.adapter, command.title(), command.executable)?;
        (session, Some(command.launch))
    };
    let interval = Duration::from_millis(args.interval);
    let request = HangRequest { launch, interval, leave_paused: false, wait };
    hang::hang(&session, request, context).await.map_err(cli_error)
}

async fn attach(args: &HangArgs, pid: u32, wait: Wait, context: &Context) -> anyhow::Result<Session> {
    let adapter = args.language.as_deref().and_then(by_name);
    let adapter = adapter.ok_or_else(|| anyhow::anyhow!("--pid needs --language"))?;
    let session = context.sessions.open(adapter, format!("process {pid}"), None)?;
    let to = Attach { to: Endpoint::Process(pid), path_mappings: Vec::new(), just_my_code: true };
    lifecycle::attach(&session, to, None, wait, context).await.map_err(cli_error)?;
    Ok(session)
}

const WAITS: u8 = 3;
const HANGS: u8 = 4;
const STILL_COMPUTING: u8 = 5;
/// Not 1, which is an internal error, and not 4, which is a failed test elsewhere and a hang here.
const FAILED: u8 = 6;

fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Completed => 0,
        Verdict::Failed => FAILED,
        Verdict::Waiting | Verdict::Stopped => WAITS,
        Verdict::BusyLoop | Verdict::BusyEventLoop | Verdict::Deadlocked => HANGS,
        Verdict::Slow | Verdict::Unknown => STILL_COMPUTING,
    }
}
