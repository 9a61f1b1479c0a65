//! What a wrapper hands on as it was given it: `*args`, `**kwargs` and `...args`.

use super::Cause;
use super::calls::called_name;
use super::inputs::{Inputs, Ran, slot_of};
use crate::ask::statement::{self, Parameter, Value};
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::predicate::Scope;
use crate::reading::{Call, Event, Recording};
use crate::value::{Key, Owner, Word};

/// How many wrappers there are around a function at most.
const MOST_WRAPPERS: usize = 5;

/// A position that no argument has.
const NOWHERE: usize = usize::MAX / 2;

impl Recording {
    /// The item that a caller hands on among all that it was given, as in `function(*args, **kwargs)`, or that was given
    /// for such an item.
    pub(super) fn inputs_of_spread(&self, write: &Write, line: &Event, call: &Call) -> Result<Inputs> {
        let Some(caller) = self.call(call.caller)? else { return Ok(Vec::new()) };
        let Some((code, number)) = self.place(call.caller_place) else {
            return Ok(Vec::new());
        };
        let text = self.own_statement(&caller, code, number)?;
        match write.key {
            Key::Name(_) if write.owner == call.owner => {
                let item = self.item_handed_on(write, line, call, (&caller, &text))?;
                Ok(item.map(|item| (Cause::Write(item), 0)).into_iter().collect())
            }
            Key::Index(_) | Key::Item(_) => {
                let from = self.line_before(&caller, line.id)?;
                let from = self.begin_of_statement(&caller, number, from, &text)?;
                let Some(given) = self.given_for_item(write, line, call, (&caller, &text))? else {
                    // The caller is a wrapper itself.
                    let item = self.item_handed_on(write, line, call, (&caller, &text))?;
                    return Ok(item.map(|item| (Cause::Write(item), 0)).into_iter().collect());
                };
                let (value, word) = (Value::of(given), write.word);
                let (into, key, until) = (None, None, line.id - 1);
                self.inputs(&Ran { value, whole: &text, call: caller, word, into, key, from, until })
            }
            _ => Ok(Vec::new()),
        }
    }

    fn item_handed_on(
        &self,
        write: &Write,
        line: &Event,
        call: &Call,
        (caller, text): (&Call, &str),
    ) -> Result<Option<Write>> {
        let (position, by_name) = match write.key {
            Key::Index(index) => (index, None),
            Key::Item(_) => (-1, Some(write.key)),
            _ => {
                let at = self.parameters(call)?.iter().position(|key| *key == write.key).unwrap_or(0);
                let by_name =
                    self.number(&self.spelling.string_as_key(&self.key_text(write.key))).map(Key::Item);
                (i64::try_from(at).unwrap_or(0), by_name)
            }
        };
        let memory = MemoryAt { recording: self, event: line.id };
        let scope = Scope::of(self, &memory, caller)?;
        for name in statement::spreads(text) {
            let Some(variable) = slot_of(&scope, name)? else { continue };
            let Some(Word::Object(object)) = memory.get(variable.0, variable.1)? else { continue };
            // Some may be given before, and the receiver otherwise.
            for key in by_name.into_iter().chain((0..=position).rev().map(Key::Index)) {
                let slot = (Owner::object(object), key);
                if memory.get(slot.0, slot.1)? == Some(write.word) {
                    let Some(item) = self.last_write(slot, line.id)? else { return Ok(None) };
                    // Python's equal tuples are one object, whose items were written when it was first given.
                    let given = self.last_write(variable, line.id)?.filter(|given| given.line > item.line);
                    return Ok(Some(match given {
                        Some(Write { event, line, .. }) if variable.0 == caller.owner => {
                            Write { event, line, ..item }
                        }
                        _ => item,
                    }));
                }
            }
        }
        Ok(None)
    }

    /// The expression in a caller's text.
    fn given_for_item<'t>(
        &self,
        write: &Write,
        line: &Event,
        call: &Call,
        (caller, text): (&Call, &'t str),
    ) -> Result<Option<&'t str>> {
        let (Some(object), Some(code)) = (write.owner.as_object(), self.codes.get(&call.code)) else {
            return Ok(None);
        };
        let memory = MemoryAt { recording: self, event: line.id + 1 };
        let (_, head) = self.head_of(code);
        let mut rest = None;
        for (at, key) in self.parameters(call)?.into_iter().enumerate() {
            let name = self.key_text(key);
            let is_rest = [format!("*{name}"), format!("...{name}")].iter().any(|rest| head.contains(rest));
            if is_rest && memory.get(call.owner, key)? == Some(Word::Object(object)) {
                rest = Some(at);
            }
        }
        let Some(at) = rest else { return Ok(None) };
        let Some(function) = self.wrapped_name(call, text)?.or_else(|| statement::only_called(text)) else {
            return Ok(None);
        };
        let (name, mut position) = match write.key {
            Key::Index(index) => (String::new(), at + usize::try_from(index).unwrap_or(0)),
            Key::Item(key) => (self.text(key).trim_matches(['\'', '"']).to_owned(), NOWHERE),
            _ => return Ok(None),
        };
        // A method of a class that is wrapped is given its object first.
        let scope = Scope::of(self, &memory, caller)?;
        let first = memory.get(write.owner, Key::Index(0))?;
        for read in statement::reads(text, self.spelling) {
            if read.is_receiver
                && first.is_some()
                && let Some(slot) = slot_of(&scope, &read.path)?
                && memory.get(slot.0, slot.1)? == first
            {
                let Some(before) = position.checked_sub(1) else { return Ok(None) };
                position = before;
                break;
            }
        }
        Ok(statement::argument(text, function, Parameter { name: &name, position }, 0))
    }

    /// The name of the function that a call wraps, if a text has it.
    fn wrapped_name<'t>(&self, call: &Call, text: &'t str) -> Result<Option<&'t str>> {
        let inner =
            "SELECT id, code FROM calls WHERE id > ?1 AND id < ?1 + 1000 AND caller = ?1 ORDER BY id LIMIT 1";
        let mut around = call.id;
        for _ in 0..MOST_WRAPPERS {
            let next = self.row(inner, [around], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
            let Some((inner, code)) = next else { break };
            let name = self.codes.get(&code).map(called_name).unwrap_or_default();
            if let Some(name) = statement::calls(text).into_iter().find(|called| *called == name) {
                return Ok(Some(name));
            }
            around = inner;
        }
        Ok(None)
    }
}
