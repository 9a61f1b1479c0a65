//! Functions of the C library in expressions: without its debug information, a debugger does not know their types.

use super::super::plan::{Deciding, Other};

/// Those that only examine something, by the type of a pointer to them.
const TYPES: &[(&str, &str)] = &[
    ("unsigned long(*)(const char*)", "strlen"),
    ("int(*)(const char*,const char*)", "strcmp strcasecmp"),
    ("int(*)(const char*,const char*,unsigned long)", "strncmp strncasecmp"),
    ("int(*)(const void*,const void*,unsigned long)", "memcmp"),
    ("char*(*)(const char*,const char*)", "strstr strpbrk"),
    ("char*(*)(const char*,int)", "strchr strrchr"),
    ("char*(*)(const char*)", "getenv"),
    ("int(*)(const char*)", "atoi"),
    ("double(*)(const char*)", "atof"),
    ("int(*)(int)", "isalnum isalpha isdigit islower ispunct isspace isupper isxdigit tolower toupper"),
];

/// An expression with the types of such functions, for one with a function whose type is unknown.
pub(in crate::adapter) fn functions(expression: &str, message: &str, _: &Deciding) -> Option<Other> {
    declared(expression, message, |kind, name| format!("(({kind}){name})"))
}

/// The same with only the types of the results: of a function with one version for each kind of processor, GDB calls
/// through a pointer what chooses the version.
pub(in crate::adapter) fn results(expression: &str, message: &str, _: &Deciding) -> Option<Other> {
    declared(expression, message, |kind, name| {
        format!("({}){name}", kind.split("(*)").next().unwrap_or(kind))
    })
}

fn declared(expression: &str, message: &str, spelled: impl Fn(&str, &str) -> String) -> Option<Other> {
    let (mut other, mut rest) = (String::new(), expression);
    while let Some(letter) = rest.chars().next().filter(|_| message.contains("has unknown return type")) {
        let end = match letter {
            '"' | '\'' => literal(rest, letter),
            letter if is_part(letter) => rest.find(|letter| !is_part(letter)),
            letter => Some(letter.len_utf8()),
        };
        let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
        let kind = TYPES.iter().find(|(_, names)| names.split(' ').any(|name| name == part));
        let is_member = [".", "->", "::"].iter().any(|sign| other.trim_end().ends_with(*sign));
        match kind.filter(|_| !is_member && behind.trim_start().starts_with('(')) {
            Some((kind, _)) => other.push_str(&spelled(kind, part)),
            None => other.push_str(part),
        }
        rest = behind;
    }
    (!other.is_empty() && other != expression).then_some(Other { expression: other, explains: true })
}

/// Where a text or a character at the beginning ends.
fn literal(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = true;
    text.char_indices().find_map(|(at, letter)| {
        let ends = letter == quote && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends.then_some(at + 1)
    })
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
