//! What a call was given: the expressions of its caller's text, by the parameters of the function.

use std::rc::Rc;

use super::calls::{called_name, has_no_name};
use super::inputs::{Inputs, MOST_EVENTS, Ran, slot_of};
use super::{Cause, Returned, word_of};
use crate::ask::statement::{self, Function, Parameter, Part, Value};
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::predicate::Scope;
use crate::reading::{Call, Code, Event, Recording};
use crate::value::{Key, OUTER, What, Word};

/// How many lines after its first decorator a function begins at most.
const MOST_LINES: i64 = 30;

/// What a variable is that a function of Python has from the one around it.
pub(super) const OUTER_VARIABLE: &str = "outer variable";

/// What a caller gives for an argument.
struct Given {
    /// The expression; empty if it gives nothing. For the receiver, the whole statement.
    text: String,
    caller: Call,
    /// The event of the caller's line.
    from: i64,
    /// The whole statement.
    whole: String,
    is_receiver: bool,
    /// The function has a value for it, should its caller give none.
    has_default: bool,
}

impl Recording {
    /// What the argument was that a call began with.
    pub(super) fn inputs_of_argument(&self, write: &Write, line: &Event, call: &Call) -> Result<Inputs> {
        let Some(given) = self.given(write, line, call)? else {
            let spread = self.inputs_of_spread(write, line, call)?;
            if !spread.is_empty() {
                return Ok(spread);
            }
            let given = self.inputs_of_callback(write, line, call)?;
            if !given.is_empty() {
                return Ok(given);
            }
            // A callback is given what some call returned.
            let carried = self.carried(write.word, line.id - MOST_EVENTS, line.id, &[])?;
            return match carried {
                Some(returned) => Ok(vec![(Cause::Return(returned), 1)]),
                None => self.inputs_of_outer(write, call),
            };
        };
        let is_receiver = given.is_receiver;
        let whole = &*given.whole;
        let is_late = statement::reads_of_head(whole, &given.text);
        let value = Value { is_late, ..Value::of(&given.text) };
        let (from, until) = (given.from, line.id - 1);
        let ran =
            Ran { value, whole, call: given.caller, word: write.word, into: None, key: None, from, until };
        let mut inputs = self.inputs(&ran)?;
        // Python says what the head of a loop wrote only when the whole line has run.
        if is_receiver || is_late && statement::names(&given.text) == [&*given.text] {
            inputs.retain(|(cause, _)| word_of(cause) == write.word);
        }
        if inputs.is_empty() { self.inputs_of_outer(write, call) } else { Ok(inputs) }
    }

    /// What a variable is that is written where a call begins. A default is one for certain only where the caller's
    /// text shows that it gives nothing. Python writes those of the function around, too.
    pub(super) fn role_of(&self, write: &Write, line: &Event) -> Result<&'static str> {
        let call = self.call(line.call)?;
        let code = call.as_ref().and_then(|call| self.codes.get(&call.code));
        let (Some(call), Some(code), Key::Name(name)) = (call, code, write.key) else {
            return Ok("argument");
        };
        let (_, head) = self.head_of(code);
        let name = self.text(name);
        if statement::has_parameter(&head, &name) == Some(false) {
            let is_attribute = write.owner.as_object().is_some();
            return Ok(if is_attribute { "there at the beginning" } else { OUTER_VARIABLE });
        }
        Ok(match self.given(write, line, &call)? {
            Some(given) if given.text.is_empty() && !given.is_receiver && given.has_default => "default",
            None if statement::has_default(&head, &name) => "argument or default",
            _ => "argument",
        })
    }

    /// The statement that begins a function, without its decorators, and its line.
    pub(crate) fn head_of(&self, code: &Code) -> (i64, String) {
        let mut line = code.line;
        while line < code.line + MOST_LINES {
            let text = self.statement(code, line);
            if !text.is_empty() && !text.starts_with('@') {
                return (line, text);
            }
            line += i64::try_from(text.lines().count()).unwrap_or(0).max(1);
        }
        (code.line, self.statement(code, code.line))
    }

    /// What the caller gives for an argument; none if its text does not show it.
    fn given(&self, write: &Write, line: &Event, call: &Call) -> Result<Option<Given>> {
        let (Some(caller), Some(code)) = (self.call(call.caller)?, self.codes.get(&call.code)) else {
            return Ok(None);
        };
        let Some((place, number)) = self.place(call.caller_place) else {
            return Ok(None);
        };
        let Key::Name(name) = write.key else { return Ok(None) };
        let parameters: Vec<String> =
            self.parameters(call)?.into_iter().map(|key| self.key_text(key)).collect();
        let name = self.text(name);
        let has_receiver = has_receiver(&parameters);
        let position = parameters.iter().position(|other| **other == *name).unwrap_or(0);
        let text = self.own_statement(&caller, place, number)?;
        let from = self.line_before(&caller, line.id)?;
        let from = self.begin_of_statement(&caller, number, from, &text)?;
        let is_receiver = has_receiver && position == 0;
        if is_receiver {
            return Ok(Some(Given {
                whole: text.clone(),
                text,
                caller,
                from,
                is_receiver,
                has_default: false,
            }));
        }
        let nth = self.earlier_calls(call, from, line.id)?;
        let (_, head) = self.head_of(code);
        let taken = self.function_in(&head, call, code)?.and_then(|function| function.taken(&name));
        let position = match taken {
            Some(taken) => taken.position,
            None => position.saturating_sub(usize::from(has_receiver)),
        };
        let function = self.name_of(call, code, line.id, &text)?;
        // `Base.__init__(self, name)`
        let first = statement::argument(&text, &function, Parameter { name: "", position: 0 }, nth);
        let is_receiver_given =
            has_receiver && first.is_some_and(|first| parameters.first().is_some_and(|other| other == first));
        let parameter = Parameter { name: &name, position: position + usize::from(is_receiver_given) };
        // A lambda is mostly called by what it is handed to.
        let is_lambda = has_no_name(code) && !self.spelling.has_inner_functions();
        let is_handed_on =
            is_lambda || self.function_in(&self.statement(place, number), call, code)?.is_some();
        let indirect = if is_handed_on { None } else { self.called_by_value(&text, code, &caller, from)? };
        // One that is called by an assignment is a setter.
        let given = self
            .argument_by_order(&text, &caller, (from, line.id), parameter)?
            .or_else(|| statement::argument(&text, &function, parameter, nth))
            .or_else(|| statement::assigned(&text, &function));
        let given = match indirect.filter(|_| given.is_none()) {
            Some(called) => {
                let given = |parameter: Parameter<'_>| statement::argument(&text, called, parameter, nth);
                self.argument_by_value(given, parameter, write.word, (&caller, from))?
            }
            None => given,
        };
        let given = given.or_else(|| {
            let is_value = stores(code) && position + 1 + usize::from(has_receiver) == parameters.len();
            is_value.then(|| statement::stored(&text)).flatten()
        });
        let Some(given) = given else { return Ok(None) };
        let (part, whole) = match taken.map_or(Part::All, |taken| taken.part) {
            Part::All => (None, false),
            Part::Property(key) => {
                (statement::property_of(given, key), statement::is_whole(given, ["{", "}"]))
            }
            Part::Item(at) => (statement::item_of(given, at), statement::is_whole(given, ["[", "]"])),
        };
        let given = part.unwrap_or(if whole { "" } else { given }).to_owned();
        let has_default = match taken {
            Some(taken) => taken.has_default,
            None => statement::has_default(&head, &name),
        };
        Ok(Some(Given { text: given, whole: text, caller, from, is_receiver, has_default }))
    }

    /// How many calls of the same function the caller began between two events. Asynchronous ones may not have ended.
    fn earlier_calls(&self, call: &Call, from: i64, until: i64) -> Result<usize> {
        let earlier = "SELECT count(*) FROM events JOIN calls ON calls.id = events.call \
                       WHERE events.id > ? AND events.id < ? AND kind = ? AND caller = ? AND code = ?";
        let range = [from, until, What::Call.stored(), call.caller, call.code];
        Ok(self.row(earlier, range, |row| row.get(0))?.unwrap_or_default())
    }

    /// The argument of a call that a statement makes by another name than that of the function, where as many calls
    /// were made as its text has: between the events of its line and of this call, and afterwards.
    fn argument_by_order<'t>(
        &self,
        text: &'t str,
        caller: &Call,
        (from, entered): (i64, i64),
        parameter: Parameter<'_>,
    ) -> Result<Option<&'t str>> {
        let written = statement::calls_in_order(text);
        if written.len() < 2 {
            return Ok(None);
        }
        let made = self.calls_between(caller, from, self.line_after(caller, entered)?)?;
        let nth = made.iter().filter(|returned| returned.event < entered).count();
        let Some(name) = written.get(nth).filter(|_| made.len() == written.len()) else { return Ok(None) };
        let is_called = |returned: &Returned| self.name_called(returned) == *name;
        let memory = MemoryAt { recording: self, event: from };
        // A function that a library is given is called by that, and has none of these arguments.
        if made.get(nth).is_some_and(is_called)
            || slot_of(&Scope::of(self, &memory, caller)?, name)?.is_none()
        {
            return Ok(None);
        }
        let nth = written.iter().take(nth).filter(|other| *other == name).count();
        Ok(statement::argument(text, name, parameter, nth))
    }

    /// What a statement gives for a parameter of a function that it calls by a variable. The first parameters may be
    /// bound there already (`area.bind(null, 2)`, `partial(area, 2)`): then the variable that is given in their place
    /// has another value than the parameter, whose `word` this is, or nothing is given there.
    fn argument_by_value<'t>(
        &self,
        given: impl Fn(Parameter<'_>) -> Option<&'t str>,
        parameter: Parameter<'_>,
        word: Word,
        (caller, event): (&Call, i64),
    ) -> Result<Option<&'t str>> {
        let memory = MemoryAt { recording: self, event };
        let scope = Scope::of(self, &memory, caller)?;
        let value = |given: &str| match self.expression(given).ok() {
            Some(expression) => match scope.slot(&expression)? {
                Some((owner, key)) => memory.get(owner, key),
                None => Ok(None),
            },
            None => Ok(None),
        };
        let first = given(parameter);
        if let Some(first) = first.filter(|first| !first.is_empty())
            && value(first)?.is_none_or(|value| value == word)
        {
            return Ok(Some(first));
        }
        let at = |position| given(Parameter { name: "", position });
        for shifted in (0..parameter.position).rev().filter_map(at) {
            if value(shifted)? == Some(word) {
                return Ok(Some(shifted));
            }
        }
        Ok(None)
    }

    /// How a statement calls a function that its text does not name: as `handlers[key](event)`, or by a variable.
    fn called_by_value<'t>(
        &self,
        text: &'t str,
        code: &Code,
        caller: &Call,
        from: i64,
    ) -> Result<Option<&'t str>> {
        let Some(called) = statement::only_called(text) else { return Ok(None) };
        if statement::has_word(statement::value_of(text, "").text, called_name(code)) {
            // It is only handed on.
            return Ok(None);
        }
        let memory = MemoryAt { recording: self, event: from };
        let is_variable = || slot_of(&Scope::of(self, &memory, caller)?, called);
        Ok((called == "]" || is_variable()?.is_some()).then_some(called))
    }

    /// The function that a call runs, in the text of the line that the function begins at. None where the language has
    /// no functions within statements.
    pub(super) fn function_in<'t>(
        &self,
        text: &'t str,
        call: &Call,
        code: &Code,
    ) -> Result<Option<Function<'t>>> {
        if !self.spelling.has_inner_functions() {
            return Ok(None);
        }
        let mut parameters: Vec<String> =
            self.parameters(call)?.into_iter().map(|key| self.key_text(key)).collect();
        if has_receiver(&parameters) {
            parameters.remove(0);
        }
        let is_beside = |other: &&Code| other.file == code.file && other.line == code.line;
        let before = |(id, other): &(&i64, &Code)| **id < call.code && is_beside(other);
        let nth = self.codes.iter().filter(before).count();
        let of = self.codes.values().filter(is_beside).count();
        Ok(statement::function_of(text, &parameters, nth, of))
    }

    /// What a call runs at a line: of a function that is part of a statement, its body; and not what functions in it run.
    pub(super) fn own_statement(&self, call: &Call, code: &Code, line: i64) -> Result<String> {
        let text = self.statement(code, line);
        if !self.spelling.has_inner_functions() {
            return Ok(text);
        }
        let begins_here = code.line == line && &*code.name != "<module>";
        let function = if begins_here { self.function_in(&text, call, code)? } else { None };
        Ok(statement::without_functions(function.map_or(&*text, |function| function.body)))
    }

    /// The name by which a statement makes a call. Python before 3.11 does not say which class a method is of.
    fn name_of(&self, call: &Call, code: &Code, entered: i64, text: &str) -> Result<Rc<str>> {
        let memory = MemoryAt { recording: self, event: entered + 1 };
        let is_initializer = code.name.rsplit('.').next() == Some("__init__");
        if is_initializer && statement::has_word(text, "__init__") {
            return Ok(Rc::from("__init__"));
        }
        if is_initializer
            && let Some(key) = self.parameters(call)?.first()
            && let Some(Word::Object(number)) = memory.get(call.owner, *key)?
        {
            let type_name = self.object(number)?.type_name;
            return Ok(type_name.rsplit_once('.').map_or(type_name.clone(), |(_, last)| Rc::from(last)));
        }
        Ok(Rc::from(called_name(code)))
    }

    /// The names that a call's arguments were written to.
    pub(in crate::ask) fn parameters(&self, call: &Call) -> Result<Vec<Key>> {
        let mut keys = self.rows(
            "SELECT key FROM writes WHERE owner = ? AND event = (SELECT entered FROM calls WHERE id = ?) ORDER BY id",
            [call.owner.0, call.id],
            |row| row.get(0).map(Key::of),
        )?;
        keys.retain(|key| self.key_text(*key) != OUTER);
        Ok(keys)
    }
}

/// Whether a function stores what a statement assigns to an attribute or an item.
fn stores(code: &Code) -> bool {
    matches!(code.name.rsplit('.').next(), Some("__set__" | "__setattr__" | "__setitem__"))
}

/// Whether the first of these variables is the object whose method was called.
fn has_receiver(parameters: &[String]) -> bool {
    parameters.first().is_some_and(|first| matches!(first.as_str(), "self" | "cls" | "this"))
}
