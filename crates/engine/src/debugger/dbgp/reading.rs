//! Frames, scopes, values and expressions.

use std::time::Duration;

use ::dap::{EvaluateArguments, SetVariableArguments, StackTraceArguments, VariablesArguments};
use ::dbgp::Command;
use serde_json::{Value, json};

use super::agent::{self, Failure, Native};
use super::breakpoints::path_of;
use super::motion::Motion;
use super::server::Server;
use crate::adapter::php::literal;
use crate::deadlines;

/// The longest text of a value, when the client names none.
const TEXT: u64 = 4000;
/// The most children, when the client names no number.
const CHILDREN: i64 = 10_000;
/// More frames than a program has: the number of a frame is that of its stop times this, plus its depth.
const FRAMES: i64 = 1_000_000;
/// Numbers of scopes begin here, and those of values are lower.
const SCOPES: i64 = 1 << 40;

/// The scopes of a frame.
const LOCALS: i64 = 0;
const GLOBALS: i64 = 1;
const SUPERGLOBALS: i64 = 2;
const KINDS: i64 = 3;

/// The name of a function without the place of a closure, which is that of its frame, or of the closure that a function
/// of PHP's own calls.
pub(super) fn name_of(shown: &str) -> String {
    match shown.split_once("{closure:") {
        Some((of, _)) => format!("{of}{{closure}}"),
        None => shown.split(":{").next().unwrap_or_default().to_owned(),
    }
}

impl Server {
    fn is_stopped(&self) -> Result<(), Failure> {
        if self.motion == Motion::Stopped {
            return Ok(());
        }
        Err(Failure::Refused("the program runs".to_owned()))
    }

    pub(super) async fn stack_trace(&mut self, asked: &StackTraceArguments) -> Result<Value, Failure> {
        self.is_stopped()?;
        let stack = self.command(Command::new("stack_get")).await?;
        // The other frames are right without them.
        let native = match self.natives().await {
            Err(Failure::Refused(_)) => Vec::new(),
            native => native?,
        };
        let is_native = |depth: usize| native.get(depth).is_some_and(|native| *native != Native::No);
        let frames = stack.all("stack").enumerate().filter(|(depth, _)| !is_native(*depth));
        let frames: Vec<_> = frames.collect();
        let at =
            |number: Option<i64>| number.and_then(|number| usize::try_from(number).ok()).unwrap_or_default();
        let levels = Some(at(asked.levels)).filter(|levels| *levels > 0).unwrap_or(usize::MAX);
        let shown: Vec<Value> = frames
            .iter()
            .skip(at(asked.start_frame))
            .take(levels)
            .map(|(depth, frame)| {
                let path = frame.attribute("filename").map(path_of).unwrap_or_default();
                json!({
                    "id": self.stop * FRAMES + i64::try_from(*depth).unwrap_or_default(),
                    "name": name_of(frame.attribute("where").unwrap_or_default()),
                    "source": { "path": path },
                    "line": frame.number::<i64>("lineno").unwrap_or_default(),
                    "column": 1,
                })
            })
            .collect();
        Ok(json!({ "stackFrames": shown, "totalFrames": frames.len() }))
    }

    /// Which frames are not of functions of the program, innermost first. They have no variables, and their place is that
    /// of the call in the program.
    pub(super) async fn natives(&mut self) -> Result<Vec<Native>, Failure> {
        if self.natives.0 != self.stop {
            let stack = self.command(Command::new("stack_get")).await?;
            let names = stack.all("stack").map(|frame| literal(frame.attribute("where").unwrap_or_default()));
            let names: Vec<String> = names.collect();
            let ask = format!("\\Stillframe\\Functions::native([{}])", names.join(", "));
            let native = self.call(&ask).await?;
            let native = native.as_array().into_iter().flatten().map(|native| match native.as_str() {
                Some("function") => Native::Function,
                Some("method") => Native::Method,
                Some("magic") => Native::Magic,
                _ => Native::No,
            });
            self.natives = (self.stop, native.collect());
        }
        Ok(self.natives.1.clone())
    }

    /// How deep a frame is.
    fn depth_of(&self, frame: i64) -> Result<usize, Failure> {
        self.is_stopped()?;
        let gone = || Failure::Refused("the frame is gone".to_owned());
        if frame / FRAMES != self.stop {
            return Err(gone());
        }
        usize::try_from(frame % FRAMES).map_err(|_| gone())
    }

    pub(super) fn scopes(&self, frame: i64) -> Result<Value, Failure> {
        let depth = i64::try_from(self.depth_of(frame)?).unwrap_or_default();
        let scope = |kind: i64, name: &str, hint: &str| {
            json!({
                "name": name, "presentationHint": hint, "variablesReference": SCOPES + depth * KINDS + kind,
                "expensive": false,
            })
        };
        let mut scopes = vec![scope(LOCALS, "Locals", "locals"), scope(GLOBALS, "Globals", "globals")];
        if self.serves_request() {
            scopes.push(scope(SUPERGLOBALS, "Superglobals", "other"));
        }
        Ok(json!({ "scopes": scopes }))
    }

    pub(super) async fn variables(&mut self, asked: &VariablesArguments) -> Result<Value, Failure> {
        self.is_stopped()?;
        let limit = asked.text.unwrap_or(TEXT);
        let reference = asked.variables_reference;
        let found = if reference < SCOPES {
            let (start, count) = (asked.start.unwrap_or(0), asked.count.unwrap_or(CHILDREN));
            let ask = format!("\\Stillframe\\Values::children({reference}, {start}, {count}, {limit})");
            self.call(&ask).await?
        } else {
            let (depth, kind) = ((reference - SCOPES) / KINDS, (reference - SCOPES) % KINDS);
            match kind {
                LOCALS => {
                    let code = format!(
                        "\\Stillframe\\Values::locals(\\get_defined_vars(), isset($this) ? $this : null, {limit}, {depth})"
                    );
                    self.in_frame(usize::try_from(depth).unwrap_or_default(), &code, deadlines::READ).await?
                }
                GLOBALS => self.call(&format!("\\Stillframe\\Values::globals({limit})")).await?,
                _ => self.call(&format!("\\Stillframe\\Values::superglobals({limit})")).await?,
            }
        };
        Ok(json!({ "variables": found }))
    }

    pub(super) async fn evaluate(&mut self, asked: &EvaluateArguments) -> Result<Value, Failure> {
        let depth = self.depth_of(asked.frame_id.unwrap_or_default())?;
        let within = asked.timeout.map_or(deadlines::EVALUATE, Duration::from_millis);
        let limit = asked.text.unwrap_or(TEXT);
        let mut value = if asked.context.as_deref() == Some("hover") {
            self.in_frame(depth, &agent::of_user_pure(&asked.expression, limit, depth), within).await?
        } else {
            self.compute(depth, &asked.expression, within, limit).await?
        };
        if let Some(fields) = value.as_object_mut()
            && let Some(text) = fields.remove("value")
        {
            fields.insert("result".to_owned(), text);
        }
        Ok(value)
    }

    async fn compute(
        &mut self,
        depth: usize,
        code: &str,
        within: Duration,
        limit: u64,
    ) -> Result<Value, Failure> {
        let (file, line) = self.place(depth).await?;
        let then =
            format!("(function ($value) {{ return \\Stillframe\\Values::done($value, {limit}, {depth}); }})");
        let value = self.in_frame(depth, &agent::of_user(code, (&file, line), &then), within).await?;
        if value.is_null() {
            return Err(Failure::Refused("Exit: the expression ends the program".to_owned()));
        }
        Ok(value)
    }

    /// The file and the line of a frame.
    async fn place(&mut self, depth: usize) -> Result<(String, i64), Failure> {
        let answer = self.command(Command::new("stack_get").with('d', depth)).await?;
        let frame = answer.child("stack");
        let file = frame.and_then(|frame| frame.attribute("filename")).map(path_of).unwrap_or_default();
        Ok((file, frame.and_then(|frame| frame.number("lineno")).unwrap_or_default()))
    }

    pub(super) async fn set_variable(&mut self, asked: &SetVariableArguments) -> Result<Value, Failure> {
        self.is_stopped()?;
        let limit = asked.text.unwrap_or(TEXT);
        let reference = asked.variables_reference;
        let name = asked.name.strip_prefix('$').unwrap_or(&asked.name);
        let (depth, target) = if reference < SCOPES {
            let ask = format!("\\Stillframe\\Values::assignment({reference}, {})", literal(&asked.name));
            let found = self.call(&ask).await?;
            let depth = found
                .get(0)
                .and_then(Value::as_u64)
                .and_then(|depth| usize::try_from(depth).ok())
                .unwrap_or_default();
            (depth, found.get(1).and_then(Value::as_str).unwrap_or_default().to_owned())
        } else {
            let (depth, kind) = ((reference - SCOPES) / KINDS, (reference - SCOPES) % KINDS);
            let depth = usize::try_from(depth).unwrap_or_default();
            let is_there = match kind {
                LOCALS => {
                    let code = format!("\\array_key_exists({}, \\get_defined_vars())", literal(name));
                    self.in_frame(depth, &code, deadlines::READ).await?
                }
                _ => self.call(&format!("\\array_key_exists({}, $GLOBALS)", literal(name))).await?,
            };
            if is_there != true || name == "this" {
                return Err(Failure::Refused(format!("no variable `{name}` here")));
            }
            let target =
                if kind == LOCALS { format!("${name}") } else { format!("$GLOBALS[{}]", literal(name)) };
            (depth, format!("{target} = %s"))
        };
        let code = target.replacen("%s", &format!("(\n{}\n)", asked.value), 1);
        self.compute(depth, &code, deadlines::EVALUATE, limit).await
    }
}
