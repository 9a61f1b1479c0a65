//! Names that V8 does not find in a frame: imports that a compiler has written in another way, and variables that V8 has
//! left out.
//!
//! V8 keeps a variable of an enclosing function only for functions that use it. In the frame of any other function it
//! is undefined, although it is declared in the source above. If the enclosing function has a frame on the stack,
//! that frame has it.

use std::ops::ControlFlow;
use std::sync::Arc;

use ::cdp::runtime::{CallArgument, RemoteObject};

use super::connection::CdpDebugger;
use super::exceptions::literal;
use super::frames;
use super::function_names::or_anonymous;
use super::imported;
use super::injected::BINDING;
use super::scripts::position;
use super::values::{is_part_of_name, is_path, renamed};
use crate::debugger::Evaluate;
use crate::error::{Error, Result};
use crate::javascript::{self, DeclaredName, ScriptOutline};
use crate::model::ids::RawId;
use crate::model::variable::Value;

/// How many names of an expression are taken from other frames.
const MOST_BORROWED: usize = 8;

/// Where a variable is declared that V8 has left out of a frame.
struct Declaration {
    /// The line in the source.
    line: u32,
    is_top_level: bool,
    /// The frames of the function that it is in, with their names.
    frames: Vec<(RawId, String)>,
}

/// A variable that another frame has.
struct BorrowedVariable {
    name: String,
    value: CallArgument,
    /// Why the frame does not have it, and where the value is from.
    note: String,
}

/// Evaluates again what failed for want of a name: where the name is, or with its value from there. The error says why
/// it is nowhere.
pub(super) async fn evaluate(
    debugger: &CdpDebugger,
    request: &Evaluate,
    error: Error,
) -> Result<Value<RawId>> {
    let (request, mut error) = match with_imports(debugger, request, error).await? {
        ControlFlow::Break(value) => return Ok(value),
        ControlFlow::Continue(left) => left,
    };
    let (request, expression) = (&request, request.expression.trim());
    let mut borrowed: Vec<BorrowedVariable> = Vec::new();
    loop {
        let Some(name) = missing(&error).map(str::to_owned) else { return Err(error) };
        let is_alone = is_path(expression) && expression.split(['.', '[']).next() == Some(name.as_str());
        let Some(declared) = declared(debugger, request, &name).await else {
            return at_return(debugger, request, &name, is_alone, error).await;
        };
        let about = about(&name, &declared);
        let (id, function) = match declared.frames.as_slice() {
            [(id, function)] => (*id, function.as_str()),
            [] => {
                let why = "and its function has no frame on the stack; stop in that function, or use";
                return Err(explained(error, &format!("{about}, {why} `{name}` in this one")));
            }
            _ => {
                let why = "several frames have one: evaluate it in one of those frames";
                return Err(explained(error, &format!("{about}; {why}")));
            }
        };
        let function = if declared.is_top_level { "<module>" } else { function };
        let there = frames::frame(&*debugger.0.run.stop()?, &debugger.0.sources.scripts, id).await?;
        if is_alone {
            let request = Evaluate { frame: id, ..request.clone() };
            let value = debugger.0.values.evaluate(&there, &request).await?;
            return Ok(Value {
                note: Some(format!("{about}; this value is from the frame of `{function}`")),
                ..value
            });
        }
        let by_itself = format!("{about}; evaluate `{name}` by itself");
        let is_another =
            borrowed.len() < MOST_BORROWED && borrowed.iter().all(|earlier| earlier.name != name);
        if !is_another || javascript::is_expression(expression).is_err() {
            return Err(explained(error, &by_itself));
        }
        let value = debugger.0.values.argument(&there, &name).await?;
        let note = format!("{about}; its value is from the frame of `{function}`");
        borrowed.push(BorrowedVariable { name, value, note });
        match evaluate_with(debugger, request, &borrowed).await {
            Ok(value) => return Ok(value),
            Err(Error::Refused(_)) if !request.pure => return Err(explained(error, &by_itself)),
            Err(next) => error = next,
        }
    }
}

/// Evaluates again with what the script calls the names that its source imports, or gives the expression with those
/// names and what it still fails of.
async fn with_imports(
    debugger: &CdpDebugger,
    request: &Evaluate,
    mut error: Error,
) -> Result<ControlFlow<Value<RawId>, (Evaluate, Error)>> {
    let mut request = request.clone();
    let mut notes = Vec::new();
    while let Some(name) = missing(&error).map(str::to_owned) {
        let Some(value) = imported(debugger, &request, &name).await else { break };
        let expression = renamed(&request.expression, |other| (other == name).then_some(value.as_str()));
        if expression == request.expression {
            break;
        }
        notes.push(format!("the compiled code has the import `{name}` as `{value}`"));
        // Before a name that it begins with, nothing has run.
        let is_first = notes.len() == 1 && begins_with(&request.expression, &name);
        let asked = Evaluate { expression, pure: request.pure || !is_first, ..request.clone() };
        let frame = debugger.frame(asked.frame).await?;
        match debugger.0.values.evaluate(&frame, &asked).await {
            Ok(found) => return Ok(ControlFlow::Break(Value { note: Some(notes.join("; ")), ..found })),
            // A part of the expression has run already.
            Err(Error::Refused(_)) if !request.pure => return Err(explained(error, &notes.join("; "))),
            Err(next) => error = next,
        }
        request.expression = asked.expression;
    }
    Ok(ControlFlow::Continue((request, error)))
}

fn begins_with(expression: &str, name: &str) -> bool {
    let rest = expression.trim_start().strip_prefix(name);
    rest.is_some_and(|rest| !rest.starts_with(is_part_of_name))
}

/// What the script of a frame calls a name that its source imports.
async fn imported(debugger: &CdpDebugger, request: &Evaluate, name: &str) -> Option<String> {
    let stop = debugger.0.run.stop().ok()?;
    let frame = stop.frames.get(stop.index_of(request.frame)?)?;
    let sources = debugger.0.sources.clone();
    let script = sources.scripts.get(&frame.location.script_id)?;
    let map = Arc::clone(script.map().await?.ok()?);
    let (text, place, name) = (script.text().await?, position(&frame.location), name.to_owned());
    let work = move || {
        let in_text = |place| script.in_text(place);
        imported::names(&sources, &map, &text, place, in_text, |local| local == name).remove(&name)
    };
    tokio::task::spawn_blocking(work).await.ok()?
}

/// Refuses `name = value` where V8 has left the variable out: outside of strict code, this would make a global variable,
/// which hides the other one from later expressions.
pub(super) async fn refuse_assignment(debugger: &CdpDebugger, request: &Evaluate) -> Result<()> {
    let Some(name) = assigned(&request.expression) else { return Ok(()) };
    let frame = debugger.frame(request.frame).await?;
    let read = Evaluate { expression: name.to_owned(), pure: true, ..request.clone() };
    let Err(error) = debugger.0.values.evaluate(&frame, &read).await else { return Ok(()) };
    if missing(&error) != Some(name) {
        return Ok(());
    }
    let Some(declared) = declared(debugger, request, name).await else { return Ok(()) };
    let functions: Vec<String> =
        declared.frames.iter().map(|(_, function)| format!("`{function}`")).collect();
    let advice = if functions.is_empty() {
        "its function has no frame on the stack, so nothing can be assigned to it here".to_owned()
    } else {
        format!("assign to it in the frame of {}", functions.join(" or "))
    };
    Err(explained(error, &format!("{}; {advice}", about(name, &declared))))
}

/// The name in `name = value`.
fn assigned(expression: &str) -> Option<&str> {
    let expression = expression.trim_start();
    let name = expression.split(|letter: char| !is_part_of_name(letter)).next()?;
    let rest = expression.get(name.len()..)?.trim_start().strip_prefix('=')?;
    let is_name = name.starts_with(|letter: char| !letter.is_ascii_digit());
    (is_name && !rest.starts_with(['=', '>'])).then_some(name)
}

fn about(name: &str, declared: &Declaration) -> String {
    let place = if declared.is_top_level { "at the top of its module" } else { "in a function around it" };
    let line = declared.line;
    format!("`{name}`, declared on line {line} {place}, is not used here, so V8 optimized it out")
}

/// Evaluates an expression with constants for what other frames have. A part of it has run already, so nothing in it may
/// have side effects.
async fn evaluate_with(
    debugger: &CdpDebugger,
    request: &Evaluate,
    borrowed: &[BorrowedVariable],
) -> Result<Value<RawId>> {
    let frame = debugger.frame(request.frame).await?;
    let binding = &debugger.0.binding;
    binding.bind_frame(&frame).await?;
    binding.lend(&frame, borrowed.iter().map(|variable| variable.value.clone()).collect()).await?;
    let names: Vec<&str> = borrowed.iter().map(|variable| variable.name.as_str()).collect();
    let expression = format!(
        "(()=>{{const [{}]={BINDING}.lent;return (\n{}\n)}})()",
        names.join(","),
        request.expression.trim().trim_end_matches(';')
    );
    let answer =
        debugger.0.values.evaluate(&frame, &Evaluate { expression, pure: true, ..request.clone() }).await;
    binding.lend(&frame, Vec::new()).await?;
    let notes: Vec<&str> = borrowed.iter().map(|variable| variable.note.as_str()).collect();
    Ok(Value { note: Some(notes.join(". ")), ..answer? })
}

/// If a function has destructured or default parameters, V8 may have left the scope of its body when it stops at a
/// `return`. The return value is still available.
async fn at_return(
    debugger: &CdpDebugger,
    request: &Evaluate,
    name: &str,
    is_alone: bool,
    error: Error,
) -> Result<Value<RawId>> {
    let Some((before, returned)) = returns(debugger, request).await else { return Err(error) };
    if !before.split(|letter: char| !is_part_of_name(letter)).any(|word| word == name) {
        return Err(error);
    }
    if !is_alone || returned_name(&before) != Some(name) {
        let why = "at this `return`, V8 has already left the scope of the function's body; stop a line \
                   before";
        return Err(explained(error, why));
    }
    let frame = debugger.frame(request.frame).await?;
    let value = literal(&returned).unwrap_or_else(|| format!("{BINDING}.error"));
    let expression = request.expression.trim().replacen(name, &value, 1);
    let request = Evaluate { expression, ..request.clone() };
    let answer = debugger.0.values.evaluate(&frame, &request);
    let value = debugger.0.binding.with_error(&frame, &returned, answer).await?;
    let note =
        format!("at this `return`, V8 has already left the scope of `{name}`; this is the return value");
    Ok(Value { note: Some(note), ..value })
}

/// The text before the `return` at which a frame is, and what it returns.
async fn returns(debugger: &CdpDebugger, request: &Evaluate) -> Option<(String, RemoteObject)> {
    let stop = debugger.0.run.stop().ok()?;
    let frame = stop.frames.get(stop.index_of(request.frame)?)?;
    let returned = frame.return_value.clone()?;
    let script = debugger.0.sources.scripts.get(&frame.location.script_id)?;
    let (text, end) = script.text_at(&frame.location).await?;
    Some((text.get(..end)?.to_owned(), returned))
}

/// The name in `return NAME` at the end of a text.
fn returned_name(before: &str) -> Option<&str> {
    let before = before.trim_end_matches(|letter: char| letter == ';' || letter.is_whitespace());
    let rest = before.trim_end_matches(is_part_of_name);
    let is_return = rest.len() < before.len()
        && rest.trim_end().ends_with("return")
        && rest.ends_with(char::is_whitespace);
    before.get(rest.len()..).filter(|_| is_return)
}

/// The name in `X is not defined`.
fn missing(error: &Error) -> Option<&str> {
    let Error::Raised { type_name, message, .. } = error else { return None };
    if type_name != "ReferenceError" {
        return None;
    }
    message.rsplit(": ").next()?.strip_suffix(" is not defined")
}

fn explained(error: Error, why: &str) -> Error {
    match error {
        Error::Raised { type_name, message, traceback } => {
            Error::Raised { type_name, message: format!("{message} ({why})"), traceback }
        }
        other => other,
    }
}

/// Where a name is declared around a frame. The frames that may have it called that one, in the same script.
async fn declared(debugger: &CdpDebugger, request: &Evaluate, name: &str) -> Option<Declaration> {
    let stop = debugger.0.run.stop().ok()?;
    let index = stop.index_of(request.frame)?;
    let frame = stop.frames.get(index)?;
    let sources = &debugger.0.sources;
    let script = sources.scripts.get(&frame.location.script_id)?;
    let callers = stop.frames.iter().enumerate().skip(index + 1);
    let callers = callers.filter(|(_, caller)| caller.location.script_id == frame.location.script_id);
    let (mut frames, mut places) = (Vec::new(), Vec::new());
    for (index, caller) in callers {
        frames.push((stop.id_of(index), or_anonymous(&caller.function_name)));
        places.push(script.in_text(position(&caller.location)));
    }
    let name = name.to_owned();
    let search = move |outline: &ScriptOutline, place| outline.declared_around(place, &name, &places);
    let DeclaredName { place, frames: its, is_top_level } =
        sources.at_outline(&frame.location, search).await??;
    let line = sources.location(&script.in_file(place)).await?.line;
    let frames = its.into_iter().filter_map(|number| frames.get(number).cloned()).collect();
    Some(Declaration { line, is_top_level, frames })
}

#[cfg(test)]
mod tests {
    use super::{assigned, returned_name};

    #[test]
    fn only_a_plain_assignment_to_a_name_is_one() {
        let table = [
            ("limit = 5", Some("limit")),
            (" $a=b==c", Some("$a")),
            ("a == b", None),
            ("a => b", None),
            ("a.b = 1", None),
            ("a[0] = 1", None),
            ("a += 1", None),
            ("= 1", None),
        ];
        for (expression, expected) in table {
            assert_eq!(assigned(expression), expected, "{expression}");
        }
    }

    #[test]
    fn return_value_can_be_a_name() {
        let table = [
            ("f() {\n  return sum", Some("sum")),
            ("  return sum;", Some("sum")),
            ("return a.b", None),
            ("return a + b", None),
            ("returnsum", None),
            ("return ", None),
        ];
        for (before, expected) in table {
            assert_eq!(returned_name(before), expected, "{before}");
        }
    }
}
