//! Steps that the debugger keeps when a breakpoint of another thread interrupts them.
//!
//! An adapter with [`Quirks::keeps_steps`] refuses any other step until that one has ended, and continues it however the
//! program is resumed. A pause ends it, and so does a breakpoint in its own thread.
//!
//! [`Quirks::keeps_steps`]: crate::adapter::plan::Quirks::keeps_steps

use crate::debugger::Step;
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::stop::StopReason;

/// The step that was requested from the debugger, until it ends.
#[derive(Debug, Default)]
pub(super) struct KeptStep {
    step: Option<(RawId, Step)>,
    is_interrupted: bool,
}

impl KeptStep {
    /// The step to ask for where a thread is to do this one; none if the program is to continue, and with it the step that
    /// was interrupted.
    pub(super) fn request(&mut self, thread: RawId, step: Option<Step>) -> Option<Step> {
        if self.is_interrupted {
            return None;
        }
        self.step = step.map(|step| (thread, step));
        step
    }

    /// Refuses a step that the debugger would refuse.
    pub(super) fn check(&self, thread: RawId, step: Step) -> Result<()> {
        if !self.is_interrupted || self.step == Some((thread, step)) {
            return Ok(());
        }
        Err(Error::Refused(
            "the debugger cannot step now: a breakpoint in another thread has interrupted a step, which has to end \
             before another one begins; continue, or set a breakpoint where this thread is to stop"
                .to_owned(),
        ))
    }

    pub(super) fn stopped(&mut self, thread: Option<RawId>, reason: &StopReason) {
        let is_other = self.step.is_some_and(|(stepping, _)| thread != Some(stepping));
        if is_other && *reason == StopReason::Breakpoint {
            self.is_interrupted = true;
        } else {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(kept: &mut KeptStep, thread: RawId, step: Option<Step>) -> &'static str {
        match kept.request(thread, step) {
            None => "continue",
            Some(Step::Out) => "out",
            Some(_) => "over",
        }
    }

    /// Words for what happens, and for each of them what is asked for or answered.
    fn play(words: &str) -> String {
        let mut kept = KeptStep::default();
        let mut seen = Vec::new();
        for word in words.split_whitespace() {
            let (what, thread) = word.split_at(word.len() - 1);
            let thread = RawId(thread.parse().unwrap());
            let step = if what == "out" { Step::Out } else { Step::Over };
            seen.push(match what {
                "continue" => sent(&mut kept, thread, None),
                "silently" => sent(&mut kept, thread, Some(Step::Out)),
                "over" | "out" if kept.check(thread, step).is_err() => "refused",
                "over" | "out" => sent(&mut kept, thread, Some(step)),
                "ends" => {
                    kept.stopped(Some(thread), &StopReason::Step);
                    "-"
                }
                "paused" => {
                    kept.stopped(Some(thread), &StopReason::Pause);
                    "-"
                }
                "hits" => {
                    kept.stopped(Some(thread), &StopReason::Breakpoint);
                    "-"
                }
                other => panic!("unknown word {other}"),
            });
        }
        seen.join(" ")
    }

    #[test]
    fn an_interrupted_step_continues_with_the_program() {
        let table = [
            ("steps that end", "over1 ends1 over2 ends2", "over - over -"),
            ("a breakpoint of its own thread", "over1 hits1 over2", "over - over"),
            ("another thread cannot step", "over1 hits2 over2 continue2", "over - refused continue"),
            ("the same step goes on", "over1 hits2 over1 ends1 over2", "over - continue - over"),
            ("another step of the thread", "over1 hits2 out1", "over - refused"),
            ("a rule continues it", "over1 hits2 silently1 ends1 over1", "over - continue - over"),
            ("it ends in a continue", "over1 hits2 continue2 ends1 over2", "over - continue - over"),
            ("it is interrupted again", "over1 hits2 continue2 hits3 over3", "over - continue - refused"),
            ("a pause ends it", "over1 hits2 continue2 paused1 over2", "over - continue - over"),
            ("no step", "continue1 hits2 over2", "continue - over"),
        ];
        for (name, words, expected) in table {
            assert_eq!(play(words), expected, "{name}: {words}");
        }
    }
}
