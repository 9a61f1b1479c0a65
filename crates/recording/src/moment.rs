//! Moments of a run, as questions name them.
//!
//! `1234` is an event; `shop.py:12` is the first hit of a line and `shop.py:12#3` the third, `shop.py:12#last` the last;
//! `exception` is just before the exception that ended the program, or a test, or else the last one; `end` is the end.

mod unhandled;

use std::rc::Rc;

use crate::ask::statement_around;
use crate::error::{Error, Result};
use crate::reading::{Event, Recording, list};
use crate::spelling::Spelling;
use crate::value::{What, Word};

/// How Node ends a program that is in an `await` outside of functions, with nothing left that could end it.
pub(crate) const UNSETTLED: &str = "exited with code 13";

/// How many exceptions of other calls are searched to find where one came from, and within how many events.
const MOST_THROWN: i64 = 500;
const MOST_EVENTS: i64 = 200_000;

/// What is in a line of Python that asks for the result of another thread or process.
const ASKS_FOR_RESULTS: [&str; 10] =
    ["result(", "get()", "get(timeout", "map(", "apply(", "await ", "for ", "next(", "list(", "tuple("];

impl Recording {
    /// The event at a moment; without one, at the moment that questions are then about.
    pub(crate) fn moment_or_last(&self, text: Option<&str>) -> Result<Event> {
        self.moment(text.unwrap_or_else(|| self.last_moment()))
    }

    pub(crate) fn moment(&self, text: &str) -> Result<Event> {
        let text = text.trim();
        match text {
            "end" => self.event(self.last_event()?),
            "exception" => self.exception(),
            _ if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                let number = text
                    .parse()
                    .map_err(|_| Error::question(format!("`{text}` is not the number of an event")))?;
                if number < self.first_event()? { Err(self.no_event(number)) } else { self.event(number) }
            }
            _ => self.hit(text),
        }
    }

    /// The default moment of questions: the exception that ended the program or failed a test, or else the end. A program
    /// that ended well has handled its exceptions, and so has one whose module awaits what never settles.
    pub(crate) fn last_moment(&self) -> &'static str {
        let end = self.fact("end").unwrap_or_default();
        let ended_well = end == "exited with code 0" || end == UNSETTLED && self.is_waiting();
        if !ended_well && self.unhandled().is_ok_and(|thrown| thrown.is_some()) { "exception" } else { "end" }
    }

    fn is_waiting(&self) -> bool {
        self.spelling == Spelling::JavaScript && self.waiting().is_ok_and(|waiting| !waiting.is_empty())
    }

    /// The exception that ended the program, or a test, or else the last that was thrown. Where it passed through several
    /// calls, this is where it began.
    fn exception(&self) -> Result<Event> {
        let unhandled = self.unhandled()?;
        let last = unhandled.map_or_else(|| self.last_thrown(), |thrown| Ok(Some(thrown)));
        let last =
            last?.ok_or_else(|| Error::question("no exception was thrown; use `end`, a line or an event"))?;
        let mut found = self.began(last)?;
        if let Some(failed) = self.failed_within(&found)? {
            found = self.began(failed)?;
        }
        match self.thrown_elsewhere(&found)? {
            Some(failed) => self.began(failed),
            None => Ok(found),
        }
    }

    /// Where an exception was thrown first: each call that it passes through reports the same text again, after the one below
    /// ended.
    fn began(&self, mut found: Event) -> Result<Event> {
        while found.what == What::Throw
            && let Some(before) = self.thrown_below(&found)?
        {
            found = before;
        }
        Ok(found)
    }

    /// The last that was thrown. If the program failed, rather an assertion than what its tests expect.
    fn last_thrown(&self) -> Result<Option<Event>> {
        let assertions = "AND value IN (SELECT atoms.id << 3 | 3 FROM atoms JOIN texts ON texts.id = atoms.type \
                          WHERE texts.text = 'AssertionError')";
        let failed = self.fact("end")? != "exited with code 0";
        for only in failed.then_some(assertions).into_iter().chain([""]) {
            let last = format!("WHERE kind = ? {only} ORDER BY id DESC LIMIT 1");
            let found = self.event_where(&last, [What::Throw.stored()])?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The same exception in the call below, from which it came: one that ended there, or one that was in a `with` whose
    /// context manager, a generator, it was thrown into, or that of a task.
    pub(crate) fn thrown_below(&self, event: &Event) -> Result<Option<Event>> {
        let Some(before) = self.find_event(event.id - 1)? else { return Ok(None) };
        // Where it passes through a `finally`, or what a `with` calls, other calls may throw in between.
        match before.what {
            What::Unwind => {
                let same = self.thrown_in(before.call, event, true)?;
                let same = same.map_or_else(|| self.thrown_by_called(event), |same| Ok(Some(same)))?;
                if same.is_some() {
                    return Ok(same);
                }
                let other = self.thrown_in(before.call, event, false)?;
                Ok(match &other {
                    Some(thrown) if self.is_stopped(thrown)? || self.is_expected(thrown)? => None,
                    _ => other,
                })
            }
            What::Resume if before.call == event.call => {
                let around = self.stack(event)?;
                let is_around =
                    |thrown: &Event| around.iter().skip(1).any(|frame| frame.call.id == thrown.call);
                let is_same = self.is_same_as(event)?;
                let found = self.thrown_before(event, |thrown| Ok(is_around(thrown) && is_same(thrown)?))?;
                if found.is_some() {
                    return Ok(found);
                }
                // What awaits a task gets what that has thrown.
                let last = self.thrown_before(event, |_| Ok(true))?;
                Ok(match last {
                    Some(last) if is_same(&last)? => Some(last),
                    _ => None,
                })
            }
            _ if before.call == event.call => Ok(None),
            _ => self.thrown_by_called(event),
        }
    }

    /// The same exception in the last call of Python that this one called on its line and that ended by it. Others may have
    /// ended since: `asyncio.run` cancels what is waiting before it throws what the main task has thrown.
    fn thrown_by_called(&self, event: &Event) -> Result<Option<Event>> {
        if self.spelling != Spelling::Python || event.what != What::Throw {
            return Ok(None);
        }
        let (throw, unwind) = (What::Throw.stored(), What::Unwind.stored());
        let called = "JOIN calls ON calls.id = call WHERE kind = ?1 AND caller = ?2 AND events.id < ?3 AND events.id > (\
                      SELECT coalesce(max(id), ?3 - ?4) FROM events WHERE call = ?2 AND id < ?3 AND id > ?3 - ?4) \
                      AND EXISTS (SELECT 1 FROM events AS ends WHERE ends.id = calls.ended AND ends.kind = ?5) \
                      ORDER BY events.id DESC LIMIT ?6";
        let values = (throw, event.call, event.id, MOST_EVENTS, unwind, MOST_THROWN);
        self.find_event_where(called, values, self.is_same_as(event)?)
    }

    /// The same exception in another thread or process of Python, whose result a line asks for; none if it can be one of several.
    fn thrown_elsewhere(&self, event: &Event) -> Result<Option<Event>> {
        if self.spelling != Spelling::Python {
            return Ok(None);
        }
        let line = self.place(event.place);
        let text = line.map(|(code, line)| self.source(code, line)).unwrap_or_default();
        let text = text.trim_start();
        if text.starts_with("raise") || !ASKS_FOR_RESULTS.iter().any(|word| text.contains(word)) {
            return Ok(None);
        }
        let elsewhere = "JOIN calls ON calls.id = events.call JOIN events AS ends ON ends.id = calls.ended \
                         WHERE events.kind = ? AND ends.kind = ? AND caller = 0 \
                         AND thread <> (SELECT thread FROM calls WHERE id = ?) ORDER BY events.id DESC LIMIT ?";
        let values = (What::Throw.stored(), What::Unwind.stored(), event.call, MOST_THROWN);
        let is_same = self.is_same_as(event)?;
        let mut found = None;
        let is_second = |thrown: &Event| Ok(is_same(thrown)? && found.replace(*thrown).is_some());
        let second = self.find_event_where(elsewhere, values, is_second)?;
        Ok(found.filter(|_| second.is_none()))
    }

    /// Whether an exception only stops a generator or a task.
    fn is_stopped(&self, thrown: &Event) -> Result<bool> {
        self.is_of_type(thrown, |name| matches!(name, "GeneratorExit" | "CancelledError"))
    }

    fn is_of_type(&self, thrown: &Event, is_it: impl Fn(&str) -> bool) -> Result<bool> {
        Ok(self.thrown_text(thrown)?.is_some_and(|(type_name, _)| is_it(&type_name)))
    }

    /// The last of the exceptions before one in a call, and is the same if that is asked for.
    fn thrown_in(&self, call: i64, event: &Event, is_same: bool) -> Result<Option<Event>> {
        let thrown = "WHERE kind = ? AND call = ? AND id < ? AND id > ? ORDER BY id DESC";
        let values = [What::Throw.stored(), call, event.id, event.id - MOST_EVENTS];
        let is_it = self.is_same_as(event)?;
        self.find_event_where(thrown, values, |thrown| Ok(!is_same || is_it(thrown)?))
    }

    /// The last of the exceptions before one that fits.
    fn thrown_before(
        &self,
        event: &Event,
        fits: impl FnMut(&Event) -> Result<bool>,
    ) -> Result<Option<Event>> {
        let thrown = "WHERE kind = ? AND id < ? AND id > ? ORDER BY id DESC LIMIT ?";
        let values = (What::Throw.stored(), event.id, event.id - MOST_EVENTS, MOST_THROWN);
        self.find_event_where(thrown, values, fits)
    }

    /// Whether an exception has the type and the message of another one.
    fn is_same_as(&self, event: &Event) -> Result<impl Fn(&Event) -> Result<bool>> {
        let text = self.thrown_text(event)?;
        Ok(move |other: &Event| Ok(self.thrown_text(other)? == text))
    }

    /// The type and the message of what was thrown.
    fn thrown_text(&self, event: &Event) -> Result<Option<(Rc<str>, String)>> {
        let Some(Word::Atom(atom)) = event.value.map(Word::of) else { return Ok(None) };
        let atom = self.atom(atom)?;
        Ok(Some((Rc::clone(&atom.type_name), atom.text.clone())))
    }

    fn hit(&self, text: &str) -> Result<Event> {
        let usage = || {
            Error::question(format!(
                "`{text}` is not a moment; use FILE:LINE, FILE:LINE#HIT, the number of an event, `exception` or `end`"
            ))
        };
        let (line, hit) = text.split_once('#').unwrap_or((text, "1"));
        let (file, line) = line.rsplit_once(':').ok_or_else(usage)?;
        let line: i64 = line.parse().map_err(|_| usage())?;
        let places = self.places_at(file, line);
        if places.is_empty() {
            return Err(Error::question(self.not_reached(file, line)));
        }
        let hits = format!("WHERE kind = 0 AND place IN ({})", list(&places));
        let found = if hit == "last" {
            self.event_where(&format!("{hits} ORDER BY id DESC LIMIT 1"), [])?
        } else {
            let number: i64 = hit.parse().ok().filter(|number| *number > 0).ok_or_else(usage)?;
            self.event_where(&format!("{hits} ORDER BY id LIMIT 1 OFFSET ?"), [number - 1])?
        };
        found.ok_or_else(|| self.too_few_hits(file, line, hit))
    }

    fn too_few_hits(&self, file: &str, line: i64, hit: &str) -> Error {
        let since = match self.first_event() {
            Ok(first) if first > 1 => format!(" from event {first} on, where the recording begins"),
            _ => String::new(),
        };
        let times = match hit {
            "1" | "last" => "not hit".to_owned(),
            hit => format!("hit fewer than {hit} times"),
        };
        Error::question(format!("{file}:{line} was {times}{since}"))
    }

    /// Why there is nothing at a line.
    pub(crate) fn not_reached(&self, file: &str, line: i64) -> String {
        if let Some(begin) = statement_around(self, file, line) {
            return format!(
                "{file}:{line} is part of a comprehension, whose lines are not recorded; ask about {file}:{begin}, where \
                 its statement begins"
            );
        }
        let mut lines: Vec<i64> = self
            .places_of(|code| crate::reading::is_file(&code.path, file))
            .iter()
            .map(|(_, place)| place.line)
            .collect();
        lines.sort_by_key(|other| (other - line).abs());
        lines.dedup();
        let near: Vec<String> = lines.iter().take(3).map(ToString::to_string).collect();
        if near.is_empty() {
            self.no_line_of(file)
        } else {
            format!("{file}:{line} was not reached; lines near it that were: {}", near.join(", "))
        }
    }

    /// That a file did not run.
    pub(crate) fn no_line_of(&self, file: &str) -> String {
        let mut files: Vec<&str> = self.codes.values().map(|code| &*code.path).collect();
        files.sort_unstable();
        files.dedup();
        format!("no line of `{file}` ran; files that ran: {}", files.join(", "))
    }
}
