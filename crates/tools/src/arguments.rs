//! From the JSON of a call to a tool's parameters.
//!
//! The tool's own schema says what is allowed, so that every tool words its complaints alike. Models write
//! numbers as strings, and lists as JSON in a string; both are taken for what they mean.

use engine::sources::distance;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::command_line::{self, WORDS};
use crate::lenient::reshaped;
use crate::truncate::shortened;
use crate::{ToolError, schema};

/// The most warnings that are kept.
const WARNINGS: usize = 8;
/// How much of a value or an unknown name is shown, in characters.
const SHOWN: usize = 80;

/// Reads arguments that must fit the schema. An unknown argument is ignored, with a warning: clients pass arguments
/// of other servers and other versions, and a call must not fail for something irrelevant to it. An unknown argument
/// that resembles one that limits the call is relevant, and an error.
pub fn read<T: DeserializeOwned>(
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
    warnings: &mut Vec<String>,
) -> Result<T, ToolError> {
    let arguments = fit_all(schema, arguments, warnings)?;
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(invalid)
}

fn fit_all(
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
    warnings: &mut Vec<String>,
) -> Result<Map<String, Value>, ToolError> {
    let fitted = fit_object(schema, arguments, "", warnings);
    let left_out = warnings.len().saturating_sub(WARNINGS);
    if left_out > 0 {
        warnings.truncate(WARNINGS);
        warnings.push(format!("ignored {left_out} more unknown arguments"));
    }
    fitted
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that `map_err` takes")]
fn invalid(error: serde_path_to_error::Error<serde_json::Error>) -> ToolError {
    let path = error.path().to_string();
    let reason = error.inner().to_string();
    // The parser's words for numbers are about bits.
    let most = [("u8", u64::from(u8::MAX)), ("u16", u64::from(u16::MAX)), ("u32", u64::from(u32::MAX))];
    let is_out_of_range = |(kind, _): &(&str, u64)| {
        reason.starts_with("invalid value: integer `") && reason.ends_with(&format!(", expected {kind}"))
    };
    let most = most.into_iter().find(is_out_of_range);
    let problem = match (reason.split('`').nth(1), most) {
        (Some(number), _) if number.starts_with('-') && reason.contains("integer `") => {
            "must not be negative".to_owned()
        }
        (Some(number), Some((_, most))) => format!("must be at most {most}, not {number}"),
        _ => format!("is invalid: {reason}"),
    };
    ToolError::argument(if path == "." { "arguments" } else { &path }, problem)
}

/// The arguments that a tool would get; none if they do not fit its schema.
pub fn fitted(schema: &Map<String, Value>, arguments: Map<String, Value>) -> Option<Map<String, Value>> {
    fit_object(schema, arguments, "", &mut Vec::new()).ok()
}

fn fit_object(
    schema: &Map<String, Value>,
    arguments: Map<String, Value>,
    path: &str,
    warnings: &mut Vec<String>,
) -> Result<Map<String, Value>, ToolError> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    let open = schema.get("additionalProperties").filter(|extra| **extra != Value::Bool(false));
    let known = properties.unwrap_or(&empty);
    let mut fitted = Map::new();
    for (name, value) in arguments {
        let path = join(path, &name);
        match known.get(&name).or(open) {
            // An explicit `null` is the same as leaving it out.
            _ if value.is_null() && open.is_none() => {}
            Some(schema) => {
                fitted.insert(name, fit(schema, value, &path, warnings)?);
            }
            None if let Some(switch) = meant_switch(&name, known) => {
                let problem = format!(
                    "is unknown; did you mean `{switch}`? It limits what the call does, so it is not ignored"
                );
                return Err(ToolError::argument(&path, problem));
            }
            None => warnings.push(unknown(&name, &path, known)),
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !fitted.contains_key(name) {
            let takes = known.get(name).map(expected_type).unwrap_or_default();
            return Err(ToolError::argument(&join(path, name), format!("is missing; expected {takes}")));
        }
    }
    Ok(fitted)
}

/// The value as its schema has it; `path` says in errors where it is.
pub(crate) fn fit(
    schema: &Value,
    value: Value,
    path: &str,
    warnings: &mut Vec<String>,
) -> Result<Value, ToolError> {
    let Some(kind) = schema.get("type").and_then(Value::as_str) else { return Ok(value) };
    if schema.get(WORDS).is_some() {
        return command_line::reshaped(kind, &value).ok_or_else(|| misfit(schema, &value, path));
    }
    let value = match (kind, value) {
        ("integer" | "number" | "boolean" | "array" | "object", Value::String(text)) => {
            let read = serde_json::from_str(text.trim()).ok().map(|read| rounded(kind, read));
            read.filter(|read| is_of(kind, read)).unwrap_or(Value::String(text))
        }
        ("string", value @ (Value::Number(_) | Value::Bool(_))) => Value::String(value.to_string()),
        (_, value) => rounded(kind, value),
    };
    let value = if is_of(kind, &value) { value } else { reshaped(schema, value, path) };
    let choices = schema.get("enum").and_then(Value::as_array);
    if !is_of(kind, &value) || choices.is_some_and(|choices| !choices.contains(&value)) {
        return Err(misfit(schema, &value, path));
    }
    if let (Some(least), Some(number)) = (schema.get("minimum").and_then(Value::as_f64), value.as_f64())
        && number < least
    {
        return Err(ToolError::argument(path, format!("must be at least {least}, not {number}")));
    }
    match value {
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return Ok(Value::Array(items)) };
            let fitted = items
                .into_iter()
                .enumerate()
                .map(|(at, item)| fit(schema, item, &format!("{path}[{at}]"), warnings));
            fitted.collect::<Result<_, _>>().map(Value::Array)
        }
        Value::Object(fields) => match schema.as_object() {
            Some(schema)
                if schema.contains_key("properties") || schema.contains_key("additionalProperties") =>
            {
                fit_object(schema, fields, path, warnings).map(Value::Object)
            }
            _ => Ok(Value::Object(fields)),
        },
        value => Ok(value),
    }
}

/// Says what is wrong with a value, as far inside as it is wrong.
fn misfit(schema: &Value, value: &Value, path: &str) -> ToolError {
    if schema.get(WORDS).is_some()
        && let Value::Array(words) = value
        && let Some((at, word)) =
            words.iter().enumerate().find(|(_, word)| word.is_array() || word.is_object())
        && schema.get("items").is_some()
    {
        let got = shown(word);
        return ToolError::argument(&format!("{path}[{at}]"), format!("must be a string, not {got}"));
    }
    if schema.get(WORDS).is_some() && value.as_array().is_some_and(Vec::is_empty) {
        return ToolError::argument(path, "must not be `[]`; give the program and its arguments");
    }
    let error = ToolError::argument(path, format!("must be {}, not {}", expected_type(schema), shown(value)));
    let problem = value.as_str().filter(|_| schema.get(WORDS).is_some()).and_then(command_line::problem);
    problem.iter().fold(error, |error, problem| error.and(problem))
}

/// 3.0 is a whole number.
fn rounded(kind: &str, value: Value) -> Value {
    match &value {
        Value::Number(number) if kind == "integer" && number.is_f64() => {
            whole(number).map_or(value, Value::from)
        }
        _ => value,
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

fn whole(number: &serde_json::Number) -> Option<i64> {
    let number = number.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small just before")]
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

/// The values that a schema accepts, for messages.
fn expected_type(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.iter().map(shown).collect::<Vec<_>>().join(" or ");
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer") => "a whole number".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("string") => "a string".to_owned(),
        Some("array") => match schema.get("items") {
            Some(items) => format!("a list, each item {}", expected_type(items)),
            None => "a list".to_owned(),
        },
        Some("object") => match schema.get("properties").and_then(Value::as_object) {
            Some(properties) if !properties.is_empty() => {
                let listed = properties.iter().filter(|(_, property)| schema::is_listed(property));
                let names: Vec<String> = listed.map(|(name, _)| format!("`{name}`")).collect();
                format!("an object with {}", names.join(", "))
            }
            _ => "an object".to_owned(),
        },
        _ => "a value".to_owned(),
    }
}

fn shown(value: &Value) -> String {
    format!("`{}`", shortened(&value.to_string(), SHOWN))
}

/// The arguments that make a call do less than it would without them, and what other spellings of them contain.
const SWITCHES: [(&str, &str); 2] = [("dryRunSpawn", "dryrun"), ("sideEffects", "sideeffect")];

/// The one of these that a misspelled argument probably means. If it were ignored, the call would do what the client
/// wants to avoid.
fn meant_switch(name: &str, known: &Map<String, Value>) -> Option<&'static str> {
    let wanted = simple(name);
    let is_meant = |(switch, part): &(&str, &str)| {
        known.contains_key(*switch) && (wanted.contains(part) || distance(&simple(switch), &wanted) <= 3)
    };
    SWITCHES.into_iter().find(is_meant).map(|(switch, _)| switch)
}

/// A name without what its spelling adds.
fn simple(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}

/// Names that clients use for an argument that is spelled in another way.
const OTHER_NAMES: [(&str, &str); 2] = [("pid", "processId"), ("condition", "exceptionCondition")];

/// The argument that is a field of each item of a list.
fn in_a_list(name: &str, known: &Map<String, Value>) -> Option<String> {
    let has_field = |property: &&Value| {
        property.pointer("/items/properties").is_some_and(|fields| fields.get(name).is_some())
    };
    let list = known.iter().find(|(_, property)| has_field(property) && schema::is_listed(property));
    list.map(|(list, _)| format!("{list}[].{name}"))
}

/// The warning about a name that no argument has.
fn unknown(name: &str, path: &str, known: &Map<String, Value>) -> String {
    let wanted = simple(name);
    let listed = known.iter().filter(|(_, property)| schema::is_listed(property));
    let closest = listed.map(|(known, _)| (distance(&simple(known), &wanted), known)).min();
    match closest {
        Some((near, known)) if near <= 2 && near < wanted.len() => {
            format!("ignored unknown argument `{path}`; did you mean `{known}`?")
        }
        _ => {
            let is_meant = |(other, own): &(&str, &str)| *other == wanted && known.contains_key(*own);
            let other = || OTHER_NAMES.into_iter().find(is_meant).map(|(_, own)| own.to_owned());
            match in_a_list(name, known).or_else(other) {
                Some(meant) => format!("ignored unknown argument `{path}`; did you mean `{meant}`?"),
                None => format!("ignored unknown argument `{path}`"),
            }
        }
    }
}

fn join(path: &str, name: &str) -> String {
    // An unknown name can be of any length.
    let name = shortened(name, SHOWN);
    if path.is_empty() { name.into_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::ArgumentList;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Sample {
        session_id: Option<String>,
        line: u32,
        args: Option<ArgumentList>,
        mode: Option<Mode>,
        env: Option<BTreeMap<String, String>>,
        nested: Option<Nested>,
        flag: Option<bool>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Nested {
        x: u64,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        All,
        None,
    }

    fn warned(arguments: Value) -> (Result<Sample, String>, Vec<String>) {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        let mut warnings = Vec::new();
        let read = read(&schema::input::<Sample>(), arguments, &mut warnings);
        (read.map_err(|error: ToolError| error.message), warnings)
    }

    fn check(arguments: Value) -> Result<Sample, String> {
        warned(arguments).0
    }

    #[test]
    fn lenient_values_are_accepted() {
        let expected = Sample {
            session_id: Some("7".to_owned()),
            line: 12,
            args: Some(ArgumentList(vec!["a".to_owned(), "1".to_owned()])),
            mode: Some(Mode::All),
            env: Some(BTreeMap::from([("A".to_owned(), "1".to_owned())])),
            nested: Some(Nested { x: 3 }),
            flag: Some(true),
        };
        let strict = json!({ "sessionId": "7", "line": 12, "args": ["a", "1"], "mode": "all", "env": { "A": "1" },
            "nested": { "x": 3 }, "flag": true });
        let sloppy = json!({ "sessionId": 7, "line": "12", "args": "[\"a\", 1]", "mode": "all", "env": { "A": 1 },
            "nested": "{\"x\": \"3\"}", "flag": "true" });
        assert_eq!(check(strict), Ok(expected));
        assert_eq!(check(sloppy).unwrap().args.unwrap().0, ["a", "1"]);
        assert_eq!(check(json!({ "line": 3.0, "mode": null })).unwrap().line, 3);
        assert_eq!(check(json!({ "line": " 3.0" })).unwrap().line, 3);
    }

    #[test]
    fn errors_name_the_argument_and_its_type() {
        let table = [
            (json!({}), "`line` is missing; expected a whole number"),
            (json!({ "line": "x" }), "`line` must be a whole number, not `\"x\"`"),
            (json!({ "line": 1.5 }), "`line` must be a whole number, not `1.5`"),
            (json!({ "line": -1 }), "`line` must not be negative"),
            (json!({ "line": 9_999_999_999_u64 }), "`line` must be at most 4294967295, not 9999999999"),
            (json!({ "line": [] }), "`line` must be a whole number, not `[]`"),
            (json!({ "line": 1, "mode": "some" }), "`mode` must be `\"all\"` or `\"none\"`, not `\"some\"`"),
            (
                json!({ "line": 1, "args": "a | b" }),
                "`args` must be a list, each item a string, not `\"a | b\"`; it has several commands or a redirection; \
                 no shell runs here; pass a list of strings",
            ),
            (json!({ "line": 1, "args": [["a"]] }), "`args[0]` must be a string, not `[\"a\"]`"),
            (json!({ "line": 1, "nested": {} }), "`nested.x` is missing; expected a whole number"),
        ];
        for (arguments, message) in table {
            assert_eq!(check(arguments.clone()).unwrap_err(), message, "{arguments}");
        }
    }

    #[test]
    fn only_a_whole_number_that_is_too_large_is_held_against_the_most() {
        let message = |value| {
            let read: Result<u32, _> = serde_path_to_error::deserialize(value);
            read.map_err(invalid).unwrap_err().message
        };
        assert_eq!(message(json!(1_u64 << 32)), "`arguments` must be at most 4294967295, not 4294967296");
        assert_eq!(
            message(json!(1.5)),
            "`arguments` is invalid: invalid type: floating point `1.5`, expected u32"
        );
    }

    #[test]
    fn other_names_of_an_argument_are_recognized() {
        let known = json!({ "processId": {}, "exceptionCondition": {} });
        for (name, meant) in [("pid", "processId"), ("condition", "exceptionCondition")] {
            let warning = format!("ignored unknown argument `{name}`; did you mean `{meant}`?");
            assert_eq!(unknown(name, name, known.as_object().unwrap()), warning);
        }
        for places in ["until", "points"] {
            let fields = json!({ "items": { "properties": { "condition": {}, "line": {} } } });
            let known = json!({ "args": { "items": {} }, places: fields, "exceptionCondition": {} });
            for name in ["condition", "line"] {
                let warning = unknown(name, name, known.as_object().unwrap());
                assert!(warning.contains(&format!("`{places}[].{name}`")), "{warning}");
            }
        }
    }

    #[test]
    fn unknown_arguments_are_ignored_with_a_warning() {
        let table = [
            (json!({ "lien": 2 }), "ignored unknown argument `lien`; did you mean `line`?"),
            (json!({ "session_id": 2 }), "ignored unknown argument `session_id`; did you mean `sessionId`?"),
            (
                json!({ "nested": { "x": 3, "xs": 1 } }),
                "ignored unknown argument `nested.xs`; did you mean `x`?",
            ),
            (json!({ "nested": { "x": 3, "y": 1 } }), "ignored unknown argument `nested.y`"),
            (json!({ "zebra": 1 }), "ignored unknown argument `zebra`"),
            (json!({ "condition": "x" }), "ignored unknown argument `condition`"),
        ];
        for (mut arguments, warning) in table {
            arguments["line"] = json!(1);
            let (read, warnings) = warned(arguments);
            assert_eq!(read.unwrap().line, 1);
            assert_eq!(warnings, [warning]);
        }
        let (read, warnings) = warned(json!({ "lien": 1 }));
        assert_eq!(read.unwrap_err(), "`line` is missing; expected a whole number");
        assert_eq!(warnings, ["ignored unknown argument `lien`; did you mean `line`?"]);
        // An omitted, empty value is not a change.
        assert_eq!(warned(json!({ "line": 1, "zebra": null })).1, [""; 0]);
    }

    #[test]
    fn unknown_arguments_that_limit_the_call_are_refused() {
        let known = Map::from_iter([("dryRunSpawn".into(), json!({})), ("sideEffects".into(), json!({}))]);
        let table = [
            ("dryRunSpwan", Some("dryRunSpawn")),
            ("dry_run_spawn", Some("dryRunSpawn")),
            ("dryRun", Some("dryRunSpawn")),
            ("dry-run", Some("dryRunSpawn")),
            ("dryrunSpawm", Some("dryRunSpawn")),
            ("sideEfects", Some("sideEffects")),
            ("side_effects", Some("sideEffects")),
            ("noSideEffects", Some("sideEffects")),
            ("allowSideEffect", Some("sideEffects")),
            ("spawn", None),
            ("effects", None),
            ("x", None),
            ("", None),
        ];
        for (name, switch) in table {
            assert_eq!(meant_switch(name, &known), switch, "{name}");
            assert_eq!(
                meant_switch(name, &Map::new()),
                None,
                "a tool that has no such switch ignores {name}"
            );
        }
    }

    #[test]
    fn the_number_of_warnings_is_limited() {
        let mut arguments: Map<String, Value> = (0..50).map(|at| (format!("zebra{at}"), json!(at))).collect();
        arguments.insert("line".to_owned(), json!(1));
        let (_, warnings) = warned(Value::Object(arguments));
        assert_eq!(warnings.len(), WARNINGS + 1);
        assert_eq!(warnings[WARNINGS], "ignored 42 more unknown arguments");
    }

    proptest::proptest! {
        #[test]
        fn no_arguments_cause_a_panic(name in "[a-z]{0,6}|line|args|nested", text in ".{0,12}") {
            let value: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            let _ = check(json!({ "line": 1, name: value }));
        }
    }
}
