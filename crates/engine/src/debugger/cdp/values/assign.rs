//! Assignments.

use std::sync::Arc;

use ::cdp::debugger::{SetReturnValue, SetVariableValue};
use ::cdp::runtime::CallArgument;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::evaluate::{EvaluatedValue, EvaluationPlan};
use super::frame::{Frame, context_of};
use super::helper::{argument, object, unreadable};
use super::reader::ValueReader;
use super::references::{Expandable, ValuePath};
use super::rows::ShownValue;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::variable::Value;

/// The value of an expression for what has a name.
#[derive(Clone, Copy)]
struct Assignment<'a> {
    name: &'a str,
    value: &'a str,
    /// A result text longer than this is cut, in characters.
    text: usize,
}

/// What the helper answers.
#[derive(Deserialize)]
#[serde(untagged)]
enum AssignAnswer {
    Refused { refused: String },
    Is { row: ShownValue, step: Json },
}

impl ValueReader {
    /// Assigns the value of an expression to a child of a scope or value, and returns what it holds then.
    ///
    /// The frame's own scope represents everything visible in the frame. An expression assigns to a variable, so that
    /// V8 rejects constants with its usual error; a variable that an inner one hides is set with the protocol's
    /// request, which does not.
    pub(in super::super) async fn set_variable(
        &self,
        parent: RawId,
        name: &str,
        value: &str,
        text: usize,
    ) -> Result<Value<RawId>> {
        let assignment = Assignment { name, value, text };
        match self.0.references.find(parent)? {
            Expandable::Scope(frame, index) => self.assign_variable(&frame, index, assignment).await,
            Expandable::Value(place) => self.assign_child(&place, assignment).await,
        }
    }

    async fn assign_variable(
        &self,
        frame: &Arc<Frame>,
        index: usize,
        assignment: Assignment<'_>,
    ) -> Result<Value<RawId>> {
        let Assignment { name, value, text } = assignment;
        let chain = frame.chain();
        let scope = chain.get(index).ok_or_else(|| Error::Refused("no such scope".to_owned()))?;
        if matches!(scope.kind.as_str(), "global" | "with") {
            let root = scope.object.object_id.as_deref().unwrap_or_default();
            return self.assign_child(&ValuePath::of(root, Some(frame)), assignment).await;
        }
        if name == "(return)" {
            return self.assign_return(frame, value, text).await;
        }
        let generated = frame.generated(name).unwrap_or(name);
        let whole = frame.own() == Some(index);
        let last = if whole { frame.visible().last().copied().unwrap_or(index) } else { index };
        match self.owner(frame, generated, last).await? {
            Some(found) if whole || found == index => {
                let expression = format!("{name} = (\n{value}\n)");
                let found = self.find(frame, &asked(&expression, text)).await?;
                self.describe(found, text).await
            }
            Some(_) => self.assign_hidden(frame, index, Assignment { name: generated, ..assignment }).await,
            None => Err(Error::Refused(format!("no variable `{name}` here"))),
        }
    }

    /// Which of the scopes up to the last one defines the variable of a name.
    async fn owner(&self, frame: &Arc<Frame>, name: &str, last: usize) -> Result<Option<usize>> {
        let helper = self.helper(frame.context()).await?.ok_or_else(unreadable)?;
        let names = self.names(&helper, frame, last).await?;
        Ok(names.iter().find(|found| found.name == name).map(|found| found.scope))
    }

    /// Assigns to a variable that another one of its name hides from expressions.
    async fn assign_hidden(
        &self,
        frame: &Arc<Frame>,
        index: usize,
        Assignment { name, value, text }: Assignment<'_>,
    ) -> Result<Value<RawId>> {
        let found = self.find(frame, &asked(value, text)).await?;
        let set = SetVariableValue {
            scope_number: i32::try_from(index).unwrap_or(i32::MAX),
            variable_name: name.to_owned(),
            new_value: self.raw(&found).await?,
            call_frame_id: frame.call.call_frame_id.clone(),
        };
        self.request(set).await.map_err(|error| match error {
            // V8 says no more than that.
            Error::Refused(message) if message.contains("Internal error") => {
                Error::Refused(format!("no variable `{name}` in this scope"))
            }
            other => other,
        })?;
        self.has_changed();
        self.describe(found, text).await
    }

    async fn assign_return(&self, frame: &Arc<Frame>, value: &str, text: usize) -> Result<Value<RawId>> {
        if frame.call.return_value.is_none() {
            return Err(Error::Refused("the frame is not at its return".to_owned()));
        }
        let found = self.find(frame, &asked(value, text)).await?;
        self.request(SetReturnValue { new_value: self.raw(&found).await? }).await?;
        self.describe(found, text).await
    }

    async fn assign_child(
        &self,
        place: &ValuePath,
        Assignment { name, value, text }: Assignment<'_>,
    ) -> Result<Value<RawId>> {
        let helper = self.helper(context_of(&place.root)).await?.ok_or_else(unreadable)?;
        let frame =
            place.frame.as_ref().ok_or_else(|| Error::Refused("the value has no frame".to_owned()))?;
        if name.starts_with('#') {
            let message =
                format!("`{name}` is private: assign to it with an expression in a method of its class");
            return Err(Error::Refused(message));
        }
        let found = self.find(frame, &asked(value, text)).await?;
        let context = context_of(&place.root).unwrap_or_default();
        let options = json!({ "steps": place.steps, "name": name, "limit": text });
        let values = [object(&place.root), self.raw(&found).await?];
        let answer = self.run(context, "assign", options, values).await?;
        if let Some(details) = answer.exception_details {
            return Err(self.raised(details, Some(frame), None).await);
        }
        let id = answer.result.object_id.unwrap_or_default();
        match self.call(&helper, "value", json!({ "steps": [] }), [object(&id)]).await? {
            AssignAnswer::Refused { refused } => Err(Error::Refused(refused)),
            AssignAnswer::Is { row, step } => Ok(self.value(row, || Some(place.then(step)))),
        }
    }

    /// The value of a variable of a frame, as an argument for a function in the program.
    pub(in super::super) async fn argument(&self, frame: &Arc<Frame>, name: &str) -> Result<CallArgument> {
        let found = self.find(frame, &EvaluationPlan { pure: true, ..asked(name, 0) }).await?;
        self.raw(&found).await
    }

    /// A value as an argument for the debugger.
    async fn raw(&self, found: &EvaluatedValue) -> Result<CallArgument> {
        let place = match found {
            EvaluatedValue::Simple(value) => return Ok(argument(value)),
            EvaluatedValue::Expandable(place) => place,
        };
        if place.steps.is_empty() {
            return Ok(object(&place.root));
        }
        let helper = self.helper(context_of(&place.root)).await?.ok_or_else(unreadable)?;
        Ok(argument(&self.held(&helper, place).await?))
    }
}

fn asked(expression: &str, text: usize) -> EvaluationPlan<'_> {
    EvaluationPlan { expression, deadline: deadlines::EVALUATE, text, pure: false }
}
