//! The words of a few lines of source, for their colours.
//!
//! A window of a journal has a handful of lines, and they are shown within milliseconds of the start. A highlighter
//! with grammars, such as syntect, would load megabytes for them and needs the whole file to be right. This one knows
//! comments, strings, numbers and keywords, and may be wrong where a window begins inside of a string.

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

/// Whose words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    /// JavaScript and TypeScript.
    Script,
    Json,
    Other,
}

impl Language {
    /// By the end of a file's name.
    pub(crate) fn of_file(file: &str) -> Self {
        match file.rsplit_once('.').map(|(_, extension)| extension) {
            Some("py" | "pyi" | "pyw") => Self::Python,
            Some("js" | "cjs" | "mjs" | "jsx" | "ts" | "cts" | "mts" | "tsx") => Self::Script,
            Some("json") => Self::Json,
            _ => Self::Other,
        }
    }

    /// What begins a comment that goes to the end of the line.
    fn comment(self) -> Option<&'static str> {
        match self {
            Self::Python => Some("#"),
            Self::Script => Some("//"),
            Self::Json | Self::Other => None,
        }
    }

    /// What goes over several lines: how it begins and ends.
    fn blocks(self) -> &'static [Block] {
        match self {
            Self::Python => &[
                Block { begin: "\"\"\"", end: "\"\"\"", word: Word::Literal },
                Block { begin: "'''", end: "'''", word: Word::Literal },
            ],
            Self::Script => &[
                Block { begin: "`", end: "`", word: Word::Literal },
                Block { begin: "/*", end: "*/", word: Word::Comment },
            ],
            Self::Json | Self::Other => &[],
        }
    }

    fn is_keyword(self, word: &str) -> bool {
        match self {
            Self::Python => PYTHON.contains(&word),
            Self::Script => SCRIPT.contains(&word),
            Self::Json => ["true", "false", "null"].contains(&word),
            Self::Other => false,
        }
    }

    fn quotes(self) -> &'static [char] {
        match self {
            Self::Python | Self::Script => &['"', '\''],
            Self::Json => &['"'],
            Self::Other => &[],
        }
    }
}

#[derive(Debug)]
struct Block {
    begin: &'static str,
    end: &'static str,
    word: Word,
}

/// Goes over lines, one after the other.
pub(crate) struct Lexer {
    language: Language,
    /// What the line before has left open.
    open: Option<&'static Block>,
}

impl Lexer {
    pub(crate) fn new(language: Language) -> Self {
        Self { language, open: None }
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
        if self.language.comment().is_some_and(|begin| rest.starts_with(begin)) {
            return (rest.len(), Word::Comment);
        }
        if let Some(block) = self.language.blocks().iter().find(|block| rest.starts_with(block.begin)) {
            return self.inside(block, rest, block.begin.len());
        }
        let first = rest.chars().next().unwrap_or(' ');
        if self.language.quotes().contains(&first) {
            let mut closing = [0; 4];
            let end = end_of(rest, first.len_utf8(), first.encode_utf8(&mut closing)).unwrap_or(rest.len());
            let is_key =
                self.language == Language::Json && rest.get(end..).is_some_and(|rest| rest.starts_with(':'));
            return (end, if is_key { Word::Name } else { Word::Literal });
        }
        let word = |also: &[char]| {
            let is_part = |char: char| char.is_alphanumeric() || also.contains(&char);
            rest.find(|char| !is_part(char)).unwrap_or(rest.len())
        };
        if first.is_ascii_digit() && self.language != Language::Other {
            return (word(&['_', '.']), Word::Number);
        }
        if first.is_alphabetic() || first == '_' || first == '$' {
            let length = word(&['_', '$']);
            let is_keyword = rest.get(..length).is_some_and(|word| self.language.is_keyword(word));
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

/// Behind where a text is closed. A backslash takes the next character with it.
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

const PYTHON: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "self", "try", "while", "with",
    "yield",
];

const SCRIPT: &[&str] = &[
    "abstract",
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "from",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "of",
    "private",
    "protected",
    "public",
    "readonly",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces that are something, as `word:text`.
    fn words(language: Language, lines: &[&str]) -> Vec<String> {
        let mut lexer = Lexer::new(language);
        let pieces = lines.iter().flat_map(|line| {
            let pieces = lexer.line(line);
            assert_eq!(pieces.iter().map(|(text, _)| *text).collect::<String>(), **line);
            pieces
        });
        let pieces = pieces.filter(|(_, word)| *word != Word::Plain);
        pieces.map(|(text, word)| format!("{word:?}:{text}")).collect()
    }

    #[test]
    fn words_are_known() {
        use Language::{Json, Other, Python, Script};
        let table: &[(Language, &[&str], &[&str])] = &[
            (Python, &["def f(x=1_0): # ok"], &["Keyword:def", "Number:1_0", "Comment:# ok"]),
            (Python, &[r#"x = f"a\"b" + 'é'"#], &[r#"Literal:"a\"b""#, "Literal:'é'"]),
            (
                Python,
                &[r#""""two"#, r#"lines""" if x"#],
                &[r#"Literal:"""two"#, r#"Literal:lines""""#, "Keyword:if"],
            ),
            (Python, &["defer = 'open"], &["Literal:'open"]),
            (
                Script,
                &["const $x = `a", "${b}`; // c"],
                &["Keyword:const", "Literal:`a", "Literal:${b}`", "Comment:// c"],
            ),
            (Script, &["/* a */ return 0x1f"], &["Comment:/* a */", "Keyword:return", "Number:0x1f"]),
            (
                Json,
                &[r#"  "key": "value", 1, null"#],
                &[r#"Name:"key""#, r#"Literal:"value""#, "Number:1", "Keyword:null"],
            ),
            (Other, &["if 'x' 12 # no"], &[]),
            (Python, &["", "é日本\\"], &[]),
        ];
        for (language, lines, expected) in table {
            assert_eq!(words(*language, lines), *expected, "{lines:?}");
        }
    }
}
