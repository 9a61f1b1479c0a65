//! The names of types that Delve puts before values, such as `[]func(string) (int, error)`.

use super::expressions::outside;

/// A type before a value.
pub(super) struct TypeName<'a> {
    /// The type.
    pub(super) name: &'a str,
    /// The type of what it holds, of an interface.
    pub(super) held: Option<&'a str>,
}

/// The type that a text begins with, and how long it is. A value follows after a space.
pub(super) fn read(text: &str) -> Option<(TypeName<'_>, usize)> {
    let end = end_of(text)?;
    let (name, rest) = text.split_at_checked(end)?;
    let held = match rest.strip_prefix('(') {
        Some(inner) => Some(inner.get(..end_of(inner)?)?),
        None => None,
    };
    let length = end + held.map_or(0, |held| held.len() + 2);
    let is_closed = held.is_none() || text.get(..length)?.ends_with(')');
    (is_closed && text.get(length..)?.starts_with(' ')).then_some((TypeName { name, held }, length))
}

/// Whether a text begins with a type.
pub(super) fn is_at_start(text: &str) -> bool {
    end_of(text).is_some()
}

/// Whether it is the type of a channel.
pub(super) fn is_channel(name: &str) -> bool {
    CHANNELS.iter().any(|start| name.starts_with(start))
}

const CHANNELS: [&str; 3] = ["chan ", "chan<- ", "<-chan "];

fn end_of(text: &str) -> Option<usize> {
    let behind = |length: usize| Some(length + end_of(text.get(length..)?)?);
    if let Some(start) = ["*"].iter().chain(&CHANNELS).find(|start| text.starts_with(**start)) {
        return behind(start.len());
    }
    if text.starts_with("struct {") || text.starts_with("interface {") {
        return closing(text, text.find('{')?);
    }
    if text.starts_with("map[") {
        return behind(closing(text, "map".len())?);
    }
    if text.starts_with('[') {
        let length = closing(text, 0)?;
        let is_length = text.get(1..length - 1)?.bytes().all(|byte| byte.is_ascii_digit());
        return is_length.then(|| behind(length)).flatten();
    }
    if text.starts_with("func(") {
        let parameters = closing(text, "func".len())?;
        return Some(result_end(text, parameters).unwrap_or(parameters));
    }
    if text.starts_with('(') {
        return closing(text, 0);
    }
    let is_part = |letter: char| letter.is_alphanumeric() || "_./·-".contains(letter);
    let length = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(length)?;
    let is_name = name != "nil" && name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let end = if rest.starts_with('[') { closing(text, length) } else { Some(length) };
    end.filter(|_| is_name)
}

/// Where the result of a function ends whose parameters end here. What follows them without one is a value.
fn result_end(text: &str, parameters: usize) -> Option<usize> {
    let rest = text.get(parameters..)?.strip_prefix(' ')?;
    let length = end_of(rest)?;
    let next = rest.get(length..)?.chars().next()?;
    matches!(next, ' ' | ')' | ']' | ',' | ';').then_some(parameters + 1 + length)
}

/// Where the bracket is closed that is opened here.
fn closing(text: &str, open: usize) -> Option<usize> {
    let (at, ..) = outside(text.get(open..)?).find(|(_, _, depth)| *depth == 0)?;
    Some(open + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_end_where_values_begin() {
        let table = [
            ("main.Point {x: 1}", "main.Point", None),
            ("*v5.Pair[string, int] nil", "*v5.Pair[string, int]", None),
            ("[]func(string) string len: 1, cap: 1, [nil]", "[]func(string) string", None),
            ("[]func() len: 1, cap: 1, [nil]", "[]func()", None),
            ("[2]func() [nil,nil]", "[2]func()", None),
            ("[2]func() []int [nil,nil]", "[2]func() []int", None),
            ("[1]func(func(int) string) func() error [nil]", "[1]func(func(int) string) func() error", None),
            ("map[string]func(int) (string, error) nil", "map[string]func(int) (string, error)", None),
            ("[]<-chan []int len: 0, cap: 0, nil", "[]<-chan []int", None),
            ("chan func(int) error 0/2", "chan func(int) error", None),
            ("[]func() interface { M() int } len: 0", "[]func() interface { M() int }", None),
            ("struct { main.f func() int } {f: nil}", "struct { main.f func() int }", None),
            ("error(*errors.errorString) *{s: \"full\"}", "error", Some("*errors.errorString")),
            ("interface {}(func() (int, error)) main.f", "interface {}", Some("func() (int, error)")),
        ];
        for (text, name, held) in table {
            let found = read(text).map(|(found, _)| (found.name, found.held));
            assert_eq!(found, Some((name, held)), "{text}");
        }
        for text in ["nil", "5", "[1,2]", "[nil]", "main.f", "true, 2", "unsafe.Pointer(0xc0) "] {
            assert!(read(text).is_none(), "{text}");
        }
    }
}
