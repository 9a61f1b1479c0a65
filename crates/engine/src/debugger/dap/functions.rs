//! Breakpoints on functions, also those of an entry and of exceptions.

use std::collections::HashMap;
use std::path::Path;

use super::breakpoints::{OnFunction, SentBreakpoint, complete, native_condition};
use super::{DapDebugger, commands, lock, recording, refused};
use crate::deadlines;
use crate::debugger::{BindResult, FunctionBreakpoint};
use crate::error::{Error, Result};
use crate::model::ids::RawId;

/// Replaces the breakpoints on functions. One outcome for each, in order.
pub(super) async fn set_on_functions(
    debugger: &DapDebugger,
    wanted: Vec<FunctionBreakpoint>,
) -> Result<Vec<BindResult>> {
    debugger.prepare_records(wanted.iter().flat_map(|place| &place.rules))?;
    let mut places = Vec::with_capacity(wanted.len());
    for FunctionBreakpoint { name, rules } in wanted {
        let condition = native_condition(debugger, &rules);
        let sent = ::dap::FunctionBreakpoint { name, condition: condition.clone(), hit_condition: None };
        places.push((sent, rules, condition.is_some()));
    }
    debugger.send_function_breakpoints(places).await
}

impl DapDebugger {
    /// Replaces the breakpoints on functions: what to send for each, which request it belongs to, and whether the adapter
    /// applies its condition itself.
    pub(crate) async fn send_function_breakpoints(&self, places: Vec<OnFunction>) -> Result<Vec<BindResult>> {
        if !self.capabilities().supports_function_breakpoints {
            if places.is_empty() {
                return Ok(Vec::new());
            }
            return Err(Error::Unsupported(
                "this debugger does not support function breakpoints; give `file` and `line`".to_owned(),
            ));
        }
        let exceptions = {
            let mut breakpoints = lock(&self.0.breakpoints);
            breakpoints.functions.clone_from(&places);
            breakpoints.exception_functions
        };
        let owner = |(sent, rules, is_native): OnFunction| {
            let owner = SentBreakpoint::new(sent.name.clone(), rules, is_native);
            (sent, owner)
        };
        let (mut breakpoints, mut owners): (Vec<_>, Vec<_>) = places.into_iter().map(owner).unzip();
        let wanted = breakpoints.len();
        let plain = |name: &str| ::dap::FunctionBreakpoint {
            name: name.to_owned(),
            condition: None,
            hit_condition: None,
        };
        breakpoints.extend(exceptions.iter().map(|name| plain(name)));
        let entry = self.entry_function().filter(|entry| breakpoints.iter().all(|one| one.name != *entry));
        breakpoints.extend(entry.map(plain));
        let _still = self.pause_for(&owners, None).await;
        let mut answers = self.request_functions(&breakpoints).await?;
        if self.rename(&mut breakpoints, &mut owners, &answers).await {
            answers = self.request_functions(&breakpoints).await?;
        }
        let answers = self.move_into_bodies(&breakpoints, owners.len(), answers).await?;
        if wanted > 0 {
            complete(self).await;
        }
        let at_exceptions = answers.iter().skip(owners.len()).take(exceptions.len());
        let numbers = at_exceptions.filter_map(|answer| answer.id).collect();
        lock(&self.0.breakpoints).exception_numbers = numbers;
        let mut results = self.keep(answers, owners, None);
        results.truncate(wanted);
        recording::announce(self).await;
        Ok(results)
    }

    /// The adapter's answers, in the order of the breakpoints.
    async fn request_functions(
        &self,
        breakpoints: &[::dap::FunctionBreakpoint],
    ) -> Result<Vec<::dap::Breakpoint>> {
        let request = |breakpoints: Vec<::dap::FunctionBreakpoint>| {
            let arguments = ::dap::SetFunctionBreakpointsArguments { breakpoints };
            self.request_on_functions(arguments)
        };
        if !self.quirks().answers_functions_in_any_order {
            return Ok(request(breakpoints.to_vec()).await?.breakpoints);
        }
        let mut numbers = std::mem::take(&mut lock(&self.0.breakpoints).function_numbers);
        numbers.retain(|name, _| breakpoints.iter().any(|one| one.name == *name));
        let is_known = |one: &&::dap::FunctionBreakpoint| numbers.contains_key(&one.name);
        let mut sent: Vec<::dap::FunctionBreakpoint> = breakpoints.iter().filter(is_known).cloned().collect();
        let mut answers = Vec::new();
        if sent.len() == breakpoints.len() {
            answers = request(sent.clone()).await?.breakpoints;
        }
        // Each function is added alone, so that the number which is new is the one of that function.
        for one in breakpoints {
            if !numbers.contains_key(&one.name) {
                sent.push(one.clone());
                answers = request(sent.clone()).await?.breakpoints;
                let is_new = |number: &i64| numbers.values().all(|known| known != number);
                let new = answers.iter().filter_map(|answer| answer.id).find(is_new);
                numbers.extend(new.map(|number| (one.name.clone(), number)));
            }
        }
        let answers: HashMap<Option<i64>, ::dap::Breakpoint> =
            answers.into_iter().map(|answer| (answer.id, answer)).collect();
        let answer_to = |one: &::dap::FunctionBreakpoint| {
            numbers.get(&one.name).and_then(|number| answers.get(&Some(*number))).cloned().unwrap_or_default()
        };
        let answers = breakpoints.iter().map(answer_to).collect();
        lock(&self.0.breakpoints).function_numbers = numbers;
        Ok(answers)
    }

    /// Gives functions that the adapter did not find, or only in libraries, the names by which it does. One of several
    /// such names is that of the breakpoint itself, and the others follow the last owner, with the same rules. False if
    /// nothing changes.
    async fn rename(
        &self,
        breakpoints: &mut Vec<::dap::FunctionBreakpoint>,
        owners: &mut Vec<SentBreakpoint>,
        answers: &[::dap::Breakpoint],
    ) -> bool {
        let (mut is_other, mut more) = (false, Vec::new());
        for ((wanted, owner), answer) in breakpoints.iter_mut().zip(&*owners).zip(answers) {
            let message = answer.message.as_deref().filter(|_| !answer.verified).unwrap_or_default();
            let names = match (self.quirks().other_function)(&wanted.name, message) {
                Some(other) => vec![other],
                None if !is_found_in_sources(answer) => self.names_of_function(&wanted.name).await,
                None => Vec::new(),
            };
            let mut names = names.into_iter();
            let Some(first) = names.next() else { continue };
            more.extend(
                names.map(|name| (::dap::FunctionBreakpoint { name, ..wanted.clone() }, owner.clone())),
            );
            wanted.name = first;
            is_other = true;
        }
        let (more, their_owners): (Vec<_>, Vec<_>) = more.into_iter().unzip();
        breakpoints.splice(owners.len()..owners.len(), more);
        owners.extend(their_owners);
        is_other
    }

    /// Moves the first breakpoints, which the adapter has set where functions begin, to the first lines with code of their
    /// bodies. One stays where its function begins if the adapter refuses that line for another reason: a later line may
    /// not be reached.
    async fn move_into_bodies(
        &self,
        breakpoints: &[::dap::FunctionBreakpoint],
        count: usize,
        answers: Vec<::dap::Breakpoint>,
    ) -> Result<Vec<::dap::Breakpoint>> {
        let places = |(one, answer): (&::dap::FunctionBreakpoint, &::dap::Breakpoint)| {
            let read = || {
                let source = std::fs::read_to_string(answer.source.as_ref()?.path.as_ref()?).ok()?;
                Some((self.quirks().function_body)(&one.name, &source, u32::try_from(answer.line?).ok()?))
            };
            read().unwrap_or_default().into_iter()
        };
        let mut bodies: Vec<_> = breakpoints.iter().zip(&answers).take(count).map(places).collect();
        let (mut moved, mut answers) = (breakpoints.to_vec(), answers);
        let mut is_moved = vec![false; count];
        loop {
            let mut is_other = false;
            let each =
                moved.iter_mut().zip(breakpoints).zip(&answers).zip(bodies.iter_mut().zip(&mut is_moved));
            for (((one, before), answer), (places, is_moved)) in each {
                if !(*is_moved && answer.verified) {
                    // Its body may begin with lines without code.
                    let moves = !*is_moved || refused::has_no_code(self, answer);
                    let next = if moves { places.next() } else { None };
                    let name = next.unwrap_or_else(|| before.name.clone());
                    is_other |= name != one.name;
                    (one.name, *is_moved) = (name, true);
                }
            }
            if !is_other {
                return Ok(answers);
            }
            answers = self.request_functions(&moved).await?;
        }
    }

    /// The names by which the debugger knows a function of this path.
    async fn names_of_function(&self, path: &str) -> Vec<String> {
        let Some(command) = self.quirks().functions_command else { return Vec::new() };
        let answer = commands::run(self, None, format!("{command} {path}"), deadlines::READ).await;
        let answer = answer.unwrap_or_default();
        answer.lines().filter_map(|line| line.strip_prefix("function ")).map(str::to_owned).collect()
    }

    /// Stops at exceptions by the functions that they go through, for an adapter that has no filter for them.
    pub(super) async fn stop_in_functions(&self, names: &'static [&'static str]) -> Result<()> {
        let places = {
            let mut breakpoints = lock(&self.0.breakpoints);
            if breakpoints.exception_functions == names && self.entry_function().is_none() {
                return Ok(());
            }
            breakpoints.exception_functions = names;
            breakpoints.functions.clone()
        };
        self.send_function_breakpoints(places).await.map(drop)
    }

    /// Where the program is to stop on entry, until it has.
    fn entry_function(&self) -> Option<&'static str> {
        let has_entered = self.0.entered.load(std::sync::atomic::Ordering::Acquire);
        self.quirks().entry_function.filter(|_| self.setup().stops_on_entry && !has_entered)
    }
}

/// Leaves out the rules for functions and lines where a thread is in a closure that begins on the line of one. Those for a
/// line only if the code around the closure was there before: the line may have none.
pub(super) async fn leave_out_closures(debugger: &DapDebugger, thread: RawId, hit: &mut [SentBreakpoint]) {
    let Some(is_closure) = debugger.quirks().is_closure else { return };
    let closures_around = |sent: &SentBreakpoint| {
        let (path, line) = sent.file.as_deref().zip(sent.line)?;
        closures_around(debugger, path, line)
    };
    let around: Vec<Option<usize>> = hit.iter().map(closures_around).collect();
    let has_functions = hit.iter().flat_map(|sent| &sent.rules).any(|rule| rule.function.is_some());
    if !has_functions && around.iter().all(Option::is_none) {
        return;
    }
    let Ok(Some(frame)) = debugger.top(thread).await else { return };
    let is_in_closure = is_closure(&frame.name);
    let depth = (debugger.quirks().closure_depth)(&frame.name);
    for (sent, around) in hit.iter_mut().zip(around) {
        let begins = around.is_some_and(|around| {
            let is_deeper = is_in_closure && depth > around;
            lock(&debugger.0.breakpoints).was_around_closure(sent, !is_deeper) && is_deeper
        });
        sent.rules.retain(|rule| match rule.function.as_deref() {
            Some(name) => !is_in_closure || is_closure(name) || frame.name.ends_with(name),
            None => !begins,
        });
    }
}

/// How many closures are around a line on which another one begins; none for any other line.
pub(super) fn closures_around(debugger: &DapDebugger, path: &Path, line: u32) -> Option<usize> {
    debugger.quirks().is_closure?;
    let place = (path.to_owned(), line);
    let known = lock(&debugger.0.breakpoints).closures_around.get(&place).copied();
    // Each hit asks, and the program stays as it was built.
    known.unwrap_or_else(|| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let found = (debugger.quirks().closures_around)(&text, line);
        lock(&debugger.0.breakpoints).closures_around.insert(place, found);
        found
    })
}

/// Whether an adapter has found a function in a source that is here, rather than nowhere or in a library alone.
fn is_found_in_sources(answer: &::dap::Breakpoint) -> bool {
    let path = answer.source.as_ref().and_then(|source| source.path.as_ref());
    answer.verified && path.is_some_and(|path| Path::new(path).is_file())
}
