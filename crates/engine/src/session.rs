//! A debug session: the handle that everyone else holds, and the actor behind it.
//!
//! The actor is one task that owns all state of the session; see `session/actor.rs`. The handle sends it commands and
//! watches what the program is doing. No lock is held across an await, because there is none. Whatever takes
//! time happens outside the actor, so that `pause` and `close` work while another call waits, and waiting
//! itself happens here, in the handle.

mod actor;
pub mod breakpoints;
mod journaling;
mod performance;
pub mod placing;
mod references;
mod stacks;
pub mod state;
pub mod temporary;
pub mod watches;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use self::actor::{Actor, Command, Reply};
use self::breakpoints::{Change, Relocation};
use self::journaling::NamedScope;
use self::state::Execution;
use self::temporary::Temporary;
use self::watches::Watches;
use crate::adapter::{Adapter, Host};
use crate::deadlines;
use crate::debugger::{Connector, Progress, Step};
use crate::error::{Error, Result};
use crate::journal::entry::Created;
use crate::journal::{Event, Journal, SessionJournal};
use crate::model::activity::ProcessActivity;
use crate::model::breakpoint::{Breakpoint, Failures, Place, Planned, Request};
use crate::model::ids::{BreakpointId, Reference, SessionId, ThreadId};
use crate::model::launch::Start;
use crate::model::stack::{Debuggee, Scope, Stack, Thread};
use crate::model::stop::{End, Exception, ExceptionBreakpoints, Stop};
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, Page, Value};
use crate::output::{Excerpt, Output};
use crate::policy::{Policy, SharedPolicy};

/// A session. Clones are the same session; when the last one goes, it is closed.
#[derive(Clone)]
pub struct Session {
    fixed: Arc<Fixed>,
    commands: mpsc::Sender<Command>,
    execution: watch::Receiver<Execution>,
}

/// What does not change in the life of a session, and what is shared without going through the actor.
struct Fixed {
    id: SessionId,
    name: String,
    adapter: &'static dyn Adapter,
    host: &'static dyn Host,
    executable: Option<PathBuf>,
    created: Timestamp,
    updated: watch::Sender<Timestamp>,
    /// Held by whatever is under way.
    busy: Arc<()>,
    output: Output,
    journal: SessionJournal,
    policy: SharedPolicy,
    /// The last scopes that were listed, as the journal names them.
    scopes: Mutex<Vec<NamedScope>>,
    /// The cursor after the output that was told last.
    told: watch::Sender<u64>,
    /// The epoch of the last stop that somebody was told of.
    told_stop: watch::Sender<u64>,
    /// The last end that somebody was told of.
    told_end: watch::Sender<Option<Arc<End>>>,
    watches: Watches,
    /// The frame that somebody has chosen to look at, and the stop that it belongs to.
    selected: watch::Sender<Option<(u64, Reference)>>,
    temporary: Mutex<Option<Temporary>>,
    progress: Progress,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Session").field(&self.fixed.id).finish()
    }
}

/// A session in use; see [`Session::busy`].
#[derive(Debug)]
pub struct Busy {
    session: Session,
    held: Option<Arc<()>>,
}

impl Busy {
    /// Which.
    pub fn session(&self) -> &Session {
        &self.session
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.held.take();
        self.session.fixed.updated.send_replace(Timestamp::now());
    }
}

/// How a wait ended. All three are successes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program is suspended.
    Stopped(Arc<Stop>),
    /// It is still running.
    Running,
    /// It has ended.
    Ended(Arc<End>),
}

/// What to make a session of.
#[derive(Debug)]
pub struct SessionOptions<C> {
    /// A name for people.
    pub name: String,
    /// The language.
    pub adapter: &'static dyn Adapter,
    /// The machine.
    pub host: &'static dyn Host,
    /// The user's choice of interpreter.
    pub executable: Option<PathBuf>,
    /// Starts and reaches programs.
    pub connector: C,
    /// Where it is written down what happens.
    pub journal: Journal,
    /// What holds in the server.
    pub policy: SharedPolicy,
}

impl Session {
    /// A session without a program, and its actor as a task of its own.
    pub fn spawn<C: Connector>(options: SessionOptions<C>) -> Self {
        let (commands, received) = mpsc::channel(64);
        let (told_execution, execution) = watch::channel(Execution::Created);
        let now = Timestamp::now();
        let id = SessionId::random();
        let journal = options.journal.of_session(id.as_str(), &options.name);
        journal.record(Event::Created(Created {
            language: options.adapter.name().to_owned(),
            executable_path: options.executable.as_ref().map(|path| path.display().to_string()),
            server: Some(std::process::id()),
        }));
        let fixed = Arc::new(Fixed {
            id,
            name: options.name,
            adapter: options.adapter,
            host: options.host,
            executable: options.executable,
            created: now,
            updated: watch::Sender::new(now),
            busy: Arc::default(),
            output: Output::journaled(journal.clone(), options.policy.bounds.kept_output()),
            journal: journal.clone(),
            policy: Arc::clone(&options.policy),
            scopes: Mutex::default(),
            told: watch::Sender::new(0),
            told_stop: watch::Sender::new(0),
            told_end: watch::Sender::new(None),
            watches: Watches::default(),
            selected: watch::Sender::new(None),
            temporary: Mutex::default(),
            progress: Progress::new(),
        });
        let sinks = crate::debugger::Sinks {
            output: fixed.output.clone(),
            progress: fixed.progress.clone(),
            session: fixed.id.to_string(),
            policy: options.policy,
        };
        tokio::spawn(Actor::new(options.connector, sinks, received, told_execution, journal).run());
        Self { fixed, commands, execution }
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.fixed.id
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        &self.fixed.name
    }

    /// Its language.
    pub fn adapter(&self) -> &'static dyn Adapter {
        self.fixed.adapter
    }

    /// The machine that it runs on.
    pub fn host(&self) -> &'static dyn Host {
        self.fixed.host
    }

    /// The interpreter that the user chose.
    pub fn executable(&self) -> Option<&Path> {
        self.fixed.executable.as_deref()
    }

    /// What holds in its server.
    pub fn policy(&self) -> &Policy {
        &self.fixed.policy
    }

    /// The lines of a source file, when it may be read.
    pub fn read_lines(&self, path: &Path) -> Result<Vec<String>> {
        self.policy().safety.read_lines(path)
    }

    /// Refuses what it must not start or reach.
    pub fn check_start(&self, start: &Start) -> Result<()> {
        self.policy().safety.check_start(self.host(), self.executable(), start)
    }

    /// When it was made.
    pub fn created(&self) -> Timestamp {
        self.fixed.created
    }

    /// When it was last used.
    pub fn updated(&self) -> Timestamp {
        *self.fixed.updated.borrow()
    }

    /// The session is used for as long as this is held.
    #[must_use]
    pub fn busy(&self) -> Busy {
        Busy { session: self.clone(), held: Some(Arc::clone(&self.fixed.busy)) }
    }

    /// How long nobody has used it.
    pub fn idle(&self) -> Duration {
        if Arc::strong_count(&self.fixed.busy) > 1 {
            return Duration::ZERO;
        }
        Duration::try_from(Timestamp::now().duration_since(self.updated())).unwrap_or_default()
    }

    /// What its program is doing.
    pub fn execution(&self) -> Execution {
        self.execution.borrow().clone()
    }

    /// Tells of every change of what the program is doing.
    pub fn watch(&self) -> watch::Receiver<Execution> {
        self.execution.clone()
    }

    /// What its program wrote.
    pub fn output(&self) -> &Output {
        &self.fixed.output
    }

    /// What is being done for it at the moment; empty for nothing special.
    pub fn progress(&self) -> String {
        self.fixed.progress.last()
    }

    /// The last bytes of output since the last such call, at most `limit`.
    pub fn take_new_output(&self, limit: usize) -> Excerpt {
        let excerpt = self.fixed.output.tail(*self.fixed.told.borrow(), limit);
        self.fixed.told.send_replace(excerpt.next);
        excerpt
    }

    /// The expressions that every stop report tells the changes of.
    pub fn watches(&self) -> &Watches {
        &self.fixed.watches
    }

    /// Chooses the frame that is meant from here on when none is named, until the program runs.
    pub fn select_frame(&self, frame: Reference) {
        let epoch = self.execution().stop().map(|stop| stop.epoch);
        self.fixed.selected.send_replace(epoch.map(|epoch| (epoch, frame)));
    }

    /// The frame that was chosen at this stop.
    pub fn selected_frame(&self) -> Option<Reference> {
        let (epoch, frame) = (*self.fixed.selected.borrow())?;
        let execution = self.execution();
        execution.stop().filter(|stop| stop.epoch == epoch).map(|_| frame)
    }

    /// Somebody has been told of this stop.
    pub fn tell_stop(&self, stop: &Stop) {
        self.fixed.told_stop.send_modify(|told| *told = stop.epoch.max(*told));
    }

    /// Somebody has been told of this end.
    pub fn tell_end(&self, end: &Arc<End>) {
        self.fixed.told_end.send_replace(Some(Arc::clone(end)));
    }

    /// The program has ended, and nobody has been told yet how.
    pub fn has_untold_end(&self) -> bool {
        match self.execution() {
            Execution::Ended(end) => {
                let told = self.fixed.told_end.borrow();
                !matches!(*end, End::NotStarted(_) | End::Detached)
                    && told.as_ref().is_none_or(|told| !Arc::ptr_eq(told, &end))
            }
            _ => false,
        }
    }

    /// The program is suspended, and nobody has been told yet: it stopped after the last wait was over.
    pub fn has_untold_stop(&self) -> bool {
        self.execution().stop().is_some_and(|stop| stop.epoch > *self.fixed.told_stop.borrow())
    }

    /// Waits until the program is suspended or has ended, at most until `until`.
    ///
    /// A wait owns nothing: any other call can be made meanwhile, and dropping the future changes nothing.
    pub async fn wait(&self, until: Instant) -> Outcome {
        let _busy = self.busy();
        let mut execution = self.execution.clone();
        let settled = execution.wait_for(Execution::is_settled);
        match tokio::time::timeout_at(until, settled).await {
            Ok(Ok(execution)) => match &*execution {
                Execution::Stopped(stop) => Outcome::Stopped(Arc::clone(stop)),
                Execution::Ended(end) => Outcome::Ended(Arc::clone(end)),
                _ => Outcome::Running,
            },
            Ok(Err(_)) => Outcome::Ended(Arc::new(End::Lost)),
            Err(_) => Outcome::Running,
        }
    }

    /// Starts or reaches a program, when it may. Returns when it runs.
    pub async fn start(&self, start: Start) -> Result<()> {
        self.check_start(&start)?;
        if let Start::Attach(attach) = &start {
            self.policy().safety.check_endpoint(&attach.to).await?;
        }
        self.ask(|reply| Command::Start { start, reply }).await
    }

    /// How the program was started the last time.
    pub async fn last_start(&self) -> Result<Option<Start>> {
        self.ask(|reply| Command::LastStart { reply }).await
    }

    /// Lets the suspended program run.
    pub async fn resume(&self) -> Result<()> {
        self.ask(|reply| Command::Resume { reply }).await
    }

    /// Lets the suspended thread, or another one, run one step.
    pub async fn step(&self, thread: Option<ThreadId>, step: Step) -> Result<()> {
        self.ask(|reply| Command::Step { thread, step, reply }).await
    }

    /// Asks the running program to stop. Whether it does is seen by waiting.
    pub async fn pause(&self, thread: Option<ThreadId>) -> Result<()> {
        self.ask(|reply| Command::Pause { thread, reply }).await
    }

    /// Adds a breakpoint; `planned` is where to plant it, as far as that differs from where it was asked for.
    pub async fn add_breakpoint(&self, request: Request, planned: Planned) -> Result<Breakpoint> {
        self.add_breakpoint_within(request, planned, deadlines::REQUEST).await
    }

    /// The same, where a program that does not answer is waited for no longer than this. The breakpoint is pending then.
    pub async fn add_breakpoint_within(
        &self,
        request: Request,
        planned: Planned,
        within: Duration,
    ) -> Result<Breakpoint> {
        let safety = &self.policy().safety;
        safety.check_rule(&request.rule)?;
        if let Place::Line { path, .. } = &request.place {
            safety.check_path(path)?;
        }
        self.ask(|reply| Command::AddBreakpoint { request, planned, within, reply }).await
    }

    /// Changes a breakpoint.
    pub async fn change_breakpoint(&self, id: BreakpointId, change: Change) -> Result<Breakpoint> {
        self.policy().safety.check_change(&change)?;
        self.ask(|reply| Command::ChangeBreakpoint { id, change, reply }).await
    }

    /// Tells where a breakpoint belongs now. It is planted there at the next start.
    pub async fn relocate_breakpoint(&self, id: BreakpointId, to: Relocation) -> Result<()> {
        self.ask(|reply| Command::RelocateBreakpoint { id, to, reply }).await
    }

    /// Removes the breakpoints that `which` picks, and gives their ids.
    pub async fn remove_breakpoints<F>(&self, which: F) -> Result<Vec<BreakpointId>>
    where
        F: Fn(BreakpointId, &Place) -> bool + Send + 'static,
    {
        self.ask(|reply| Command::RemoveBreakpoints { which: Box::new(which), reply }).await
    }

    /// All breakpoints.
    pub async fn breakpoints(&self) -> Result<Vec<Breakpoint>> {
        self.ask(|reply| Command::Breakpoints { reply }).await
    }

    /// Chooses the exceptions to stop at, and gives the ones chosen before. The condition is taken as it is;
    /// [`Session::check_rule`] checks one.
    pub async fn set_exception_breakpoints(
        &self,
        wanted: ExceptionBreakpoints,
    ) -> Result<ExceptionBreakpoints> {
        self.policy().safety.check_condition(wanted.condition.as_deref())?;
        self.ask(|reply| Command::SetExceptionBreakpoints { wanted, reply }).await
    }

    /// The exceptions to stop at, and how often their condition failed in the last run.
    pub async fn exception_breakpoints(&self) -> Result<(ExceptionBreakpoints, Option<Failures>)> {
        self.ask(|reply| Command::ExceptionBreakpoints { reply }).await
    }

    /// The threads of all its processes.
    pub async fn threads(&self) -> Result<Vec<Thread>> {
        self.ask(|reply| Command::Threads { reply }).await
    }

    /// Its processes, the program itself first.
    pub async fn debuggees(&self) -> Result<Vec<Debuggee>> {
        self.ask(|reply| Command::Debuggees { reply }).await
    }

    /// Frames of the suspended thread, or of another one.
    pub async fn stack_trace(
        &self,
        thread: Option<ThreadId>,
        start: usize,
        levels: usize,
    ) -> Result<Stack<Reference>> {
        self.ask(|reply| Command::StackTrace { thread, start, levels, reply }).await
    }

    /// The scopes of a frame.
    pub async fn scopes(&self, frame: Reference) -> Result<Vec<Scope<Reference>>> {
        let scopes = self.ask(|reply| Command::Scopes { frame, reply }).await?;
        self.remember_scopes(frame, &scopes);
        Ok(scopes)
    }

    /// The variables of a frame's innermost scope, and that scope's name.
    pub async fn locals(
        &self,
        frame: Reference,
        page: Page,
        text: usize,
    ) -> Result<(String, Children<Reference>)> {
        let (scope, locals) = self.ask(|reply| Command::Locals { frame, page, text, reply }).await?;
        self.journal_variables(Some((frame, &scope)), Reference(0), &locals);
        Ok((scope, locals))
    }

    /// Children of a scope or value.
    pub async fn variables(
        &self,
        reference: Reference,
        page: Page,
        text: usize,
    ) -> Result<Children<Reference>> {
        let children = self.ask(|reply| Command::Variables { reference, page, text, reply }).await?;
        let scope = self.scope_of(reference);
        self.journal_variables(
            scope.as_ref().map(|(frame, name)| (*frame, name.as_str())),
            reference,
            &children,
        );
        Ok(children)
    }

    /// Evaluates an expression in a frame. A `pure` one may change nothing, and is refused when it could; where
    /// nothing may be changed, each is.
    pub async fn evaluate(
        &self,
        frame: Reference,
        expression: String,
        deadline: Duration,
        text: usize,
        pure: bool,
    ) -> Result<Value<Reference>> {
        let pure = pure || self.policy().safety.read_only;
        self.ask(|reply| Command::Evaluate { frame, expression, deadline, text, pure, reply }).await
    }

    /// Which of several values another one is itself, as one that contains itself is; none when it is none of
    /// them.
    pub async fn same_as(&self, value: Reference, among: Vec<Reference>) -> Result<Option<usize>> {
        self.ask(|reply| Command::SameAs { value, among, reply }).await
    }

    /// Assigns to a child of a scope or value.
    pub async fn set_variable(
        &self,
        parent: Reference,
        name: String,
        value: String,
        text: usize,
    ) -> Result<Value<Reference>> {
        self.policy().safety.check_assignment()?;
        self.ask(|reply| Command::SetVariable { parent, name, value, text, reply }).await
    }

    /// The exception that the program is stopped at.
    pub async fn exception(&self) -> Result<Exception> {
        self.ask(|reply| Command::Exception { reply }).await
    }

    /// What else is to be known of it: what was asserted, with the values on both sides, and a mark to know it
    /// by. Texts longer than `text` characters are cut.
    pub async fn thrown(&self, text: usize) -> Result<Thrown> {
        self.ask(|reply| Command::Thrown { text, reply }).await
    }

    /// The text of a source that is in no file, by the name that frames have for it; none when no process of
    /// the program has it.
    pub async fn source_text(&self, name: String) -> Result<Option<String>> {
        self.ask(|reply| Command::SourceText { name, reply }).await
    }

    /// What the program is doing, like [`Self::execution`]. Of one whose processes have all left, its end is waited
    /// for.
    pub async fn known_execution(&self) -> Result<Execution> {
        self.ask(|reply| Command::Execution { reply }).await
    }

    /// Whether the program runs, and its debugger is gone. Where it may be about to end, that is waited for.
    pub async fn is_undebugged(&self) -> Result<bool> {
        self.ask(|reply| Command::Undebugged { reply }).await
    }

    /// How the program itself ended, while processes that it started still run.
    pub async fn program_ended(&self) -> Result<Option<End>> {
        self.ask(|reply| Command::ProgramEnded { reply }).await
    }

    /// Has samples taken of what all its processes do, those that come later included, about one each
    /// `interval`. None is stopped.
    pub async fn start_sampling(&self, interval: Duration) -> Result<()> {
        self.ask(|reply| Command::StartSampling { interval, reply }).await
    }

    /// What each process and worker has been doing since samples are taken, or since the last such call.
    pub async fn activity(&self) -> Result<Vec<ProcessActivity>> {
        self.ask(|reply| Command::Activity { reply }).await
    }

    /// Has no more samples taken.
    pub async fn stop_sampling(&self) -> Result<()> {
        self.ask(|reply| Command::StopSampling { reply }).await
    }

    /// Lets go of the program. One that we started is ended.
    pub async fn detach(&self) -> Result<()> {
        self.ask(|reply| Command::Detach { reply }).await
    }

    /// Ends the program: one that we started is killed with everything that it started, one that we
    /// attached to is left running.
    pub async fn end(&self) -> Result<()> {
        self.ask(|reply| Command::End { reply }).await
    }

    async fn ask<T>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T> {
        self.fixed.updated.send_replace(Timestamp::now());
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

#[cfg(test)]
mod models;
