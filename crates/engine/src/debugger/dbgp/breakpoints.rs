//! Breakpoints: which line each is bound to, and which were hit.

use std::path::Path;

use ::dap::{SetBreakpointsArguments, SetFunctionBreakpointsArguments};
use ::dbgp::{Command, Element};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

use super::agent::Failure;
use super::server::Server;
use crate::adapter::php::literal;
use crate::sources::not_loaded;

/// What stays as it is in the address of a file.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// What the client has asked for.
#[derive(Debug, Default)]
pub(super) struct Table {
    set: Vec<Set>,
    last: i64,
}

/// A breakpoint of Xdebug's.
#[derive(Clone, Debug)]
struct Set {
    /// Our number for it.
    id: i64,
    /// Xdebug's; none for a function that is not loaded yet.
    number: Option<String>,
    /// The file; none for a function.
    file: Option<String>,
    /// What was asked for: the line or the name, and the condition.
    wanted: (String, Option<String>),
    /// The line that it is on, once it is bound.
    line: Option<i64>,
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
        // A pause stops the program in front of the breakpoints of its line.
        if number.is_none() && !is_pause {
            return Vec::new();
        }
        let file = message.attribute("filename").map(path_of);
        let line = message.number::<i64>("lineno");
        let is_hit = |set: &&Set| {
            let is_here = set.file.is_some() && set.file == file && set.line.is_some() && set.line == line;
            is_here || number.is_some() && set.number.as_deref() == number
        };
        self.set.iter().filter(is_hit).map(|set| set.id).collect()
    }

    fn take(&mut self, file: Option<&str>) -> Vec<Set> {
        let (taken, kept) =
            std::mem::take(&mut self.set).into_iter().partition(|set| set.file.as_deref() == file);
        self.set = kept;
        taken
    }

    fn number(&mut self) -> i64 {
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
            kept.push((one.line, asked, known.map(|at| before.swap_remove(at))));
        }
        // There can be only one on a line.
        self.remove(before).await?;
        let mut answers = Vec::with_capacity(kept.len());
        for (line, asked, known) in kept {
            let set = match known {
                Some(set) => set,
                None => match self.set_line(&file, line, asked).await {
                    Ok(set) => set,
                    Err(Failure::Refused(message)) => {
                        answers.push(json!({ "verified": false, "message": message }));
                        continue;
                    }
                    Err(Failure::Lost) => return Err(Failure::Lost),
                },
            };
            answers.push(self.answer_for(&set).await?);
            self.breakpoints.set.push(set);
        }
        self.release(hold).await?;
        Ok(json!({ "breakpoints": answers }))
    }

    async fn set_line(
        &mut self,
        file: &str,
        line: i64,
        wanted: (String, Option<String>),
    ) -> Result<Set, Failure> {
        let kind = if wanted.1.is_some() { "conditional" } else { "line" };
        let mut set = Command::new("breakpoint_set").with('t', kind).with('f', address(file)).with('n', line);
        if let Some(condition) = &wanted.1 {
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
        Ok(Set { id: self.breakpoints.number(), number, file: Some(file.to_owned()), wanted, line })
    }

    /// The line that a breakpoint is bound to.
    async fn line_of(&mut self, number: &str) -> Result<Option<i64>, Failure> {
        let known = self.command(Command::new("breakpoint_get").with('d', number)).await?;
        let known = known.child("breakpoint");
        let is_bound = |known: &&Element| known.attribute("resolved") != Some("unresolved");
        Ok(known.filter(is_bound).and_then(|known| known.number("lineno")))
    }

    async fn answer_for(&mut self, set: &Set) -> Result<Value, Failure> {
        if let Some(line) = set.line {
            return Ok(
                json!({ "id": set.id, "verified": true, "line": line, "source": { "path": set.file } }),
            );
        }
        let message = match &set.file {
            Some(file) => {
                let loaded = self.call("\\get_included_files()").await?;
                let loaded: Vec<&str> =
                    loaded.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                if loaded.contains(&file.as_str()) {
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
        let unbound = self.breakpoints.set.iter().filter(|set| set.line.is_none() && set.file.is_some());
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

    async fn remove(&mut self, sets: Vec<Set>) -> Result<(), Failure> {
        for number in sets.into_iter().filter_map(|set| set.number) {
            self.command(Command::new("breakpoint_remove").with('d', number)).await?;
        }
        Ok(())
    }

    /// Replaces the breakpoints on functions.
    pub(super) async fn set_on_functions(
        &mut self,
        wanted: &SetFunctionBreakpointsArguments,
    ) -> Result<Value, Failure> {
        let hold = self.hold().await?;
        let before = self.breakpoints.take(None);
        self.remove(before).await?;
        let mut answers = Vec::with_capacity(wanted.breakpoints.len());
        for one in &wanted.breakpoints {
            let id = self.breakpoints.number();
            let found = self.call(&format!("\\Stillframe\\Functions::find({})", literal(&one.name))).await?;
            let places = found.as_array().cloned().unwrap_or_default();
            let mut bound = None;
            for place in &places {
                let line = self.set_call(id, &one.name, place).await?;
                bound = bound.or(line.map(|line| (place["file"].clone(), line)));
            }
            if let Some((file, line)) = bound {
                let source = json!({ "path": file });
                answers.push(json!({ "id": id, "verified": true, "line": line, "source": source }));
                continue;
            }
            answers.push(self.set_unloaded(id, &one.name).await?);
        }
        self.release(hold).await?;
        Ok(json!({ "breakpoints": answers }))
    }

    /// Stops where a function is called. Its first line with code is given back.
    async fn set_call(&mut self, id: i64, name: &str, place: &Value) -> Result<Option<i64>, Failure> {
        if place["byLine"] == true {
            return Ok(self.set_entry(id, name, place).await?.line);
        }
        let part = |key: &str| place[key].as_str().map(str::to_owned);
        let mut set =
            Command::new("breakpoint_set").with('t', "call").with('m', part("name").unwrap_or_default());
        if let Some(class) = part("class") {
            set = set.with('a', class);
        }
        let number = self.command(set).await?.attribute("id").map(str::to_owned);
        // Only a breakpoint on a line is bound to the line where the code begins.
        let file = part("file").unwrap_or_default();
        let first = place["line"].as_i64().unwrap_or_default();
        let probe = self.set_line(&file, first, (String::new(), None)).await?;
        let line = probe.line.or(Some(first));
        self.remove(vec![probe]).await?;
        self.breakpoints.set.push(Set { id, number, file: None, wanted: (name.to_owned(), None), line });
        Ok(line)
    }

    /// Stops on the first line of a function whose name Xdebug does not know.
    async fn set_entry(&mut self, id: i64, name: &str, place: &Value) -> Result<Set, Failure> {
        let file = place["file"].as_str().unwrap_or_default();
        let line = place["line"].as_i64().unwrap_or_default();
        let set = self.set_line(file, line, (name.to_owned(), None)).await?;
        let set = Set { id, file: None, ..set };
        self.breakpoints.set.push(set.clone());
        Ok(set)
    }

    /// A function that is not loaded yet: by its full name, which is the one that is asked for or one of those in the
    /// sources of the program.
    async fn set_unloaded(&mut self, id: i64, name: &str) -> Result<Value, Failure> {
        let folder = Path::new(&self.file).parent().unwrap_or(Path::new("/"));
        let is_system = self.adapter.is_internal(&folder.join("program")) || folder.starts_with("/usr");
        let folder = if is_system { "" } else { folder.to_str().unwrap_or_default() };
        let find = format!(
            "\\Stillframe\\Functions::unloaded({}, [{}, \\getcwd()])",
            literal(name),
            literal(folder)
        );
        let found = self.call(&find).await?;
        let part = |place: &Value, key: &str| place[key].as_str().map(str::to_owned);
        let places: Vec<Value> = found.as_array().cloned().unwrap_or_default();
        let (by_line, by_name): (Vec<&Value>, Vec<&Value>) =
            places.iter().partition(|place| place["byLine"] == true);
        let mut answer = None;
        for place in by_line {
            let set = self.set_entry(id, name, place).await?;
            if answer.is_none() {
                answer = Some(self.answer_for(&set).await?);
            }
        }
        let by_name = by_name.into_iter();
        let mut names: Vec<(Option<String>, String)> =
            by_name.filter_map(|place| Some((part(place, "class"), part(place, "name")?))).collect();
        // Xdebug refuses a second one for the same name, as of two programs with a class `Cart`.
        names.sort();
        names.dedup();
        if places.is_empty() {
            let parts: Vec<&str> = name.split(['.', '#', ':']).flat_map(|part| part.split("->")).collect();
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            if let Some((function, class)) = parts.split_last() {
                names.push(((!class.is_empty()).then(|| class.join("\\")), (*function).to_owned()));
            }
        }
        for (class, function) in names {
            let mut set = Command::new("breakpoint_set").with('t', "call").with('m', function);
            if let Some(class) = class {
                set = set.with('a', class);
            }
            let number = self.command(set).await?.attribute("id").map(str::to_owned);
            let set = Set { id, number, file: None, wanted: (name.to_owned(), None), line: None };
            if answer.is_none() {
                answer = Some(self.answer_for(&set).await?);
            }
            self.breakpoints.set.push(set);
        }
        Ok(answer.unwrap_or_else(|| json!({ "id": id, "verified": false })))
    }

    /// A file was loaded, and with it a breakpoint became one.
    pub(super) async fn resolved(&mut self, notice: &Element) -> Result<(), Failure> {
        let Some(known) = notice.child("breakpoint") else { return Ok(()) };
        let number = known.attribute("id");
        let line = known.number::<i64>("lineno");
        let Some(set) = self.breakpoints.set.iter_mut().find(|set| set.number.as_deref() == number) else {
            return Ok(());
        };
        if set.line == line {
            return Ok(());
        }
        set.line = line;
        let file = set.file.clone().or_else(|| known.attribute("filename").map(path_of));
        let breakpoint = json!({ "id": set.id, "verified": true, "line": line, "source": { "path": file } });
        self.event("breakpoint", json!({ "reason": "changed", "breakpoint": breakpoint })).await
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
