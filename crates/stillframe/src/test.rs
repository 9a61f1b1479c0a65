//! `stillframe test`: run tests, and print what made the first one fail.

mod report;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use engine::adapter::Machine;
use tools::Context;
use tools::ops::command::Command;
use tools::ops::settle::Wait;
use tools::ops::test::{self, Test, TestRunResult, Verdict};
use tools::render::{Shown, TestData};

use crate::one_shot::{CommandOutput, CommandReport, LONGEST_TIMEOUT, OneShot, Presentation, RunContext};
use crate::setup::cli_error;

/// The tests to run.
#[derive(Debug, Args)]
#[command(after_help = "\
  stillframe test -- pytest tests/test_cart.py::test_total

Exit codes: 0 all tests passed, or the program succeeded without a known test
  runner; 1 error: tests could not be loaded, or none were found;
  2 usage error; 4 a test failed; 5 still running at the timeout")]
pub(crate) struct TestArgs {
    /// Test command, as you would type it.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Working directory of the command.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// Seconds after which to end the run.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=LONGEST_TIMEOUT))]
    timeout: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl CommandReport for TestData {
    fn text(&self) -> String {
        report::to_text(self)
    }
}

impl TestArgs {
    /// How its report is printed.
    pub(crate) fn presentation(&self) -> Presentation {
        Presentation::of::<TestData>(self.json)
    }
}

/// Runs the command.
pub(crate) async fn run(args: TestArgs, run_context: RunContext) -> anyhow::Result<ExitCode> {
    let one_shot = OneShot { name: "test", run_context, as_json: args.json, patience: 1 };
    let operation = async |context: &Context| {
        let tested = tested(args, context).await?;
        let code = exit_code(tested.verdict);
        let data = TestData::new(tested, Shown::usual(test::limits(context.bounds())));
        CommandOutput::new(&data, code)
    };
    one_shot.run(operation).await
}

async fn tested(args: TestArgs, context: &Context) -> anyhow::Result<TestRunResult> {
    let command = Command::of_words(&Machine, args.command, args.cwd).map_err(cli_error)?;
    let session = test::open(context, &command).map_err(cli_error)?;
    let wait = Wait { timeout: Duration::from_secs(args.timeout), limits: test::limits(context.bounds()) };
    test::test(&session, Test { command, wait, keeps: false }, context).await.map_err(cli_error)
}

const NOT_RUN: u8 = 1;
const FAILED: u8 = 4;
const STILL_RUNNING: u8 = 5;

fn exit_code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Passed => 0,
        Verdict::Error | Verdict::NoTests => NOT_RUN,
        Verdict::Failed => FAILED,
        Verdict::TimedOut | Verdict::Hung => STILL_RUNNING,
    }
}
