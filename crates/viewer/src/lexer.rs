//! The words of a few lines of source, for their colours.
//!
//! A window of a journal has a handful of lines, and they are shown within milliseconds of the start. A highlighter
//! with grammars, such as syntect, would load megabytes for them and needs the whole file to be right. This one
//! recognizes comments, strings, numbers and keywords, and may be wrong where a window begins inside a string.

mod grammars;

use self::grammars::Block;
pub(crate) use self::grammars::{Grammar, JSON, NONE};

/// What a piece of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Plain,
    Keyword,
    /// A string.
    Literal,
    Number,
    Comment,
    /// The key of an object.
    Name,
}

/// Splits lines, one after the other.
pub(crate) struct Lexer {
    grammar: &'static Grammar,
    /// What the line before has left open.
    open: Option<&'static Block>,
}

impl Lexer {
    pub(crate) fn new(grammar: &'static Grammar) -> Self {
        Self { grammar, open: None }
    }

    /// The pieces of the next line, which together are the line.
    pub(crate) fn line<'a>(&mut self, line: &'a str) -> Vec<(&'a str, Word)> {
        let mut pieces = Vec::new();
        let mut rest = line;
        while !rest.is_empty() {
            let (length, word) = self.piece(rest);
            let (piece, behind) = rest.split_at(rest.ceil_char_boundary(length.max(1)));
            pieces.push((piece, word));
            rest = behind;
        }
        pieces
    }

    /// How long the first piece is, in bytes, and what it is.
    fn piece(&mut self, rest: &str) -> (usize, Word) {
        if let Some(block) = self.open {
            return self.inside(block, rest, 0);
        }
        if self.grammar.comment.is_some_and(|begin| rest.starts_with(begin)) {
            return (rest.len(), Word::Comment);
        }
        if let Some(block) = self.grammar.blocks.iter().find(|block| rest.starts_with(block.begin)) {
            return self.inside(block, rest, block.begin.len());
        }
        let first = rest.chars().next().unwrap_or(' ');
        if self.grammar.quotes.contains(&first) {
            let mut closing = [0; 4];
            let end = end_of(rest, first.len_utf8(), first.encode_utf8(&mut closing)).unwrap_or(rest.len());
            let is_key =
                self.grammar.has_quoted_names && rest.get(end..).is_some_and(|rest| rest.starts_with(':'));
            return (end, if is_key { Word::Name } else { Word::Literal });
        }
        let word = |also: &[char]| {
            let is_part = |char: char| char.is_alphanumeric() || also.contains(&char);
            rest.find(|char| !is_part(char)).unwrap_or(rest.len())
        };
        if first.is_ascii_digit() && self.grammar.has_numbers {
            return (word(&['_', '.']), Word::Number);
        }
        if first.is_alphabetic() || first == '_' || first == '$' {
            let length = word(&['_', '$']);
            let is_keyword = rest.get(..length).is_some_and(|word| self.grammar.keywords.contains(&word));
            return (length, if is_keyword { Word::Keyword } else { Word::Plain });
        }
        (first.len_utf8(), Word::Plain)
    }

    /// The rest of what goes over several lines, of which the beginning is `from` bytes long.
    fn inside(&mut self, block: &'static Block, rest: &str, from: usize) -> (usize, Word) {
        let end = end_of(rest, from, block.end);
        self.open = if end.is_none() { Some(block) } else { None };
        (end.unwrap_or(rest.len()), block.word)
    }
}

/// Where a text ends, with its closing sign. A backslash takes the next character with it.
fn end_of(text: &str, from: usize, closing: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, char) in text.char_indices().skip_while(|(at, _)| *at < from) {
        if escaped {
            escaped = false;
        } else if char == '\\' {
            escaped = true;
        } else if text.get(at..).is_some_and(|rest| rest.starts_with(closing)) {
            return Some(at + closing.len());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces that are something, as `word:text`.
    fn words(grammar: &'static Grammar, lines: &[&str]) -> Vec<String> {
        let mut lexer = Lexer::new(grammar);
        let pieces = lines.iter().flat_map(|line| {
            let pieces = lexer.line(line);
            assert_eq!(pieces.iter().map(|(text, _)| *text).collect::<String>(), **line);
            pieces
        });
        let pieces = pieces.filter(|(_, word)| *word != Word::Plain);
        pieces.map(|(text, word)| format!("{word:?}:{text}")).collect()
    }

    #[test]
    fn keywords_are_known() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("a.py", &["def f(x=1_0): # ok"], &["Keyword:def", "Number:1_0", "Comment:# ok"]),
            ("a.py", &[r#"x = f"a\"b" + 'é'"#], &[r#"Literal:"a\"b""#, "Literal:'é'"]),
            (
                "a.py",
                &[r#""""two"#, r#"lines""" if x"#],
                &[r#"Literal:"""two"#, r#"Literal:lines""""#, "Keyword:if"],
            ),
            ("a.py", &["defer = 'open"], &["Literal:'open"]),
            (
                "a.ts",
                &["const $x = `a", "${b}`; // c"],
                &["Keyword:const", "Literal:`a", "Literal:${b}`", "Comment:// c"],
            ),
            ("a.js", &["/* a */ return 0x1f"], &["Comment:/* a */", "Keyword:return", "Number:0x1f"]),
            (
                "a.json",
                &[r#"  "key": "value", 1, null"#],
                &[r#"Name:"key""#, r#"Literal:"value""#, "Number:1", "Keyword:null"],
            ),
            (
                "a.c",
                &["/* two", "lines */ int x = 1;"],
                &["Comment:/* two", "Comment:lines */", "Keyword:int", "Number:1"],
            ),
            ("a.x", &["if 'x' 12 # no"], &[]),
            ("a.py", &["", "é日本\\"], &[]),
        ];
        for (file, lines, expected) in table {
            assert_eq!(words(Grammar::of_file(file), lines), *expected, "{lines:?}");
        }
    }
}
