//! What programs wrote, without what could move a cursor, change colours or hide text.

use anstream::adapter::strip_str;
use engine::visible::visible;

/// A text of several lines: without escape sequences, its control characters visible. Lines end in `\n`; tabs are kept.
pub fn text(raw: &str) -> String {
    let stripped = strip_str(raw).to_string().replace("\r\n", "\n");
    let mut plain = String::with_capacity(stripped.len());
    for character in stripped.chars() {
        match character {
            '\n' | '\t' => plain.push(character),
            // What a program writes over itself is told as lines.
            '\r' => plain.push('\n'),
            other => push(&mut plain, other),
        }
    }
    visible(&plain).into_owned()
}

/// The same on one line: ends of lines are `⏎`, but for the last, and tabs are spaces.
pub fn line(raw: &str) -> String {
    let text = text(raw);
    text.trim_end_matches('\n').replace('\n', "⏎").replace('\t', " ")
}

/// Control characters have pictures of their own; the others that cannot be seen are told by their numbers.
fn push(plain: &mut String, character: char) {
    match character {
        '\0'..='\x1f' => plain.extend(char::from_u32(u32::from(character) + 0x2400)),
        '\x7f' => plain.push('␡'),
        other => plain.push(other),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn programs_cannot_reach_the_terminal() {
        let cases = [
            ("plain ✓ 日本", "plain ✓ 日本"),
            ("a\tb\nc\r\nd\n", "a\tb\nc\nd\n"),
            ("10%\r20%\n", "10%\n20%\n"),
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b]0;title\x07after", "after"),
            ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("cut \x1b[31", "cut "),
            ("\u{9b}31mred", "\\x9b31mred"),
            ("left\u{202e}right", "left\\u{202e}right"),
        ];
        for (raw, expected) in cases {
            assert_eq!(text(raw), expected, "{raw:?}");
        }
        assert_eq!(line("a\n\tb\r\n"), "a⏎ b");
    }

    proptest! {
        #[test]
        fn nothing_of_control_is_left(raw in "(\\PC|[\u{0}-\u{a0}\u{1b}\\[\\]0-9;mP^_é日]){0,60}") {
            prop_assert!(text(&raw).chars().all(|one| one == '\n' || one == '\t' || !one.is_control()));
            prop_assert!(!line(&raw).chars().any(char::is_control));
        }
    }
}
