//! What generators are sent, and what variables of a function get from functions in it.

use super::inputs::{Inputs, MOST_CALLS, Ran};
use super::{Cause, Returned};
use crate::ask::statement::{self, Value};
use crate::error::Result;
use crate::memory::Write;
use crate::reading::{Call, Code, Event, Recording};
use crate::spelling::Spelling;
use crate::value::{Key, What};

/// What sent a value to a generator.
pub(super) struct Sender {
    call: Call,
    /// The line that it is at.
    pub(super) line: Event,
    /// The event with which the generator resumed.
    until: i64,
}

impl Recording {
    /// The line that resumed a call between two events, last. A generator that hands on what it is sent is not it.
    pub(super) fn sender(&self, call: &Call, from: i64, until: i64) -> Result<Option<Sender>> {
        let Some(mut resumption) = self.last_resumption(call.id, until)?.filter(|last| last.event > from)
        else {
            return Ok(None);
        };
        let until = resumption.event - 1;
        for _ in 0..MOST_CALLS {
            let Some(line) = self.line_of_resumption(&resumption)? else { return Ok(None) };
            if !self.statement_of(&line).is_some_and(|text| statement::delegates(&text)) {
                return Ok(self.call(line.call)?.map(|call| Sender { call, line, until }));
            }
            match self.last_resumption(line.call, resumption.event)? {
                Some(outer) => resumption = outer,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// What was sent to the `yield` that an expression is.
    pub(super) fn inputs_of_sent(&self, ran: &Ran<'_>) -> Result<Inputs> {
        let Some(Sender { call, line, until }) = self.sender(&ran.call, ran.from, ran.until)? else {
            return Ok(Vec::new());
        };
        let Some((code, number)) = self.place(line.place) else {
            return Ok(Vec::new());
        };
        let whole = self.own_statement(&call, code, number)?;
        let Some(text) = statement::sent(&whole) else { return Ok(Vec::new()) };
        let (value, from) = (Value::of(text), line.id);
        self.inputs(&Ran { value, whole: &whole, call, word: ran.word, into: None, key: None, from, until })
    }

    /// The line that sent what a `yield` gave a variable; none if it was no `yield`.
    pub(super) fn sender_of_write(&self, write: &Write, line: &Event) -> Result<Option<Event>> {
        let (Key::Name(name), Some(text)) = (write.key, self.statement_of(line)) else { return Ok(None) };
        let is_line = line.what == What::Line;
        if !is_line || !statement::is_sent(statement::value_of(&text, &self.text(name)).text) {
            return Ok(None);
        }
        let Some(call) = self.call(line.call)? else { return Ok(None) };
        Ok(self.sender(&call, line.id, write.event)?.map(|sender| sender.line))
    }

    /// What a generator that hands on what another one yields has from it.
    pub(super) fn handed_on(&self, returned: &Returned, call: &Call, from: i64) -> Result<Option<Cause>> {
        let yields = self.yields(call, from, returned.event - 1)?;
        let found = yields.into_iter().find(|yielded| yielded.word == returned.word);
        Ok(found.map(Cause::Return))
    }
}

impl Recording {
    /// The writes to a variable that functions inside its function made while that waited at a line, newest first. Its
    /// value is seen, and written again, where that line has run.
    pub(in crate::ask) fn writes_of_inner(&self, write: &Write) -> Result<Vec<Write>> {
        let line = self.writer(write)?;
        let (Key::Name(name), None, What::Line) = (write.key, write.owner.as_object(), line.what) else {
            return Ok(Vec::new());
        };
        let outer = self.place(line.place).filter(|(code, _)| &*code.name != "<module>");
        let (Some((outer, _)), Some(text)) = (outer, self.statement_of(&line)) else { return Ok(Vec::new()) };
        if self.spelling != Spelling::Python || statement::assigns(&text, &self.text(name)) {
            return Ok(Vec::new());
        }
        let inner = "WHERE id >= ? AND id < ? AND key = ? AND owner & 1 = 0 AND owner <> ? ORDER BY id DESC";
        let values = [self.first_write_at(line.id)?, write.id, write.key.stored(), write.owner.0];
        let mut found = Vec::new();
        for inner in self.writes(inner, values)? {
            let writer = self.writer(&inner)?;
            let code = self.call(writer.call)?.and_then(|call| self.codes.get(&call.code));
            if writer.what == What::Line && code.is_some_and(|code| is_inside(code, outer)) {
                found.push(inner);
            }
        }
        // Another function's variable of the same name is none of it.
        let is_it = found.first().is_some_and(|last| last.word == write.word);
        Ok(if is_it { found } else { Vec::new() })
    }
}

/// Whether a function is inside another one. Before Python 3.11, names do not say so.
fn is_inside(code: &Code, outer: &Code) -> bool {
    let inner = code.name.strip_prefix(&*outer.name);
    code.file == outer.file
        && (inner.is_some_and(|rest| rest.starts_with(".<locals>."))
            || !code.name.contains('.') && !outer.name.contains('.') && code.line > outer.line)
}
