//! Breakpoints: which line each is bound to, and which were hit.

use std::collections::BTreeSet;
use std::path::Path;

use ::dap::SetBreakpointsArguments;
use ::dbgp::{Command, Element};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

use super::agent::Failure;
use super::server::Server;
use crate::sources::not_loaded;

/// What stays as it is in the address of a file.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// What the client has asked for.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) set: Vec<Set>,
    last: i64,
}

/// A breakpoint of Xdebug's.
#[derive(Clone, Debug)]
pub(super) struct Set {
    /// Our number for it.
    pub(super) id: i64,
    /// Xdebug's.
    pub(super) number: Option<String>,
    pub(super) target: Target,
    pub(super) kind: Kind,
    /// What was requested: the line or the name, and the condition.
    pub(super) wanted: (String, Option<String>),
    /// The line that it is on, once it is bound.
    pub(super) line: Option<i64>,
}

/// What a breakpoint of Xdebug's is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Line,
    Function,
    /// The calls of a method for the objects of a class, once its first line has stopped for one.
    Entered,
}

/// What a breakpoint of Xdebug's is on. It takes one for each, so several breakpoints may share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A line that was requested, in a file.
    Line(String, i64),
    /// A call, by the class, which is that of the object, and the name of the function.
    Call(Option<String>, String),
}

impl Set {
    /// The file whose breakpoints it belongs to; none for a function.
    fn file(&self) -> Option<&str> {
        match &self.target {
            Target::Line(file, _) if self.kind == Kind::Line => Some(file),
            _ => None,
        }
    }

    /// Whether it is bound to this line.
    pub(super) fn is_at(&self, file: Option<&str>, line: Option<i64>) -> bool {
        let is_in_file = matches!(&self.target, Target::Line(at, _) if Some(at.as_str()) == file);
        is_in_file && self.line.is_some() && self.line == line
    }

    /// It is on the first line of a method.
    pub(super) fn is_entry(&self) -> bool {
        self.kind == Kind::Function && matches!(self.target, Target::Line(..))
    }
}

/// The address of a file.
fn address(path: &str) -> String {
    format!("file://{}", utf8_percent_encode(path, PATH))
}

/// The file of an address.
pub(super) fn path_of(address: &str) -> String {
    let path = address.strip_prefix("file://").unwrap_or(address);
    percent_decode_str(path).decode_utf8_lossy().into_owned()
}

impl Table {
    /// Our numbers for the breakpoints that a stop is at. Xdebug names one of those on a line.
    pub(super) fn hits(&self, element: &Element, message: &Element, is_pause: bool) -> Vec<i64> {
        let number = element.child("breakpoint").and_then(|hit| hit.attribute("id"));
        // A pause stops the program before the breakpoints of its line.
        if number.is_none() && !is_pause {
            return Vec::new();
        }
        let file = message.attribute("filename").map(path_of);
        let line = message.number::<i64>("lineno");
        let is_hit = |set: &&Set| {
            set.is_at(file.as_deref(), line) || number.is_some() && set.number.as_deref() == number
        };
        let mut hits: Vec<i64> = Vec::new();
        for set in self.set.iter().filter(is_hit) {
            if !hits.contains(&set.id) {
                hits.push(set.id);
            }
        }
        hits
    }

    pub(super) fn take(&mut self, file: Option<&str>) -> Vec<Set> {
        let (taken, kept) = std::mem::take(&mut self.set).into_iter().partition(|set| set.file() == file);
        self.set = kept;
        taken
    }

    pub(super) fn number(&mut self) -> i64 {
        self.last += 1;
        self.last
    }
}

impl Server {
    /// Replaces the breakpoints of a file.
    pub(super) async fn set_in_source(&mut self, wanted: &SetBreakpointsArguments) -> Result<Value, Failure> {
        let file = wanted.source.path.clone().unwrap_or_default();
        let hold = self.hold().await?;
        let mut before = self.breakpoints.take(Some(&file));
        let mut kept = Vec::with_capacity(wanted.breakpoints.len());
        for one in &wanted.breakpoints {
            let asked = (one.line.to_string(), one.condition.clone());
            let known = before.iter().position(|set| set.wanted == asked && set.line.is_some());
            let known = known.map(|at| before.swap_remove(at));
            self.breakpoints.set.extend(known.clone());
            kept.push((one.line, asked, known));
        }
        // There can be only one on a line.
        self.remove(before).await?;
        let mut answers = Vec::with_capacity(kept.len());
        for (line, asked, known) in kept {
            let set = match known {
                Some(set) => set,
                None => match self.set_line(&file, line, asked).await {
                    Ok(set) => {
                        self.breakpoints.set.push(set.clone());
                        set
                    }
                    Err(Failure::Refused(message)) => {
                        answers.push(json!({ "verified": false, "message": message }));
                        continue;
                    }
                    Err(Failure::Lost) => return Err(Failure::Lost),
                },
            };
            answers.push(self.answer_for(&set).await?);
        }
        self.release(hold).await?;
        Ok(json!({ "breakpoints": answers }))
    }

    pub(super) async fn set_line(
        &mut self,
        file: &str,
        line: i64,
        wanted: (String, Option<String>),
    ) -> Result<Set, Failure> {
        let target = Target::Line(file.to_owned(), line);
        let sharing: Vec<&Set> = self.breakpoints.set.iter().filter(|set| set.target == target).collect();
        let known = sharing.first().map(|set| (set.number.clone(), set.line));
        let stops_always = sharing.iter().any(|set| set.wanted.1.is_none());
        let (number, bound) = match known {
            Some(known) if stops_always => known,
            Some((number, _)) => {
                // Conditions are applied again at the stop.
                if let Some(number) = number {
                    self.command(Command::new("breakpoint_remove").with('d', number)).await?;
                }
                let bound = self.bind(file, line, None).await?;
                for set in self.breakpoints.set.iter_mut().filter(|set| set.target == target) {
                    set.number.clone_from(&bound.0);
                }
                bound
            }
            None => self.bind(file, line, wanted.1.as_deref()).await?,
        };
        let id = self.breakpoints.number();
        Ok(Set { id, number, target, kind: Kind::Line, wanted, line: bound })
    }

    /// Sets a breakpoint of Xdebug's on a line: its number, and the line that it is bound to.
    async fn bind(
        &mut self,
        file: &str,
        line: i64,
        condition: Option<&str>,
    ) -> Result<(Option<String>, Option<i64>), Failure> {
        let kind = if condition.is_some() { "conditional" } else { "line" };
        let mut set = Command::new("breakpoint_set").with('t', kind).with('f', address(file)).with('n', line);
        if let Some(condition) = condition {
            set = set.data(&super::agent::of_condition(condition, (file, line)));
        }
        let answer = self.command(set).await?;
        let number = answer.attribute("id").map(str::to_owned);
        let line = match &number {
            Some(number) if answer.attribute("resolved") != Some("unresolved") => {
                self.line_of(number).await?
            }
            _ => None,
        };
        Ok((number, line))
    }

    /// The line that a breakpoint is bound to.
    async fn line_of(&mut self, number: &str) -> Result<Option<i64>, Failure> {
        let known = self.command(Command::new("breakpoint_get").with('d', number)).await?;
        let known = known.child("breakpoint");
        let is_bound = |known: &&Element| known.attribute("resolved") != Some("unresolved");
        Ok(known.filter(is_bound).and_then(|known| known.number("lineno")))
    }

    pub(super) async fn answer_for(&mut self, set: &Set) -> Result<Value, Failure> {
        if let Some(line) = set.line {
            return Ok(
                json!({ "id": set.id, "verified": true, "line": line, "source": { "path": set.file() } }),
            );
        }
        let message = match set.file() {
            Some(file) => {
                let loaded = self.call("\\get_included_files()").await?;
                let loaded: Vec<&str> =
                    loaded.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                if loaded.contains(&file) {
                    "no code on this line or near it".to_owned()
                } else {
                    // A library's file of the same name may be there in its place.
                    let file = Path::new(file);
                    let is_near =
                        |path: &Path| !self.adapter.is_internal(path) || path.file_name() == file.file_name();
                    let near = loaded.into_iter().filter(|path| is_near(Path::new(path)));
                    not_loaded(file, near.map(str::to_owned).collect())
                }
            }
            None => format!(
                "the program has not loaded a function `{}`; one that is loaded later from outside of the program's \
                 folder needs its whole name, such as `Shop\\Cart.total`, or `file`",
                set.wanted.0
            ),
        };
        Ok(json!({ "id": set.id, "verified": false, "message": message }))
    }

    /// The program is at its end: what it has not loaded by now it never will.
    pub(super) async fn report_unbound(&mut self) -> Result<(), Failure> {
        let unbound = self.breakpoints.set.iter().filter(|set| set.line.is_none() && set.kind == Kind::Line);
        for set in unbound.cloned().collect::<Vec<_>>() {
            match self.answer_for(&set).await {
                Ok(breakpoint) => {
                    self.event("breakpoint", json!({ "reason": "changed", "breakpoint": breakpoint }))
                        .await?;
                }
                Err(Failure::Lost) => return Err(Failure::Lost),
                Err(Failure::Refused(_)) => {}
            }
        }
        Ok(())
    }

    /// Removes what others do not share.
    pub(super) async fn remove(&mut self, sets: Vec<Set>) -> Result<(), Failure> {
        let numbers: BTreeSet<String> = sets.into_iter().filter_map(|set| set.number).collect();
        for number in numbers {
            let is_shared = self.breakpoints.set.iter().any(|set| set.number.as_ref() == Some(&number));
            if !is_shared {
                self.command(Command::new("breakpoint_remove").with('d', number)).await?;
            }
        }
        Ok(())
    }

    /// A file was loaded, and with it a breakpoint became one.
    pub(super) async fn resolved(&mut self, notice: &Element) -> Result<(), Failure> {
        let Some(known) = notice.child("breakpoint") else { return Ok(()) };
        let number = known.attribute("id");
        let line = known.number::<i64>("lineno");
        let file = known.attribute("filename").map(path_of);
        let is_new = |set: &&mut Set| set.number.as_deref() == number && set.line != line;
        let mut bound = Vec::new();
        for set in self.breakpoints.set.iter_mut().filter(is_new) {
            set.line = line;
            let file = set.file().map(str::to_owned).or_else(|| file.clone());
            bound.push(json!({ "id": set.id, "verified": true, "line": line, "source": { "path": file } }));
        }
        for breakpoint in bound {
            self.event("breakpoint", json!({ "reason": "changed", "breakpoint": breakpoint })).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses_are_the_same_files() {
        for (path, expected) in
            [("/a/b.php", "file:///a/b.php"), ("/a b/ü#.php", "file:///a%20b/%C3%BC%23.php")]
        {
            assert_eq!(address(path), expected);
            assert_eq!(path_of(expected), path);
        }
    }
}
