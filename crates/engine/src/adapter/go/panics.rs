//! What a panic says, by the value that was given to it. Where Delve stops before the runtime has made a text of that, the
//! text is made here, as the runtime makes it.

use super::type_names;
use super::values::in_go;

/// What was given to `panic`, or the text of a fatal error.
pub(super) fn message(text: &str) -> String {
    let text = text.trim();
    let value = in_go(text);
    if value.starts_with("(unreadable ") {
        return String::new();
    }
    if value.starts_with("Error getting throw reason") {
        return "a fatal signal outside of Go code, such as a SIGSEGV in C; continue to see the runtime's report"
            .to_owned();
    }
    let kind = type_names::read(text).and_then(|(name, _)| name.held).unwrap_or_default();
    of_runtime(kind, &value)
        .or_else(|| of_error(&value))
        .or_else(|| unquoted(&value).filter(|_| value.ends_with('"')))
        .unwrap_or(value)
}

/// The text of an error of the runtime itself.
fn of_runtime(kind: &str, value: &str) -> Option<String> {
    let text = match kind {
        "runtime.errorString" => unquoted(value)?,
        "runtime.errorAddressString" => unquoted(field(value, "msg")?)?,
        "runtime.boundsError" => out_of_bounds(value)?,
        // The types are known only by their addresses.
        "*runtime.TypeAssertionError" => {
            let method = field(value, "missingMethod").and_then(unquoted).filter(|name| !name.is_empty());
            let method = method.map(|name| format!(": missing method {name}")).unwrap_or_default();
            return Some(format!("interface conversion: the value is not of the asserted type{method}"));
        }
        _ => return None,
    };
    Some(format!("runtime error: {text}"))
}

/// The texts of `runtime.boundsError` by its code, and those where the index is negative.
const BOUNDS: [(&str, &str); 9] = [
    ("index out of range [%x] with length %y", "index out of range [%x]"),
    ("slice bounds out of range [:%x] with length %y", "slice bounds out of range [:%x]"),
    ("slice bounds out of range [:%x] with capacity %y", "slice bounds out of range [:%x]"),
    ("slice bounds out of range [%x:%y]", "slice bounds out of range [%x:]"),
    ("slice bounds out of range [::%x] with length %y", "slice bounds out of range [::%x]"),
    ("slice bounds out of range [::%x] with capacity %y", "slice bounds out of range [::%x]"),
    ("slice bounds out of range [:%x:%y]", "slice bounds out of range [:%x:]"),
    ("slice bounds out of range [%x:%y:]", "slice bounds out of range [%x::]"),
    ("cannot convert slice with length %y to array or pointer to array with length %x", ""),
];

fn out_of_bounds(value: &str) -> Option<String> {
    let number = |name: &str| field(value, name)?.split([',', '}']).next();
    let (x, y) = (number("x")?, number("y")?);
    // `BoundsIndex (0)`, or only the number.
    let code = number("code")?.trim_end_matches(')').rsplit(['(', ' ']).next()?;
    let (text, negative) = BOUNDS.get(code.parse::<usize>().ok()?)?;
    let is_signed = number("signed")? == "true";
    let text = if is_signed && x.starts_with('-') { negative } else { text };
    // The runtime keeps an unsigned index in a field with a sign.
    let unsigned = x.parse::<i64>().ok().filter(|_| !is_signed).map(|x| x.cast_unsigned().to_string());
    Some(text.replace("%x", unsigned.as_deref().unwrap_or(x)).replace("%y", y))
}

/// The type and the text of an error whose first field is its text.
fn of_error(value: &str) -> Option<String> {
    let (kind, fields) = value.split_once('{')?;
    let text = ["s: ", "msg: "].iter().find_map(|name| fields.strip_prefix(name))?;
    Some(format!("{}: {}", kind.trim_start_matches(['&', '*']), unquoted(text)?))
}

/// What follows the name of a field.
fn field<'a>(value: &'a str, name: &str) -> Option<&'a str> {
    let of = |before: &str| value.split_once(&format!("{before}{name}: ")).map(|(_, rest)| rest);
    of("{").or_else(|| of(", "))
}

/// The text in the quotes that a value begins with.
fn unquoted(value: &str) -> Option<String> {
    let mut letters = value.strip_prefix('"')?.chars();
    let mut text = String::new();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                quoted @ ('"' | '\\') => text.push(quoted),
                other => text.extend(['\\', other]),
            },
            letter => text.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_what_go_prints() {
        let bounds = |fields: &str| format!("interface {{}}(runtime.boundsError) {{{fields}}}");
        let table = [
            ("\"as asked\"".to_owned(), "as asked"),
            ("interface {}(string) \"two\\nlines\"".to_owned(), "two\nlines"),
            ("interface {}(*errors.errorString) *{s: \"no \\\"lamp\\\"\"}".to_owned(), "errors.errorString: no \"lamp\""),
            (
                "interface {}(*fmt.wrapError) *{msg: \"no: full\", err: error(*errors.errorString) *{s: \"full\"}}"
                    .to_owned(),
                "fmt.wrapError: no: full",
            ),
            ("interface {}(runtime.errorString) \"integer divide by zero\"".to_owned(), "runtime error: integer divide by zero"),
            ("interface {}(runtime.plainError) \"close of nil channel\"".to_owned(), "close of nil channel"),
            (
                bounds("x: 5, y: 2, signed: true, code: BoundsIndex (0)"),
                "runtime error: index out of range [5] with length 2",
            ),
            (bounds("x: -1, y: 2, signed: true, code: BoundsSliceB (3)"), "runtime error: slice bounds out of range [-1:]"),
            (
                bounds("x: -1, y: 1, signed: false, code: BoundsIndex (0)"),
                "runtime error: index out of range [18446744073709551615] with length 1",
            ),
            (
                bounds("x: 4, y: 0, signed: false, code: BoundsConvert (8)"),
                "runtime error: cannot convert slice with length 0 to array or pointer to array with length 4",
            ),
            (
                "interface {}(*runtime.TypeAssertionError) *{_interface: *internal/abi.Type nil, missingMethod: \"Area\"}"
                    .to_owned(),
                "interface conversion: the value is not of the asserted type: missing method Area",
            ),
            ("interface {}(main.Code) {n: 3}".to_owned(), "main.Code{n: 3}"),
            ("all goroutines are asleep - deadlock!".to_owned(), "all goroutines are asleep - deadlock!"),
            ("(unreadable error loading module data: read out of bounds)".to_owned(), ""),
        ];
        for (text, expected) in table {
            assert_eq!(message(&text), expected, "{text}");
        }
    }
}
