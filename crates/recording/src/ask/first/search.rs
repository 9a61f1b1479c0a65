//! Looks for the moment at which a condition begins to hold.
//!
//! All writes are scanned in order, which can be millions, so that a condition is evaluated only where
//! something was written that it may read, or in a call for which it has not been evaluated since.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::super::comprehensions;
use super::super::state::is_declared;
use super::{FirstRequest, owners};
use crate::error::{Error, Result};
use crate::memory::{COLUMNS, GrowingMemory, LINE, Memory, Write, write_of};
use crate::predicate::{Expression, Literal, Notes, Scope};
use crate::reading::{Call, Code, Recording, list};
use crate::spelling::Spelling;
use crate::value::{Key, Owner, Word};

/// How many calls a condition is evaluated in after a write: the one that made it, and its callers.
const MOST_CALLS: usize = 20;
/// How many calls that have the first variable are evaluated after a write of code that is not called by them.
const MOST_HOLDERS: usize = 40;
/// How many calls are remembered.
const MOST_KNOWN: usize = 20_000;

pub(super) struct Search<'a> {
    recording: &'a Recording,
    request: &'a FirstRequest<'a>,
    pub(super) condition: Expression,
    pub(super) roots: Vec<String>,
    /// It has one variable, and asks about its attributes only.
    is_about_attributes: bool,
    /// The names of the variables and attributes that the condition reads.
    names: HashSet<i64>,
    /// What evaluating it has noted.
    notes: RefCell<Notes>,
    /// Calls that were read from the recording, by their number.
    known: HashMap<i64, Rc<KnownCall>>,
    memory: GrowingMemory,
    /// The calls of modules, by what their variables belong to.
    modules: HashMap<Owner, i64>,
    /// The calls that have the first variable, the latest last.
    holders: Vec<Holder>,
    /// How often something was written that the condition may read.
    version: u64,
    /// The version for which the condition was last evaluated in a call, by the call's number.
    evaluated: HashMap<i64, u64>,
    /// For which variables it holds: what they belong to, and the call if there are others in the condition.
    holding: HashSet<(Owner, Option<i64>)>,
    /// How often it has begun to hold.
    pub(super) count: usize,
    /// It was evaluated in a call that has all its variables.
    is_asked: Cell<bool>,
    /// Another variable that was missing in such calls until then.
    lacking: RefCell<Option<String>>,
}

/// Where it holds.
pub(super) struct ConditionMatch {
    /// The last of the writes that made it so.
    pub(super) write: Write,
    /// The call that knows the variables that it is about.
    pub(super) call: Call,
    /// What the first of them belongs to: that call, one around a closure, or the module.
    pub(super) owner: Owner,
}

/// A call that has a variable, and the event at which it ends.
#[derive(Clone, Copy)]
struct Holder {
    call: i64,
    ended: Option<i64>,
}

/// A call, and where its names are looked up.
struct KnownCall {
    call: Call,
    is_wanted: bool,
    /// Its own variables, those of the calls around a closure, and those of its module.
    owners: Rc<[Owner]>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        recording: &'a Recording,
        request: &'a FirstRequest<'a>,
        condition: Expression,
    ) -> Result<Self> {
        let roots = condition.roots();
        if roots.is_empty() {
            return Err(Error::question(format!("`{}` has no variable in it", request.condition)));
        }
        // A variable that is not recorded, such as that of a comprehension, can be asked about by its attributes.
        let is_about_attributes =
            matches!(roots.as_slice(), [variable] if condition.about(variable, 0).is_some());
        if let Some(unknown) =
            roots.iter().find(|name| !is_about_attributes && recording.number(name).is_none())
        {
            let of_comprehension = comprehensions::note(recording, unknown, Some(request.condition));
            return Err(Error::question(of_comprehension.unwrap_or_else(|| {
                format!("no variable `{unknown}` was written in the run; check its spelling")
            })));
        }
        let first = roots.first().filter(|_| !is_about_attributes);
        if let Some(attribute) = first.map_or(Ok(None), |name| of_objects_only(recording, name))? {
            return Err(attribute);
        }
        let mut names = HashSet::new();
        condition.names(&mut |name| names.extend(recording.number(name)));
        let is_whole = condition.reads_whole_objects();
        Ok(Self {
            recording,
            request,
            condition,
            roots,
            is_about_attributes,
            names,
            notes: RefCell::default(),
            known: HashMap::new(),
            memory: if is_whole { GrowingMemory::of_whole_objects() } else { GrowingMemory::default() },
            modules: modules(recording)?,
            holders: Vec::new(),
            version: 0,
            evaluated: HashMap::new(),
            holding: HashSet::new(),
            count: 0,
            is_asked: Cell::new(false),
            lacking: RefCell::default(),
        })
    }

    /// Replays all writes. The condition is evaluated after all that were made before one event: a line may write several
    /// values.
    ///
    /// If it is not found, [`Self::count`] is how often the condition began to hold.
    pub(super) fn run(&mut self, occurrence: usize) -> Result<Option<ConditionMatch>> {
        let mut last: Option<(Write, i64)> = None;
        let (mut is_read, mut is_written) = (false, false);
        let recording = self.recording;
        // With the call that made each write.
        let mut statement = recording.database.prepare(&format!(
            "SELECT writes.*, coalesce(events.call, 0) FROM (SELECT {COLUMNS}, {LINE} AS line FROM writes) AS writes \
             LEFT JOIN events ON events.id = line ORDER BY writes.id"
        ))?;
        let mut rows = statement.query([])?;
        loop {
            let next = rows.next()?.map(|row| Ok::<_, Error>((write_of(row)?, row.get::<_, i64>(7)?)));
            let next = next.transpose()?;
            let is_complete =
                next.is_none_or(|(next, _)| last.is_some_and(|(last, _)| last.event != next.event));
            if let Some((write, call)) = last.filter(|_| is_complete) {
                let begun = self.begins_to_hold(call, write.event, is_read)?;
                // A variable that is only visible again held it before.
                for (call, owner) in begun.into_iter().filter(|_| is_written || !is_read) {
                    self.count += 1;
                    if self.count == occurrence {
                        return Ok(Some(ConditionMatch { write, call, owner }));
                    }
                }
                (is_read, is_written) = (false, false);
            }
            let Some((write, call)) = next else { return Ok(None) };
            let reads = self.reads(write);
            is_read |= reads;
            is_written |= reads && !write.is_shown_again;
            self.memory.write(write.owner, write.key, write.word);
            self.note_holder(write, call)?;
            last = Some((write, call));
        }
    }

    /// The variable whose attributes the condition is about, and all names in it; none if it is about anything else.
    pub(super) fn attributes(&self) -> Option<(&str, &HashSet<i64>)> {
        let variable = self.roots.first().filter(|_| self.is_about_attributes)?;
        Some((variable, &self.names))
    }

    /// Whether the condition may read what is kept there.
    fn reads(&self, write: Write) -> bool {
        matches!(write.key, Key::Name(name) if self.names.contains(&name))
            || write.owner.as_object().is_some_and(|object| self.notes.borrow().read.contains(&object))
    }

    /// The calls in which the condition begins to hold after the writes of a call at an event, that one, those around it,
    /// and others that have the variable, with what the first variable belongs to.
    fn begins_to_hold(&mut self, writer: i64, event: i64, is_read: bool) -> Result<Vec<(Call, Owner)>> {
        self.version += u64::from(is_read);
        if self.evaluated.get(&writer) == Some(&self.version) {
            return Ok(Vec::new());
        }
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
            self.evaluated.clear();
        }
        let mut begun = Vec::new();
        let mut wanted = 0;
        let mut next = writer;
        // What was there before the recording begins was written by none.
        if next == 0 {
            next = self.recording.event(self.recording.first_event()?)?.call;
        }
        while let Some(known) = self.known(next)?
            && wanted < MOST_CALLS
        {
            next = known.call.caller;
            wanted += usize::from(known.is_wanted);
            begun.extend(self.begins_in(&known)?);
        }
        // What a variable holds may be changed by code that has no such variable: another thread, or a call far below.
        if !is_read {
            return Ok(begun);
        }
        self.holders.retain(|holder| holder.ended.is_none_or(|ended| ended > event));
        let from = self.holders.len().saturating_sub(MOST_HOLDERS);
        for holder in self.holders.get(from..).unwrap_or_default().to_vec() {
            if self.evaluated.get(&holder.call) != Some(&self.version)
                && let Some(known) = self.known(holder.call)?
            {
                begun.extend(self.begins_in(&known)?);
            }
        }
        Ok(begun)
    }

    /// A call, if the condition begins to hold in it, with what the first variable belongs to.
    fn begins_in(&mut self, known: &KnownCall) -> Result<Option<(Call, Owner)>> {
        self.evaluated.insert(known.call.id, self.version);
        if !known.is_wanted {
            return Ok(None);
        }
        let Some((owner, holds)) = self.holds(known)? else { return Ok(None) };
        let key = (owner, (self.roots.len() > 1).then_some(known.call.id));
        if !holds {
            self.holding.remove(&key);
            return Ok(None);
        }
        Ok(self.holding.insert(key).then(|| (known.call.clone(), owner)))
    }

    fn note_holder(&mut self, write: Write, writer: i64) -> Result<()> {
        let root = self.roots.first().and_then(|root| self.recording.number(root));
        if write.owner.as_object().is_some() || root.map(Key::Name) != Some(write.key) {
            return Ok(());
        }
        let module = self.modules.get(&write.owner).copied();
        let call = module.unwrap_or(writer);
        let is_its = self.known(call)?.is_some_and(|known| known.call.owner == write.owner);
        if is_its && !self.holders.iter().any(|holder| holder.call == call) {
            let ended = "SELECT ended FROM calls WHERE id = ?";
            let ended: Option<i64> = self.recording.row(ended, [call], |row| row.get(0))?.flatten();
            // Variables of a module stay.
            let ended = ended.filter(|_| module.is_none());
            self.holders.push(Holder { call, ended: ended.filter(|ended| *ended > 0) });
        }
        Ok(())
    }

    fn known(&mut self, id: i64) -> Result<Option<Rc<KnownCall>>> {
        if let Some(known) = self.known.get(&id) {
            return Ok(Some(Rc::clone(known)));
        }
        let Some(call) = self.recording.call(id)? else { return Ok(None) };
        let owners = owners(self.recording, &call)?.into();
        let known = Rc::new(KnownCall { is_wanted: self.is_wanted(&call), owners, call });
        self.known.insert(id, Rc::clone(&known));
        Ok(Some(known))
    }

    fn is_wanted(&self, call: &Call) -> bool {
        let Some(code) = self.recording.codes.get(&call.code) else { return false };
        self.request.is_about(code)
    }

    /// What the first variable of the condition belongs to, and whether the condition holds. None where there is no such
    /// variable.
    fn holds(&self, known: &KnownCall) -> Result<Option<(Owner, bool)>> {
        let scope = Scope::new(self.recording, &self.memory, Rc::clone(&known.owners)).noting(&self.notes);
        let mut asked = None;
        for root in &self.roots {
            let Some((owner, key)) = scope.slot(&Expression::Name(root.clone()))? else { return Ok(None) };
            let word = self.memory.get(owner, key)?.unwrap_or(Word::Absent);
            // `total != 0` is true of a method `total`, too, and `state == State.DONE` has `State` in it, but neither
            // asks about these. `Shop.prices['pen'] < 0` does, if there is nothing else.
            if !is_declared(self.recording, root, word)? {
                asked = Some(owner);
                break;
            }
            if asked.is_none() && !self.condition.has_bare(root) {
                asked = Some(owner);
            }
        }
        let Some(owner) = asked else { return Ok(None) };
        let holds = scope.holds(&self.condition)?;
        if !self.is_asked.get() {
            self.note_lacking(&scope, holds)?;
        }
        Ok(Some((owner, holds.unwrap_or(false))))
    }

    /// Notes a variable that is missing where the first one is, until none is.
    fn note_lacking(&self, scope: &Scope<'_>, holds: Option<bool>) -> Result<()> {
        for root in self.roots.iter().skip(1).filter(|_| holds.is_none()) {
            if scope.slot(&Expression::Name(root.clone()))?.is_none() {
                *self.lacking.borrow_mut() = Some(root.clone());
                return Ok(());
            }
        }
        self.is_asked.set(true);
        Ok(())
    }

    /// A variable of the condition that is nowhere where the first is.
    fn lacking(&self) -> Option<String> {
        self.lacking.borrow().clone().filter(|_| !self.is_asked.get())
    }

    /// The condition about the only object that such a variable has in the run, as an enumeration that a compiler imports by
    /// another name, and what to say of that.
    pub(super) fn with_lacking(&self) -> Result<Option<(Expression, String)>> {
        let Some(lacking) = self.lacking() else { return Ok(None) };
        let Some(name) = self.recording.number(&lacking) else { return Ok(None) };
        let words = self.recording.rows(
            "SELECT DISTINCT value FROM writes WHERE key = ? AND owner & 1 = 0 AND value & 7 = 4 LIMIT 2",
            [Key::Name(name).stored()],
            |row| row.get(0).map(Word::of),
        )?;
        let [word @ Word::Object(object)] = words.as_slice() else { return Ok(None) };
        let is_it = |part: &Expression| matches!(part, Expression::Name(name) if *name == lacking);
        let about = Expression::Literal(Literal::Word(*word));
        let condition = self.condition.replaced(&|part| is_it(part).then(|| about.clone()));
        let name = self.recording.object_name(*object)?;
        Ok(Some((condition, format!("`{lacking}` is `{name}`, the only one in the run\n"))))
    }

    pub(super) fn never(&self) -> String {
        let variable = self.roots.first().map(String::as_str).unwrap_or_default();
        let condition = self.request.condition;
        let note = comprehensions::note(self.recording, variable, Some(condition));
        let note = note.map(|note| note + "\n").unwrap_or_default();
        if self.recording.number(variable).is_none() {
            return format!(
                "`{condition}` never holds in this run: no variable `{variable}` was written, and no object has such \
                 attributes.\n{note}"
            );
        }
        let lacking = self.lacking().map(|name| format!("; none of these has a variable `{name}`"));
        let (lacking, unknown) = (lacking.unwrap_or_default(), self.unknown());
        format!(
            "`{condition}` never holds in this run. Only values within the recording's limits are known, and only in calls \
             that have a variable `{variable}`{lacking}.{unknown}\n{note}"
        )
    }

    /// Sentences about the values for which evaluating the condition could not know whether it holds.
    pub(super) fn unknown(&self) -> String {
        let variable = self.roots.first().map(String::as_str).unwrap_or_default();
        let notes = self.notes.borrow();
        let unknown = [
            (&notes.opaque, "Only the text is recorded for", ""),
            (&notes.cut, "Only the first items are recorded for", ""),
            (&notes.unread, "Contents of", " are not recorded where they are too deep in other objects"),
            (&notes.methods, "What", " would have returned is not known"),
        ];
        let unknown = unknown
            .into_iter()
            .filter(|(names, ..)| !names.is_empty())
            .map(|(names, before, after)| {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                format!(" {before} {}{after}, so it may have held.", names.join(", "))
            })
            .collect::<Vec<_>>()
            .concat();
        let is_of_object = !self.condition.has_bare(variable) && self.recording.has_forked();
        let forked = if is_of_object {
            " What a forked process changes in objects of its parent is recorded without their variables, so it may have \
             held there."
        } else {
            ""
        };
        // Of strings, another limit is how long they are.
        let is_of_containers = notes.cut.iter().any(|name| **name != *self.recording.spelling.string());
        let limits = [("`items`", is_of_containers), ("`depth`", !notes.unread.is_empty())];
        let limits: Vec<&str> = limits.iter().filter(|(_, is_it)| *is_it).map(|(limit, _)| *limit).collect();
        let advice = match limits.join(" and ") {
            limits if limits.is_empty() => limits,
            limits => format!(" Record again with a higher {limits} to know."),
        };
        format!("{unknown}{forked}{advice}")
    }
}

/// The calls of modules, by what their variables belong to.
fn modules(recording: &Recording) -> Result<HashMap<Owner, i64>> {
    let modules = format!(
        "SELECT owner, id FROM calls WHERE code IN ({})",
        list(&recording.codes_where(Code::is_module))
    );
    let modules = recording.rows(&modules, [], |row| Ok((Owner(row.get(0)?), row.get(1)?)))?;
    Ok(modules.into_iter().collect())
}

/// That a name is only one of attributes, where it was taken for a variable.
fn of_objects_only(recording: &Recording, name: &str) -> Result<Option<Error>> {
    let Some(key) = recording.number(name).map(|number| Key::Name(number).stored()) else { return Ok(None) };
    let is_written = |of: &str| {
        recording.has_row(&format!("SELECT 1 FROM writes WHERE key = ? AND owner & 1 = {of} LIMIT 1"), [key])
    };
    Ok((!is_written("0")? && is_written("1")?).then(|| {
        let own = if recording.spelling == Spelling::Python { "self" } else { "this" };
        Error::question(format!(
            "no variable `{name}` was written in the run, only an attribute; ask about `{own}.{name}`, or that of another \
             variable"
        ))
    }))
}
