//! Telling the processes about breakpoints.
//!
//! Breakpoints are replaced a group at a time, so an answer that is overtaken by a newer one would undo it.
//! Hence one planting at a time: changes that come meanwhile are collected, and planted together after it.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;

use super::super::breakpoints::{Breakpoints, Change, Group};
use super::program::never_mind;
use super::{Actor, Reply, Which, answer};
use crate::deadlines;
use crate::debugger::{Connector, Debugger, FunctionBreakpoint, Planted, RuleFor, SourceBreakpoint};
use crate::error::Error;
use crate::model::breakpoint::{Breakpoint, Pending, Planned, Request};
use crate::model::ids::{BreakpointId, TargetId};
use crate::model::stop::ExceptionBreakpoints;

/// What is to be planted.
#[derive(Default)]
pub(super) struct Planter {
    under_way: bool,
    /// Counts the changes, so that a process that is being configured notices that it missed one.
    version: u64,
    changed: BTreeSet<Group>,
    /// Who waits for changes to be planted, with the version that has them.
    waiting: Vec<(u64, Waiting)>,
}

type Waiting = Box<dyn FnOnce(&Breakpoints, &Pending) + Send>;

/// A group with what is to be in it.
#[derive(Clone)]
enum Content {
    Source(std::path::PathBuf, Vec<SourceBreakpoint>),
    Functions(Vec<FunctionBreakpoint>),
}

type Outcomes = Vec<(BreakpointId, Planted)>;

impl<C: Connector> Actor<C> {
    pub(super) fn add_breakpoint(
        &mut self,
        request: Request,
        planned: Planned,
        within: Duration,
        reply: Reply<Breakpoint>,
    ) {
        let bounds = &self.sinks.policy.bounds;
        if self.breakpoints.count() as u64 >= bounds.breakpoints {
            let problem = "this session has as many breakpoints as it may have";
            return answer(reply, Err(bounds.met("breakpoints", problem)));
        }
        let id = self.breakpoints.add(request, planned);
        let group = self.breakpoints.group_of(id);
        self.plant(group, within, Self::tell_one(id, reply));
    }

    pub(super) fn change_breakpoint(&mut self, id: BreakpointId, change: Change, reply: Reply<Breakpoint>) {
        match self.breakpoints.change(id, change) {
            Some(group) => self.plant([group], deadlines::REQUEST, Self::tell_one(id, reply)),
            None => answer(reply, Err(Error::NoBreakpoint(id))),
        }
    }

    pub(super) fn remove_breakpoints(&mut self, which: Which, reply: Reply<Vec<BreakpointId>>) {
        let (removed, groups) = self.breakpoints.remove(which);
        self.plant(groups, deadlines::REQUEST, Box::new(move |_, _| answer(reply, Ok(removed))));
    }

    fn tell_one(id: BreakpointId, reply: Reply<Breakpoint>) -> Waiting {
        Box::new(move |breakpoints, untold| {
            answer(reply, breakpoints.get(id, untold).ok_or(Error::NoBreakpoint(id)));
        })
    }

    /// Plants groups again, and calls `then` when that is done.
    fn plant(&mut self, groups: impl IntoIterator<Item = Group>, within: Duration, then: Waiting) {
        self.planter.version += 1;
        self.planter.changed.extend(groups);
        let version = self.planter.version;
        self.planter.waiting.push((version, then));
        self.plant_next();
        if self.planter.under_way {
            // A program that does not answer holds up nobody for longer; its breakpoints are pending then.
            self.spawn(tokio::time::sleep(within), move |actor, ()| actor.tell(version));
        }
    }

    fn plant_next(&mut self) {
        if self.planter.under_way {
            return;
        }
        let groups = std::mem::take(&mut self.planter.changed);
        let version = self.planter.version;
        let contents: Vec<Content> = groups.into_iter().map(|group| self.content(group)).collect();
        let ready = self.ready_debuggers();
        if ready.is_empty() || contents.is_empty() {
            return self.planted(version, Vec::new());
        }
        self.planter.under_way = true;
        let run = self.runs;
        let work = join_all(ready.into_iter().map(|(target, debugger)| {
            let contents = contents.clone();
            async move { (target, send(&debugger, contents).await) }
        }));
        self.spawn(work, move |actor, outcomes| {
            actor.planter.under_way = false;
            // What an earlier run made of it does not matter any more.
            actor.planted(version, if actor.runs == run { outcomes } else { Vec::new() });
            actor.plant_next();
        });
    }

    fn planted(&mut self, version: u64, outcomes: Vec<(TargetId, Outcomes)>) {
        for (target, outcomes) in outcomes {
            if self.debugger(target).is_ok() {
                self.breakpoints.settle(target, outcomes);
            }
        }
        self.tell(version);
    }

    /// Answers those who wait for this version or an earlier one.
    fn tell(&mut self, version: u64) {
        let untold = self.untold();
        for (_, then) in self.planter.waiting.extract_if(.., |(waiting, _)| *waiting <= version) {
            then(&self.breakpoints, &untold);
        }
        self.journal_breakpoints();
    }

    fn content(&self, group: Group) -> Content {
        match group {
            Group::Source(path) => {
                let places = self.breakpoints.for_source(&path);
                Content::Source(path, places)
            }
            Group::Functions => Content::Functions(self.breakpoints.for_functions()),
        }
    }

    /// Gives everything to a process that waits to be configured, then lets it run.
    pub(super) fn configure(&mut self, target: TargetId, reply: Option<Reply<()>>) {
        let Ok(debugger) = self.debugger(target) else { return never_mind(reply) };
        let version = self.planter.version;
        let groups = self.breakpoints.groups();
        let contents: Vec<Content> = groups.into_iter().map(|group| self.content(group)).collect();
        let mode = self.exceptions.mode;
        let sampling = self.sampling;
        let run = self.runs;
        let work = async move {
            let outcomes = send(&debugger, contents).await;
            if let Some(interval) = sampling {
                // One of which no samples can be taken runs all the same.
                let _ = debugger.start_sampling(interval).await;
            }
            debugger.set_exception_mode(mode).await.map(|()| outcomes)
        };
        self.spawn(work, move |actor, result| {
            if actor.runs != run || actor.run.is_none() {
                return never_mind(reply);
            }
            match result {
                Err(error) => actor.not_configured(target, error, reply),
                Ok(outcomes) => {
                    actor.breakpoints.settle(target, outcomes);
                    if actor.planter.version == version && actor.exceptions.mode == mode {
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
        let work = async move {
            for (_, debugger) in debuggers {
                debugger.set_exception_mode(mode).await?;
            }
            Ok(before)
        };
        self.spawn(work, |_, result| answer(reply, result));
    }
}

/// Plants everything in one process, and says what became of each.
async fn send<D: Debugger>(debugger: &D, contents: Vec<Content>) -> Outcomes {
    let mut outcomes = Vec::new();
    for content in contents {
        let (ids, planted): (Vec<Vec<BreakpointId>>, _) = match content {
            Content::Source(path, places) => {
                let ids = places.iter().map(|place| RuleFor::ids(&place.rules)).collect();
                (ids, debugger.set_breakpoints(&path, places).await)
            }
            Content::Functions(places) => {
                let ids = places.iter().map(|place| RuleFor::ids(&place.rules)).collect();
                (ids, debugger.set_function_breakpoints(places).await)
            }
        };
        let planted = planted.unwrap_or_else(|error| vec![Planted::Refused(error.to_string()); ids.len()]);
        for (ids, planted) in ids.into_iter().zip(planted) {
            outcomes.extend(ids.into_iter().map(|id| (id, planted.clone())));
        }
    }
    outcomes
}
