//! Pairs calls with their answers, reading from both ends.

use std::collections::{HashMap, VecDeque};

use super::Kind;

/// How many wait for their other half at most.
const WAITING: usize = 65_536;

/// Those whose other half is not found yet. Places are counted from the first entry that was read at first: what is
/// put in front has negative ones.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Calls without an answer, oldest first.
    calls: Waiting,
    /// Answers whose call must be in what is not read yet, oldest first.
    answers: Waiting,
}

#[derive(Debug, Default)]
struct Waiting {
    places: HashMap<u64, VecDeque<i64>>,
    count: usize,
}

/// A call and its answer.
pub(super) type Pair = (i64, i64);

impl Pairs {
    /// An entry at the end. Returns the pair that it completes.
    pub(super) fn push_back(&mut self, kind: Kind, call: u64, place: i64) -> Option<Pair> {
        match kind {
            Kind::Call => self.calls.push_back(call, place),
            Kind::Response | Kind::Failure => match self.calls.pop(call) {
                Some(found) => return Some((found, place)),
                None => self.answers.push_back(call, place),
            },
            _ => {}
        }
        None
    }

    /// Entries before all others, in their order. Calls `found` for each pair.
    pub(super) fn put_in_front(
        &mut self,
        entries: impl Iterator<Item = (Kind, u64, i64)>,
        mut found: impl FnMut(Pair),
    ) {
        let mut older = Self::default();
        for (kind, call, place) in entries {
            older.push_back(kind, call, place).into_iter().for_each(&mut found);
        }
        for (call, places) in older.calls.places {
            let (mut open, mut places) = (Vec::new(), places.into_iter());
            for place in places.by_ref() {
                match self.answers.pop(call) {
                    Some(answer) => found((place, answer)),
                    None => open.push(place),
                }
            }
            self.calls.push_front(call, open);
        }
        for (call, places) in older.answers.places {
            self.answers.push_front(call, places.into());
        }
    }

    /// No older entries will be added.
    pub(super) fn begins_here(&mut self) {
        self.answers = Waiting::default();
    }
}

impl Waiting {
    fn push_back(&mut self, call: u64, place: i64) {
        if self.count == WAITING {
            // So many calls are never answered: those of killed programs are dropped.
            *self = Self::default();
        }
        self.places.entry(call).or_default().push_back(place);
        self.count += 1;
    }

    fn push_front(&mut self, call: u64, places: Vec<i64>) {
        if !places.is_empty() && self.count < WAITING {
            self.count += places.len();
            let waiting = self.places.entry(call).or_default();
            places.into_iter().rev().for_each(|place| waiting.push_front(place));
        }
    }

    fn pop(&mut self, call: u64) -> Option<i64> {
        let waiting = self.places.get_mut(&call)?;
        let place = waiting.pop_front();
        if waiting.is_empty() {
            self.places.remove(&call);
        }
        self.count -= usize::from(place.is_some());
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters in capitals are calls, small ones their answers.
    fn entries(text: &str, from: i64) -> Vec<(Kind, u64, i64)> {
        let kind = |letter: char| if letter.is_uppercase() { Kind::Call } else { Kind::Response };
        let call = |letter: char| u64::from(letter.to_ascii_lowercase());
        text.chars().zip(from..).map(|(letter, place)| (kind(letter), call(letter), place)).collect()
    }

    #[test]
    fn calls_and_answers_are_paired_in_either_order() {
        // What is there at first, what comes before it, what is written then; the pairs, in order.
        let cases: [(&str, &str, &str, &[Pair]); 8] = [
            ("Aa", "", "", &[(0, 1)]),
            ("ABba", "", "", &[(0, 3), (1, 2)]),
            ("AAaa", "", "", &[(0, 2), (1, 3)]),
            ("a", "A", "", &[(-1, 0)]),
            ("aa", "AA", "", &[(-2, 0), (-1, 1)]),
            ("", "A", "a", &[(-1, 0)]),
            ("A", "A", "aa", &[(-1, 1), (0, 2)]),
            ("a", "", "A", &[]),
        ];
        for (first, front, behind, expected) in cases {
            let mut pairs = Pairs::default();
            let mut found = Vec::new();
            for (kind, call, place) in entries(first, 0) {
                found.extend(pairs.push_back(kind, call, place));
            }
            let length = |text: &str| i64::try_from(text.len()).unwrap();
            pairs.put_in_front(entries(front, -length(front)).into_iter(), |pair| found.push(pair));
            for (kind, call, place) in entries(behind, length(first)) {
                found.extend(pairs.push_back(kind, call, place));
            }
            found.sort_unstable();
            assert_eq!(found, expected, "{first} {front} {behind}");
        }
    }
}
