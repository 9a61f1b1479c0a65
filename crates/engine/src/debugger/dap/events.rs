//! From the protocol's events to ours.

use std::sync::Weak;

use serde_json::Value as Json;
use tokio::sync::mpsc;

use super::breakpoints::{bind_result, complete, thread_at_breakpoint};
use super::rules::JudgedStop;
use super::together::{self, Messages};
use super::{Connection, DapDebugger, commands, data, lock, pausing, reverse, rules};
use crate::deadlines;
use crate::debugger::{Debugger, Event};
use crate::model::ids::RawId;
use crate::model::stop::{End, StopReason};
use crate::output::Category;

/// The signal that nothing survives.
const SIGKILL: i32 = 9;

/// What a language adds to the events of the specification.
pub(crate) trait Extension: Send + 'static {
    /// An event of the adapter's own.
    fn custom(&mut self, name: &str, body: Json) -> Vec<Event> {
        let _ = (name, body);
        Vec::new()
    }

    /// An event, before the session gets it.
    fn map_event(&mut self, event: Event) -> Vec<Event> {
        vec![event]
    }
}

/// Nothing is added.
impl Extension for () {}

/// Takes messages until the connection closes, or the adapter says that the program has ended: an adapter that was
/// there before us keeps the connection open.
pub(super) async fn pump(
    incoming: ::dap::Incoming,
    connection: Weak<Connection>,
    events: mpsc::Sender<Event>,
    mut extension: impl Extension,
) {
    let mut messages = Messages::new(incoming);
    while let Some(message) = messages.next().await {
        let Some(connection) = connection.upgrade() else { break };
        let debugger = DapDebugger(connection);
        let translated = match message {
            ::dap::Message::Event(::dap::Event::Terminated) => {
                lock(&debugger.0.end).get_or_insert(End::Gone);
                break;
            }
            ::dap::Message::Event(::dap::Event::Other(name, body)) => extension.custom(&name, body),
            ::dap::Message::Event(event) => {
                let events = match event {
                    ::dap::Event::Stopped(stop) => together::stopped(&debugger, stop, &mut messages).await,
                    event => translate(&debugger, event).await,
                };
                events.into_iter().flat_map(|event| extension.map_event(event)).collect()
            }
            ::dap::Message::Request(request) => {
                reverse::serve(&debugger, &request);
                Vec::new()
            }
        };
        drop(debugger);
        for event in translated {
            if events.send(event).await.is_err() {
                return;
            }
        }
    }
    if let Some(connection) = connection.upgrade() {
        lock(&connection.motion).ended();
    }
    start_settled(&connection).await;
    read_exit_status(&connection).await;
    // The session may have ended first.
    let _ = events.send(Event::Left).await;
}

/// Why a start has failed says more than that the connection is closed, so it is known before.
async fn start_settled(connection: &Weak<Connection>) {
    if let Some(connection) = connection.upgrade() {
        let _ = tokio::time::timeout(deadlines::LEAVING, connection.starting.lock()).await;
    }
}

/// Of a program that the adapter had us start, its exit status says most. One that runs on has not ended, whatever the
/// adapter says: what it traced the program with may be gone.
async fn read_exit_status(connection: &Weak<Connection>) {
    let Some(program) = connection.upgrade().and_then(|connection| connection.terminal.get().cloned()) else {
        return;
    };
    let ended = tokio::time::timeout(deadlines::KILL, program.ended()).await;
    let Some(connection) = connection.upgrade() else { return };
    let mut known = lock(&connection.end);
    match ended {
        Ok(end) => *known = Some(end),
        Err(_) if matches!(*known, None | Some(End::Gone)) => *known = Some(End::Lost),
        Err(_) => {}
    }
}

async fn translate(debugger: &DapDebugger, event: ::dap::Event) -> Vec<Event> {
    match event {
        ::dap::Event::Initialized => {
            debugger.0.initialized.send_replace(true);
            Vec::new()
        }
        ::dap::Event::Continued(_) => {
            lock(&debugger.0.references).forget();
            lock(&debugger.0.motion).continued();
            vec![Event::Continued]
        }
        ::dap::Event::Output(event) => {
            wrote(debugger, &event);
            Vec::new()
        }
        ::dap::Event::Breakpoint(event) => {
            let Some(number) = event.breakpoint.id else { return Vec::new() };
            let ended = data::ended(debugger, &event.breakpoint);
            if !ended.is_empty() {
                return ended;
            }
            let (owners, is_function) = {
                let breakpoints = lock(&debugger.0.breakpoints);
                (breakpoints.owners(number), breakpoints.is_function(number))
            };
            if !owners.is_empty() && !is_function {
                complete(debugger).await;
            }
            let placed = {
                let mut breakpoints = lock(&debugger.0.breakpoints);
                let placed = breakpoints.placed(event.breakpoint);
                breakpoints.moved(number, placed.line);
                placed
            };
            let result = bind_result(debugger, placed, is_function);
            owners.into_iter().map(|id| Event::BindResult { id, result: result.clone() }).collect()
        }
        ::dap::Event::ConditionFailed(event) => {
            let owners = lock(&debugger.0.breakpoints).owners(event.breakpoint_id);
            let failed = |id| Event::RuleFailed { id, message: event.message.clone(), times: event.times };
            owners.into_iter().map(failed).collect()
        }
        ::dap::Event::Process(event) => {
            if let Some(pid) = event.system_process_id.and_then(|pid| u32::try_from(pid).ok()) {
                // It is reported once.
                let _ = debugger.0.pid.set(pid);
            }
            Vec::new()
        }
        ::dap::Event::Exited(event) => {
            let end = (debugger.quirks().end)(event.exit_code);
            *lock(&debugger.0.end) = Some(end);
            Vec::new()
        }
        ::dap::Event::Progress(event) => {
            if let Some(message) = event.message.or(event.title) {
                debugger.sinks().progress.say(message);
            }
            Vec::new()
        }
        ::dap::Event::Stopped(_) | ::dap::Event::Terminated | ::dap::Event::Other(..) => Vec::new(),
    }
}

/// What the rules say of one stop. The program has gone on already where it had come to the stop in the middle of
/// something else.
pub(super) async fn stopped(debugger: &DapDebugger, mut stopped: ::dap::StoppedEvent) -> JudgedStop {
    lock(&debugger.0.references).forget();
    let Some(thread) = thread_of(debugger, &stopped).await else {
        tracing::warn!("skipped a stop without a thread");
        return JudgedStop::default();
    };
    let is_pause_event = stop_reason(&stopped.reason) == StopReason::Pause;
    let user = if is_pause_event { pausing::user_thread(debugger, thread).await } else { Some(thread) };
    let thread = user.unwrap_or(thread);
    let of_stop = [&stopped.description, &stopped.text].map(|text| text.clone().unwrap_or_default());
    *lock(&debugger.0.described) = of_stop.into();
    let texts = [stopped.text, stopped.description].into_iter().flatten();
    let description = texts.into_iter().find(|text| !text.is_empty());
    let mut held = lock(&debugger.0.motion).stopped(thread);
    let asked = debugger.0.pausing.take();
    if user.is_none() && asked && held.is_none() && pausing::again(debugger, thread).await {
        return JudgedStop::default();
    }
    let is_pause = description.as_deref().is_some_and(debugger.quirks().is_pause);
    let thread = if is_pause && asked { pausing::asked_thread(debugger, thread).await } else { thread };
    add_hits(debugger, thread, &mut stopped.hit_breakpoint_ids).await;
    let is_exception = lock(&debugger.0.breakpoints).stopped_at(&stopped.hit_breakpoint_ids);
    if description.as_deref().is_some_and(debugger.quirks().is_gone) {
        // Of a program that was killed while it stood still, the adapter may notice no end.
        lock(&debugger.0.end).get_or_insert(End::Killed { signal: SIGKILL, by_us: false });
        if let Some(adapter) = &debugger.0.options.adapter_process {
            adapter.kill().await;
        }
        return JudgedStop::default();
    }
    let is_passing = !asked
        && (is_missed_hit(debugger, thread, description.as_deref()).await
            || is_passing_error(debugger, thread, &stopped.hit_breakpoint_ids).await);
    if is_passing {
        return JudgedStop { held, ..JudgedStop::passing(thread, StopReason::Breakpoint) };
    }
    let is_data = description.as_deref().is_some_and(debugger.quirks().data.is_stop);
    let is_bad_condition = description.as_deref().is_some_and(debugger.quirks().is_bad_condition);
    let (reason, text) = match stop_reason(&stopped.reason) {
        StopReason::Exception if is_bad_condition => (StopReason::Breakpoint, None),
        // A pause can come out as the end of a step inside the function that it interrupts.
        reason if asked && (is_pause || reason == StopReason::Step) => (StopReason::Pause, None),
        StopReason::Breakpoint if is_data => (StopReason::DataBreakpoint, None),
        StopReason::Breakpoint if is_exception => (StopReason::Exception, None),
        reason => (reason, description),
    };
    if let Some(removal) = &mut held {
        let was_stepping = removal.released().await;
        let is_hold =
            is_pause || reason == StopReason::Pause || (reason == StopReason::Step && !was_stepping);
        if is_hold && !asked {
            return JudgedStop { held, ..JudgedStop::passing(thread, StopReason::Pause) };
        }
    }
    let is_for_breakpoints =
        reason == StopReason::Pause && !asked && debugger.quirks().pauses_for_breakpoints;
    let (thread, reason) = if is_for_breakpoints {
        match thread_at_breakpoint(debugger).await {
            Some(thread) => (thread, StopReason::Breakpoint),
            None => return JudgedStop { held, ..JudgedStop::passing(thread, reason) },
        }
    } else {
        (thread, reason)
    };
    let stop = rules::Stop { thread, reason, text, numbers: stopped.hit_breakpoint_ids, is_wanted: asked };
    JudgedStop { held, ..rules::apply(debugger, stop).await }
}

/// Adds the other breakpoints at the code of those that a thread has stopped at, if the adapter leaves them out.
async fn add_hits(debugger: &DapDebugger, thread: RawId, numbers: &mut Vec<i64>) {
    let Some(command) = debugger.quirks().hits_command else { return };
    if numbers.is_empty() || !lock(&debugger.0.breakpoints).have_neighbors(numbers) {
        return;
    }
    let answer = commands::run(debugger, None, format!("{command} {}", thread.0), deadlines::REQUEST).await;
    let answer = answer.unwrap_or_default();
    let all = answer.lines().filter_map(|line| line.strip_prefix("hit ")?.parse().ok());
    numbers.extend(all.filter(|number| !numbers.contains(number)).collect::<Vec<_>>());
}

/// Whether the program has come to a breakpoint that the debugger inserts or removes in this moment. It is as if the
/// breakpoint were inserted a little later, or removed a little earlier. Or it throws again what was reported.
async fn is_missed_hit(debugger: &DapDebugger, thread: RawId, description: Option<&str>) -> bool {
    let Some((described, command)) = debugger.quirks().missed_command else { return false };
    if !description.is_some_and(|description| described.contains(&description)) {
        return false;
    }
    let answer = commands::run(debugger, None, format!("{command} {}", thread.0), deadlines::REQUEST).await;
    answer.is_ok_and(|text| text.lines().any(|line| line == "missed"))
}

/// Whether a thread has returned an error that is handled, while another one has stopped the program.
async fn is_passing_error(debugger: &DapDebugger, thread: RawId, numbers: &[i64]) -> bool {
    let Some(command) = debugger.quirks().passing_error_command else { return false };
    if !lock(&debugger.0.breakpoints).are_of_errors(numbers) {
        return false;
    }
    let answer = commands::run(debugger, None, format!("{command} {}", thread.0), deadlines::REQUEST).await;
    answer.is_ok_and(|text| text.lines().any(|line| line == "passes"))
}

/// The specification lets an adapter leave out the thread where all of them have stopped.
async fn thread_of(debugger: &DapDebugger, stopped: &::dap::StoppedEvent) -> Option<RawId> {
    match stopped.thread_id {
        Some(thread) => Some(RawId(thread)),
        None if stopped.all_threads_stopped => {
            let first = debugger.threads().await.ok()?.first()?.id;
            Some(pausing::user_thread(debugger, first).await.unwrap_or(first))
        }
        None => None,
    }
}

pub(super) fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "breakpoint" | "function breakpoint" | "instruction breakpoint" => StopReason::Breakpoint,
        "data breakpoint" => StopReason::DataBreakpoint,
        "step" | "goto" => StopReason::Step,
        "entry" => StopReason::Entry,
        "exception" => StopReason::Exception,
        "pause" => StopReason::Pause,
        other => StopReason::Other(other.to_owned()),
    }
}

fn wrote(debugger: &DapDebugger, event: &::dap::OutputEvent) {
    let category = match event.category.as_deref() {
        Some("stdout") => Category::Stdout,
        Some("stderr") if debugger.quirks().mutes_stderr => return,
        Some("stderr") => Category::Stderr,
        Some("telemetry") => return,
        _ if debugger.quirks().mutes_console => return,
        _ => Category::Console,
    };
    let output = &debugger.sinks().output;
    if category != Category::Console && debugger.quirks().writes_crlf {
        output.append(category, &lock(&debugger.0.line_ends).decode(&event.output));
    } else {
        output.append(category, &event.output);
    }
}

/// Takes the CR of CR LF out of a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct LineEnds {
    held: bool,
}

impl LineEnds {
    fn decode(&mut self, piece: &str) -> String {
        let held = if std::mem::take(&mut self.held) { "\r" } else { "" };
        let mut text = format!("{held}{piece}").replace("\r\n", "\n");
        if text.ends_with('\r') {
            text.pop();
            self.held = true;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crlf_becomes_lf_even_across_chunks() {
        let mut ends = LineEnds::default();
        let pieces: Vec<String> = ["a\r\nb", "\r", "\nc\r", "d\r\n"].map(|piece| ends.decode(piece)).into();
        assert_eq!(pieces, ["a\nb", "", "\nc", "\rd\n"]);
    }
}
