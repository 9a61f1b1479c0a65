//! Steps, and what a stop is about.

/// A step, by its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Over,
    Into,
    Out,
}

/// A step that is under way, and how deep the stack was when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stepping {
    pub(super) step: Step,
    pub(super) depth: usize,
}

impl Stepping {
    /// Whether it ends at a statement that is this deep.
    pub(super) fn ends_at(self, depth: usize) -> bool {
        match self.step {
            Step::Into => true,
            Step::Over => depth <= self.depth,
            Step::Out => depth < self.depth,
        }
    }
}

/// The steps that Xdebug has begun, each with the depth of the stack. It keeps one that something interrupts, even if the
/// program then runs, and stops where it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Begun {
    over: Option<usize>,
    out: Option<usize>,
    into: bool,
}

impl Begun {
    /// Begins a step at a depth: the command for it.
    pub(super) fn begin(&mut self, step: Step, depth: usize) -> &'static str {
        match step {
            Step::Over => {
                self.over = Some(depth);
                "step_over"
            }
            Step::Into => {
                self.into = true;
                "step_into"
            }
            Step::Out => {
                self.out = Some(depth);
                "step_out"
            }
        }
    }

    /// Ends the step that stops a program at a depth, in the order in which Xdebug asks. False if none does.
    pub(super) fn end(&mut self, depth: usize) -> bool {
        if self.out.is_some_and(|began| depth < began) {
            self.out = None;
        } else if self.over.is_some_and(|began| depth <= began) {
            self.over = None;
        } else if self.into {
            self.into = false;
        } else if self.out == Some(depth) {
            // In another call than the one that it was to leave.
            self.out = None;
        } else {
            return false;
        }
        true
    }
}

/// A stop that is for no exception.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
pub(super) struct Halt {
    /// The program has just begun, and the client wants to see that.
    pub(super) is_entry: bool,
    /// Xdebug names a breakpoint.
    pub(super) is_at_breakpoint: bool,
    /// Our signal was on its way.
    pub(super) is_signalled: bool,
    /// The client has asked for a pause.
    pub(super) is_pausing: bool,
    /// It may answer a signal that came together with the stop before.
    pub(super) is_left_over: bool,
    /// A step that Xdebug has begun ends here.
    pub(super) ends_step: bool,
    /// Whether the step of the client ends here; none if there is none.
    pub(super) is_over: Option<bool>,
}

impl Halt {
    /// Whether the breakpoints of the line are still to come: they do not stop the program again where it stands.
    pub(super) fn is_in_front(self) -> bool {
        self.is_signalled || self.ends_step && self.is_over != Some(true) && !self.is_entry
    }

    /// The reason to report it for, with the breakpoints that it is a hit of; none if the program continues.
    pub(super) fn reason(self, hits: &[i64]) -> Option<&'static str> {
        let is_explained = self.is_left_over || self.ends_step || self.is_at_breakpoint || self.is_signalled;
        match self.is_over {
            _ if !hits.is_empty() => Some("breakpoint"),
            _ if self.is_pausing => Some("pause"),
            Some(false) => None,
            None if is_explained && !self.is_entry => None,
            _ => Some(if self.is_entry { "entry" } else { "step" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_a_breakpoint_interrupts_ends_later() {
        let mut begun = Begun::default();
        assert_eq!(begun.begin(Step::Over, 1), "step_over");
        assert_eq!(begun.begin(Step::Out, 3), "step_out");
        let ends = |depth| {
            let mut begun = begun;
            begun.end(depth)
        };
        assert_eq!([2, 3, 4].map(ends), [true, true, false]);
        assert_eq!([2, 2, 1, 1].map(|depth| begun.end(depth)), [true, false, true, false]);
        assert_eq!(begun.begin(Step::Into, 1), "step_into");
        assert_eq!([7, 7].map(|depth| begun.end(depth)), [true, false]);
    }

    #[test]
    fn steps_end_by_the_depth_of_the_stack() {
        let ends = |step, depth| Stepping { step, depth: 3 }.ends_at(depth);
        assert_eq!([2, 3, 4].map(|depth| ends(Step::Over, depth)), [true, true, false]);
        assert_eq!([2, 3, 4].map(|depth| ends(Step::Out, depth)), [true, false, false]);
        assert_eq!([2, 3, 4].map(|depth| ends(Step::Into, depth)), [true, true, true]);
    }

    #[test]
    fn a_stop_is_reported_for_what_the_client_requested() {
        let entry = Halt { is_entry: true, ends_step: true, ..Halt::default() };
        let step = Halt { ends_step: true, is_over: Some(true), ..Halt::default() };
        let deeper = Halt { is_over: Some(false), ..step };
        let left_over = Halt { is_over: None, ..step };
        let passed = Halt { is_at_breakpoint: true, ..Halt::default() };
        let held = Halt { is_signalled: true, ..Halt::default() };
        let paused = Halt { is_pausing: true, ..held };
        let by_program = Halt::default();
        let table = [
            (entry, false, Some("entry")),
            (step, false, Some("step")),
            (deeper, true, None),
            (left_over, true, None),
            (passed, false, None),
            (held, true, None),
            (paused, true, Some("pause")),
            (by_program, false, Some("step")),
        ];
        for (halt, is_in_front, reason) in table {
            assert_eq!((halt.is_in_front(), halt.reason(&[])), (is_in_front, reason), "{halt:?}");
            assert_eq!(halt.reason(&[1]), Some("breakpoint"), "{halt:?}");
        }
    }
}
