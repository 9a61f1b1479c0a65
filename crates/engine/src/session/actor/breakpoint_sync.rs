//! Sending breakpoints to the processes.
//!
//! Breakpoints are replaced a group at a time, so an answer that is overtaken by a newer one would undo it.
//! Hence one synchronisation at a time: changes that come meanwhile are collected, and sent together after it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::join_all;

use super::super::Session;
use super::super::breakpoints::{Breakpoints, Change, Group, Relocation};
use super::super::state::Execution;
use super::program::reply_ok;
use super::{Actor, Reply, answer};
use crate::adapter::{self, Adapter};
use crate::deadlines;
use crate::debugger::{BindResult, DataBreakpoint, Debugger, FunctionBreakpoint, RuleFor, SourceBreakpoint};
use crate::error::{Error, Result};
use crate::model::breakpoint::{AdjustedPosition, Breakpoint, BreakpointTarget, Failures, Pending, Request};
use crate::model::ids::{BreakpointId, TargetId};
use crate::model::launch::Start;
use crate::model::stop::ExceptionBreakpoints;

/// Which changes of breakpoints the processes do not have yet.
#[derive(Default)]
pub(super) struct BreakpointSync {
    under_way: bool,
    /// Counts the changes, so that a process that is being configured notices that it missed one.
    version: u64,
    changed: BTreeSet<Group>,
    /// Who waits for changes to be sent, with the version that has them.
    waiting: Vec<(u64, SyncWaiter)>,
}

impl Session {
    /// Adds a breakpoint; `planned` is where to bind it, as far as that differs from where it was requested.
    pub async fn add_breakpoint(&self, request: Request, planned: AdjustedPosition) -> Result<Breakpoint> {
        self.add_breakpoint_within(request, planned, deadlines::REQUEST).await
    }

    /// The same, where a program that does not answer is waited for no longer than this. The breakpoint is pending then.
    pub async fn add_breakpoint_within(
        &self,
        request: Request,
        planned: AdjustedPosition,
        within: Duration,
    ) -> Result<Breakpoint> {
        let safety = &self.policy().safety;
        safety.check_rule(&request.rule)?;
        if let BreakpointTarget::Line { path, .. } = &request.place {
            safety.check_path(path)?;
        }
        self.ask(move |actor, reply| actor.add_breakpoint(request, planned, within, reply)).await
    }

    /// Changes a breakpoint.
    pub async fn change_breakpoint(&self, id: BreakpointId, change: Change) -> Result<Breakpoint> {
        if let Some(rule) = &change.rule {
            self.policy().safety.check_rule(rule)?;
        }
        self.ask(move |actor, reply| actor.change_breakpoint(id, change, reply)).await
    }

    /// Says where a breakpoint belongs now. It is bound there at the next start.
    pub async fn relocate_breakpoint(&self, id: BreakpointId, to: Relocation) -> Result<()> {
        self.ask(move |actor, reply| {
            actor.breakpoints.relocate(id, to);
            answer(reply, Ok(()));
        })
        .await
    }

    /// Removes the breakpoints that `which` picks, and gives their ids.
    pub async fn remove_breakpoints<F>(&self, which: F) -> Result<Vec<BreakpointId>>
    where
        F: Fn(BreakpointId, &BreakpointTarget) -> bool + Send + 'static,
    {
        self.ask(|actor, reply| actor.remove_breakpoints(which, reply)).await
    }

    /// All breakpoints.
    pub async fn breakpoints(&self) -> Result<Vec<Breakpoint>> {
        self.ask(|actor, reply| answer(reply, Ok(actor.breakpoints.list(&actor.pending_reason())))).await
    }

    /// Sets the exceptions to stop at, and returns the previous ones. The condition is not checked; see
    /// [`Session::check_rule`].
    pub async fn set_exception_breakpoints(
        &self,
        wanted: ExceptionBreakpoints,
    ) -> Result<ExceptionBreakpoints> {
        self.policy().safety.check_condition(wanted.condition.as_deref())?;
        if wanted.condition.is_some() && !self.adapter().has_exception_conditions() {
            let instead = "leave out the condition, and evaluate at each stop";
            return Err(adapter::unsupported(self.adapter(), "a condition on exceptions", instead));
        }
        self.ask(|actor, reply| actor.set_exception_breakpoints(wanted, reply)).await
    }

    /// The exceptions to stop at, and how often their condition failed in the last run.
    pub async fn exception_breakpoints(&self) -> Result<(ExceptionBreakpoints, Option<Failures>)> {
        self.ask(|actor, reply| {
            answer(reply, Ok((actor.exceptions.clone(), actor.exception_failures.clone())));
        })
        .await
    }
}

type SyncWaiter = Box<dyn FnOnce(&Breakpoints, &Pending) + Send>;

/// A group with what is to be in it, to send to a process.
#[derive(Clone)]
enum BreakpointGroup {
    Source(PathBuf, Vec<SourceBreakpoint>),
    /// For processes of another language, and why none has bound it.
    Elsewhere(String, Vec<SourceBreakpoint>),
    Functions(Vec<FunctionBreakpoint>),
    Data(Vec<(TargetId, Vec<DataBreakpoint>)>),
}

type BindResults = Vec<(BreakpointId, BindResult)>;

impl Actor {
    fn add_breakpoint(
        &mut self,
        request: Request,
        planned: AdjustedPosition,
        within: Duration,
        reply: Reply<Breakpoint>,
    ) {
        let bounds = &self.sinks.policy.bounds;
        if self.breakpoints.count() as u64 >= bounds.breakpoints {
            let problem = "this session has the maximum number of breakpoints";
            return answer(reply, Err(bounds.reached("breakpoints", problem)));
        }
        let id = self.breakpoints.add(request, planned);
        let group = self.breakpoints.group_of(id);
        self.sync(group, within, Self::reply_with(id, reply));
    }

    fn change_breakpoint(&mut self, id: BreakpointId, change: Change, reply: Reply<Breakpoint>) {
        match self.breakpoints.change(id, change) {
            Some(group) => self.sync([group], deadlines::REQUEST, Self::reply_with(id, reply)),
            None => answer(reply, Err(Error::NoBreakpoint(id))),
        }
    }

    pub(super) fn remove_breakpoints(
        &mut self,
        which: impl Fn(BreakpointId, &BreakpointTarget) -> bool,
        reply: Reply<Vec<BreakpointId>>,
    ) {
        let (removed, groups) = self.breakpoints.remove(which);
        self.sync(groups, self.patience(), Box::new(move |_, _| answer(reply, Ok(removed))));
    }

    fn reply_with(id: BreakpointId, reply: Reply<Breakpoint>) -> SyncWaiter {
        Box::new(move |breakpoints, pending| {
            answer(reply, breakpoints.get(id, pending).ok_or(Error::NoBreakpoint(id)));
        })
    }

    /// Sends groups again, and calls `then` when that is done.
    fn sync(&mut self, groups: impl IntoIterator<Item = Group>, within: Duration, then: SyncWaiter) {
        self.breakpoint_sync.version += 1;
        self.breakpoint_sync.changed.extend(groups);
        let version = self.breakpoint_sync.version;
        self.breakpoint_sync.waiting.push((version, then));
        self.sync_next();
        if self.breakpoint_sync.under_way {
            // A program that does not answer holds up no caller for longer; its breakpoints are pending then.
            self.spawn(tokio::time::sleep(within), move |actor, ()| actor.answer_waiting(version));
        }
    }

    fn sync_next(&mut self) {
        if self.breakpoint_sync.under_way {
            return;
        }
        let groups = std::mem::take(&mut self.breakpoint_sync.changed);
        let version = self.breakpoint_sync.version;
        let contents: Vec<BreakpointGroup> = groups.into_iter().map(|group| self.content(group)).collect();
        let ready = self.ready_debuggers();
        if ready.is_empty() || contents.is_empty() {
            return self.finish_sync(version, Vec::new());
        }
        self.breakpoint_sync.under_way = true;
        let run = self.runs;
        let work = join_all(ready.into_iter().map(|(target, debugger)| {
            let contents = self.for_target(target, contents.clone());
            async move { (target, send(target, debugger.as_ref(), contents).await) }
        }));
        self.spawn(work, move |actor, outcomes| {
            actor.breakpoint_sync.under_way = false;
            // The result of an earlier run no longer matters.
            actor.finish_sync(version, if actor.runs == run { outcomes } else { Vec::new() });
            actor.sync_next();
        });
    }

    fn finish_sync(&mut self, version: u64, outcomes: Vec<(TargetId, BindResults)>) {
        for (target, outcomes) in outcomes {
            if self.debugger(target).is_ok() {
                self.breakpoints.answered(target, outcomes);
            }
        }
        self.answer_waiting(version);
    }

    /// Answers those who wait for this version or an earlier one.
    fn answer_waiting(&mut self, version: u64) {
        let pending = self.pending_reason();
        for (_, then) in self.breakpoint_sync.waiting.extract_if(.., |(waiting, _)| *waiting <= version) {
            then(&self.breakpoints, &pending);
        }
        self.breakpoints_changed();
    }

    fn content(&self, group: Group) -> BreakpointGroup {
        match group {
            Group::Source(path) => {
                let places = self.breakpoints.for_source(&path);
                BreakpointGroup::Source(path, places)
            }
            Group::Functions => BreakpointGroup::Functions(self.breakpoints.for_functions()),
            Group::Data => {
                let targets = self.ready_debuggers().into_iter().map(|(target, _)| target);
                let wanted = |target| (target, self.breakpoints.for_data(target));
                BreakpointGroup::Data(targets.map(wanted).collect())
            }
        }
    }

    /// What a process is sent. A file of another language than its own is for processes of that language.
    fn for_target(&self, target: TargetId, contents: Vec<BreakpointGroup>) -> Vec<BreakpointGroup> {
        let Some(own) =
            self.run.as_ref().and_then(|run| run.targets.get(&target)).map(|target| target.adapter)
        else {
            return contents;
        };
        let suited = |content| match content {
            BreakpointGroup::Source(path, places) => match adapter::other_language(own, &path) {
                Some(owner) => BreakpointGroup::Elsewhere(self.why_elsewhere(owner), places),
                None => BreakpointGroup::Source(path, places),
            },
            other => other,
        };
        contents.into_iter().map(suited).collect()
    }

    /// Why no process has bound a breakpoint in a file of another language.
    fn why_elsewhere(&self, owner: &dyn Adapter) -> String {
        let about = owner.about();
        let is_owned = |source: &PathBuf| {
            adapter::by_extension(source).is_some_and(|known| known.name() == owner.name())
        };
        match &self.last_start {
            Some(Start::Launch(launch)) if !launch.child_sources.iter().any(is_owned) => format!(
                "child processes in {about} run without a debugger, because the program was started before this \
                 breakpoint was set; start it again"
            ),
            _ => format!("no process that runs {about} has loaded the file"),
        }
    }

    /// Gives everything to a process that waits to be configured, then lets it run.
    pub(super) fn configure(&mut self, target: TargetId, reply: Option<Reply<()>>) {
        let Ok(debugger) = self.debugger(target) else { return reply_ok(reply) };
        let version = self.breakpoint_sync.version;
        let groups = self.breakpoints.groups();
        let contents = groups.into_iter().map(|group| self.content(group)).collect();
        let contents = self.for_target(target, contents);
        let mode = self.exceptions.mode;
        let sampling = self.sampling;
        let run = self.runs;
        let work = async move {
            let outcomes = send(target, debugger.as_ref(), contents).await;
            if let Some(interval) = sampling {
                // One of which no samples can be taken runs all the same.
                let _ = debugger.start_sampling(interval).await;
            }
            debugger.set_exception_mode(mode).await.map(|()| outcomes)
        };
        self.spawn(work, move |actor, result| {
            if actor.runs != run || actor.run.is_none() {
                return reply_ok(reply);
            }
            match result {
                Err(error) => actor.not_configured(target, error, reply),
                Ok(outcomes) => {
                    actor.breakpoints.answered(target, outcomes);
                    if actor.breakpoint_sync.version == version && actor.exceptions.mode == mode {
                        actor.configured(target, reply);
                    } else {
                        actor.configure(target, reply);
                    }
                }
            }
        });
    }

    pub(super) fn set_exception_breakpoints(
        &mut self,
        wanted: ExceptionBreakpoints,
        reply: Reply<ExceptionBreakpoints>,
    ) {
        let mode = wanted.mode;
        if self.exceptions.condition != wanted.condition {
            self.exception_failures = None;
        }
        let before = std::mem::replace(&mut self.exceptions, wanted);
        let debuggers = self.ready_debuggers();
        let sent = tokio::spawn(async move {
            let set = debuggers.iter().map(|(_, debugger)| debugger.set_exception_mode(mode));
            join_all(set).await
        });
        let patience = self.patience();
        let work = async move {
            match tokio::time::timeout(patience, sent).await {
                Ok(Ok(results)) => results.into_iter().collect::<Result<()>>().map(|()| before),
                // Those that have not answered have been asked, and do so before they run on.
                Ok(Err(_)) | Err(_) => Ok(before),
            }
        };
        self.spawn(work, |_, result| answer(reply, result));
    }

    /// How long a caller waits for all processes to know a change that takes effect when they run on.
    fn patience(&self) -> Duration {
        match self.state.execution() {
            Execution::Stopped(_) => deadlines::SIBLINGS,
            _ => deadlines::REQUEST,
        }
    }
}

/// Sends everything to one process, and returns what became of each.
async fn send(target: TargetId, debugger: &dyn Debugger, contents: Vec<BreakpointGroup>) -> BindResults {
    let mut outcomes = Vec::new();
    for content in contents {
        let (ids, results): (Vec<Vec<BreakpointId>>, _) = match content {
            BreakpointGroup::Source(path, places) => {
                let ids = places.iter().map(|place| RuleFor::ids(&place.rules)).collect();
                (ids, debugger.set_breakpoints(&path, places).await)
            }
            BreakpointGroup::Elsewhere(reason, places) => {
                let ids: Vec<_> = places.iter().map(|place| RuleFor::ids(&place.rules)).collect();
                let results = vec![BindResult::NotLoaded(reason); ids.len()];
                (ids, Ok(results))
            }
            BreakpointGroup::Functions(places) => {
                let ids = places.iter().map(|place| RuleFor::ids(&place.rules)).collect();
                (ids, debugger.set_function_breakpoints(places).await)
            }
            BreakpointGroup::Data(wanted) => {
                let Some((_, wanted)) = wanted.into_iter().find(|(of, _)| *of == target) else { continue };
                let ids = wanted.iter().map(|data| vec![data.rule.id]).collect();
                (ids, debugger.set_data_breakpoints(wanted).await)
            }
        };
        let results = results.unwrap_or_else(|error| vec![BindResult::Refused(error.to_string()); ids.len()]);
        for (ids, results) in ids.into_iter().zip(results) {
            outcomes.extend(ids.into_iter().map(|id| (id, results.clone())));
        }
    }
    outcomes
}
