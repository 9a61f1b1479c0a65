//! The state of a session's program: a pure function from events to state.
//!
//! A session may have several processes (targets), each of which stops on its own. One stop is shown at a
//! time; those that come meanwhile wait in a queue, and resuming shows the next one, so that none is lost.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::model::ids::TargetId;
use crate::model::stop::{End, Stop};

/// What a session's program is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execution {
    /// Nothing was started yet.
    Created,
    /// The program is being started.
    Starting,
    /// It runs.
    Running,
    /// It is suspended.
    Stopped(Arc<Stop>),
    /// It has ended, and its output is complete.
    Ended(Arc<End>),
}

impl Execution {
    /// The stop, when it is suspended.
    pub fn stop(&self) -> Option<&Arc<Stop>> {
        match self {
            Self::Stopped(stop) => Some(stop),
            _ => None,
        }
    }

    /// A program is there, or about to be.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Stopped(_))
    }

    /// There is something to report: a stop, or the end.
    pub fn is_settled(&self) -> bool {
        matches!(self, Self::Stopped(_) | Self::Ended(_))
    }

    /// `created`, `running`, `paused` or `ended`. A program that could not be started leaves its session as
    /// if it had never been requested.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Ended(end) if matches!(**end, End::NotStarted(_)) => "created",
            Self::Created => "created",
            Self::Starting | Self::Running => "running",
            Self::Stopped(_) => "paused",
            Self::Ended(_) => "ended",
        }
    }
}

/// The state of one session.
#[derive(Debug)]
pub(crate) struct State {
    execution: Execution,
    epoch: u64,
    /// Connected processes, and whether each is suspended.
    targets: BTreeMap<TargetId, bool>,
    /// Stops that are not shown yet. Their epoch is given when they are.
    waiting: VecDeque<Stop>,
    /// How the program ended, while processes that it started still run.
    ended: Option<End>,
}

impl State {
    pub(crate) fn new() -> Self {
        Self {
            execution: Execution::Created,
            epoch: 0,
            targets: BTreeMap::new(),
            waiting: VecDeque::new(),
            ended: None,
        }
    }

    pub(crate) fn execution(&self) -> &Execution {
        &self.execution
    }

    /// Counts the stops so far.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether a process is suspended.
    pub(crate) fn is_stopped(&self, target: TargetId) -> bool {
        self.targets.get(&target) == Some(&true)
    }

    /// Every process has left, and how the program ended is not known yet.
    pub(crate) fn is_leaving(&self) -> bool {
        self.execution == Execution::Running && self.targets.is_empty()
    }

    /// How the program itself ended, while processes that it started still run.
    pub(crate) fn program_ended(&self) -> Option<&End> {
        self.ended.as_ref()
    }

    /// A start begins. False when a program is there already.
    pub(crate) fn start(&mut self) -> bool {
        if self.execution.is_live() {
            return false;
        }
        self.execution = Execution::Starting;
        self.targets.clear();
        self.waiting.clear();
        self.ended = None;
        true
    }

    /// A process has connected, and waits to be configured. The program does not end without it.
    pub(crate) fn arrived(&mut self, target: TargetId) {
        self.targets.insert(target, false);
    }

    /// A process is configured, and runs from now on.
    pub(crate) fn running(&mut self, target: TargetId) {
        // A stop may overtake the acknowledgement that lets the process run.
        self.targets.entry(target).or_insert(false);
        if self.execution == Execution::Starting {
            self.execution = Execution::Running;
        }
    }

    /// A process is suspended. The epoch of `stop` is given here.
    pub(crate) fn stopped(&mut self, stop: Stop) {
        self.targets.insert(stop.target, true);
        match self.execution {
            Execution::Starting | Execution::Running => self.show(stop),
            Execution::Stopped(_) => self.waiting.push_back(stop),
            Execution::Created | Execution::Ended(_) => {}
        }
    }

    /// A resume or step of the process that is shown as stopped is about to be sent. Nothing when the
    /// session is not stopped.
    ///
    /// The state changes before the request is sent, so that a stop that overtakes the acknowledgement is
    /// a newer one.
    pub(crate) fn resuming(&mut self) -> Option<Arc<Stop>> {
        let stop = Arc::clone(self.execution.stop()?);
        self.resumed(stop.target);
        Some(stop)
    }

    /// Shows the stop of another thread of the process that is shown as stopped, where there is one. It
    /// came to its stop at the same time, so nothing has to run for it.
    pub(crate) fn show_other_thread(&mut self) -> bool {
        let Some(target) = self.execution.stop().map(|stop| stop.target) else { return false };
        let Some(at) = self.waiting.iter().position(|stop| stop.target == target) else { return false };
        let other = self.waiting.remove(at);
        other.map(|stop| self.show(Stop { is_simultaneous: true, ..stop })).is_some()
    }

    /// The resume was refused: the process is where it was.
    pub(crate) fn refused(&mut self, stop: &Arc<Stop>) {
        if self.targets.get(&stop.target) != Some(&false) {
            return;
        }
        match &self.execution {
            Execution::Running => self.execution = Execution::Stopped(Arc::clone(stop)),
            Execution::Stopped(_) => {
                self.waiting.push_back(Stop { is_simultaneous: false, ..(**stop).clone() });
            }
            // It was of an earlier program.
            _ => return,
        }
        self.targets.insert(stop.target, true);
    }

    /// A process runs again.
    pub(crate) fn resumed(&mut self, target: TargetId) {
        if let Some(stopped) = self.targets.get_mut(&target) {
            *stopped = false;
        }
        self.forget_stops_of(target);
    }

    /// A process is gone, or its connection is.
    pub(crate) fn left(&mut self, target: TargetId) {
        self.targets.remove(&target);
        self.forget_stops_of(target);
        self.end_if_all_left();
    }

    /// The program itself ended. Processes that it started may go on.
    ///
    /// Its connection counts as closed, even when a forked child has inherited it and holds it open.
    pub(crate) fn ended(&mut self, end: End) {
        if !self.execution.is_live() {
            return;
        }
        self.ended = Some(end);
        self.left(TargetId::PROGRAM);
    }

    /// The program no longer matters: it was detached, or did not start.
    pub(crate) fn finished(&mut self, end: End) {
        self.targets.clear();
        self.waiting.clear();
        self.ended = None;
        self.execution = Execution::Ended(Arc::new(end));
    }

    fn show(&mut self, mut stop: Stop) {
        self.epoch += 1;
        stop.epoch = self.epoch;
        self.execution = Execution::Stopped(Arc::new(stop));
    }

    fn forget_stops_of(&mut self, target: TargetId) {
        self.waiting.retain(|stop| stop.target != target);
        if self.execution.stop().is_some_and(|stop| stop.target == target) {
            self.execution = Execution::Running;
            if let Some(next) = self.waiting.pop_front() {
                self.show(next);
            }
        }
    }

    fn end_if_all_left(&mut self) {
        if self.targets.is_empty()
            && let Some(end) = self.ended.take()
        {
            self.finished(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::ThreadId;
    use crate::model::stop::StopReason;

    const PROGRAM: TargetId = TargetId::PROGRAM;
    const CHILD: TargetId = TargetId(1);

    fn stop(target: TargetId) -> Stop {
        Stop {
            epoch: 0,
            target,
            thread: ThreadId(target.0 + 1),
            reason: StopReason::Breakpoint,
            text: None,
            breakpoints: Vec::new(),
            changes: Vec::new(),
            is_simultaneous: false,
        }
    }

    /// One word for each step and state, so that the table is readable.
    fn play(steps: &str) -> String {
        let mut state = State::new();
        let mut last = None;
        let mut seen = Vec::new();
        for step in steps.split_whitespace() {
            match step {
                "start" => assert!(state.start()),
                "run" => state.running(PROGRAM),
                "child-arrive" => state.arrived(CHILD),
                "child" => state.running(CHILD),
                "stop" => state.stopped(stop(PROGRAM)),
                "child-stop" => state.stopped(stop(CHILD)),
                "other" => assert!(state.show_other_thread()),
                "none" => assert!(!state.show_other_thread()),
                "resume" => last = Some(state.resuming().expect("a stop to resume from")),
                "refuse" => state.refused(last.as_ref().expect("a resume to refuse")),
                "continued" => state.resumed(PROGRAM),
                "leave" => state.left(PROGRAM),
                "child-leave" => state.left(CHILD),
                "exit" => state.ended(End::Exited(3)),
                "detach" => state.finished(End::Detached),
                other => panic!("unknown step {other}"),
            }
            seen.push(match state.execution() {
                Execution::Created => "created".to_owned(),
                Execution::Starting => "starting".to_owned(),
                Execution::Running => "running".to_owned(),
                Execution::Stopped(stop) => format!("{}@{}", stop.epoch, stop.target.0),
                Execution::Ended(end) => match **end {
                    End::Exited(code) => format!("exit{code}"),
                    _ => "detached".to_owned(),
                },
            });
        }
        seen.join(" ")
    }

    #[test]
    fn state_transitions() {
        let table = [
            ("a run to the end", "start run leave exit", "starting running running exit3"),
            ("the exit is seen first", "start run exit leave", "starting running exit3 exit3"),
            ("stop and go", "start run stop resume stop", "starting running 1@0 running 2@0"),
            ("a stop overtakes the acknowledgement", "start stop run resume", "starting 1@0 1@0 running"),
            ("a refused resume", "start run stop resume refuse", "starting running 1@0 running 1@0"),
            (
                "a refusal after a newer stop changes nothing",
                "start run stop resume stop refuse",
                "starting running 1@0 running 2@0 2@0",
            ),
            (
                "two processes stop, one after the other is shown",
                "start run child stop child-stop resume resume",
                "starting running running 1@0 1@0 2@1 running",
            ),
            (
                "the stopped process is killed",
                "start run child stop leave child-leave exit",
                "starting running running 1@0 running running exit3",
            ),
            (
                "a child outlives the program and still stops",
                "start run child leave exit child-stop resume child-leave",
                "starting running running running running 1@1 running exit3",
            ),
            (
                "a child that is not configured yet keeps the program from ending",
                "start run child-arrive exit child child-stop child-leave",
                "starting running running running running 1@1 exit3",
            ),
            (
                "two threads stop at once and are shown in turn",
                "start run stop stop other none resume stop",
                "starting running 1@0 1@0 2@0 2@0 running 3@0",
            ),
            (
                "the debugger resumes by itself",
                "start run stop continued stop",
                "starting running 1@0 running 2@0",
            ),
            (
                "a second run counts its stops on",
                "start run stop exit start run stop",
                "starting running 1@0 exit3 starting running 2@0",
            ),
            ("a late stop after the end", "start run detach stop", "starting running detached detached"),
            (
                "a queued stop dies with its process",
                "start run child stop child-stop child-leave resume",
                "starting running running 1@0 1@0 1@0 running",
            ),
            (
                "a refusal while another stop is shown queues the first one again",
                "start run child stop child-stop resume refuse resume",
                "starting running running 1@0 1@0 2@1 2@1 3@0",
            ),
        ];
        for (name, steps, expected) in table {
            assert_eq!(play(steps), expected, "{name}: {steps}");
        }
    }

    #[test]
    fn a_running_program_cannot_be_started_again() {
        let mut state = State::new();
        assert!(state.start());
        assert!(!state.start());
        state.running(PROGRAM);
        state.running(CHILD);
        assert!(!state.start());
        state.ended(End::Exited(0));
        assert!(!state.start(), "a process of it is still connected");
        state.left(CHILD);
        assert!(state.start());
    }
}
