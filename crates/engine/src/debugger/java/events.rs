//! The events that the bridge adds, and what they change in those of the specification.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::debugger::Event;
use crate::debugger::dap::Extension;
use crate::model::ids::BreakpointId;

/// The breakpoints whose rules ask for a stop that is still to come, by thread.
#[derive(Debug, Default)]
pub(super) struct JavaEvents(BTreeMap<i64, Vec<BreakpointId>>);

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum BridgeEvent {
    /// These breakpoints stop a thread next.
    Hit {
        ids: Vec<u32>,
        thread: i64,
    },
    Logged {
        id: u32,
        text: String,
    },
    Failed {
        id: u32,
        message: String,
    },
}

impl Extension for JavaEvents {
    fn custom(&mut self, name: &str, body: Json) -> Vec<Event> {
        if name != "stillframe" {
            return Vec::new();
        }
        match serde_json::from_value(body) {
            Ok(BridgeEvent::Hit { ids, thread }) => {
                self.0.entry(thread).or_default().extend(ids.into_iter().map(BreakpointId));
                Vec::new()
            }
            Ok(BridgeEvent::Logged { id, text }) => vec![Event::Logged { id: BreakpointId(id), text }],
            Ok(BridgeEvent::Failed { id, message }) => {
                vec![Event::RuleFailed { id: BreakpointId(id), message, times: 1 }]
            }
            Err(error) => {
                tracing::warn!(%error, "skipped a malformed event of the bridge");
                Vec::new()
            }
        }
    }

    fn map_event(&mut self, event: Event) -> Vec<Event> {
        match event {
            Event::Stopped { thread, reason, text, breakpoints } => {
                let breakpoints = self.0.remove(&thread.0).unwrap_or(breakpoints);
                vec![Event::Stopped { thread, reason, text, breakpoints }]
            }
            other => vec![other],
        }
    }
}
