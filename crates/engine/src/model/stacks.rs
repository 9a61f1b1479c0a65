//! The stacks that were read at this stop.
//!
//! They do not change until the program runs, and nearly every request begins with one: a second round trip would double
//! what it costs to evaluate an expression.

use std::collections::HashMap;
use std::hash::Hash;

use crate::model::stack::Stack;

/// The top parts of stacks, by thread.
#[derive(Debug)]
pub(crate) struct Stacks<Thread, Id>(HashMap<Thread, Top<Id>>);

#[derive(Debug)]
struct Top<Id> {
    stack: Stack<Id>,
    /// How many frames were requested. If there are fewer, and no more are counted, they are all.
    asked: usize,
}

impl<Thread, Id> Default for Stacks<Thread, Id> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<Thread: Clone + Eq + Hash, Id: Clone + PartialEq> Stacks<Thread, Id> {
    /// These frames, when all of them are known.
    pub(crate) fn get(&self, thread: &Thread, start: usize, levels: usize) -> Option<Stack<Id>> {
        let Top { stack, asked } = self.0.get(thread)?;
        let known = stack.frames.len();
        let end = start.saturating_add(levels);
        let is_whole = known < *asked && known >= stack.total;
        let end = if is_whole { end.min(known) } else { end };
        let frames = stack.frames.get(start.min(end)..end)?.to_vec();
        Some(Stack { frames, total: stack.total })
    }

    /// Keeps what was read from the top of a stack on, when this many frames were requested.
    pub(crate) fn keep(&mut self, thread: Thread, asked: usize, stack: &Stack<Id>) {
        if self.0.get(&thread).is_none_or(|known| known.asked < asked) {
            self.0.insert(thread, Top { stack: stack.clone(), asked });
        }
    }

    /// The thread that a frame was read of.
    pub(crate) fn thread_of(&self, frame: &Id) -> Option<Thread> {
        let mut known = self.0.iter();
        let (thread, _) = known.find(|(_, top)| top.stack.frames.iter().any(|one| one.id == *frame))?;
        Some(thread.clone())
    }

    /// The program runs.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::Reference;
    use crate::model::stack::StackFrame;

    fn stack(frames: u64, total: usize) -> Stack<Reference> {
        let frame = |id| StackFrame { id: Reference(id), name: format!("f{id}"), location: None };
        Stack { frames: (0..frames).map(frame).collect(), total }
    }

    #[test]
    fn only_complete_stacks_are_returned() {
        let mut stacks = Stacks::default();
        let thread = 1;
        assert_eq!(stacks.get(&thread, 0, 1), None);
        stacks.keep(thread, 4, &stack(4, 10));
        let table =
            [(0, 1, Some(1)), (0, 4, Some(4)), (2, 2, Some(2)), (0, 5, None), (3, 2, None), (7, 1, None)];
        for (start, levels, expected) in table {
            let found = stacks.get(&thread, start, levels).map(|stack| stack.frames.len());
            assert_eq!(found, expected, "{levels} from {start}");
        }
        stacks.keep(thread, 20, &stack(10, 10));
        stacks.keep(thread, 1, &stack(1, 10));
        assert_eq!(stacks.get(&thread, 0, 1000), Some(stack(10, 10)), "the longer part stays");
        assert_eq!(stacks.get(&thread, 12, 5).map(|stack| stack.frames.len()), Some(0));
        stacks.forget();
        assert_eq!(stacks.get(&thread, 0, 1), None);
    }

    #[test]
    fn a_total_that_counts_only_what_was_requested_says_nothing_of_the_rest() {
        let mut stacks = Stacks::default();
        stacks.keep(2, 40, &stack(39, 99));
        assert_eq!(stacks.get(&2, 0, 100), None, "one of forty was hidden");
        stacks.keep(1, 1, &stack(1, 1));
        assert_eq!(stacks.get(&1, 0, 1).map(|stack| stack.frames.len()), Some(1));
        assert_eq!(stacks.get(&1, 0, 40), None);
    }
}
