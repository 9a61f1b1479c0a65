//! A run as a picture: the calls of each thread by depth over the numbers of events, and the values of a variable.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::memory::MemoryAt;
use crate::reading::Recording;
use crate::spans::{Change, Step, Track};
use crate::value::{Key, Owner, Word};

/// How many columns a picture has: what is narrower than one is drawn together.
const COLUMNS_OF_PICTURE: i64 = 1500;

/// Levels of calls that are drawn.
const MOST_DEPTH: usize = 60;

/// Exceptions that are drawn.
const MOST_THROWN: usize = 500;

/// Variables, attributes or items of one name, and steps of each, that are drawn.
const MOST_SERIES: usize = 6;
const MOST_STEPS: usize = 1000;

/// Characters of a value.
const VALUE: usize = 80;

/// A part of a run, from one event to another.
#[derive(Debug, Serialize)]
pub struct Timeline {
    command: String,
    end: String,
    /// The first and the last event of the recording.
    first: i64,
    last: i64,
    /// The part that is drawn.
    from: i64,
    to: i64,
    threads: Vec<Thread>,
}

#[derive(Debug, Serialize)]
struct Thread {
    name: String,
    spans: Vec<Span>,
    thrown: Vec<Thrown>,
    /// Where the calls that are active began.
    #[serde(skip)]
    open: Vec<i64>,
    /// The last span of each depth.
    #[serde(skip)]
    recent: BTreeMap<usize, usize>,
}

/// A call, or several that are too narrow to be drawn one by one.
#[derive(Debug, Serialize)]
struct Span {
    depth: usize,
    begin: i64,
    end: i64,
    name: String,
    /// `shop.py:12`.
    place: String,
    count: i64,
}

#[derive(Debug, Serialize)]
struct Thrown {
    at: i64,
    text: String,
}

/// The state at a moment.
#[derive(Debug, Serialize)]
pub struct State {
    /// The event that the moment is.
    event: i64,
    text: String,
}

/// The values that a variable or an attribute had, of one owner.
#[derive(Debug, Serialize)]
pub struct Series {
    /// `Cart #3`, or the function whose variable it is.
    owner: String,
    steps: Vec<Value>,
    /// The event with which the call ended whose variable it is.
    until: Option<i64>,
    /// There were more steps than these, which are evenly chosen.
    is_cut: bool,
}

#[derive(Debug, Serialize)]
struct Value {
    /// The event after which it had the value.
    at: i64,
    text: String,
    /// The value, if it is a number.
    number: Option<f64>,
}

/// The calls between two events; those of the whole run if none are given.
pub fn timeline(recording: &Recording, from: Option<i64>, to: Option<i64>) -> Result<Timeline> {
    let (first, last) = (recording.first_event()?, recording.last_event()?);
    let from = from.unwrap_or(first).clamp(first, last.max(first));
    let to = to.unwrap_or(last + 1).clamp(from + 1, last.max(from) + 1);
    let mut threads: BTreeMap<Track, Thread> = BTreeMap::new();
    for track in recording.tracks()? {
        let name = recording.full_track_name(track)?;
        threads.insert(
            track,
            Thread { name, spans: Vec::new(), thrown: Vec::new(), open: Vec::new(), recent: BTreeMap::new() },
        );
    }
    let narrow = (to - from) / COLUMNS_OF_PICTURE;
    recording.walk(None, &mut |step| {
        let Some(thread) = threads.get_mut(&step.track) else { return Ok(()) };
        match step.change {
            Change::Begin => thread.open.push(step.at),
            Change::End => {
                let begin = thread.open.pop().unwrap_or(step.at);
                if begin < to && step.at > from {
                    thread.add(recording, begin, step, narrow);
                }
            }
            Change::Throw if (from..to).contains(&step.at) && thread.thrown.len() < MOST_THROWN => {
                let text = crate::ask::exception(recording, &recording.event(step.at)?)?;
                thread.thrown.push(Thrown { at: step.at, text });
            }
            Change::Throw => {}
        }
        Ok(())
    })?;
    let threads = threads.into_values().filter(|thread| !thread.spans.is_empty()).collect();
    let (command, end) = (recording.fact("command")?, recording.fact("end")?);
    Ok(Timeline { command, end, first, last, from, to, threads })
}

impl Thread {
    /// Adds a call that has ended, or makes one before it wider.
    fn add(&mut self, recording: &Recording, begin: i64, step: &Step, narrow: i64) {
        let (depth, end) = (self.open.len(), step.at);
        if depth >= MOST_DEPTH {
            return;
        }
        let is_narrow = end - begin < narrow;
        let near = self.recent.get(&depth).and_then(|at| self.spans.get_mut(*at));
        let is_near = |near: &&mut Span| begin - near.end < narrow && near.end - near.begin < 4 * narrow;
        if let Some(near) = near.filter(|near| is_narrow && is_near(near)) {
            near.end = end;
            near.count += 1;
            return;
        }
        let code = recording.codes.get(&step.code);
        let (name, place) = code.map_or_else(Default::default, |code| (code.name.to_string(), code.place()));
        self.recent.insert(depth, self.spans.len());
        self.spans.push(Span { depth, begin, end, name, place, count: 1 });
    }
}

/// The stack, variables and output at a moment; without one, where the program failed, or at its end.
pub fn state(recording: &Recording, at: Option<&str>) -> Result<State> {
    Ok(State { event: recording.moment_or_last(at)?.id, text: crate::ask::state(recording, at)? })
}

/// The values of all variables of a name, or of all attributes if it begins with something and a dot. Those with most
/// changes come first.
pub fn values(recording: &Recording, target: &str) -> Result<Vec<Series>> {
    let target = target.trim();
    let (is_attribute, name) = target.rsplit_once('.').map_or((false, target), |(_, name)| (true, name));
    let number = recording.number(name).ok_or_else(|| {
        Error::question(format!(
            "no variable or attribute `{name}` was written in the run; check its spelling"
        ))
    })?;
    let of_name = (Key::Name(number).stored(), is_attribute);
    let mut found: BTreeMap<Owner, Vec<_>> = BTreeMap::new();
    for write in recording.writes("WHERE key = ? AND owner & 1 = ? ORDER BY id", of_name)? {
        if !crate::ask::is_definition(recording, write.key, write.word)? {
            found.entry(write.owner).or_default().push(write);
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, writes)| std::cmp::Reverse(writes.len()));
    let mut series = Vec::new();
    for (owner, writes) in found.into_iter().take(MOST_SERIES) {
        let is_cut = writes.len() > MOST_STEPS;
        let steps = writes.iter().step_by(writes.len().div_ceil(MOST_STEPS).max(1)).map(|write| {
            let memory = MemoryAt { recording, event: write.event + 1 };
            let text = recording.value_text(write.word, &memory, 1, VALUE)?;
            let number = match write.word {
                Word::Integer(_) | Word::Atom(_) => {
                    text.parse().ok().filter(|number: &f64| number.is_finite())
                }
                _ => None,
            };
            Ok(Value { at: write.event, text, number })
        });
        let steps = steps.collect::<Result<_>>()?;
        let (owner, until) = recording.owner_text(owner)?;
        series.push(Series { owner, steps, until, is_cut });
    }
    Ok(series)
}

impl Recording {
    /// `Cart #3`, or the function of a call with the event at which it began, and the one at which it ended.
    fn owner_text(&self, owner: Owner) -> Result<(String, Option<i64>)> {
        if let Some(object) = owner.as_object() {
            return Ok((self.object_name(object)?, None));
        }
        let call = "SELECT code, entered, ended FROM calls WHERE owner = ? LIMIT 1";
        let call = self.row(call, [owner.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let Some((code, entered, ended)): Option<(i64, i64, Option<i64>)> = call else {
            return Ok(("?".to_owned(), None));
        };
        let name = self.codes.get(&code).map_or("?", |code| &code.name);
        // Variables of a module stay.
        let ended = ended.filter(|_| name != "<module>");
        Ok((format!("{name} (event {entered})"), ended))
    }
}
