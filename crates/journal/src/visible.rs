//! Text whose every character can be seen.
//!
//! What a program writes reaches terminals and models. Control characters move cursors and change colours; others
//! turn the direction of text or take no place at all, and can make it say something else than it seems to. They
//! are shown by their numbers, as `\x1b` and `\u{202e}`. Text of any language, and emoji, stay as they are.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

/// A text in which invisible characters are escaped. It is not copied if there are none.
pub fn visible(text: &str) -> Cow<'_, str> {
    let Some(first) = first_hidden(text) else { return Cow::Borrowed(text) };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(text.get(..first).unwrap_or_default());
    let before = shown.chars().next_back();
    for (letter, is_numbered) in letters_after(before, text.get(first..).unwrap_or_default()) {
        if is_numbered {
            push(&mut shown, letter);
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Shows the characters of data that could not be seen, and leaves out colours.
pub fn show_in_data(data: &mut Value) {
    match data {
        Value::String(text) => show_in_text(text),
        Value::Array(items) => items.iter_mut().for_each(show_in_data),
        Value::Object(fields) => {
            if fields.keys().any(|name| visible(name) != *name) {
                let old = std::mem::take(fields);
                fields.extend(old.into_iter().map(|(name, value)| (visible(&name).into_owned(), value)));
            }
            fields.values_mut().for_each(show_in_data);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The same for a text for a person or a model.
pub fn show_in_text(text: &mut String) {
    let shown = match uncoloured(text) {
        Cow::Borrowed(plain) => visible(plain),
        Cow::Owned(plain) => Cow::Owned(visible(&plain).into_owned()),
    };
    if let Cow::Owned(shown) = shown {
        *text = shown;
    }
}

/// A text without the sequences that choose colours and weights, `ESC [ … m`. They only say how it is to look.
pub fn uncoloured(text: &str) -> Cow<'_, str> {
    // Some terminals reset the character set together with the colours.
    const CHARACTER_SET: &str = "\x1b(B";
    if text.contains(CHARACTER_SET) {
        return Cow::Owned(uncoloured(&text.replace(CHARACTER_SET, "")).into_owned());
    }
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default();
    if first.len() == text.len() {
        return Cow::Borrowed(text);
    }
    let mut plain = first.to_owned();
    for part in parts {
        let is_parameter = |letter: char| letter.is_ascii_digit() || matches!(letter, ';' | ':');
        match part.trim_start_matches(is_parameter).strip_prefix('m') {
            Some(after) => plain.push_str(after),
            None => plain.extend(["\x1b[", part]),
        }
    }
    Cow::Owned(plain)
}

/// The characters of a text, and for each whether to show its code point instead.
pub fn letters(text: &str) -> impl Iterator<Item = (char, bool)> {
    letters_after(None, text)
}

fn letters_after(mut before: Option<char>, text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut letters = text.chars().peekable();
    std::iter::from_fn(move || {
        let letter = letters.next()?;
        let is_numbered = is_hidden(letter) && !is_at_home(before, letter, letters.peek().copied());
        before = (!is_numbered).then_some(letter);
        Some((letter, is_numbered))
    })
}

/// The byte offset of the first character that may have to be escaped.
fn first_hidden(text: &str) -> Option<usize> {
    // Most text is ASCII, which is decided byte by byte.
    let suspect = |byte: &u8| *byte >= 0x7f || (*byte < 0x20 && *byte != b'\n' && *byte != b'\t');
    let start = text.as_bytes().iter().position(suspect)?;
    let start = text.floor_char_boundary(start);
    let rest = text.get(start..).unwrap_or_default();
    rest.char_indices().find(|(_, letter)| is_hidden(*letter)).map(|(at, _)| start + at)
}

/// Whether a character moves, reverses or hides text, in any position.
pub fn is_hidden(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\0'..='\x1f'
        | '\x7f'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether a zero-width character belongs in its position: a carriage return at the end of a line, a joiner inside a
/// word or an emoji, the one variation selector of a character that has such a choice. A second selector would be
/// invisible text.
fn is_at_home(before: Option<char>, letter: char, after: Option<char>) -> bool {
    let is_base = |letter: Option<char>| letter.is_some_and(|one| !one.is_ascii() && !is_hidden(one));
    let follows = |is_of: fn(char) -> bool| before.is_some_and(is_of);
    match letter {
        '\r' => after == Some('\n'),
        // An emoji may have chosen its drawing before it is joined to the next.
        '\u{200c}' | '\u{200d}' => (is_base(before) || before == Some('\u{fe0f}')) && is_base(after),
        '\u{fe0e}' | '\u{fe0f}' => follows(is_emoji),
        '\u{e0100}'..='\u{e01ef}' => follows(is_ideograph),
        '\u{fe00}'..='\u{fe06}' => before.is_some_and(|before| letter <= last_variant(before)),
        '\u{180b}'..='\u{180f}' => follows(is_mongolian),
        '\u{1bca0}'..='\u{1bca3}' => follows(is_shorthand),
        // One may end a group and the next begin another.
        '\u{13430}'..='\u{1343f}' => {
            follows(is_hieroglyph)
                || (matches!(before, Some('\u{13430}'..='\u{1343f}')) && after.is_some_and(is_hieroglyph))
        }
        _ => false,
    }
}

/// What can be drawn as text or as an emoji, as `emoji-variation-sequences.txt` of Unicode has it, by whole blocks.
fn is_emoji(letter: char) -> bool {
    matches!(
        letter,
        '#' | '*'
            | '0'..='9'
            | '\u{a9}'
            | '\u{ae}'
            | '\u{203c}'..='\u{2bff}'
            | '\u{3030}'
            | '\u{303d}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

/// The last of the selectors that choose among the variants of a character; NUL for one that has no variants. So
/// `StandardizedVariants.txt` of Unicode has it, by whole blocks.
fn last_variant(letter: char) -> char {
    match letter {
        // Mathematical operators, Myanmar, Phags-pa, Manichaean.
        '\u{2190}'..='\u{22ff}'
        | '\u{2a00}'..='\u{2aff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{aa60}'..='\u{aa7f}'
        | '\u{a840}'..='\u{a877}'
        | '\u{10ac0}'..='\u{10aff}' => '\u{fe00}',
        // Punctuation in one corner of its place or in the middle.
        '\u{2018}'..='\u{201f}' | '\u{3001}'..='\u{3002}' | '\u{ff01}'..='\u{ff1f}' => '\u{fe01}',
        _ if is_ideograph(letter) => '\u{fe02}',
        _ if is_hieroglyph(letter) => '\u{fe06}',
        _ => '\0',
    }
}

/// Han characters.
fn is_ideograph(letter: char) -> bool {
    matches!(
        letter,
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
    )
}

fn is_mongolian(letter: char) -> bool {
    matches!(letter, '\u{1820}'..='\u{18aa}')
}

/// Of Duployan shorthand.
fn is_shorthand(letter: char) -> bool {
    matches!(letter, '\u{1bc00}'..='\u{1bc9f}')
}

/// Of Egypt.
fn is_hieroglyph(letter: char) -> bool {
    matches!(letter, '\u{13000}'..='\u{1342f}' | '\u{13460}'..='\u{143ff}')
}

/// Writes the escape of a character, as in a string literal.
pub fn push(text: &mut String, letter: char) {
    let number = u32::from(letter);
    // Writing to a string does not fail.
    let _ = if number <= 0xff { write!(text, "\\x{number:02x}") } else { write!(text, "\\u{{{number:x}}}") };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invisible_and_bidirectional_characters_are_escaped() {
        let table = [
            ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("a\0b\x08c\x7f", "a\\x00b\\x08c\\x7f"),
            ("10%\r20%\r\n", "10%\\x0d20%\r\n"),
            ("\u{9b}31m", "\\x9b31m"),
            ("admin\u{202e}nimda", "admin\\u{202e}nimda"),
            ("\u{2066}a\u{2069}", "\\u{2066}a\\u{2069}"),
            ("pass\u{200b}word", "pass\\u{200b}word"),
            ("ab\u{200d}cd", "ab\\u{200d}cd"),
            ("\u{feff}x\u{ad}y", "\\u{feff}x\\xady"),
            ("hi\u{e0041}\u{e0042}", "hi\\u{e0041}\\u{e0042}"),
            ("😀\u{e0100}\u{e0101}", "😀\\u{e0100}\\u{e0101}"),
            ("葛\u{e0100}\u{e0101}\u{e0102}", "葛\u{e0100}\\u{e0101}\\u{e0102}"),
            ("é\u{e0158}é\u{e0159}é\u{fe00}é\u{fe0f}", "é\\u{e0158}é\\u{e0159}é\\u{fe00}é\\u{fe0f}"),
            ("日\u{fe03}≨\u{fe01}❤\u{fe0f}\u{fe0f}", "日\\u{fe03}≨\\u{fe01}❤\u{fe0f}\\u{fe0f}"),
            ("a\u{1bca0}b\u{1bca3}\u{13430}\u{1343f}", "a\\u{1bca0}b\\u{1bca3}\\u{13430}\\u{1343f}"),
            ("a\u{180b}b\u{180e}", "a\\u{180b}b\\u{180e}"),
        ];
        for (raw, expected) in table {
            assert_eq!(visible(raw), expected, "{raw:?}");
        }
    }

    #[test]
    fn ordinary_text_is_unchanged_and_not_copied() {
        let table = [
            "",
            "plain\n\ttext\r\nand more",
            "grüße 日本語 ✓ … — ñ",
            "مرحبا بالعالم",
            "می\u{200c}خواهم",
            "שלום עולם",
            "क\u{94d}\u{200d}ष",
            "👩\u{200d}👩\u{200d}👧 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f} 1\u{fe0f}\u{20e3}",
            "葛\u{e0100} 豈\u{fe00} ≨\u{fe00} 、\u{fe01}",
            "ᠠ\u{180b} ᠨ\u{180e}ᠠ",
            "\u{13000}\u{13430}\u{13000}\u{fe01} \u{13000}\u{13438}\u{13437}\u{13000}",
            "\u{1bc02}\u{1bca0}",
            "lines\u{2028}and\u{2029}paragraphs \u{600}1",
        ];
        for text in table {
            assert_eq!(visible(text), text);
        }
        assert!(matches!(visible("plain grüße\n"), Cow::Borrowed(_)));
    }

    /// `DerivedCoreProperties.txt` and `DerivedGeneralCategory.txt` of Unicode 16. Signs that are drawn around numbers
    /// are of category Cf and are seen.
    #[test]
    fn ignorable_and_format_characters_are_escaped() {
        let default_ignorable = [
            (0xad, 0xad),
            (0x34f, 0x34f),
            (0x61c, 0x61c),
            (0x115f, 0x1160),
            (0x17b4, 0x17b5),
            (0x180b, 0x180f),
            (0x200b, 0x200f),
            (0x202a, 0x202e),
            (0x2060, 0x206f),
            (0x3164, 0x3164),
            (0xfe00, 0xfe0f),
            (0xfeff, 0xfeff),
            (0xffa0, 0xffa0),
            (0xfff0, 0xfff8),
            (0x1bca0, 0x1bca3),
            (0x1d173, 0x1d17a),
            (0xe0000, 0xe0fff),
        ];
        let of_format = [(0xfff9, 0xfffb), (0x13430, 0x1343f)];
        for (first, last) in default_ignorable.into_iter().chain(of_format) {
            for letter in (first..=last).filter_map(char::from_u32) {
                assert!(is_hidden(letter), "U+{:04X}", u32::from(letter));
            }
        }
    }

    proptest! {
        #[test]
        fn no_control_character_remains(raw in "(\\PC|[\u{0}-\u{a0}\u{1b}\\[0-9;mé日\u{202e}\u{e0041}]){0,60}") {
            let shown = visible(&raw).into_owned();
            prop_assert!(shown.chars().all(|one| "\n\t\r".contains(one) || !one.is_control()));
            prop_assert!(!shown.replace("\r\n", "").contains('\r'));
            prop_assert_eq!(visible(&shown), shown.as_str());
        }
    }
}
