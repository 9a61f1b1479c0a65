//! Breakpoints as the protocol has them, and whose they are.

pub(super) mod silenced;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use self::silenced::Asked;
use super::motion::{self, PauseGuard};
use super::{DapDebugger, commands, functions, lock, recording, refused};
use crate::deadlines;
use crate::debugger::{BindResult, Debugger, RuleFor, SourceBreakpoint};
use crate::error::{Error, Result};
use crate::model::breakpoint::FunctionLocation;
use crate::model::ids::{BreakpointId, RawId};
use crate::model::stop::ExceptionMode;
use crate::sources;

/// What was sent to the adapter.
#[derive(Debug, Default)]
pub(super) struct Breakpoints {
    sent: Vec<SentBreakpoint>,
    asked: Asked,
    /// How often the condition of each was true.
    hits: HashMap<BreakpointId, u64>,
    /// The requests for function breakpoints.
    pub(super) functions: Vec<OnFunction>,
    /// The adapter's numbers for the functions of the last request.
    pub(super) function_numbers: HashMap<String, i64>,
    /// Functions that every exception goes through, and the adapter's numbers for breakpoints there.
    pub(super) exception_functions: &'static [&'static str],
    pub(super) exception_numbers: Vec<i64>,
    /// The debugger's numbers for its breakpoints at errors that leave the program or a test.
    error_numbers: Vec<i64>,
    /// Breakpoints of the debugger that stand for one of these: their numbers, and that of the one.
    others: HashMap<i64, i64>,
    /// Where those are that the adapter shows in another file, by their numbers.
    places: HashMap<i64, (String, i64)>,
    /// The last stop was there.
    is_at_exception: bool,
    /// How many closures are around lines on which another one begins; none for any other line.
    pub(super) closures_around: HashMap<(PathBuf, u32), Option<usize>>,
    /// Lines with breakpoints on which a closure begins, and on which a thread was outside of it.
    around_closures: HashSet<(PathBuf, u32)>,
    /// What the debugger records and which conditions it examines, as JSON; empty for nothing.
    recorded: String,
}

/// A function, the rules there, and whether the adapter applies the one condition itself.
pub(super) type OnFunction = (::dap::FunctionBreakpoint, Vec<RuleFor>, bool);

/// One place of the adapter's.
#[derive(Clone, Debug)]
pub(super) struct SentBreakpoint {
    /// The adapter's number for it, which it may leave out.
    number: Option<i64>,
    pub(super) rules: Vec<RuleFor>,
    /// Whether the adapter applies the one condition itself.
    pub(super) is_native: bool,
    /// The file that it is in; none for a function.
    pub(super) file: Option<PathBuf>,
    /// The line that it is on, as far as that is known.
    pub(super) line: Option<u32>,
    /// The file and line that it is bound to; only for a function.
    bound: Option<(PathBuf, u32)>,
    /// What its rules record is recorded by the debugger.
    pub(super) is_recorded: bool,
    /// The request, in the form in which the adapter identifies it: its line and column, or the name of a function.
    asked: String,
}

impl SentBreakpoint {
    /// One that is in no file yet, such as one on a function.
    pub(super) fn new(asked: String, rules: Vec<RuleFor>, is_native: bool) -> Self {
        let is_recorded = rules.iter().any(recording::is_recordable);
        Self { number: None, rules, is_native, file: None, line: None, bound: None, is_recorded, asked }
    }

    /// A data breakpoint, whose rules are applied here.
    pub(super) fn on_data(rule: RuleFor) -> Self {
        Self { is_recorded: false, ..Self::new(String::new(), vec![rule], false) }
    }

    /// The file and line that it is bound to.
    fn place(&self) -> Option<(&Path, u32)> {
        let bound = self.bound.as_ref().map(|(file, line)| (file.as_path(), *line));
        self.file.as_deref().zip(self.line).or(bound)
    }

    /// Whether it is on this line.
    pub(super) fn is_on(&self, line: Option<u32>) -> bool {
        line.is_some() && self.line == line
    }
}

impl Breakpoints {
    /// The places that a stop is about: by the adapter's numbers, or by where the thread is.
    pub(super) fn hit(&self, numbers: &[i64], at: Option<(&Path, u32)>) -> Vec<SentBreakpoint> {
        if !numbers.is_empty() {
            let numbers: Vec<i64> =
                numbers.iter().map(|number| self.others.get(number).copied().unwrap_or(*number)).collect();
            let is_hit = |sent: &&SentBreakpoint| sent.number.is_some_and(|number| numbers.contains(&number));
            return self.sent.iter().filter(is_hit).cloned().collect();
        }
        let is_here = |sent: &&SentBreakpoint| sent.place().is_some() && sent.place() == at;
        self.sent.iter().filter(is_here).cloned().collect()
    }

    /// The adapter's numbers for the breakpoints on a line.
    pub(super) fn numbers_at(&self, file: &Path, line: u32) -> Vec<i64> {
        self.hit(&[], Some((file, line))).into_iter().filter_map(|sent| sent.number).collect()
    }

    /// Whether there are any.
    pub(super) fn are_set(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Whether other breakpoints are on the lines of these.
    pub(super) fn have_neighbors(&self, numbers: &[i64]) -> bool {
        let hit = self.hit(numbers, None);
        hit.iter().any(|one| self.hit(&[], one.place()).len() > 1)
    }

    /// What the adapter says of a breakpoint, with the place where it is.
    pub(super) fn placed(&self, said: ::dap::Breakpoint) -> ::dap::Breakpoint {
        let Some((path, line)) = said.id.and_then(|number| self.places.get(&number)) else { return said };
        let source = ::dap::Source { path: Some(path.clone()), ..said.source.unwrap_or_default() };
        ::dap::Breakpoint { source: Some(source), line: Some(*line), column: None, ..said }
    }

    /// Whether a thread was on the line of this breakpoint outside of the closure that begins there, now or before.
    pub(super) fn was_around_closure(&mut self, sent: &SentBreakpoint, is_now: bool) -> bool {
        let Some(place) = sent.file.clone().zip(sent.line) else { return false };
        if is_now {
            self.around_closures.insert(place);
            return true;
        }
        self.around_closures.contains(&place)
    }

    /// Whether a stop at these numbers is one at an exception.
    pub(super) fn stopped_at(&mut self, numbers: &[i64]) -> bool {
        let is_exception = |number: &i64| {
            let number = self.others.get(number).unwrap_or(number);
            self.exception_numbers.contains(number) || self.error_numbers.contains(number)
        };
        self.is_at_exception = numbers.iter().any(is_exception);
        self.is_at_exception
    }

    /// Whether a stop at these numbers can only be one at an error that is returned.
    pub(super) fn are_of_errors(&self, numbers: &[i64]) -> bool {
        !numbers.is_empty() && numbers.iter().all(|number| self.error_numbers.contains(number))
    }

    /// The function of an exception that the program is stopped at.
    pub(super) fn exception_function(&self) -> Option<&'static str> {
        self.exception_functions.first().copied().filter(|_| self.is_at_exception)
    }

    /// All breakpoints behind a number.
    pub(super) fn owners(&self, number: i64) -> Vec<BreakpointId> {
        let found = self.sent.iter().find(|sent| sent.number == Some(number));
        found.map(|sent| RuleFor::ids(&sent.rules)).unwrap_or_default()
    }

    /// Whether a number is that of a breakpoint on a function.
    pub(super) fn is_function(&self, number: i64) -> bool {
        self.sent.iter().any(|sent| sent.number == Some(number) && sent.file.is_none())
    }

    /// The adapter has bound one to another line.
    pub(super) fn moved(&mut self, number: i64, line: Option<i64>) {
        let Some(line) = positive(line) else { return };
        for sent in self.sent.iter_mut().filter(|sent| sent.number == Some(number)) {
            sent.line = Some(line);
        }
    }

    /// Whether some rule is applied here, so that a stop may be one to go on from. An adapter that stops at conditions
    /// that cannot be evaluated leaves those to us.
    pub(super) fn has_rules(&self, stops_at_bad_conditions: bool) -> bool {
        let is_ours = |sent: &&SentBreakpoint| !sent.is_native || stops_at_bad_conditions;
        self.sent.iter().filter(is_ours).any(|sent| sent.rules.iter().any(|rule| !rule.rule.is_plain()))
    }

    /// Whether an existing breakpoint in this file, or on functions, is no longer requested.
    fn removes_any(&self, file: Option<&Path>, wanted: &[SentBreakpoint]) -> bool {
        let mut before = self.sent.iter().filter(|sent| sent.file.as_deref() == file);
        before.any(|sent| wanted.iter().all(|wanted| wanted.asked != sent.asked))
    }

    /// What the debugger is to record, and which conditions it is to examine, as JSON; none if it does already.
    pub(super) fn recorded_anew(&mut self) -> Option<String> {
        let place = |sent: &SentBreakpoint| recording::place(sent.number?, &sent.rules, sent.is_recorded);
        let places: Vec<_> = self.sent.iter().filter_map(place).collect();
        let text = if places.is_empty() { String::new() } else { Json::Array(places).to_string() };
        if self.recorded == text {
            return None;
        }
        self.recorded.clone_from(&text);
        Some(if text.is_empty() { "[]".to_owned() } else { text })
    }

    /// The debugger cannot record: all breakpoints stop the program.
    pub(super) fn not_recorded(&mut self) {
        self.recorded.clear();
        for sent in &mut self.sent {
            sent.is_recorded = false;
        }
    }

    /// Whether the debugger records or examines conditions anywhere.
    pub(super) fn records(&self) -> bool {
        !self.recorded.is_empty()
    }

    /// Counts a hit, and returns the count.
    pub(super) fn count(&mut self, id: BreakpointId) -> u64 {
        let hits = self.hits.entry(id).or_default();
        *hits += 1;
        *hits
    }
}

pub(super) async fn set_in_source(
    debugger: &DapDebugger,
    path: &Path,
    wanted: Vec<SourceBreakpoint>,
) -> Result<Vec<BindResult>> {
    debugger.prepare_records(wanted.iter().flat_map(|place| &place.rules))?;
    let mut places = Vec::with_capacity(wanted.len());
    for SourceBreakpoint { line, column, rules } in wanted {
        // Where a closure begins, each hit around it counts, also those where the condition is false.
        let condition = native_condition(debugger, &rules)
            .filter(|_| functions::closures_around(debugger, path, line).is_none());
        let sent = ::dap::SourceBreakpoint {
            line: i64::from(line),
            column: column.map(i64::from),
            condition: condition.clone(),
            ..Default::default()
        };
        places.push((sent, rules, condition.is_some()));
    }
    debugger.send_breakpoints(path, places).await
}

/// The condition that the adapter can apply itself: the only one of its place, with nothing beside it. Whatever else
/// a rule says is applied here when the program stops, so that it means the same with every adapter.
pub(super) fn native_condition(debugger: &DapDebugger, rules: &[RuleFor]) -> Option<String> {
    // What an adapter does not evaluate right at a stop, it does not evaluate right as a condition.
    let conditional = debugger.capabilities().supports_conditional_breakpoints
        && debugger.quirks().expression_command.is_none();
    match rules {
        [only] if conditional && only.rule.hit_condition.is_none() && only.rule.log_message.is_none() => {
            let condition = only.rule.condition.as_ref();
            let plain = condition.filter(|condition| !(debugger.quirks().is_call)(condition));
            plain.and_then(|condition| (debugger.quirks().native_condition)(condition))
        }
        _ => None,
    }
}

impl DapDebugger {
    /// Fails if the debugger cannot record what these rules ask for.
    pub(super) fn prepare_records<'a>(&self, rules: impl Iterator<Item = &'a RuleFor>) -> Result<()> {
        let quirks = self.quirks();
        for record in rules.filter_map(|rule| rule.rule.record.as_ref()) {
            if quirks.record_command.is_some() {
                let shape = |cell, limit| recording::shown(quirks, cell, limit);
                record.recorder.shape(Box::new(shape));
                continue;
            }
            return Err(Error::Unsupported(
                "this debugger cannot record values while the program runs; stop at each hit and evaluate there"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Replaces the breakpoints of a file: what to send for each, which request it belongs to, and whether the
    /// adapter applies its condition itself.
    pub(crate) async fn send_breakpoints(
        &self,
        path: &Path,
        places: Vec<(::dap::SourceBreakpoint, Vec<RuleFor>, bool)>,
    ) -> Result<Vec<BindResult>> {
        let owner = |(sent, rules, is_native): (::dap::SourceBreakpoint, Vec<RuleFor>, bool)| {
            let (file, line) = (Some(path.to_owned()), positive(Some(sent.line)));
            let asked = format!("{}:{:?}", sent.line, sent.column);
            (sent, SentBreakpoint { file, line, ..SentBreakpoint::new(asked, rules, is_native) })
        };
        let (breakpoints, mut owners): (Vec<_>, Vec<_>) = places.into_iter().map(owner).unzip();
        let source = ::dap::Source {
            name: path.file_name().map(|name| name.to_string_lossy().into_owned()),
            path: Some(path.display().to_string()),
            ..Default::default()
        };
        let arguments = ::dap::SetBreakpointsArguments { source, breakpoints };
        let _still = self.pause_for(&owners, Some(path)).await;
        let response = self.request_in_source(arguments.clone()).await?;
        let answers = refused::move_on(self, path, arguments, &mut owners, response.breakpoints).await?;
        complete(self).await;
        let results = self.keep(answers, owners, Some(path));
        recording::announce(self).await;
        Ok(results)
    }

    /// Also stops where errors leave the program or its tests, if the debugger has a command for that.
    pub(super) async fn stop_at_errors(&self, mode: ExceptionMode) {
        let Some(command) = self.quirks().errors_command.map(|command| command(mode)) else { return };
        let number = |line: &str| line.strip_prefix("breakpoint ")?.parse().ok();
        let request = async {
            let answer = commands::run(self, None, command.to_owned(), deadlines::READ).await?;
            lock(&self.0.breakpoints).error_numbers = answer.lines().filter_map(number).collect();
            Ok(())
        };
        if let Err(error) = self.0.errors_command.set(command, request).await {
            tracing::warn!(%error, "errors that `main` or a test returns do not stop the program");
        }
    }

    /// Says that a source has changed since the program was built, so that its lines may be others.
    fn warned(&self, result: BindResult, file: Option<&Path>) -> BindResult {
        let built = self.setup().binary.as_deref();
        let has_changed = || file.zip(built).is_some_and(|(file, built)| sources::is_newer(file, built));
        match result {
            BindResult::Bound { line, column, columns, function, .. } if has_changed() => {
                let warning =
                    "the file has changed since the program was built: rebuild it, or lines and variables \
                     may not match"
                        .to_owned();
                BindResult::Bound { line, column, columns, function, warning: Some(warning) }
            }
            other => other,
        }
    }

    /// Pauses the program, if the adapter needs that to replace the breakpoints.
    pub(super) async fn pause_for(
        &self,
        wanted: &[SentBreakpoint],
        file: Option<&Path>,
    ) -> Option<PauseGuard<'_>> {
        let removes_any =
            self.quirks().removes_only_when_stopped && lock(&self.0.breakpoints).removes_any(file, wanted);
        if removes_any { Some(motion::hold(self).await) } else { None }
    }

    pub(super) fn keep(
        &self,
        answers: Vec<::dap::Breakpoint>,
        owners: Vec<SentBreakpoint>,
        file: Option<&Path>,
    ) -> Vec<BindResult> {
        let mut answers = answers.into_iter();
        let mut breakpoints = lock(&self.0.breakpoints);
        breakpoints.sent.retain(|sent| sent.file.as_deref() != file);
        let results = owners
            .into_iter()
            .map(|mut sent| {
                let Some(answer) = answers.next().map(|answer| breakpoints.placed(answer)) else {
                    return BindResult::Refused("the debugger did not report its state".to_owned());
                };
                sent.number = answer.id;
                sent.line = sent.line.and_then(|asked| positive(answer.line).or(Some(asked)));
                if sent.file.is_none() {
                    let path = answer.source.as_ref().and_then(|source| source.path.as_ref());
                    sent.bound = path.map(PathBuf::from).zip(positive(answer.line));
                }
                // Two lines that an adapter binds to one place may share a number.
                let is_same =
                    |known: &&mut SentBreakpoint| known.number.is_some() && known.number == sent.number;
                if let Some(known) = breakpoints.sent.iter_mut().find(is_same) {
                    known.rules.append(&mut sent.rules);
                    known.is_native = false;
                    known.is_recorded |= sent.is_recorded;
                } else {
                    breakpoints.sent.push(sent);
                }
                bind_result(self, answer, file.is_none())
            })
            .map(|result| self.warned(result, file))
            .collect();
        let Breakpoints { sent, around_closures, .. } = &mut *breakpoints;
        let is_on = |sent: &SentBreakpoint, path: &Path, line: u32| {
            sent.file.as_deref() == Some(path) && sent.is_on(Some(line))
        };
        around_closures.retain(|(path, line)| sent.iter().any(|sent| is_on(sent, path, *line)));
        results
    }
}

/// Makes the debugger complete what it does when breakpoints are set, or bound anew.
pub(super) async fn complete(debugger: &DapDebugger) {
    let Some(command) = debugger.quirks().breakpoints_command else { return };
    match commands::run(debugger, None, command.to_owned(), deadlines::READ).await {
        Ok(answer) => {
            let mut breakpoints = lock(&debugger.0.breakpoints);
            breakpoints.others = by_number(&answer, "others ");
            breakpoints.places = by_number(&answer, "places ");
        }
        Err(error) => tracing::warn!(%error, "a line may be hit more than once"),
    }
}

/// What a command has printed after a marker, by the number of a breakpoint: pairs as JSON.
fn by_number<T: DeserializeOwned>(answer: &str, marker: &str) -> HashMap<i64, T> {
    let printed = answer.lines().find_map(|line| line.strip_prefix(marker));
    let pairs = printed.and_then(|text| serde_json::from_str::<Vec<(i64, T)>>(text).ok());
    pairs.unwrap_or_default().into_iter().collect()
}

/// A line or column that is one.
pub(super) fn positive(number: Option<i64>) -> Option<u32> {
    number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0)
}

/// The protocol has no word for the difference between "not yet" and "never", so one that is not verified
/// counts as "not yet" with the adapter's reason: a library with its code may still be loaded.
pub(super) fn bind_result(
    debugger: &DapDebugger,
    answer: ::dap::Breakpoint,
    is_function: bool,
) -> BindResult {
    if answer.verified {
        let file = answer.source.and_then(|source| source.path).filter(|_| is_function);
        return BindResult::Bound {
            line: positive(answer.line),
            column: positive(answer.column),
            columns: Vec::new(),
            function: file.map(|file| FunctionLocation { file: file.into(), declared: None }),
            warning: None,
        };
    }
    let message = answer.message.map(|message| (debugger.quirks().message)(&message));
    let message = debugger.setup().no_code.clone().or(message).filter(|message| !message.is_empty());
    BindResult::NotLoaded(
        message.unwrap_or_else(|| "no loaded code has debug information for this location".to_owned()),
    )
}

/// A thread, for the place where it is.
pub(super) async fn place_of(debugger: &DapDebugger, thread: RawId) -> Option<(PathBuf, u32)> {
    let location = debugger.top(thread).await.ok()??.location?;
    Some((location.source.path?, location.line))
}

/// A thread that stands at a breakpoint.
pub(super) async fn thread_at_breakpoint(debugger: &DapDebugger) -> Option<RawId> {
    for thread in debugger.threads().await.ok()? {
        let Some((path, line)) = place_of(debugger, thread.id).await else { continue };
        if !lock(&debugger.0.breakpoints).hit(&[], Some((&path, line))).is_empty() {
            return Some(thread.id);
        }
    }
    None
}
