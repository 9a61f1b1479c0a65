//! What begins a session: `debug launch` and `debug attach`.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use engine::model::launch::{Launch, Program, Stdin};
use engine::process::background;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tools::LocationArg;

use super::breakpoints::{self, RuleArgs};
use super::client::{CLOSE, Client};
use super::commands::{self, WaitArg};
use super::host::StartStatus;
use super::record::{SessionPlace, SessionRecord};
use super::{ARGUMENT, show};
use crate::one_shot::CommandOutput;
use crate::program::ProgramArgs;
use crate::terminal;

/// A program to start.
#[derive(Debug, Args)]
pub(super) struct LaunchArgs {
    /// Program to run. Without it, the words after `--` are a command as you would type it.
    #[arg(required_unless_present_any = ["args", "program"])]
    file: Option<PathBuf>,
    #[command(flatten)]
    stops: StopsArg,
    /// Stop before the first line.
    #[arg(long)]
    stop_on_entry: bool,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    wait: WaitArg,
}

/// A program that runs.
#[derive(Debug, Args)]
pub(super) struct AttachArgs {
    /// Process ID on this machine.
    #[arg(long, value_name = "PID", required_unless_present = "port", conflicts_with = "port")]
    pid: Option<u32>,
    /// Port that its debugger listens on.
    #[arg(long)]
    port: Option<u16>,
    /// Host of that port.
    #[arg(long, requires = "port")]
    host: Option<String>,
    /// Language of the program.
    #[arg(long, value_parser = crate::cli::languages())]
    language: String,
    #[command(flatten)]
    stops: StopsArg,
    /// Pause the program after attaching.
    #[arg(long)]
    stop_on_entry: bool,
    #[command(flatten)]
    wait: WaitArg,
}

/// Where to stop.
#[derive(Debug, Args)]
struct StopsArg {
    /// Set a breakpoint, as `stillframe debug break` does (repeatable).
    #[arg(short, long = "break", value_name = "PLACE", value_parser = breakpoints::place)]
    breaks: Vec<LocationArg>,
}

impl LaunchArgs {
    /// Starts it. Of what fails, nothing is left.
    pub(super) async fn run(self, session: Option<&str>) -> anyhow::Result<CommandOutput> {
        let command = self.program.command(self.file.as_deref())?;
        let opened = json!({
            "language": command.adapter.name(),
            "name": command.title(),
            "executablePath": command.executable,
        });
        let launch = Launch { stop_on_entry: self.stop_on_entry, ..command.launch };
        let started = start(launch, self.wait.milliseconds());
        let report = begin(session, opened, self.stops, ("start_debugging", started)).await?;
        show::stop(report)
    }
}

impl AttachArgs {
    /// Connects to it. Of what fails, nothing is left.
    pub(super) async fn run(self, session: Option<&str>) -> anyhow::Result<CommandOutput> {
        let to = self.pid.map_or_else(
            || format!("port {}", self.port.unwrap_or_default()),
            |pid| format!("process {pid}"),
        );
        let opened = json!({ "language": self.language, "name": to });
        let attached = json!({
            "processId": self.pid,
            "port": self.port,
            "host": self.host,
            "stopOnEntry": self.stop_on_entry,
            "timeout": self.wait.milliseconds(),
        });
        let report = begin(session, opened, self.stops, ("attach_to_process", attached)).await?;
        show::attached(report)
    }
}

/// A start as the tool takes it.
fn start(launch: Launch, timeout: Option<u64>) -> Value {
    let (script, module) = match launch.program {
        Program::Script(path) | Program::Package(path) => (Some(path), None),
        Program::Module(name) => (None, Some(name)),
        Program::Command => (None, None),
    };
    let stdin = if let Stdin::File(path) = launch.stdin { Some(path) } else { None };
    json!({
        "scriptPath": script,
        "module": module,
        "args": launch.args,
        "runtimeArgs": launch.runtime_args,
        "cwd": launch.cwd,
        "env": launch.env,
        "stdinFile": stdin,
        "dapLaunchArgs": { "stopOnEntry": launch.stop_on_entry, "justMyCode": launch.just_my_code, "nativeToo": launch.native_too },
        "timeout": timeout,
    })
}

/// Opens a session in a process of its own, sets breakpoints and starts. Of what fails, nothing is left.
async fn begin(
    session: Option<&str>,
    opened: Value,
    stops: StopsArg,
    (tool, arguments): (&str, Value),
) -> anyhow::Result<Value> {
    let client = &mut host(&SessionPlace::here(session)?).await?;
    let started = async {
        client.call("create_debug_session", opened).await?;
        for place in stops.breaks {
            let arguments = breakpoints::arguments(place, &RuleArgs::default());
            let breakpoint = client.call("set_breakpoint", arguments).await?;
            if breakpoint.get("requestedLine").is_some() {
                terminal::hint(breakpoint.get("message").and_then(Value::as_str).unwrap_or_default());
            }
        }
        client.call(tool, arguments).await
    };
    let started = started.await;
    if started.is_err() {
        // One that is gone has left nothing either.
        let _ = client.call(CLOSE, json!({})).await;
    }
    started
}

/// A background process for a session of this place. One whose program has ended makes room for it.
async fn host(place: &SessionPlace) -> anyhow::Result<Client> {
    if let SessionRecord::Live(mut client) = place.look().await? {
        let session = commands::session(&mut client).await?;
        let session = session.context("a debug session is already starting here")?;
        if session.state != "ended" {
            bail!(
                "a debug session is already open here: {} is {}; end it with `stillframe debug stop`, or \
                 open another one with --session NAME",
                session.name,
                session.state
            );
        }
        client.call(CLOSE, json!({})).await?;
    }
    let words = std::iter::once(ARGUMENT.into()).chain(std::env::args_os().skip(1));
    let said = background::start(words).context("cannot start the background process")?;
    let mut line = String::new();
    BufReader::new(said).read_line(&mut line).await?;
    match serde_json::from_str(&line).context("the background process ended before it was ready")? {
        StartStatus::Failed(problem) => bail!(problem),
        StartStatus::Listening => match place.look().await? {
            SessionRecord::Live(client) => Ok(client),
            SessionRecord::Nothing | SessionRecord::Dead(_) => {
                bail!("the background process ended before the first request")
            }
        },
    }
}
