//! The words of a shell command, with their places in it. Nothing is expanded.

use std::ops::Range;

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A word.
    Word(Word),
    /// `|`, `&&`, `;`, a line end and so on. After a redirection comes a file, after any other a command.
    Operator {
        /// It is a redirection.
        redirects: bool,
    },
}

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Where it is.
    pub(crate) range: Range<usize>,
    /// What it says without its quotes.
    pub(crate) value: String,
    /// The shell makes something else of it: it has a variable, a pattern or a command in it.
    pub(crate) is_expanded: bool,
    /// All of it is in one pair of quotes.
    pub(crate) is_quoted: bool,
}

impl Token {
    /// The text of a word that a shell would leave as it is.
    pub(crate) fn literal(self) -> Option<String> {
        match self {
            Self::Word(word) if !word.is_expanded => Some(word.value),
            Self::Word(_) | Self::Operator { .. } => None,
        }
    }
}

/// A word as typed: in single quotes, unless nothing in it has a meaning to a POSIX shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The parts of a command. None when a quote is not closed.
pub(crate) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut scanner = Scanner { text, at: 0 };
    let mut tokens = Vec::new();
    while let Some(letter) = scanner.peek() {
        match letter {
            ' ' | '\t' | '\r' => scanner.skip(letter),
            '#' => scanner.comment(),
            '|' | '&' | ';' | '(' | ')' | '<' | '>' | '\n' => {
                scanner.skip(letter);
                tokens.push(Token::Operator { redirects: matches!(letter, '<' | '>') });
            }
            _ => tokens.push(Token::Word(scanner.word()?)),
        }
    }
    Some(tokens)
}

/// A shell leaves a pattern as it is if it matches no file, as in an option (`--filter=Cart.*`), the name of a test
/// (`test_cart.py::test_total[2-3]`) or an argument in brackets (`report[2024]`).
fn may_match_files(word: &str) -> bool {
    let is_argument = word.ends_with(']') && !word.starts_with('[') && !word.contains(['*', '?']);
    !(word.starts_with('-') || word.contains("::") || is_argument)
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn skip(&mut self, letter: char) {
        self.at += letter.len_utf8();
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.skip(letter);
        Some(letter)
    }

    fn comment(&mut self) {
        while let Some(letter) = self.peek().filter(|letter| *letter != '\n') {
            self.skip(letter);
        }
    }

    fn word(&mut self) -> Option<Word> {
        let start = self.at;
        let (mut value, mut is_expanded, mut quotes) = (String::new(), false, 0);
        let mut has_pattern = false;
        while let Some(letter) = self.peek() {
            match letter {
                ' ' | '\t' | '\r' | '\n' | '|' | '&' | ';' | '(' | ')' | '<' | '>' => break,
                '\'' => {
                    quotes += 1;
                    self.single(&mut value)?;
                }
                '"' => {
                    quotes += 1;
                    is_expanded |= self.double(&mut value)?;
                }
                '\\' => {
                    self.skip(letter);
                    value.extend(self.next().filter(|escaped| *escaped != '\n'));
                }
                '$' | '`' => {
                    let before = self.at;
                    self.expansion(letter, &mut value)?;
                    is_expanded |= self.at > before + 1 || self.is_expanded(letter, "'\"");
                }
                _ => {
                    is_expanded |= letter == '{' || (letter == '~' && self.at == start);
                    has_pattern |= matches!(letter, '*' | '?' | '[');
                    self.skip(letter);
                    value.push(letter);
                }
            }
        }
        is_expanded |= has_pattern && may_match_files(&value);
        let raw = self.text.get(start..self.at).unwrap_or_default();
        let is_quoted = quotes == 1 && raw.starts_with(['\'', '"']) && raw.ends_with(['\'', '"']);
        Some(Word { range: start..self.at, value, is_expanded, is_quoted })
    }

    fn single(&mut self, value: &mut String) -> Option<()> {
        self.skip('\'');
        loop {
            match self.next()? {
                '\'' => return Some(()),
                letter => value.push(letter),
            }
        }
    }

    /// Whether something in it is expanded.
    fn double(&mut self, value: &mut String) -> Option<bool> {
        self.skip('"');
        let mut is_expanded = false;
        loop {
            match self.next()? {
                '"' => return Some(is_expanded),
                '\\' => match self.next()? {
                    '\n' => {}
                    escaped @ ('"' | '\\' | '$' | '`') => value.push(escaped),
                    other => value.extend(['\\', other]),
                },
                letter => {
                    is_expanded |= self.is_expanded(letter, "");
                    value.push(letter);
                }
            }
        }
    }

    /// Whether a letter that was read begins what a shell replaces. It leaves a `$` alone at the end of a pattern.
    fn is_expanded(&self, letter: char, also_before: &str) -> bool {
        let before =
            |next: char| next.is_alphanumeric() || "_{(?#@*!$-".contains(next) || also_before.contains(next);
        letter == '`' || letter == '$' && self.peek().is_some_and(before)
    }

    /// `$name`, `${name}`, `$(command)` or a command in backquotes.
    fn expansion(&mut self, letter: char, value: &mut String) -> Option<()> {
        let start = self.at;
        self.skip(letter);
        match (letter, self.peek()) {
            ('`', _) => while self.next()? != '`' {},
            (_, Some('(')) => self.nested('(', ')')?,
            (_, Some('{')) => self.nested('{', '}')?,
            _ => {}
        }
        value.push_str(self.text.get(start..self.at)?);
        Some(())
    }

    fn nested(&mut self, open: char, close: char) -> Option<()> {
        let mut depth = 0_u32;
        loop {
            let letter = self.next()?;
            depth += u32::from(letter == open);
            depth -= u32::from(letter == close);
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as they are, operators as `|`, `*` after a word that is expanded.
    fn shown(text: &str) -> Option<Vec<String>> {
        let shown = |token: Token| match token {
            Token::Operator { redirects: true } => ">".to_owned(),
            Token::Operator { .. } => "|".to_owned(),
            Token::Word(word) => format!("{}{}", word.value, if word.is_expanded { "*" } else { "" }),
        };
        Some(tokens(text)?.into_iter().map(shown).collect())
    }

    #[test]
    fn commands_are_split_into_arguments() {
        let table: [(&str, &[&str]); 12] = [
            ("node a.js", &["node", "a.js"]),
            ("t --f=A.* -k a? t.py::t[1-*] t[1]", &["t", "--f=A.*", "-k", "a?*", "t.py::t[1-*]", "t[1]"]),
            ("[ab] a[12]*.py [a] --x={a,b}", &["[ab]*", "a[12]*.py*", "[a]*", "--x={a,b}*"]),
            ("A=1 node  'a b.js' \"c d\" e\\ f", &["A=1", "node", "a b.js", "c d", "e f"]),
            ("x|y && z; (w)", &["x", "|", "y", "|", "|", "z", "|", "|", "w", "|"]),
            ("x >out 2>&1", &["x", ">", "out", "2", ">", "|", "1"]),
            ("echo $HOME ${A B} $(a (b)) `c d`", &["echo", "$HOME*", "${A B}*", "$(a (b))*", "`c d`*"]),
            ("\"$A\" '$A' \\$A \"a$|b$\" c$ $'d'", &["$A*", "$A", "$A", "a$|b$", "c$", "$d*"]),
            ("ls *.js a?.js ~/x a~b", &["ls", "*.js*", "a?.js*", "~/x*", "a~b"]),
            ("a'b'\"c\"d", &["abcd"]),
            ("a # b\nc", &["a", "|", "c"]),
            ("\"a\\\"b\\n\"", &["a\"b\\n"]),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text).as_deref(), Some(expected.map_strings().as_slice()), "{text}");
        }
        for text in ["'a", "\"a", "a $(b", "`a"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn a_shell_reads_a_quoted_word_back() {
        let table = [
            ("plain", "plain"),
            ("/a/b.c:1", "/a/b.c:1"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$HOME", "'$HOME'"),
            ("~", "'~'"),
            ("a\nb", "'a\nb'"),
        ];
        for (word, expected) in table {
            assert_eq!(quoted(word), expected);
        }
    }

    trait MapStrings {
        fn map_strings(&self) -> Vec<String>;
    }

    impl MapStrings for &[&str] {
        fn map_strings(&self) -> Vec<String> {
            self.iter().map(|text| (*text).to_owned()).collect()
        }
    }

    proptest::proptest! {
        #[test]
        fn every_text_is_split_or_refused(text in ".{0,40}") {
            for token in tokens(&text).into_iter().flatten() {
                if let Token::Word(word) = token {
                    proptest::prop_assert!(text.get(word.range).is_some());
                }
            }
        }
    }
}
