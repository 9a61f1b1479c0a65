//! The events that the agent sends, and what they change in those of pydevd.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Weak};

use serde::Deserialize;
use serde_json::Value as Json;

use super::Python;
use super::agent::{FunctionLookup, FunctionPlace};
use super::ahead::Sent;
use crate::debugger::dap::Extension;
use crate::debugger::{BindResult, Debugger, Event, Step};
use crate::model::data_breakpoint::{CodeLine, DataChange};
use crate::model::ids::{BreakpointId, RawId};
use crate::model::stop::StopReason;
use crate::sources;

/// What is added to the events of the specification.
pub(super) struct PythonEvents {
    python: Weak<Python>,
    /// The breakpoints that the agent named for stops that are still to come, by thread.
    decided: BTreeMap<i64, Hit>,
    /// Threads that were called into a function that one of these is on, and go on to the first line of its body.
    entering: BTreeMap<i64, Vec<BreakpointId>>,
}

/// What the agent named for a stop.
struct Hit {
    ids: Vec<BreakpointId>,
    /// The thread is at the call of a function, before its first line.
    enters: bool,
    /// What happened to watched values.
    changes: Vec<DataChange>,
}

impl PythonEvents {
    pub(super) fn new(python: Weak<Python>) -> Self {
        Self { python, decided: BTreeMap::new(), entering: BTreeMap::new() }
    }
}

impl Extension for PythonEvents {
    fn custom(&mut self, name: &str, body: Json) -> Vec<Event> {
        let Some(python) = self.python.upgrade().filter(|_| name == "stillframe") else { return Vec::new() };
        match serde_json::from_value(body) {
            Ok(event) => self.agent_event(&python, event),
            Err(error) => {
                tracing::warn!(%error, "skipped a malformed event of the agent");
                Vec::new()
            }
        }
    }

    fn map_event(&mut self, event: Event) -> Vec<Event> {
        let Some(python) = self.python.upgrade() else { return vec![event] };
        match event {
            Event::Stopped { thread, reason, text, .. } => {
                if self.continues_to_first_line(&python, thread, &reason) {
                    return Vec::new();
                }
                python.pausing.stopped();
                if let Some(agent) = python.agent.get() {
                    agent.ahead.stopped();
                }
                let hit = self.decided.remove(&thread.0);
                let (mut breakpoints, changes) = hit.map(|hit| (hit.ids, hit.changes)).unwrap_or_default();
                let mut reason = reason;
                if reason == StopReason::Breakpoint
                    && !changes.is_empty()
                    && changes.len() == breakpoints.len()
                {
                    reason = StopReason::DataBreakpoint;
                }
                if let Some(entered) = self.entering.remove(&thread.0)
                    && matches!(reason, StopReason::Step | StopReason::Breakpoint)
                {
                    reason = StopReason::Breakpoint;
                    breakpoints.extend(entered);
                }
                let changes = changes.into_iter().map(Event::DataChanged);
                changes.chain([Event::Stopped { thread, reason, text, breakpoints }]).collect()
            }
            Event::Continued => {
                if let Some(agent) = python.agent.get() {
                    agent.forget();
                }
                vec![Event::Continued]
            }
            other => vec![other],
        }
    }
}

impl PythonEvents {
    /// pydevd stops at a function before its first line. A thread that has only reached one continues to that line;
    /// its next stop is the one to report.
    fn continues_to_first_line(&mut self, python: &Arc<Python>, thread: RawId, reason: &StopReason) -> bool {
        let enters = self.decided.get(&thread.0).is_some_and(|hit| hit.enters);
        if !enters || self.decided.len() > 1 || *reason != StopReason::Breakpoint {
            return false;
        }
        let entered = self.decided.remove(&thread.0).map(|hit| hit.ids).unwrap_or_default();
        self.entering.insert(thread.0, entered);
        let python = Arc::clone(python);
        // What arrives is taken in order, and the answer arrives too.
        tokio::spawn(async move {
            if let Err(error) = python.dap.step(thread, Step::Over).await {
                tracing::warn!(%error, "cannot continue to the first line of a function");
            }
        });
        true
    }
}

/// A change as the agent has it.
#[derive(Deserialize)]
struct RawChange {
    id: u32,
    expression: String,
    old: String,
    new: String,
    by: Option<RawLine>,
}

#[derive(Deserialize)]
struct RawLine {
    function: String,
    file: String,
    line: u32,
}

impl From<RawChange> for DataChange {
    fn from(raw: RawChange) -> Self {
        let RawChange { id, expression, old, new, by } = raw;
        let by = by.map(|RawLine { function, file, line }| CodeLine { function, file, line });
        // Reading stops no program.
        Self { id: BreakpointId(id), expression, old, new, is_read: false, by }
    }
}

/// What `tell` in the agent sends.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum AgentEvent {
    /// Where a thread stops next; without breakpoints when it has gone on instead.
    Hit {
        ids: Vec<u32>,
        thread: i64,
        #[serde(default)]
        enters: bool,
        #[serde(default)]
        changes: Vec<RawChange>,
    },
    /// The storage of a watched value is gone.
    Unwatched {
        id: u32,
        reason: String,
    },
    Logged {
        id: u32,
        text: String,
    },
    Failed {
        id: u32,
        message: String,
        times: u64,
    },
    /// A line of a recording that did not go by the pipe.
    Recorded {
        id: u32,
        line: String,
    },
    /// The answer to `find_function` and `report_file`.
    Found {
        place: u64,
        #[serde(flatten)]
        found: FunctionLookup,
    },
    /// The program loads the file that these waited for, or one with the function.
    Bound {
        ids: Vec<u32>,
        line: Option<u32>,
        /// Where the function is.
        #[serde(default)]
        at: Option<FunctionPlace>,
    },
    /// The answer of the sampler to a request.
    Answer {
        number: u64,
        body: Json,
    },
    /// The program ends, and has never loaded this file.
    Unloaded {
        ids: Vec<u32>,
        file: String,
        /// The files of its own that it has loaded.
        loaded: Vec<String>,
    },
    /// Answers to what is requested at the stop that follows.
    Ahead(Sent),
    /// The program ends, and has sent everything.
    Flushed,
}

impl PythonEvents {
    fn agent_event(&mut self, python: &Python, event: AgentEvent) -> Vec<Event> {
        match event {
            AgentEvent::Found { place, found } => {
                if let Some(agent) = python.agent.get() {
                    agent.found(place, found);
                }
                Vec::new()
            }
            AgentEvent::Bound { ids, line, at } => {
                bind_events(ids, &at.map_or_else(|| BindResult::on(line), FunctionPlace::bound))
            }
            AgentEvent::Answer { number, body } => {
                python.sampling.answered(number, body);
                Vec::new()
            }
            AgentEvent::Unwatched { id, reason } => bind_events(vec![id], &BindResult::Refused(reason)),
            AgentEvent::Hit { ids, thread, enters, changes } => {
                if ids.is_empty() {
                    self.decided.remove(&thread);
                } else {
                    let ids = ids.into_iter().map(BreakpointId).collect();
                    let changes = changes.into_iter().map(DataChange::from).collect();
                    self.decided.insert(thread, Hit { ids, enters, changes });
                }
                Vec::new()
            }
            AgentEvent::Logged { id, text } => vec![Event::Logged { id: BreakpointId(id), text }],
            AgentEvent::Failed { id, message, times } => {
                vec![Event::RuleFailed { id: BreakpointId(id), message, times }]
            }
            AgentEvent::Recorded { id, line } => vec![Event::Recorded { id: BreakpointId(id), line }],
            AgentEvent::Unloaded { ids, file, loaded } => {
                bind_events(ids, &BindResult::NotLoaded(sources::not_loaded(Path::new(&file), loaded)))
            }
            AgentEvent::Ahead(sent) => {
                if let Some(agent) = python.agent.get() {
                    agent.ahead.arrived(sent);
                }
                Vec::new()
            }
            AgentEvent::Flushed => Vec::new(),
        }
    }
}

/// The same became of each.
fn bind_events(ids: Vec<u32>, result: &BindResult) -> Vec<Event> {
    let news = |id| Event::BindResult { id: BreakpointId(id), result: result.clone() };
    ids.into_iter().map(news).collect()
}
