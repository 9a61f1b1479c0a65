//! The model: one queue of stops that have not been resumed, each of a connected process; the first in the queue is
//! reported. A resume removes all stops of its process from the queue, and so does its end. A rejected resume goes to
//! the end of the queue. The number of a stop is one more than the number of stops reported before it.
//!
//! The program has ended when its end is known, and no connection is left.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::model::ids::{TargetId, ThreadId};
use crate::model::stop::{End, Stop, StopReason};
use crate::session::state::{Execution, State};

#[derive(Clone, Debug)]
enum Operation {
    Start,
    Arrived(u32),
    Running(u32),
    Stopped(u32, u32),
    Resuming,
    ShowOther,
    Refused,
    Resumed(u32),
    Left(u32),
    Ended(i32),
    HelperOutput,
}

fn operations() -> impl Strategy<Value = Operation> {
    let target = || 0..3_u32;
    prop_oneof![
        3 => Just(Operation::Start),
        1 => target().prop_map(Operation::Arrived),
        3 => target().prop_map(Operation::Running),
        6 => (target(), 0..2_u32).prop_map(|(target, thread)| Operation::Stopped(target, thread)),
        5 => Just(Operation::Resuming),
        1 => Just(Operation::ShowOther),
        2 => Just(Operation::Refused),
        2 => target().prop_map(Operation::Resumed),
        2 => target().prop_map(Operation::Left),
        1 => (0..3_i32).prop_map(Operation::Ended),
        1 => Just(Operation::HelperOutput),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Created,
    Starting,
    Up,
    Over,
}

#[derive(Debug)]
struct Model {
    phase: Phase,
    /// Processes, and whether each is suspended.
    connected: BTreeMap<u32, bool>,
    /// Process, thread, and the number where it was shown.
    line: Vec<(u32, u32, Option<u64>)>,
    shown: u64,
    end: Option<i32>,
}

impl Model {
    fn is_live(&self) -> bool {
        matches!(self.phase, Phase::Starting | Phase::Up)
    }

    /// The first in the queue is reported.
    fn show_first(&mut self) {
        if let Some((.., number @ None)) = self.line.first_mut() {
            self.shown += 1;
            *number = Some(self.shown);
        }
    }

    fn takes_out(&mut self, target: u32) {
        self.line.retain(|(of, ..)| *of != target);
        self.show_first();
    }

    fn left(&mut self, target: u32) {
        self.connected.remove(&target);
        self.takes_out(target);
        if self.connected.is_empty() && self.end.take().is_some() {
            self.over();
        }
    }

    fn over(&mut self) {
        self.phase = Phase::Over;
        self.connected.clear();
        self.line.clear();
        self.end = None;
    }
}

fn stop(target: u32, thread: u32) -> Stop {
    Stop {
        epoch: 0,
        target: TargetId(target),
        thread: ThreadId(thread),
        reason: StopReason::Breakpoint,
        text: None,
        breakpoints: Vec::new(),
        changes: Vec::new(),
        is_simultaneous: false,
    }
}

/// The phase, what is shown (process, thread, number), how many were shown, and which processes are suspended.
type Observation = (Phase, Option<(u32, u32, u64)>, u64, Vec<bool>);

/// What can be seen of it.
fn seen(state: &State) -> Observation {
    let phase = match state.execution() {
        Execution::Created => Phase::Created,
        Execution::Starting => Phase::Starting,
        Execution::Running | Execution::Stopped(_) => Phase::Up,
        Execution::Ended(_) => Phase::Over,
    };
    let shown = state.execution().stop().map(|stop| (stop.target.0, stop.thread.0, stop.epoch));
    (phase, shown, state.epoch(), (0..3).map(|target| state.is_stopped(TargetId(target))).collect())
}

fn expected(model: &Model) -> Observation {
    let shown = model.line.first().map(|(target, thread, number)| (*target, *thread, number.unwrap_or(0)));
    let stopped = (0..3).map(|target| model.connected.get(&target) == Some(&true)).collect();
    (model.phase, shown, model.shown, stopped)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_stop_is_lost_or_shown_twice(operations in prop::collection::vec(operations(), 1..60)) {
        let mut state = State::new();
        let mut model =
            Model { phase: Phase::Created, connected: BTreeMap::new(), line: Vec::new(), shown: 0, end: None };
        let mut resumed: Option<Arc<Stop>> = None;
        for operation in operations {
            match operation.clone() {
                Operation::Start => {
                    prop_assert_eq!(state.start(), !model.is_live());
                    if !model.is_live() {
                        model.over();
                        model.phase = Phase::Starting;
                    }
                }
                Operation::Arrived(target) => {
                    // A process connects once, and only to a program that is there.
                    if model.is_live() && !model.connected.contains_key(&target) {
                        state.arrived(TargetId(target));
                        model.connected.insert(target, false);
                    }
                }
                Operation::Running(target) => {
                    if model.is_live() {
                        state.running(TargetId(target));
                        model.connected.entry(target).or_insert(false);
                        model.phase = Phase::Up;
                    }
                }
                Operation::Stopped(target, thread) => {
                    state.stopped(stop(target, thread));
                    model.connected.insert(target, true);
                    if model.is_live() {
                        model.phase = Phase::Up;
                        model.line.push((target, thread, None));
                        model.show_first();
                    }
                }
                Operation::Resuming => {
                    let stop = state.resuming();
                    let first = model.line.first().copied();
                    prop_assert_eq!(stop.as_ref().map(|stop| stop.target.0), first.map(|first| first.0));
                    if let Some((target, ..)) = first {
                        model.connected.insert(target, false);
                        model.takes_out(target);
                        resumed = stop;
                    }
                }
                Operation::ShowOther => {
                    let first = model.line.first().map(|first| first.0);
                    let other = model.line.iter().skip(1).position(|(target, ..)| Some(*target) == first);
                    prop_assert_eq!(state.show_other_thread(), other.is_some());
                    if let Some(at) = other {
                        let other = model.line.remove(at + 1);
                        model.line[0] = (other.0, other.1, None);
                        model.show_first();
                    }
                }
                Operation::Refused => {
                    let Some(stop) = resumed.take() else { continue };
                    state.refused(&stop);
                    // It was stopped again since, or is gone.
                    if model.connected.get(&stop.target.0) == Some(&false) && model.phase == Phase::Up {
                        let number = model.line.is_empty().then_some(stop.epoch);
                        model.connected.insert(stop.target.0, true);
                        model.line.push((stop.target.0, stop.thread.0, number));
                    }
                }
                Operation::Resumed(target) => {
                    state.resumed(TargetId(target));
                    if let Some(suspended) = model.connected.get_mut(&target) {
                        *suspended = false;
                    }
                    model.takes_out(target);
                }
                Operation::Left(target) => {
                    state.left(TargetId(target));
                    model.left(target);
                }
                Operation::Ended(code) => {
                    state.ended(End::Exited(code));
                    if model.is_live() {
                        model.end = Some(code);
                        model.left(0);
                    }
                }
                Operation::HelperOutput => {
                    state.finished(End::Detached);
                    model.over();
                }
            }
            prop_assert_eq!(seen(&state), expected(&model), "after {:?}", operation);
        }
    }
}
