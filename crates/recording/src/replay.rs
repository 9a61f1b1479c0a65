//! A recording as a debug adapter: it moves through the run in both directions, and nothing runs.
//!
//! Source: Debug Adapter Protocol 1.71, with `stepBack` and `reverseContinue`. A client launches a recording instead of
//! a program; its arguments are those of [`Launch`].

mod breakpoints;
mod moves;
mod values;

use dap::server::{MessageWriter, RequestReader, Unreadable};
use dap::{ConditionFailedEvent, IncomingRequest, Request};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};

use self::breakpoints::Breakpoints;
use self::moves::{Direction, Move, Position, Reached};
use self::values::References;
use crate::error::Result;
use crate::library::Library;
use crate::reading::Recording;

/// Bytes of a request.
const MOST: usize = 1 << 20;

/// The arguments of `launch`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Launch {
    /// The name of a recording; the newest if there is none.
    recording: Option<String>,
    /// The moment to begin at, such as `app.py:12#3` or `exception`.
    at: Option<String>,
    /// Stop before the first line rather than at the first breakpoint.
    stop_on_entry: bool,
}

/// Serves a client until it leaves. `recording` is the default.
pub async fn serve(
    library: &Library,
    recording: Option<&str>,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
) -> std::io::Result<()> {
    let mut requests = RequestReader::new(reader, MOST);
    let mut writer = MessageWriter::new(writer);
    let mut conversation = Conversation { library, named: recording, replay: None, events: Vec::new() };
    loop {
        let request = match requests.next().await {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(Unreadable::Stream(error)) => return Err(error),
            Err(error) => return Err(std::io::Error::other(error)),
        };
        let answer = conversation.answer(&request).map_err(|error| error.to_string());
        writer.respond(&request, answer).await?;
        for (name, body) in conversation.events.drain(..) {
            writer.event(name, body).await?;
        }
        if request.command == dap::Disconnect::COMMAND {
            return writer.shutdown().await;
        }
    }
}

struct Conversation<'a> {
    library: &'a Library,
    named: Option<&'a str>,
    replay: Option<Replay>,
    /// What is sent after the answer.
    events: Vec<(&'static str, Value)>,
}

/// A recording that is moved through.
struct Replay {
    recording: Recording,
    launch: Launch,
    position: Position,
    breakpoints: Breakpoints,
    references: References,
    /// Output until this event was sent.
    shown: i64,
}

fn read<R: Request<Arguments: serde::de::DeserializeOwned>>(
    request: &IncomingRequest,
) -> Result<R::Arguments> {
    request.read::<R>().map_err(crate::Error::question)
}

fn body(content: &impl Serialize) -> Result<Value> {
    serde_json::to_value(content).map_err(|error| crate::Error::question(error.to_string()))
}

impl Conversation<'_> {
    fn answer(&mut self, request: &IncomingRequest) -> Result<Value> {
        match request.command.as_str() {
            dap::Initialize::COMMAND => {
                request.check_positions().map_err(crate::Error::question)?;
                return body(&capabilities());
            }
            dap::Disconnect::COMMAND | dap::Terminate::COMMAND => {
                self.events.push(("terminated", json!({})));
                return Ok(json!({}));
            }
            dap::Launch::COMMAND | dap::Attach::COMMAND => return self.launch(request),
            _ => {}
        }
        let Some(replay) = &mut self.replay else {
            return Err(crate::Error::question(format!("`{}` comes before `launch`", request.command)));
        };
        replay.answer(request, &mut self.events)
    }

    fn launch(&mut self, request: &IncomingRequest) -> Result<Value> {
        let arguments = read::<dap::Launch>(request)?;
        let launch: Launch = serde_json::from_value(Value::Object(arguments))
            .map_err(|error| crate::Error::question(format!("invalid arguments of `launch`: {error}")))?;
        let name = launch.recording.as_deref().or(self.named).unwrap_or("last");
        let recording = self.library.open(name)?;
        let position = recording.begin(launch.at.as_deref())?;
        self.replay = Some(Replay {
            recording,
            launch,
            position,
            breakpoints: Breakpoints::default(),
            references: References::default(),
            shown: 0,
        });
        self.events.push(("initialized", json!({})));
        Ok(json!({}))
    }
}

fn capabilities() -> Map<String, Value> {
    let filter = |filter: &str, label: &str, default: bool| json!({ "filter": filter, "label": label, "default": default });
    let filters = json!([
        filter("uncaught", "Exception that ended the program", true),
        filter("raised", "All exceptions", false)
    ]);
    let able = [
        "supportsConfigurationDoneRequest",
        "supportsConditionalBreakpoints",
        "supportsFunctionBreakpoints",
        "supportsExceptionInfoRequest",
        "supportsEvaluateForHovers",
        "supportsTerminateRequest",
        "supportTerminateDebuggee",
        "supportsDelayedStackTraceLoading",
        "supportsStepBack",
    ];
    let able = able.into_iter().map(|name| (name.to_owned(), true.into()));
    able.chain([("exceptionBreakpointFilters".to_owned(), filters)]).collect()
}

type Events = Vec<(&'static str, Value)>;

impl Replay {
    fn answer(&mut self, request: &IncomingRequest, events: &mut Events) -> Result<Value> {
        match request.command.as_str() {
            dap::SetBreakpoints::COMMAND => {
                let arguments = read::<dap::SetBreakpoints>(request)?;
                body(&self.breakpoints.set_lines(&self.recording, arguments))
            }
            dap::SetFunctionBreakpoints::COMMAND => {
                let arguments = read::<dap::SetFunctionBreakpoints>(request)?;
                body(&self.breakpoints.set_functions(&self.recording, arguments))
            }
            dap::SetExceptionBreakpoints::COMMAND => {
                self.breakpoints.filters = read::<dap::SetExceptionBreakpoints>(request)?.filters;
                Ok(json!({}))
            }
            dap::ConfigurationDone::COMMAND => {
                self.begin(events)?;
                Ok(json!({}))
            }
            dap::Continue::COMMAND => self.go(Move::Run(Direction::Forward), events),
            dap::ReverseContinue::COMMAND => self.go(Move::Run(Direction::Back), events),
            dap::Next::COMMAND => self.go(Move::Over(Direction::Forward), events),
            dap::StepBack::COMMAND => self.go(Move::Over(Direction::Back), events),
            dap::StepIn::COMMAND => self.go(Move::Into, events),
            dap::StepOut::COMMAND => self.go(Move::Out, events),
            // It never runs for longer than a request.
            dap::Pause::COMMAND => Ok(json!({})),
            dap::Threads::COMMAND => body(&self.threads()?),
            dap::StackTrace::COMMAND => body(&self.stack_trace(read::<dap::StackTrace>(request)?)?),
            dap::SourceText::COMMAND => body(&self.source(&read::<dap::SourceText>(request)?)?),
            dap::Scopes::COMMAND => body(&self.scopes(read::<dap::Scopes>(request)?)?),
            dap::Variables::COMMAND => body(&self.variables(&read::<dap::Variables>(request)?)?),
            dap::Evaluate::COMMAND => body(&self.evaluate(&read::<dap::Evaluate>(request)?)?),
            dap::ExceptionInfo::COMMAND => body(&self.exception_info()?),
            dap::SetVariable::COMMAND | dap::SetExpression::COMMAND => {
                Err(crate::Error::question("a recording cannot be changed; values can only be read"))
            }
            other => Err(crate::Error::question(format!("a recording does not answer `{other}`"))),
        }
    }

    /// Goes to where debugging begins.
    fn begin(&mut self, events: &mut Events) -> Result<()> {
        let command = self.recording.fact("command")?;
        events
            .push(("process", json!({ "name": command, "isLocalProcess": false, "startMethod": "launch" })));
        if self.launch.at.is_some() || self.launch.stop_on_entry {
            return self.stopped("entry", &[], events);
        }
        let reached = self.recording.run_from_start(&self.breakpoints, &self.position)?;
        self.arrive(&reached, events)
    }

    fn go(&mut self, how: Move, events: &mut Events) -> Result<Value> {
        let is_over = self.position.is_end && how == Move::Run(Direction::Forward);
        if is_over {
            let code = self.recording.exit_code()?;
            events.extend([("exited", json!({ "exitCode": code })), ("terminated", json!({}))]);
        } else {
            let reached = self.recording.go(how, &self.position, &self.breakpoints)?;
            self.arrive(&reached, events)?;
        }
        Ok(json!({ "allThreadsContinued": true }))
    }

    fn arrive(&mut self, reached: &Reached, events: &mut Events) -> Result<()> {
        self.position = reached.position;
        self.stopped(reached.reason, &reached.breakpoints, events)
    }

    fn stopped(&mut self, reason: &str, breakpoints: &[i64], events: &mut Events) -> Result<()> {
        for failed in self.breakpoints.unanswered() {
            events.push((ConditionFailedEvent::NAME, body(&failed)?));
        }
        self.references = References::default();
        self.send_output(events)?;
        let thread = self.recording.thread_of(&self.position.event)?;
        let text = match reason {
            "exception" => Some(crate::ask::exception(&self.recording, &self.position.event)?),
            "end" => Some("the recording ends here; continuing ends the session".to_owned()),
            "start" => Some("the recording begins here".to_owned()),
            _ => None,
        };
        let stopped = dap::StoppedEvent {
            reason: reason.to_owned(),
            text,
            thread_id: Some(thread),
            all_threads_stopped: true,
            hit_breakpoint_ids: breakpoints.to_vec(),
            ..dap::StoppedEvent::default()
        };
        events.push(("stopped", body(&stopped)?));
        Ok(())
    }

    /// Output is sent when it is passed for the first time.
    fn send_output(&mut self, events: &mut Events) -> Result<()> {
        for (event, stream, text) in self.recording.output_between(self.shown, self.position.moment())? {
            self.shown = event;
            let category = if stream == 2 { "stderr" } else { "stdout" };
            events.push(("output", json!({ "category": category, "output": text })));
        }
        Ok(())
    }
}
