//! Where attributes are kept that are not an object's own: those of functions, of modules, and of classes.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use rusqlite::Params;

use crate::error::Result;
use crate::memory::{LINE, Memory, MemoryAt};
use crate::predicate::Expression;
use crate::reading::{Code, Object, Recording, list};
use crate::spelling::Spelling;
use crate::streams::{calls_of, stream_of};
use crate::value::{BASES, Key, Kind, OF_FUNCTION, Owner, VALUE, Word};

/// The named values of a recording, read on the first request.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// The objects with the attributes of functions and of members of enumerations, by the words of these.
    functions: HashMap<Word, i64>,
    /// The strings and numbers that members of enumerations are, by the texts of the members.
    members: Vec<(String, Word)>,
    /// Classes by their names; none where several have the same.
    classes: HashMap<Rc<str>, Option<i64>>,
    /// The objects that instances of a function or a class of JavaScript inherit from, in the same way.
    prototypes: HashMap<Rc<str>, Option<i64>>,
    /// What the variables of the bodies of classes belong to, which have the methods, by the classes. None where a body
    /// ran several times.
    bodies: HashMap<i64, Option<Owner>>,
}

impl Recording {
    /// What the attributes of a value belong to; none if it has none.
    pub(crate) fn attributes_of(&self, word: Word) -> Result<Option<Owner>> {
        match word {
            Word::Object(object) => Ok(Some(Owner::object(object))),
            Word::Atom(number) => {
                let atom = self.atom(number)?;
                match module_name(&atom.text) {
                    Some(name) if atom.string.is_none() => self.module(name, stream_of(number)),
                    _ => Ok(self.named()?.functions.get(&word).map(|object| Owner::object(*object))),
                }
            }
            _ => Ok(None),
        }
    }

    /// The classes, or the prototypes, that an object has attributes from which are not its own, nearest first.
    pub(crate) fn inherited(&self, object: i64) -> Result<Vec<i64>> {
        let found = self.object(object)?;
        let class = match found.kind {
            Kind::Class => return self.bases(object),
            _ if self.spelling == Spelling::JavaScript => return self.prototypes(found),
            Kind::Instance => self.named()?.classes.get(&found.type_name).copied().flatten(),
            _ => None,
        };
        let Some(class) = class else { return Ok(Vec::new()) };
        let mut classes = vec![class];
        classes.extend(self.bases(class)?);
        Ok(classes)
    }

    /// What the variables of a class's body belong to, if one of these is a function with attributes: those of classes
    /// themselves leave methods out.
    pub(crate) fn method_with_attributes(
        &self,
        class: i64,
        key: Key,
        memory: &dyn Memory,
    ) -> Result<Option<Owner>> {
        let named = self.named()?;
        let Some(Some(body)) = named.bodies.get(&class) else { return Ok(None) };
        let method = memory.get(*body, key)?;
        Ok(method.filter(|method| named.functions.contains_key(method)).map(|_| *body))
    }

    /// What an object of JavaScript inherits from, nearest first.
    fn prototypes(&self, mut object: Object) -> Result<Vec<i64>> {
        let mut found = Vec::new();
        while object.prototype != 0 && !found.contains(&object.prototype) {
            found.push(object.prototype);
            object = self.object(object.prototype)?;
        }
        Ok(found)
    }

    /// What instances of a function or a class of JavaScript inherit from; none if it is not known.
    pub(crate) fn prototype_of(&self, class: &str) -> Result<Option<i64>> {
        Ok(self.named()?.prototypes.get(&*prototype_name(class)).copied().flatten())
    }

    /// The functions of this name, such as getters, that each type has itself which the variable or attribute of an
    /// expression ever had.
    pub(crate) fn functions_of_types(&self, of: &Expression, name: &str) -> Result<Vec<Option<String>>> {
        let Some(number) = of.last_name().and_then(|name| self.number(name)) else { return Ok(Vec::new()) };
        let types = "SELECT DISTINCT objects.type FROM writes JOIN objects ON objects.id = value >> 3 \
                     WHERE key = ? AND value & 7 = 4";
        let types: Vec<i64> = self.rows(types, [Key::Name(number).stored()], |row| row.get(0))?;
        let own = types.into_iter().map(|type_name| {
            let function = format!("{}.{name}", self.text(type_name));
            self.codes.values().any(|code| *code.name == *function).then_some(function)
        });
        Ok(own.collect())
    }

    /// The classes that a class inherits from.
    fn bases(&self, class: i64) -> Result<Vec<i64>> {
        let Some(name) = self.number(BASES) else { return Ok(Vec::new()) };
        let memory = MemoryAt { recording: self, event: i64::MAX };
        let Some(Word::Object(list)) = memory.get(Owner::object(class), Key::Name(name))? else {
            return Ok(Vec::new());
        };
        let mut bases = memory.all(Owner::object(list))?;
        bases.sort_by_key(|(key, _)| *key);
        Ok(bases.into_iter().filter_map(|(_, word)| word.as_object()).collect())
    }

    /// Where an item of a tuple is kept whose items have names: they were written in their order.
    pub(crate) fn nth_attribute(&self, object: i64, index: i64) -> Result<Option<Key>> {
        let nth = "SELECT key FROM writes WHERE owner = ? AND key & 3 = 0 ORDER BY id LIMIT 1 OFFSET ?";
        self.row(nth, [Owner::object(object).0, index], |row| row.get(0).map(Key::of))
    }

    /// What the variables of a module belong to in a stream, by its name; none if several files can be meant.
    fn module(&self, name: &str, stream: i64) -> Result<Option<Owner>> {
        let is_it = |code: &&Code| code.is_module() && is_module(&code.path, name);
        let mut files = self.codes.values().filter(is_it).map(|code| code.file);
        let Some(file) = files.next().filter(|file| files.all(|other| other == *file)) else {
            return Ok(None);
        };
        self.module_of(file, stream)
    }

    /// What the variables of a file's module belong to in a stream: each process and each worker has its own, but for a
    /// forked process, which begins with those of its parent.
    pub(crate) fn module_of(&self, file: i64, stream: i64) -> Result<Option<Owner>> {
        let codes = self.codes_where(|code| code.file == file && code.is_module()).into_iter();
        let Some(code) = codes.min_by_key(|code| (stream_of(*code) != stream, *code)) else {
            return Ok(None);
        };
        let first = "SELECT owner FROM calls WHERE code = ? AND id >= ? ORDER BY id LIMIT 1";
        self.row(first, [code, calls_of(stream_of(code))], |row| row.get(0).map(Owner))
    }

    /// What the variables belong to that a forked process has assigned of a file's module; none in one that has loaded
    /// the module itself.
    pub(crate) fn forked_module_of(&self, file: i64, stream: i64) -> Result<Option<Owner>> {
        if let Some(known) = self.forked_modules.borrow().get(&(file, stream)) {
            return Ok(*known);
        }
        let is_it =
            |(id, code): (&i64, &Code)| code.file == file && stream_of(*id) == stream && code.is_module();
        let mut found = None;
        if !self.codes.iter().any(is_it)
            && let Some(parent) = self.module_of(file, stream)?
        {
            // It has a number of its own, which no call has, and variables that the parent has.
            let own = format!(
                "SELECT writes.owner FROM writes JOIN events ON events.id = {LINE} \
                 JOIN calls ON calls.id = call JOIN codes ON codes.id = code \
                 WHERE writes.owner >= ? AND writes.owner < ? AND writes.owner & 1 = 0 AND file = ? \
                 AND NOT EXISTS (SELECT 1 FROM calls AS own WHERE own.id = writes.owner >> 1) \
                 AND EXISTS (SELECT 1 FROM writes AS own WHERE own.owner = ? AND own.key = writes.key) LIMIT 1"
            );
            let range = [calls_of(stream) << 1, calls_of(stream + 1) << 1, file, parent.0];
            found = self.row(&own, range, |row| row.get(0).map(Owner))?;
        }
        self.forked_modules.borrow_mut().insert((file, stream), found);
        Ok(found)
    }

    /// Whether a process of the run was forked: it has not called the modules whose functions it calls.
    pub(crate) fn has_forked(&self) -> bool {
        let begun: HashSet<i64> = self.codes.keys().map(|code| stream_of(*code)).collect();
        let loaded: HashSet<i64> = self.codes_where(Code::is_module).into_iter().map(stream_of).collect();
        self.spelling == Spelling::Python && begun != loaded
    }

    /// Objects by the names of their types; none where several have the same.
    fn by_name(&self, objects: &str, of: impl Params) -> Result<HashMap<Rc<str>, Option<i64>>> {
        let mut found = HashMap::new();
        for object in self.rows(objects, of, |row| row.get(0))? {
            found
                .entry(self.object(object)?.type_name)
                .and_modify(|known| *known = None)
                .or_insert(Some(object));
        }
        Ok(found)
    }

    /// The string or number that a member of an enumeration is, whose text begins so.
    pub(crate) fn base_of_member(&self, begin: &str) -> Result<Option<Word>> {
        let members = &self.named()?.members;
        Ok(members.iter().find(|(text, _)| text.starts_with(begin)).map(|(_, base)| *base))
    }

    fn members(&self, functions: &HashMap<Word, i64>) -> Result<Vec<(String, Word)>> {
        let Some(value) = self.number(VALUE) else { return Ok(Vec::new()) };
        let memory = MemoryAt { recording: self, event: i64::MAX };
        let mut found = Vec::new();
        for (word, object) in functions {
            let base = memory.get(Owner::object(*object), Key::Name(value))?;
            if let (Word::Atom(member), Some(base)) = (word, base) {
                found.push((self.atom(*member)?.text.clone(), base));
            }
        }
        Ok(found)
    }

    fn bodies(&self, classes: &HashMap<Rc<str>, Option<i64>>) -> Result<HashMap<i64, Option<Owner>>> {
        let class_of = |code: &Code| classes.get(&code.name).copied().flatten();
        let codes = list(&self.codes_where(|code| class_of(code).is_some()));
        let calls = format!("SELECT code, owner FROM calls WHERE code IN ({codes})");
        let mut found = HashMap::new();
        for (code, owner) in self.rows(&calls, [], |row| Ok((row.get::<_, i64>(0)?, Owner(row.get(1)?))))? {
            if let Some(class) = self.codes.get(&code).and_then(class_of) {
                found.entry(class).and_modify(|known| *known = None).or_insert(Some(owner));
            }
        }
        Ok(found)
    }

    fn named(&self) -> Result<&Named> {
        if let Some(named) = self.named.get() {
            return Ok(named);
        }
        let mut named = Named {
            classes: self.by_name("SELECT id FROM objects WHERE kind = ?", [Kind::CLASS])?,
            prototypes: self.by_name(
                "SELECT objects.id FROM objects JOIN texts ON texts.id = type WHERE text LIKE ?",
                [prototype_name("%")],
            )?,
            ..Named::default()
        };
        if let Some(name) = self.number(OF_FUNCTION) {
            for write in self.writes("WHERE key = ?", [Key::Name(name).stored()])? {
                named.functions.extend(write.owner.as_object().map(|object| (write.word, object)));
            }
        }
        named.members = self.members(&named.functions)?;
        if self.spelling == Spelling::Python && !named.functions.is_empty() {
            named.bodies = self.bodies(&named.classes)?;
        }
        Ok(self.named.get_or_init(|| named))
    }
}

/// The type of what instances of a function or a class of JavaScript inherit from, as `record_heap.cjs` writes it.
fn prototype_name(class: &str) -> String {
    format!("{class}.prototype")
}

/// The name in `<module 'app.state'>`.
fn module_name(text: &str) -> Option<&str> {
    text.strip_prefix("<module '")?.strip_suffix("'>")
}

/// Whether a file is that of a module.
fn is_module(path: &str, name: &str) -> bool {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    Path::new(path).ends_with(name.replace('.', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_module_is_known_by_its_name() {
        for (path, name, expected) in [
            ("/app/state.py", "state", true),
            ("/app/state.py", "app.state", true),
            ("/app/state/__init__.py", "app.state", true),
            ("/app/mystate.py", "state", false),
            ("/app/state/other.py", "state", false),
        ] {
            assert_eq!(is_module(path, name), expected, "{path} {name}");
        }
        assert_eq!(module_name("<module 'app.state'>"), Some("app.state"));
        assert_eq!(module_name("<function state>"), None);
    }
}
