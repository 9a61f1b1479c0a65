//! Watching values: the agent compares them before each line of user code.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::places::rule_spec;
use super::{AgentClient, PURE, call_text};
use crate::adapter::python::AGENT;
use crate::deadlines;
use crate::debugger::{BindResult, DataBreakpoint, DataRequest};
use crate::error::Result;
use crate::lock::lock;

/// The name of the module that watches.
const WATCH: &str = "stillframe_watch";

#[derive(Deserialize)]
struct FoundStorage {
    id: String,
    /// Which writes stop the program, and which do not, as it was when this was found.
    note: Option<String>,
}

impl AgentClient {
    /// Finds the storage of a value.
    pub(in super::super) async fn find_storage(&self, request: DataRequest) -> Result<String> {
        let DataRequest { expression, frame, access } = request;
        self.pure.get_or_try_init(|| self.load(PURE, AGENT.pure)).await?;
        self.watch.get_or_try_init(|| self.load(WATCH, AGENT.watch)).await?;
        let arguments = json!([frame.0, expression, access.as_str()]);
        let found: FoundStorage = self.call(frame, "watch", arguments, deadlines::REQUEST).await?;
        if let Some(note) = found.note {
            lock(&self.watch_notes).insert(found.id.clone(), note);
        }
        Ok(found.id)
    }

    /// Replaces what is watched.
    pub(in super::super) async fn watch(&self, wanted: Vec<DataBreakpoint>) -> Result<Vec<BindResult>> {
        if !self.watch.initialized() {
            return Ok(wanted
                .iter()
                .map(|_| {
                    BindResult::Refused(
                        "the watched object no longer exists; set the breakpoint again while paused"
                            .to_owned(),
                    )
                })
                .collect());
        }
        let data = |data: &DataBreakpoint| {
            json!([data.data_id, data.expression, rule_spec(&data.rule), data.enabled])
        };
        let request: Vec<Json> = wanted.iter().map(data).collect();
        self.execute(call_text(WATCH, "watch", &json!(request))).await?;
        let notes = lock(&self.watch_notes);
        let bound =
            |data: &DataBreakpoint| BindResult::on(None).with_warning(notes.get(&data.data_id).cloned());
        Ok(wanted.iter().map(bound).collect())
    }
}
