//! A call for the journal: the request and its result.

use engine::sessions::Sessions;
use journal::entry::{Call, Entry, Event, Failure, Response};
use journal::truncation;
use serde_json::{Map, Value};

use crate::{Context, Reply};

/// A recorded call that waits for its answer. If it is dropped, the call was cancelled.
#[derive(Debug)]
pub struct JournaledCall {
    sessions: Sessions,
    tool: String,
    call_id: String,
    is_answered: bool,
}

impl JournaledCall {
    /// Records that a tool is called; `context` is that of this call alone.
    pub fn begin(context: &Context, tool: &str, arguments: &Map<String, Value>) -> Self {
        let sessions = context.sessions.clone();
        let named = ["sessionId", "session_id"].iter().find_map(|name| arguments.get(*name)?.as_str());
        if let Some(session) = named.and_then(|id| sessions.find(id)) {
            sessions.note(&session);
        }
        let call_id = sessions.journal().next_call();
        let request = truncation::request(arguments);
        sessions.begin_call(Event::Call(Call { tool: tool.to_owned(), call_id: call_id.clone(), request }));
        Self { sessions, tool: tool.to_owned(), call_id, is_answered: false }
    }

    /// Records a tool's answer.
    pub fn end(mut self, reply: &Reply) {
        let data = reply.structured.as_ref().and_then(Value::as_object);
        if reply.is_error {
            let said = |name: &str| data.and_then(|data| data.get(name)?.as_str());
            self.failed(said("message").or_else(|| said("error")).unwrap_or(&reply.text));
        } else {
            match data {
                Some(data) => self.answered(data),
                None => self.answered(&Map::from_iter([("text".to_owned(), reply.text.clone().into())])),
            }
        }
    }

    /// It has answered with this.
    pub fn answered(&mut self, data: &Map<String, Value>) {
        self.is_answered = true;
        let response = truncation::request(data);
        let (tool, call_id) = (self.tool.clone(), self.call_id.clone());
        self.record(Event::Response(Response { tool, call_id, success: true, response }));
    }

    /// It has failed.
    pub fn failed(&mut self, message: &str) {
        self.is_answered = true;
        let (tool, call_id) = (self.tool.clone(), self.call_id.clone());
        self.record(Event::Failure(Failure { tool, call_id, error: truncation::text(message) }));
    }

    fn record(&self, event: Event) {
        let session = self.sessions.used();
        self.sessions.record_call(session.clone());
        self.sessions.journal().record(Entry::now(session, event));
    }
}

impl Drop for JournaledCall {
    fn drop(&mut self) {
        if !self.is_answered {
            self.failed("the call that waits for it may be gone");
        }
    }
}
