//! Strings as they are, from the literals that languages show them as.

use std::iter::Peekable;
use std::str::Chars;

/// The value of a quoted string of Python or JavaScript; a truncation mark after it stays. Nothing if it is not such
/// a string.
pub fn unquoted(text: &str) -> Option<String> {
    let mut letters = text.chars().peekable();
    let quote = letters.next().filter(|letter| matches!(letter, '\'' | '"' | '`'))?;
    let mut plain = String::with_capacity(text.len());
    loop {
        match letters.next()? {
            '\\' => escape(&mut letters, &mut plain)?,
            letter if letter == quote => break,
            letter => plain.push(letter),
        }
    }
    let rest: String = letters.collect();
    (rest.is_empty() || rest == "...").then(|| plain + &rest)
}

/// Reads an escape sequence. Half of a surrogate pair is not a character, and stays escaped.
fn escape(letters: &mut Peekable<Chars<'_>>, plain: &mut String) -> Option<()> {
    let letter = letters.next()?;
    let digits = match letter {
        'n' => return push(plain, '\n'),
        't' => return push(plain, '\t'),
        'r' => return push(plain, '\r'),
        'b' => return push(plain, '\u{8}'),
        'f' => return push(plain, '\u{c}'),
        'v' => return push(plain, '\u{b}'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        other => return push(plain, other),
    };
    let number: String = letters.by_ref().take(digits).collect();
    match char::from_u32(u32::from_str_radix(&number, 16).ok()?) {
        Some(letter) => plain.push(letter),
        None => plain.extend(['\\', letter].into_iter().chain(number.chars())),
    }
    Some(())
}

#[expect(clippy::unnecessary_wraps, reason = "the output of `escape`")]
fn push(plain: &mut String, letter: char) -> Option<()> {
    plain.push(letter);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_literals_are_unescaped() {
        let table = [
            ("'hello world'", Some("hello world")),
            ("''", Some("")),
            ("\"it's\"", Some("it's")),
            ("`'\"`", Some("'\"")),
            (r"'it\'s \\n'", Some(r"it's \n")),
            (r"'a\nb\tc\x1B\u00e9\U0001f600'", Some("a\nb\tc\u{1b}é😀")),
            (r"'a\x001'", Some("a\x001")),
            (r"'\ud800'", Some(r"\ud800")),
            ("'ab'...", Some("ab...")),
            ("'ab' + 1", None),
            ("'ab", None),
            (r"'ab\", None),
            (r"'\xZZ'", None),
            ("17", None),
            ("", None),
        ];
        for (literal, expected) in table {
            assert_eq!(unquoted(literal).as_deref(), expected, "{literal}");
        }
    }
}
