//! The stacks that were read at this stop.
//!
//! That of the thread that stopped does not change until the program runs, and nearly every request begins
//! with it: a second round trip would double what it costs to evaluate an expression.

use std::collections::HashMap;

use crate::model::ids::{RawId, Reference, TargetId};
use crate::model::stack::Stack;

/// The top parts of stacks, by thread.
#[derive(Debug, Default)]
pub(super) struct Stacks(HashMap<(TargetId, RawId), Stack<Reference>>);

impl Stacks {
    /// These frames, when all of them are known.
    pub(super) fn get(
        &self,
        thread: (TargetId, RawId),
        start: usize,
        levels: usize,
    ) -> Option<Stack<Reference>> {
        let known = self.0.get(&thread)?;
        let end = start.saturating_add(levels).min(known.total);
        let frames = known.frames.get(start.min(end)..end)?.to_vec();
        Some(Stack { frames, total: known.total })
    }

    /// Keeps what was read from the top of a stack on.
    pub(super) fn keep(&mut self, thread: (TargetId, RawId), stack: Stack<Reference>) {
        let known = self.0.entry(thread).or_insert_with(|| stack.clone());
        if known.frames.len() < stack.frames.len() {
            *known = stack;
        }
    }

    /// The program runs.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::stack::StackFrame;

    const THREAD: (TargetId, RawId) = (TargetId::PROGRAM, RawId(1));

    fn stack(frames: u64, total: usize) -> Stack<Reference> {
        let frame = |id| StackFrame { id: Reference(id), name: format!("f{id}"), location: None };
        Stack { frames: (0..frames).map(frame).collect(), total }
    }

    #[test]
    fn only_complete_stacks_are_returned() {
        let mut stacks = Stacks::default();
        assert_eq!(stacks.get(THREAD, 0, 1), None);
        stacks.keep(THREAD, stack(4, 10));
        let table =
            [(0, 1, Some(1)), (0, 4, Some(4)), (2, 2, Some(2)), (0, 5, None), (3, 2, None), (7, 1, None)];
        for (start, levels, expected) in table {
            let found = stacks.get(THREAD, start, levels).map(|stack| stack.frames.len());
            assert_eq!(found, expected, "{levels} from {start}");
        }
        stacks.keep(THREAD, stack(10, 10));
        stacks.keep(THREAD, stack(1, 10));
        assert_eq!(stacks.get(THREAD, 0, 1000), Some(stack(10, 10)), "the longer part stays");
        assert_eq!(stacks.get(THREAD, 12, 5).map(|stack| stack.frames.len()), Some(0));
        stacks.forget();
        assert_eq!(stacks.get(THREAD, 0, 1), None);
    }
}
