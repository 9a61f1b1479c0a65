//! Steps: from V8's statements to a user's lines.
//!
//! V8 steps from statement to statement; a user steps from line to line of the source. So if V8's step ends before
//! the user's step, another one follows: on the same line, in code without a source, in Node's own code, or below a
//! module that was loaded on the way.

use std::sync::atomic::Ordering;

use ::cdp::debugger::CallFrame;
use ::cdp::runtime::{CallFunctionOn, RemoteObject};

use super::super::stop::V8Stop;
use super::control::{RETURNED, RunControl};
use super::intent::{Intent, Stepping};
use crate::debugger::{Event, Step};
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::stop::StopReason;

/// A step that goes nowhere, as in a loop on one line, ends after this many steps of V8.
const MOST_STEPS: u32 = 32;

impl RunControl {
    pub(in super::super) async fn step(&self, step: Step) -> Result<()> {
        let stop = self.run.stop()?;
        if step == Step::Out && self.ends.is_in_async_generator(&stop).await {
            return Err(Error::Refused(
                "a step out of an async generator crashes Node.js; set a breakpoint where its values are used, and continue"
                    .to_owned(),
            ));
        }
        let mut stepping = self.begin(step, &stop).await;
        if step == Step::Out {
            stepping.ends = self.ends.of_function(&stop).await;
        }
        self.catch_below(&stop, &mut stepping).await;
        self.lingers.store(false, Ordering::Release);
        // The idle program's only frame is ours: a step from there leads to what it does next.
        let step = if stop.is_idle { Step::Into } else { step };
        let command = self.command(&stop, &mut stepping, step).await;
        self.abandon(Intent::Step(Box::new(stepping)));
        self.leave(command).await
    }

    async fn begin(&self, step: Step, stop: &V8Stop) -> Stepping {
        let line = match stop.frames.first() {
            Some(frame) => self.sources.line(&frame.location).await,
            None => None,
        };
        Stepping {
            step,
            frame: stop.frames.first().cloned(),
            function: stop.frames.first().and_then(|frame| frame.function_location.clone()),
            depth: stop.frames.len(),
            turn: stop.frames.last().and_then(|frame| frame.function_location.clone()),
            line,
            count: 0,
            ends: Vec::new(),
            caught: Vec::new(),
            returned: None,
        }
    }

    pub(super) async fn settle_step(&self, stop: &V8Stop, mut stepping: Stepping) -> Vec<Event> {
        stepping.count += 1;
        let has_ends = stepping.step == Step::Out || stepping.step == Step::Over && !stepping.ends.is_empty();
        if has_ends && stop.frames.len() > stepping.depth && !stepping.is_resumed(stop) {
            return self.pass_inner_call(stop, stepping).await;
        }
        let is_users = |frame: &CallFrame| !self.sources.is_skipped(frame);
        let ends_here = stop.frames.first().is_some_and(is_users);
        let is_lost =
            stepping.count >= MOST_STEPS || stepping.step != Step::Into && !stop.frames.iter().any(is_users);
        if is_lost && !ends_here {
            // The turn of the event loop has ended, and the step with it: the program keeps running.
            self.ends.clear(stepping.ends).await;
            self.proceed(None).await;
            return Vec::new();
        }
        let next = self.next_step(stop, &mut stepping).await.filter(|_| stepping.count < MOST_STEPS);
        if let Some(next) = next {
            self.catch_below(stop, &mut stepping).await;
            stepping.frame = stop.frames.first().cloned();
            self.go_on(stop, stepping, next).await;
            return Vec::new();
        }
        if let Some(returned) = stepping.returned.take() {
            // It is reported once per stop.
            let _ = stop.returned.set(returned);
        }
        self.ends.clear(stepping.ends).await;
        vec![self.stopped(StopReason::Step, None, Vec::new()).await]
    }

    /// Sees to it that the step comes back to the user's code where V8 would lose it.
    async fn catch_below(&self, stop: &V8Stop, stepping: &mut Stepping) {
        let is_out = stepping.step == Step::Out;
        for index in self.ends.unseen_ends(stop, is_out).await {
            let caught = stop.frames.len() - index;
            if !stepping.caught.contains(&caught)
                && let Some(frame) = stop.frames.get(index)
            {
                stepping.caught.push(caught);
                stepping.ends.extend(self.ends.in_caller(frame).await);
            }
        }
    }

    /// Keeps a step that is under way from getting lost when breakpoints change.
    ///
    /// V8 (Node 20 to 24) steps by temporary breaks in the function, which it removes when any breakpoint in that
    /// function is set or removed. Breakpoints at all places of the function take over.
    pub(in super::super) async fn keep_step(&self) {
        let frame = match &*lock(&self.intent) {
            Intent::Step(stepping) if !self.run.is_stopped() => stepping.frame.clone(),
            _ => None,
        };
        let Some(frame) = frame else { return };
        let ends = self.ends.in_caller(&frame).await;
        if let Intent::Step(stepping) = &mut *lock(&self.intent) {
            stepping.ends.extend(ends);
            return;
        }
        self.ends.clear(ends).await;
    }

    /// A call that the function makes has come to the places where it returns. After many, V8's own step out, which
    /// passes over such calls, has to do without those places.
    async fn pass_inner_call(&self, stop: &V8Stop, mut stepping: Stepping) -> Vec<Event> {
        if stepping.count >= MOST_STEPS {
            self.ends.clear(std::mem::take(&mut stepping.ends)).await;
        }
        self.go_on(stop, stepping, Step::Out).await;
        Vec::new()
    }

    /// Continues from a breakpoint that no rule is for, with the thread's previous command.
    pub(in super::super) async fn pass_breakpoint(&self, stop: &V8Stop) {
        let intent = std::mem::take(&mut *lock(&self.intent));
        match intent {
            Intent::Step(stepping) if stepping.step != Step::Into => {
                self.go_on(stop, *stepping, Step::Out).await;
            }
            intent => {
                *lock(&self.intent) = intent;
                self.resume_intent().await;
            }
        }
    }

    /// Continues a step that is not done with another one of V8.
    async fn go_on(&self, stop: &V8Stop, mut stepping: Stepping, next: Step) {
        let command = self.command(stop, &mut stepping, next).await;
        *lock(&self.intent) = Intent::Step(Box::new(stepping));
        self.proceed(command).await;
    }

    /// The command for a step from here. One that leaves an async generator crashes it: the program runs then, to
    /// the places of the user's function that waits for the generator.
    async fn command(&self, stop: &V8Stop, stepping: &mut Stepping, next: Step) -> Option<Step> {
        let is_skipped = |frame: &CallFrame| self.sources.is_skipped(frame);
        // V8 leaves a function that it passes over.
        let leaves = next == Step::Out || next == Step::Over && stop.frames.first().is_some_and(is_skipped);
        if !leaves || !self.ends.is_in_async_generator(stop).await {
            return Some(next);
        }
        let waiting = stop.frames.iter().skip(1).find(|frame| !is_skipped(frame));
        if let Some(frame) = waiting.filter(|_| stepping.count < MOST_STEPS) {
            stepping.ends.extend(self.ends.in_caller(frame).await);
        }
        None
    }

    /// What is still to be stepped until the user's step is done.
    async fn next_step(&self, stop: &V8Stop, stepping: &mut Stepping) -> Option<Step> {
        let frame = stop.frames.first()?;
        let is_inner_call = stepping.step != Step::Into && stepping.waits(stop);
        let is_same_function = stepping.is_in_function(stop) && !is_inner_call;
        if let Some(value) = frame.return_value.as_ref().filter(|_| is_same_function) {
            // V8 stops once more where the function returns, and only there the value is to be seen.
            let is_asked = stepping.step == Step::Out || value.kind != "undefined";
            stepping.returned = if is_asked { self.keep(value).await } else { None };
        }
        let is_not_left = stop.frames.len() >= stepping.depth || stepping.is_later_turn(stop);
        if stepping.step == Step::Out && stepping.is_in_function(stop) && is_not_left {
            return Some(Step::Out);
        }
        if self.sources.is_skipped(frame) {
            // Our hook leads on to the user's code; Node's own code that V8 does not pass over, such as that of
            // its promises, leads back to it.
            let leads_on = stepping.step == Step::Into && self.sources.is_hook(frame);
            return Some(if leads_on { Step::Into } else { Step::Out });
        }
        // A generator's stack is that of who resumes it.
        if stepping.step != Step::Into && stop.frames.len() > stepping.depth && !is_same_function {
            // A module that was loaded on the way has begun, or has called the function again.
            return Some(Step::Out);
        }
        let line = self.sources.line(&frame.location).await;
        let is_nobodys = line.is_none();
        let is_same_line =
            is_same_function && is_not_left && line == stepping.line && stepping.step != Step::Out;
        if stepping.step == Step::Over && is_same_function && is_not_left {
            stepping.resume_at(stop);
        }
        (is_nobodys || is_same_line)
            .then(|| if stepping.step == Step::Into { Step::Into } else { Step::Over })
    }

    /// V8 releases the objects of a stop when the program resumes; this outlives it.
    async fn keep(&self, value: &RemoteObject) -> Option<RemoteObject> {
        let Some(object_id) = value.object_id.clone() else { return Some(value.clone()) };
        let again = CallFunctionOn {
            function_declaration: "function(){return this}".to_owned(),
            object_id: Some(object_id),
            object_group: Some(RETURNED.to_owned()),
            ..Default::default()
        };
        Some(self.v8.request(again).await.ok()?.result)
    }
}
