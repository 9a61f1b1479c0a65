//! Races, by a scripted debugger in paused time.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::adapter::{self, Machine};
use crate::debugger::fake::{self, Arrivals, FakeConnector, FakeDebugger, FakeProgram};
use crate::debugger::{Arrival, Event, Step};
use crate::error::Error;
use crate::model::breakpoint::{
    AdjustedPosition, Binding, Breakpoint, BreakpointTarget, Failures, Request, Rule,
};
use crate::model::ids::{BreakpointId, RawId};
use crate::model::launch::{Launch, Program, Start};
use crate::model::stop::{End, ExceptionBreakpoints, ExceptionMode, StopReason};
use crate::session::state::Execution;
use crate::session::{Outcome, Session, SessionOptions, UntilNextStop};
use journal::Journal;

/// A session whose program is in the hands of the test.
struct Scene {
    session: Session,
    arrivals: Arrivals,
    program: FakeDebugger,
    events: mpsc::Sender<Event>,
    programs: mpsc::UnboundedSender<FakeProgram>,
}

fn launch() -> Start {
    Start::Launch(Launch::new(Program::Module("m".to_owned())))
}

impl Scene {
    /// The program is about to connect.
    fn before_start() -> (Self, Arrival) {
        let (connector, programs) = FakeConnector::new();
        let session = Session::spawn(SessionOptions {
            id: crate::model::ids::SessionId::random(),
            name: "test".to_owned(),
            adapter: adapter::by_name("python").unwrap(),
            host: &Machine,
            executable: None,
            connector: std::sync::Arc::new(connector),
            journal: Journal::none(),
            policy: std::sync::Arc::default(),
        });
        let (program, arrivals) = FakeProgram::new();
        programs.send(program).unwrap();
        let (debugger, events, arrival) = fake::process();
        let scene = Self { session, arrivals, program: debugger, events, programs };
        (scene, arrival)
    }

    async fn running() -> Self {
        let (scene, arrival) = Self::before_start();
        scene.arrivals.send(arrival).await.unwrap();
        scene.session.start(launch()).await.unwrap();
        scene.program.take_log();
        scene
    }

    async fn stopped() -> Self {
        let scene = Self::running().await;
        scene.stop().await;
        assert!(matches!(scene.wait().await, Outcome::Stopped(_)));
        scene
    }

    async fn stop(&self) {
        self.events.send(stopped(StopReason::Breakpoint)).await.unwrap();
    }

    async fn wait(&self) -> Outcome {
        self.session.wait(Instant::now() + Duration::from_mins(1)).await
    }

    fn epoch(&self) -> u64 {
        self.session.execution().stop().map_or(0, |stop| stop.epoch)
    }
}

fn stopped(reason: StopReason) -> Event {
    Event::Stopped { thread: RawId(1), reason, text: None, breakpoints: vec![] }
}

fn at(line: u32) -> Request {
    Request {
        place: BreakpointTarget::Line { path: "/a.py".into(), line, column: None, anchor: None },
        rule: Rule::default(),
    }
}

/// Gives every other task the chance to get stuck.
async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_the_resume_reply_is_a_new_stop() {
    let scene = Scene::stopped().await;
    scene.program.hold("resume");
    let resumed = tokio::spawn({
        let session = scene.session.clone();
        async move { session.resume().await }
    });
    scene.program.asked("resume").await;
    assert_eq!(scene.session.execution(), Execution::Running, "running before the resume is acknowledged");
    scene.stop().await;
    assert!(matches!(scene.wait().await, Outcome::Stopped(stop) if stop.epoch == 2));
    assert_eq!(resumed.await.unwrap(), Ok(()), "the stop stands in for the acknowledgement");
    scene.program.release("resume");
    settle().await;
    assert_eq!(scene.epoch(), 2, "the late acknowledgement changes nothing");
}

/// Running would take the frames of the thread that waits to be shown.
#[tokio::test(start_paused = true)]
async fn a_step_first_shows_a_thread_that_has_stopped_at_the_same_time() {
    let scene = Scene::stopped().await;
    scene.stop().await;
    settle().await;
    assert_eq!(scene.epoch(), 1);
    scene.program.take_log();
    scene.session.step(None, Step::Over).await.unwrap();
    assert_eq!((scene.epoch(), scene.program.take_log()), (2, Vec::new()));
    assert!(matches!(scene.wait().await, Outcome::Stopped(stop) if stop.is_simultaneous));
    scene.session.step(None, Step::Over).await.unwrap();
    assert_eq!(scene.session.execution(), Execution::Running);
    assert_eq!(scene.program.take_log(), ["step Over 1"]);
    scene.stop().await;
    assert!(matches!(scene.wait().await, Outcome::Stopped(stop) if !stop.is_simultaneous));
}

/// It suspends the whole process, and with it what would acknowledge.
#[tokio::test(start_paused = true)]
async fn a_stop_of_the_other_debugger_of_a_process_ends_a_resume() {
    let scene = Scene::running().await;
    let (other, other_events, arrival) = fake::process();
    for debugger in [&scene.program, &other] {
        debugger.debug_process(7);
    }
    scene.arrivals.send(Arrival { adapter: adapter::by_name("c").unwrap(), ..arrival }).await.unwrap();
    other.asked("run").await;
    scene.stop().await;
    assert!(matches!(scene.wait().await, Outcome::Stopped(_)));
    scene.program.hold("resume");
    let resumed = tokio::spawn({
        let session = scene.session.clone();
        async move { session.resume().await }
    });
    scene.program.asked("resume").await;
    other_events.send(stopped(StopReason::Breakpoint)).await.unwrap();
    let resumed = tokio::time::timeout(Duration::from_secs(1), resumed).await;
    assert_eq!(resumed.expect("it does not wait").unwrap(), Ok(()));
    assert!(matches!(scene.wait().await, Outcome::Stopped(stop) if stop.epoch == 2));
}

#[tokio::test(start_paused = true)]
async fn a_refused_resume_keeps_the_same_stop() {
    let scene = Scene::stopped().await;
    scene.program.refuse("resume", Error::Refused("not now".to_owned()));
    assert_eq!(scene.session.resume().await, Err(Error::Refused("not now".to_owned())));
    assert_eq!(scene.epoch(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_resume_is_not_a_refusal() {
    let scene = Scene::stopped().await;
    let late = Error::Deadline { what: "resume".to_owned(), after: Duration::from_secs(5) };
    scene.program.refuse("resume", late);
    assert_eq!(scene.session.resume().await, Ok(()));
    assert_eq!(scene.session.execution(), Execution::Running);
}

#[tokio::test(start_paused = true)]
async fn pause_and_inspection_work_while_other_calls_wait() {
    let scene = Scene::running().await;
    let waiting = tokio::spawn({
        let session = scene.session.clone();
        async move { session.wait(Instant::now() + Duration::from_mins(1)).await }
    });
    settle().await;
    scene.session.pause(None).await.unwrap();
    assert_eq!(scene.program.take_log(), ["threads", "pause 1"]);
    scene.events.send(stopped(StopReason::Pause)).await.unwrap();
    assert!(matches!(waiting.await.unwrap(), Outcome::Stopped(stop) if stop.reason == StopReason::Pause));
}

#[tokio::test(start_paused = true)]
async fn a_hanging_evaluation_does_not_delay_other_calls() {
    let scene = Scene::stopped().await;
    let frame = scene.session.stack_trace(None, 0, 1).await.unwrap().frames.remove(0).id;
    scene.program.hold("evaluate");
    let evaluation = tokio::spawn({
        let session = scene.session.clone();
        async move { session.evaluate(frame, "f()".to_owned(), Duration::from_secs(5), 100, false).await }
    });
    scene.program.asked("evaluate").await;
    assert_eq!(scene.session.scopes(frame).await.unwrap().len(), 1);
    scene.session.resume().await.unwrap();
    scene.program.release("evaluate");
    assert!(evaluation.await.unwrap().is_ok(), "a plain value is good after the program went on");
    assert_eq!(scene.session.scopes(frame).await.unwrap_err().code(), "stale_reference");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_exits_answers_waiting_calls() {
    let scene = Scene::running().await;
    let waiting = tokio::spawn({
        let session = scene.session.clone();
        async move { session.wait(Instant::now() + Duration::from_mins(1)).await }
    });
    settle().await;
    drop(scene.events);
    assert!(matches!(waiting.await.unwrap(), Outcome::Ended(end) if *end == End::Lost));
    assert_eq!(scene.session.resume().await.unwrap_err().code(), "not_paused");
    assert_eq!(scene.session.threads().await.unwrap_err().code(), "not_started");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_exits_before_it_reports_running_has_run() {
    let (scene, arrival) = Scene::before_start();
    scene.program.refuse("run", Error::Lost);
    scene.arrivals.send(arrival).await.unwrap();
    assert_eq!(scene.session.start(launch()).await, Ok(()));
    drop(scene.events);
    let ended = scene.session.wait(Instant::now() + Duration::from_mins(1)).await;
    assert!(matches!(ended, Outcome::Ended(end) if *end == End::Lost));
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_events_before_the_resume_reply_does_not_stall() {
    let scene = Scene::stopped().await;
    scene.program.hold("resume");
    let session = scene.session.clone();
    let resumed = tokio::spawn(async move { session.resume().await });
    scene.program.asked("resume").await;
    for number in 0..1000 {
        let event = Event::Logged { id: BreakpointId(1), text: number.to_string() };
        scene.events.send(event).await.unwrap();
    }
    scene.program.release("resume");
    assert_eq!(resumed.await.unwrap(), Ok(()));
    settle().await;
    assert!(scene.session.output().read(0, 100_000).text().ends_with("\n999\n"));
}

#[tokio::test(start_paused = true)]
async fn changes_during_a_sync_are_sent_together_after_it() {
    let scene = Scene::running().await;
    scene.program.hold("bind");
    let add = |line| {
        let session = scene.session.clone();
        tokio::spawn(
            async move { session.add_breakpoint(at(line), AdjustedPosition::default()).await.unwrap() },
        )
    };
    let first = add(1);
    scene.program.asked("bind 1").await;
    let (second, third) = (add(2), add(3));
    settle().await;
    scene.program.release("bind");
    for added in [first, second, third] {
        assert!(matches!(added.await.unwrap().binding, Binding::Bound { .. }));
    }
    assert_eq!(scene.program.take_log(), ["bind 1", "bind 1,2,3"]);
}

#[tokio::test(start_paused = true)]
async fn breakpoint_set_during_start_is_bound_before_program_runs() {
    let (scene, arrival) = Scene::before_start();
    scene.session.add_breakpoint(at(1), AdjustedPosition::default()).await.unwrap();
    scene.program.hold("bind");
    let session = scene.session.clone();
    let started = tokio::spawn(async move { session.start(launch()).await });
    scene.arrivals.send(arrival).await.unwrap();
    scene.program.asked("bind 1").await;
    scene.session.add_breakpoint(at(2), AdjustedPosition::default()).await.unwrap();
    scene.program.release("bind");
    started.await.unwrap().unwrap();
    let log = scene.program.take_log();
    assert_eq!(log, ["prepare", "bind 1", "exceptions uncaught", "bind 1,2", "exceptions uncaught", "run"]);
    let bound = scene.session.breakpoints().await.unwrap();
    assert!(bound.iter().all(Breakpoint::is_verified), "{bound:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pause_requested_during_start_applies_once_the_program_runs() {
    let (scene, arrival) = Scene::before_start();
    scene.program.hold("prepare");
    let session = scene.session.clone();
    let started = tokio::spawn(async move { session.start(launch()).await });
    scene.arrivals.send(arrival).await.unwrap();
    scene.program.asked("prepare").await;
    let session = scene.session.clone();
    let paused = tokio::spawn(async move { session.pause(None).await });
    settle().await;
    scene.program.release("prepare");
    started.await.unwrap().unwrap();
    assert_eq!(paused.await.unwrap(), Ok(()));
    let log = scene.program.take_log();
    assert_eq!(log, ["prepare", "exceptions uncaught", "run", "threads", "pause 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_pause_of_a_failed_start_is_refused() {
    let (scene, arrival) = Scene::before_start();
    scene.program.hold("prepare");
    scene.program.refuse("prepare", Error::Refused("broken".to_owned()));
    let session = scene.session.clone();
    let started = tokio::spawn(async move { session.start(launch()).await });
    scene.arrivals.send(arrival).await.unwrap();
    scene.program.asked("prepare").await;
    let session = scene.session.clone();
    let paused = tokio::spawn(async move { session.pause(None).await });
    settle().await;
    scene.program.release("prepare");
    started.await.unwrap().unwrap_err();
    assert!(matches!(paused.await.unwrap(), Err(Error::NotLive { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_child_gets_the_breakpoints_and_its_stop_is_queued() {
    let scene = Scene::running().await;
    scene.session.add_breakpoint(at(5), AdjustedPosition::default()).await.unwrap();
    let (child, child_events, arrival) = fake::process();
    scene.arrivals.send(arrival).await.unwrap();
    child.asked("run").await;
    assert_eq!(child.take_log(), ["prepare", "bind 5", "exceptions uncaught", "run"]);

    scene.stop().await;
    let Outcome::Stopped(first) = scene.wait().await else { panic!("a stop") };
    child_events.send(stopped(StopReason::Breakpoint)).await.unwrap();
    settle().await;
    assert_eq!(scene.epoch(), 1, "one stop is shown at a time");
    scene.session.resume().await.unwrap();
    let Outcome::Stopped(second) = scene.wait().await else { panic!("the child's stop") };
    assert_ne!(first.thread, second.thread);
    assert_eq!(second.epoch, 2);
    child.take_log();
    scene.session.step(None, Step::Over).await.unwrap();
    assert_eq!(child.take_log(), ["step Over 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_child_that_cannot_be_debugged_is_reported_and_left_alone() {
    let scene = Scene::running().await;
    let (child, _events, arrival) = fake::process();
    child.refuse("prepare", Error::Refused("no".to_owned()));
    scene.arrivals.send(arrival).await.unwrap();
    child.asked("prepare").await;
    settle().await;
    assert!(scene.session.output().read(0, 1000).text().contains("runs without a debugger: no"));
    assert_eq!(scene.session.execution(), Execution::Running);
}

#[tokio::test(start_paused = true)]
async fn an_exception_that_unwinds_several_frames_stops_once() {
    let scene = Scene::running().await;
    scene.session.set_exception_breakpoints(ExceptionMode::All.into()).await.unwrap();
    scene.events.send(stopped(StopReason::Exception)).await.unwrap();
    assert!(matches!(scene.wait().await, Outcome::Stopped(_)));
    scene.session.resume().await.unwrap();
    scene.program.take_log();
    scene.program.know_exceptions(true);
    scene.events.send(stopped(StopReason::Exception)).await.unwrap();
    scene.program.asked("resume").await;
    assert_eq!(scene.session.execution(), Execution::Running, "the known one is passed over");
    scene.program.know_exceptions(false);
    scene.events.send(stopped(StopReason::Exception)).await.unwrap();
    assert!(matches!(scene.wait().await, Outcome::Stopped(stop) if stop.epoch == 2));
}

#[tokio::test(start_paused = true)]
async fn an_exception_stops_only_if_its_condition_is_true() {
    let scene = Scene::running().await;
    let condition = Some("error.code == 7".to_owned());
    let wanted = ExceptionBreakpoints { mode: ExceptionMode::All, condition };
    let before = scene.session.set_exception_breakpoints(wanted.clone()).await.unwrap();
    assert_eq!(before, ExceptionBreakpoints::default());
    scene.program.take_log();
    scene.events.send(stopped(StopReason::Exception)).await.unwrap();
    scene.program.asked("resume").await;
    assert_eq!(scene.program.take_log(), ["worth 1", "meets 1 error.code == 7", "resume 1"]);
    assert_eq!(scene.session.exception_breakpoints().await, Ok((wanted.clone(), None)));

    scene.program.refuse("meets", Error::Refused("no such name".to_owned()));
    for _ in 0..2 {
        scene.events.send(stopped(StopReason::Exception)).await.unwrap();
        scene.program.asked("resume").await;
        scene.program.take_log();
    }
    settle().await;
    let failures = Failures { count: 2, message: "no such name".to_owned() };
    assert_eq!(scene.session.execution(), Execution::Running, "one that fails does not stop the program");
    assert_eq!(scene.session.exception_breakpoints().await, Ok((wanted, Some(failures))));

    scene.session.set_exception_breakpoints(ExceptionMode::All.into()).await.unwrap();
    assert_eq!(scene.session.exception_breakpoints().await.unwrap().1, None, "another one has not failed");
    scene.events.send(stopped(StopReason::Exception)).await.unwrap();
    assert!(matches!(scene.wait().await, Outcome::Stopped(_)));
}

#[tokio::test(start_paused = true)]
async fn a_true_exception_condition_stops() {
    let scene = Scene::running().await;
    let condition = Some("error".to_owned());
    let wanted = ExceptionBreakpoints { mode: ExceptionMode::All, condition };
    scene.session.set_exception_breakpoints(wanted).await.unwrap();
    scene.program.check_conditions(true);
    scene.events.send(stopped(StopReason::Exception)).await.unwrap();
    assert!(matches!(scene.wait().await, Outcome::Stopped(_)));
}

#[tokio::test(start_paused = true)]
async fn a_rejected_exception_does_not_resume_a_program_that_another_thread_has_stopped() {
    let scene = Scene::stopped().await;
    scene.program.take_log();
    let condition = Some("error".to_owned());
    let wanted = ExceptionBreakpoints { mode: ExceptionMode::All, condition };
    scene.session.set_exception_breakpoints(wanted).await.unwrap();
    scene.events.send(stopped(StopReason::Exception)).await.unwrap();
    scene.program.asked("meets").await;
    settle().await;
    assert!(!scene.program.take_log().iter().any(|request| request.starts_with("resume")));
    assert_eq!(scene.epoch(), 1);
}

/// The user resumes from the stop of another thread before it is known whether the exception is wanted.
#[tokio::test(start_paused = true)]
async fn an_exception_judged_after_a_resume_neither_resumes_nor_stops_the_program() {
    for is_met in [false, true] {
        let scene = Scene::stopped().await;
        let condition = Some("error".to_owned());
        let wanted = ExceptionBreakpoints { mode: ExceptionMode::All, condition };
        scene.session.set_exception_breakpoints(wanted.clone()).await.unwrap();
        scene.program.check_conditions(is_met);
        scene.program.hold("meets");
        scene.events.send(stopped(StopReason::Exception)).await.unwrap();
        scene.program.asked("meets").await;
        scene.session.step(None, Step::Over).await.unwrap();
        scene.program.take_log();
        scene.program.release("meets");
        settle().await;
        assert_eq!(scene.program.take_log(), Vec::<String>::new(), "met: {is_met}");
        assert_eq!(scene.session.execution(), Execution::Running, "met: {is_met}");
        assert_eq!(scene.session.exception_breakpoints().await, Ok((wanted, None)));
    }
}

#[tokio::test(start_paused = true)]
async fn an_exception_judged_after_a_refused_resume_is_shown_next() {
    let scene = Scene::stopped().await;
    scene.program.hold("worth");
    scene.events.send(stopped(StopReason::Exception)).await.unwrap();
    scene.program.asked("worth").await;
    scene.program.refuse("step", Error::Refused("not now".to_owned()));
    scene.session.step(None, Step::Over).await.unwrap_err();
    scene.program.release("worth");
    settle().await;
    scene.session.step(None, Step::Over).await.unwrap();
    assert!(matches!(scene.wait().await, Outcome::Stopped(stop) if stop.reason == StopReason::Exception));
}

#[tokio::test(start_paused = true)]
async fn a_failed_start_can_be_retried() {
    let (scene, _arrival) = Scene::before_start();
    scene.program.refuse("prepare", Error::Refused("broken".to_owned()));
    let (debugger, _events, arrival) = fake::process();
    debugger.refuse("prepare", Error::Refused("broken".to_owned()));
    scene.arrivals.send(arrival).await.unwrap();
    assert_eq!(scene.session.start(launch()).await, Err(Error::Refused("broken".to_owned())));
    assert!(matches!(scene.session.execution(), Execution::Ended(_)));

    let (program, arrivals) = FakeProgram::new();
    scene.programs.send(program).unwrap();
    let (_debugger, _events, arrival) = fake::process();
    arrivals.send(arrival).await.unwrap();
    assert_eq!(scene.session.start(launch()).await, Ok(()));
    assert_eq!(scene.session.start(launch()).await, Err(Error::AlreadyLive));
}

#[tokio::test(start_paused = true)]
async fn ending_the_session_detaches_from_an_attached_program() {
    let scene = Scene::stopped().await;
    scene.program.hold("detach");
    let session = scene.session.clone();
    let ended = tokio::spawn(async move { session.end().await });
    scene.program.asked("detach").await;
    scene.program.release("detach");
    ended.await.unwrap().unwrap();
    assert!(matches!(scene.wait().await, Outcome::Ended(end) if *end == End::Detached));
    assert_eq!(scene.session.end().await, Ok(()), "ending twice is no error");
}

#[tokio::test(start_paused = true)]
async fn references_of_an_earlier_stop_are_stale() {
    let scene = Scene::stopped().await;
    let frame = scene.session.stack_trace(None, 0, 1).await.unwrap().frames.remove(0).id;
    let scope = scene.session.scopes(frame).await.unwrap().remove(0).reference;
    assert_eq!(scene.session.stack_trace(None, 0, 1).await.unwrap().frames.remove(0).id, frame);
    scene.session.resume().await.unwrap();
    scene.stop().await;
    scene.wait().await;
    let page = crate::model::variable::Page { start: 0, count: 1, special: true, internals: false };
    assert_eq!(scene.session.variables(scope, page, 10).await.unwrap_err().code(), "stale_reference");
    let again = scene.session.stack_trace(None, 0, 1).await.unwrap().frames.remove(0).id;
    assert_ne!(again, frame);
}

#[tokio::test(start_paused = true)]
async fn breakpoints_until_the_next_stop_are_removed_by_it() {
    let scene = Scene::running().await;
    let hold = async |line| {
        let id = scene.session.add_breakpoint(at(line), AdjustedPosition::default()).await.unwrap().id;
        let before = scene.session.set_exception_breakpoints(ExceptionMode::All.into()).await.unwrap();
        let held = UntilNextStop { breakpoints: vec![id], exceptions: Some(before) };
        scene.session.remove_at_next_stop(held).await;
    };
    let mode = async || scene.session.exception_breakpoints().await.unwrap().0.mode;

    hold(5).await;
    assert_eq!(scene.session.breakpoints().await.unwrap().len(), 1, "the program has not stopped yet");
    assert_eq!(mode().await, ExceptionMode::All);
    scene.stop().await;
    scene.wait().await;
    assert_eq!(scene.session.breakpoints().await, Ok(vec![]));
    assert_eq!(mode().await, ExceptionMode::Uncaught);

    hold(6).await;
    assert_eq!(scene.session.breakpoints().await, Ok(vec![]), "a program that is stopped does not wait");

    scene.session.resume().await.unwrap();
    hold(7).await;
    scene.session.remove_before_next_stop().await;
    assert_eq!(
        scene.session.breakpoints().await,
        Ok(vec![]),
        "the next call of that kind does not wait either"
    );
    assert_eq!(mode().await, ExceptionMode::Uncaught);
}

/// Delve waits forever for a program that is killed while it resumes it.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "a program of the test, which ends it")]
#[tokio::test(start_paused = true)]
async fn a_killed_program_has_ended_although_its_debugger_reports_nothing() {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let mut process = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let (scene, arrival) = Scene::before_start();
    scene.program.debug_process(process.id());
    scene.arrivals.send(arrival).await.unwrap();
    scene.session.start(launch()).await.unwrap();
    assert!(matches!(scene.wait().await, Outcome::Running));
    process.kill().unwrap();
    // As the debugger would, it keeps the process from being forgotten.
    waitid(WaitId::Pid(Pid::from_child(&process)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let Outcome::Ended(end) = scene.wait().await else { panic!("it is gone") };
    assert_eq!(*end, End::Killed { signal: 9, by_us: false });
    process.wait().unwrap();
}
