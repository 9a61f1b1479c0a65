//! The calls that an expression made, as far as its statement can tell them from others.

use super::Returned;
use super::inputs::{MOST_CALLS, Ran, is_common, slot_of};
use crate::ask::statement;
use crate::error::Result;
use crate::memory::MemoryAt;
use crate::predicate::Scope;
use crate::reading::{Call, Code, Recording};
use crate::value::{What, Word};

impl Recording {
    /// The calls that an expression made, as far as its statement can tell them from others, and not of what yielded.
    pub(super) fn calls_of(
        &self,
        ran: &Ran<'_>,
        names: &[&str],
        yields: &[Returned],
    ) -> Result<Vec<Returned>> {
        // Others are made elsewhere in the statement.
        let others = statement::names(ran.whole);
        let is_own = |returned: &Returned| {
            let name = self.name_called(returned);
            names.contains(&name) || !others.contains(&name)
        };
        let mut calls = self.calls_between(&ran.call, ran.from, ran.until)?;
        calls.retain(is_own);
        if !waits(ran.value.text) {
            // What a generator gives is what it yielded.
            calls.retain(|returned| yields.iter().all(|yielded| yielded.call != returned.call));
        }
        if calls.is_empty() && ran.value.is_item {
            calls = self.calls_of_loop(&ran.call, ran.from)?;
            calls.retain(is_own);
        }
        Ok(calls)
    }

    /// What generators yielded to an expression.
    pub(super) fn yields_of(&self, ran: &Ran<'_>) -> Result<Vec<Returned>> {
        // Elsewhere, the head of a loop runs before the line of its first round.
        let in_place = self.spelling.runs_generators_in_place();
        let from = if in_place { ran.from } else { self.line_before(&ran.call, ran.from)? };
        self.yields(&ran.call, from, ran.until)
    }

    /// Those of them that an expression got while it ran.
    pub(super) fn yields_in_place(&self, ran: &Ran<'_>, yields: &[Returned]) -> Result<Vec<Returned>> {
        if self.spelling.runs_generators_in_place() {
            return Ok(yields.to_vec());
        }
        let mut given = Vec::new();
        for yielded in yields.iter().filter(|yielded| !ran.value.is_item && yielded.event > ran.from) {
            if self.is_yielded_to(yielded, &ran.call)? {
                given.push(*yielded);
            }
        }
        Ok(given)
    }

    /// The calls whose names an expression has; if it has none of them, such as where it calls `handlers[key]()`, the
    /// last ones.
    pub(super) fn calls_of_names(
        &self,
        ran: &Ran<'_>,
        mut calls: Vec<Returned>,
        names: &[&str],
    ) -> Result<Vec<Returned>> {
        let code = |returned: &Returned| self.codes.get(&returned.code);
        calls.retain(|returned| code(returned).is_some_and(|code| !initializes(code)));
        let is_named = |returned: &Returned| {
            code(returned).is_some_and(|code| names.contains(&called_name(code)) || has_no_name(code))
        };
        let unnamed: Vec<i64> =
            calls.iter().filter(|each| !is_named(each)).map(|returned| returned.event).collect();
        if unnamed.len() < calls.len() {
            // A decorator gives a function under a name that another one has.
            let most = if unnamed.is_empty() { 0 } else { self.count_of_renamed(ran, &calls)? };
            let last = unnamed.get(unnamed.len().saturating_sub(most)..).unwrap_or_default();
            calls.retain(|returned| is_named(returned) || last.contains(&returned.event));
        } else {
            calls.drain(..calls.len().saturating_sub(2));
        }
        Ok(calls)
    }

    /// How many functions an expression calls by names that none of these calls has, though the program's own are.
    fn count_of_renamed(&self, ran: &Ran<'_>, calls: &[Returned]) -> Result<usize> {
        let memory = MemoryAt { recording: self, event: ran.from.max(1) };
        let scope = Scope::of(self, &memory, &ran.call)?;
        let mut count = 0;
        for name in statement::calls(ran.value.text) {
            let is_own = || self.codes.values().any(|code| called_name(code) == name);
            if !calls.iter().any(|returned| self.name_called(returned) == name)
                && (is_own() || slot_of(&scope, name)?.is_some())
            {
                count += 1;
            }
        }
        Ok(count)
    }

    /// Drops what callbacks returned that only chose among items, and all but the last two if nothing else was called.
    pub(super) fn drop_callbacks(&self, calls: &mut Vec<Returned>, word: Word) {
        let is_callback = |returned: &Returned| self.codes.get(&returned.code).is_some_and(has_no_name);
        // One that changes what it is given returns nothing.
        calls.retain(|returned| is_common(word) || !is_common(returned.word) || !is_callback(returned));
        if calls.iter().all(is_callback) {
            calls.drain(..calls.len().saturating_sub(2));
        }
    }

    /// The name by which the function of a call is called; empty if it is not known.
    pub(super) fn name_called(&self, returned: &Returned) -> &str {
        self.codes.get(&returned.code).map(called_name).unwrap_or_default()
    }

    /// The calls that a call made between two events and that returned, in the order in which they ended.
    pub(super) fn calls_between(&self, caller: &Call, from: i64, until: i64) -> Result<Vec<Returned>> {
        let calls = "SELECT calls.id, calls.code, ends.id, ends.value FROM events JOIN calls ON calls.id = events.call \
                     JOIN events AS ends ON ends.id = calls.ended WHERE events.id > ?1 AND events.id <= ?2 \
                     AND events.kind = ?3 AND calls.caller = ?4 AND ends.kind = ?5 AND ends.id <= ?2 LIMIT ?6";
        let (call, end) = (What::Call.stored(), What::Return.stored());
        let values = (from, until.max(from) + 1, call, caller.id, end, MOST_CALLS);
        let mut found = self.rows(calls, values, returned_of)?;
        found.sort_by_key(|returned| returned.event);
        Ok(found)
    }

    /// The last call that a line made before an event: what a loop iterates over is evaluated when it begins.
    fn calls_of_loop(&self, caller: &Call, line: i64) -> Result<Vec<Returned>> {
        let Some(place) = self.find_event(line)?.and_then(|event| event.place) else { return Ok(Vec::new()) };
        self.rows(
            "SELECT calls.id, calls.code, ends.id, ends.value FROM calls JOIN events AS ends ON ends.id = calls.ended \
             WHERE calls.caller = ? AND calls.caller_place = ? AND ends.id < ? AND ends.kind = ? \
             ORDER BY ends.id DESC LIMIT 1",
            [caller.id, place, line, What::Return.stored()],
            returned_of,
        )
    }
}

/// Reads a call, its code, the event with which it ended and its value.
pub(in crate::ask) fn returned_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Returned> {
    let word = row.get::<_, Option<i64>>(3)?.map_or(Word::None, Word::of);
    Ok(Returned { call: row.get(0)?, code: row.get(1)?, event: row.get(2)?, word })
}

/// Whether an expression has what a generator or a coroutine returns.
fn waits(text: &str) -> bool {
    ["yield", "await"].iter().any(|word| statement::has_word(text, word))
}

/// Whether a call does not show the name of what it calls.
pub(super) fn has_no_name(code: &Code) -> bool {
    let last = code.name.rsplit('.').next().unwrap_or_default();
    last.starts_with("__") || matches!(last, "<lambda>" | "<anonymous>")
}

/// Whether a function's result is nothing: it fills the object that its caller gets.
fn initializes(code: &Code) -> bool {
    matches!(code.name.rsplit('.').next(), Some("__init__" | "__new__" | "constructor"))
}

/// The name by which a function is called: that of its class for one that initializes an object.
pub(super) fn called_name(code: &Code) -> &str {
    let mut names = code.name.rsplit('.');
    let last = names.next().unwrap_or_default();
    if initializes(code) { names.next().unwrap_or(last) } else { last }
}
