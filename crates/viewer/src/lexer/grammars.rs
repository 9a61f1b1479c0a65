//! The languages of [`Lexer`](super::Lexer): one entry of [`GRAMMARS`] for each.

use super::Word;

/// What the words of a language look like.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Grammar {
    /// The ends of the names of its files.
    extensions: &'static [&'static str],
    /// What begins a comment that goes to the end of the line.
    pub(super) comment: Option<&'static str>,
    /// What goes over several lines.
    pub(super) blocks: &'static [Block],
    pub(super) quotes: &'static [char],
    pub(super) keywords: &'static [&'static str],
    pub(super) has_numbers: bool,
    /// A string before a colon is a name.
    pub(super) has_quoted_names: bool,
}

/// How something begins and ends that goes over several lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) begin: &'static str,
    pub(super) end: &'static str,
    pub(super) word: Word,
}

impl Grammar {
    /// By the end of a file's name.
    pub(crate) fn of_file(file: &str) -> &'static Self {
        let extension = file.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
        GRAMMARS.iter().copied().find(|grammar| grammar.extensions.contains(&extension)).unwrap_or(&NONE)
    }
}

const GRAMMARS: &[&Grammar] = &[&PYTHON, &JAVASCRIPT, &C, &JAVA, &JSON];

/// Text of which nothing is known.
pub(crate) const NONE: Grammar = Grammar {
    extensions: &[],
    comment: None,
    blocks: &[],
    quotes: &[],
    keywords: &[],
    has_numbers: false,
    has_quoted_names: false,
};

/// What most languages have.
const COMMON: Grammar = Grammar { comment: Some("//"), quotes: &['"', '\''], has_numbers: true, ..NONE };

const COMMENT: Block = Block { begin: "/*", end: "*/", word: Word::Comment };

/// Java.
const JAVA: Grammar = Grammar {
    extensions: &["java"],
    blocks: &[COMMENT],
    keywords: &[
        "abstract",
        "assert",
        "boolean",
        "break",
        "byte",
        "case",
        "catch",
        "char",
        "class",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extends",
        "false",
        "final",
        "finally",
        "float",
        "for",
        "if",
        "implements",
        "import",
        "instanceof",
        "int",
        "interface",
        "long",
        "new",
        "null",
        "package",
        "private",
        "protected",
        "public",
        "record",
        "return",
        "short",
        "static",
        "super",
        "switch",
        "synchronized",
        "this",
        "throw",
        "throws",
        "true",
        "try",
        "var",
        "void",
        "volatile",
        "while",
        "yield",
    ],
    ..COMMON
};

pub(crate) const JSON: Grammar = Grammar {
    extensions: &["json"],
    comment: None,
    quotes: &['"'],
    keywords: &["true", "false", "null"],
    has_quoted_names: true,
    ..COMMON
};

pub(super) const PYTHON: Grammar = Grammar {
    extensions: &["py", "pyi", "pyw"],
    comment: Some("#"),
    blocks: &[
        Block { begin: "\"\"\"", end: "\"\"\"", word: Word::Literal },
        Block { begin: "'''", end: "'''", word: Word::Literal },
    ],
    keywords: &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if",
        "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "self",
        "try", "while", "with", "yield",
    ],
    ..COMMON
};

pub(super) const JAVASCRIPT: Grammar = Grammar {
    extensions: &["js", "cjs", "mjs", "jsx", "ts", "cts", "mts", "tsx"],
    blocks: &[Block { begin: "`", end: "`", word: Word::Literal }, COMMENT],
    keywords: &[
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
    ],
    ..COMMON
};

/// C and C++.
pub(super) const C: Grammar = Grammar {
    extensions: &["c", "h", "cc", "cpp", "cxx", "C", "hh", "hpp", "hxx"],
    blocks: &[COMMENT],
    keywords: &[
        "auto",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "constexpr",
        "continue",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "explicit",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "if",
        "inline",
        "int",
        "long",
        "namespace",
        "new",
        "noexcept",
        "nullptr",
        "operator",
        "override",
        "private",
        "protected",
        "public",
        "register",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "true",
        "try",
        "typedef",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "while",
    ],
    ..COMMON
};
