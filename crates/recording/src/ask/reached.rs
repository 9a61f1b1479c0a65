//! Whether lines and functions were reached, how often, and with what.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Row;

use super::comprehensions::statement_around;
use super::text::{Lines, times};
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryAt};
use crate::reading::{Code, Recording, is_file, list};
use crate::spelling::Spelling;
use crate::stack::base_name;
use crate::text::cut;
use crate::value::{Key, OUTER, Owner, What, Word};

/// Results of a function that are shown.
const MOST_RESULTS: usize = 5;

/// Characters of the lines of a file.
const MOST_RANGES: usize = 700;

/// How often a line, a function or the lines of a file were reached.
///
/// A target is `FILE:LINE`, `FILE`, `FILE:FUNCTION` or the name of a function.
pub fn reached(recording: &Recording, target: &str) -> Result<String> {
    let target = target.trim();
    if let Some((file, line)) = target.rsplit_once(':')
        && let Ok(line) = line.parse()
    {
        return line_hits(recording, file, line);
    }
    let of_file = recording.places_of(|code| is_file(&code.path, target));
    if !of_file.is_empty() {
        let places: Vec<i64> = of_file.iter().map(|(place, _)| *place).collect();
        return file_hits(recording, &places);
    }
    match target.rsplit_once(':') {
        Some((file, function)) => function_calls(recording, Some(file), function),
        None => function_calls(recording, None, target),
    }
}

/// How often places were reached, and the first and the last time, by what they are called: each process numbers
/// the same line differently.
fn counts(recording: &Recording, places: &[i64]) -> Result<BTreeMap<String, (i64, i64, i64)>> {
    let hits = format!(
        "SELECT place, count(*), min(id), max(id) FROM events WHERE kind = 0 AND place IN ({}) GROUP BY place",
        list(places)
    );
    let mut found: BTreeMap<String, (i64, i64, i64)> = BTreeMap::new();
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get(2)?, row.get(3)?));
    for (place, hits, first, last) in recording.rows(&hits, [], read)? {
        let (all, earliest, latest) = found.entry(recording.place_text(place)).or_insert((0, first, last));
        *all += hits;
        (*earliest, *latest) = ((*earliest).min(first), (*latest).max(last));
    }
    Ok(found)
}

fn line_hits(recording: &Recording, file: &str, line: i64) -> Result<String> {
    let mut lines = Lines::default();
    let mut places = recording.places_at(file, line);
    let gap = recording.gap()?;
    if let Some(begin) = statement_around(recording, file, line).filter(|_| places.is_empty()) {
        lines.add(recording.not_reached(file, line));
        places = recording.places_at(file, begin);
    }
    if places.is_empty() {
        let gap = gap.map(|gap| format!("; {gap}")).unwrap_or_default();
        return Ok(format!("{}{gap}\n", recording.not_reached(file, line)));
    }
    let counts = counts(recording, &places)?;
    if counts.is_empty() {
        lines.add(format!("{file}:{line} was reached only before event {}", recording.first_event()?));
    }
    for (text, (hits, first, last)) in counts {
        lines.add(format!("{text} was reached {}, first at event {first}, last at {last}", times(hits)));
    }
    if let Some(gap) = gap {
        lines.add(gap);
    }
    Ok(lines.finish())
}

fn file_hits(recording: &Recording, places: &[i64]) -> Result<String> {
    let mut lines = Lines::default();
    lines.add(format!("lines that ran: {}", ranges(recording, places)));
    lines.add("lines that ran, by hits:");
    let mut by_hits: Vec<(String, (i64, i64, i64))> = counts(recording, places)?.into_iter().collect();
    by_hits.sort_by_key(|(_, (hits, first, _))| (-hits, *first));
    for (text, (hits, ..)) in by_hits {
        lines.add(format!("{hits:>8}  {text}"));
    }
    Ok(lines.finish())
}

/// The lines of places, by file: `shop.py 1-3, 7`.
fn ranges(recording: &Recording, places: &[i64]) -> String {
    let mut files: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
    for (code, line) in places.iter().filter_map(|place| recording.place(Some(*place))) {
        files.entry(&code.path).or_default().insert(line);
    }
    let texts = files.into_iter().map(|(path, lines)| {
        let lines: Vec<i64> = lines.into_iter().collect();
        let ranges = lines.chunk_by(|line, next| *next == line + 1).map(|range| match range {
            [first, .., last] => format!("{first}-{last}"),
            _ => range.iter().map(i64::to_string).collect(),
        });
        format!("{} {}", base_name(path), ranges.collect::<Vec<_>>().join(", "))
    });
    cut(texts.collect::<Vec<_>>().join("; "), MOST_RANGES)
}

fn function_calls(recording: &Recording, file: Option<&str>, name: &str) -> Result<String> {
    let (asked, name) = (name, recorded_name(recording, name));
    // Each process numbers the same function differently.
    let mut codes: BTreeMap<(&str, &str, i64), Vec<i64>> = BTreeMap::new();
    for (id, code) in &recording.codes {
        let is_in_file = file.is_none_or(|file| is_file(&code.path, file));
        if is_in_file && is_named(code, name) {
            codes.entry((&code.path, &code.name, code.line)).or_default().push(*id);
        }
    }
    if codes.is_empty() {
        return Err(not_called(recording, name));
    }
    let mut lines = Lines::default();
    if name != asked {
        lines.add(format!("no function is recorded as `{asked}`; each that is named `{name}`:"));
    }
    for ((_, name, _), codes) in codes {
        match codes.first().and_then(|id| recording.codes.get(id)).filter(|code| is_class(recording, code)) {
            Some(class) => class_calls(recording, class, &mut lines)?,
            None => one_function(recording, name, &codes, &mut lines)?,
        }
    }
    Ok(lines.finish())
}

/// Whether a code is a function of this name.
pub(super) fn is_named(code: &Code, name: &str) -> bool {
    &*code.name == name || code.last_name() == name
}

/// The name of a function as it is recorded: that of a method in Python before 3.11, and of a function of JavaScript that is
/// assigned to a property, does not say what it belongs to.
pub(super) fn recorded_name<'n>(recording: &Recording, name: &'n str) -> &'n str {
    let Some((of, last)) = name.rsplit_once('.') else { return name };
    let is_there = |is_it: &dyn Fn(&Code) -> bool| recording.codes.values().any(is_it);
    // Whether methods are recorded with what they belong to: in Python, all or none.
    let is_said = |code: &Code| match code.name.rsplit_once('.') {
        Some((owner, _)) => recording.spelling == Spelling::Python || owner == of,
        None => false,
    };
    let is_other = is_there(&|code| is_named(code, name) || is_said(code));
    if !is_other && is_there(&|code| &*code.name == last) { last } else { name }
}

/// That no function of this name ran.
pub(super) fn not_called(recording: &Recording, name: &str) -> Error {
    let mut names: Vec<&str> = recording.codes.values().map(|code| &*code.name).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(30);
    let known = names.join(", ");
    Error::question(format!("no function `{name}` was called; functions that were: {known}"))
}

/// Whether a code is the body of a class, which runs once, where the class is made.
fn is_class(recording: &Recording, code: &Code) -> bool {
    let first = usize::try_from(code.line - 1).unwrap_or(usize::MAX);
    let lines = recording.lines_of(code).iter().skip(first).map(|line| line.trim_start());
    let mut lines =
        lines.skip_while(|line| !["class ", "def ", "async "].iter().any(|word| line.starts_with(word)));
    recording.spelling == Spelling::Python
        && !code.name.ends_with('>')
        && lines.next().is_some_and(|line| line.starts_with("class "))
}

/// Of a class, how often its own `__init__` was called, and which of its functions were.
fn class_calls(recording: &Recording, class: &Code, lines: &mut Lines) -> Result<()> {
    let own = format!("{}.", class.name);
    let is_own = |code: &&Code| {
        code.path == class.path && code.name.strip_prefix(&own).is_some_and(|name| !name.contains('.'))
    };
    let mut names: Vec<&str> = recording.codes.values().filter(is_own).map(|code| &*code.name).collect();
    names.sort_unstable();
    names.dedup();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    lines.add(format!("{} is a class; functions of it that were called: {known}", class.name));
    let init = format!("{own}__init__");
    let ids = recording.codes_where(|code| code.path == class.path && *code.name == *init);
    if ids.is_empty() { Ok(()) } else { one_function(recording, &init, &ids, lines) }
}

fn one_function(recording: &Recording, name: &str, codes: &[i64], lines: &mut Lines) -> Result<()> {
    // Those that a forked process has from its parent were called there.
    let calls = format!(
        "SELECT id, owner, entered FROM calls WHERE code IN ({}) \
         AND (SELECT value FROM events WHERE events.id = entered) IS NULL ORDER BY entered",
        list(codes)
    );
    let read = |row: &Row<'_>| Ok((row.get(0)?, Owner(row.get(1)?), row.get::<_, i64>(2)?));
    let mut calls = recording.rows(&calls, [], read)?;
    let begin = recording.first_event()?;
    calls.retain(|(_, _, entered)| *entered >= begin);
    let count = i64::try_from(calls.len()).unwrap_or(i64::MAX);
    let since = if begin > 1 { format!(" from event {begin} on") } else { String::new() };
    lines.add(format!("{name} was called {}{since}", times(count)));
    if calls.is_empty() {
        return Ok(());
    }
    let mut seen: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for (_, owner, entered) in calls.iter().take(10_000) {
        let text = arguments(recording, *owner, *entered)?;
        seen.entry(text).or_insert((0, *entered)).0 += 1;
    }
    let mut seen: Vec<(String, (i64, i64))> = seen.into_iter().collect();
    seen.sort_by_key(|(_, (count, first))| (-count, *first));
    for (text, (count, first)) in &seen {
        lines.add(format!("{count:>6} ×  ({text})  first at event {first}"));
    }
    let ends = ends(recording, &calls)?;
    lines.add(format!("ended by {ends}"));
    Ok(())
}

/// The arguments of a call: what was written before its first line.
pub(crate) fn arguments(recording: &Recording, owner: Owner, entered: i64) -> Result<String> {
    let memory = MemoryAt { recording, event: entered + 1 };
    let mut parts = Vec::new();
    for write in recording.writes("WHERE owner = ? AND event = ? ORDER BY id LIMIT 10", [owner.0, entered])? {
        let name = recording.key_text(write.key);
        if name == OUTER {
            continue;
        }
        let value = value_in_brief(recording, write.word, &memory)?;
        parts.push(format!("{name}={value}"));
    }
    Ok(parts.join(", "))
}

/// A value; of an object, what it has in common with others: its type and length.
fn value_in_brief(recording: &Recording, word: Word, memory: &MemoryAt<'_>) -> Result<String> {
    let Word::Object(number) = word else { return recording.value_text(word, memory, 0, 60) };
    let type_name = recording.object(number)?.type_name;
    Ok(match memory.get(Owner::object(number), Key::Length)? {
        Some(Word::Integer(length)) => format!("{type_name} of {length}"),
        _ => type_name.to_string(),
    })
}

/// How calls ended, and with which results unless all returned the same nothing.
fn ends(recording: &Recording, calls: &[(i64, Owner, i64)]) -> Result<String> {
    let (mut returns, mut exceptions, mut other) = (0, 0, 0);
    let mut results: BTreeMap<String, i64> = BTreeMap::new();
    let end = "SELECT events.kind, events.id, events.value FROM calls JOIN events ON events.id = calls.ended \
               WHERE calls.id = ?";
    let read =
        |row: &Row<'_>| Ok((What::of(row.get(0)?), row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?));
    for (call, ..) in calls.iter().take(10_000) {
        match recording.row(end, [call], read)? {
            Some((What::Return, event, value)) => {
                returns += 1;
                let word = value.map_or(Word::None, Word::of);
                let text = value_in_brief(recording, word, &MemoryAt { recording, event: event + 1 })?;
                *results.entry(text).or_default() += 1;
            }
            Some((What::Unwind, ..)) => exceptions += 1,
            _ => other += 1,
        }
    }
    let mut parts = vec![format!("return: {returns}"), format!("exception: {exceptions}")];
    if other > 0 {
        parts.push(format!("not ended: {other}"));
    }
    let ends = parts.join(", ");
    let mut results: Vec<(String, i64)> = results.into_iter().collect();
    results.sort_by_key(|(_, count)| -count);
    let shown: Vec<String> =
        results.iter().take(MOST_RESULTS).map(|(text, count)| format!("{text} ({count} ×)")).collect();
    let more = if results.len() > MOST_RESULTS { ", ..." } else { "" };
    if results.iter().all(|(text, _)| ["None", "undefined"].contains(&text.as_str())) {
        return Ok(ends);
    }
    Ok(format!("{ends}\nreturned {}{more}", shown.join(", ")))
}
