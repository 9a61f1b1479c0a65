//! What programs wrote, without its colours, and with what else a terminal would obey, or what hides text, shown.

use journal::visible::{uncoloured, visible};

/// A text of several lines in which control characters are shown. Lines end in `\n`; tabs are kept. Colours, which
/// test runners use most, only say how a text is to look, and are left out.
pub fn text(raw: &str) -> String {
    // Output that overwrites itself is shown as lines.
    visible(&uncoloured(raw).replace("\r\n", "\n").replace('\r', "\n")).into_owned()
}

/// The same on one line: ends of lines are `⏎`, but for the last, and tabs are spaces.
pub fn line(raw: &str) -> String {
    let text = text(raw);
    text.trim_end_matches('\n').replace('\n', "⏎").replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_sequences_of_programs_are_escaped() {
        let cases = [
            ("plain ✓ 日本", "plain ✓ 日本"),
            ("a\tb\nc\r\nd\n", "a\tb\nc\nd\n"),
            ("10%\r20%\n", "10%\n20%\n"),
            ("\x1b[1;38:5:9mred\x1b[0m and\x1b[m", "red and"),
            ("\x1b[2Jgone \x1b[31\x1b[0m", "\\x1b[2Jgone \\x1b[31"),
            ("\x1b]0;title\x07after", "\\x1b]0;title\\x07after"),
            ("\x1b]8;;http://a\x1b\\link", "\\x1b]8;;http://a\\x1b\\link"),
            ("cut \x1b[31", "cut \\x1b[31"),
            ("nul \0 bell \x07", "nul \\x00 bell \\x07"),
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
        fn no_control_character_remains(raw in "(\\PC|[\u{0}-\u{a0}\u{1b}\\[\\]0-9;mP^_é日]){0,60}") {
            prop_assert!(text(&raw).chars().all(|one| one == '\n' || one == '\t' || !one.is_control()));
            prop_assert!(!line(&raw).chars().any(char::is_control));
        }
    }
}
