//! Values as JSON, where that says the same as the language's text.

use serde_json::Value;

use super::unquoted;

/// A number, a truth value, a text or nothing as JSON has it; everything else as the text that it is shown as.
///
/// Numbers that JSON cannot say, or would lose digits of, stay texts. Of a text that is cut this is the beginning.
pub fn plain(type_name: &str, text: &str) -> Value {
    match type_name {
        "undefined" | "null" | "NoneType" => Value::Null,
        "boolean" | "bool" => match text {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            other => Value::from(other),
        },
        "number" | "int" | "float" => number(text).unwrap_or_else(|| Value::from(text)),
        "string" | "str" => unquoted(text).map_or_else(|| Value::from(text), Value::from),
        _ => Value::from(text),
    }
}

fn number(text: &str) -> Option<Value> {
    let number: serde_json::Number = serde_json::from_str(text).ok()?;
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    (!(is_whole && number.is_f64())).then_some(Value::Number(number))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_that_json_represents_are_json() {
        let table = [
            ("number", "42", json!(42)),
            ("float", "1e+16", json!(1e16)),
            ("number", "-0", json!("-0")),
            ("number", "NaN", json!("NaN")),
            ("int", "123456789012345678901234567890", json!("123456789012345678901234567890")),
            ("string", r"'it\'s'", json!("it's")),
            ("string", "'ab'...", json!("ab...")),
            ("str", r"'a\nb'", json!("a\nb")),
            ("bool", "True", json!(true)),
            ("boolean", "false", json!(false)),
            ("undefined", "undefined", json!(null)),
            ("NoneType", "None", json!(null)),
            ("bigint", "12n", json!("12n")),
            ("Array", "[ 1 ]", json!("[ 1 ]")),
        ];
        for (type_name, text, expected) in table {
            assert_eq!(plain(type_name, text), expected, "{type_name} {text}");
        }
    }
}
