//! Breakpoints on functions.
//!
//! Xdebug knows the call of a method by the class of its object, which may be any that extends that of the method. So
//! the breakpoint is on the first line of the method. Each statement there stops the program, though, and so does a
//! closure: after the first stop for a class, the breakpoint is on the call, too, and that one counts.

use std::path::Path;

use ::dap::SetFunctionBreakpointsArguments;
use ::dbgp::{Command, Element};
use serde_json::{Value, json};

use super::agent::Failure;
use super::breakpoints::{Kind, Set, Target, path_of};
use super::server::Server;
use crate::adapter::php::literal;
use crate::deadlines;

impl Server {
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
            answers.push(match self.set_on_name(&one.name).await {
                Err(Failure::Refused(message)) => json!({ "verified": false, "message": message }),
                answer => answer?,
            });
        }
        self.release(hold).await?;
        Ok(json!({ "breakpoints": answers }))
    }

    /// Stops at the calls of all functions that a name means, loaded or not.
    async fn set_on_name(&mut self, name: &str) -> Result<Value, Failure> {
        let id = self.breakpoints.number();
        let mut answer = None;
        for place in self.places_of(name).await? {
            let set = self.set_on_place(id, name, &place).await?;
            if let Some(line) = set.line {
                let is_first = answer.as_ref().is_none_or(|answer: &Value| answer["verified"] == false);
                let source = json!({ "path": place.get("file") });
                let bound = json!({ "id": id, "verified": true, "line": line, "source": source });
                answer = if is_first { Some(bound) } else { answer };
            } else if answer.is_none() {
                answer = Some(self.answer_for(&set).await?);
            }
            if !self.breakpoints.set.iter().any(|known| known.id == id && known.target == set.target) {
                self.breakpoints.set.push(set);
            }
        }
        Ok(answer.unwrap_or_else(|| json!({ "id": id, "verified": false })))
    }

    /// The functions of a name: those that are loaded, those in the sources of the program, or else the name as it is
    /// asked for.
    async fn places_of(&mut self, name: &str) -> Result<Vec<Value>, Failure> {
        let folder = Path::new(&self.file).parent().unwrap_or(Path::new("/"));
        let is_system = self.adapter.is_internal(&folder.join("program")) || folder.starts_with("/usr");
        let folder = if is_system { "" } else { folder.to_str().unwrap_or_default() };
        let find =
            format!("\\Stillframe\\Functions::places({}, [{}, \\getcwd()])", literal(name), literal(folder));
        let mut places = self.call(&find).await?.as_array().cloned().unwrap_or_default();
        if places.is_empty() {
            let parts: Vec<&str> = name.split(['.', '#', ':']).flat_map(|part| part.split("->")).collect();
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            if let Some((function, class)) = parts.split_last() {
                let class = (!class.is_empty()).then(|| class.join("\\"));
                places.push(json!({ "class": class, "name": function }));
            }
        }
        Ok(places)
    }

    /// Stops where one function is called. Its first line with code is known if it is loaded.
    async fn set_on_place(&mut self, id: i64, name: &str, place: &Value) -> Result<Set, Failure> {
        let part = |key: &str| place[key].as_str().map(str::to_owned);
        let file = part("file").unwrap_or_default();
        let first = place["line"].as_i64().unwrap_or_default();
        let wanted = (name.to_owned(), None);
        if place["byLine"] == true {
            let set = self.set_line(&file, first, wanted).await?;
            return Ok(Set { id, kind: Kind::Function, ..set });
        }
        let (class, function) = (part("class"), part("name").unwrap_or_default());
        let number = self.number_of_call(class.as_deref(), &function).await?;
        let target = Target::Call(class, function);
        let line = if place["isLoaded"] == true { self.first_line(&file, first).await? } else { None };
        Ok(Set { id, number, target, kind: Kind::Function, wanted, line })
    }

    /// Xdebug's number for the breakpoint on a call.
    async fn number_of_call(
        &mut self,
        class: Option<&str>,
        function: &str,
    ) -> Result<Option<String>, Failure> {
        let target = Target::Call(class.map(str::to_owned), function.to_owned());
        if let Some(known) = self.breakpoints.set.iter().find(|set| set.target == target) {
            return Ok(known.number.clone());
        }
        let mut call = Command::new("breakpoint_set").with('t', "call").with('m', function);
        if let Some(class) = class {
            call = call.with('a', class);
        }
        Ok(self.command(call).await?.attribute("id").map(str::to_owned))
    }

    /// The first line with code from a line on. Only a breakpoint on a line is bound to it.
    async fn first_line(&mut self, file: &str, line: i64) -> Result<Option<i64>, Failure> {
        let probe = self.set_line(file, line, (String::new(), None)).await?;
        let first = probe.line.or(Some(line));
        self.remove(vec![probe]).await?;
        Ok(first)
    }

    /// Those of a stop's breakpoints that it is a hit of: for a function, only where it is entered.
    pub(super) async fn entered(
        &mut self,
        hits: Vec<i64>,
        stop: &Element,
        message: &Element,
    ) -> Result<Vec<i64>, Failure> {
        if !self.breakpoints.set.iter().any(|set| set.is_entry() && hits.contains(&set.id)) {
            return Ok(hits);
        }
        let place = Place {
            file: message.attribute("filename").map(path_of),
            line: message.number("lineno"),
            number: stop.child("breakpoint").and_then(|hit| hit.attribute("id")).map(str::to_owned),
            call: self.call_here().await?,
        };
        let mut entered = Vec::new();
        for id in hits {
            if self.is_hit(id, &place).await? {
                entered.push(id);
            }
        }
        Ok(entered)
    }

    async fn is_hit(&mut self, id: i64, place: &Place) -> Result<bool, Failure> {
        let mut own = self.breakpoints.set.iter().filter(|set| set.id == id);
        let is_on_function = own.clone().any(Set::is_entry);
        let is_call = |kind: Kind| {
            let is_that = |set: &Set| set.kind == kind && !set.is_entry() && set.number == place.number;
            place.number.is_some() && own.clone().any(is_that)
        };
        if !is_on_function || is_call(Kind::Function) {
            return Ok(true);
        }
        let is_known_call = is_call(Kind::Entered);
        let entry = own.find(|set| set.is_entry() && set.is_at(place.file.as_deref(), place.line)).cloned();
        Ok(match (entry, &place.call) {
            // What a method calls may have its name, as `parent::save()`.
            (None, _) | (_, None) => false,
            (Some(entry), Some(call)) => is_known_call || self.is_first(&entry, call).await?,
        })
    }

    /// Whether no breakpoint is on the call yet; then it is from now on.
    async fn is_first(&mut self, entry: &Set, (class, function): &Call) -> Result<bool, Failure> {
        let Some(class) = class else { return Ok(true) };
        let target = Target::Call(Some(class.clone()), function.clone());
        if self.breakpoints.set.iter().any(|set| set.id == entry.id && set.target == target) {
            return Ok(false);
        }
        let number = self.number_of_call(Some(class), function).await?;
        self.breakpoints.set.push(Set { number, target, kind: Kind::Entered, ..entry.clone() });
        Ok(true)
    }

    /// The call of the innermost frame; none for a closure.
    async fn call_here(&mut self) -> Result<Option<Call>, Failure> {
        let stack = self.command(Command::new("stack_get").with('d', 0)).await?;
        let name = stack.child("stack").and_then(|frame| frame.attribute("where")).unwrap_or_default();
        if name.contains("{closure") {
            return Ok(None);
        }
        let function = name.rsplit([':', '>']).next().unwrap_or_default();
        let ask = format!(
            "\\Stillframe\\Functions::classOfCall(isset($this) ? $this : null, self::class, {})",
            literal(function)
        );
        let class = match self.in_frame(0, &ask, deadlines::READ).await {
            Err(Failure::Refused(_)) => None,
            class => class?.as_str().map(str::to_owned),
        };
        Ok(Some((class, function.to_owned())))
    }
}

/// The class by which Xdebug knows a call, unless that stops more often, and the name of the function.
type Call = (Option<String>, String);

/// Where a stop is.
struct Place {
    file: Option<String>,
    line: Option<i64>,
    /// Xdebug's number for the breakpoint that it names.
    number: Option<String>,
    /// None for a closure.
    call: Option<Call>,
}
