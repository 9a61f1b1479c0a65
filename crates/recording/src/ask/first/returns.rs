//! Looks for the first return of a function for whose value a condition holds.
//!
//! `total() < 0` is asked about what calls of `total` returned, and so is `cart.total < 0` if that is a property.

use std::collections::HashSet;

use super::super::computed;
use super::super::reached::is_named;
use super::super::state::{VALUE, variables};
use super::super::text::Lines;
use super::FirstRequest;
use crate::error::{Error, Result};
use crate::memory::MemoryAt;
use crate::predicate::{Expression, Literal, Scope};
use crate::reading::{Code, Event, Recording, is_file, list};
use crate::value::{What, Word};

/// The function whose returns a condition is about; none if it is about none.
pub(super) fn function(condition: &Expression) -> Result<Option<String>> {
    let mut functions = HashSet::new();
    add_functions(condition, &mut functions);
    match functions.len() {
        0 | 1 => Ok(functions.into_iter().next()),
        _ => Err(Error::question(
            "a condition can use the returns of one function only; ask about each function separately",
        )),
    }
}

fn add_functions(part: &Expression, functions: &mut HashSet<String>) {
    if let Expression::Returned(path) = part {
        functions.insert(path.clone());
    }
    for part in part.parts() {
        add_functions(part, functions);
    }
}

/// The same condition about returns of a property, if the program has a function of the name of its last attribute.
/// Also the object that it is asked about.
pub(super) fn of_property(
    recording: &Recording,
    condition: &Expression,
) -> Result<Option<(Expression, Option<Expression>)>> {
    let Some((property, name)) = last_property(recording, condition) else { return Ok(None) };
    let own = match property {
        Expression::Attribute(of, name) => recording.functions_of_types(of, name)?,
        _ => Vec::new(),
    };
    // Where types have their own or inherit it, all functions of the name are meant.
    let own = own.first().filter(|first| own.iter().all(|own| own == *first)).cloned().flatten();
    let function = Expression::Returned(own.unwrap_or_else(|| name.to_owned()));
    let condition = condition.replaced(&|part| (part == property).then(|| function.clone()));
    let of = match property {
        Expression::Attribute(of, _) => Some((**of).clone()),
        _ => None,
    };
    Ok(Some((condition, of)))
}

fn last_property<'a>(recording: &Recording, part: &'a Expression) -> Option<(&'a Expression, &'a str)> {
    let inner = part.parts().into_iter().rev().find_map(|inner| last_property(recording, inner));
    inner.or_else(|| match part {
        Expression::Attribute(_, name) if !codes(recording, name).is_empty() => Some((part, name.as_str())),
        _ => None,
    })
}

/// The functions that a name or a path can mean: those of that path, or else all with the last name in it.
fn codes(recording: &Recording, path: &str) -> Vec<i64> {
    let exact = recording.codes_where(|code| &*code.name == path);
    if !exact.is_empty() {
        return exact;
    }
    recording.codes_where(|code| Some(code.last_name()) == path.rsplit('.').next())
}

/// Whether a call that ends was made where the request asks, for an object: where it is not known which one that is, as is
/// given.
fn is_about(
    recording: &Recording,
    request: &FirstRequest<'_>,
    of: Option<(&Expression, bool)>,
    end: &Event,
) -> Result<bool> {
    let mut frames = recording.stack(end)?;
    let is_there = |code: &Code| request.function.is_none_or(|name| is_named(code, name));
    frames.retain(|frame| recording.codes.get(&frame.call.code).is_some_and(is_there));
    match of {
        Some((of, unknown)) if !frames.is_empty() => {
            Ok(computed::is_of(recording, of, &frames, end)?.unwrap_or(unknown))
        }
        _ => Ok(!frames.is_empty()),
    }
}

/// The return for which it holds, of a call for an object, if one is given. `count` is then for how many it has held.
pub(super) fn search(
    recording: &Recording,
    request: &FirstRequest<'_>,
    (condition, of): (&Expression, Option<(&Expression, bool)>),
    function: &str,
    count: &mut usize,
) -> Result<Option<Event>> {
    let is_there = |code: &Code| request.file.is_none_or(|file| is_file(&code.path, file));
    let mut codes = codes(recording, function);
    codes.retain(|code| recording.codes.get(code).is_some_and(is_there));
    if codes.is_empty() {
        return Err(Error::question(format!("no call of `{function}` was recorded; check its spelling")));
    }
    let returns = format!(
        "JOIN calls ON calls.id = events.call WHERE kind = ? AND calls.code IN ({}) ORDER BY events.id",
        list(&codes)
    );
    recording.find_event_where(&returns, [What::Return.stored()], |event| {
        let returned = Expression::Literal(Literal::Word(event.value.map_or(Word::None, Word::of)));
        let asked =
            condition.replaced(&|part| matches!(part, Expression::Returned(_)).then(|| returned.clone()));
        let Some(call) = recording.call(event.call)? else { return Ok(false) };
        let memory = MemoryAt { recording, event: event.id };
        let scope = Scope::of(recording, &memory, &call)?;
        let holds = scope.holds(&asked)?.unwrap_or(false) && is_about(recording, request, of, event)?;
        *count += usize::from(holds);
        Ok(holds && *count == request.occurrence)
    })
}

pub(super) fn answer(recording: &Recording, condition: &str, event: &Event) -> Result<String> {
    let memory = MemoryAt { recording, event: event.id };
    let frames = recording.stack(event)?;
    let value = recording.value_text(event.value.map_or(Word::None, Word::of), &memory, 3, VALUE)?;
    let mut lines = Lines::default();
    lines.add(format!(
        "`{condition}` first holds where {value} is returned: {} (event {})",
        recording.place_text(event.place),
        event.id
    ));
    if let Some(callers) = recording.stack_text(event, &frames)? {
        lines.add(callers);
    }
    if let Some(frame) = frames.first() {
        let variables = variables(recording, frame.call.owner, &memory)?;
        if !variables.is_empty() {
            lines.add("variables then:");
        }
        for line in variables {
            lines.add(format!("  {line}"));
        }
    }
    Ok(lines.finish())
}
