//! A recording that is read: names, lines, calls, events and values.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::attributes::Named;
use crate::error::{Error, Result};
use crate::methods::Methods;
use crate::predicate::Expression;
use crate::spelling::Spelling;
use crate::value::{EARLIER, Kind, Owner, What};

/// A recording.
#[derive(Debug)]
pub struct Recording {
    pub(crate) database: Connection,
    /// How values are written.
    pub(crate) spelling: Spelling,
    texts: HashMap<i64, Rc<str>>,
    numbers: HashMap<Rc<str>, i64>,
    places: HashMap<i64, Place>,
    pub(crate) sources: HashMap<i64, Vec<String>>,
    pub(crate) codes: HashMap<i64, Code>,
    atoms: RefCell<HashMap<i64, Rc<Atom>>>,
    objects: RefCell<HashMap<i64, Object>>,
    /// The last write before some events.
    pub(crate) last_writes: RefCell<HashMap<i64, i64>>,
    pub(crate) named: OnceCell<Named>,
    /// How many items of a container or attributes of an object are recorded at most.
    most_items: i64,
    inherited_names: RefCell<HashMap<String, bool>>,
    attribute_counts: RefCell<HashMap<i64, i64>>,
    pub(crate) methods: RefCell<Methods>,
    /// By the file and the stream.
    pub(crate) forked_modules: RefCell<HashMap<(i64, i64), Option<Owner>>>,
}

/// What each object of JavaScript has from `Object`.
const OF_OBJECTS: [&str; 8] = [
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// A function, a class body or a module.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) file: i64,
    pub(crate) path: Rc<str>,
    pub(crate) name: Rc<str>,
    pub(crate) line: i64,
}

/// A line of a code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) code: i64,
    pub(crate) line: i64,
}

/// A value that is only text.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub(crate) type_name: Rc<str>,
    pub(crate) text: String,
    /// It is a string, of this length.
    pub(crate) string: Option<i64>,
    /// The text is not all of it.
    pub(crate) is_cut: bool,
}

/// What an object is.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) type_name: Rc<str>,
    pub(crate) kind: Kind,
    /// The object of JavaScript that it inherits from; 0 if that is built into the language.
    pub(crate) prototype: i64,
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: i64,
    pub(crate) code: i64,
    pub(crate) owner: Owner,
    pub(crate) caller: i64,
    pub(crate) caller_place: Option<i64>,
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) id: i64,
    pub(crate) what: What,
    pub(crate) call: i64,
    pub(crate) place: Option<i64>,
    pub(crate) value: Option<i64>,
}

impl Event {
    /// Whether it represents all that was before the recording begins.
    pub(crate) fn is_before(&self) -> bool {
        self.call == 0
    }

    /// The moment at which the arguments of a call that begins are there.
    pub(crate) fn with_arguments(self) -> Self {
        Self { id: self.id + i64::from(self.what == What::Call), ..self }
    }
}

impl Recording {
    pub(crate) fn new(database: Connection) -> Result<Self> {
        let texts: HashMap<i64, Rc<str>> = collect(&database, "SELECT id, text FROM texts", |row| {
            Ok((row.get(0)?, Rc::from(row.get::<_, String>(1)?)))
        })?;
        let numbers = texts.iter().map(|(id, text)| (Rc::clone(text), *id)).collect();
        let places = collect(&database, "SELECT id, code, line FROM places", |row| {
            Ok((row.get(0)?, Place { code: row.get(1)?, line: row.get(2)? }))
        })?;
        let sources = collect(&database, "SELECT id, text FROM files", |row| {
            let text: String = row.get(1)?;
            Ok((row.get(0)?, text.lines().map(str::to_owned).collect()))
        })?;
        let text = |id: i64| texts.get(&id).cloned().unwrap_or_else(|| Rc::from("?"));
        let codes = collect(&database, "SELECT id, file, name, line FROM codes", |row| {
            let (file, name) = (row.get(1)?, text(row.get(2)?));
            Ok((row.get(0)?, Code { file, path: text(file), name, line: row.get(3)? }))
        })?;
        let mut recording = Self {
            database,
            spelling: Spelling::Python,
            texts,
            numbers,
            places,
            sources,
            codes,
            atoms: RefCell::default(),
            objects: RefCell::default(),
            last_writes: RefCell::default(),
            named: OnceCell::new(),
            most_items: 0,
            inherited_names: RefCell::default(),
            attribute_counts: RefCell::default(),
            methods: RefCell::default(),
            forked_modules: RefCell::default(),
        };
        recording.spelling = Spelling::of(&recording.fact("language")?);
        recording.most_items = recording.fact("items")?.parse().unwrap_or_default();
        Ok(recording)
    }

    /// The rows of a statement.
    pub(crate) fn rows<T>(
        &self,
        statement: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.database.prepare_cached(statement)?;
        Ok(statement.query_map(values, read)?.collect::<rusqlite::Result<_>>()?)
    }

    /// The first of them; none if there is none.
    pub(crate) fn row<T>(
        &self,
        statement: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.database.prepare_cached(statement)?.query_row(values, read).optional()?)
    }

    pub(crate) fn has_row(&self, statement: &str, values: impl Params) -> Result<bool> {
        Ok(self.database.prepare_cached(statement)?.exists(values)?)
    }

    /// The first row of which something is made; the others are not read.
    pub(crate) fn find_row<T, F>(
        &self,
        statement: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
        mut find: impl FnMut(T) -> Result<Option<F>>,
    ) -> Result<Option<F>> {
        let mut statement = self.database.prepare_cached(statement)?;
        for row in statement.query_map(values, read)? {
            if let Some(found) = find(row?)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The events that a statement selects, from what follows `FROM events` in it.
    pub(crate) fn events(&self, rest: &str, values: impl Params) -> Result<Vec<Event>> {
        self.rows(&format!("SELECT {EVENT} FROM events {rest}"), values, event_of)
    }

    /// The first of them.
    pub(crate) fn event_where(&self, rest: &str, values: impl Params) -> Result<Option<Event>> {
        self.row(&format!("SELECT {EVENT} FROM events {rest}"), values, event_of)
    }

    /// The first of them that fits.
    pub(crate) fn find_event_where(
        &self,
        rest: &str,
        values: impl Params,
        mut fits: impl FnMut(&Event) -> Result<bool>,
    ) -> Result<Option<Event>> {
        let statement = format!("SELECT {EVENT} FROM events {rest}");
        self.find_row(&statement, values, event_of, |event| Ok(fits(&event)?.then_some(event)))
    }

    /// The text with this number, such as a name.
    pub(crate) fn text(&self, id: i64) -> Rc<str> {
        self.texts.get(&id).cloned().unwrap_or_else(|| Rc::from("?"))
    }

    /// The number of a text; none if the run has no such name.
    pub(crate) fn number(&self, text: &str) -> Option<i64> {
        self.numbers.get(text).copied()
    }

    /// Reads an expression. A private attribute of Python, as in `self.__pin`, has the name under which it is kept.
    pub(crate) fn expression(&self, text: &str) -> Result<Expression> {
        let parsed = Expression::parse(text)?;
        if self.spelling == Spelling::JavaScript || !text.contains(".__") {
            return Ok(parsed);
        }
        let mut names = Vec::new();
        parsed.names(&mut |name| names.push(name.to_owned()));
        let mut kept = HashMap::new();
        for name in names {
            match self.private(&name).as_slice() {
                [] => {}
                [only] => _ = kept.insert(name, only.to_string()),
                several => {
                    let several = several.join("` or `");
                    return Err(Error::question(format!("`{name}` is `{several}`; ask about one of them")));
                }
            }
        }
        Ok(parsed.renamed(&kept))
    }

    /// The names under which a private attribute is kept, by the classes that have one of this name.
    fn private(&self, name: &str) -> Vec<&str> {
        if !name.starts_with("__") || name.ends_with("__") || self.number(name).is_some() {
            return Vec::new();
        }
        let class = |kept: &str| kept.strip_suffix(name)?.strip_prefix('_').map(str::to_owned);
        let is_it = |kept: &&str| class(kept).is_some_and(|class| !class.is_empty() && !class.contains("__"));
        let mut found: Vec<&str> = self.numbers.keys().map(|kept| &**kept).filter(is_it).collect();
        found.sort_unstable();
        found
    }

    /// The code and the line of a place.
    pub(crate) fn place(&self, id: Option<i64>) -> Option<(&Code, i64)> {
        let place = self.places.get(&id?)?;
        Some((self.codes.get(&place.code)?, place.line))
    }

    /// The places at a line of a file. The file is given by the end of its path.
    pub(crate) fn places_at(&self, file: &str, line: i64) -> Vec<i64> {
        let is_there = |place: &Place| {
            place.line == line && self.codes.get(&place.code).is_some_and(|code| is_file(&code.path, file))
        };
        let mut found: Vec<i64> =
            self.places.iter().filter(|(_, place)| is_there(place)).map(|(id, _)| *id).collect();
        found.sort_unstable();
        found
    }

    /// All lines that ran of the codes that are wanted.
    pub(crate) fn places_of(&self, wanted: impl Fn(&Code) -> bool) -> Vec<(i64, Place)> {
        let is_wanted = |place: &Place| self.codes.get(&place.code).is_some_and(&wanted);
        let mut found: Vec<(i64, Place)> = self
            .places
            .iter()
            .filter(|(_, place)| is_wanted(place))
            .map(|(id, place)| (*id, *place))
            .collect();
        found.sort_unstable_by_key(|(id, place)| (place.line, *id));
        found
    }

    /// The functions and modules that are wanted.
    pub(crate) fn codes_where(&self, is_wanted: impl Fn(&Code) -> bool) -> Vec<i64> {
        self.codes.iter().filter(|(_, code)| is_wanted(code)).map(|(id, _)| *id).collect()
    }

    /// The text of a line, as it was when the program ran.
    pub(crate) fn source(&self, code: &Code, line: i64) -> &str {
        let line = usize::try_from(line - 1).ok();
        let found = self.sources.get(&code.file).zip(line).and_then(|(lines, line)| lines.get(line));
        found.map_or("", |text| text.trim())
    }

    /// The lines of a code's file; none if it could not be read.
    pub(crate) fn lines_of(&self, code: &Code) -> &[String] {
        self.sources.get(&code.file).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn most_items(&self) -> i64 {
        self.most_items
    }

    /// How many attributes of an object are recorded, at any time of the run.
    pub(crate) fn count_of_attributes(&self, object: i64) -> Result<i64> {
        if let Some(known) = self.attribute_counts.borrow().get(&object) {
            return Ok(*known);
        }
        let count = "SELECT count(DISTINCT key) FROM writes WHERE owner = ? AND key & 3 = 0";
        let count = self.row(count, [Owner::object(object).0], |row| row.get(0))?.unwrap_or_default();
        self.attribute_counts.borrow_mut().insert(object, count);
        Ok(count)
    }

    /// Whether an attribute that an object of JavaScript does not have may be a getter or a method of its class.
    pub(crate) fn may_be_inherited(&self, name: &str) -> bool {
        if let Some(known) = self.inherited_names.borrow().get(name) {
            return *known;
        }
        // Those of the program have their name before a parenthesis in its sources.
        let is_call = |line: &String| {
            line.match_indices(name).any(|(at, _)| {
                let (before, after) = (line.get(..at), line.get(at + name.len()..));
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                after.is_some_and(|after| after.trim_start().starts_with('('))
                    && !before.is_some_and(|before| before.ends_with(is_part))
            })
        };
        let may_be = OF_OBJECTS.contains(&name) || self.sources.values().flatten().any(is_call);
        self.inherited_names.borrow_mut().insert(name.to_owned(), may_be);
        may_be
    }

    pub(crate) fn atom(&self, id: i64) -> Result<Rc<Atom>> {
        if let Some(known) = self.atoms.borrow().get(&id) {
            return Ok(Rc::clone(known));
        }
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get(2)?));
        let found = self.row("SELECT type, flags, text FROM atoms WHERE id = ?", [id], read)?;
        let (type_name, flags, text) = found.unwrap_or((0, 0, "?".to_owned()));
        let atom = Rc::new(Atom {
            type_name: self.text(type_name),
            text,
            string: (flags & 2 != 0).then_some(flags >> 2),
            is_cut: flags & 1 != 0,
        });
        self.atoms.borrow_mut().insert(id, Rc::clone(&atom));
        Ok(atom)
    }

    pub(crate) fn object(&self, id: i64) -> Result<Object> {
        if let Some(known) = self.objects.borrow().get(&id) {
            return Ok(known.clone());
        }
        let found = self.row("SELECT type, kind, prototype FROM objects WHERE id = ?", [id], |row| {
            let (type_name, kind) = (self.text(row.get(0)?), Kind::of(row.get(1)?));
            Ok(Object { type_name, kind, prototype: row.get(2)? })
        })?;
        let object = found.unwrap_or_else(|| Object {
            type_name: Rc::from("dropped object"),
            kind: Kind::Dropped,
            prototype: 0,
        });
        self.objects.borrow_mut().insert(id, object.clone());
        Ok(object)
    }

    pub(crate) fn event(&self, id: i64) -> Result<Event> {
        self.find_event(id)?.ok_or_else(|| self.no_event(id))
    }

    pub(crate) fn find_event(&self, id: i64) -> Result<Option<Event>> {
        self.event_where("WHERE id = ?", [id])
    }

    /// The failure of a question about an event that there is not.
    pub(crate) fn no_event(&self, id: i64) -> Error {
        let (first, last) = (self.first_event().unwrap_or(1), self.last_event().unwrap_or(0));
        if last == 0 {
            return Error::question("the recording has no events: no line of the program's own code ran");
        }
        Error::question(format!("no event {id}; the recording has events {first} to {last}"))
    }

    /// The number of the first event; 1 if there is none.
    pub(crate) fn first_event(&self) -> Result<i64> {
        let first = "SELECT id FROM events WHERE kind < ? ORDER BY id LIMIT 1";
        Ok(self.row(first, [EARLIER], |row| row.get(0))?.unwrap_or(1))
    }

    /// The number of the last event; 0 if there is none.
    pub(crate) fn last_event(&self) -> Result<i64> {
        Ok(self.database.query_row("SELECT coalesce(max(id), 0) FROM events", [], |row| row.get(0))?)
    }

    pub(crate) fn call(&self, id: i64) -> Result<Option<Call>> {
        self.row("SELECT id, code, owner, caller, caller_place FROM calls WHERE id = ?", [id], |row| {
            Ok(Call {
                id: row.get(0)?,
                code: row.get(1)?,
                owner: Owner(row.get(2)?),
                caller: row.get(3)?,
                caller_place: row.get(4)?,
            })
        })
    }

    /// Which part of the run is not recorded; none if all of it is.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn gap(&self) -> Result<Option<String>> {
        let incomplete = self.fact("incomplete")?;
        if !incomplete.is_empty() {
            return Ok(Some(format!("the recording is incomplete: {incomplete}")));
        }
        let begin = self.first_event()?;
        Ok((begin > 1).then(|| format!("the recording begins at event {begin}")))
    }

    /// A fact about the run, such as its command.
    pub fn fact(&self, name: &str) -> Result<String> {
        let found = self.row("SELECT value FROM facts WHERE name = ?", [name], |row| row.get(0))?;
        Ok(found.unwrap_or_default())
    }
}

/// The columns that [`event_of`] reads.
pub(crate) const EVENT: &str = "events.id, events.kind, events.call, events.place, events.value";

pub(crate) fn event_of(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        id: row.get(0)?,
        what: What::of(row.get(1)?),
        call: row.get(2)?,
        place: row.get(3)?,
        value: row.get(4)?,
    })
}

/// Numbers as a list of SQL.
pub(crate) fn list<'n>(numbers: impl IntoIterator<Item = &'n i64>) -> String {
    numbers.into_iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// All rows of a statement.
fn collect<T, C: FromIterator<T>>(
    database: &Connection,
    statement: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<C> {
    let mut statement = database.prepare(statement)?;
    let rows = statement.query_map([], read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Whether a path is that of a file, which is given by the end of it.
pub(crate) fn is_file(path: &str, file: &str) -> bool {
    Path::new(path).ends_with(file.trim_start_matches("./"))
}
