//! The stack at an event, and values as text.

use std::rc::Rc;

use crate::ask::is_definition;
use crate::error::Result;
use crate::memory::Memory;
use crate::reading::{Call, Code, Event, Object, Recording};
use crate::spelling::Container;
use crate::value::{Key, Kind, Owner, VALUE, What, Word};

/// A frame of a stack.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) call: Call,
    /// Where it is; none before its first line.
    pub(crate) place: Option<i64>,
}

/// Characters of a line of source.
const MOST_SOURCE: usize = 120;

/// The most frames of a stack. A recursion may have thousands.
const MOST_FRAMES: usize = 200;

/// How far back the line is looked for that resumed a generator.
const MOST_EVENTS: i64 = 200_000;

/// As the index of resumptions is written, which `SQLite` uses for no other text. Those from before the events of a ring are
/// among them.
const RESUMPTION: &str =
    "SELECT id, value FROM events WHERE call = ? AND kind IN (6, 14) AND id <= ? ORDER BY id DESC LIMIT 1";

/// That a generator, or what awaits, continues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resumption {
    pub(crate) event: i64,
    /// The call that it runs for from then on.
    pub(crate) caller: i64,
}

impl Recording {
    /// The calls that were active at an event, the innermost first.
    pub(crate) fn stack(&self, event: &Event) -> Result<Vec<Frame>> {
        let mut frames = Vec::new();
        let (mut next, mut place) = (event.call, event.place);
        while let Some(call) = self.call(next)?
            && frames.len() < MOST_FRAMES
        {
            let from = self.resumed_from(call.id, event.id)?;
            let (caller, caller_place) = from.unwrap_or((call.caller, call.caller_place));
            next = caller;
            frames.push(Frame { call, place });
            place = caller_place;
        }
        Ok(frames)
    }

    /// For which call, and from which of its lines, a generator that was suspended runs at an event; none for any other
    /// call.
    fn resumed_from(&self, call: i64, event: i64) -> Result<Option<(i64, Option<i64>)>> {
        let Some(resumption) = self.last_resumption(call, event)? else { return Ok(None) };
        let line = self.line_of_resumption(&resumption)?;
        Ok(line.map(|line| (resumption.caller, line.place)))
    }

    /// When a call was resumed last until an event, and by which one.
    pub(crate) fn last_resumption(&self, call: i64, event: i64) -> Result<Option<Resumption>> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?.map(Word::of)));
        Ok(match self.row(RESUMPTION, [call, event], read)? {
            Some((event, Some(Word::Integer(caller)))) => Some(Resumption { event, caller }),
            _ => None,
        })
    }

    /// The line that resumed a call; none if none did that is recorded.
    pub(crate) fn line_of_resumption(&self, resumption: &Resumption) -> Result<Option<Event>> {
        self.event_where(
            "WHERE id < ?1 AND id > ?1 - ?2 AND call = ?3 AND kind IN (0, 8) ORDER BY id DESC LIMIT 1",
            [resumption.event, MOST_EVENTS, resumption.caller],
        )
    }

    /// `shop.py:12 in add`.
    pub(crate) fn frame_text(&self, frame: &Frame) -> String {
        match self.place(frame.place) {
            Some((code, line)) => format!("{}:{line} in {}", base_name(&code.path), code.name),
            None => match self.codes.get(&frame.call.code) {
                Some(code) => format!("{} in {} (beginning)", code.place(), code.name),
                None => "?".to_owned(),
            },
        }
    }

    /// `shop.py:12 in add: self.total += price`.
    pub(crate) fn place_text(&self, place: Option<i64>) -> String {
        let Some((code, line)) = self.place(place) else { return "?".to_owned() };
        let source = cut(self.source(code, line).to_owned(), MOST_SOURCE);
        format!("{}:{line} in {}: `{source}`", base_name(&code.path), code.name)
    }

    /// What ran at an event that wrote something: a line, or a call that began.
    pub(crate) fn writer_text(&self, event: &Event) -> Result<String> {
        if event.what == What::Call {
            let frames = self.stack(event)?;
            return Ok(frames.first().map(|frame| self.frame_text(frame)).unwrap_or_default());
        }
        Ok(self.place_text(event.place))
    }

    /// One line for the stack: the innermost frame is left out, because the answer begins with it.
    pub(crate) fn callers_text(&self, frames: &[Frame]) -> Option<String> {
        let callers: Vec<String> =
            frames.iter().skip(1).take(6).map(|frame| self.frame_text(frame)).collect();
        let more = frames.len().saturating_sub(7);
        let more = if more > 0 { format!(" ← {more} more") } else { String::new() };
        (!callers.is_empty()).then(|| format!("called from {}{more}", callers.join(" ← ")))
    }

    /// The same for the frames at an event, with the thread unless that is the main one.
    pub(crate) fn stack_text(&self, event: &Event, frames: &[Frame]) -> Result<Option<String>> {
        let callers = self.callers_text(frames);
        let parts: Vec<String> = callers.into_iter().chain(self.thread_text(event)?).collect();
        Ok((!parts.is_empty()).then(|| parts.join(", ")))
    }

    /// The name of a variable, an attribute or an item, as it follows its owner.
    pub(crate) fn key_text(&self, key: Key) -> String {
        match key {
            Key::Name(name) => {
                let text = self.text(name);
                if is_plain(&text) { text.to_string() } else { format!("[{}]", self.spelling.quoted(&text)) }
            }
            Key::Index(index) => format!("[{index}]"),
            Key::Item(text) => format!("[{}]", self.text(text)),
            Key::Length => "len()".to_owned(),
        }
    }

    /// What to call an object whose contents are not shown: `Cart #4`, or the name of a class or a function.
    pub(crate) fn object_name(&self, number: i64) -> Result<String> {
        let object = self.object(number)?;
        Ok(if object.kind.is_named() {
            object.type_name.to_string()
        } else {
            format!("{} #{number}", object.type_name)
        })
    }

    /// What an object has under a key: `Cart #4.total`, `list #5[2]`.
    pub(crate) fn slot_text(&self, object: i64, key: Key) -> Result<String> {
        let (object, key) = (self.object_name(object)?, self.key_text(key));
        let dot = if key.starts_with('[') { "" } else { "." };
        Ok(format!("{object}{dot}{key}"))
    }

    /// A class, a function or a module with its attributes: `Worker(total=8)`.
    pub(crate) fn members_text(
        &self,
        name: &str,
        owner: Owner,
        memory: &dyn Memory,
        most: usize,
    ) -> Result<String> {
        let mut parts = Vec::new();
        for (key, word) in memory.all(owner)? {
            if !is_definition(self, key, word)? {
                let value = self.value_text(word, memory, 2, most)?;
                parts.push(self.spelling.attribute(&self.key_text(key), &value));
            }
        }
        let of = Container { type_name: name, kind: Kind::Instance, length: 0 };
        Ok(cut(self.spelling.container(of, &parts.join(", ")), most))
    }

    fn object_type(&self, number: i64) -> Result<Rc<str>> {
        let object = self.object(number)?;
        Ok(match object.kind {
            Kind::Class => Rc::from(self.spelling.class_type()),
            Kind::Function => Rc::from("function"),
            _ => object.type_name,
        })
    }

    /// The type of a value.
    pub(crate) fn type_name(&self, word: Word) -> Result<String> {
        Ok(match word {
            Word::Integer(_) => self.spelling.integer().to_owned(),
            Word::None => self.spelling.none_type().to_owned(),
            Word::Bool(_) => self.spelling.bool_type().to_owned(),
            Word::Undefined => "undefined".to_owned(),
            Word::Absent => String::new(),
            Word::Atom(atom) => self.atom(atom)?.type_name.to_string(),
            Word::Object(number) => self.object_type(number)?.to_string(),
        })
    }

    /// A value as text, within this many levels and characters.
    pub(crate) fn value_text(
        &self,
        word: Word,
        memory: &dyn Memory,
        depth: usize,
        most: usize,
    ) -> Result<String> {
        let text = self.whole_text(word, memory, depth, most, &mut Vec::new())?;
        Ok(cut(text, most))
    }

    fn whole_text(
        &self,
        word: Word,
        memory: &dyn Memory,
        depth: usize,
        most: usize,
        around: &mut Vec<i64>,
    ) -> Result<String> {
        Ok(match word {
            Word::Integer(number) => number.to_string(),
            Word::None => self.spelling.none().to_owned(),
            Word::Bool(value) => self.spelling.bool(value).to_owned(),
            Word::Undefined => "undefined".to_owned(),
            Word::Absent => "(none)".to_owned(),
            Word::Atom(atom) => {
                let atom = self.atom(atom)?;
                let more = if atom.is_cut { "..." } else { "" };
                if atom.string.is_some() {
                    format!("{}{more}", self.spelling.quoted(&atom.text))
                } else {
                    format!("{}{more}", atom.text)
                }
            }
            Word::Object(number) if self.object(number)?.kind.is_named() => {
                let Object { type_name, kind, .. } = self.object(number)?;
                self.spelling.named(kind, &type_name)
            }
            Word::Object(number) if depth == 0 || around.contains(&number) => {
                format!("<{}>", self.object_name(number)?)
            }
            Word::Object(number) => {
                around.push(number);
                let text = self.object_text(number, memory, depth, most, around);
                around.pop();
                text?
            }
        })
    }

    fn object_text(
        &self,
        number: i64,
        memory: &dyn Memory,
        depth: usize,
        most: usize,
        around: &mut Vec<i64>,
    ) -> Result<String> {
        let object = self.object(number)?;
        let mut slots = memory.all(Owner::object(number))?;
        if object.kind == Kind::Dropped || self.is_unread(number, memory)? {
            return Ok(format!("<{}>", self.object_name(number)?));
        }
        if object.kind == Kind::Opaque {
            let text = slots.iter().find(|(key, _)| *key == Key::Name(0));
            let word = text.map(|(_, word)| *word);
            return word.map_or_else(
                || Ok(format!("<{}>", self.object_name(number)?)),
                |word| self.whole_text(word, memory, 0, most, around),
            );
        }
        let is_container = matches!(object.kind, Kind::List | Kind::Dictionary | Kind::Set);
        let is_attribute = |key: Key| is_container && matches!(key, Key::Name(_));
        // A plain object of JavaScript is data, whose fields may be named anything.
        let has_private = object.kind == Kind::Instance && &*object.type_name != "Object";
        let is_private =
            |key: Key| matches!(key, Key::Name(name) if has_private && is_private(&self.text(name)));
        // What a class adds to its container comes last, and so does what libraries keep in an object. What an array or a
        // table is comes before what is in it, which is mostly cut.
        let is_table = is_table(&object.type_name);
        let order = |key: Key| if object.kind == Kind::List { key } else { Key::Length };
        slots
            .sort_by_cached_key(|(key, _)| (is_attribute(*key) != is_table || is_private(*key), order(*key)));
        let length = slots.iter().find_map(|(key, word)| match (key, word) {
            (Key::Length, Word::Integer(length)) => Some(*length),
            _ => None,
        });
        let mut parts = Vec::new();
        let mut room = most;
        let mut shown = 0;
        for (key, word) in slots.iter().filter(|(key, _)| *key != Key::Length) {
            if room == 0 {
                break;
            }
            // The shape of an array is a tuple.
            let depth = if is_table && is_attribute(*key) { depth } else { depth - 1 };
            let text = self.whole_text(*word, memory, depth, room, around)?;
            // Of each column of a table, the first values are worth more than all of the first column's.
            let is_column = &*object.type_name == "DataFrame" && !is_attribute(*key);
            let text = if is_column { cut(text, (most / slots.len()).max(LEAST_OF_COLUMN)) } else { text };
            let text = match (object.kind, key) {
                (Kind::Dictionary, Key::Item(key)) => self.spelling.pair(&self.text(*key), &text),
                (Kind::Instance, Key::Name(name)) if &*self.text(*name) == VALUE => text,
                (_, Key::Name(name)) => {
                    let name = self.text(*name);
                    if is_plain(&name) {
                        self.spelling.attribute(&name, &text)
                    } else {
                        self.spelling.attribute(&self.spelling.quoted(&name), &text)
                    }
                }
                _ => text,
            };
            room = room.saturating_sub(text.len() + 2);
            parts.push(text);
            shown += i64::from(!is_attribute(*key));
        }
        let all = length.unwrap_or_else(|| i64::try_from(slots.len()).unwrap_or(shown));
        if all > shown {
            parts.push(format!("... {} more", all - shown));
        }
        let inner = parts.join(", ");
        let container = Container { type_name: &object.type_name, kind: object.kind, length: all };
        Ok(self.spelling.container(container, &inner))
    }
}

/// So much of a column of a table is shown at least, in bytes.
const LEAST_OF_COLUMN: usize = 30;

/// Whether a type is that of an array of `NumPy` or of a table of pandas.
pub(crate) fn is_table(type_name: &str) -> bool {
    matches!(type_name, "ndarray" | "Series" | "DataFrame")
}

/// Whether an attribute is for the object itself or its class.
fn is_private(name: &str) -> bool {
    name.starts_with('_') && name != VALUE
}

/// Whether the name of an attribute can be written without quotes.
fn is_plain(name: &str) -> bool {
    // Python's own names for what a comprehension iterates over begin with a point.
    name.chars().all(|letter| letter.is_alphanumeric() || "_$#?".contains(letter))
        || name.starts_with('.')
        || name.starts_with("[Symbol(")
}

pub(crate) fn cut(mut text: String, most: usize) -> String {
    if text.len() > most + 3 {
        text.truncate(text.floor_char_boundary(most));
        text.push_str("...");
    }
    text
}

impl Code {
    /// Where it begins: `shop.py:12`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", base_name(&self.path), self.line)
    }

    /// Its name without those of what it is in.
    pub(crate) fn last_name(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or_default()
    }

    pub(crate) fn is_module(&self) -> bool {
        &*self.name == "<module>"
    }
}

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
