//! Our PHP code inside the program.

use std::time::Duration;

use ::dbgp::{Command, Error};
use data_encoding::BASE64;
use serde_json::Value;

use super::server::Server;
use crate::adapter::php::literal;
use crate::deadlines;
use crate::process;

/// The code, in the order of its parts.
const PARTS: [&str; 7] = [
    include_str!("../../debuggee/php/evaluation.php"),
    include_str!("../../debuggee/php/imports.php"),
    include_str!("../../debuggee/php/values.php"),
    include_str!("../../debuggee/php/pure.php"),
    include_str!("../../debuggee/php/throws.php"),
    include_str!("../../debuggee/php/functions.php"),
    include_str!("../../debuggee/php/tests.php"),
];

/// The class in the last part.
const LAST_CLASS: &str = "Stillframe\\Tests";

/// Where an expression leaves its result.
const RESULT: &str = "\\Stillframe\\Evaluation::$result";
const TAKE: &str = "\\Stillframe\\Evaluation::take()";

/// Whether a function is PHP's own, or none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Native {
    /// It is the program's.
    No,
    Function,
    /// It has an object or a class.
    Method,
    /// It does not exist: PHP calls `__call` for it. Xdebug has the variables of its caller for it.
    Magic,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The message is for the user.
    Refused(String),
    /// The connection no longer works.
    Lost,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Closed => Self::Lost,
            other => Self::Refused(other.to_string()),
        }
    }
}

/// Code as an expression of its own, whatever is in it.
fn quoted(code: &str) -> String {
    format!("eval(\\base64_decode('{}'))", BASE64.encode(code.as_bytes()))
}

/// An expression of the user's, with the names that its line has. It runs in the scope of its frame, and its value goes to
/// the function `then`.
pub(super) fn of_user(expression: &str, (file, line): (&str, i64), then: &str) -> String {
    wrapped(expression, (file, line), then, "\\Stillframe\\Evaluation::failed($stillframe)")
}

/// A condition. One that cannot be evaluated counts as true, so that the stop shows it.
pub(super) fn of_condition(expression: &str, (file, line): (&str, i64)) -> String {
    wrapped(expression, (file, line), "(function ($value) { return (bool) $value; })", "true")
}

fn wrapped(expression: &str, (file, line): (&str, i64), then: &str, failed: &str) -> String {
    let encoded = BASE64.encode(expression.as_bytes());
    let file = literal(file);
    quoted(&format!(
        "try {{ \\Stillframe\\Evaluation::begin(); \
         return {then}(eval(\\Stillframe\\Evaluation::code('{encoded}', \\get_defined_vars(), {file}, {line}))); }} \
         catch (\\Throwable $stillframe) {{ return {failed}; }} \
         finally {{ unset($stillframe); \\Stillframe\\Evaluation::end(); }}"
    ))
}

/// An expression of the user's that is to change nothing.
pub(super) fn of_user_pure(expression: &str, limit: u64, depth: usize) -> String {
    let encoded = BASE64.encode(expression.as_bytes());
    format!(
        "\\Stillframe\\Evaluation::pure('{encoded}', \\get_defined_vars(), isset($this) ? $this : null, {limit}, {depth})"
    )
}

/// Code for a frame that waits for this many functions of PHP's own, one of which is a method. What it assigns to
/// variables of the frame is assigned there; others that it assigns end with it.
fn waiting(code: &str, called: usize) -> String {
    let encoded = BASE64.encode(code.as_bytes());
    quoted(&format!(
        "try {{ $stillframe = []; \
         foreach (\\array_diff(\\array_keys(\\get_defined_vars()), ['stillframe']) as $stillframe_name) \
         {{ $stillframe[$stillframe_name] = &$$stillframe_name; }} \
         return \\Stillframe\\Evaluation::waiting($stillframe, '{encoded}', {called}); }} \
         finally {{ unset($stillframe, $stillframe_name); }}"
    ))
}

/// One of our calls, whose exceptions are results too.
pub(super) fn of_ours(expression: &str) -> String {
    format!("\\Stillframe\\Evaluation::call(function () {{ return {expression}; }})")
}

impl Server {
    /// Loads our code into the program. What it says of the program is returned.
    pub(super) async fn load_agent(&mut self) -> Result<Value, Failure> {
        for part in PARTS {
            let code = part.strip_prefix("<?php").unwrap_or(part);
            // A forked process has it already, and cannot declare it twice.
            let code = format!("\\class_exists('{LAST_CLASS}', false) || {}", quoted(code));
            self.command(Command::new("eval").data(&code)).await?;
        }
        self.call("\\Stillframe\\Evaluation::start()").await
    }

    /// Evaluates one of our expressions outside of the frames.
    pub(super) async fn call(&mut self, expression: &str) -> Result<Value, Failure> {
        let code = format!("[{RESULT} = {}, {TAKE}][1]", of_ours(expression));
        let answer = self.command(Command::new("eval").data(&code)).await?;
        result(answer.child("property").map(::dbgp::Element::content).as_deref())
    }

    /// Evaluates one of our expressions, such as [`of_user`], in a frame: 0 is the innermost one.
    pub(super) async fn in_frame(
        &mut self,
        depth: usize,
        code: &str,
        within: Duration,
    ) -> Result<Value, Failure> {
        // For a frame that waits for functions of PHP's own, Xdebug has other variables. For the innermost of them, it has
        // those of the frame.
        let natives = if depth > 0 { self.natives().await? } else { Vec::new() };
        let is_called = |native: &&Native| matches!(**native, Native::Function | Native::Method);
        let called = natives.iter().take(depth).rev().take_while(is_called).count();
        let is_method = natives.iter().take(depth).rev().take(called).any(|native| *native == Native::Method);
        let depth = depth - called;
        let code = if is_method { waiting(code, called) } else { code.to_owned() };
        // Only this command takes the frame into account: it evaluates `NAME = CODE` there.
        let set = Command::new("property_set").with('d', depth).with('n', RESULT).data(&code);
        let client = self.client.clone();
        let set = client.ask(set, within + deadlines::EVALUATE_GRACE);
        tokio::pin!(set);
        let mut patience = within;
        let answer = loop {
            tokio::select! {
                answer = &mut set => break answer?,
                () = tokio::time::sleep(patience), if self.pauses => {
                    process::interrupt_system_call(self.pid);
                    patience = deadlines::NUDGE;
                }
            }
        };
        if answer.attribute("success") == Some("0") {
            return Err(Failure::Refused("Exit: the expression ends the program".to_owned()));
        }
        let taken = self.command(Command::new("eval").data(TAKE)).await?;
        result(taken.child("property").map(::dbgp::Element::content).as_deref())
    }

    /// Sends a command that is answered at once.
    pub(super) async fn command(&mut self, command: Command) -> Result<::dbgp::Element, Failure> {
        Ok(self.client.ask(command, deadlines::REQUEST).await?)
    }
}

/// What our code has left: an object with `error` is a refusal.
fn result(json: Option<&str>) -> Result<Value, Failure> {
    let value: Value = json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    match value.get("error").and_then(Value::as_str) {
        Some(error) => Err(Failure::Refused(error.to_owned())),
        None => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_results_are_those_of_php() {
        assert_eq!(literal(r"it's a\b"), r"'it\'s a\\b'");
        assert_eq!(result(Some("{\"value\":1}")), Ok(serde_json::json!({ "value": 1 })));
        assert_eq!(result(Some("{\"error\":\"no\"}")), Err(Failure::Refused("no".to_owned())));
        assert_eq!(result(None), Ok(Value::Null));
    }
}
