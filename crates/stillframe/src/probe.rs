//! `stillframe probe`: run a program, stop at a place, print what is there, end it.

pub(crate) mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use engine::deadlines;
use engine::model::breakpoint::{HitCondition, Rule};
use engine::model::stop::{ExceptionMode, StopReason};
use engine::session::placing::PlaceRequest;
use tools::Context;
use tools::ops::dump;
use tools::ops::run_until::{Frames, RunUntil, RunUntilResult, run_until, whole};
use tools::ops::settle::{Settled, Wait};
use tools::render::{CallerData, StopReport, expression_value};

use crate::one_shot::{CommandOutput, CommandReport, LONGEST_TIMEOUT, OneShot, Presentation, RunContext};
use crate::program::ProgramArgs;
use crate::setup::cli_error;
use tools::LocationArg;

/// What to run, where to stop, and what to evaluate there.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 stopped at the location (or, without one, exited with code 0);
  1 error; 2 usage error; 3 the program ended before reaching the location;
  4 stopped at an uncaught exception first; 5 still running at the timeout")]
pub(crate) struct ProbeArgs {
    /// Where to stop: `FILE:LINE`, `FILE:LINE:COLUMN`, `FILE:FUNCTION`, or FILE alone to stop only at an uncaught exception.
    #[arg(required_unless_present = "core")]
    place: Option<LocationArg>,
    /// Inspect a crash dump: a core file, or a name, a process ID or `last` for `coredumpctl`. FILE is the program that crashed, if the dump does not name it.
    #[arg(long, value_name = "DUMP")]
    core: Option<PathBuf>,
    /// Evaluate this expression at the stop (repeatable).
    #[arg(short, long = "expression", value_name = "EXPR", allow_hyphen_values = true)]
    expressions: Vec<String>,
    /// Stop at the line with this text, instead of a line number.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    statement: Option<String>,
    /// Stop only if this expression is true.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    condition: Option<String>,
    /// Stop only at these hits: `5`, `>= 5`, `% 5`.
    #[arg(long, value_name = "COUNT")]
    hit_condition: Option<HitCondition>,
    /// Exceptions to stop at; `userUnhandled` includes those that only a library catches, such as a web framework; in
    /// Go, only `all` does [default: uncaught].
    #[arg(long, value_name = "WHICH")]
    exceptions: Option<ExceptionArg>,
    #[command(flatten)]
    program: ProgramArgs,
    /// Seconds to wait for the stop, not counting the time to build the program.
    #[arg(long, value_name = "SECONDS", default_value_t = deadlines::WAIT.as_secs(), value_parser = clap::value_parser!(u64).range(..=LONGEST_TIMEOUT))]
    timeout: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Which exceptions to stop at.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "camelCase")]
enum ExceptionArg {
    None,
    Uncaught,
    UserUnhandled,
    All,
}

impl From<ExceptionArg> for ExceptionMode {
    fn from(mode: ExceptionArg) -> Self {
        match mode {
            ExceptionArg::None => Self::None,
            ExceptionArg::Uncaught => Self::Uncaught,
            ExceptionArg::UserUnhandled => Self::UserUnhandled,
            ExceptionArg::All => Self::All,
        }
    }
}

impl CommandReport for report::ProbeReport {
    fn text(&self) -> String {
        // The report's message says which tool to call next, which does not apply here.
        let is_running = self.stop.state == "running";
        self.to_text(if is_running { "still running at the timeout" } else { &self.stop.message })
    }
}

/// Runs the command.
pub(crate) async fn run(args: ProbeArgs, run_context: RunContext) -> anyhow::Result<ExitCode> {
    let one_shot = OneShot { name: "probe", run_context, as_json: args.json, patience: 1 };
    let has_place = !args.places().is_empty();
    if let Some(dump) = args.core.clone() {
        let operation = async |context: &Context| inspect(&dump, args, context).await;
        return one_shot.run(operation).await;
    }
    let operation = async |context: &Context| {
        let ran = probe(args, context).await?;
        let code = exit_code(&ran.settled, has_place);
        let mut stop = StopReport::new("", ran.settled).with_unreached(ran.missed);
        stop.notes.extend(ran.notes);
        let values = ran.values.into_iter().map(|(text, value)| expression_value(text, &value)).collect();
        let callers = ran.callers.iter().map(CallerData::from).collect();
        let report = report::ProbeReport { stop, callers, values, threads: Vec::new() };
        CommandOutput::new(&report, code)
    };
    one_shot.run(operation).await
}

/// Reads a crash dump.
async fn inspect(dump: &Path, args: ProbeArgs, context: &Context) -> anyhow::Result<CommandOutput> {
    let wait = Wait { timeout: Duration::from_secs(args.timeout), limits: whole(context.bounds()) };
    let program = args.place.map(|place| place.file);
    let (session, settled) = dump::open(context, dump, program, wait).await.map_err(cli_error)?;
    let dumped = dump::read(&session, settled, args.expressions, wait).await;
    let code = match &dumped.settled {
        Settled::Stopped(_) => 0,
        _ => ENDED_BEFORE,
    };
    let stop = StopReport::new("", dumped.settled);
    let values = dumped.values.into_iter().map(|(text, value)| expression_value(text, &value)).collect();
    let callers = dumped.callers.iter().map(CallerData::from).collect();
    let threads = dumped.threads.into_iter().map(report::ThreadData::from).collect();
    let report = report::ProbeReport { stop, callers, values, threads };
    CommandOutput::new(&report, code)
}

async fn probe(args: ProbeArgs, context: &Context) -> anyhow::Result<RunUntilResult> {
    let place = args.place.clone().ok_or_else(|| anyhow::anyhow!("FILE is missing"))?;
    let (session, launch) = args.program.clone().open(&place.file, context)?;
    let request = RunUntil {
        places: args.places(),
        exceptions: args.exceptions.map(|mode| ExceptionMode::from(mode).into()),
        wait: Wait { timeout: Duration::from_secs(args.timeout), limits: whole(context.bounds()) },
        frames: Frames::All,
        expressions: args.expressions.clone(),
        launch: Some(launch),
        trigger: None,
    };
    run_until(&session, request, context).await.map_err(cli_error)
}

impl ProbeArgs {
    /// How its report is printed.
    pub(crate) fn presentation(&self) -> Presentation {
        Presentation::of::<report::ProbeReport>(self.json)
    }

    fn places(&self) -> Vec<PlaceRequest> {
        let Some(LocationArg { file, line, column, function }) = self.place.clone() else {
            return Vec::new();
        };
        if line.is_none() && function.is_none() && self.statement.is_none() {
            return Vec::new();
        }
        let rule =
            Rule { condition: self.condition.clone(), hit_condition: self.hit_condition, ..Rule::default() };
        vec![PlaceRequest {
            file: Some(file),
            line,
            column,
            function,
            statement: self.statement.clone(),
            rule,
            ..PlaceRequest::default()
        }]
    }
}

const ENDED_BEFORE: u8 = 3;
const EXCEPTION_FIRST: u8 = 4;
const STILL_RUNNING: u8 = 5;

fn exit_code(settled: &Settled, has_place: bool) -> u8 {
    match settled {
        Settled::Stopped(snapshot) if snapshot.stop.reason == StopReason::Exception => EXCEPTION_FIRST,
        Settled::Stopped(_) => 0,
        Settled::Running { .. } => STILL_RUNNING,
        Settled::Ended { end, .. } if !has_place && end.exit_code() == Some(0) => 0,
        Settled::Ended { .. } => ENDED_BEFORE,
    }
}
