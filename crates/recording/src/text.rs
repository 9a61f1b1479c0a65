//! Values as text, and the names of variables and objects.

use std::rc::Rc;

use crate::ask::is_definition;
use crate::error::Result;
use crate::memory::Memory;
use crate::reading::{Object, Recording};
use crate::spelling::Container;
use crate::value::{Key, Kind, Owner, VALUE, Word};

/// So much of a column of a table is shown at least, in bytes.
const LEAST_OF_COLUMN: usize = 30;

impl Recording {
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
        let text = ValueFormatter { recording: self, memory, around: Vec::new() }.value(word, depth, most)?;
        Ok(cut(text, most))
    }
}

/// Formats a value with what is in it.
struct ValueFormatter<'a> {
    recording: &'a Recording,
    memory: &'a dyn Memory,
    /// The objects that the current one is in.
    around: Vec<i64>,
}

impl ValueFormatter<'_> {
    fn value(&mut self, word: Word, depth: usize, most: usize) -> Result<String> {
        let Self { recording, .. } = *self;
        Ok(match word {
            Word::Integer(number) => number.to_string(),
            Word::None => recording.spelling.none().to_owned(),
            Word::Bool(value) => recording.spelling.bool(value).to_owned(),
            Word::Undefined => "undefined".to_owned(),
            Word::Absent => "(none)".to_owned(),
            Word::Atom(atom) => {
                let atom = recording.atom(atom)?;
                let more = if atom.is_cut { "..." } else { "" };
                if atom.string.is_some() {
                    format!("{}{more}", recording.spelling.quoted(&atom.text))
                } else {
                    format!("{}{more}", atom.text)
                }
            }
            Word::Object(number) if recording.object(number)?.kind.is_named() => {
                let Object { type_name, kind, .. } = recording.object(number)?;
                recording.spelling.named(kind, &type_name)
            }
            Word::Object(number) if depth == 0 || self.around.contains(&number) => {
                format!("<{}>", recording.object_name(number)?)
            }
            Word::Object(number) => {
                self.around.push(number);
                let text = self.object(number, depth, most);
                self.around.pop();
                text?
            }
        })
    }

    fn object(&mut self, number: i64, depth: usize, most: usize) -> Result<String> {
        let Self { recording, memory, .. } = *self;
        let object = recording.object(number)?;
        let mut slots = memory.all(Owner::object(number))?;
        if object.kind == Kind::Dropped || recording.is_unread(number, memory)? {
            return Ok(format!("<{}>", recording.object_name(number)?));
        }
        if object.kind == Kind::Opaque {
            let text = slots.iter().find(|(key, _)| *key == Key::Name(0));
            let word = text.map(|(_, word)| *word);
            return word.map_or_else(
                || Ok(format!("<{}>", recording.object_name(number)?)),
                |word| self.value(word, 0, most),
            );
        }
        let is_container = matches!(object.kind, Kind::List | Kind::Dictionary | Kind::Set);
        let is_attribute = |key: Key| is_container && matches!(key, Key::Name(_));
        // A plain object of JavaScript is data, whose fields may be named anything.
        let has_private = object.kind == Kind::Instance && &*object.type_name != "Object";
        let is_private =
            |key: Key| matches!(key, Key::Name(name) if has_private && is_private(&recording.text(name)));
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
            let text = self.value(*word, depth, room)?;
            // Of each column of a table, the first values are worth more than all of the first column's.
            let is_column = &*object.type_name == "DataFrame" && !is_attribute(*key);
            let text = if is_column { cut(text, (most / slots.len()).max(LEAST_OF_COLUMN)) } else { text };
            let text = match (object.kind, key) {
                (Kind::Dictionary, Key::Item(key)) => recording.spelling.pair(&recording.text(*key), &text),
                (Kind::Instance, Key::Name(name)) if &*recording.text(*name) == VALUE => text,
                (_, Key::Name(name)) => {
                    let name = recording.text(*name);
                    if is_plain(&name) {
                        recording.spelling.attribute(&name, &text)
                    } else {
                        recording.spelling.attribute(&recording.spelling.quoted(&name), &text)
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
        Ok(recording.spelling.container(container, &inner))
    }
}

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
