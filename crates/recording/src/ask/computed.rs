//! Attributes that a function computes when they are read: properties and getters.

use super::origin::{Returned, returned_of};
use crate::error::Result;
use crate::memory::{Memory, MemoryAt};
use crate::predicate::{Datum, Expression, Scope};
use crate::reading::{Call, Event, Recording, list};
use crate::stack::Frame;
use crate::value::{Key, What, Word};

/// The most returns that are tried, newest first.
const MOST_TRIED: i64 = 500;

/// The last value before an event that a function gave for an attribute of an object; none if nothing computes it.
pub(super) fn last(recording: &Recording, target: &Expression, event: &Event) -> Result<Option<Returned>> {
    let Expression::Attribute(of, name) = target else { return Ok(None) };
    let codes = recording.codes_where(|code| code.last_name() == name);
    if codes.is_empty() {
        return Ok(None);
    }
    let object = value_in(recording, of, &recording.stack(event)?, event.id)?;
    let returns = format!(
        "SELECT calls.id, calls.code, ends.id, ends.value FROM calls JOIN events AS ends ON ends.id = calls.ended \
         WHERE calls.code IN ({}) AND ends.id < ? AND ends.kind = ? ORDER BY ends.id DESC LIMIT ?",
        list(&codes)
    );
    recording.find_row(&returns, (event.id, What::Return.stored(), MOST_TRIED), returned_of, |returned| {
        let Some(call) = recording.call(returned.call)? else { return Ok(None) };
        let is_it = match (object, receiver(recording, &call, returned.event)?) {
            (Some(object), Some(receiver)) => object == receiver,
            (None, Some(_)) => {
                let end = recording.event(returned.event)?;
                is_of(recording, of, &recording.stack(&end)?, &end)? == Some(true)
            }
            _ => false,
        };
        Ok(is_it.then_some(returned))
    })
}

/// Whether a call that ends is about an object that an expression means in these frames around it; none if that is not known.
pub(super) fn is_of(
    recording: &Recording,
    of: &Expression,
    frames: &[Frame],
    end: &Event,
) -> Result<Option<bool>> {
    let Some(call) = recording.call(end.call)? else { return Ok(None) };
    let receiver = receiver(recording, &call, end.id)?;
    Ok(value_in(recording, of, frames, end.id)?.zip(receiver).map(|(object, receiver)| object == receiver))
}

/// The object whose method a call runs.
fn receiver(recording: &Recording, call: &Call, event: i64) -> Result<Option<i64>> {
    let memory = MemoryAt { recording, event };
    let own = ["self", "this", "cls"].into_iter().find_map(|name| recording.number(name).map(Key::Name));
    let word = own.map(|own| memory.get(call.owner, own)).transpose()?.flatten();
    Ok(word.and_then(Word::as_object))
}

/// The object that an expression means in the innermost frame that knows it.
fn value_in(recording: &Recording, of: &Expression, frames: &[Frame], event: i64) -> Result<Option<i64>> {
    let memory = MemoryAt { recording, event };
    for frame in frames {
        if let Some(Datum::Object(object)) = Scope::of(recording, &memory, &frame.call)?.value(of)? {
            return Ok(Some(object));
        }
    }
    Ok(None)
}
