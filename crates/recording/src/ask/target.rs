//! A variable, an attribute or an item that a question is about, at a moment.

use std::collections::BTreeSet;

use super::comprehensions;
use super::computed;
use super::last::last_moments;
use super::state::is_definition;
use super::stored;
use super::text::Lines;
use super::writes::{cut_text, unread_text, writes_to};
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryAt};
use crate::predicate::{Expression, Function, Scope};
use crate::reading::{Call, Code, Event, Recording};
use crate::spelling::Spelling;
use crate::stack::{Frame, base_name};
use crate::streams::stream_of;
use crate::value::{Key, Kind, Owner, Word};

/// How many ends of calls, and how many writes, are tried, newest first, to find a moment at which a target is there.
pub(super) const MOST_TRIED: usize = 200;

/// The functions of JavaScript that make getters, which are recorded without the name of the property.
const DEFINING: [&str; 3] = ["defineProperty(", "defineProperties(", "__defineGetter__("];

/// What is asked about.
#[derive(Debug)]
pub struct TargetRequest<'a> {
    /// A variable, an attribute or an item, such as `self.cache['k']`.
    pub target: &'a str,
    /// The moment at which it had its value; by default the last exception of a run that failed, or the end, or else where
    /// it was last there.
    pub at: Option<&'a str>,
    /// The most writes or steps to report.
    pub limit: usize,
}

pub(super) struct Target {
    /// As requested.
    text: String,
    /// The number of the event just before which its value is read.
    pub(super) event: i64,
    /// The number of the requested event. If a call begins with it, its arguments are there just after it.
    asked: i64,
    /// The frame whose variables it begins at.
    frame: String,
    pub(super) owner: Owner,
    pub(super) key: Key,
    /// It is stored elsewhere than under the requested name.
    is_stored: bool,
    /// Why the moment is not the last one, where none was given.
    note: Option<String>,
}

impl Target {
    /// Finds it in the frames of a moment, innermost first. Without a moment it is the last exception of a run that
    /// failed, or the end, or else the last moment at which it was there.
    pub(super) fn find(recording: &Recording, text: &str, at: Option<&str>) -> Result<Self> {
        let target = recording.expression(text)?.as_kept();
        let moment = at.unwrap_or_else(|| recording.last_moment());
        let event = recording.moment(moment)?;
        let frames = recording.stack(&event)?;
        let memory = MemoryAt { recording, event: event.with_arguments().id };
        let found = slot(recording, &target, &frames, &memory)?;
        let is_there = match found {
            Some((_, (owner, key))) => memory.get(owner, key)?.is_some(),
            None => false,
        };
        // A moment that was given is kept: the answer is then that the target is not there.
        let is_known = |slot: (Owner, Key)| -> Result<bool> {
            let is_item = matches!(target, Expression::Item(..));
            let unknown = |object| unknown_part(recording, object, is_item, &memory);
            if is_text_only(recording, &memory, slot.0)?
                || slot.0.as_object().map_or(Ok(None), unknown)?.is_some()
            {
                return Ok(false);
            }
            let was_there = !writes_to(recording, slot.0, Some(slot.1), memory.event, 1)?.is_empty();
            Ok(was_there || computed(recording, &target)?.is_empty())
        };
        if let Some((frame, slot)) = found
            && (is_there || at.is_some() && is_known(slot)?)
        {
            return Ok(Self::at(recording, &target, text, &event, (frame, slot)));
        }
        // At the end of a program its functions have no variables, but its modules have.
        let is_last = matches!(at, None | Some("end" | "exception"));
        if let Some(last) = Self::last(recording, &target, text, &event)?
            && (is_last || last.asked == event.id)
        {
            let gone =
                format!("`{text}` does not exist at `{moment}`; showing the last moment at which it existed");
            return Ok(Self { note: Some(last.note.unwrap_or(gone)), ..last });
        }
        // It was taken out of what it was in.
        if let Some((frame, slot)) = found
            && !writes_to(recording, slot.0, Some(slot.1), memory.event, 1)?.is_empty()
        {
            return Ok(Self::at(recording, &target, text, &event, (frame, slot)));
        }
        if let Some(instead) = unstored(recording, &target, text, at)? {
            return Err(instead);
        }
        Err(absent(recording, &target, text, moment, &frames, &memory)?)
    }

    /// The last moment at which it existed, in a stack that has it or the variable that it begins with; the requested moment
    /// if it is a global of a module. Variables of other processes are shown if the requested one has none.
    fn last(recording: &Recording, target: &Expression, text: &str, asked: &Event) -> Result<Option<Self>> {
        let mut names = target.roots();
        names.extend(target.last_name().map(str::to_owned));
        for is_own in [true, false] {
            let mut last: Option<Self> = None;
            for name in &names {
                let Some(number) = recording.number(name) else { continue };
                let attribute = target.attribute_of(name).and_then(|name| recording.number(name));
                let moments = last_moments(recording, number, attribute)?;
                let found = Self::last_among(recording, target, text, (moments, asked, is_own))?;
                last = last.into_iter().chain(found).max_by_key(|found| found.event);
            }
            if last.is_some() {
                return Ok(last);
            }
        }
        Ok(None)
    }

    /// The first of these moments at which it exists, in the process of the requested moment or in others, and what it is
    /// then.
    fn last_among(
        recording: &Recording,
        target: &Expression,
        text: &str,
        (moments, asked, is_own): (Vec<i64>, &Event, bool),
    ) -> Result<Option<Self>> {
        for moment in moments {
            let Some(event) = recording.find_event(moment)? else { continue };
            if is_own != (stream_of(event.call) == stream_of(asked.call)) {
                continue;
            }
            let frames = recording.stack(&event)?;
            let memory = MemoryAt { recording, event: event.with_arguments().id };
            let Some((frame, found)) = slot(recording, target, &frames, &memory)? else { continue };
            if let Some(file) = module_of(recording, target, frame, &memory)? {
                let memory = MemoryAt { recording, event: asked.with_arguments().id };
                if let Some((_, found)) = slot(recording, target, std::slice::from_ref(frame), &memory)?
                    && memory.get(found.0, found.1)?.is_some()
                {
                    let others = others_text(recording, target, &frame.call, &memory)?;
                    let around = recording.stack(asked)?;
                    let frame = around.first().unwrap_or(frame);
                    let note = format!(
                        "it belongs to the module {file}, not to a function on the stack there{others}"
                    );
                    let there = Self::at(recording, target, text, asked, (frame, found));
                    return Ok(Some(Self { note: Some(note), ..there }));
                }
            }
            if memory.get(found.0, found.1)?.is_some() {
                return Ok(Some(Self::at(recording, target, text, &event, (frame, found))));
            }
        }
        Ok(None)
    }

    fn at(
        recording: &Recording,
        target: &Expression,
        text: &str,
        event: &Event,
        (frame, (owner, key)): (&Frame, (Owner, Key)),
    ) -> Self {
        let frame = recording.frame_text(frame);
        let is_stored = matches!(target, Expression::Attribute(_, name) if *name != recording.key_text(key));
        let (asked, event) = (event.id, event.with_arguments().id);
        Self { text: text.to_owned(), event, asked, frame, owner, key, is_stored, note: None }
    }

    /// Says what it is.
    pub(super) fn introduce(&self, recording: &Recording, value: &str, lines: &mut Lines) -> Result<()> {
        let (text, event, frame) = (&self.text, self.asked, &self.frame);
        lines.add(match self.owner.as_object().filter(|_| self.is_stored) {
            // What is stored may be computed from what was assigned.
            Some(object) => {
                let slot = recording.slot_text(object, self.key)?;
                format!("`{text}` is stored in `{slot}`, which is {value} at event {event} ({frame})")
            }
            None => format!("`{text}` is {value} at event {event} ({frame})"),
        });
        if let Some(note) = &self.note {
            lines.add(note);
        }
        Ok(())
    }
}

/// The innermost frame that knows a target, and where the target is kept.
fn slot<'a>(
    recording: &Recording,
    target: &Expression,
    frames: &'a [Frame],
    memory: &MemoryAt<'_>,
) -> Result<Option<(&'a Frame, (Owner, Key))>> {
    for frame in frames {
        let scope = Scope::of(recording, memory, &frame.call)?;
        let found = scope.slot(target)?;
        let is_there = match found {
            Some(slot) => memory.get(slot.0, slot.1)?.is_some(),
            None => false,
        };
        if !is_there
            && let Expression::Attribute(of, name) = target
            && let Some(object) = stored::object(&scope, of, memory.event)?
            && let Some(slot) = stored::slot(recording, object, name, memory.event)?
        {
            return Ok(Some((frame, slot)));
        }
        if let Some(slot) = found {
            return Ok(Some((frame, slot)));
        }
    }
    Ok(None)
}

/// The file of the module, if all variables of a target are those of the module of a frame's function.
fn module_of<'a>(
    recording: &'a Recording,
    target: &Expression,
    frame: &Frame,
    memory: &MemoryAt<'_>,
) -> Result<Option<&'a str>> {
    let Some(code) = recording.codes.get(&frame.call.code) else { return Ok(None) };
    let Some(module) = recording.module_of(code.file, stream_of(frame.call.id))? else { return Ok(None) };
    let scope = Scope::of(recording, memory, &frame.call)?;
    for root in target.roots() {
        match scope.slot(&Expression::Name(root))? {
            Some((owner, _)) if is_of_module(recording, owner, module)? => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(base_name(&code.path)))
}

/// That other modules than the one of a call have a variable of the name that a target begins at, too: not the same object.
fn others_text(
    recording: &Recording,
    target: &Expression,
    call: &Call,
    memory: &MemoryAt<'_>,
) -> Result<String> {
    let root = target.roots().into_iter().next();
    let root = root.and_then(|root| Some((Key::Name(recording.number(&root)?), root)));
    let Some((key, root)) = root else { return Ok(String::new()) };
    let value = |code: &Code| {
        let module = recording.module_of(code.file, stream_of(call.id))?;
        module.map_or(Ok(None), |module| memory.get(module, key))
    };
    let Some(own) = recording.codes.get(&call.code) else { return Ok(String::new()) };
    let own_value = value(own)?;
    let mut others = BTreeSet::new();
    for code in recording.codes.values().filter(|code| &*code.name == "<module>" && code.file != own.file) {
        let is_other = match value(code)? {
            Some(object @ Word::Object(_)) => Some(object) != own_value,
            value => value.is_some(),
        };
        if is_other {
            others.insert(base_name(&code.path));
        }
    }
    let have = if others.len() == 1 { "has" } else { "have" };
    let others = others.into_iter().collect::<Vec<_>>().join(", ");
    Ok(if others.is_empty() { others } else { format!("; {others} {have} a `{root}`, too") })
}

/// Whether variables are those of a module, or of the function that a compiler has put all of it into: no line of the
/// source calls that.
fn is_of_module(recording: &Recording, owner: Owner, module: Owner) -> Result<bool> {
    if owner == module {
        return Ok(true);
    }
    let is_whole = |call: &Call| call.owner == owner && recording.place(call.caller_place).is_none();
    let Some(call) = recording.call(owner.0 >> 1)?.filter(is_whole) else { return Ok(false) };
    Ok(recording.call(call.caller)?.is_some_and(|caller| caller.owner == module))
}

/// Whether nothing is known of what an object contains.
fn is_text_only(recording: &Recording, memory: &MemoryAt<'_>, owner: Owner) -> Result<bool> {
    let Some(object) = owner.as_object() else { return Ok(false) };
    let is_text = |(key, _): &(Key, _)| *key == Key::Name(0);
    Ok(recording.object(object)?.kind == Kind::Opaque && memory.all(owner)?.iter().all(is_text))
}

/// What to ask instead about the length of something; none if a target is anything else.
fn unstored(
    recording: &Recording,
    target: &Expression,
    text: &str,
    at: Option<&str>,
) -> Result<Option<Error>> {
    let of = match target {
        Expression::Attribute(_, name) if matches!(&**name, "length" | "size") => {
            text.rsplit_once('.').map(|(of, _)| of).filter(|_| recording.spelling == Spelling::JavaScript)
        }
        Expression::Of(Function::Length, _) => text.strip_prefix("len(").and_then(|of| of.strip_suffix(')')),
        _ => None,
    };
    let Some(of) = of else { return Ok(None) };
    let Ok(found) = Target::find(recording, of, at) else { return Ok(None) };
    let word = MemoryAt { recording, event: found.event }.get(found.owner, found.key)?;
    let has_length = match word {
        Some(Word::Object(number)) => {
            matches!(recording.object(number)?.kind, Kind::List | Kind::Dictionary | Kind::Set)
        }
        Some(Word::Atom(number)) => recording.atom(number)?.string.is_some(),
        _ => false,
    };
    Ok(has_length.then(|| {
        Error::question(format!(
            "`{text}` is computed, not stored; ask about `{of}`, or when a condition such as `{text} > 5` first held"
        ))
    }))
}

/// That no frame of a moment knows a target.
fn absent(
    recording: &Recording,
    target: &Expression,
    text: &str,
    at: &str,
    frames: &[Frame],
    memory: &MemoryAt<'_>,
) -> Result<Error> {
    let known =
        frames.first().map(|frame| known(recording, &frame.call, memory)).transpose()?.unwrap_or_default();
    let getter = match recording.find_event(memory.event)? {
        Some(event) => computed::last(recording, target, &event)?,
        None => None,
    };
    let getter = getter.and_then(|returned| recording.codes.get(&returned.code));
    let mut elsewhere =
        getter.map_or_else(|| elsewhere(recording, target, memory.event), |code| Ok(computed_by(code)))?;
    if let Some(unknown) = unknown_in(recording, target, frames, memory)? {
        elsewhere = format!("; {unknown}");
    }
    if elsewhere.is_empty()
        && let Some((_, (owner, _))) = slot(recording, target, frames, memory)?
        && is_text_only(recording, memory, owner)?
    {
        "; only the text of that object is recorded".clone_into(&mut elsewhere);
    }
    let of_comprehension = target.roots().iter().find_map(|root| comprehensions::note(recording, root, None));
    elsewhere += &of_comprehension.map(|note| format!("; {note}")).unwrap_or_default();
    let frame = frames.first().map(|frame| recording.frame_text(frame)).unwrap_or_default();
    Ok(Error::question(format!("no `{text}` at `{at}` ({frame}); variables there: {known}{elsewhere}")))
}

/// That an attribute or an item need not be among what is recorded of its object.
fn unknown_part(
    recording: &Recording,
    object: i64,
    is_item: bool,
    memory: &MemoryAt<'_>,
) -> Result<Option<String>> {
    let unread = unread_text(recording, object, memory)?;
    if unread.is_some() || !is_item {
        return Ok(unread);
    }
    Ok(cut_text(recording, object, memory)?.map(|cut| format!("only {cut}")))
}

/// The same for the first part of a target that is not there.
fn unknown_in(
    recording: &Recording,
    target: &Expression,
    frames: &[Frame],
    memory: &MemoryAt<'_>,
) -> Result<Option<String>> {
    let (Expression::Item(of, _) | Expression::Attribute(of, _)) = target else { return Ok(None) };
    let value = |part: &Expression| {
        let found = slot(recording, part, frames, memory)?;
        found.map_or(Ok(None), |(_, (owner, key))| memory.get(owner, key))
    };
    match value(of)? {
        None => unknown_in(recording, of, frames, memory),
        Some(Word::Object(object)) if value(target)?.is_none() => {
            unknown_part(recording, object, matches!(target, Expression::Item(..)), memory)
        }
        Some(_) => Ok(None),
    }
}

/// The names of a call's variables, but for those of functions, classes and modules.
fn known(recording: &Recording, call: &Call, memory: &MemoryAt<'_>) -> Result<String> {
    let mut names = Vec::new();
    for (key, word) in memory.all(call.owner)? {
        if names.len() < 20 && !is_definition(recording, key, word)? {
            names.push(recording.key_text(key));
        }
    }
    Ok(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}

/// Where a variable, or an attribute, of that name was last written.
fn elsewhere(recording: &Recording, target: &Expression, event: i64) -> Result<String> {
    let Some((name, number)) = target.last_name().and_then(|name| Some((name, recording.number(name)?)))
    else {
        return computed(recording, target);
    };
    let is_attribute = !matches!(target, Expression::Name(_));
    if matches!(target, Expression::Item(..)) {
        let computed = computed(recording, target)?;
        if !computed.is_empty() {
            return Ok(computed);
        }
    }
    // What was taken for a variable may be an attribute.
    let kinds = [("a variable", false), ("an attribute", true)];
    for (kind, is_object) in kinds.into_iter().skip(usize::from(is_attribute)) {
        let last = "WHERE key = ? AND owner & 1 = ? ORDER BY id DESC LIMIT 1";
        let last = recording.writes(last, (Key::Name(number).stored(), is_object))?;
        let Some(last) = last.first() else { continue };
        let line = recording.writer(last)?;
        let place = recording.writer_text(&line)?;
        let is_later = line.id >= event && is_object == is_attribute;
        let advice = if is_later { "; pass a later moment as `at`" } else { "" };
        return Ok(format!("; {kind} `{name}` was last written at event {}: {place}{advice}", line.id));
    }
    computed(recording, target)
}

/// That a function gives an attribute, as that of a property or a getter does, or an item, as `__getitem__` of a class.
fn computed(recording: &Recording, target: &Expression) -> Result<String> {
    let (of, name) = match target {
        Expression::Attribute(of, name) => (of, name),
        Expression::Item(of, _) => {
            let own = recording.functions_of_types(of, "__getitem__")?.into_iter().flatten().next();
            let is_own = |code: &&Code| own.as_deref() == Some(&*code.name);
            return Ok(recording.codes.values().find(is_own).map_or_else(String::new, computed_by));
        }
        _ => return Ok(String::new()),
    };
    let own = recording.functions_of_types(of, name)?.into_iter().flatten().next();
    // One without a class may be any function.
    let is_it = |code: &&Code| code.last_name() == name && code.name.contains('.');
    let is_own = |code: &Code| own.as_deref() == Some(&*code.name);
    let function = recording.codes.values().filter(is_it).min_by_key(|code| (!is_own(code), code.line));
    Ok(match function {
        Some(code) => computed_by(code),
        None if may_be_defined(recording, name) => {
            "; a getter that `defineProperty` made may compute it: ask about the values that it reads"
                .to_owned()
        }
        None => String::new(),
    })
}

/// Whether code of JavaScript may have made a getter of this name in such a way.
fn may_be_defined(recording: &Recording, name: &str) -> bool {
    let quoted = ['\'', '"', '`'].map(|quote| format!("{quote}{name}{quote}"));
    let is_in_sources = |texts: &[&str]| {
        recording.sources.values().flatten().any(|line| texts.iter().any(|text| line.contains(text)))
    };
    recording.spelling == Spelling::JavaScript
        && is_in_sources(&DEFINING)
        && is_in_sources(&quoted.each_ref().map(String::as_str))
}

fn computed_by(code: &Code) -> String {
    format!("; it is computed by {} ({}): ask about the values that it reads", code.name, code.place())
}
