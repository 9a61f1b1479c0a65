//! Deserializers for what adapters send instead of what the specification says.
//!
//! Numbers arrive as `3.0` or `"3"`, strings as `null`. A client that insists loses the whole message over
//! a field that it may not even need.

use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected};

/// The largest float below which every integer is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Number {
    fn integer(self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(number),
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and exact just before")]
            Self::Float(number) if number.fract() == 0.0 && number.abs() < EXACT => Some(number as i64),
            Self::Float(_) => None,
            Self::Text(text) => text.trim().parse().ok(),
        }
    }
}

/// A whole number, however it is written; `null` is 0.
pub(crate) fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    Ok(optional_integer(deserializer)?.unwrap_or(0))
}

/// A whole number, however it is written, or nothing.
pub(crate) fn optional_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    match Option::<Number>::deserialize(deserializer)? {
        None => Ok(None),
        Some(number) => number
            .integer()
            .map(Some)
            .ok_or_else(|| D::Error::invalid_value(Unexpected::Other("this number"), &"a whole number")),
    }
}

/// A string; `null` is empty, and a number or truth value is its text.
pub(crate) fn string<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::Null => String::new(),
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    })
}

/// A list; `null` is empty.
pub(crate) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    Ok(Option::<Vec<T>>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Sample {
        #[serde(default, deserialize_with = "integer")]
        number: i64,
        #[serde(default, deserialize_with = "string")]
        text: String,
        #[serde(default, deserialize_with = "list")]
        items: Vec<i64>,
    }

    #[test]
    fn values_of_wrong_types_are_accepted() {
        let table = [
            (r#"{"number":3,"text":"a","items":[1]}"#, (3, "a", vec![1])),
            (r#"{"number":3.0,"text":null,"items":null}"#, (3, "", vec![])),
            (r#"{"number":"-3","text":7}"#, (-3, "7", vec![])),
            (r#"{"number":null,"text":true}"#, (0, "true", vec![])),
            ("{}", (0, "", vec![])),
        ];
        for (json, (number, text, items)) in table {
            let expected = Sample { number, text: text.to_owned(), items };
            assert_eq!(serde_json::from_str::<Sample>(json).unwrap(), expected, "{json}");
        }
        assert!(serde_json::from_str::<Sample>(r#"{"number":3.5}"#).is_err());
        assert!(serde_json::from_str::<Sample>(r#"{"number":1e300}"#).is_err());
    }
}
