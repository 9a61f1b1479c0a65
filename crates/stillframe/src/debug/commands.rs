//! Commands for an open session.

use anyhow::anyhow;
use clap::{Args, Subcommand, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};
use tools::render::{FrameData, LocationData, StopReport};

use super::EXIT_CODES;
use super::breakpoints::BreakArgs;
use super::client::{CLOSE, Client};
use super::record::{self, SessionRecord};
use super::show::{self, SessionData};
use crate::one_shot::CommandOutput;

/// Frames, characters of a value and lines around the line where a program has stopped.
const FRAMES: usize = 5;
const VALUE: usize = 200;
const AROUND: u32 = 3;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Set, list or remove breakpoints.
    Break(BreakArgs),
    /// Continue to the next stop, or wait for a running program to stop.
    #[command(after_help = EXIT_CODES)]
    Continue(WaitArg),
    /// Run one line.
    #[command(visible_alias = "next", after_help = EXIT_CODES)]
    Step {
        /// Step over calls, into the next call, or out of the function.
        #[arg(value_enum, default_value_t = StepKind::Over)]
        how: StepKind,
        #[command(flatten)]
        wait: WaitArg,
    },
    /// Pause the running program, even while another command waits for it.
    #[command(after_help = EXIT_CODES)]
    Pause(WaitArg),
    /// Evaluate an expression, or a statement such as `x = 1`, at the stop.
    Eval {
        /// Expression in the program's language.
        #[arg(allow_hyphen_values = true)]
        expression: String,
        #[command(flatten)]
        frame: FrameArg,
    },
    /// Print the local variables of a frame.
    Locals(FrameArg),
    /// Print the call stack.
    Stack,
    /// Print the program's output.
    Output {
        /// Skip output before this byte offset.
        #[arg(long, value_name = "BYTE", default_value_t = 0)]
        since: u64,
    },
    /// Print the program's state and location.
    Status,
    /// Restart the program with its breakpoints.
    #[command(after_help = EXIT_CODES)]
    Restart(WaitArg),
    /// End the session, and the program unless it was attached to.
    Stop,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum StepKind {
    Over,
    Into,
    Out,
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct WaitArg {
    /// Seconds to wait for the stop.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
}

impl WaitArg {
    /// As tools take it.
    pub(super) fn milliseconds(self) -> Option<u64> {
        self.timeout.map(|seconds| seconds.saturating_mul(1000))
    }
}

#[derive(Clone, Copy, Debug, Args)]
pub(super) struct FrameArg {
    /// Frame number in the stack.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    frame: usize,
}

impl FrameArg {
    /// As tools take it.
    async fn id(self, client: &mut Client) -> anyhow::Result<Value> {
        let number = self.frame;
        let stack = client.call("get_stack_trace", json!({ "start": number, "count": 1 })).await?;
        let id = stack.pointer("/stackFrames/0/id").cloned();
        id.ok_or_else(|| anyhow!("the stack has no frame {number}; `stillframe debug stack` prints them"))
    }
}

impl Command {
    /// Does it.
    pub(super) async fn run(self, client: &mut Client) -> anyhow::Result<CommandOutput> {
        let (tool, wait) = match self {
            Self::Break(args) => return args.run(client).await,
            Self::Eval { expression, frame } => {
                let frame = frame.id(client).await?;
                let arguments = json!({ "expression": expression, "frameId": frame });
                return show::value(client.call("evaluate_expression", arguments).await?);
            }
            Self::Locals(frame) => {
                let arguments = json!({ "frameId": frame.id(client).await? });
                return show::variables(client.call("get_local_variables", arguments).await?);
            }
            Self::Stack => return show::stack(client.call("get_stack_trace", json!({})).await?),
            Self::Output { since } => {
                return show::output(client.call("get_output", json!({ "since": since })).await?);
            }
            Self::Status => return status(client).await,
            Self::Stop => return Ok(show::closed(client.call(CLOSE, json!({})).await?)),
            Self::Continue(wait) => ("continue_execution", wait),
            Self::Step { how: StepKind::Over, wait } => ("step_over", wait),
            Self::Step { how: StepKind::Into, wait } => ("step_into", wait),
            Self::Step { how: StepKind::Out, wait } => ("step_out", wait),
            Self::Pause(wait) => ("pause_execution", wait),
            Self::Restart(wait) => ("restart_debugging", wait),
        };
        show::stop(client.call(tool, json!({ "timeout": wait.milliseconds() })).await?)
    }
}

/// The sessions that a command from here finds.
pub(super) async fn list() -> anyhow::Result<CommandOutput> {
    let mut sessions = Vec::new();
    for place in record::all()? {
        match place.look().await {
            Ok(SessionRecord::Live(mut client)) => {
                let found = session(&mut client).await?;
                sessions.extend(found.map(|found| SessionData { session: place.session, ..found }));
            }
            Ok(SessionRecord::Dead(record)) => place.forget(&record),
            // It may belong to another user.
            Ok(SessionRecord::Nothing) | Err(_) => {}
        }
    }
    Ok(show::sessions(&sessions))
}

/// What there is to know of the session; none before it is there.
pub(super) async fn session(client: &mut Client) -> anyhow::Result<Option<SessionData>> {
    let known = client.call("list_debug_sessions", json!({})).await?;
    Ok(known.pointer("/sessions/0").map(SessionData::deserialize).transpose()?)
}

/// What the program is doing. A stopped one is reported as it was at the stop.
async fn status(client: &mut Client) -> anyhow::Result<CommandOutput> {
    let mut session = session(client).await?.ok_or_else(|| anyhow!("the session is starting"))?;
    if session.state == "paused" {
        session.stop = Some(stop(client).await?);
    }
    show::session(session)
}

/// Where the program has stopped, as when it did.
async fn stop(client: &mut Client) -> anyhow::Result<StopReport> {
    let mut stack = client.call("get_stack_trace", json!({ "count": FRAMES })).await?;
    let mut locals = client.call("get_local_variables", json!({ "maxLength": VALUE })).await?;
    let take = |data: &mut Value, field| data.get_mut(field).map(Value::take).unwrap_or_default();
    let stack_frames: Vec<FrameData> = serde_json::from_value(take(&mut stack, "stackFrames"))?;
    let mut report = StopReport {
        success: true,
        state: "paused".to_owned(),
        locals: serde_json::from_value(take(&mut locals, "variables"))?,
        ..StopReport::default()
    };
    if let Some(FrameData { name, file, line, column, .. }) = stack_frames.first() {
        let around = json!({ "file": file, "line": line, "linesContext": AROUND });
        // There is none of code that is in no file.
        let mut source = client.call("get_source_context", around).await.unwrap_or_default();
        let lines = serde_json::from_value(take(&mut source, "surrounding")).unwrap_or_default();
        report.source = show::window(lines, Some(*line));
        report.location = Some(LocationData {
            file: file.clone(),
            line: *line,
            column: *column,
            generated: None,
            function: name.clone(),
            thread_id: 0,
        });
    }
    Ok(StopReport { stack_frames, ..report })
}
