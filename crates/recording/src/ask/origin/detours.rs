//! Values that reach a line in another way than from its calls: what is awaited or yielded, what a callback is
//! given, and what a call returned before others of its lines ran.

use super::calls::{called_name, has_no_name, returned_of};
use super::inputs::{Inputs, MOST_CALLS, is_common, slot_of};
use super::{Cause, Returned};
use crate::ask::statement;
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::predicate::Scope;
use crate::reading::{Call, Event, Recording};
use crate::spelling::Spelling;
use crate::value::{Key, Owner, What, Word};

/// How much later it is followed what made a container than what made its item.
const CONTAINER: usize = 1;

/// The value of a tuple that a statement gives a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenPart {
    pub(super) index: usize,
    /// How many there are.
    pub(super) count: usize,
    pub(super) word: Word,
}

impl Recording {
    /// Which part of a tuple that a call returned is what the step before has.
    pub(super) fn part_taken(&self, returned: &Returned, of: Option<Cause>) -> Result<Option<TakenPart>> {
        let (Some(Cause::Write(write)), Word::Object(object)) = (of, returned.word) else { return Ok(None) };
        let (Key::Name(name), None) = (write.key, write.owner.as_object()) else { return Ok(None) };
        let text = self.statement_of(&self.writer(&write)?).unwrap_or_default();
        let Some(index) = statement::target_of(&text, &self.text(name)) else { return Ok(None) };
        let memory = MemoryAt { recording: self, event: returned.event + 1 };
        let slots = memory.all(Owner::object(object))?;
        let items = || slots.iter().filter(|(key, _)| matches!(key, Key::Index(_)));
        let key = Key::Index(i64::try_from(index).unwrap_or(i64::MAX));
        let is_it = items().any(|slot| *slot == (key, write.word));
        Ok(is_it.then(|| TakenPart { index, count: items().count(), word: write.word }))
    }

    /// The last call, of whatever caller, that returned a value between two events: what is awaited, and what a callback is
    /// given, comes by ways that are not recorded. A value that is not an object is one that others have by chance, so that a
    /// name must identify the function.
    pub(super) fn carried(
        &self,
        word: Word,
        from: i64,
        until: i64,
        names: &[&str],
    ) -> Result<Option<Returned>> {
        if is_common(word) {
            return Ok(None);
        }
        let returns = "SELECT calls.id, calls.code, events.id, events.value FROM events JOIN calls ON calls.id = events.call \
                       WHERE events.id > ? AND events.id <= ? AND events.kind = ? AND events.value = ? ORDER BY events.id DESC";
        let values = [from, until, What::Return.stored(), word.stored()];
        self.find_row(returns, values, returned_of, |returned| {
            let is_named = || names.contains(&self.name_called(&returned));
            Ok((matches!(word, Word::Object(_)) || is_named()).then_some(returned))
        })
    }

    /// What a function that is part of a statement is given: what another one in it returned, or an item of what the
    /// statement reads. `reduce()` gives what its function returned before.
    pub(super) fn inputs_of_callback(&self, write: &Write, line: &Event, call: &Call) -> Result<Inputs> {
        let Some(called) = self.codes.get(&call.code) else { return Ok(Vec::new()) };
        let is_lambda = has_no_name(called) && !self.spelling.has_inner_functions();
        let caller = self.call(call.caller)?.filter(|_| self.spelling.has_inner_functions() || is_lambda);
        let place = self.place(call.caller_place);
        let (Some(caller), Some((code, number))) = (caller, place) else { return Ok(Vec::new()) };
        let (whole, text) = (self.statement(code, number), self.own_statement(&caller, code, number)?);
        let is_written = is_lambda || statement::has_word(&whole, called_name(called));
        if !is_written && self.function_in(&whole, call, called)?.is_none() {
            return Ok(Vec::new());
        }
        let from = self.line_before(&caller, line.id)?;
        let is_first = self.parameters(call)?.first() == Some(&write.key);
        let is_its_own = is_first && statement::calls(&text).iter().any(|name| name.starts_with("reduce"));
        let returned = self.calls_between(&caller, from, line.id - 1)?.into_iter().rev().find(|returned| {
            returned.word == write.word
                && (returned.code == call.code) == is_its_own
                && !is_common(write.word)
        });
        if let Some(returned) = returned {
            return Ok(vec![(Cause::Return(returned), 1)]);
        }
        let memory = MemoryAt { recording: self, event: line.id };
        let scope = Scope::of(self, &memory, &caller)?;
        let name = self.key_text(write.key);
        for read in statement::reads(&text, self.spelling) {
            let Some(slot) = slot_of(&scope, &read.path)? else { continue };
            let Some(Word::Object(object)) = memory.get(slot.0, slot.1)? else { continue };
            // A draft begins with what it is a draft of.
            let found = match self.attribute(object, &name, write.word, &memory)? {
                None if self.is_container(object)? => self.item_with(object, write.word, &memory, None)?,
                found => found.filter(|(owner, _)| *owner != write.owner),
            };
            if let Some(found) = found
                && let Some(write) = self.last_write(found, memory.event)?
            {
                let is_item = found.0 == Owner::object(object) && self.is_container(object)?;
                let container = if is_item { self.last_write(slot, memory.event)? } else { None };
                let container = container.map(|write| (Cause::Write(write), CONTAINER));
                return Ok(std::iter::once((Cause::Write(write), 1)).chain(container).collect());
            }
        }
        Ok(Vec::new())
    }

    /// What generators yielded between two events, newest first: to a call, where that is known.
    pub(super) fn yields(&self, to: &Call, from: i64, until: i64) -> Result<Vec<Returned>> {
        let yields = "SELECT calls.id, calls.code, events.id, events.value FROM events JOIN calls ON calls.id = events.call \
                      WHERE events.id > ? AND events.id <= ? AND events.kind = ? ORDER BY events.id DESC LIMIT ?";
        let values = (from, until, What::Yield.stored(), MOST_CALLS);
        let mut found = self.rows(yields, values, returned_of)?;
        if self.spelling.runs_generators_in_place() {
            for yielded in std::mem::take(&mut found) {
                if self.is_yielded_to(&yielded, to)? {
                    found.push(yielded);
                }
            }
        }
        Ok(found)
    }

    /// Whether a call got a value from what suspended another one.
    pub(super) fn is_yielded_to(&self, yielded: &Returned, to: &Call) -> Result<bool> {
        // What is awaited suspends calls as well.
        let is_value = self
            .statement_of(&self.event(yielded.event)?)
            .is_some_and(|text| statement::has_word(&text, "yield"));
        Ok(is_value && self.resumer(yielded)? == Some(to.id))
    }

    /// Whether a generator only let another one yield, which did so itself.
    pub(super) fn is_generator_handed_on(&self, yielded: &Returned) -> bool {
        let delegates =
            |event: Event| self.statement_of(&event).is_some_and(|text| statement::delegates(&text));
        !self.spelling.runs_generators_in_place() && self.event(yielded.event).is_ok_and(delegates)
    }

    /// The call that a generator ran for until it yielded.
    fn resumer(&self, yielded: &Returned) -> Result<Option<i64>> {
        let resumption = self.last_resumption(yielded.call, yielded.event)?;
        match resumption {
            Some(resumption) => Ok(Some(resumption.caller)),
            None => Ok(self.call(yielded.call)?.map(|call| call.caller)),
        }
    }

    /// Which of these is a value, or has it.
    pub(super) fn yielded(&self, word: Word, yields: &[Returned]) -> Result<Option<Cause>> {
        if is_common(word) {
            return Ok(None);
        }
        for yielded in yields.iter().copied() {
            if yielded.word == word {
                return Ok(Some(Cause::Return(yielded)));
            }
            let memory = MemoryAt { recording: self, event: yielded.event };
            if let Word::Object(object) = yielded.word
                && let Some(slot) = self.item_with(object, word, &memory, None)?
                && let Some(write) = self.last_write(slot, memory.event)?
            {
                return Ok(Some(Cause::Write(write)));
            }
        }
        Ok(None)
    }

    /// The last `match` that a call came to before an event, and what it compares.
    pub(super) fn matched(&self, call: &Call, before: i64) -> Result<Option<(i64, String)>> {
        let lines = self.lines_before(call.id, before, MOST_CALLS)?.into_iter();
        let mut subjects = lines
            .filter_map(|line| Some((line.id, statement::subject(&self.statement_of(&line)?)?.to_owned())));
        Ok(subjects.next())
    }

    /// The line whose value a call returned: the last one with a `return`, if others ran after it, as those of a
    /// `finally` or of a `with` do in Python.
    pub(super) fn line_of_return(&self, returned: &Returned) -> Result<Event> {
        let event = self.event(returned.event)?;
        let returns =
            |event: &Event| self.statement_of(event).is_none_or(|text| statement::has_word(&text, "return"));
        let has_statements = self.codes.get(&returned.code).is_some_and(|code| !code.name.ends_with('>'));
        let is_nothing = matches!(returned.word, Word::None | Word::Undefined);
        let is_clear = event.what == What::Yield || self.spelling != Spelling::Python;
        if is_clear || !has_statements || is_nothing || returns(&event) {
            return Ok(event);
        }
        let lines = self.lines_before(returned.call, event.id, MOST_CALLS)?;
        Ok(lines.into_iter().find(returns).unwrap_or(event))
    }

    /// The event at which a `return` began to compute its value. Before Python 3.10, its line is reached again where a
    /// `finally` has run; without an exception, no other way leads from a `return` to itself.
    pub(super) fn begin_of_return(&self, call: &Call, returns: &Event, line: i64) -> Result<i64> {
        let is_it = |event: &Event| event.place == returns.place;
        if returns.what != What::Return || self.spelling != Spelling::Python {
            return Ok(line);
        }
        let Some(first) = self.lines_before(call.id, line, MOST_CALLS)?.into_iter().find(is_it) else {
            return Ok(line);
        };
        let thrown = "SELECT 1 FROM events WHERE id > ? AND id < ? AND call = ? AND kind = ? LIMIT 1";
        let has_thrown = self.has_row(thrown, [first.id, line, call.id, What::Throw.stored()])?;
        Ok(if has_thrown { line } else { first.id })
    }
}
