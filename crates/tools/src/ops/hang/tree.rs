//! Samples as a small tree of calls. Pure.

use engine::model::activity::{CallNode, SampledFrame};
use engine::model::source::Location;

/// How many lines a tree has at most.
const LINES: usize = 24;
/// What was seen more rarely is left out, in hundredths.
const RAREST: u64 = 3;

/// Adds samples to others.
pub(super) fn merge(into: &mut Vec<CallNode>, calls: Vec<CallNode>) {
    for call in calls {
        match into.iter_mut().find(|known| is_same(known, &call)) {
            Some(known) => {
                known.total += call.total;
                merge_lines(&mut known.lines, &call.lines);
                merge(&mut known.calls, call.calls);
            }
            None => into.push(call),
        }
    }
}

fn is_same(one: &CallNode, other: &CallNode) -> bool {
    let place = |node: &CallNode| {
        node.location.as_ref().map(|location| (location.source.name.clone(), location.line))
    };
    one.function == other.function && place(one) == place(other)
}

fn merge_lines(into: &mut Vec<(u32, u64)>, lines: &[(u32, u64)]) {
    for (line, count) in lines {
        match into.iter_mut().find(|(known, _)| known == line) {
            Some((_, known)) => *known += count,
            None => into.push((*line, *count)),
        }
    }
    into.sort_unstable();
}

/// The tree as text: one call per line, with its share of `samples`; callees are indented.
pub fn text(calls: &[CallNode], samples: u64) -> String {
    let mut lines = Vec::new();
    write(calls, samples.max(1), 0, &mut lines);
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if more > 0 {
        lines.push(format!("... {more} more"));
    }
    lines.join("\n")
}

fn write(calls: &[CallNode], samples: u64, depth: usize, lines: &mut Vec<String>) {
    let mut calls: Vec<&CallNode> = calls.iter().collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.total));
    for call in calls {
        let share = call.total * 100 / samples;
        if share < RAREST {
            continue;
        }
        if is_only_the_way(call) {
            write(&call.calls, samples, depth, lines);
            continue;
        }
        let place = call.location.as_ref().map(|location| {
            let file = location.source.name.rsplit('/').next().unwrap_or_default();
            format!(" {file}:{}", spans(call).unwrap_or_else(|| location.line.to_string()))
        });
        let indent = "  ".repeat(depth.min(12));
        lines.push(format!("{share:>3}% {indent}{}{}", call.function, place.unwrap_or_default()));
        write(&call.calls, samples, depth + 1, lines);
    }
}

/// Code of the runtime or of a library that leads to the user's.
fn is_only_the_way(call: &CallNode) -> bool {
    let is_internal =
        |call: &CallNode| call.location.as_ref().is_none_or(|location| location.source.internal);
    is_internal(call) && call.calls.iter().any(|call| !is_internal(call) || is_only_the_way(call))
}

/// The lines that a call was on: `3`, or `3-7`.
fn spans(call: &CallNode) -> Option<String> {
    let (first, last) = (call.lines.first()?.0, call.lines.last()?.0);
    Some(if first == last { first.to_string() } else { format!("{first}-{last}") })
}

/// The stack that was seen most often, innermost first.
pub(super) fn most_frequent_stack(calls: &[CallNode]) -> Vec<SampledFrame> {
    let mut stack = Vec::new();
    let mut calls = calls;
    while let Some(call) = calls.iter().max_by_key(|call| call.total) {
        let line = call.lines.iter().max_by_key(|(_, samples)| *samples).map(|(line, _)| *line);
        let location = call
            .location
            .clone()
            .map(|location| Location { line: line.unwrap_or(location.line), ..location });
        stack.push(SampledFrame { function: call.function.clone(), location });
        calls = &call.calls;
    }
    stack.reverse();
    stack
}

/// The lines that the innermost calls were on, with how often, in a file: what a loop's body is made of.
pub(super) fn lines_in(calls: &[CallNode], file: &str) -> Vec<(u32, u64)> {
    let mut lines = Vec::new();
    for call in calls {
        if call.location.as_ref().is_some_and(|location| location.source.name == file) {
            merge_lines(&mut lines, &call.lines);
        }
        merge_lines(&mut lines, &lines_in(&call.calls, file));
    }
    lines
}

#[cfg(test)]
mod tests {
    use engine::model::source::Source;

    use super::*;

    fn call(function: &str, total: u64, lines: &[(u32, u64)], calls: Vec<CallNode>) -> CallNode {
        let source = Source::file("/app/main.js");
        let location = Some(Location { source, line: 1, column: 1, generated: None });
        CallNode { function: function.to_owned(), location, total, lines: lines.to_vec(), calls }
    }

    #[test]
    fn samples_are_merged_and_formatted_as_a_tree() {
        let mut calls = vec![call("main", 10, &[], vec![call("work", 9, &[(3, 4), (5, 5)], Vec::new())])];
        let later = vec![call(
            "main",
            10,
            &[],
            vec![call("work", 1, &[(4, 1)], Vec::new()), call("rest", 9, &[(9, 9)], Vec::new())],
        )];
        merge(&mut calls, later);
        assert_eq!(text(&calls, 20), "100% main main.js:1\n 50%   work main.js:3-5\n 45%   rest main.js:9");
        let most: Vec<_> = most_frequent_stack(&calls)
            .into_iter()
            .map(|frame| (frame.function, frame.location.map(|at| at.line)))
            .collect();
        assert_eq!(most, [("work".to_owned(), Some(5)), ("main".to_owned(), Some(1))]);
        assert_eq!(lines_in(&calls, "/app/main.js"), [(3, 4), (4, 1), (5, 5), (9, 9)]);
        assert_eq!(lines_in(&calls, "/app/other.js"), []);
        assert_eq!(text(&[], 0), "");
    }

    #[test]
    fn trees_have_a_size_limit() {
        let deep = (0..60).fold(call("leaf", 5, &[], Vec::new()), |inner, _| call("f", 5, &[], vec![inner]));
        let text = text(&[deep], 5);
        assert_eq!(text.lines().count(), LINES + 1);
        assert!(text.ends_with("... 37 more"), "{text}");
    }
}
