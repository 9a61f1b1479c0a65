//! Which functions and lines of two recorded programs correspond, if one of them was edited.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::definitions::{defined_name, is_definition};
use super::lines::pairs;
use crate::reading::{Code, Recording};
use crate::stack::base_name;

/// A line or a function, in terms of both runs: the number of a pair of files, and the line, that of the second version.
pub(super) type Spot = (usize, i64);

/// A line that ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// None if only one version has it.
    pub(super) spot: Option<Spot>,
    /// Its text is another one in the other version.
    pub(super) is_edited: bool,
    /// It was moved in its function or module.
    pub(super) is_moved: bool,
    /// It defines a function or a class, or is a decorator.
    pub(super) is_definition: bool,
}

/// A function that ran.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// None if only one version has it.
    pub(super) spot: Option<(Spot, Rc<str>)>,
    /// The other version has another text of its file.
    pub(super) is_in_edited_file: bool,
}

/// One of two programs, as compared with the other.
#[derive(Debug, Default)]
pub(super) struct Version {
    /// By the numbers of places.
    pub(super) lines: HashMap<i64, Line>,
    /// By the numbers of codes.
    pub(super) functions: HashMap<i64, Function>,
}

/// Two programs, as compared with each other.
#[derive(Debug, Default)]
pub(super) struct Versions {
    pub(super) both: [Version; 2],
    /// What differs in the sources, in a line for each file.
    pub(super) edits: Vec<String>,
    /// The names of functions and classes that were renamed, in the first and in the second version.
    pub(super) renamed: HashSet<(String, String)>,
    /// The folders of both versions.
    pub(super) roots: [String; 2],
}

/// Whether two functions correspond.
type Rule<'a> = &'a dyn Fn(&Code, &Code) -> bool;

/// Two versions of a file.
struct Files {
    /// The numbers of the file; none if only one run has it.
    numbers: [Option<i64>; 2],
    /// The lines of the second version for those of the first one, if these differ.
    lines: Option<HashMap<i64, i64>>,
    /// The lines of the second version that the first one has, too.
    known: HashSet<i64>,
    /// Lines that were edited, in the second version.
    edited: HashSet<i64>,
    /// The same for those that were moved.
    moved: HashSet<i64>,
}

impl Files {
    /// A line of one of the versions; none if only this one has it.
    fn line(&self, version: usize, line: i64) -> Option<i64> {
        match &self.lines {
            None => Some(line),
            Some(lines) if version == 0 => lines.get(&line).copied(),
            Some(_) => self.known.get(&line).copied(),
        }
    }
}

/// Compares the sources of two recordings.
pub(super) fn versions(one: &Recording, other: &Recording) -> Versions {
    let recordings = [one, other];
    let mut versions = Versions::default();
    let files = files(recordings, &mut versions);
    let found = &mut versions.both;
    let of_file = |version: usize, number: i64| {
        files.iter().enumerate().find(|(_, files)| files.numbers.get(version) == Some(&Some(number)))
    };
    for (version, (recording, found)) in recordings.into_iter().zip(found.iter_mut()).enumerate() {
        for (place, at) in recording.places_of(|_| true) {
            let Some(code) = recording.codes.get(&at.code) else { continue };
            let Some((number, files)) = of_file(version, code.file) else { continue };
            let line = files.line(version, at.line);
            let is_edited = line.is_some_and(|line| files.edited.contains(&line));
            // A module begins at no line.
            let begin = files.line(version, code.line).filter(|_| &*code.name != "<module>");
            let was_moved = |line: Option<i64>| line.is_some_and(|line| files.moved.contains(&line));
            let is_moved = was_moved(line) && !was_moved(begin);
            let is_definition = is_definition(recording.source(code, at.line));
            let spot = line.map(|line| (number, line));
            found.lines.insert(place, Line { spot, is_edited, is_moved, is_definition });
        }
    }
    for (number, files) in files.iter().enumerate() {
        let codes = |version: usize| -> Vec<(i64, &Code)> {
            let number = files.numbers.get(version).copied().flatten();
            let recording = recordings.get(version);
            let all = recording.into_iter().flat_map(|recording| &recording.codes);
            all.filter(|(_, code)| Some(code.file) == number).map(|(id, code)| (*id, code)).collect()
        };
        let (ours, theirs) = (codes(0), codes(1));
        let partners = partners(files, &ours, &theirs);
        let is_in_edited_file = files.lines.is_some();
        let [first, second] = &mut *found;
        for (id, code) in &ours {
            let partner = partners.iter().find(|(own, _)| own == id);
            let partner = partner.and_then(|(_, id)| theirs.iter().find(|(other, _)| other == id));
            let spot = match partner {
                Some((_, code)) => Some(((number, code.line), Rc::clone(&code.name))),
                None => files.line(0, code.line).map(|line| ((number, line), Rc::clone(&code.name))),
            };
            first.functions.insert(*id, Function { spot, is_in_edited_file });
        }
        for (id, code) in &theirs {
            let is_known =
                partners.iter().any(|(_, other)| other == id) || files.line(1, code.line).is_some();
            let spot = is_known.then(|| ((number, code.line), Rc::clone(&code.name)));
            second.functions.insert(*id, Function { spot, is_in_edited_file });
        }
    }
    versions
}

/// The functions of two versions of a file that correspond: those on the same line, those of the same name if there is
/// only one, and those on the same line that were renamed.
fn partners(files: &Files, ours: &[(i64, &Code)], theirs: &[(i64, &Code)]) -> Vec<(i64, i64)> {
    let mut found: Vec<(i64, i64)> = Vec::new();
    let on_line = |code: &Code, other: &Code| files.line(0, code.line) == Some(other.line);
    let is_only = |codes: &[(i64, &Code)], name: &str| {
        codes.iter().filter(|(_, code)| &*code.name == name).count() == 1
    };
    let rules: [Rule<'_>; 3] = [
        &|code, other| code.name == other.name && on_line(code, other),
        &|code, other| code.name == other.name && is_only(ours, &code.name) && is_only(theirs, &code.name),
        &|code, other| on_line(code, other),
    ];
    for is_same in rules {
        for (id, code) in ours {
            let is_free = |known: i64, found: &[(i64, i64)]| found.iter().all(|(_, other)| *other != known);
            if found.iter().any(|(known, _)| known == id) {
                continue;
            }
            let partner =
                theirs.iter().find(|(other, theirs)| is_same(code, theirs) && is_free(*other, &found));
            found.extend(partner.map(|(other, _)| (*id, *other)));
        }
    }
    found
}

/// The files of both runs, in pairs.
fn files(recordings: [&Recording; 2], versions: &mut Versions) -> Vec<Files> {
    let all = recordings.map(|recording| {
        let mut files: Vec<&Code> = recording.codes.values().collect();
        files.sort_unstable_by_key(|code| (code.path.matches('/').count(), code.file));
        files.dedup_by_key(|code| code.file);
        files
    });
    let [mut ours, mut theirs] = all;
    let mut found = Vec::new();
    let mut take = |is_same: &dyn Fn(&Code, &Code) -> bool| {
        ours.retain(|code| {
            let Some(at) = theirs.iter().position(|other| is_same(code, other)) else { return true };
            found.push((Some(*code), Some(theirs.remove(at))));
            false
        });
    };
    take(&|code, other| code.path == other.path);
    for parts in [3, 2, 1] {
        take(&|code, other| end_of(&code.path, parts) == end_of(&other.path, parts));
    }
    if let ([code], [other]) = (ours.as_slice(), theirs.as_slice()) {
        found.push((Some(*code), Some(*other)));
    } else {
        found.extend(ours.into_iter().map(|code| (Some(code), None)));
        found.extend(theirs.into_iter().map(|code| (None, Some(code))));
    }
    let mut both = found.iter().filter_map(|(first, second)| first.zip(*second));
    let moved = both.find(|(first, second)| first.path != second.path);
    versions.roots = moved.map(|(first, second)| roots(&first.path, &second.path)).unwrap_or_default();
    found.into_iter().map(|(first, second)| compared(recordings, first, second, versions)).collect()
}

/// The last parts of a path.
fn end_of(path: &str, parts: usize) -> Vec<&str> {
    path.rsplit('/').take(parts).collect()
}

/// The folders of two paths, apart from what both end with.
fn roots(first: &str, second: &str) -> [String; 2] {
    let same = first.rsplit('/').zip(second.rsplit('/')).take_while(|(part, other)| part == other).count();
    [first, second].map(|path| path.rsplitn(same + 1, '/').last().unwrap_or_default().to_owned())
}

/// Compares two versions of a file. One whose text is not known is taken for unchanged.
fn compared(
    [one, other]: [&Recording; 2],
    first: Option<&Code>,
    second: Option<&Code>,
    versions: &mut Versions,
) -> Files {
    let mut files = Files {
        numbers: [first.map(|code| code.file), second.map(|code| code.file)],
        lines: None,
        known: HashSet::new(),
        edited: HashSet::new(),
        moved: HashSet::new(),
    };
    let Some((first, second)) = first.zip(second) else { return files };
    let (ours, theirs) = (one.lines_of(first), other.lines_of(second));
    if ours == theirs || ours.is_empty() || theirs.is_empty() {
        return files;
    }
    let number = |at: usize| i64::try_from(at + 1).unwrap_or(i64::MAX);
    let mut lines = HashMap::new();
    let (ordered, moved) = pairs(ours, theirs);
    files.moved = moved.iter().map(|(_, to)| number(*to)).collect();
    let has_text = |at: usize| ours.get(at).is_some_and(|line| !line.trim().is_empty());
    let moved_texts = moved.iter().filter(|(at, _)| has_text(*at)).count();
    let mut indented = 0;
    for (at, to) in ordered.into_iter().chain(moved) {
        lines.insert(number(at), number(to));
        files.known.insert(number(to));
        let (Some(line), Some(other)) = (ours.get(at), theirs.get(to)) else { continue };
        if line.trim() != other.trim() {
            files.edited.insert(number(to));
            let names = defined_name(line).zip(defined_name(other)).filter(|(name, other)| name != other);
            versions.renamed.extend(names.map(|(name, other)| (name.to_owned(), other.to_owned())));
        } else if indentation(line) != indentation(other) {
            indented += 1;
        }
    }
    let only = |all: &[String], is_known: &dyn Fn(i64) -> bool| {
        let is_only = |(at, line): (usize, &String)| !line.trim().is_empty() && !is_known(number(at));
        all.iter().enumerate().filter(|line| is_only(*line)).count()
    };
    let counts = [
        (files.edited.len(), "edited"),
        (moved_texts, "moved"),
        (indented, "indented differently"),
        (only(ours, &|line| lines.contains_key(&line)), "only in the first run"),
        (only(theirs, &|line| files.known.contains(&line)), "only in the second run"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {} {what}", if count == 1 { "line" } else { "lines" }))
        .collect();
    let counts = if counts.is_empty() { "only spaces and empty lines".to_owned() } else { counts.join(", ") };
    versions.edits.push(format!("{}: {counts}", base_name(&second.path)));
    files.lines = Some(lines);
    files
}

fn indentation(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}
