//! Whether a value is a secret, by its name and its type.

use super::assignments::{ValueForm, is_empty};
use super::names::{Certainty, certainty, last_name, mentions_credential};

/// Types whose values are not texts, though their descriptions may have quotes in them.
const NO_TEXTS: &[&str] = &[
    "ABCMeta",
    "AsyncFunction",
    "EnumMeta",
    "EnumType",
    "Function",
    "GeneratorFunction",
    "NoneType",
    "bool",
    "boolean",
    "builtin_function_or_method",
    "class",
    "error",
    "float",
    "function",
    "int",
    "method",
    "module",
    "null",
    "number",
    "property",
    "symbol",
    "type",
    "undefined",
];
/// An ambiguous name needs a value at least this long.
const SHORTEST_TOKEN: usize = 8;
/// As long as this, it needs no digits.
const LONG_TOKEN: usize = 16;

/// What an expression says about the secrecy of its value. None of the expressions that say nothing has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedValue(SecretMeaning);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecretMeaning {
    /// It is a credential, as sure as its name.
    Is(Certainty),
    /// It is made from one.
    Mentions,
}

/// What a value is made of.
enum Kind<'t> {
    /// No text.
    Plain,
    /// This text.
    Text(&'t str),
    /// Something that may hold texts.
    Other,
}

impl NamedValue {
    /// What a name or an expression says: `password`, `config['api_key']`, `decode(password)`.
    pub fn of(expression: &str) -> Option<Self> {
        match certainty(last_name(expression)) {
            Some(Certainty::Sure) => Some(Self(SecretMeaning::Is(Certainty::Sure))),
            _ if mentions_credential(expression) => Some(Self(SecretMeaning::Mentions)),
            certainty => certainty.map(|certainty| Self(SecretMeaning::Is(certainty))),
        }
    }

    /// Whether a value of this type, which the debugger shows as this text, is a secret.
    pub fn hides(self, type_name: Option<&str>, text: &str) -> bool {
        match (kind(type_name, text), self.0) {
            (Kind::Plain, _)
            | (Kind::Other, SecretMeaning::Mentions | SecretMeaning::Is(Certainty::IfRandom)) => false,
            (Kind::Text(inner), SecretMeaning::Mentions) => !is_empty(inner),
            (Kind::Text(inner), SecretMeaning::Is(certainty)) => is_secret_text(certainty, inner),
            (Kind::Other, SecretMeaning::Is(_)) => has_text(text),
        }
    }

    /// Whether everything in a value is secret that is a text.
    pub(super) fn is_certain(self) -> bool {
        self.0 == SecretMeaning::Is(Certainty::Sure)
    }
}

/// Whether a value that a text gives to a name is a secret.
pub(super) fn is_secret_in_text(name: &str, form: ValueForm, value: &str) -> bool {
    let Some(certainty) = certainty(name.trim_start_matches('-')) else { return false };
    match form {
        ValueForm::Container => certainty != Certainty::IfRandom && has_text(value),
        // Options have no types.
        ValueForm::Bare if is_number(value) && !name.starts_with("--") => false,
        ValueForm::Bare | ValueForm::Quoted => is_secret_text(certainty, value),
    }
}

fn is_secret_text(certainty: Certainty, inner: &str) -> bool {
    !is_empty(inner)
        && match certainty {
            Certainty::Sure => true,
            Certainty::UnlessPath => !is_path(inner),
            Certainty::IfRandom => is_random(inner),
        }
}

fn kind<'t>(type_name: Option<&str>, text: &'t str) -> Kind<'t> {
    let text = text.trim();
    let literal = literal(text);
    match type_name {
        Some(name) if NO_TEXTS.contains(&name) => Kind::Plain,
        Some(name) if is_text_type(name) => {
            // A pointer to nothing, or to what could not be read.
            let is_pointer = literal.is_none() && text.starts_with("0x");
            if is_pointer { Kind::Plain } else { Kind::Text(literal.unwrap_or(text)) }
        }
        Some(_) => other(text),
        None => match literal {
            Some(inner) => Kind::Text(inner),
            None if is_number(text) => Kind::Plain,
            None if text.contains(['<', '(', '{', '[', 'ƒ']) || text.starts_with("class ") => other(text),
            None => Kind::Text(text),
        },
    }
}

/// `<module 'secrets'>` and `function () { return '' }` describe what they are.
fn other(text: &str) -> Kind<'_> {
    let describes = ["<", "ƒ", "function", "class ", "async ", "[Function", "[class", "[Async"];
    if describes.iter().any(|start| text.starts_with(start)) { Kind::Plain } else { Kind::Other }
}

fn is_text_type(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "str" | "bytes" | "bytearray") || name.contains("string") || name.contains("char")
}

/// The text inside the quotes of a literal: `'a'`, `b'a'`, `0x7f00 "a"`, `bytearray(b'a')`.
fn literal(text: &str) -> Option<&str> {
    let opening = text.find(['"', '\'', '`'])?;
    let (before, rest) = text.split_at(opening);
    let is_prefix = before.len() <= 2 && before.bytes().all(|byte| byte.is_ascii_alphabetic())
        || before.starts_with("0x") && before.ends_with(' ')
        || before == "bytearray(b";
    let inner = rest.get(1..)?;
    is_prefix.then(|| inner.trim_end_matches([')', '"', '\'', '`']))
}

/// Whether a description has a text in it that is neither empty nor a key.
fn has_text(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (quote, behind) = rest.split_at(at).1.split_at(1);
        let mut is_escaped = false;
        let end = behind.find(|char: char| {
            let closes = !is_escaped && quote.starts_with(char);
            is_escaped = char == '\\' && !is_escaped;
            closes
        });
        let inner = behind.get(..end.unwrap_or(behind.len())).unwrap_or_default();
        rest = end.and_then(|end| behind.get(end + 1..)).unwrap_or_default();
        let is_key = rest.trim_start().starts_with([':', '=']);
        if !is_key && !is_empty(inner) {
            return true;
        }
    }
    false
}

fn is_number(text: &str) -> bool {
    let text = text.trim_start_matches('-');
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'n'))
}

fn is_path(text: &str) -> bool {
    text.starts_with(['/', '~', '.']) || text.get(1..3) == Some(":\\")
}

/// Looks generated by a machine, and is not a word of a language.
fn is_random(text: &str) -> bool {
    let has = |of: fn(&u8) -> bool| text.as_bytes().iter().any(of);
    let is_word = !text.contains(|char: char| char.is_whitespace() || matches!(char, '(' | '{' | '<'));
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    is_word && (text.len() >= LONG_TOKEN || text.len() >= SHORTEST_TOKEN && is_mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name or an expression, the type and the text of its value, and whether that is hidden.
    const TABLE: &[(&str, &str, &str, bool)] = &[
        ("password", "str", "'swordfish'", true),
        ("password", "string", "\"swordfish\"", true),
        ("password", "bytes", "b'swordfish'", true),
        ("password", "bytearray", "bytearray(b'swordfish')", true),
        ("password", "const char *", "0x00005555 \"swordfish\"", true),
        ("password", "char[10]", "\"swordfish\"", true),
        ("password", "std::string", "\"swordfish\"", true),
        ("password", "str", "'1234'", true),
        ("password", "str", "''", false),
        ("password", "const char *", "0x0000000000000000", false),
        ("password", "NoneType", "None", false),
        ("password", "undefined", "undefined", false),
        ("password", "bool", "True", false),
        ("password", "int", "12345678", false),
        ("password", "number", "12345678", false),
        ("password", "function", "<function password at 0x7f>", false),
        ("password", "function", "function password() { return 'x' }", false),
        ("password", "Object", "ƒ password(a = 'x')", false),
        ("password", "error", "NameError: name 'password' is not defined", false),
        ("password", "str", "'********'", false),
        ("password", "str", "'[redacted]'", false),
        ("secrets", "module", "<module 'secrets' from '/usr/lib/secrets.py'>", false),
        ("secret", "Secret", "<Secret 'x'>", false),
        ("passwords", "list", "['a', 'b']", true),
        ("passwords", "list", "[]", false),
        ("passwords", "list", "[1, 2]", false),
        ("password", "dict", "{'min_length': 8}", false),
        ("credentials", "dict", "{'user': 'x'}", true),
        ("credentials", "str", "'/etc/app/credentials.json'", false),
        ("credentials", "str", "'ann:swordfish'", true),
        ("pwd", "str", "'/home/ann'", false),
        ("pwd", "str", "'hunter2'", true),
        ("token", "str", "'+'", false),
        ("token", "str", "'identifier'", false),
        ("next_token", "str", "'return'", false),
        ("token", "Token", "Token(kind='NAME', text='abcdefgh12345678')", false),
        ("token", "str", "'a1b2c3d4e5'", true),
        ("token", "str", "'abcdefghijklmnopqrst'", true),
        ("access_token", "str", "'short'", true),
        ("GITHUB_TOKEN", "str", "'short'", true),
        ("tokens", "int", "5", false),
        ("tokens", "list", "['a1b2c3d4e5']", false),
        ("token_count", "int", "123456", false),
        ("password_length", "str", "'long'", false),
        ("aws_secret_access_key", "str", "'x/y'", true),
        ("config['db']['password']", "str", "'x'", true),
        ("S['password']", "str", "'x'", true),
        ("self.__api_key", "str", "'x'", true),
        ("password.upper()", "str", "'X'", true),
        ("password[:3]", "str", "'swo'", true),
        ("'%s' % password", "str", "'x'", true),
        ("len(password)", "int", "9", false),
        ("password == 'x'", "bool", "True", false),
        ("login(user, password).user", "User", "User(name='ann')", false),
        ("token.kind", "str", "'a1b2c3d4e5'", false),
        ("user.name", "str", "'a1b2c3d4e5'", false),
    ];

    #[test]
    fn the_name_and_type_decide() {
        for (name, type_name, text, expected) in TABLE {
            let hides = NamedValue::of(name).is_some_and(|named| named.hides(Some(type_name), text));
            assert_eq!(hides, *expected, "{name}: {type_name} = {text}");
        }
    }

    #[test]
    fn the_text_decides_without_a_type() {
        for (text, expected) in [
            ("swordfish", true),
            ("'swordfish'", true),
            ("b'swordfish'", true),
            ("['a']", true),
            ("12", false),
            ("None", false),
            ("[]", false),
            ("<function password at 0x7f>", false),
            ("<error: 'x'>", false),
            ("ƒ password()", false),
        ] {
            assert_eq!(NamedValue::of("password").unwrap().hides(None, text), expected, "{text}");
        }
    }
}
