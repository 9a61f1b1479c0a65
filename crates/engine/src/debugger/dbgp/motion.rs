//! Running, stopping and stepping.
//!
//! Xdebug reads commands only while the program is stopped. To pause it, or to change its breakpoints, we send a
//! signal: its handler, in our PHP code, has the program stop at its next statement.

use ::dbgp::{Command, Element};
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::agent::Failure;
use super::server::{Server, THREAD};
use super::steps::{Halt, Step, Stepping};
use crate::deadlines;
use crate::process;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// Nothing has run yet.
    Starting,
    /// It stops at the first statement.
    Entering,
    Running(Run),
    Stopped,
    Ended,
}

/// What a program does while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Run {
    stepping: Option<Stepping>,
    /// A signal was sent that no stop has answered yet.
    is_signalled: bool,
    /// The client has asked for a pause.
    is_pausing: bool,
}

/// A program that is stopped for a moment, without the client noticing, and what it is to continue with.
pub(super) struct Hold(Option<Run>);

impl Server {
    pub(super) async fn begin(&mut self) -> Result<(), Failure> {
        if self.motion != Motion::Starting {
            return Ok(());
        }
        if self.stops_on_entry {
            self.motion = Motion::Entering;
            return Ok(self.client.go(&Command::new(self.begun.begin(Step::Into, 0)))?);
        }
        self.run_on(None).await
    }

    /// Resumes, as the client asks for it.
    pub(super) async fn go(&mut self, step: Option<Step>) -> Result<(), Failure> {
        if self.motion != Motion::Stopped {
            return Ok(());
        }
        self.throws.forget();
        self.call("[\\Stillframe\\Values::forget(), \\Stillframe\\Throws::$error = null]").await?;
        let stepping = match step {
            Some(step) => Some(Stepping { step, depth: self.depth().await? }),
            None => None,
        };
        self.run_on(stepping).await
    }

    /// Lets the program run. A step that something has interrupted deeper in the stack first comes back from there.
    async fn run_on(&mut self, stepping: Option<Stepping>) -> Result<(), Failure> {
        let command = match stepping {
            None => "run",
            Some(stepping) => {
                let depth = self.depth().await?;
                let is_deeper = stepping.step == Step::Over && depth > stepping.depth;
                self.begun.begin(if is_deeper { Step::Out } else { stepping.step }, depth)
            }
        };
        self.stop += 1;
        self.motion = Motion::Running(Run { stepping, ..Run::default() });
        Ok(self.client.go(&Command::new(command))?)
    }

    /// Makes the program stop as soon as it can.
    pub(super) fn pause(&mut self) -> Result<(), Failure> {
        if let Motion::Running(run) = &mut self.motion {
            if !self.pauses {
                let problem = "this PHP has no `pcntl`, which pausing a running program needs";
                return Err(Failure::Refused(problem.to_owned()));
            }
            run.is_signalled = true;
            run.is_pausing = true;
            process::interrupt_system_call(self.pid);
        }
        Ok(())
    }

    /// Stops a program that runs, for as long as something is changed in it.
    pub(super) async fn hold(&mut self) -> Result<Hold, Failure> {
        let Motion::Running(run) = &mut self.motion else { return Ok(Hold(None)) };
        if !self.pauses {
            return Err(Failure::Refused("the program runs: pause it first".to_owned()));
        }
        run.is_signalled = true;
        process::interrupt_system_call(self.pid);
        let until = Instant::now() + deadlines::PAUSE;
        while let Motion::Running(run) = self.motion {
            let Ok(message) = timeout_at(until, self.incoming.recv()).await else {
                let problem = "the program is in a built-in function, or in a loop without statements; try again, \
                               or set the breakpoint before the program starts";
                return Err(Failure::Refused(problem.to_owned()));
            };
            match message.ok_or(Failure::Lost)? {
                ::dbgp::Message::Stopped(element) if self.is_only_signal(&element, run).await? => {
                    self.motion = Motion::Stopped;
                    return Ok(Hold(Some(run)));
                }
                message => Box::pin(self.received(message)).await?,
            }
        }
        Ok(Hold(None))
    }

    pub(super) async fn release(&mut self, hold: Hold) -> Result<(), Failure> {
        match hold.0 {
            Some(run) => self.run_on(run.stepping).await,
            None => Ok(()),
        }
    }

    /// Whether a stop has no other reason than our signal, and is to be one that the client does not see.
    async fn is_only_signal(&mut self, element: &Element, run: Run) -> Result<bool, Failure> {
        let Some(message) = element.child("xdebug:message") else { return Ok(false) };
        let is_plain = element.attribute("status") == Some("break")
            && message.attribute("exception").is_none()
            && self.breakpoints.hits(element, message, true).is_empty();
        if !is_plain || !run.is_signalled || run.is_pausing {
            return Ok(false);
        }
        match run.stepping {
            Some(stepping) => Ok(!stepping.ends_at(self.depth().await?)),
            None => Ok(true),
        }
    }

    /// The program is stopped, or is at its end.
    pub(super) async fn stopped(&mut self, element: &Element) -> Result<(), Failure> {
        match element.attribute("status") {
            Some("break") => {}
            Some("stopping") => {
                self.motion = Motion::Ended;
                self.report_unbound().await?;
                return Ok(self.client.go(&Command::new("run"))?);
            }
            _ => {
                self.motion = Motion::Ended;
                return Ok(());
            }
        }
        let is_entry = self.motion == Motion::Entering;
        let run = if let Motion::Running(run) = self.motion { run } else { Run::default() };
        if self.is_only_signal(element, run).await? {
            return self.run_on(run.stepping).await;
        }
        self.motion = Motion::Stopped;
        if run.is_signalled {
            self.call("\\Stillframe\\Evaluation::drain()").await?;
        }
        let Some(message) = element.child("xdebug:message") else {
            return self.report("step", Vec::new(), None).await;
        };
        let is_exception = message.attribute("exception").is_some();
        let is_left_over = self.has_break_left;
        self.has_break_left = run.is_signalled && (is_exception || element.child("breakpoint").is_some());
        if is_exception {
            return match self.judge(message).await? {
                Some(text) => self.report("exception", Vec::new(), Some(text)).await,
                None => self.run_on(run.stepping).await,
            };
        }
        let depth = self.depth().await?;
        let is_at_breakpoint = element.child("breakpoint").is_some();
        let halt = Halt {
            is_entry,
            is_at_breakpoint,
            is_signalled: run.is_signalled,
            is_pausing: run.is_pausing,
            is_left_over,
            ends_step: !is_at_breakpoint && !run.is_signalled && self.begun.end(depth),
            is_over: run.stepping.map(|stepping| stepping.ends_at(depth)),
        };
        let hits = self.breakpoints.hits(element, message, halt.is_in_front());
        let hits = self.entered(hits, element, message).await?;
        match halt.reason(&hits) {
            Some(reason) => self.report(reason, hits, None).await,
            None => self.run_on(run.stepping).await,
        }
    }

    async fn report(&mut self, reason: &str, hits: Vec<i64>, text: Option<String>) -> Result<(), Failure> {
        let body = json!({
            "reason": reason, "threadId": THREAD, "allThreadsStopped": true, "hitBreakpointIds": hits, "text": text,
        });
        self.event("stopped", body).await
    }

    /// How many frames the program has.
    pub(super) async fn depth(&mut self) -> Result<usize, Failure> {
        let answer = self.command(Command::new("stack_depth")).await?;
        Ok(answer.number::<usize>("depth").unwrap_or_default())
    }

    /// Lets the program run without a debugger.
    pub(super) async fn let_go(&mut self) -> Result<(), Failure> {
        self.hold().await?;
        self.command(Command::new("detach")).await.map(drop)
    }
}
