//! `await` at a stop. Nothing else runs there, so only settled promises have a value.

use std::sync::Arc;

use ::cdp::runtime::GetProperties;
use serde_json::{Value as Json, json};

use super::evaluate::EvaluatedValue;
use super::frame::{Frame, context_of};
use super::helper::object;
use super::reader::ValueReader;
use super::references::ValuePath;
use crate::error::{Error, Result};

/// Why nothing but a whole expression can be awaited.
const WITHIN: &str = "nothing runs while the program is stopped, so only the result of a settled promise is \
                      available, with `await` before a whole expression: evaluate `await X` by itself";

/// The refusal of an `await` somewhere in an expression.
pub(super) fn within() -> Error {
    Error::Refused(WITHIN.to_owned())
}

impl ValueReader {
    /// The result of `await` for the value of `operand`: the result of a settled promise, or the value itself if it
    /// is not a promise. A rejection is [`Error::Raised`].
    pub(super) async fn awaited(
        &self,
        value: EvaluatedValue,
        operand: &str,
        frame: &Arc<Frame>,
    ) -> Result<EvaluatedValue> {
        let EvaluatedValue::Expandable(place) = value else { return Ok(value) };
        let Some(helper) = self.helper(context_of(&place.root)).await? else { return Err(within()) };
        let held = self.held(&helper, &place).await?;
        let Some(id) = &held.object_id else { return Ok(EvaluatedValue::Expandable(place)) };
        if held.subtype.as_deref() != Some("promise") {
            let is_thenable: bool = self.call(&helper, "thenable", json!({}), [object(id)]).await?;
            return if is_thenable { Err(pending(operand)) } else { Ok(EvaluatedValue::Expandable(place)) };
        }
        let ask = GetProperties { object_id: id.clone(), own_properties: true, ..GetProperties::default() };
        let mut inside = self.request(ask).await?.internal_properties;
        let mut take = |name: &str| {
            let found = inside.iter_mut().find(|property| property.name == name)?;
            found.value.take()
        };
        let state = take("[[PromiseState]]").and_then(|state| state.value);
        let result = take("[[PromiseResult]]").unwrap_or_default();
        match state.as_ref().and_then(Json::as_str) {
            Some("fulfilled") => Ok(match &result.object_id {
                Some(id) => EvaluatedValue::Expandable(ValuePath::of(id, Some(frame))),
                None => EvaluatedValue::Simple(result),
            }),
            state => {
                // If the expression has made the promise, no code of the program handles its rejection.
                self.call::<Json>(&helper, "handle", json!({}), [object(id)]).await?;
                Err(match state {
                    Some("rejected") => self.thrown(&result, Some(frame)).await?.raised(),
                    _ => pending(operand),
                })
            }
        }
    }

    /// Begins or ends to note which promises are made, for an expression that may make one.
    pub(super) async fn watch_promises(&self, operand: &str, frame: &Frame, is_on: bool) -> Result<()> {
        if operand.contains('(')
            && let Some(helper) = self.helper(frame.context()).await?
        {
            self.call::<Json>(&helper, "watchPromises", json!({ "isOn": is_on }), []).await?;
        }
        Ok(())
    }
}

fn pending(operand: &str) -> Error {
    Error::Refused(format!(
        "the promise is pending, and nothing runs while the program is stopped: keep it with \
         `globalThis.later = {operand}`, let the program run to a later line, and evaluate `await later` \
         there"
    ))
}
