//! Values that differ between two runs that take the same step.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use super::side::{Moment, Side, Step};
use super::versions::Versions;
use crate::ask::state::{VALUE, headline};
use crate::error::Result;
use crate::memory::{GrowingMemory, Write};
use crate::reading::{Event, Recording};
use crate::value::{Key, Owner, What, Word};

/// A value of each run.
pub(super) type Difference = (Value, Value);

/// A value, with what wrote it.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) text: String,
    /// The event of what wrote it, or where it is not there.
    pub(super) event: Event,
}

/// What is compared in two runs: the same moment, and what both have written before.
pub(super) struct Comparison<'a> {
    pub(super) sides: [&'a Side<'a>; 2],
    pub(super) moments: [&'a Moment; 2],
    pub(super) steps: [Step; 2],
    /// The line has written all that it writes.
    pub(super) is_complete: bool,
    pub(super) versions: &'a Versions,
    pub(super) objects: &'a Partners,
}

/// Objects that correspond: they were values of the same variables, attributes or items. By their numbers in each run.
#[derive(Debug, Default)]
pub(super) struct Partners(RefCell<[HashMap<i64, i64>; 2]>);

impl Partners {
    fn insert(&self, one: i64, other: i64) {
        let [of_first, of_second] = &mut *self.0.borrow_mut();
        of_first.insert(one, other);
        of_second.insert(other, one);
    }

    /// The object of the other run.
    fn of(&self, side: usize, object: i64) -> Option<i64> {
        self.0.borrow().get(side)?.get(&object).copied()
    }
}

impl Comparison<'_> {
    /// The first value that differs, of what both lines wrote.
    pub(super) fn of_writes(&self) -> Result<Option<Difference>> {
        let [one, other] = &self.steps;
        let is_name = |write: &&Write| write.owner.as_object().is_none();
        let names = |step: &Step| step.writes.iter().filter(is_name).copied().collect::<VecDeque<Write>>();
        if let Some(found) = self.of_names(names(one), names(other))? {
            return Ok(Some(found));
        }
        let items =
            |step: &Step| step.writes.iter().filter(|write| !is_name(write)).copied().collect::<Vec<_>>();
        if let Some(found) = self.of_items(&items(one), &items(other))? {
            return Ok(Some(found));
        }
        // What a line wrote that the other version does not have matters where both have the variable.
        let both = [(0, one), (1, other)];
        for (key, side) in
            both.into_iter().flat_map(|(side, step)| step.written_here.iter().map(move |key| (*key, side)))
        {
            if let Some(found) = self.of_state(side, key, true)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The two values of an event, such as what was returned, if they differ.
    pub(super) fn of_event(&self) -> Result<Option<Difference>> {
        let [one, other] = self.recordings();
        let [first, second] = self.moments;
        let (first, second) = (&first.event, &second.event);
        if !matches!(first.what, What::Return | What::Yield | What::Throw) {
            return Ok(None);
        }
        let value = |event: &Event| event.value.map_or(Word::Absent, Word::of);
        if self.is_alike(value(first), value(second))? {
            return Ok(None);
        }
        let value = |recording: &Recording, event: &Event| -> Result<Value> {
            Ok(Value { text: headline(recording, event)?, event: *event })
        };
        Ok(Some((value(one, first)?, value(other, second)?)))
    }

    fn recordings(&self) -> [&Recording; 2] {
        self.sides.map(|side| side.recording)
    }

    fn has_edits(&self) -> bool {
        !self.versions.edits.is_empty()
    }

    /// Whether variables may have another name in the other version: on a line that has another text there, and as the
    /// parameters of a function of an edited file.
    fn may_rename(&self) -> bool {
        let ([side, _], [step, _], [moment, _]) = (&self.sides, &self.steps, &self.moments);
        match step.event.what {
            What::Call => side.version.functions.get(&moment.code).is_some_and(|code| code.is_in_edited_file),
            _ => side.line(step.event.place).is_some_and(|line| line.is_edited),
        }
    }

    /// Whether both lines define a function or a class.
    fn is_definition(&self) -> bool {
        let mut lines = self.sides.into_iter().zip(&self.steps);
        lines.all(|(side, step)| side.line(step.event.place).is_some_and(|line| line.is_definition))
    }

    /// Compares variables. In a line that was edited, they may have other names.
    fn of_names(&self, first: VecDeque<Write>, mut second: VecDeque<Write>) -> Result<Option<Difference>> {
        let [one, other] = self.recordings();
        let mut left = Vec::new();
        for write in first {
            let name = one.key_text(write.key);
            let Some(at) = second.iter().position(|theirs| other.key_text(theirs.key) == name) else {
                left.push(write);
                continue;
            };
            if let Some(theirs) = second.remove(at)
                && let Some(found) = self.of_two(&write, &theirs)?
            {
                return Ok(Some(found));
            }
        }
        if self.may_rename() {
            if left.len() == second.len() {
                for (write, theirs) in left.iter().zip(&second) {
                    if let Some(found) = self.of_two(write, theirs)? {
                        return Ok(Some(found));
                    }
                }
            }
            return Ok(None);
        }
        let left = left.iter().map(|write| (0, write)).chain(second.iter().map(|write| (1, write)));
        for (side, write) in left.filter(|_| self.is_complete) {
            // A line that leaves a value as it was writes nothing.
            if let Some(found) = self.of_state(side, write.key, self.has_edits())? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Compares attributes and items in the order in which they were written.
    fn of_items(&self, first: &[Write], second: &[Write]) -> Result<Option<Difference>> {
        let [one, other] = self.recordings();
        let has_same_key =
            |(write, theirs): (&Write, &Write)| one.key_text(write.key) == other.key_text(theirs.key);
        let corresponds = |pair| self.may_rename() || has_same_key(pair);
        // An object may be recorded earlier in another version, because a line that only this one has uses it.
        if self.has_edits() && !(first.len() == second.len() && first.iter().zip(second).all(corresponds)) {
            return if self.is_complete { self.of_objects(first, second) } else { Ok(None) };
        }
        for (write, theirs) in first.iter().zip(second) {
            if !corresponds((write, theirs)) {
                return Ok(Some((written(one, write)?, written(other, theirs)?)));
            }
            if let Some(found) = self.of_two(write, theirs)? {
                return Ok(Some(found));
            }
        }
        if !self.is_complete {
            return Ok(None);
        }
        let [ours, theirs] = &self.steps;
        let nothing = |recording: &Recording, step: &Step| -> Result<Value> {
            let place = recording.writer_text(&step.event)?;
            let text = format!("no such change by {place} (event {})", step.event.id);
            Ok(Value { text, event: step.event })
        };
        Ok(match (first.get(second.len()), second.get(first.len())) {
            (Some(write), _) => Some((written(one, write)?, nothing(other, theirs)?)),
            (_, Some(write)) => Some((nothing(one, ours)?, written(other, write)?)),
            (None, None) => None,
        })
    }

    /// Whether two values are shown alike. Objects that are compared correspond from now on.
    fn is_alike(&self, word: Word, theirs: Word) -> Result<bool> {
        let [one, other] = self.recordings();
        let has_edits = self.has_edits();
        if let (Word::Object(object), Word::Object(partner)) = (word, theirs) {
            self.objects.insert(object, partner);
            let names =
                (one.object(object)?.type_name.to_string(), other.object(partner)?.type_name.to_string());
            if has_edits && self.versions.renamed.contains(&names) {
                return Ok(true);
            }
        }
        // An edit renames functions and classes, or has something else in their place, such as what a decorator returns.
        let are_named = [is_function_or_class(one, word)?, is_function_or_class(other, theirs)?];
        if has_edits && (are_named == [true, true] || are_named.contains(&true) && self.is_definition()) {
            return Ok(true);
        }
        let (ours, theirs) = (shown(one, word)?, shown(other, theirs)?);
        // Where the program is makes no difference, either.
        let [root, other_root] = &self.versions.roots;
        Ok(ours == theirs || ours == theirs.replace(other_root, root))
    }

    /// Compares the objects that lines wrote to and that correspond, by what they have now. Attributes and items matter
    /// where both have them.
    fn of_objects(&self, first: &[Write], second: &[Write]) -> Result<Option<Difference>> {
        let [one, other] = self.recordings();
        let [ours, theirs] = self.sides;
        let all = first.iter().map(|write| (0, write)).chain(second.iter().map(|write| (1, write)));
        for (side, write) in all {
            let partner = write.owner.as_object().and_then(|object| self.objects.of(side, object));
            let Some(partner) = partner.map(Owner::object) else { continue };
            let (of, to) = if side == 0 { (one, other) } else { (other, one) };
            let key = match write.key {
                Key::Name(name) => to.number(&of.text(name)).map(Key::Name),
                Key::Item(name) => to.number(&of.text(name)).map(Key::Item),
                key => Some(key),
            };
            let Some(key) = key else { continue };
            let (mine, yours) = if side == 0 { (ours, theirs) } else { (theirs, ours) };
            let Some((write, partner)) = mine.last(write.owner, write.key).zip(yours.last(partner, key))
            else {
                continue;
            };
            let (write, partner) = if side == 0 { (write, partner) } else { (partner, write) };
            if let Some(found) = self.of_two(write, partner)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn of_two(&self, write: &Write, theirs: &Write) -> Result<Option<Difference>> {
        let [one, other] = self.recordings();
        if self.is_alike(write.word, theirs.word)? {
            return Ok(None);
        }
        Ok(Some((written(one, write)?, written(other, theirs)?)))
    }

    /// Compares what a variable of the call is in both runs, given by its key in one of them.
    fn of_state(&self, side: usize, key: Key, is_in_both: bool) -> Result<Option<Difference>> {
        let [one, other] = self.recordings();
        let Key::Name(name) = key else { return Ok(None) };
        let name = if side == 0 { one.text(name) } else { other.text(name) };
        let last = |side: &Side<'_>, moment: &Moment| {
            let number = side.recording.number(&name)?;
            side.last(moment.owner, Key::Name(number)).copied()
        };
        let [ours, theirs] = self.sides;
        let [first, second] = self.moments;
        let nothing = |recording: &Recording, moment: &Moment| -> Result<Value> {
            let text = format!("no `{name}` at {}", headline(recording, &moment.event)?);
            Ok(Value { text, event: moment.event })
        };
        match (last(ours, first), last(theirs, second)) {
            (Some(write), Some(theirs)) => self.of_two(&write, &theirs),
            (Some(write), None) if !is_in_both => Ok(Some((written(one, &write)?, nothing(other, second)?))),
            (None, Some(theirs)) if !is_in_both => Ok(Some((nothing(one, first)?, written(other, &theirs)?))),
            _ => Ok(None),
        }
    }
}

/// A value, apart from the numbers of objects.
fn shown(recording: &Recording, word: Word) -> Result<String> {
    let value = match word {
        Word::Object(number) => recording.object(number)?.type_name.to_string(),
        word => recording.value_text(word, &GrowingMemory::default(), 0, VALUE)?,
    };
    // Where objects are in memory makes no difference.
    Ok(if value.contains(" at 0x") { String::new() } else { value })
}

fn is_function_or_class(recording: &Recording, word: Word) -> Result<bool> {
    Ok(match word {
        Word::Object(number) => recording.object(number)?.kind.is_named(),
        Word::Atom(number) => {
            let text = &recording.atom(number)?.text;
            text.starts_with("<function ") || text.starts_with("<class ")
        }
        _ => false,
    })
}

fn written(recording: &Recording, write: &Write) -> Result<Value> {
    let line = recording.writer(write)?;
    let text = crate::ask::first::write_text(recording, write, &line)?;
    let text = format!("{text} by {} (event {})", recording.writer_text(&line)?, line.id);
    Ok(Value { text, event: line })
}
