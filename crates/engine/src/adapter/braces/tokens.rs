//! The tokens of languages with braces. Comments and the directives of a preprocessor are left out.

/// A piece of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::adapter) struct Token {
    pub(in crate::adapter) kind: Kind,
    pub(in crate::adapter) text: String,
    /// 1-based.
    pub(in crate::adapter) line: u32,
    /// White space is before it.
    pub(in crate::adapter) is_apart: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::adapter) enum Kind {
    Name,
    Number,
    /// A string or a character.
    Text,
    Sign,
}

impl Token {
    pub(in crate::adapter) fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != Kind::Text
    }

    pub(in crate::adapter) fn is_name(&self) -> bool {
        self.kind == Kind::Name
    }
}

/// Signs of several characters, longer ones first.
const SIGNS: [&str; 39] = [
    "<<=", ">>=", "&^=", "...", "..=", "<=>", "===", "!==", "**=", "??=", "->", "++", "--", "<<", ">>", "<=",
    ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", ":=", "<-", "=>",
    "..", "&^", "##", ".*", ".=", "??",
];

pub(in crate::adapter) fn tokens(text: &str) -> Vec<Token> {
    read(Reader { rest: text, line: 1, is_apart: true, is_first: true, is_php: false })
}

/// Those of a source in PHP, whose variables begin with `$`. What is outside of its tags is left out.
pub(super) fn php_tokens(text: &str) -> Vec<Token> {
    let mut reader = Reader { rest: text, line: 1, is_apart: true, is_first: true, is_php: true };
    reader.skip_page();
    read(reader)
}

fn read(mut reader: Reader<'_>) -> Vec<Token> {
    let mut tokens = Vec::new();
    while let Some(letter) = reader.rest.chars().next() {
        tokens.extend(reader.token(letter));
    }
    tokens
}

struct Reader<'a> {
    rest: &'a str,
    line: u32,
    is_apart: bool,
    /// Nothing but white space is before it in its line.
    is_first: bool,
    is_php: bool,
}

impl<'a> Reader<'a> {
    fn token(&mut self, letter: char) -> Option<Token> {
        if letter.is_whitespace() {
            self.take(letter.len_utf8());
            self.is_apart = true;
            self.is_first |= letter == '\n';
            return None;
        }
        if self.skip_comment() || self.skip_directive() {
            self.is_apart = true;
            return None;
        }
        let (kind, length) = self.measure(letter);
        let (line, is_apart) = (self.line, self.is_apart);
        (self.is_apart, self.is_first) = (false, false);
        Some(Token { kind, text: self.take(length).to_owned(), line, is_apart })
    }

    fn skip_comment(&mut self) -> bool {
        let length = if self.rest.starts_with("//") {
            self.rest.find('\n').unwrap_or(self.rest.len())
        } else if self.rest.starts_with("/*") {
            self.rest.find("*/").map_or(self.rest.len(), |at| at + 2)
        } else if self.is_php && self.rest.starts_with("?>") {
            self.skip_page();
            return true;
        } else if self.is_php && self.rest.starts_with('#') && !self.rest.starts_with("#[") {
            self.rest.find('\n').unwrap_or(self.rest.len())
        } else {
            return false;
        };
        self.take(length);
        true
    }

    /// Skips what a page has up to the next tag of PHP.
    fn skip_page(&mut self) {
        let tag = self.rest.find("<?").map(|at| {
            let name = self.rest.get(at + 2..).unwrap_or_default();
            at + 2 + if name.starts_with("php") { 3 } else { usize::from(name.starts_with('=')) }
        });
        self.take(tag.unwrap_or(self.rest.len()));
    }

    /// `#include` and the like, up to the end of the line that does not continue on the next one. An attribute of Rust,
    /// `#[test]`, is none.
    fn skip_directive(&mut self) -> bool {
        let is_directive = self.is_first
            && self.rest.starts_with('#')
            && !self.rest.starts_with("#[")
            && !self.rest.starts_with("#!");
        if is_directive {
            let ends = self.rest.match_indices('\n').map(|(at, _)| at);
            let continues = |at: &usize| {
                !self.rest.get(..*at).is_some_and(|line| line.trim_end_matches('\r').ends_with('\\'))
            };
            let end = ends.into_iter().find(continues).unwrap_or(self.rest.len());
            self.take(end);
        }
        is_directive
    }

    fn measure(&self, letter: char) -> (Kind, usize) {
        let is_part =
            |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$' && !self.is_php;
        if let Some(length) = self.raw_string() {
            return (Kind::Text, length);
        }
        if let Some(length) = self.text_block() {
            return (Kind::Text, length);
        }
        if self.is_php && letter == '$' {
            let name = self.rest.get(1..).unwrap_or_default();
            let end = name.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            return (Kind::Name, 1 + end.unwrap_or(name.len()));
        }
        if letter.is_alphabetic() || letter == '_' {
            return (Kind::Name, self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len()));
        }
        if letter.is_ascii_digit() {
            return (Kind::Number, self.number());
        }
        match letter {
            '"' => (Kind::Text, self.quoted('"')),
            '`' => (
                Kind::Text,
                self.rest.get(1..).and_then(|rest| rest.find('`')).map_or(self.rest.len(), |at| at + 2),
            ),
            // A lifetime or a label is a name.
            '\'' if !self.is_php && self.is_lifetime() => (
                Kind::Name,
                1 + self.rest.get(1..).map_or(0, |rest| {
                    rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
                        .unwrap_or(rest.len())
                }),
            ),
            '\'' => (Kind::Text, self.quoted('\'')),
            _ => {
                let sign = SIGNS.iter().find(|sign| self.rest.starts_with(**sign));
                (Kind::Sign, sign.map_or(letter.len_utf8(), |sign| sign.len()))
            }
        }
    }

    /// A number with its suffix. `1..5` is a range.
    fn number(&self) -> usize {
        let bytes = self.rest.as_bytes();
        let at = |index: usize| bytes.get(index).copied().unwrap_or_default();
        let mut length = 0;
        loop {
            let is_fraction =
                at(length) == b'.' && at(length + 1) != b'.' && !at(length + 1).is_ascii_alphabetic();
            let is_exponent = matches!(at(length), b'+' | b'-')
                && length > 0
                && matches!(at(length - 1), b'e' | b'E')
                && !self.rest.starts_with("0x");
            if !(at(length).is_ascii_alphanumeric() || at(length) == b'_' || is_fraction || is_exponent) {
                return length;
            }
            length += 1;
        }
    }

    fn is_lifetime(&self) -> bool {
        let mut letters = self.rest.chars().skip(1);
        let begins = letters.next().is_some_and(|letter| letter.is_alphabetic() || letter == '_');
        begins && letters.next() != Some('\'')
    }

    /// `r"…"` and `r#"…"#` of Rust, `R"x(…)x"` of C++.
    fn raw_string(&self) -> Option<usize> {
        let inner = self.rest.strip_prefix(['r', 'R']).or_else(|| self.rest.strip_prefix("br"))?;
        let start = self.rest.len() - inner.len();
        let (marks, rest) = inner.split_once('"')?;
        let ends = if marks.chars().all(|letter| letter == '#') && !self.rest.starts_with('R') {
            format!("\"{marks}")
        } else if marks.is_empty() {
            let (delimiter, _) = rest.split_once('(').filter(|(delimiter, _)| delimiter.len() <= 16)?;
            format!("){delimiter}\"")
        } else {
            return None;
        };
        let begins = start + marks.len() + 1;
        Some(self.rest.get(begins..)?.find(&ends).map_or(self.rest.len(), |at| begins + at + ends.len()))
    }

    /// `"""…"""` of Java, `<<<END … END` of PHP.
    fn text_block(&self) -> Option<usize> {
        let (start, ends) = if self.is_php {
            let rest = self.rest.strip_prefix("<<<")?.trim_start_matches([' ', '\'', '"']);
            let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))?;
            (self.rest.find('\n')?, rest.get(..end).filter(|name| !name.is_empty())?)
        } else {
            (self.rest.starts_with("\"\"\"").then_some(3)?, "\"\"\"")
        };
        let inner = self.rest.get(start..)?;
        let is_end = |at: &usize| {
            let (before, behind) = (inner.get(..*at).unwrap_or_default(), inner.get(at + ends.len()..));
            if !self.is_php {
                let escapes = before.len() - before.trim_end_matches('\\').len();
                return escapes % 2 == 0;
            }
            let line = before.rsplit('\n').next().unwrap_or_default();
            let next = behind.and_then(|behind| behind.chars().next());
            line.trim().is_empty() && !next.is_some_and(|next| next.is_alphanumeric() || next == '_')
        };
        let at = inner.match_indices(ends).map(|(at, _)| at).find(is_end)?;
        Some(start + at + ends.len())
    }

    fn quoted(&self, quote: char) -> usize {
        let mut is_escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, letter)| {
            let ends = *letter == quote && !is_escaped;
            is_escaped = *letter == '\\' && !is_escaped;
            ends
        });
        end.map_or(self.rest.len(), |(at, _)| at + 1)
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        let lines = taken.bytes().filter(|byte| *byte == b'\n').count();
        self.line += u32::try_from(lines).unwrap_or_default();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_split_into_tokens() {
        let table = [
            ("a += b[0]; // c", "a|+=|b|[|0|]|;"),
            ("#define A \\\n b\nx", "x"),
            (
                "#[a]\nx /* y\n */ 'a' 'b: \"q\\\"\" r#\"\"a\"# `raw`",
                "#|[|a|]|x|'a'|'b|:|\"q\\\"\"|r#\"\"a\"#|`raw`",
            ),
            ("1..n 1.5e-3f 0x1f c->d ::e", "1|..|n|1.5e-3f|0x1f|c|->|d|::|e"),
            ("R\"x(a)\" )x\" r", "R\"x(a)\" )x\"|r"),
            ("\"\"\"\na \\\"\"\" b\"\"\" c", "\"\"\"\na \\\"\"\" b\"\"\"|c"),
        ];
        for (text, expected) in table {
            assert_eq!(joined(tokens(text)), expected, "{text}");
        }
    }

    fn joined(tokens: Vec<Token>) -> String {
        let texts: Vec<String> = tokens.into_iter().map(|token| token.text).collect();
        texts.join("|")
    }

    #[test]
    fn a_text_of_php_ends_with_its_whole_name() {
        let text = "<<<END\na\nENDING\n  END";
        assert_eq!(joined(php_tokens(&format!("<?php $a = {text}; $b;"))), format!("$a|=|{text}|;|$b|;"));
    }
}
