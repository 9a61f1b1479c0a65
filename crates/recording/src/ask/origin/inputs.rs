//! What a step was computed from: what its text reads, looked up in the recording.

use super::detours::TakenPart;
use super::items::MOST_SUMMED;
use super::{Cause, Returned, word_of};
use crate::ask::state::is_definition;
use crate::ask::statement::{self, Value};
use crate::ask::writes::writes_to;
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::predicate::Scope;
use crate::reading::{Call, Code, Event, Recording};
use crate::spelling::Spelling;
use crate::value::{Key, Owner, What, Word};

/// How much later the value before a `+=` is followed than what was added.
const BEFORE: usize = 4;

/// How far back it is looked for what a callback is given.
pub(super) const MOST_EVENTS: i64 = 100_000;

/// The most calls that are followed behind one value.
pub(super) const MOST_CALLS: usize = 30;

/// The most lines of a statement that are looked for, as often as they are reached.
const MOST_LINES: usize = 60;

/// The distance of what is not a step of the answer: it only says that there are more.
pub(super) const OMITTED: usize = usize::MAX;

/// The most values that generators yielded to report behind one.
const MOST_YIELDS: usize = 3;

/// An expression that ran.
pub(super) struct Ran<'a> {
    pub(super) value: Value<'a>,
    /// The statement that it is part of.
    pub(super) whole: &'a str,
    /// The call whose code it is.
    pub(super) call: Call,
    /// What it gave.
    pub(super) word: Word,
    /// The object that it was written to, if it was one.
    pub(super) into: Option<i64>,
    pub(super) key: Option<(Owner, Key)>,
    /// The event before it.
    pub(super) from: i64,
    /// The event after it.
    pub(super) until: i64,
}

/// What a step used, each with how much further away it is.
pub(super) type Inputs = Vec<(Cause, usize)>;

impl Recording {
    pub(super) fn inputs_of_write(&self, write: &Write) -> Result<Inputs> {
        let line = self.writer(write)?;
        let Some(call) = self.call(line.call)? else { return Ok(Vec::new()) };
        if line.what == What::Call {
            return self.inputs_of_argument(write, &line, &call);
        }
        let Some((code, number)) = self.place(line.place) else {
            return Ok(Vec::new());
        };
        let text = self.own_statement(&call, code, number)?;
        let name = match write.key {
            Key::Name(name) => self.text(name).to_string(),
            _ => "]".to_owned(),
        };
        // A parameter of a constructor of TypeScript is an attribute, too.
        if self.statement(code, number).starts_with("constructor")
            && write.owner.as_object().is_some()
            && let Some(given) = self.last_write((call.owner, write.key), line.id)?
            && given.word == write.word
        {
            return Ok(vec![(Cause::Write(given), 1)]);
        }
        let is_first = || self.before(write).map(|before| before.is_none());
        let step =
            if text.starts_with("for") { statement::loop_step(&text, &name, is_first()?) } else { None };
        let mut value = step.unwrap_or_else(|| statement::value_of(&text, &name));
        if let Some(part) = self.part_written(write, (&call, &line), &text, value.text)? {
            value.text = part;
        } else if !matches!(write.key, Key::Name(_)) && statement::is_literal(value.text, self.spelling) {
            // It is not what was stored.
            value.text = &text;
        }
        let matched = if statement::captures(&text, &name) { self.matched(&call, line.id)? } else { None };
        let mut from = self.begin_of_statement(&call, number, line.id, &text)?;
        if let Some((event, subject)) = &matched {
            value = Value { is_item: true, ..Value::of(subject) };
            from = *event;
        }
        let ran = Ran {
            value,
            whole: matched.as_ref().map_or(&*text, |(_, subject)| subject),
            call,
            word: write.word,
            into: write.owner.as_object(),
            key: Some((write.owner, write.key)),
            from,
            until: write.event,
        };
        let mut inputs = self.inputs(&ran)?;
        // `sort()` and `reverse()` move what was there.
        if inputs.is_empty()
            && matches!(write.key, Key::Index(_))
            && let Some(object) = write.owner.as_object()
        {
            let memory = MemoryAt { recording: self, event: line.id };
            let slot = self.item_with(object, write.word, &memory, None)?;
            let moved = slot.map(|slot| self.last_write(slot, line.id)).transpose()?.flatten();
            inputs.extend(moved.map(|moved| (Cause::Write(moved), 1)));
        }
        Ok(inputs)
    }

    /// The expression that an assignment has for a variable or an attribute; none if something else wrote it.
    pub(super) fn value_assigned(&self, write: &Write) -> Result<Option<String>> {
        let line = self.writer(write)?;
        let (Key::Name(name), Some((code, number))) = (write.key, self.place(line.place)) else {
            return Ok(None);
        };
        let Some(call) = self.call(line.call)?.filter(|_| line.what == What::Line) else { return Ok(None) };
        let text = self.own_statement(&call, code, number)?;
        let value = statement::value_of(&text, &self.text(name)).text;
        Ok((!text.starts_with("for") && !value.is_empty()).then(|| value.to_owned()))
    }

    /// What a call returned, or only one of the values of a tuple, was computed from.
    pub(super) fn inputs_of_return(&self, returned: &Returned, part: Option<TakenPart>) -> Result<Inputs> {
        let line = self.line_of_return(returned)?;
        let Some(call) = self.call(returned.call)? else { return Ok(Vec::new()) };
        let Some((code, number)) = self.place(line.place) else {
            return Ok(Vec::new());
        };
        let text = self.own_statement(&call, code, number)?;
        let from = if line.what == What::Line { line.id } else { self.line_before(&call, line.id)? };
        if line.what == What::Yield
            && statement::delegates(&text)
            && let Some(cause) = self.handed_on(returned, &call, from)?
        {
            return Ok(vec![(cause, 1)]);
        }
        let from = self.begin_of_statement(&call, number, from, &text)?;
        let from = self.begin_of_return(&call, &line, from)?;
        let (mut value, until) =
            (statement::value_of(&text, ""), self.end_of_promised(returned, &call, from)?);
        let (mut word, whole) = (returned.word, &*text);
        if let Some(TakenPart { index, count, word: taken }) = part
            && let Some(text) = statement::part_of(value.text, index, count)
        {
            value.text = text;
            word = taken;
        }
        self.inputs(&Ran { value, whole, call, word, into: None, key: None, from, until })
    }

    /// The event with which a call returned, or if that was a promise, with which the last call of its statement did, which
    /// may have awaited.
    fn end_of_promised(&self, returned: &Returned, call: &Call, from: i64) -> Result<i64> {
        if self.spelling != Spelling::JavaScript || self.type_name(returned.word)? != "Promise" {
            return Ok(returned.event);
        }
        let ended = "SELECT max(calls.ended) FROM events JOIN calls ON calls.id = events.call \
                     WHERE events.id > ? AND events.id < ? AND events.kind = ? AND calls.caller = ?";
        let values = [from, returned.event, What::Call.stored(), call.id];
        let ended: Option<i64> = self.row(ended, values, |row| row.get(0))?.flatten();
        Ok(ended.unwrap_or_default().max(returned.event))
    }

    /// What `total` in `total += price` was before.
    fn compound_before(&self, ran: &Ran<'_>) -> Result<Inputs> {
        let slot = ran.key.filter(|_| ran.value.is_compound);
        let before = slot.map(|slot| self.last_write(slot, ran.from.max(1))).transpose()?.flatten();
        Ok(before.map(|write| (Cause::Write(write), BEFORE)).into_iter().collect())
    }

    /// The last write to an attribute of these names of what one of these calls returned, if that is the value.
    fn part_of_returned(&self, ran: &Ran<'_>, calls: &[Returned], names: &[&str]) -> Result<Option<Write>> {
        let after = MemoryAt { recording: self, event: ran.until + 1 };
        for returned in calls.iter().rev() {
            let Word::Object(object) = returned.word else { continue };
            for name in names {
                if let Some(part) = self.attribute(object, name, ran.word, &after)?
                    && let Some(write) = self.last_write(part, after.event)?
                {
                    return Ok(Some(write));
                }
            }
        }
        Ok(None)
    }

    /// What an expression used that is recorded: returns of calls, and what was last written to what it reads.
    pub(super) fn inputs(&self, ran: &Ran<'_>) -> Result<Inputs> {
        if statement::is_literal(ran.value.text, self.spelling) {
            return self.compound_before(ran);
        }
        if statement::is_sent(ran.value.text) {
            let mut inputs = self.inputs_of_sent(ran)?;
            inputs.extend(self.compound_before(ran)?);
            return Ok(inputs);
        }
        if let Some(result) = self.result_in(ran)? {
            return Ok(vec![(Cause::Return(result), 1)]);
        }
        let mut names = statement::names(ran.value.text);
        // That of a getter, where an object is taken apart.
        let own = ran.key.map(|(_, key)| self.key_text(key)).unwrap_or_default();
        names.push(&own);
        let attribute = attribute_of_result(ran.value.text).unwrap_or_default();
        let yields = self.yields_of(ran)?;
        let given = self.yields_in_place(ran, &yields)?;
        let calls = self.calls_of(ran, &names, &given)?;
        let is_copy = |returned: &&Returned| returned.word == ran.word && !is_common(ran.word);
        // What a callback returned may be an item of what a function of the language makes.
        let is_part = is_part(ran);
        let copied_by_any = calls.iter().rev().find(is_copy).copied().filter(|_| is_part);
        let mut calls = self.calls_of_names(ran, calls, &names)?;
        if let Some(copied) = calls.iter().rev().find(is_copy).copied().or(copied_by_any)
            && !ran.value.is_compound
        {
            return Ok(vec![(Cause::Return(copied), 1)]);
        }
        if !ran.value.is_compound
            && let Some(write) = self.part_of_returned(ran, &calls, &[&own, attribute])?
        {
            return Ok(vec![(Cause::Write(write), 1)]);
        }
        self.drop_callbacks(&mut calls, ran.word);
        if (ran.value.is_item || is_part || names.contains(&"next"))
            && let Some(yielded) = self.yielded(ran.word, &yields)?
        {
            return Ok(vec![(yielded, 1)]);
        }
        if statement::has_word(ran.value.text, "await")
            && let Some(carried) = self.carried(ran.word, ran.from, ran.until, &names)?
        {
            return Ok(vec![(Cause::Return(carried), 1)]);
        }
        let (mut inputs, is_all) = self.inputs_of_reads(ran, &calls, &own, attribute)?;
        if is_all {
            return Ok(inputs);
        }
        if !ran.value.is_item {
            let values = given.into_iter().filter(|yielded| !self.is_generator_handed_on(yielded));
            calls.extend(values.take(MOST_YIELDS));
        }
        inputs.extend(calls.into_iter().map(|returned| (Cause::Return(returned), 1)));
        inputs.extend(self.compound_before(ran)?);
        // A variable that is computed from itself goes back as far as its loop does.
        for (cause, distance) in inputs.iter_mut().filter(|(_, distance)| *distance != OMITTED) {
            if matches!(cause, Cause::Write(write) if Some((write.owner, write.key)) == ran.key) {
                *distance = BEFORE;
            }
        }
        let has_value = |(cause, _): &(Cause, usize)| word_of(cause) == ran.word;
        if chooses(ran.value.text) && inputs.iter().any(has_value) {
            inputs.sort_by_key(|input| !has_value(input));
            for (_, distance) in inputs.iter_mut().filter(|input| !has_value(input) && input.1 != OMITTED) {
                *distance = BEFORE;
            }
        }
        Ok(inputs)
    }

    /// What was last written to what an expression reads, and whether that is all that its value is made of: a copy.
    fn inputs_of_reads(
        &self,
        ran: &Ran<'_>,
        calls: &[Returned],
        own: &str,
        attribute: &str,
    ) -> Result<(Inputs, bool)> {
        let before = ran.from.max(1);
        // The head of a loop has given its variables their values on the same line.
        let event = if ran.value.is_late { ran.until + 1 } else { before };
        let memory = MemoryAt { recording: self, event };
        let scope = Scope::of(self, &memory, &ran.call)?;
        let reads = statement::reads(ran.value.text, self.spelling);
        let is_part = is_part(ran);
        let is_length = statement::counts(ran.value.text);
        let is_chosen = chooses(ran.value.text);
        let follows_any = ran.value.is_item
            || is_part
            || is_chosen
            || !attribute.is_empty()
            || self.values_read(&reads, &scope)? == 1;
        // What is one of the items does not come from the others.
        let is_one = is_part && statement::fills(ran.whole) || !attribute.is_empty();
        let is_sum = statement::calls(ran.value.text).contains(&"sum");
        let comprehensions = self.comprehended(ran);
        let of_items = self.inputs_of_items(ran, &reads, &comprehensions, (&scope, &memory))?;
        let mut inputs: Inputs = Vec::new();
        for read in reads {
            if comprehensions.iter().any(|each| each.variables.iter().any(|name| read.is_of(name))) {
                continue;
            }
            if let Some(item) = &read.item
                && !calls.iter().any(|call| self.name_called(call) == item.method)
                && let Some(written) = self.looked_up(item, &scope, memory.event)?
            {
                inputs.extend(written.into_iter().map(|write| (Cause::Write(write), 1)));
                continue;
            }
            let Some(slot) = slot_of(&scope, &read.path)? else { continue };
            let Some(word) = memory.get(slot.0, slot.1)? else { continue };
            if is_definition(self, slot.1, word)? || is_own_receiver(ran, &read, word, calls) {
                continue;
            }
            let object = if let Word::Object(number) = word { Some(number) } else { None };
            let object = object.filter(|_| word != ran.word);
            if let (Some(into), Some(number)) = (ran.into, object)
                && number != into
                && let Some(copied) = self.attribute(number, own, ran.word, &memory)?
                && let Some(write) = self.last_write(copied, memory.event)?
            {
                return Ok((vec![(Cause::Write(write), 1)], true));
            }
            // How many there are is not one of them, even if one is equal.
            let followed = object.filter(|_| !is_length && (follows_any || read.is_receiver));
            let (item, is_clear) = match followed {
                Some(number) => self.item_used(ran, number, own, (&scope, &memory))?,
                None => (None, true),
            };
            let part = match object.filter(|_| item.is_none() && !attribute.is_empty()) {
                Some(number) => self.attribute_of_items(number, attribute, ran.word, &memory)?,
                None => None,
            };
            let written = match part {
                None => self.last_write(item.unwrap_or(slot), memory.event)?,
                part => part,
            };
            // A change of a container during its iteration changes what comes next.
            let is_found = item.is_some() && !ran.value.is_item;
            let mut changed = match object {
                Some(number) if !is_found && is_clear && !is_one && self.is_container(number)? => {
                    self.changes_of(number, &memory, if is_sum { MOST_SUMMED + 1 } else { 1 })?
                }
                _ => Vec::new(),
            };
            changed.retain(|change| of_items.as_ref().is_none_or(|of| of.is_before(change)));
            inputs.extend(written.map(|write| (Cause::Write(write), 1)));
            let distances = std::iter::repeat_n(1, MOST_SUMMED).chain(std::iter::repeat(OMITTED));
            inputs.extend(changed.into_iter().map(Cause::Write).zip(distances));
        }
        inputs.extend(of_items.into_iter().flat_map(|of| of.inputs));
        Ok((inputs, false))
    }

    /// How many of these are not a module, a class or a function, as `heapq` is in `heapq.heappop(heap)`.
    fn values_read(&self, reads: &[statement::Read], scope: &Scope<'_>) -> Result<usize> {
        let mut count = 0;
        for read in reads {
            let slot = slot_of(scope, &read.path)?;
            let word = slot.map(|(owner, key)| scope.memory.get(owner, key)).transpose()?.flatten();
            let is_named = match (slot, word) {
                (Some((_, key)), Some(word)) => is_definition(self, key, word)?,
                _ => false,
            };
            count += usize::from(!is_named);
        }
        Ok(count)
    }

    pub(super) fn last_write(&self, (owner, key): (Owner, Key), until: i64) -> Result<Option<Write>> {
        Ok(writes_to(self, owner, Some(key), until, 1)?.into_iter().next())
    }

    /// The last line that a call began before an event.
    pub(in crate::ask) fn line_before(&self, call: &Call, event: i64) -> Result<i64> {
        Ok(self.lines_before(call.id, event, 1)?.first().map_or(0, |line| line.id))
    }

    /// The event at which a statement began whose line was reached: the lines of one that has several may be reached in
    /// turns, its first one again at last.
    pub(super) fn begin_of_statement(&self, call: &Call, first: i64, line: i64, text: &str) -> Result<i64> {
        let count = i64::try_from(text.lines().count()).unwrap_or(1);
        if count < 2 {
            return Ok(line);
        }
        let lines = self.lines_before(call.id, line, MOST_LINES)?.into_iter();
        let is_part = |event: &Event| {
            let place = self.place(event.place);
            place.is_some_and(|(_, line)| (first..first + count).contains(&line))
        };
        Ok(lines.take_while(is_part).last().map_or(line, |event| event.id))
    }

    /// The event before that with which a call continues to its next line after an event, or ends.
    pub(super) fn line_after(&self, call: &Call, event: i64) -> Result<i64> {
        let next = "SELECT id FROM events WHERE id > ?1 AND id < ?1 + ?2 AND call = ?3 AND kind IN (0, 2, 3) LIMIT 1";
        let next = self.row(next, [event, MOST_EVENTS, call.id], |row| row.get(0))?;
        Ok(next.unwrap_or(event + MOST_EVENTS) - 1)
    }

    /// The last lines that a call began before an event, newest first.
    pub(super) fn lines_before(&self, call: i64, event: i64, most: usize) -> Result<Vec<Event>> {
        self.events("WHERE id < ? AND call = ? AND kind = 0 ORDER BY id DESC LIMIT ?", (event, call, most))
    }

    pub(in crate::ask) fn statement_of(&self, event: &Event) -> Option<String> {
        let (code, line) = self.place(event.place)?;
        Some(self.statement(code, line))
    }

    pub(in crate::ask) fn statement(&self, code: &Code, line: i64) -> String {
        let at = usize::try_from(line - 1).unwrap_or(usize::MAX);
        statement::statement_at(self.lines_of(code), at, self.spelling.comment())
    }
}

/// Whether a step wrote an item of a container.
fn is_part(ran: &Ran<'_>) -> bool {
    matches!(ran.key, Some((_, Key::Index(_) | Key::Item(_))))
}

/// The attribute that an expression reads of what a call or an item gives, as in `find(name).total`.
fn attribute_of_result(text: &str) -> Option<&str> {
    let (of, name) = text.trim().rsplit_once('.')?;
    let is_name = name.chars().all(|character| character.is_alphanumeric() || character == '_');
    (is_name && of.ends_with([')', ']'])).then_some(name)
}

/// Whether many expressions have this value by chance.
pub(super) fn is_common(word: Word) -> bool {
    matches!(word, Word::None | Word::Undefined | Word::Bool(_) | Word::Absent)
}

/// Whether an expression has one of the values that it is given: the largest or the smallest.
fn chooses(text: &str) -> bool {
    let given = ["max", "min", "Math.max", "Math.min"].iter().find_map(|name| text.trim().strip_prefix(name));
    given.is_some_and(|given| statement::inside(given, ["(", ")"]).is_some())
}

/// Whether a read is only the object that is written to, or whose recorded method is called.
fn is_own_receiver(ran: &Ran<'_>, read: &statement::Read, word: Word, calls: &[Returned]) -> bool {
    let is_into = matches!((word, ran.into), (Word::Object(number), Some(into)) if number == into);
    let is_itself = matches!(read.path.as_str(), "self" | "this" | "cls");
    is_into || read.is_receiver && (is_itself || !calls.is_empty())
}

/// Where a path is kept, or as much of it as can be found.
pub(super) fn slot_of(scope: &Scope<'_>, path: &str) -> Result<Option<(Owner, Key)>> {
    let mut path = path;
    loop {
        if let Ok(expression) = scope.recording.expression(path)
            && let Some(slot) = scope.slot(&expression)?
            && scope.memory.get(slot.0, slot.1)?.is_some()
        {
            return Ok(Some(slot));
        }
        let Some(cut) = path.rfind(['.', '[']) else { return Ok(None) };
        path = path.get(..cut).unwrap_or_default();
    }
}
