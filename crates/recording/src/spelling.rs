//! How values are written in the language of the program.

use crate::value::Kind;

/// A language's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Python,
    JavaScript,
}

/// The type and the kind of an object, and how many items or attributes it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Container<'a> {
    pub(crate) type_name: &'a str,
    pub(crate) kind: Kind,
    pub(crate) length: i64,
}

impl Spelling {
    /// By the name of the language's adapter.
    pub(crate) fn of(language: &str) -> Self {
        if language == "javascript" { Self::JavaScript } else { Self::Python }
    }

    fn either(self, python: &'static str, javascript: &'static str) -> &'static str {
        if self == Self::Python { python } else { javascript }
    }

    /// Whether a generator runs only while what iterates over it waits for its next value.
    pub(crate) fn runs_generators_in_place(self) -> bool {
        self == Self::Python
    }

    pub(crate) fn none(self) -> &'static str {
        self.either("None", "null")
    }

    /// The type of integers.
    pub(crate) fn integer(self) -> &'static str {
        self.either("int", "number")
    }

    /// The type of other numbers.
    pub(crate) fn float(self) -> &'static str {
        self.either("float", "number")
    }

    pub(crate) fn list_type(self) -> &'static str {
        self.either("list", "Array")
    }

    pub(crate) fn string(self) -> &'static str {
        self.either("str", "string")
    }

    /// The type of [`Spelling::none`].
    pub(crate) fn none_type(self) -> &'static str {
        self.either("NoneType", "null")
    }

    pub(crate) fn bool_type(self) -> &'static str {
        self.either("bool", "boolean")
    }

    pub(crate) fn bool(self, value: bool) -> &'static str {
        if value { self.either("True", "true") } else { self.either("False", "false") }
    }

    /// The type of classes.
    pub(crate) fn class_type(self) -> &'static str {
        self.either("type", "function")
    }

    /// A class or a function, as a value.
    pub(crate) fn named(self, kind: Kind, name: &str) -> String {
        match (self, kind) {
            (Self::Python, Kind::Class) => format!("<class '{name}'>"),
            (Self::JavaScript, Kind::Class) => format!("<class {name}>"),
            _ => format!("<function {name}>"),
        }
    }

    /// Whether `{ total: 1 }` has a property `total`, and not one that a variable of that name says.
    pub(crate) fn has_plain_keys(self) -> bool {
        self == Self::JavaScript
    }

    /// Whether a function can be written in the middle of a statement, with statements of its own.
    pub(crate) fn has_inner_functions(self) -> bool {
        self == Self::JavaScript
    }

    /// What begins a comment that ends with its line.
    pub(crate) fn comment(self) -> &'static str {
        self.either("#", "//")
    }

    /// An attribute of an object, with its name.
    pub(crate) fn attribute(self, name: &str, value: &str) -> String {
        match self {
            Self::Python => format!("{name}={value}"),
            Self::JavaScript => format!("{name}: {value}"),
        }
    }

    /// An item of a dictionary, with its key.
    pub(crate) fn pair(self, key: &str, value: &str) -> String {
        match self {
            Self::Python => format!("{key}: {value}"),
            Self::JavaScript => format!("{key} => {value}"),
        }
    }

    /// A string as the language itself writes it, and so the recorder writes one that is a key.
    pub(crate) fn string_as_key(self, text: &str) -> String {
        let has_special = || text.chars().any(|letter| "'\\".contains(letter) || is_other(letter));
        match self {
            Self::JavaScript if has_special() => serde_json::Value::from(text).to_string(),
            Self::JavaScript => format!("'{text}'"),
            Self::Python => {
                let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
                let inner: String = text.chars().map(|letter| escaped(letter, quote)).collect();
                format!("{quote}{inner}{quote}")
            }
        }
    }

    /// A string as a program shows it.
    pub(crate) fn quoted(self, text: &str) -> String {
        if self == Self::Python {
            return self.string_as_key(text);
        }
        format!("'{}'", text.escape_debug().to_string().replace("\\\"", "\""))
    }

    /// The same for a number that is not an integer.
    pub(crate) fn number_as_key(self, number: f64) -> String {
        let size = number.abs();
        let (is_long, digits) = match self {
            Self::Python => (!(1e-4..1e16).contains(&size), 2),
            Self::JavaScript => (!(1e-6..1e21).contains(&size), 1),
        };
        match self {
            Self::Python if number.is_nan() => "nan".to_owned(),
            Self::JavaScript if number.is_infinite() => number.to_string().replace("inf", "Infinity"),
            Self::JavaScript if number == 0.0 => "0".to_owned(),
            _ if is_long && number.is_finite() && number != 0.0 => {
                let text = format!("{number:e}");
                let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let sign = if exponent.starts_with('-') { '-' } else { '+' };
                format!("{mantissa}e{sign}{:0>digits$}", exponent.trim_start_matches('-'))
            }
            Self::Python => format!("{number:?}"),
            Self::JavaScript => number.to_string(),
        }
    }

    /// An object with what it contains.
    pub(crate) fn container(self, of: Container<'_>, inner: &str) -> String {
        let Container { type_name, kind, length } = of;
        match self {
            Self::Python => match kind {
                Kind::List if type_name == "list" => format!("[{inner}]"),
                Kind::List if type_name == "deque" => format!("deque([{inner}])"),
                Kind::Tuple if type_name == "tuple" && length == 1 => format!("({inner},)"),
                Kind::Tuple if type_name == "tuple" => format!("({inner})"),
                Kind::Dictionary if type_name == "dict" => format!("{{{inner}}}"),
                Kind::Set if type_name == "set" && length > 0 => format!("{{{inner}}}"),
                Kind::Set if type_name == "frozenset" && length > 0 => format!("frozenset({{{inner}}})"),
                _ => format!("{type_name}({inner})"),
            },
            Self::JavaScript => match kind {
                Kind::List if type_name == "Array" => format!("[{inner}]"),
                Kind::List => format!("{type_name} [{inner}]"),
                Kind::Instance if type_name == "Object" => format!("{{{inner}}}"),
                _ => format!("{type_name} {{{inner}}}"),
            },
        }
    }
}

/// Whether a letter is written as a number where texts are written for programmers. Accents are not, after a letter.
fn is_hidden(letter: char) -> bool {
    !matches!(letter, '\'' | '"' | '\\') && ["a", &letter.to_string()].concat().escape_debug().count() > 2
}

/// Whether a letter is a control character, or invisible, or none at all.
fn is_other(letter: char) -> bool {
    letter.is_control() || (is_hidden(letter) && !letter.is_whitespace())
}

/// A letter of a string as Python writes it.
fn escaped(letter: char, quote: char) -> String {
    match letter {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\\' => "\\\\".to_owned(),
        _ if letter == quote => format!("\\{letter}"),
        _ if is_hidden(letter) => match u32::from(letter) {
            code @ ..=0xff => format!("\\x{code:02x}"),
            code @ ..=0xffff => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        },
        _ => letter.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_written_as_in_their_language() {
        let table = [
            (Spelling::Python, "list", Kind::List, 1, "[x]"),
            (Spelling::Python, "tuple", Kind::Tuple, 1, "(x,)"),
            (Spelling::Python, "set", Kind::Set, 0, "set(x)"),
            (Spelling::Python, "frozenset", Kind::Set, 0, "frozenset(x)"),
            (Spelling::Python, "frozenset", Kind::Set, 1, "frozenset({x})"),
            (Spelling::Python, "Cart", Kind::Instance, 1, "Cart(x)"),
            (Spelling::JavaScript, "Array", Kind::List, 1, "[x]"),
            (Spelling::JavaScript, "Uint8Array", Kind::List, 1, "Uint8Array [x]"),
            (Spelling::JavaScript, "Object", Kind::Instance, 1, "{x}"),
            (Spelling::JavaScript, "Cart", Kind::Instance, 1, "Cart {x}"),
            (Spelling::JavaScript, "Map", Kind::Dictionary, 1, "Map {x}"),
        ];
        for (spelling, type_name, kind, length, expected) in table {
            assert_eq!(spelling.container(Container { type_name, kind, length }, "x"), expected);
        }
    }

    #[test]
    fn control_characters_are_escaped_as_in_their_language() {
        let table = [
            ("\u{1}\u{7f}\n", r"'\x01\x7f\n'", r"'\u{1}\u{7f}\n'"),
            ("grüße \u{1f600}", "'grüße \u{1f600}'", "'grüße \u{1f600}'"),
            ("it's", "\"it's\"", r"'it\'s'"),
        ];
        for (text, python, javascript) in table {
            assert_eq!(Spelling::Python.quoted(text), python);
            assert_eq!(Spelling::JavaScript.quoted(text), javascript);
        }
    }

    #[test]
    fn keys_are_written_as_their_language_writes_them() {
        let texts = [
            ("it's", "\"it's\"", "\"it's\""),
            ("q\"", "'q\"'", "'q\"'"),
            ("it's \"q\"", r#"'it\'s "q"'"#, r#""it's \"q\"""#),
            ("a\nb", r"'a\nb'", r#""a\nb""#),
            ("\\", r"'\\'", r#""\\""#),
            ("\u{0}é\u{a0}e\u{301}", "'\\x00é\\xa0e\u{301}'", "\"\\u0000é\u{a0}e\u{301}\""),
        ];
        for (text, python, javascript) in texts {
            assert_eq!(Spelling::Python.string_as_key(text), python);
            assert_eq!(Spelling::JavaScript.string_as_key(text), javascript);
        }
        let numbers = [
            (1e20, "1e+20", "100000000000000000000"),
            (1.5e21, "1.5e+21", "1.5e+21"),
            (9_007_199_254_740_992.0, "9007199254740992.0", "9007199254740992"),
            (0.1, "0.1", "0.1"),
            (0.00001, "1e-05", "0.00001"),
            (-1e-7, "-1e-07", "-1e-7"),
            (f64::NAN, "nan", "NaN"),
            (f64::NEG_INFINITY, "-inf", "-Infinity"),
        ];
        for (number, python, javascript) in numbers {
            assert_eq!(Spelling::Python.number_as_key(number), python);
            assert_eq!(Spelling::JavaScript.number_as_key(number), javascript);
        }
    }
}
