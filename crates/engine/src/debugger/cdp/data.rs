//! Watched values: properties that our accessors stand in for.
//!
//! The accessors are in `debuggee/node/values.js`, which also shows the properties as they were. They stop the program
//! by a `debugger` statement; their frame is taken off the stack.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use ::cdp::debugger::{CallFrame, EvaluateOnCallFrame, Paused};
use ::cdp::runtime::ReleaseObjectGroup;
use serde::Deserialize;
use serde_json::json;

use super::frames;
use super::function_names::or_anonymous;
use super::sources::{READ, Sources};
use super::stop::V8Stop;
use super::v8::V8Client;
use super::values::{Frame, ValueReader, object, renamed};
use crate::deadlines;
use crate::debugger::{BindResult, DataBreakpoint, DataRequest, Evaluate, Event};
use crate::error::{Error, Result};
use crate::javascript::{Part, Storage, log_parts, storage};
use crate::lock::lock;
use crate::model::data_breakpoint::{CodeLine, DataAccess, DataChange};
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
    helper: Arc<str>,
    /// Which writes do not stop the program, as it was when this was found.
    note: Option<String>,
    set: Vec<SetBreakpoint>,
}

/// A breakpoint on a property.
#[derive(Clone, Debug)]
struct SetBreakpoint {
    data: DataBreakpoint,
    /// How often the condition was true.
    hits: u64,
}

/// What the program says about a property.
#[derive(Deserialize)]
struct FoundProperty {
    /// Why it cannot be watched.
    problem: Option<String>,
    id: Option<String>,
    note: Option<String>,
}

/// A stop in one of our accessors.
#[derive(Debug)]
pub(super) struct Access {
    id: String,
    old: String,
    new: String,
    is_read: bool,
}

/// What a rule says at an access.
enum RuleResult {
    /// It does not act.
    Passed,
    Logged(String),
    Stops,
}

const REFUSAL: &str = "the expression may have side effects; name the object by variables and properties";

impl DataWatcher {
    pub(super) fn new(v8: V8Client, sources: Sources, values: ValueReader) -> Self {
        Self { v8, sources, values, numbers: AtomicU64::new(1), found: Mutex::default() }
    }

    /// Finds the storage of a value.
    pub(super) async fn find(&self, frame: &Arc<Frame>, request: &DataRequest) -> Result<String> {
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
        let options = json!({ "id": number });
        let found: FoundProperty = self.values.call(&helper, "storage", options, [object(&held)]).await?;
        if let Some(problem) = found.problem {
            return Err(unwatchable(expression, &problem));
        }
        match found.id {
            Some(known) if known != number => {
                self.v8.request(ReleaseObjectGroup { object_group: group(&number) }).await?;
                Ok(known)
            }
            _ => {
                lock(&self.found)
                    .insert(number.clone(), Property { held, helper, note: found.note, set: Vec::new() });
                Ok(number)
            }
        }
    }

    /// Replaces what is watched.
    pub(super) async fn set(&self, wanted: Vec<DataBreakpoint>) -> Result<Vec<BindResult>> {
        let known = lock(&self.found).clone();
        let mut watched: HashMap<&String, bool> = HashMap::new();
        for (id, property) in &known {
            let on_it: Vec<&DataBreakpoint> = wanted.iter().filter(|data| data.data_id == *id).collect();
            if on_it.is_empty() && property.set.is_empty() {
                // It was only found until now.
                continue;
            }
            let any =
                |is_it: fn(DataAccess) -> bool| on_it.iter().any(|data| data.enabled && is_it(data.access));
            let options = json!({
                "reads": any(DataAccess::reads), "writes": any(DataAccess::writes), "isKept": !on_it.is_empty(),
            });
            let held = object(&property.held);
            let is_watched: bool = self.values.call(&property.helper, "watch", options, [held]).await?;
            watched.insert(id, is_watched);
            if on_it.is_empty() {
                lock(&self.found).remove(id);
                self.v8.request(ReleaseObjectGroup { object_group: group(id) }).await?;
            } else if let Some(property) = lock(&self.found).get_mut(id) {
                let before = std::mem::take(&mut property.set);
                let set = |data: &DataBreakpoint| {
                    let same = before.iter().find(|set| set.data.rule == data.rule);
                    SetBreakpoint { data: data.clone(), hits: same.map_or(0, |set| set.hits) }
                };
                property.set = on_it.into_iter().map(set).collect();
            }
        }
        let result = |data: &DataBreakpoint| match watched.get(&data.data_id) {
            Some(true) => BindResult::on(None)
                .with_warning(known.get(&data.data_id).and_then(|property| property.note.clone())),
            Some(false) => BindResult::Refused("the program has changed the property meanwhile".to_owned()),
            None => BindResult::Refused(
                "the watched object no longer exists; set the breakpoint again while paused".to_owned(),
            ),
        };
        Ok(wanted.iter().map(result).collect())
    }

    /// Takes the frame of one of our accessors off the stack. None if the program has not stopped there for an access.
    pub(super) async fn take_access(&self, paused: &mut Paused) -> Option<Access> {
        let first = paused.call_frames.first().filter(|frame| self.sources.is_accessor(frame))?;
        if paused.call_frames.len() < 2 {
            return None;
        }
        if !self.sources.is_at_debugger_statement(first).await {
            // A step may end in it. It throws only on behalf of the code that writes.
            if paused.reason == "exception" {
                paused.call_frames.remove(0);
            }
            return None;
        }
        let frame = Arc::new(Frame::new(paused.call_frames.remove(0)));
        let read = async |name: &str| {
            let value = self.values.evaluate(&frame, &asked(name)).await;
            value.map_or_else(|error| format!("<{error}>"), |value| value.text)
        };
        let id = read("stillframeWatch").await.trim_matches(['"', '\'']).to_owned();
        let is_read = frame.call.function_name == READ;
        Some(Access { id, old: read("old").await, new: read("now").await, is_read })
    }

    /// What the rules of the breakpoints say: a change for each that stops the program.
    pub(super) async fn judge(&self, access: Access, stop: &V8Stop) -> Vec<Event> {
        let set = lock(&self.found).get(&access.id).map(|property| property.set.clone()).unwrap_or_default();
        let Ok(frame) = frames::frame(stop, &self.sources.scripts, stop.id_of(0)).await else {
            return Vec::new();
        };
        let by = match stop.frames.first() {
            Some(call) => self.line(call).await,
            None => None,
        };
        let mut events = Vec::new();
        for SetBreakpoint { data, .. } in set {
            let concerns = if access.is_read { data.access.reads() } else { data.access.writes() };
            if !data.enabled || !concerns {
                continue;
            }
            let id = data.rule.id;
            match self.apply(&access.id, &data, &frame).await {
                Ok(RuleResult::Passed) => {}
                Ok(RuleResult::Logged(text)) => events.push(Event::Logged { id, text }),
                Ok(RuleResult::Stops) => {
                    let Access { old, new, is_read, .. } = &access;
                    let (old, new, by) = (old.clone(), new.clone(), by.clone());
                    let expression = data.expression;
                    let change = DataChange { id, expression, old, new, is_read: *is_read, by };
                    events.push(Event::DataChanged(change));
                }
                Err(error) => events.push(Event::RuleFailed { id, message: error.to_string(), times: 1 }),
            }
        }
        events
    }

    /// What the rule of one breakpoint on a property says.
    async fn apply(&self, property: &str, data: &DataBreakpoint, frame: &Arc<Frame>) -> Result<RuleResult> {
        let rule = &data.rule.rule;
        if let Some(condition) = &rule.condition {
            let condition = format!("!!(\n{condition}\n)");
            if self.values.evaluate(frame, &asked(&condition)).await?.text != "true" {
                return Ok(RuleResult::Passed);
            }
        }
        let hits = {
            let mut found = lock(&self.found);
            let mut set = found.get_mut(property).into_iter().flat_map(|property| &mut property.set);
            let Some(set) = set.find(|set| set.data.rule.id == data.rule.id) else {
                return Ok(RuleResult::Passed);
            };
            set.hits += 1;
            set.hits
        };
        if rule.hit_condition.is_some_and(|hit| !hit.is_met(hits)) {
            return Ok(RuleResult::Passed);
        }
        Ok(match &rule.log_message {
            Some(message) => RuleResult::Logged(self.filled(frame, message).await?),
            None => RuleResult::Stops,
        })
    }

    async fn line(&self, call: &CallFrame) -> Option<CodeLine> {
        let location = self.sources.location(&call.location).await?;
        let function = or_anonymous(&call.function_name);
        Some(CodeLine { function, file: location.source.name, line: location.line })
    }

    async fn filled(&self, frame: &Arc<Frame>, message: &str) -> Result<String> {
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
