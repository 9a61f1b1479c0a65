//! Marks of errors that a stop was about.

use std::sync::Arc;

use ::cdp::runtime::{CallFunctionOn, RemoteObject};

use super::super::program::NodeProgram;
use super::super::v8::V8Client;
use super::super::values::ValueReader;

/// The property of an error that a stop was about, with its mark. It belongs to a symbol that all global objects
/// share, and is not enumerable.
const MARK: &str = "Symbol.for('stillframe.mark')";

/// Marks what is thrown. Where nothing may be changed, marks are kept apart from errors.
#[derive(Debug)]
pub(super) struct ErrorMarks {
    v8: V8Client,
    values: ValueReader,
    program: Arc<NodeProgram>,
}

impl ErrorMarks {
    pub(super) fn new(v8: V8Client, values: ValueReader, program: Arc<NodeProgram>) -> Self {
        Self { v8, values, program }
    }

    /// Marks the thrown value, where it can have a mark. True when it had one before.
    pub(super) async fn mark(&self, thrown: &RemoteObject) -> bool {
        if !can_have_mark(thrown) {
            return false;
        }
        if self.program.is_read_only() {
            return self.values.is_known(thrown).await;
        }
        let mark = uuid::Uuid::new_v4();
        let question = CallFunctionOn {
            function_declaration: format!(
                "function(){{const mark={MARK};if(Object.hasOwn(this,mark))return true;\
                 Reflect.defineProperty(this,mark,{{configurable:true,value:'{mark}'}});return false}}"
            ),
            ..on(thrown)
        };
        let answer = self.v8.request(question).await.ok();
        answer.and_then(|answer| answer.result.value).and_then(|value| value.as_bool()) == Some(true)
    }

    /// The mark of the thrown value.
    pub(super) async fn mark_of(&self, thrown: &RemoteObject) -> Option<String> {
        if !can_have_mark(thrown) || self.program.is_read_only() {
            return None;
        }
        let question = CallFunctionOn {
            function_declaration: format!(
                "function(){{return Object.getOwnPropertyDescriptor(this,{MARK})?.value}}"
            ),
            ..on(thrown)
        };
        let answer = self.v8.request(question).await.ok()?;
        answer.result.value?.as_str().map(str::to_owned)
    }
}

/// A proxy would run code of the program's.
fn can_have_mark(thrown: &RemoteObject) -> bool {
    thrown.object_id.is_some() && thrown.subtype.as_deref() != Some("proxy")
}

fn on(thrown: &RemoteObject) -> CallFunctionOn {
    CallFunctionOn {
        object_id: thrown.object_id.clone(),
        return_by_value: true,
        silent: true,
        ..CallFunctionOn::default()
    }
}
