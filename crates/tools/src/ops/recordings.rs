//! Recording runs, and questions about recordings.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::adapter::Machine;
use engine::adapter::commands::{self, Commands};
use engine::model::launch::{Program, Stdin};
pub use recording::Library;
use recording::export::Exported;
pub use recording::export::{Format, Time};
pub use recording::{Interrupts, Phase};
use recording::{Limits, RecordRequest, Recorded, Recording, timeline};
use serde::Serialize;
use serde_json::{Value, json};

use super::command::{Command, assignments};
use super::lifecycle;
use crate::{ArgumentList, CommandLine, Context, ToolError};

/// Commands that run the one in their arguments in another way.
const WRAPPERS: [&str; 8] = ["chrt", "ionice", "nice", "nohup", "setsid", "stdbuf", "time", "timeout"];

/// What to record.
#[derive(Debug)]
pub struct RecordOptions {
    /// How much of values.
    pub limits: Limits,
    /// The files, folders, modules and functions to record.
    pub only: Vec<String>,
    /// The time after which the program is ended.
    pub timeout: Duration,
    /// Keep the last N events; none for the first ones.
    pub last: Option<i64>,
    /// What the program reads.
    pub stdin: Stdin,
}

/// The recordings of this user.
pub fn library(context: &Context) -> Library {
    Library::of_user(context.bounds().recordings)
}

/// Reads a command as it is typed, runs it and records it.
pub async fn record(
    context: &Context,
    command: &CommandLine,
    args: Option<ArgumentList>,
    cwd: Option<PathBuf>,
    options: RecordOptions,
) -> Result<Recorded, ToolError> {
    let mut command = Command::read(&Machine, command, args, cwd)?;
    command.launch.stdin = options.stdin.clone();
    record_command(context, command, options).await
}

/// Runs a command and records it.
pub async fn record_command(
    context: &Context,
    command: Command,
    options: RecordOptions,
) -> Result<Recorded, ToolError> {
    if let Some(name) = wrapper(&command) {
        return Err(ToolError::runs_other_commands(name, "it is among its arguments"));
    }
    let safety = &context.sessions.policy().safety;
    safety.check_language(command.adapter.name())?;
    lifecycle::check_program(safety, command.adapter, command.executable.as_deref(), &command.launch)?;
    let unrecorded = other_languages(&command);
    let request = RecordRequest {
        adapter: command.adapter,
        executable: command.executable,
        launch: command.launch,
        limits: options.limits,
        only: options.only,
        timeout: options.timeout,
        most_bytes: context.bounds().recording,
        last: options.last,
        interrupt: context.interrupt.clone(),
    };
    let mut recorded = recording::record(request, safety, &library(context)).await?;
    if let Some((is_named, text)) = unrecorded
        && (is_named || recorded.events == 0)
    {
        recorded.incomplete.get_or_insert(text);
    }
    Ok(recorded)
}

/// The name of a command that is not recorded itself, and runs the one in its arguments.
fn wrapper(command: &Command) -> Option<&str> {
    let Program::Script(path) = &command.launch.program else { return None };
    let name = path.file_name()?.to_str()?;
    (WRAPPERS.contains(&name) && recording::recorder_for(command.adapter).is_err()).then_some(name)
}

/// Whether a command that starts others, such as a shell, names the interpreter of another language than the one that is
/// recorded, and that such programs are missing; none for any other command.
fn other_languages(command: &Command) -> Option<(bool, String)> {
    let is_interpreter = |commands: &dyn Commands, name: &str| {
        commands.of_interpreter(name, Vec::new(), Path::new("")).is_some()
    };
    let starter = command.executable.as_ref()?.file_name()?.to_str()?;
    let is_starter = matches!(command.launch.program, Program::Command)
        && command.adapter.commands().is_some_and(|commands| !is_interpreter(commands, starter));
    let is_other = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        commands::all().any(|(adapter, commands)| {
            adapter.name() != command.adapter.name() && is_interpreter(commands, name)
        })
    };
    // After the first word of a command, the name of an interpreter may mean anything.
    let begins_other = |text: &str| {
        let words = text.split_whitespace().map(str::to_owned).collect();
        assignments(words).1.first().is_some_and(|word| is_other(word.trim_matches(['"', '\''])))
    };
    let is_option = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let typed = command.launch.runtime_args.iter().skip_while(|word| !is_option(word)).nth(1);
    let is_named = typed.is_some_and(|text| text.split([';', '&', '|', '(', '`', '\n']).any(begins_other));
    let about = command.adapter.about();
    let text = format!(
        "of what `{starter}` starts, only {about} is recorded; programs in other languages may be missing: give their \
         commands themselves"
    );
    is_starter.then_some((is_named, text))
}

/// Asks a question about a recording, on a thread of its own.
pub async fn ask(
    context: &Context,
    name: Option<String>,
    question: impl FnOnce(&Recording) -> recording::Result<String> + Send + 'static,
) -> Result<String, ToolError> {
    let library = library(context);
    blocking(move || {
        let recording = library.open(name.as_deref().unwrap_or("last"))?;
        question(&recording).map_err(|error| match (error, recording.gap()) {
            // What was asked about may be in the part that is missing.
            (recording::Error::Question(problem), Ok(Some(gap))) => {
                recording::Error::Question(format!("{problem}; {gap}"))
            }
            (error, _) => error,
        })
    })
    .await
}

/// Asks a question about two recordings.
pub async fn compare(context: &Context, first: String, second: String) -> Result<String, ToolError> {
    let library = library(context);
    blocking(move || recording::ask::diverged(&library.open(&first)?, &library.open(&second)?)).await
}

/// Writes a recording in a format into a file, by default one beside the recording.
pub async fn export(
    context: &Context,
    name: Option<String>,
    format: Format,
    time: Time,
    path: Option<PathBuf>,
) -> Result<String, ToolError> {
    let library = library(context);
    blocking(move || {
        let name = name.as_deref().unwrap_or("last");
        let Exported { name, path, size } = library.export_to_file(name, format, time, path.as_deref())?;
        let (path, size) = (path.display(), kilobytes(size));
        Ok(format!("exported {name} to {path} ({size}); open it in {}\n", format.reader()))
    })
    .await
}

/// The same to a stream. A reader may close it early without an error.
pub async fn export_to(
    context: &Context,
    name: Option<String>,
    format: Format,
    time: Time,
    mut out: impl Write + Send + 'static,
) -> Result<(), ToolError> {
    let library = library(context);
    let written = move || match library.export(name.as_deref().unwrap_or("last"), format, time, &mut out) {
        Err(recording::Error::Export(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(String::new()),
        written => written,
    };
    blocking(written).await.map(drop)
}

/// Serves a recording on standard input and output, as a debug adapter.
pub async fn serve(context: &Context, name: &str) -> std::io::Result<()> {
    recording::serve(&library(context), Some(name), tokio::io::stdin(), tokio::io::stdout()).await
}

async fn blocking(
    question: impl FnOnce() -> recording::Result<String> + Send + 'static,
) -> Result<String, ToolError> {
    let answer = tokio::task::spawn_blocking(question).await;
    Ok(answer.map_err(|_| ToolError::argument("recording", "could not be searched"))??)
}

/// Summarizes a recording that was made.
pub fn summary(recorded: &Recorded) -> String {
    let Recorded {
        name,
        end,
        events,
        dropped,
        writes,
        size,
        incomplete,
        waiting,
        output,
        unrecorded,
        lacking,
        removed,
    } = recorded;
    let size = kilobytes(*size);
    let first =
        format!("recorded as {name}: the program {end}; {events} events, {writes} value changes, {size}");
    let kept = match dropped {
        0 => None,
        dropped => Some(format!("the last {events} events were kept, from event {} on", dropped + 1)),
    };
    let nothing = "nothing was recorded: no code of the program ran outside of installed packages";
    let waiting = (!waiting.is_empty()).then(|| waiting.join("\n"));
    let lines = [
        Some(first),
        waiting,
        kept,
        incomplete.as_ref().map(|reason| format!("incomplete: {reason}")),
        (*unrecorded > 0).then(|| {
            format!("not recorded: {unrecorded} other threads or processes that ran the program's code")
        }),
        (*events == 0 && incomplete.is_none()).then(|| nothing.to_owned()),
        lacking.as_ref().map(|what| format!("recording is about ten times faster with {what}")),
        (*removed > 0).then(|| format!("removed to make room: {removed} old recordings")),
        (!output.trim().is_empty()).then(|| format!("output:\n{}", output.trim_end())),
    ];
    lines.into_iter().flatten().map(|line| line + "\n").collect()
}

/// The recordings there are, newest first, with their names, commands and ends.
pub fn listed(library: &Library) -> Value {
    let one =
        |each: recording::Listed| json!({ "name": each.name, "command": each.command, "end": each.end });
    library.list().into_iter().map(one).collect()
}

/// The calls of a recording between two events, for a picture.
pub fn calls(library: &Library, name: &str, from: Option<i64>, to: Option<i64>) -> Result<Value, String> {
    drawn(library, name, |recording| timeline::timeline(recording, from, to))
}

/// The values of the variables or attributes of a name, for a picture.
pub fn values(library: &Library, name: &str, target: &str) -> Result<Value, String> {
    drawn(library, name, |recording| timeline::values(recording, target))
}

/// The state at a moment, with the event that the moment is.
pub fn state(library: &Library, name: &str, at: Option<&str>) -> Result<Value, String> {
    drawn(library, name, |recording| timeline::state(recording, at))
}

fn drawn<T: Serialize>(
    library: &Library,
    name: &str,
    question: impl FnOnce(&Recording) -> recording::Result<T>,
) -> Result<Value, String> {
    let drawn = library.open(name).and_then(|recording| question(&recording));
    let drawn = drawn.map_err(|error| error.to_string())?;
    serde_json::to_value(drawn).map_err(|error| error.to_string())
}

/// The recordings there are, newest first.
pub fn list(context: &Context) -> String {
    let listed = library(context).list();
    if listed.is_empty() {
        return "no recordings\n".to_owned();
    }
    let line = |each: &recording::Listed| {
        let recording::Listed { name, command, end, events, size, .. } = each;
        let events = if events.is_empty() { String::new() } else { format!(", {events} events") };
        format!("{name}: {command}; {end}{events}, {}\n", kilobytes(*size))
    };
    listed.iter().map(line).collect()
}

fn kilobytes(bytes: u64) -> String {
    if bytes < 10 << 20 { format!("{} KB", bytes.div_ceil(1024)) } else { format!("{} MB", bytes >> 20) }
}
