//! `stillframe trace`: run a program, and print the values of expressions at each hit of a location.

mod points;
mod report;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use engine::model::limits::Limits;
use engine::recording::CellFormat;
use engine::{bounds, deadlines};
use tokio::sync::Notify;
use tools::ops::settle::Wait;
use tools::ops::trace::{self, Trace, TraceEndReason, TraceResult, WhenFull};
use tools::render::{RowArguments, TraceReport};
use tools::{Context, ToolError};

use self::points::PointsArgs;
use crate::one_shot::{
    CommandOutput, CommandReport, INTERRUPTED, LONGEST_TIMEOUT, OneShot, Presentation, RunContext,
};
use crate::program::ProgramArgs;
use crate::setup::cli_error;

/// What to run, and what to record where.
#[derive(Debug, Args)]
#[command(after_help = "\
-e, --statement and --condition apply to the location before them:
  stillframe trace app.py:12 -e total --at app.py:30 -e name -e 'len(items)'

Exit codes: 0 values were recorded; 1 error; 2 usage error; 3 the program ended
  without a recorded value; 5 timeout without a recorded value; 130 interrupted")]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    points: PointsArgs,
    #[command(flatten)]
    program: ProgramArgs,
    /// Maximum number of rows in total [default: 200].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=max_rows()))]
    max_hits: Option<u64>,
    /// Record only every Nth hit.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    sample_every: u64,
    /// Skip rows that equal the previous one.
    #[arg(long)]
    only_when_changed: bool,
    /// After the last row, let the program run to its end.
    #[arg(long)]
    run_on: bool,
    /// Maximum length of a recorded value.
    #[arg(long, value_name = "CHARACTERS", default_value_t = Limits::default().value)]
    length: usize,
    /// Seconds after which to end the program.
    #[arg(long, value_name = "SECONDS", default_value_t = deadlines::WAIT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=LONGEST_TIMEOUT))]
    timeout: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// How values are recorded.
    #[arg(long, value_enum, default_value_t = MethodArg::Auto, hide = true)]
    way: MethodArg,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum MethodArg {
    Auto,
    Stop,
}

impl CommandReport for TraceReport {
    fn text(&self) -> String {
        report::to_text(self)
    }
}

impl TraceArgs {
    /// How its report is printed.
    pub(crate) fn presentation(&self) -> Presentation {
        Presentation::of::<TraceReport>(self.json)
    }
}

/// What the answers name.
const OPTIONS: RowArguments = RowArguments {
    condition: "--condition",
    sample_every: "--sample-every",
    only_when_changed: "--only-when-changed",
    max_hits: "--max-hits",
};

/// As many rows as may be set. How many are allowed is known when the configuration has been read.
fn max_rows() -> u64 {
    bounds::named("rows").map_or(u64::MAX, |bound| *bound.range.end())
}

/// Runs the command. An interrupt prints what was recorded so far.
pub(crate) async fn run(args: TraceArgs, run_context: RunContext) -> anyhow::Result<ExitCode> {
    // The second Ctrl-C is for those who cannot wait.
    let one_shot = OneShot { name: "trace", run_context, as_json: args.json, patience: 2 };
    let interrupt = Arc::new(Notify::new());
    let operation = async |context: &Context| {
        let traced = record(args, Arc::clone(&interrupt), context);
        tokio::pin!(traced);
        let traced = tokio::select! {
            traced = &mut traced => traced,
            Ok(()) = tokio::signal::ctrl_c() => {
                interrupt.notify_one();
                traced.await
            }
        };
        let traced = traced?;
        let code = exit_code(&traced);
        let report = TraceReport::new(traced, true, &OPTIONS);
        CommandOutput::new(&report, code)
    };
    one_shot.run(operation).await
}

async fn record(args: TraceArgs, interrupt: Arc<Notify>, context: &Context) -> anyhow::Result<TraceResult> {
    let (session, launch) = args.program.open(args.points.first_file(), context)?;
    trace::check_counts(context.bounds(), args.max_hits, Some(args.sample_every), None).map_err(cli_error)?;
    let length = context.bounds().requested_length("--length", Some(args.length), args.length);
    let length = length.map_err(|error| cli_error(ToolError::from(error)))?;
    let wait = Wait { timeout: Duration::from_secs(args.timeout), limits: context.bounds().report() };
    let usual = Trace::new(Some(launch), args.points.points(), wait);
    let request = Trace {
        max_rows: args.max_hits.unwrap_or(context.bounds().default_rows(usual.max_rows)),
        sample_every: args.sample_every,
        only_when_changed: args.only_when_changed,
        when_full: if args.run_on { WhenFull::RunOn } else { WhenFull::End },
        cells: CellFormat::Text(length),
        way: match args.way {
            MethodArg::Auto => trace::RecordMethod::Auto,
            MethodArg::Stop => trace::RecordMethod::Stop,
        },
        interrupt: Some(interrupt),
        ..usual
    };
    trace::trace(&session, request, context).await.map_err(cli_error)
}

const NEVER_PASSED: u8 = 3;
const TIME_WAS_UP: u8 = 5;

fn exit_code(traced: &TraceResult) -> u8 {
    match traced.end_reason {
        TraceEndReason::Interrupted => INTERRUPTED,
        _ if !traced.rows.is_empty() => 0,
        TraceEndReason::TimedOut => TIME_WAS_UP,
        _ => NEVER_PASSED,
    }
}
