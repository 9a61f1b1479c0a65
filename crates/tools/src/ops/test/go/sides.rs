//! What a test of Go has compared, by its message. Messages are free text, so that only usual forms are taken for one.

use engine::model::thrown::{Assertion, Side, SideValue};

/// Words before the actual value.
const GOT: [&str; 3] = ["got", "have", "actual"];
/// Words before the expected one.
const WANT: [&str; 4] = ["want", "wanted", "expect", "expected"];
/// Words and signs that end the first value.
const SEPARATORS: [&str; 8] = [",", ";", ":", "(", "-", "but", "and", "instead"];
/// Beginnings of what is expected that are no value.
const VAGUE: [&str; 9] = [">", "<=", "< ", "!=", "not ", "one of ", "at least ", "at most ", "between "];

/// The two sides of a comparison: `got 3, want 4`, `f() = 3, want 4`, `expected 4, got 3`, and testify's lines.
pub(in crate::ops::test) fn sides(message: &str) -> Option<Assertion> {
    let line_of = |start: &str| {
        let found = message.lines().find_map(|line| line.trim().strip_prefix(start));
        found.map(str::trim).filter(|text| !text.is_empty())
    };
    if let (Some(expected), Some(actual)) = (line_of("expected:"), line_of("actual  :")) {
        return Some(Assertion {
            left: Some(side(actual)),
            right: Some(side(expected)),
            ..Assertion::default()
        });
    }
    let (actual, expected) = message.lines().find_map(compared)?;
    Some(Assertion {
        operator: Some("==".to_owned()),
        left: Some(side(actual)),
        right: Some(side(expected)),
        ..Assertion::default()
    })
}

fn side(text: &str) -> Side {
    let value = SideValue { text: text.to_owned(), type_name: String::new(), cut: false };
    Side { expression: None, value: Some(value) }
}

/// The actual and the expected value that a line names; none if it could mean others, too.
fn compared(line: &str) -> Option<(&str, &str)> {
    let words = words(line);
    let wants: Vec<&Word> = words.iter().filter(|word| word.is_one_of(&WANT)).collect();
    let separated: Vec<&Word> =
        wants.iter().copied().filter(|word| separator(word.before(line)).is_some()).collect();
    let want = match (wants.as_slice(), separated.as_slice()) {
        ([want], _) | (_, [want]) => *want,
        _ => return None,
    };
    let (before, after): (Vec<&Word>, Vec<&Word>) =
        words.iter().filter(|word| word.is_got(line)).partition(|word| word.end < want.start);
    let (actual, expected) = match (before.as_slice(), after.as_slice()) {
        ([got], _) => (first_value(line.get(got.end..want.start)?)?, last_value(want.after(line))),
        ([], [got]) => {
            let text = separator(got.before(line)).and(line.get(want.end..got.start))?;
            (last_value(got.after(line)), first_value(text).filter(|text| !text.contains(" to "))?)
        }
        _ => return None,
    };
    let is_vague = VAGUE.iter().any(|start| expected.starts_with(start));
    // Two values that are equal have not failed a comparison: an error may say both.
    let differ = actual != expected && !actual.is_empty() && !expected.is_empty();
    (differ && !is_vague).then_some((actual, expected))
}

/// A value before another one. Without a separator after it, it has no spaces.
fn first_value(text: &str) -> Option<&str> {
    let mut value = text.trim_end();
    while let Some(separator) = separator(value) {
        value = value.strip_suffix(separator)?.trim_end();
    }
    let value = value.trim_start_matches([':', '=', ' ']);
    let has_spaces = || outside(value).any(|(_, letter, depth)| letter == ' ' && depth == 0);
    (separator(text).is_some() || !has_spaces()).then_some(value)
}

fn last_value(text: &str) -> &str {
    let value = text.trim_start_matches([':', '=', ' ']).trim_end_matches([',', ';', '.', ' ']);
    // The line may be in parentheses.
    let closes_more = outside(value).any(|(_, _, depth)| depth < 0);
    let value = value.strip_suffix(')').filter(|_| closes_more).unwrap_or(value);
    let noted = value.split_once(" (").filter(|(plain, _)| is_plain(plain));
    noted.map_or(value, |(plain, _)| plain.trim_end())
}

/// Whether a text is a number or one of the words that are values, so that no more of it follows.
fn is_plain(text: &str) -> bool {
    matches!(text, "true" | "false" | "nil" | "<nil>") || text.parse::<f64>().is_ok()
}

/// What a text ends with that separates two values.
fn separator(text: &str) -> Option<&'static str> {
    let text = text.trim_end();
    SEPARATORS.into_iter().find(|separator| {
        let is_word = separator.starts_with(|letter: char| letter.is_alphabetic());
        text.strip_suffix(separator).is_some_and(|before| !is_word || before.ends_with([' ', ',', ';']))
    })
}

/// A word, or a `=` between spaces.
struct Word<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

impl Word<'_> {
    fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| word.eq_ignore_ascii_case(self.text))
    }

    /// Whether the actual value follows: `got 3`, `got: 3`, `got = 3`, but not `got.Name = 3`.
    fn is_got(&self, line: &str) -> bool {
        if self.text == "=" {
            let before = self.before(line).trim_end();
            return !GOT.iter().any(|got| before.strip_suffix(got).is_some_and(|rest| !ends_in_word(rest)));
        }
        self.is_one_of(&GOT) && self.after(line).starts_with([' ', ':', '='])
    }

    fn before<'a>(&self, line: &'a str) -> &'a str {
        line.get(..self.start).unwrap_or_default()
    }

    fn after<'a>(&self, line: &'a str) -> &'a str {
        line.get(self.end..).unwrap_or_default()
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn ends_in_word(text: &str) -> bool {
    text.ends_with(is_of_word)
}

fn words(line: &str) -> Vec<Word<'_>> {
    let starts = outside(line).filter(|&(at, letter, depth)| {
        let before = line.get(..at).unwrap_or_default();
        let is_assigned = || depth == 0 && before.ends_with(' ') && line.get(at + 1..at + 2) == Some(" ");
        (is_of_word(letter) && !ends_in_word(before)) || (letter == '=' && is_assigned())
    });
    let word = |(start, letter, _): (usize, char, i32)| {
        let rest = line.get(start..)?;
        let length =
            if letter == '=' { 1 } else { rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len()) };
        Some(Word { text: rest.get(..length)?, start, end: start + length })
    };
    starts.filter_map(word).collect()
}

/// The letters outside of quotes, where they are, and how deep in brackets.
fn outside(text: &str) -> impl Iterator<Item = (usize, char, i32)> {
    let (mut depth, mut quote, mut escaped) = (0, None, false);
    text.char_indices().filter_map(move |(at, letter)| {
        if let Some(end) = quote {
            quote = (letter != end || escaped).then_some(end);
            escaped = letter == '\\' && !escaped && end != '`';
            return None;
        }
        match letter {
            '"' | '`' => quote = Some(letter),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        Some((at, letter, depth))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_comparison_are_found() {
        let table = [
            ("got 3, want 4", "3", "4"),
            ("Add(1, 2) = 3; want 4", "3", "4"),
            ("total: got \"a\", expected \"b\"", "\"a\"", "\"b\""),
            ("Error: Not equal:\nexpected: 4\nactual  : 3", "3", "4"),
            ("Area() got = 1.5, want 2", "1.5", "2"),
            ("Area() got1 = 1.5, want 2", "1.5", "2"),
            ("got.Side = 1.5, want 2", "1.5", "2"),
            ("got 3, wanted 4", "3", "4"),
            ("got 3 want 4", "3", "4"),
            ("got 3 but expected 4.", "3", "4"),
            ("sizes differ (got: f(3), want: f(4))", "f(3)", "f(4)"),
            ("f(x) = 3 (want 4)", "3", "4"),
            ("over: full = false, want true (3/0 peak 3)", "false", "true"),
            ("got a, want b (c)", "a", "b (c)"),
            ("got \"I want it\", want \"a, b.\"", "\"I want it\"", "\"a, b.\""),
            ("error = they want more, want <nil>", "they want more", "<nil>"),
            ("Add(1, 2): expected 3, got 4", "4", "3"),
            ("Expected [1 2] but got [1]", "[1]", "[1 2]"),
            ("parse() error = empty\ngot {a b}, want {want:c}", "{a b}", "{want:c}"),
        ];
        for (message, left, right) in table {
            let found = sides(message).unwrap();
            let text = |side: Option<Side>| side.unwrap().value.unwrap().text;
            assert_eq!((text(found.left).as_str(), text(found.right).as_str()), (left, right), "{message}");
        }
    }

    #[test]
    fn other_messages_compare_nothing() {
        for message in [
            "no such file",
            "parse() error = empty, wantErr false",
            "parse(\"x\") = 7: unexpected error boom",
            "error = BOOK: want 9, have 3, want <nil>",
            "n = 3: got 4, want 5",
            "Take: nail: want 10, have 10",
            "got 3 instead of the expected value",
            "expected the list to have 3 items",
            "expected n to be 3, got 4",
            "got 3, want at least 4",
            "mismatch (-want +got):",
            "want 3",
        ] {
            assert_eq!(sides(message), None, "{message}");
        }
    }
}
