//! Which lines two versions of a file have in common.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Pairs of lines that are compared one by one, at most. Larger parts are divided at lines that are there only once.
const MOST_PAIRS: usize = 250_000;

/// How much alike two lines are: the same text, the same without a letter or digit, such as `}`, and at most two that
/// were edited. One line that is the same counts more than two that were edited.
const SAME: u32 = 100;
const SAME_MARKS: u32 = 10;
const EDITED: u32 = 49;

/// The lines of two versions that are the same, or that were edited, and those that were moved, as indices.
pub(super) fn pairs(first: &[String], second: &[String]) -> (Pairs, Pairs) {
    let trimmed = |lines: &[String]| lines.iter().map(|line| line.trim().to_owned()).collect();
    let mut texts = Texts { first: trimmed(first), second: trimmed(second), pairs: Vec::new() };
    texts.compare(0..first.len(), 0..second.len());
    texts.pair_single_lines();
    let moved = texts.moved_lines();
    (texts.pairs, moved)
}

/// Lines of the first and of the second version.
pub(super) type Pairs = Vec<(usize, usize)>;

/// Two versions of a file, and the lines of them that were paired so far.
struct Texts {
    first: Vec<String>,
    second: Vec<String>,
    pairs: Pairs,
}

impl Texts {
    fn is_same(&self, at: usize, other: usize) -> bool {
        self.first.get(at) == self.second.get(other)
    }

    /// Pairs the lines of two parts.
    fn compare(&mut self, mut first: Range<usize>, mut second: Range<usize>) {
        while !first.is_empty() && !second.is_empty() && self.is_same(first.start, second.start) {
            self.pairs.push((first.start, second.start));
            first.start += 1;
            second.start += 1;
        }
        let (ends, other_ends) = (first.end, second.end);
        while !first.is_empty() && !second.is_empty() && self.is_same(first.end - 1, second.end - 1) {
            first.end -= 1;
            second.end -= 1;
        }
        let ends = (first.end..ends).zip(second.end..other_ends);
        if first.len() * second.len() <= MOST_PAIRS {
            self.compare_each(first, second);
        } else {
            self.divide(first, second);
        }
        self.pairs.extend(ends);
    }

    /// Pairs lines that are there only once, and compares what is between them.
    fn divide(&mut self, first: Range<usize>, second: Range<usize>) {
        let both = once(&self.first, first.clone().collect(), &self.second, second.clone().collect());
        let (mut start, mut other_start) = (first.start, second.start);
        let ascending = longest_ascending(&both);
        if ascending.is_empty() {
            return;
        }
        for (at, other) in ascending {
            self.compare(start..at, other_start..other);
            self.pairs.push((at, other));
            (start, other_start) = (at + 1, other + 1);
        }
        self.compare(start..first.end, other_start..second.end);
    }

    /// Pairs lines so that as much as possible is alike.
    fn compare_each(&mut self, first: Range<usize>, second: Range<usize>) {
        if first.is_empty() || second.is_empty() {
            return;
        }
        let words = |lines: &[String], part: Range<usize>| {
            lines.get(part).unwrap_or_default().iter().map(|line| words(line)).collect::<Vec<_>>()
        };
        let (ours, theirs) = (words(&self.first, first.clone()), words(&self.second, second.clone()));
        let width = second.len() + 1;
        // What the lines from these on have in common at most.
        let mut best = vec![0u32; (first.len() + 1) * width];
        let at = |row: usize, column: usize| row * width + column;
        let get = |best: &[u32], row, column| best.get(at(row, column)).copied().unwrap_or_default();
        let score = |row: usize, column: usize| {
            let is_same = self.is_same(first.start + row, second.start + column);
            ours.get(row).zip(theirs.get(column)).map_or(0, |(ours, theirs)| alike(ours, theirs, is_same))
        };
        for row in (0..first.len()).rev() {
            for column in (0..second.len()).rev() {
                let score = score(row, column);
                let paired = if score > 0 { score + get(&best, row + 1, column + 1) } else { 0 };
                let most = paired.max(get(&best, row + 1, column)).max(get(&best, row, column + 1));
                if let Some(slot) = best.get_mut(at(row, column)) {
                    *slot = most;
                }
            }
        }
        let (mut row, mut column) = (0, 0);
        let mut found = Vec::new();
        while row < first.len() && column < second.len() {
            let (now, score) = (get(&best, row, column), score(row, column));
            if score > 0 && now == score + get(&best, row + 1, column + 1) {
                found.push((first.start + row, second.start + column));
                (row, column) = (row + 1, column + 1);
            } else if now == get(&best, row + 1, column) {
                row += 1;
            } else {
                column += 1;
            }
        }
        self.pairs.extend(found);
    }

    /// A single line in place of another one is that line, edited, whatever it is now.
    fn pair_single_lines(&mut self) {
        let single = |lines: &[String], part: Range<usize>| {
            let mut texts = part.filter(|at| lines.get(*at).is_some_and(|line| !line.is_empty()));
            texts.next().filter(|_| texts.next().is_none())
        };
        let (mut start, mut other_start) = (0, 0);
        let mut all = Vec::new();
        let ends = [(self.first.len(), self.second.len())];
        for (at, other) in self.pairs.iter().copied().chain(ends) {
            all.extend(single(&self.first, start..at).zip(single(&self.second, other_start..other)));
            all.push((at, other));
            (start, other_start) = (at + 1, other + 1);
        }
        all.pop();
        self.pairs = all;
    }

    /// Lines that were moved, such as those of a function: from one that is there only once, as far as both go on alike.
    fn moved_lines(&self) -> Pairs {
        let mut moved = Vec::new();
        let mut ours: HashSet<usize> = (0..self.first.len()).collect();
        let mut theirs: HashSet<usize> = (0..self.second.len()).collect();
        for (at, other) in &self.pairs {
            ours.remove(at);
            theirs.remove(other);
        }
        let has_words = |line: &str| line.contains(char::is_alphanumeric);
        let mut anchors: Vec<(usize, usize)> =
            once(&self.first, ours.iter().copied().collect(), &self.second, theirs.iter().copied().collect());
        anchors.retain(|(at, _)| self.first.get(*at).is_some_and(|line| has_words(line)));
        for (at, other) in anchors {
            let mut run = |at: usize, other: usize| {
                let is_alike = self.is_same(at, other) && ours.remove(&at);
                let is_alike = is_alike && theirs.remove(&other);
                if is_alike {
                    moved.push((at, other));
                }
                is_alike
            };
            let (mut next, mut after) = (at, other);
            while run(next, after) {
                (next, after) = (next + 1, after + 1);
            }
            let (mut next, mut before) = (at.checked_sub(1), other.checked_sub(1));
            while let Some((at, other)) = next.zip(before)
                && run(at, other)
            {
                (next, before) = (at.checked_sub(1), other.checked_sub(1));
            }
        }
        moved
    }
}

/// The lines of two parts that are there only once in each, in the order of the first.
fn once(first: &[String], ours: Vec<usize>, second: &[String], theirs: Vec<usize>) -> Vec<(usize, usize)> {
    fn only(lines: &[String], part: Vec<usize>) -> HashMap<&str, Option<usize>> {
        let mut found = HashMap::new();
        for at in part {
            let text = lines.get(at).map_or("", String::as_str);
            found.entry(text).and_modify(|known| *known = None).or_insert(Some(at));
        }
        found
    }
    let (ours, theirs) = (only(first, ours), only(second, theirs));
    let mut both: Vec<(usize, usize)> =
        ours.iter().filter_map(|(text, at)| Some(((*at)?, (*theirs.get(text)?)?))).collect();
    both.sort_unstable();
    both
}

/// The words and operators of a line.
fn words(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_word = false;
    for c in line.chars() {
        let is_part = c.is_alphanumeric() || c == '_';
        if is_part
            && is_word
            && let Some(word) = found.last_mut()
        {
            word.push(c);
        } else if is_part || !(c.is_whitespace() || "()[]{}\"'`,;:".contains(c)) {
            found.push(c.to_string());
        }
        is_word = is_part;
    }
    found.sort_unstable();
    found
}

/// How much alike two lines are, by their sorted words; 0 if they are different lines.
fn alike(ours: &[String], theirs: &[String], is_same: bool) -> u32 {
    if is_same {
        let has_words = ours.iter().any(|word| word.contains(char::is_alphanumeric));
        return if has_words { SAME } else { SAME_MARKS };
    }
    let (mut at, mut other, mut common) = (0, 0, 0u32);
    while let (Some(word), Some(another)) = (ours.get(at), theirs.get(other)) {
        match word.cmp(another) {
            std::cmp::Ordering::Equal => (at, other, common) = (at + 1, other + 1, common + 1),
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => other += 1,
        }
    }
    let all = u32::try_from(ours.len() + theirs.len()).unwrap_or(u32::MAX);
    if common == 0 || common.saturating_mul(4) < all { 0 } else { EDITED.saturating_mul(2 * common) / all }
}

/// The most pairs of which both numbers ascend, of pairs whose first ones do.
fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // The last pair of the best sequence of each length, and for each pair the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    let second = |at: usize| pairs.get(at).map_or(0, |pair| pair.1);
    for at in 0..pairs.len() {
        let length = ends.partition_point(|end| second(*end) < second(at));
        before.push(length.checked_sub(1).and_then(|last| ends.get(last).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut found = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        found.extend(pairs.get(at));
        next = before.get(at).copied().flatten();
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split('|').map(str::to_owned).collect()
    }

    #[test]
    fn lines_of_two_versions_are_paired() {
        for (first, second, expected) in [
            ("a = 1|b = 2", "a = 1|b = 2", vec![(0, 0), (1, 1)]),
            ("a = 1|b = 2", "import os||a = 1|b = 2", vec![(0, 2), (1, 3)]),
            ("a = 1|b = 2|c = 3", "a = 1|c = 3", vec![(0, 0), (2, 1)]),
            // Indented, edited, and renamed.
            ("a = 1|b = 2", "if x:|    a = 1|b = 2", vec![(0, 1), (1, 2)]),
            (
                "rate = 0.1|total = 0|add(total)",
                "rate = 0.2|amount = 0|add(amount)",
                vec![(0, 0), (1, 1), (2, 2)],
            ),
            ("x = 1|total = 0|y = 2", "x = 1|log(user)|amount = 0|y = 2", vec![(0, 0), (1, 2), (2, 3)]),
            // One line for one other is that line, edited.
            ("a|return x + y|b", "a|return sum(all)|b", vec![(0, 0), (1, 1), (2, 2)]),
            ("x|}|}", "y = 5|}", vec![(2, 1)]),
            // A function that was moved.
            (
                "def f():|return 1||def g():|return 2||x()",
                "def g():|return 2||def f():|return 1||x()",
                vec![(0, 3), (1, 4), (3, 0), (4, 1), (5, 5), (6, 6)],
            ),
        ] {
            let (mut found, moved) = pairs(&lines(first), &lines(second));
            found.extend(moved);
            found.sort_unstable();
            assert_eq!(found, expected, "{first} / {second}");
        }
    }

    #[test]
    fn large_versions_are_divided_at_lines_that_are_there_once() {
        let line = |at: usize| format!("line_{at} = {at}");
        let first: Vec<String> = (0..2000).map(line).collect();
        let mut second: Vec<String> =
            (0..2000).rev().step_by(500).map(line).chain((1..1999).map(line)).collect();
        second.insert(1000, "inserted()".to_owned());
        let (found, _) = pairs(&first, &second);
        assert_eq!(found.len(), 1998);
        assert!(found.iter().all(|(at, other)| first[*at] == second[*other]));
    }
}
