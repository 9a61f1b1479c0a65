//! Where a value came from: the assignments, arguments and returns behind it.

mod arguments;
mod calls;
mod closures;
mod detours;
mod inputs;
mod items;
mod sent;
mod spread;
mod written;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

pub(super) use self::calls::returned_of;
use self::inputs::OMITTED;
use super::computed;
use super::first::change_text;
use super::inside::{changed_text, last_change};
use super::statement;
use super::target::{Target, TargetRequest};
use super::text::Lines;
use super::writes::{cut_text, writes_to};
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::reading::Recording;
use crate::stack::base_name;
use crate::value::{What, Word};

/// Characters of a value.
const VALUE: usize = 70;

/// That not all steps are shown.
const MORE: &str = "there are more steps; ask about one of these values at its event";

/// What the value of a target at a moment was computed from: a tree, in which each step is followed by those it used.
pub fn origin(recording: &Recording, request: &TargetRequest<'_>) -> Result<String> {
    let target = match Target::find(recording, request.target, request.at) {
        Ok(target) => target,
        Err(error) => return computed_origin(recording, request)?.ok_or(error),
    };
    let (event, owner, key) = (target.event, target.owner, target.key);
    let memory = MemoryAt { recording, event };
    let word = memory.get(owner, key)?.unwrap_or(Word::Absent);
    let mut lines = Lines::default();
    target.introduce(recording, &recording.value_text(word, &memory, 2, VALUE)?, &mut lines)?;
    let mut search = Search::new(recording);
    if let Some(write) = writes_to(recording, owner, Some(key), event, 1)?.into_iter().next() {
        search.add(None, Cause::Write(write), 0)?;
    }
    search.run(request.limit)?;
    search.show(None, &mut Vec::new(), &mut lines);
    if let Word::Object(number) = word
        && let Some(cut) = cut_text(recording, number, &memory)?
    {
        lines.add(format!("only {cut}: changes of others may be missing"));
    }
    if let Word::Object(number) = word
        && let Some(change) = last_change(recording, number, &memory)?
    {
        lines.add(changed_text(recording, &change)?);
    }
    if search.has_more() {
        lines.add(MORE);
    }
    Ok(lines.finish())
}

/// The same for the result of a property or a getter, which is not stored; none if it is something else.
fn computed_origin(recording: &Recording, request: &TargetRequest<'_>) -> Result<Option<String>> {
    let event = recording.moment_or_last(request.at)?;
    let target = recording.expression(request.target)?.as_kept();
    let Some(returned) = computed::last(recording, &target, &event)? else { return Ok(None) };
    let memory = MemoryAt { recording, event: returned.event };
    let value = recording.value_text(returned.word, &memory, 2, VALUE)?;
    let function = recording.codes.get(&returned.code).map_or("?", |code| &code.name);
    let mut lines = Lines::default();
    lines.add(format!(
        "`{}` is computed by {function}, which last returned {value}, at event {}",
        request.target, returned.event
    ));
    let mut search = Search::new(recording);
    search.add(None, Cause::Return(returned), 0)?;
    search.run(request.limit)?;
    search.show(None, &mut Vec::new(), &mut lines);
    if search.has_more() {
        lines.add(MORE);
    }
    Ok(Some(lines.finish()))
}

/// What gave a value.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Write(Write),
    /// A call that returned it.
    Return(Returned),
}

/// A call that ended with a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Returned {
    pub(super) call: i64,
    pub(super) code: i64,
    pub(super) event: i64,
    word: Word,
}

/// A step of the answer.
struct Step {
    parent: Option<usize>,
    text: String,
    cause: Cause,
}

struct Search<'a> {
    recording: &'a Recording,
    steps: Vec<Step>,
    seen: HashSet<(bool, i64, i64)>,
    /// Steps whose own causes are not known yet, by how near they are.
    waiting: BinaryHeap<Reverse<(usize, usize)>>,
    /// Some causes were left out.
    is_cut: bool,
}

impl<'a> Search<'a> {
    fn new(recording: &'a Recording) -> Self {
        let (steps, seen, waiting) = (Vec::new(), HashSet::new(), BinaryHeap::new());
        Self { recording, steps, seen, waiting, is_cut: false }
    }

    fn has_more(&self) -> bool {
        self.is_cut || !self.waiting.is_empty()
    }

    fn run(&mut self, limit: usize) -> Result<()> {
        while self.steps.len() < limit
            && let Some(Reverse((far, at))) = self.waiting.pop()
        {
            self.expand(at, far, limit)?;
        }
        Ok(())
    }

    /// Adds the steps behind one, or the first ones. Short branches come first, so that a long one leaves them room.
    /// The source of a line is left out below a step that has it.
    fn show<'s>(&'s self, behind: Option<usize>, above: &mut Vec<&'s str>, lines: &mut Lines) {
        let steps = self.steps.iter().enumerate();
        let mut branches: Vec<(usize, &Step)> = steps.filter(|(_, step)| step.parent == behind).collect();
        branches.sort_by_cached_key(|(at, _)| self.steps_behind(*at));
        for (at, step) in branches {
            let indent = "  ".repeat(above.len().min(12));
            let (place, source) = place_in(&step.text);
            let is_known = above.iter().any(|other| place_in(other) == (place, source));
            let text =
                if is_known { step.text.replacen(&format!(": {source}"), "", 1) } else { step.text.clone() };
            lines.add(indent + &text);
            above.push(&step.text);
            self.show(Some(at), above, lines);
            above.pop();
        }
    }

    /// How many steps there are behind one, at any depth.
    fn steps_behind(&self, at: usize) -> usize {
        let next = self.steps.iter().enumerate().filter(|(_, step)| step.parent == Some(at));
        next.map(|(next, _)| 1 + self.steps_behind(next)).sum()
    }

    /// Adds a step, unless it is there already.
    fn add(&mut self, parent: Option<usize>, cause: Cause, far: usize) -> Result<()> {
        let cause = match cause {
            Cause::Write(write) => {
                let inner = self.recording.writes_of_inner(&write)?;
                Cause::Write(inner.first().copied().unwrap_or(write))
            }
            Cause::Return(_) => cause,
        };
        let seen = match cause {
            // The items of one tuple may be given several times.
            Cause::Write(write) => (true, write.id, write.line),
            Cause::Return(returned) => (false, returned.event, 0),
        };
        if !self.seen.insert(seen) {
            return Ok(());
        }
        let text = match cause {
            Cause::Write(write) => self.write_line(&write)?,
            Cause::Return(returned) => self.return_line(&returned, parent)?,
        };
        self.waiting.push(Reverse((far, self.steps.len())));
        self.steps.push(Step { parent, text, cause });
        Ok(())
    }

    fn write_line(&self, write: &Write) -> Result<String> {
        let recording = self.recording;
        let line = recording.writer(write)?;
        let change = change_text(recording, write, &line, VALUE)?;
        if line.is_before() {
            return Ok(format!("before event {}: {change}", recording.first_event()?));
        }
        if line.what == What::Call {
            let call = recording.call(line.call)?;
            let caller = call.as_ref().and_then(|call| call.caller_place);
            let from = caller.map_or_else(
                || "code that is not recorded".to_owned(),
                |place| recording.place_text(Some(place)),
            );
            let code = call.and_then(|call| recording.codes.get(&call.code));
            let function = code.map_or("?", |code| &code.name);
            if is_initializer(function) {
                return Ok(format!("event {}: {change} by {}", line.id, recording.writer_text(&line)?));
            }
            let role = recording.role_of(write, &line)?;
            if let Some(code) = code.filter(|_| role == "default") {
                let (at, _) = recording.head_of(code);
                let source = recording.source(code, at);
                let file = base_name(&code.path);
                return Ok(format!(
                    "event {}: {change}, default of {function} at {file}:{at}: `{source}`",
                    line.id
                ));
            }
            return Ok(format!("event {}: {change}, {role} of {function} from {from}", line.id));
        }
        let sender = recording.sender_of_write(write, &line)?;
        let sender = sender.map(|sender| format!(", sent by {}", recording.place_text(sender.place)));
        let (id, sender) = (line.id, sender.unwrap_or_default());
        Ok(format!("event {id}: {change} by {}{sender}", recording.place_text(line.place)))
    }

    fn return_line(&self, returned: &Returned, parent: Option<usize>) -> Result<String> {
        let recording = self.recording;
        let memory = MemoryAt { recording, event: returned.event };
        let given = parent.and_then(|at| self.steps.get(at)).map(|step| word_of(&step.cause));
        let value = if given == Some(returned.word) {
            "this".to_owned()
        } else {
            recording.value_text(returned.word, &memory, 1, VALUE)?
        };
        let line = recording.line_of_return(returned)?;
        let did = if line.what == What::Yield { "yielded" } else { "returned" };
        let function = recording.codes.get(&returned.code).map_or("?", |code| &code.name);
        Ok(format!(
            "event {}: {function} {did} {value} at {}",
            returned.event,
            recording.place_text(line.place)
        ))
    }

    /// Adds what a step's value was computed from.
    fn expand(&mut self, at: usize, far: usize, limit: usize) -> Result<()> {
        let Some(step) = self.steps.get(at) else { return Ok(()) };
        let is_given = match step.cause {
            Cause::Write(write) => {
                let line = self.recording.writer(&write)?;
                line.what == What::Call || self.recording.sender_of_write(&write, &line)?.is_some()
            }
            Cause::Return(_) => false,
        };
        let inputs = match step.cause {
            Cause::Write(write) => self.recording.inputs_of_write(&write)?,
            Cause::Return(returned) => {
                let of = step.parent.and_then(|at| self.steps.get(at)).map(|step| step.cause);
                let part = self.recording.part_taken(&returned, of)?;
                self.recording.inputs_of_return(&returned, part)?
            }
        };
        let is_from_outside = inputs.is_empty() && !is_given;
        // What only passes a value on does not count as a step.
        let is_passed_on = inputs.len() == 1;
        for (cause, distance) in inputs {
            if distance == OMITTED {
                self.is_cut = true;
                continue;
            }
            let distance = if is_passed_on { 0 } else { distance };
            if self.steps.len() < limit {
                self.add(Some(at), cause, far + distance)?;
            } else {
                break;
            }
        }
        if is_from_outside
            && let Some(step) = self.steps.get_mut(at)
            && self.recording.is_foreign(step)?
        {
            step.text.push_str("  (from code that is not recorded)");
        }
        Ok(())
    }
}

impl Recording {
    /// Whether the line that a step shows calls something that is not recorded, and not only for other variables.
    fn is_foreign(&self, step: &Step) -> Result<bool> {
        let source = step.text.split_once('`').map_or("", |(_, source)| source);
        let value = match &step.cause {
            Cause::Write(write) => self.value_assigned(write)?,
            Cause::Return(_) => None,
        };
        Ok(self.calls_foreign(source.trim_end_matches('`'))
            && value.is_none_or(|value| self.calls_foreign(&value)))
    }

    fn calls_foreign(&self, source: &str) -> bool {
        let is_own =
            |name: &str| self.codes.values().any(|code| code.name.split('.').any(|part| part == name));
        let is_foreign = |name: &str| !is_own(name) && !statement::STORING.contains(&name);
        statement::calls(source).into_iter().any(is_foreign)
    }
}

/// The first line that a step shows, as `main.py:12`, and its source in backticks; nothing if it shows none.
fn place_in(step: &str) -> (&str, &str) {
    let found = step.split_once(": `").and_then(|(before, rest)| {
        let place = before.rsplit_once(" in ").map_or(before, |(before, _)| before);
        // The source may have backticks of its own.
        let end = rest.find("`, sent by ").or_else(|| rest.rfind('`'))? + 1;
        let begin = before.len() + 2;
        Some((place.rsplit(' ').next()?, step.get(begin..=begin + end)?))
    });
    found.unwrap_or_default()
}

fn word_of(cause: &Cause) -> Word {
    match cause {
        Cause::Write(write) => write.word,
        Cause::Return(returned) => returned.word,
    }
}

/// Whether a function computes the fields of a class, for which nothing is given.
fn is_initializer(function: &str) -> bool {
    matches!(function, "<instance_members_initializer>" | "<static_initializer>")
}
