//! `stillframe record`, `ask` and `recordings`: record a run once, then ask about it.
//!
//! Each is a call of a tool of the toolset `recording`, whose answer is printed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use tools::Reply;
use tools::ops::recordings::{self, Format, Interrupts, Phase, Time};
use tools::toolsets::{self, recording};

use crate::one_shot::{INTERRUPTED, LONGEST_TIMEOUT, RunContext};
use crate::setup::cli_error;
use crate::terminal;

/// What to run and record.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  stillframe record -- python app.py --fast
  stillframe ask first 'total < 0'
  stillframe ask writes cart.items --at exception")]
pub(crate) struct RecordArgs {
    /// Command to run, such as `python app.py` or `pytest -x`.
    #[arg(last = true, required = true)]
    command: Vec<String>,
    /// Working directory of the program.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// File to use as the program's standard input [default: empty].
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Record only this file, folder, module, installed package or function; repeatable [default: all code outside of
    /// installed packages].
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Maximum number of items to record per container [default: 100].
    #[arg(long, value_name = "COUNT")]
    items: Option<usize>,
    /// Maximum depth of nested objects to record [default: 4].
    #[arg(long, value_name = "COUNT")]
    depth: Option<usize>,
    /// Maximum length of a recorded string [default: 200].
    #[arg(long, value_name = "CHARACTERS")]
    length: Option<usize>,
    /// Keep the last N events, for long runs that fail at their end [default: keep the first events, up to the size limit].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    last: Option<u64>,
    /// Seconds after which to end the program.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=LONGEST_TIMEOUT))]
    timeout: u64,
}

/// A question about a recording.
#[derive(Debug, Args)]
#[command(after_help = "\
A moment is FILE:LINE (first hit), FILE:LINE#3 (third hit), FILE:LINE#last, the
number of an event, `exception` or `end`.")]
pub(crate) struct AskArgs {
    /// Name of the recording [default: last].
    #[arg(long, global = true, value_name = "NAME")]
    recording: Option<String>,
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, Subcommand)]
enum Question {
    /// Find the first moment at which a condition holds, and what made it so.
    First {
        /// Condition, such as `total < 0` or `len(self.items) > 10`.
        #[arg(allow_hyphen_values = true)]
        condition: String,
        /// Only in this function.
        #[arg(long, value_name = "NAME")]
        function: Option<String>,
        /// Only in this file.
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
        /// The Nth time it becomes true.
        #[arg(long, value_name = "N", default_value_t = 1)]
        occurrence: usize,
    },
    /// Find what wrote a variable, an attribute or an item, newest first.
    Writes {
        /// Target, such as `cart.items` or `self.cache['k']`.
        target: String,
        /// Show writes before this moment [default: the last moment at which the target exists].
        #[arg(long, value_name = "MOMENT")]
        at: Option<String>,
        /// Maximum number of writes.
        #[arg(long, value_name = "COUNT", default_value_t = 10)]
        most: usize,
    },
    /// Explain what the value of a variable, an attribute or an item was computed from.
    Why {
        /// Target, such as `total` or `self.cache['k']`.
        target: String,
        /// Moment at which to explain the value [default: the last moment at which the target exists].
        #[arg(long, value_name = "MOMENT")]
        at: Option<String>,
        /// Maximum number of steps.
        #[arg(long, value_name = "COUNT", default_value_t = 16)]
        most: usize,
    },
    /// Show the stack, variables and output at a moment.
    State {
        /// Moment to show [default: the exception if the program failed,
        /// otherwise the end].
        at: Option<String>,
    },
    /// Show what differs between two moments.
    Changes {
        /// Earlier moment.
        from: String,
        /// Later moment.
        to: String,
    },
    /// Count how often a line, a file's lines or a function were reached.
    Hits {
        /// Line (`FILE:LINE`), file, or function (`NAME` or `FILE:NAME`).
        target: String,
    },
    /// Find where two recorded runs diverge.
    Diverged {
        /// Name of a recording.
        first: String,
        /// Name of another one.
        second: String,
        /// Hides the option of the other questions, which is refused here.
        #[arg(long, hide = true)]
        recording: Option<String>,
    },
}

/// List, export and remove recordings.
#[derive(Debug, Args)]
pub(crate) struct RecordingsArgs {
    #[command(subcommand)]
    action: Option<RecordingsAction>,
}

#[derive(Debug, Subcommand)]
enum RecordingsAction {
    /// List recordings, newest first (default).
    List,
    /// Export a recording for other tools, to standard output or a file.
    Export(ExportArgs),
    /// Remove a recording, or `all` of them.
    Remove {
        /// Name of a recording, or `all`.
        name: String,
    },
}

/// Which recording to write, and how.
#[derive(Debug, Args)]
struct ExportArgs {
    /// Name of the recording.
    #[arg(default_value = "last")]
    name: String,
    /// Format: `perfetto` (Chrome trace events, for ui.perfetto.dev), `speedscope`, `csv` or `parquet`.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Format,
    /// Time axis: event numbers, or clock time in microseconds.
    #[arg(long, value_name = "TIME", default_value = "events", value_parser = times())]
    time: Time,
    /// File to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    let names = PossibleValuesParser::new(Format::ALL.map(Format::name));
    names.map(|name| Format::ALL.into_iter().find(|format| format.name() == name).unwrap_or(Format::Csv))
}

fn times() -> impl TypedValueParser<Value = Time> {
    PossibleValuesParser::new(["events", "clock"]).map(|name| match name.as_str() {
        "clock" => Time::Clock,
        _ => Time::Events,
    })
}

/// Runs a program and records it. An interrupt is the program's while it runs; the second ends it, and the third gives
/// up.
pub(crate) async fn record(args: RecordArgs, run_context: RunContext) -> anyhow::Result<ExitCode> {
    let context = run_context.waiting_up_to(Duration::from_secs(args.timeout));
    let mut words = args.command.into_iter();
    let arguments = json!({
        "command": words.next(),
        "args": words.collect::<Vec<_>>(),
        "cwd": args.cwd,
        "stdinFile": args.stdin,
        "only": (!args.only.is_empty()).then_some(args.only),
        "items": args.items,
        "depth": args.depth,
        "length": args.length,
        "last": args.last,
        "timeout": args.timeout.saturating_mul(1000),
    });
    let interrupt = Arc::new(Interrupts::default());
    let context = context.interrupted_by(Arc::clone(&interrupt));
    let reply = reply("record_run", arguments, &context);
    tokio::pin!(reply);
    let (mut interrupts, mut was_finished) = (0, true);
    loop {
        tokio::select! {
            reply = &mut reply => {
                let printed = print(&reply?);
                if was_finished {
                    return printed.map(|()| ExitCode::SUCCESS);
                }
                if let Err(error) = printed {
                    let _ = terminal::failed(&error);
                }
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Ok(()) = tokio::signal::ctrl_c() => interrupts += 1,
        }
        if interrupts > 2 {
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let phase = interrupt.interrupt();
        was_finished &= phase == Phase::Finishing;
        match phase {
            // Elsewhere, a process cannot be interrupted from here.
            Phase::Running if interrupts == 1 && !cfg!(unix) => {
                terminal::hint("press Ctrl-C again to end the program");
            }
            Phase::Running if interrupts == 1 => {
                terminal::hint("interrupted the program; press Ctrl-C again to end it");
            }
            Phase::Finishing => terminal::hint("the program has ended; its recording is being finished"),
            Phase::Preparing | Phase::Running => {}
        }
    }
}

/// Answers a question.
pub(crate) async fn ask(args: AskArgs, run_context: RunContext) -> anyhow::Result<ExitCode> {
    let (tool, mut arguments) = match args.question {
        Question::First { condition, function, file, occurrence } => (
            "find_first",
            json!({ "condition": condition, "function": function, "file": file, "occurrence": occurrence }),
        ),
        Question::Writes { target, at, most } => {
            ("find_writes", json!({ "target": target, "at": at, "limit": most }))
        }
        Question::Why { target, at, most } => {
            ("find_origin", json!({ "target": target, "at": at, "limit": most }))
        }
        Question::State { at } => ("state_at", json!({ "at": at })),
        Question::Changes { from, to } => ("compare_moments", json!({ "from": from, "to": to })),
        Question::Hits { target } => ("count_hits", json!({ "target": target })),
        Question::Diverged { first, second, recording } => {
            anyhow::ensure!(
                args.recording.or(recording).is_none(),
                "`diverged` is about the two recordings that it names; leave out `--recording`"
            );
            return call("compare_runs", json!({ "first": first, "second": second }), run_context).await;
        }
    };
    if let Value::Object(arguments) = &mut arguments {
        arguments.insert("recording".to_owned(), args.recording.unwrap_or_else(|| "last".to_owned()).into());
    }
    call(tool, arguments, run_context).await
}

/// Lists or removes recordings.
pub(crate) async fn recordings(args: RecordingsArgs, run_context: RunContext) -> anyhow::Result<ExitCode> {
    match args.action {
        None | Some(RecordingsAction::List) => call("list_recordings", json!({}), run_context).await,
        Some(RecordingsAction::Export(args)) => export(args, &run_context.context()).await,
        Some(RecordingsAction::Remove { name }) => {
            call("remove_recordings", json!({ "recording": name }), run_context).await
        }
    }
}

async fn export(args: ExportArgs, context: &tools::Context) -> anyhow::Result<ExitCode> {
    let ExportArgs { name, format, time, output } = args;
    let name = Some(name);
    if let Some(path) = output {
        let said = recordings::export(context, name, format, time, Some(path)).await;
        terminal::print(&said.map_err(cli_error)?)?;
    } else {
        let out = std::io::BufWriter::new(std::io::stdout());
        recordings::export_to(context, name, format, time, out).await.map_err(cli_error)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Serves a recording to an editor, until it leaves.
pub(crate) async fn serve(recording: &str, run_context: &RunContext) -> anyhow::Result<ExitCode> {
    recordings::serve(&run_context.context(), recording).await?;
    Ok(ExitCode::SUCCESS)
}

/// Calls a tool and prints its answer.
async fn call(tool: &str, arguments: Value, run_context: RunContext) -> anyhow::Result<ExitCode> {
    let context = run_context.context();
    let reply = tokio::select! {
        reply = reply(tool, arguments, &context) => reply?,
        Ok(()) = tokio::signal::ctrl_c() => return Ok(ExitCode::from(INTERRUPTED)),
    };
    print(&reply)?;
    Ok(ExitCode::SUCCESS)
}

async fn reply(tool: &str, arguments: Value, context: &tools::Context) -> anyhow::Result<Reply> {
    let Some(entry) = toolsets::find(&[&recording::TOOLSET], tool) else { bail!("no tool `{tool}`") };
    let Value::Object(arguments) = arguments else { bail!("`{tool}` needs arguments") };
    let arguments: Map<String, Value> = arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
    Ok(entry.call(arguments, context).await)
}

fn print(reply: &Reply) -> anyhow::Result<()> {
    if reply.is_error {
        bail!("{}", reply.text.trim_start_matches("Error: ").trim_end());
    }
    terminal::print(&reply.text)
}
