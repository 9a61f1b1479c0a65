//! Watched values: properties that our accessors stand in for.
//!
//! The accessors are in `debuggee/node/values.js`, which also shows the properties as they were. They stop the program
//! by a `debugger` statement; their frame is taken off the stack.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ::cdp::debugger::{CallFrame, EvaluateOnCallFrame, Paused};
use ::cdp::runtime::{CallArgument, ReleaseObjectGroup};
use serde_json::json;

use super::frames;
use super::locks::lock;
use super::scripts::position;
use super::sources::{READ, Sources};
use super::stop::V8Stop;
use super::v8::V8Client;
use super::values::{Frame, ValueReader, object, renamed};
use crate::deadlines;
use crate::debugger::{BindResult, DataBreakpoint, DataRequest, Evaluate, Event};
use crate::error::{Error, Result};
use crate::javascript::{Part, Storage, log_parts, storage};
use crate::model::data_breakpoint::{CodeLine, DataChange};
use crate::model::ids::RawId;
use crate::model::limits::MAX_VALUE;

/// What is watched in one thread.
#[derive(Debug)]
pub(super) struct DataWatcher {
    v8: V8Client,
    sources: Sources,
    values: ValueReader,
    numbers: AtomicU64,
    found: Mutex<HashMap<String, Property>>,
}

/// A property that was found.
#[derive(Clone, Debug)]
struct Property {
    /// The program's object with the owner of the property, and its key.
    held: String,
    helper: std::sync::Arc<str>,
    /// The breakpoint, while it is watched.
    set: Option<DataBreakpoint>,
    /// How often the condition was true.
    hits: u64,
}

/// A stop in one of our accessors.
#[derive(Debug)]
pub(super) struct Access {
    id: String,
    old: String,
    new: String,
    is_read: bool,
}

const REFUSAL: &str = "the expression may have side effects; name the object by variables and properties";

impl DataWatcher {
    pub(super) fn new(v8: V8Client, sources: Sources, values: ValueReader) -> Self {
        Self { v8, sources, values, numbers: AtomicU64::new(1), found: Mutex::default() }
    }

    /// Finds the storage of a value.
    pub(super) async fn find(&self, frame: &std::sync::Arc<Frame>, request: &DataRequest) -> Result<String> {
        let expression = &request.expression;
        let (owner, key) = match storage(expression) {
            Storage::Property { object, key } => (object, key),
            Storage::Variable => return Err(unwatchable(expression, VARIABLE)),
            Storage::Other => {
                return Err(unwatchable(expression, "it is not a property, such as `cart.total`"));
            }
        };
        let number = self.numbers.fetch_add(1, Ordering::Relaxed).to_string();
        let boxed = format!("({{__proto__:null,object:({owner}),key:({key})}})");
        let expression_text = renamed(&boxed, |name| frame.generated(name));
        let evaluate = EvaluateOnCallFrame {
            call_frame_id: frame.call.call_frame_id.clone(),
            expression: expression_text,
            object_group: Some(group(&number)),
            silent: true,
            throw_on_side_effect: true,
            ..EvaluateOnCallFrame::default()
        };
        let answer = self.v8.request_within(deadlines::EVALUATE, evaluate).await?;
        if let Some(details) = answer.exception_details {
            return Err(self.values.raised(details, Some(frame), Some(REFUSAL)).await);
        }
        let helper = self.values.helper(frame.context()).await?;
        let (Some(held), Some(helper)) = (answer.result.object_id, helper) else {
            return Err(unwatchable(expression, "this program's runtime does not allow it"));
        };
        let problem: Option<String> =
            self.values.call(&helper, "storage", json!({}), [object(&held)]).await?;
        if let Some(problem) = problem {
            return Err(unwatchable(expression, &problem));
        }
        let property = Property { held, helper, set: None, hits: 0 };
        lock(&self.found).insert(number.clone(), property);
        Ok(number)
    }

    /// Replaces what is watched.
    pub(super) async fn set(&self, wanted: Vec<DataBreakpoint>) -> Result<Vec<BindResult>> {
        let known = lock(&self.found).clone();
        for (id, property) in &known {
            if property.set.is_some() && wanted.iter().all(|data| data.data_id != *id) {
                let _: bool = self.call("unwatch", property, json!({})).await?;
                lock(&self.found).remove(id);
                self.v8.request(ReleaseObjectGroup { object_group: group(id) }).await?;
            }
        }
        let mut results = Vec::with_capacity(wanted.len());
        for data in wanted {
            let Some(property) = known.get(&data.data_id) else {
                results.push(BindResult::Refused(
                    "the watched object no longer exists; set the breakpoint again while paused".to_owned(),
                ));
                continue;
            };
            let is_watched = property.set.is_some() || {
                let (id, access) = (&data.data_id, data.access);
                let options = json!({ "id": id, "reads": access.reads(), "writes": access.writes() });
                self.call("watch", property, options).await?
            };
            if let Some(property) = lock(&self.found).get_mut(&data.data_id) {
                if property.set.as_ref().is_none_or(|before| before.rule != data.rule) {
                    property.hits = 0;
                }
                property.set = Some(data).filter(|_| is_watched);
            }
            results.push(if is_watched {
                BindResult::on(None)
            } else {
                BindResult::Refused("the program has changed the property meanwhile".to_owned())
            });
        }
        Ok(results)
    }

    async fn call(&self, function: &str, property: &Property, options: serde_json::Value) -> Result<bool> {
        let held: CallArgument = object(&property.held);
        self.values.call(&property.helper, function, options, [held]).await
    }

    /// Takes the frame of one of our accessors off the stack. None if the program has not stopped there.
    pub(super) async fn take_access(&self, paused: &mut Paused) -> Option<Access> {
        let first = paused.call_frames.first().filter(|frame| self.sources.is_accessor(frame))?;
        // A step may end in it, too.
        if paused.call_frames.len() < 2 || !self.is_debugger_statement(first).await {
            return None;
        }
        let frame = frames::alone(paused.call_frames.remove(0));
        let read = async |name: &str| {
            let value = self.values.evaluate(&frame, &asked(name)).await;
            value.map_or_else(|error| format!("<{error}>"), |value| value.text)
        };
        let id = read("stillframeWatch").await.trim_matches(['"', '\'']).to_owned();
        let is_read = frame.call.function_name == READ;
        Some(Access { id, old: read("old").await, new: read("now").await, is_read })
    }

    async fn is_debugger_statement(&self, frame: &CallFrame) -> bool {
        let Some(script) = self.sources.scripts.get(&frame.location.script_id) else { return false };
        let Some(text) = script.text().await else { return false };
        let (line, column) = position(&frame.location);
        let at = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let line = text.split('\n').nth(at(line)).unwrap_or_default();
        line.encode_utf16().skip(at(column)).take(8).eq("debugger".encode_utf16())
    }

    /// What the rule of a breakpoint says: a change for each that stops the program.
    pub(super) async fn judge(&self, access: Access, stop: &V8Stop) -> Vec<Event> {
        let Some(data) = lock(&self.found).get(&access.id).and_then(|property| property.set.clone()) else {
            return Vec::new();
        };
        let rule = &data.rule.rule;
        let id = data.rule.id;
        let failed = |error: Error| vec![Event::RuleFailed { id, message: error.to_string(), times: 1 }];
        let Ok(frame) = frames::frame(stop, &self.sources.scripts, stop.id_of(0)).await else {
            return Vec::new();
        };
        if let Some(condition) = &rule.condition {
            let condition = format!("!!(\n{condition}\n)");
            match self.values.evaluate(&frame, &asked(&condition)).await {
                Ok(value) if value.text == "true" => {}
                Ok(_) => return Vec::new(),
                Err(error) => return failed(error),
            }
        }
        let hits = {
            let mut found = lock(&self.found);
            let Some(property) = found.get_mut(&access.id) else { return Vec::new() };
            property.hits += 1;
            property.hits
        };
        if rule.hit_condition.is_some_and(|hit| !hit.is_met(hits)) {
            return Vec::new();
        }
        if let Some(message) = &rule.log_message {
            return match self.filled(&frame, message).await {
                Ok(text) => vec![Event::Logged { id, text }],
                Err(error) => failed(error),
            };
        }
        let by = match stop.frames.first() {
            Some(call) => self.line(call).await,
            None => None,
        };
        let Access { old, new, is_read, .. } = access;
        vec![Event::DataChanged(DataChange { id, expression: data.expression, old, new, is_read, by })]
    }

    async fn line(&self, call: &CallFrame) -> Option<CodeLine> {
        let location = self.sources.location(&call.location).await?;
        let function = if call.function_name.is_empty() { "<anonymous>" } else { &call.function_name };
        Some(CodeLine { function: function.to_owned(), file: location.source.name, line: location.line })
    }

    async fn filled(&self, frame: &std::sync::Arc<Frame>, message: &str) -> Result<String> {
        let mut text = String::new();
        for part in log_parts(message).map_err(Error::Refused)? {
            match part {
                Part::Text(part) => text.push_str(&part),
                Part::Expression(part) => {
                    let value = self.values.evaluate(frame, &asked(&format!("String(\n{part}\n)"))).await?;
                    text.push_str(value.text.trim_matches('"').trim_matches('\''));
                }
            }
        }
        Ok(text)
    }
}

const VARIABLE: &str = "V8 can watch properties of objects, and not variables; set a breakpoint with a condition on \
                        the lines after those that write it, or record the run";

fn unwatchable(expression: &str, why: &str) -> Error {
    Error::Unsupported(format!("`{expression}` cannot be watched: {why}"))
}

/// The group of what a watched value is held by.
fn group(number: &str) -> String {
    format!("stillframe-watch-{number}")
}

fn asked(expression: &str) -> Evaluate {
    Evaluate {
        expression: expression.to_owned(),
        frame: RawId(0),
        deadline: deadlines::CONDITION,
        text: MAX_VALUE,
        pure: false,
    }
}
