//! One operation of the command line: its own sessions, which end with it, and an answer as text or JSON.

use std::borrow::Cow;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use engine::policy::{Policy, SharedPolicy};
use engine::safety::ClientRoots;
use engine::sessions::Sessions;
use journal::Journal;
use journal::redaction;
use journal::visible::visible;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tools::{Context, JournaledCall, Report, hide_in_data, hide_in_text, quoted, say_hidden, show_in_data};

use crate::{terminal, via};

/// What shells give for a command that Ctrl-C ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// The longest time of a command, in seconds: a year. No limit applies to commands, but clocks end somewhere.
pub(crate) const LONGEST_TIMEOUT: u64 = 365 * 24 * 60 * 60;

/// What a command runs with.
#[derive(Clone, Debug)]
pub(crate) struct RunContext {
    /// Where events are recorded.
    pub(crate) journal: Journal,
    /// The file of the journal; none if the journal is off.
    pub(crate) log_file: Option<PathBuf>,
    /// Answers show likely credentials.
    pub(crate) shows_credentials: bool,
    /// Safety rules and limits.
    pub(crate) policy: SharedPolicy,
    /// A relay on another machine has started this.
    pub(crate) is_relayed: bool,
}

impl RunContext {
    /// For calls that open their own sessions.
    pub(crate) fn context(&self) -> Context {
        let sessions = Sessions::with_policy(self.journal.clone(), Arc::clone(&self.policy));
        Context::new(sessions).showing_credentials(self.shows_credentials)
    }

    /// The same for a call that may wait as long as its user says, whatever the limit for agents is.
    pub(crate) fn waiting_up_to(&self, time: Duration) -> Context {
        let mut policy = Policy::clone(&self.policy);
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        policy.bounds.longest_wait = policy.bounds.longest_wait.max(milliseconds);
        Self { policy: Arc::new(policy), ..self.clone() }.context()
    }

    /// The same for one of several clients, with its own list of allowed folders if clients say them.
    pub(crate) fn context_of_client(&self) -> Context {
        if self.policy.safety.client_roots.is_none() {
            return self.context().of_several();
        }
        let mut policy = Policy::clone(&self.policy);
        policy.safety.client_roots = Some(ClientRoots::default());
        Self { policy: Arc::new(policy), ..self.clone() }.context().of_several()
    }
}

/// What a command prints, and its exit code.
pub(crate) struct CommandOutput {
    /// For a terminal.
    pub(crate) text: String,
    /// The same as JSON.
    pub(crate) data: Value,
    /// The exit code.
    pub(crate) code: u8,
    /// How many likely credentials are hidden in it.
    pub(crate) hidden: usize,
}

/// What a command reports.
pub(crate) trait CommandReport: Serialize + DeserializeOwned {
    /// For a terminal.
    fn text(&self) -> String;
}

/// How a command prints its report, wherever that is from.
#[derive(Clone, Copy)]
pub(crate) struct Presentation {
    as_json: bool,
    text: fn(Value) -> serde_json::Result<String>,
}

impl Presentation {
    /// For reports of this kind.
    pub(crate) fn of<R: CommandReport>(as_json: bool) -> Self {
        Self { as_json, text: |data| Ok(serde_json::from_value::<R>(data)?.text()) }
    }

    /// Reads the line of the command on another machine. None if it is another line.
    pub(crate) fn received(
        self,
        line: &[u8],
        shows_credentials: bool,
        change: impl FnOnce(&mut Value),
    ) -> Option<String> {
        let Ok(Relayed { mut answer, hidden }) = serde_json::from_slice(line) else { return None };
        change(&mut answer);
        let mut text = (self.text)(answer.clone()).ok()?;
        if !shows_credentials {
            redaction::hide_in_text(&mut text);
        }
        CommandOutput { text, data: answer, code: 0, hidden }.printed(self.as_json).ok()
    }
}

/// What a command prints for the one that waits for it on another machine, which makes text of it there.
#[derive(Serialize, Deserialize)]
struct Relayed {
    answer: Value,
    hidden: usize,
}

impl CommandOutput {
    /// A report in both shapes.
    pub(crate) fn new(report: &impl CommandReport, code: u8) -> anyhow::Result<Self> {
        Ok(Self { text: report.text(), data: serde_json::to_value(report)?, code, hidden: 0 })
    }

    fn printed(mut self, as_json: bool) -> anyhow::Result<String> {
        if as_json {
            return Ok(serde_json::to_string_pretty(&self.data)? + "\n");
        }
        if self.hidden > 0 {
            say_hidden(&mut self.text, self.hidden);
            self.text.push('\n');
        }
        Ok(self.text)
    }
}

/// How it is done.
pub(crate) struct OneShot {
    /// The command, such as `probe`.
    pub(crate) name: &'static str,
    /// What it runs with.
    pub(crate) run_context: RunContext,
    /// The answer is printed as JSON.
    pub(crate) as_json: bool,
    /// At which Ctrl-C it is given up: the first, unless the operation makes something of that one itself.
    pub(crate) patience: usize,
}

impl OneShot {
    /// Does it, and prints what came of it.
    pub(crate) async fn run(
        self,
        operation: impl AsyncFnOnce(&Context) -> anyhow::Result<CommandOutput>,
    ) -> anyhow::Result<ExitCode> {
        let context = self.run_context.context().reporting(Some(progress()));
        let tool = format!("stillframe {}", self.name);
        let mut call = JournaledCall::begin(&context, &tool, &command_line(self.run_context.is_relayed));
        let output = tokio::select! {
            output = operation(&context) => Some(output),
            () = interrupted(self.patience) => None,
            () = via::relay_gone(), if self.run_context.is_relayed => None,
        };
        context.sessions.close_all().await;
        let Some(output) = output else { return Ok(ExitCode::from(INTERRUPTED)) };
        let output = output.map(shown).map_err(shown_error);
        let output = if self.run_context.shows_credentials {
            output
        } else {
            output.map(hidden).map_err(hidden_error)
        };
        let output = output.inspect_err(|error| call.failed(&format!("{error:#}")))?;
        call.answered(output.data.as_object().unwrap_or(&Map::new()));
        let code = output.code;
        terminal::print(&if self.run_context.is_relayed {
            serde_json::to_string(&Relayed { answer: output.data, hidden: output.hidden })? + "\n"
        } else {
            output.printed(self.as_json)?
        })?;
        Ok(ExitCode::from(code))
    }
}

/// Says what takes long: to a person each time, and into a file or a pipe ever more rarely.
fn progress() -> Report {
    let (is_terminal, reported) = (std::io::stderr().is_terminal(), AtomicUsize::new(0));
    Report::new(move |message| {
        let number = reported.fetch_add(1, Ordering::Relaxed) + 1;
        if is_terminal || number.is_power_of_two() {
            terminal::hint(&message);
        }
    })
}

/// With every character visible. The terminal does this for text, into which it writes colours.
fn shown(mut output: CommandOutput) -> CommandOutput {
    show_in_data(&mut output.data);
    output
}

/// An error keeps what it is made of, unless something in it cannot be seen.
fn shown_error(error: anyhow::Error) -> anyhow::Error {
    let text = format!("{error:#}");
    match visible(&text) {
        Cow::Borrowed(_) => error,
        Cow::Owned(shown) => anyhow::Error::msg(shown),
    }
}

/// Redacted.
fn hidden(mut output: CommandOutput) -> CommandOutput {
    output.hidden = hide_in_data(&mut output.data);
    // A long text may have been broken into lines; the terminal has hidden what was in it before.
    redaction::hide_in_text(&mut output.text);
    output
}

/// An error keeps what it is made of, unless a credential is in it.
fn hidden_error(error: anyhow::Error) -> anyhow::Error {
    let mut text = format!("{error:#}");
    if hide_in_text(&mut text) > 0 { anyhow::Error::msg(text) } else { error }
}

async fn interrupted(times: usize) {
    for _ in 0..times {
        // Where signals cannot be heard, they end the program without its help.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// What was typed, behind the name of the command. A relay has added the first word.
fn command_line(is_relayed: bool) -> Map<String, Value> {
    let words: Vec<String> =
        std::env::args().skip(2 + usize::from(is_relayed)).map(|word| quoted(&word)).collect();
    Map::from_iter([("command".to_owned(), words.join(" ").into())])
}
