//! Expressions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ::cdp::debugger::EvaluateOnCallFrame;
use ::cdp::runtime::{Evaluated, ExceptionDetails, RemoteObject};
use serde_json::json;

use super::awaited;
use super::frame::{Frame, context_of};
use super::helper::object;
use super::names::{is_part_of_name, mentions, renamed};
use super::reader::{KnownValue, STOP, ValueReader, failed, interrupted};
use super::references::ValuePath;
use super::rows::ShownValue;
use super::text;
use crate::deadlines;
use crate::debugger::Evaluate;
use crate::error::{Error, Result};
use crate::javascript::{self, AwaitUse};
use crate::model::ids::RawId;
use crate::model::variable::Value;

/// An expression and how it is evaluated.
#[derive(Clone, Debug)]
pub(super) struct EvaluationPlan<'a> {
    pub(super) expression: &'a str,
    pub(super) deadline: Duration,
    /// Longer strings are not sent, in UTF-16 units.
    pub(super) text: usize,
    pub(super) pure: bool,
}

const EFFECTS: &str = "the expression may have side effects, which are not allowed here; nothing was changed";

const PREPARED: &str = "the program froze `Error.prepareStackTrace`, which runs with each error, so nothing \
                        can be evaluated without side effects";

/// What came of it.
pub(super) enum EvaluatedValue {
    /// A simple value.
    Simple(RemoteObject),
    /// A value that is held, and the way to it.
    Expandable(ValuePath),
}

impl ValueReader {
    /// Evaluates an expression, or else runs a statement, in a frame.
    ///
    /// A simple value takes one round trip, any other two, and a variable that is known one less. What it throws is
    /// [`Error::Raised`].
    pub(in super::super) async fn evaluate(
        &self,
        frame: &Arc<Frame>,
        request: &Evaluate,
    ) -> Result<Value<RawId>> {
        let Evaluate { expression, deadline, text, pure, .. } = request;
        let epoch = self.0.epoch.load(Ordering::Relaxed);
        let name = expression.trim();
        let found = match self.known(frame, name, *text) {
            Some(KnownValue::Simple(value, _)) => return Ok(value),
            Some(KnownValue::Held(place)) => EvaluatedValue::Expandable(place),
            None => {
                let asked = EvaluationPlan { expression, deadline: *deadline, text: *text, pure: *pure };
                let found = self.find(frame, &asked).await?;
                if let EvaluatedValue::Expandable(place) = &found {
                    self.remember(frame, name, epoch, KnownValue::Held(place.clone()), false);
                }
                found
            }
        };
        self.describe(found, *text).await
    }

    pub(super) async fn describe(&self, found: EvaluatedValue, text: usize) -> Result<Value<RawId>> {
        let place = match found {
            EvaluatedValue::Simple(value) => return Ok(self.value(text::shown(&value, text), || None)),
            EvaluatedValue::Expandable(place) => place,
        };
        let Some(helper) = self.helper(context_of(&place.root)).await? else {
            return self.plain_value(&place, text).await;
        };
        let options = json!({ "steps": place.steps, "limit": text });
        let shown: ShownValue = self.call(&helper, "describe", options, [object(&place.root)]).await?;
        let lacks_private = shown.lacks_private;
        let mut value = self.value(shown, || Some(place));
        if lacks_private {
            self.add_private_to(&helper, &mut value, text).await;
        }
        Ok(value)
    }

    /// Evaluates an expression in the names of the source, or in those of the script where the source has no
    /// such variable.
    pub(super) async fn find(
        &self,
        frame: &Arc<Frame>,
        asked: &EvaluationPlan<'_>,
    ) -> Result<EvaluatedValue> {
        let found = self.find_named(frame, asked);
        if asked.pure { self.unprepared(frame.context(), found).await } else { found.await }
    }

    async fn find_named(&self, frame: &Arc<Frame>, asked: &EvaluationPlan<'_>) -> Result<EvaluatedValue> {
        let expression = asked.expression.trim();
        match javascript::awaited(expression) {
            AwaitUse::Nothing => self.find_renamed(frame, expression, asked).await,
            AwaitUse::Operand(operand) => {
                self.watch_promises(operand, frame, true).await?;
                let value = self.find_renamed(frame, operand, asked).await;
                self.watch_promises(operand, frame, false).await?;
                self.awaited(value?, operand, frame).await
            }
            AwaitUse::Within => Err(awaited::within()),
        }
    }

    async fn find_renamed(
        &self,
        frame: &Arc<Frame>,
        expression: &str,
        asked: &EvaluationPlan<'_>,
    ) -> Result<EvaluatedValue> {
        if let Some(name) = frame.unclear.iter().find(|name| mentions(expression, name)) {
            return Err(Error::Refused(format!(
                "the source map does not say which variable of the script is `{name}`; list the variables, which have \
                 the names of the script where those of the source are unclear, and read one with `eval('NAME')`"
            )));
        }
        if frame.names.is_empty() {
            return self.find_once(frame, &EvaluationPlan { expression, ..asked.clone() }).await;
        }
        let expression = renamed(expression, |name| frame.generated(name));
        self.find_once(frame, &EvaluationPlan { expression: &expression, ..asked.clone() }).await
    }

    /// As an expression it is wrapped, so that what it gives can be held without being sent. What does not
    /// compile so is a statement, or wrong.
    async fn find_once(&self, frame: &Arc<Frame>, asked: &EvaluationPlan<'_>) -> Result<EvaluatedValue> {
        let wrapped = wrapped(asked.expression, asked.text, asked.pure);
        let mut answer = self.send(frame, wrapped, asked).await?;
        let is_wrapped =
            !answer.exception_details.as_ref().is_some_and(|details| does_not_compile(details, frame));
        if !is_wrapped {
            answer = self.send(frame, asked.expression.to_owned(), asked).await?;
        }
        if let Some(details) = answer.exception_details {
            let refusal = asked.pure.then_some(EFFECTS);
            return Err(self.raised(details, Some(frame), refusal).await);
        }
        let Some(id) = &answer.result.object_id else { return Ok(EvaluatedValue::Simple(answer.result)) };
        let place = ValuePath::of(id, Some(frame));
        Ok(EvaluatedValue::Expandable(if is_wrapped { place.then(json!({ "key": "v" })) } else { place }))
    }

    async fn send(&self, frame: &Frame, expression: String, asked: &EvaluationPlan<'_>) -> Result<Evaluated> {
        let evaluate = EvaluateOnCallFrame {
            call_frame_id: frame.call.call_frame_id.clone(),
            // The console's `require` is there for those who ask for it: a module's own comes first, but is
            // in reach only of functions that use it.
            include_command_line_api: !asked.pure && asked.expression.contains("require"),
            expression,
            object_group: Some(STOP.to_owned()),
            silent: true,
            throw_on_side_effect: asked.pure,
            timeout: Some(u32::try_from(asked.deadline.as_millis()).unwrap_or(u32::MAX)),
            ..EvaluateOnCallFrame::default()
        };
        if !asked.pure && !calls_nothing(asked.expression) {
            self.has_changed();
        }
        let answer = self.0.v8.request_within(asked.deadline + deadlines::EVALUATE_GRACE, evaluate).await;
        let is_simple =
            |answer: &Evaluated| answer.result.object_id.is_none() && answer.exception_details.is_none();
        if !answer.as_ref().is_ok_and(is_simple) {
            self.holds();
        }
        answer.map_err(|error| interrupted(failed(error), asked.deadline, self.0.pid))
    }

    /// What an expression threw. `refusal` is what to say where it was to have no effects and could have some.
    pub(in super::super) async fn raised(
        &self,
        details: ExceptionDetails,
        frame: Option<&Arc<Frame>>,
        refusal: Option<&str>,
    ) -> Error {
        let thrown = details.exception.unwrap_or_default();
        match (self.thrown(&thrown, frame).await, refusal) {
            (Ok(exception), Some(refusal)) if exception.is_refusal() => Error::Refused(refusal.to_owned()),
            (Ok(exception), _) => exception.raised(),
            (Err(error), _) => error,
        }
    }

    /// Does something that must run nothing of the program's while no code of the program prepares stacks. V8 has
    /// the stack of the thrown value prepared before we see it, even of what it throws itself in place of an effect.
    pub(super) async fn unprepared<T>(
        &self,
        context: Option<i32>,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(helper) = self.helper(context).await? else { return work.await };
        let is_withheld: bool = self.call(&helper, "withhold", json!({}), []).await?;
        let done = if is_withheld { work.await } else { Err(Error::Unsupported(PREPARED.to_owned())) };
        // When it was in native code for too long, it takes this up afterwards.
        let given_back: Result<()> = self.call(&helper, "giveBack", json!({}), []).await;
        let done = done?;
        given_back.map(|()| done)
    }
}

/// An expression whose value arrives directly if it is short and simple, and boxed otherwise. The helper opens the
/// box: V8 would send a whole string, the source of a function or the stack of an error.
fn wrapped(expression: &str, limit: usize, pure: bool) -> String {
    // Half a surrogate pair would not survive the way; V8 does not know that looking for one changes nothing.
    let is_whole = if pure { "" } else { "&&v.isWellFormed?.()!==false" };
    format!(
        "(v=>{{switch(typeof v){{case'string':if(v.length<={limit}{is_whole})return v;break;\
         case'object':if(v===null)return v;break;\
         case'bigint':if(v<0x10000000000000000n&&v>-0x10000000000000000n)return v;break;\
         case'function':case'symbol':break;default:return v}}return{{__proto__:null,v}}}})((\n{expression}\n))"
    )
}

/// Nothing has run: the stack has no frame of the expression, whose script is newer than the frame's.
fn does_not_compile(details: &ExceptionDetails, frame: &Frame) -> bool {
    let thrown = details.exception.as_ref().and_then(|thrown| thrown.class_name.as_deref());
    let number = |script: &str| script.parse::<i64>().unwrap_or(0);
    let its_own = number(&frame.call.location.script_id);
    let calls = details.stack_trace.as_ref().map_or(&[][..], |stack| &stack.call_frames);
    let has_run = calls
        .iter()
        .any(|call| call.function_name == "eval" && call.url.is_empty() && number(&call.script_id) > its_own);
    thrown == Some("SyntaxError") && !has_run
}

/// Names and operators that call nothing, so that what was read of variables before is still true. A member may have a
/// getter, and arithmetic converts objects by their methods: both may assign.
fn calls_nothing(expression: &str) -> bool {
    const OPERATORS: [&str; 8] = ["===", "!==", "&&", "||", "??", "!", "?", ":"];
    const CALLS: [&str; 6] = ["new", "delete", "yield", "await", "in", "instanceof"];
    let plain = OPERATORS.iter().fold(expression.to_owned(), |text, sign| text.replace(sign, " "));
    plain.split_whitespace().all(|word| word.chars().all(is_part_of_name) && !CALLS.contains(&word))
}

/// Names, dots and plain indices.
pub(in super::super) fn is_path(expression: &str) -> bool {
    expression.chars().all(|letter| is_part_of_name(letter) || matches!(letter, '.' | '[' | ']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_nothing_is_known() {
        for expression in ["x", "!done", "a === b && c !== 3", "a ? b : c", "user ?? other || typeof x"] {
            assert!(calls_nothing(expression), "{expression}");
        }
        for expression in [
            "a = b", "a ||= b", "x++", "new X", "f(a)", "() => a", "x=>a", "a.b", "a?.b", "b[i]", "a + b",
            "-a", "a < b", "a == b", "a in b", "`${a}`",
        ] {
            assert!(!calls_nothing(expression), "{expression}");
        }
    }

    #[test]
    fn only_a_path_has_no_side_effects() {
        for path in ["x", "a.b[0].c", "$x", "über"] {
            assert!(is_path(path), "{path}");
        }
        for other in ["x = 1", "f()", "`${f``}`", "x++", "delete a.b"] {
            assert!(!is_path(other), "{other}");
        }
    }
}
