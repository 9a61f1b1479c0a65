//! Samples, merged into trees of calls.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::model::activity::CallNode;
use crate::model::source::Location;

/// A call as the sampler reports it: the position of its caller in the list, below 0 for none, its function, that
/// one's file and first line, how often it was sampled, and on which lines.
#[derive(Deserialize)]
pub(super) struct FlatCall(i64, String, String, u32, u64, Vec<(u32, u64)>);

/// The calls from one call.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<CallTotals>);

#[derive(Debug)]
struct CallTotals {
    function: String,
    file: String,
    /// The function's first line; 0 when it is not known.
    first: u32,
    total: u64,
    lines: BTreeMap<u32, u64>,
    calls: Calls,
}

impl Calls {
    /// Adds a sampler's report. A caller comes before its callees.
    pub(super) fn add_flat(&mut self, calls: Vec<FlatCall>) {
        let mut paths: Vec<Vec<usize>> = Vec::new();
        for FlatCall(caller, function, file, first, total, lines) in calls {
            let mut path = usize::try_from(caller)
                .ok()
                .and_then(|caller| paths.get(caller).cloned())
                .unwrap_or_default();
            let mut calls = &mut *self;
            for index in &path {
                let Some(call) = calls.0.get_mut(*index) else { return };
                calls = &mut call.calls;
            }
            let Some((index, call)) = calls.entry(function, file, first) else { return };
            call.total += total;
            for (line, times) in lines {
                *call.lines.entry(line).or_default() += times;
            }
            path.push(index);
            paths.push(path);
        }
    }

    /// Adds a stack, innermost first, as seen this many times.
    pub(super) fn add_stack(&mut self, stack: &[(String, String, u32)], times: u64) {
        let mut calls = self;
        for (function, file, line) in stack.iter().rev() {
            let Some((_, call)) = calls.entry(function.clone(), file.clone(), 0) else { return };
            call.total += times;
            *call.lines.entry(*line).or_default() += times;
            calls = &mut call.calls;
        }
    }

    /// The call of a function, with its position; of one whose first line is not known, that of any with its name
    /// in its file.
    fn entry(&mut self, function: String, file: String, first: u32) -> Option<(usize, &mut CallTotals)> {
        let is_same = |call: &CallTotals| {
            call.function == function
                && call.file == file
                && (call.first == first || call.first == 0 || first == 0)
        };
        let index = self.0.iter().position(is_same).unwrap_or_else(|| {
            let (lines, calls) = (BTreeMap::new(), Self::default());
            self.0.push(CallTotals { function, file, first, total: 0, lines, calls });
            self.0.len() - 1
        });
        let call = self.0.get_mut(index)?;
        call.first = call.first.max(first);
        Some((index, call))
    }

    /// The same as the model has it, what was seen most often first.
    pub(super) fn into_nodes(self, place: &impl Fn(String, u32) -> Location) -> Vec<CallNode> {
        let mut calls = self.0;
        calls.sort_by_key(|call| std::cmp::Reverse(call.total));
        let node = |call: CallTotals| CallNode {
            function: call.function,
            location: Some(place(call.file, call.first)),
            total: call.total,
            lines: call.lines.into_iter().collect(),
            calls: call.calls.into_nodes(place),
        };
        calls.into_iter().map(node).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: String, line: u32) -> Location {
        Location { source: crate::model::source::Source::file(file), line, column: 0, generated: None }
    }

    /// Each call as `depth function@first total lines`.
    fn flatten(nodes: &[CallNode], depth: usize, into: &mut Vec<String>) {
        for node in nodes {
            let first = node.location.as_ref().unwrap().line;
            into.push(format!("{depth} {}@{first} {} {:?}", node.function, node.total, node.lines));
            flatten(&node.calls, depth + 1, into);
        }
    }

    #[test]
    fn reported_and_written_samples_are_merged() {
        let flat = r#"[[-1, "main", "/a.py", 1, 3, [[4, 3]]], [0, "rare", "/a.py", 9, 1, [[9, 1]]], [0, "often", "/a.py", 20, 2, [[21, 1], [22, 1]]]]"#;
        let stack = |line| {
            [("often", line), ("main", 4)].map(|(name, line)| (name.to_owned(), "/a.py".to_owned(), line))
        };
        let mut calls = Calls::default();
        calls.add_stack(&stack(22), 5);
        calls.add_flat(serde_json::from_str(flat).unwrap());
        calls.add_flat(serde_json::from_str(flat).unwrap());
        let mut lines = Vec::new();
        flatten(&calls.into_nodes(&place), 0, &mut lines);
        let expected = ["0 main@1 11 [(4, 11)]", "1 often@20 9 [(21, 2), (22, 7)]", "1 rare@9 2 [(9, 2)]"];
        assert_eq!(lines, expected);
    }
}
