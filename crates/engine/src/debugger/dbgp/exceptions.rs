//! Exceptions. Xdebug stops at each that is thrown: what catches it is read from the sources of the frames.

use std::path::Path;

use ::dap::ThrownArguments;
use ::dbgp::{Command, Element};
use serde_json::{Value, json};

use super::agent::Failure;
use super::breakpoints::path_of;
use super::reading::name_of;
use super::server::Server;
use crate::adapter::php::literal;
use crate::deadlines;

/// What stops the program at everything that can be thrown, and at errors that end it. Xdebug calls warnings exceptions
/// too, which a program survives.
const THROWN: [&str; 5] = ["Exception", "Error", "Fatal error", "Catchable fatal error", "Parse error"];

/// The exceptions to stop at, and the one that the program is at.
#[derive(Debug, Default)]
pub(super) struct Throws {
    mode: Option<String>,
    numbers: Vec<String>,
    at: Option<At>,
}

#[derive(Clone, Debug)]
struct At {
    class: String,
    message: String,
    is_caught: bool,
    stack: String,
    /// The functions on the stack, innermost first.
    functions: Vec<String>,
}

impl Throws {
    pub(super) fn forget(&mut self) {
        self.at = None;
    }
}

impl Server {
    pub(super) async fn set_exceptions(&mut self, mode: Option<String>) -> Result<Value, Failure> {
        let is_new = self.throws.mode.is_some() != mode.is_some();
        if is_new {
            let hold = self.hold().await?;
            for number in std::mem::take(&mut self.throws.numbers) {
                self.command(Command::new("breakpoint_remove").with('d', number)).await?;
            }
            for class in THROWN.iter().filter(|_| mode.is_some()) {
                let set = Command::new("breakpoint_set").with('t', "exception").with('x', class);
                let number = self.command(set).await?.attribute("id").map(str::to_owned);
                self.throws.numbers.extend(number);
            }
            self.release(hold).await?;
        }
        self.throws.mode = mode;
        Ok(json!({}))
    }

    /// Whether the program is to stop at what it has thrown: the text of the stop then.
    pub(super) async fn judge(&mut self, thrown: &Element) -> Result<Option<String>, Failure> {
        let class = thrown.attribute("exception").unwrap_or_default().to_owned();
        let message = thrown.content();
        let is_error = class.contains(' ');
        // It was a stop at its throw, where its frames still were.
        if is_error && message.starts_with("Uncaught ") {
            return Ok(None);
        }
        let stack = self.command(Command::new("stack_get")).await?;
        let frames: Vec<(String, i64, &str)> = stack
            .all("stack")
            .map(|frame| {
                let file = frame.attribute("filename").map(path_of).unwrap_or_default();
                (file, frame.number("lineno").unwrap_or(0), frame.attribute("where").unwrap_or_default())
            })
            .collect();
        let places = frames
            .iter()
            .map(|(file, line, name)| format!("[{}, {line}, {}]", literal(file), literal(name)))
            .collect::<Vec<_>>()
            .join(", ");
        let ask =
            format!("\\Stillframe\\Throws::thrown({}, {}, [{places}])", literal(&class), literal(&message));
        let catcher = match self.call(&ask).await {
            Ok(catcher) => catcher,
            Err(Failure::Refused(message)) => {
                tracing::warn!(message, "what catches an exception could not be read");
                Value::Null
            }
            Err(lost) => return Err(lost),
        };
        let file = catcher.get("file").and_then(Value::as_str);
        let catcher = catcher.get("catcher").and_then(Value::as_u64);
        let catcher = catcher.and_then(|at| usize::try_from(at).ok()).zip(file).filter(|_| !is_error);
        let is_users = |file: &str| !self.adapter.is_internal(Path::new(file));
        let user = frames.iter().position(|(file, ..)| is_users(file));
        let is_wanted = match (catcher, self.throws.mode.as_deref()) {
            (None, _) => true,
            (Some((at, _)), Some("all")) => user.is_some_and(|user| user <= at),
            (Some((at, file)), Some("user")) => user.is_some_and(|user| user < at) && !is_users(file),
            (Some(_), _) => false,
        };
        if !is_wanted {
            self.call("\\Stillframe\\Throws::$error = null").await?;
            return Ok(None);
        }
        let functions: Vec<String> = frames.iter().map(|(.., name)| name_of(name)).collect();
        // As PHP prints it, with the place where each function was called.
        let callers = frames.iter().skip(1).zip(&functions).enumerate();
        let calls = callers.map(|(at, ((file, line, _), name))| format!("#{at} {file}({line}): {name}()"));
        let main = functions.iter().position(|name| name == "{main}").map(|at| format!("#{at} {{main}}"));
        let stack = calls.chain(main).collect::<Vec<_>>().join("\n");
        let is_caught = catcher.is_some();
        let message = match frames.first() {
            Some((file, line, _)) if class == "ParseError" => self.with_place(message, file, *line).await?,
            _ => message,
        };
        self.throws.at = Some(At { class: class.clone(), message, is_caught, stack, functions });
        Ok(Some(class))
    }

    /// What the compiler says of a file that is included on this line, with the place in that file, as PHP prints it.
    async fn with_place(&mut self, message: String, file: &str, line: i64) -> Result<String, Failure> {
        let text = literal(&message);
        let ask =
            format!("\\Stillframe\\Throws::refused({}, {line}, {text}, \\get_defined_vars())", literal(file));
        let refused = match self.in_frame(0, &ask, deadlines::CONDITION).await {
            Err(Failure::Refused(_)) => Value::Null,
            other => other?,
        };
        let file = refused.get("file").and_then(Value::as_str);
        Ok(match file.zip(refused.get("line").and_then(Value::as_u64)) {
            Some((file, line)) => format!("{message} in {file} on line {line}"),
            _ => message,
        })
    }

    pub(super) fn exception_info(&self) -> Result<Value, Failure> {
        let Some(at) = &self.throws.at else {
            return Err(Failure::Refused("the program is not stopped at an exception".to_owned()));
        };
        Ok(json!({
            "exceptionId": at.class,
            "description": at.message,
            "breakMode": if at.is_caught { "always" } else { "unhandled" },
            "details": { "message": at.message, "typeName": at.class, "stackTrace": at.stack },
        }))
    }

    /// What a test runner has thrown.
    pub(super) async fn describe_thrown(&mut self, asked: &ThrownArguments) -> Result<Value, Failure> {
        let Some(thrown) = &self.throws.at else { return Ok(json!({})) };
        // Such as `Assert::assertSame`.
        let function = |name: &String| name.rsplit([':', '>']).next().map(literal);
        let functions: Vec<String> = thrown.functions.iter().take(ASSERTIONS).filter_map(function).collect();
        let depth = self.depth().await?;
        let limit = asked.text;
        for (at, function) in functions.iter().enumerate().take(depth) {
            let code = format!("\\Stillframe\\Tests::thrown({function}, \\get_defined_vars(), {limit})");
            let found = self.in_frame(at, &code, deadlines::CONDITION).await?;
            if !found.is_null() {
                return Ok(found);
            }
        }
        Ok(json!({}))
    }
}

/// How many frames a test runner may have above the one that compares.
const ASSERTIONS: usize = 6;
