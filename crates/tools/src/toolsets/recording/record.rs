//! Making, listing and removing recordings.

use std::path::PathBuf;
use std::time::Duration;

use recording::Limits;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ops::lifecycle;
use crate::ops::recordings::{self, Format, RecordOptions, Time};
use crate::ops::trace::check_counts;
use crate::{ArgumentList, CommandLine, Context, Effects, Text, Tool, ToolError};

/// The highest limit on what is recorded of a value.
const MOST: usize = 10_000;

/// Runs a program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RecordRun {
    /// Command, such as `python app.py --fast`, `pytest -x tests/test_cart.py` or `node app.js`.
    command: CommandLine,
    /// Its arguments, if they are not in `command`.
    args: Option<ArgumentList>,
    /// Working directory; default: the server's.
    cwd: Option<PathBuf>,
    /// Text for standard input, which is empty by default.
    stdin: Option<String>,
    /// File for standard input.
    stdin_file: Option<PathBuf>,
    /// Record only these files, folders, modules, installed packages or functions, such as `src/cart.py` or `Cart.total`;
    /// default: all code outside of installed packages.
    only: Option<ArgumentList>,
    /// Items to record per container, default 100.
    items: Option<usize>,
    /// Depth of nested objects, default 4.
    depth: Option<usize>,
    /// Characters to record per string, default 200.
    length: Option<usize>,
    /// Keep the last N events, for long runs that fail at their end; default: the first ones, up to the size limit.
    last: Option<usize>,
    /// Milliseconds after which to end the program, default 60000.
    timeout: Option<u64>,
}

impl Tool for RecordRun {
    type Answer = Text;
    const NAME: &'static str = "record_run";
    const TITLE: &'static str = "Record a run";
    const DESCRIPTION: &'static str = "Run a Python or JavaScript program or test to its end and record each line, call, exception, value change and the output, for questions afterwards.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        check_counts(context.bounds(), None, None, self.timeout)?;
        let timeout = self.timeout.unwrap_or_else(|| context.bounds().longest_wait.min(60_000));
        for (name, given) in [("items", self.items), ("depth", self.depth), ("length", self.length)] {
            if given.is_some_and(|given| given == 0 || given > MOST) {
                return Err(ToolError::argument(name, format!("must be between 1 and {MOST}")));
            }
        }
        let last = self.last.map(|last| i64::try_from(last).ok().filter(|last| *last > 0));
        if last == Some(None) {
            return Err(ToolError::argument("last", "must be at least 1"));
        }
        let usual = Limits::default();
        let limits = Limits {
            items: self.items.unwrap_or(usual.items),
            depth: self.depth.unwrap_or(usual.depth),
            text: self.length.unwrap_or(usual.text),
        };
        let stdin = lifecycle::stdin(self.stdin, self.stdin_file)?;
        let timeout = Duration::from_millis(timeout);
        let options = RecordOptions {
            limits,
            only: self.only.unwrap_or_default().0,
            timeout,
            last: last.flatten(),
            stdin,
        };
        let recorded = recordings::record(context, &self.command, self.args, self.cwd, options).await;
        let recorded = recorded.map_err(|error| error.naming_executable("command"))?;
        Ok(Text(recordings::summary(&recorded)))
    }
}

/// Lists recordings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRecordings {}

impl Tool for ListRecordings {
    type Answer = Text;
    const NAME: &'static str = "list_recordings";
    const TITLE: &'static str = "List recordings";
    const DESCRIPTION: &'static str = "List recordings, newest first: name, command, end, size.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        Ok(Text(recordings::list(context)))
    }
}

/// Writes a recording in another format.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportRecording {
    /// `perfetto`: Chrome trace events with arguments, results and exceptions; `speedscope`: a flame graph of each thread;
    /// `csv` and `parquet`: a row for each event and write.
    format: ExportFormat,
    /// Time axis of the first two: `events` (default; event numbers are moments) or `clock` (microseconds, accurate to
    /// a few milliseconds).
    time: Option<ExportTime>,
    /// Name of the recording; default: the newest.
    recording: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExportFormat {
    Perfetto,
    Speedscope,
    Csv,
    Parquet,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExportTime {
    Events,
    Clock,
}

impl Tool for ExportRecording {
    type Answer = Text;
    const NAME: &'static str = "export_recording";
    const TITLE: &'static str = "Export a recording";
    const DESCRIPTION: &'static str =
        "Export a recording for other tools to a file beside it; returns the file's path.";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        let format = match self.format {
            ExportFormat::Perfetto => Format::Perfetto,
            ExportFormat::Speedscope => Format::Speedscope,
            ExportFormat::Csv => Format::Csv,
            ExportFormat::Parquet => Format::Parquet,
        };
        let time = match self.time {
            Some(ExportTime::Clock) => Time::Clock,
            Some(ExportTime::Events) | None => Time::Events,
        };
        recordings::export(context, self.recording, format, time, None).await.map(Text)
    }
}

/// Removes recordings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoveRecordings {
    /// Name of a recording, or `all`.
    recording: String,
}

impl Tool for RemoveRecordings {
    type Answer = Text;
    const NAME: &'static str = "remove_recordings";
    const TITLE: &'static str = "Remove recordings";
    const DESCRIPTION: &'static str = "Remove a recording, or all.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        let removed = recordings::library(context).remove(&self.recording)?;
        Ok(Text(format!("removed: {removed}\n")))
    }
}
