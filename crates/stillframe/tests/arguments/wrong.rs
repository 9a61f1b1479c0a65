//! Arguments that are wrong in one way, and those that only make no sense, made from a tool's own schema.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::calls::Tool;
use crate::safe;

/// What the answer must be.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// A complaint that has this in it.
    Says(Vec<String>),
    /// An answer, done or not, that says that an argument was ignored.
    Warns,
    /// An answer.
    Anything,
}

/// Calls with one thing wrong each.
pub(crate) fn calls(tool: &Tool, folder: &Path) -> Vec<(Value, Expected)> {
    let base = base(tool, folder);
    let mut calls = Vec::new();
    for (name, schema) in &tool.properties {
        for value in misfits(schema) {
            let says = vec![format!("`{name}"), shown(&value)];
            calls.push((with(&base, name, value), Expected::Says(says)));
        }
        for (value, inside) in misfits_inside(schema) {
            calls.push((with(&base, name, value), Expected::Says(vec![format!("`{name}"), inside])));
        }
    }
    for name in &tool.required {
        let mut less = base.clone();
        less.remove(name);
        calls.push((Value::Object(less.clone()), Expected::Says(vec![format!("`{name}` is missing")])));
        // Nothing is the same as leaving it out.
        calls.push((with(&less, name, Value::Null), Expected::Says(vec![format!("`{name}` is missing")])));
    }
    calls
}

/// Calls that can be read, with arguments that make no sense.
pub(crate) fn foolish(tool: &Tool, folder: &Path) -> Vec<(Value, Expected)> {
    let base = base(tool, folder);
    let mut calls = vec![(Value::Object(base.clone()), Expected::Anything)];
    for extra in
        ["zebra", "__proto__", "", " ", "a\u{0}b", "日本", "sessionid ", "arguments", &"x".repeat(5000)]
    {
        calls.push((with(&base, extra, json!([1])), Expected::Warns));
    }
    for (name, schema) in &tool.properties {
        // Which of several sessions is meant is asked for in other tests.
        if !["cwd", "executablePath", "executable_path", "env"].contains(&name.as_str()) {
            let fools = fools(schema).into_iter();
            calls.extend(fools.map(|value| (with(&base, name, value), Expected::Anything)));
            if let Some(value) = unknown_inside(schema) {
                calls.push((with(&base, name, value), Expected::Warns));
            }
        }
    }
    calls
}

/// What every call of a tool must have.
fn base(tool: &Tool, folder: &Path) -> Map<String, Value> {
    let required = tool.properties.iter().filter(|(name, _)| tool.required.contains(name));
    required.map(|(name, schema)| (name.clone(), safe::value(name, schema, folder))).collect()
}

fn with(base: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut arguments = base.clone();
    arguments.insert(name.to_owned(), value);
    Value::Object(arguments)
}

/// Values that a schema does not take.
fn misfits(schema: &Value) -> Vec<Value> {
    let deep = (0..60).fold(json!([]), |inner, _| json!([inner]));
    let deeper = (0..60).fold(json!({}), |inner, _| json!({ "a": inner }));
    let digits = "9".repeat(100_000);
    match safe::of(schema) {
        "integer" => {
            let texts =
                ["twelve", "NaN", "Infinity", "1e999", "0x10", "1,000", "", " ", "1 2", "٣", "null", &digits];
            let texts = texts.into_iter().map(|text| json!(text));
            texts
                .chain([json!(1.5), json!(1e300), json!(true), json!([]), json!([1]), json!({}), deep])
                .collect()
        }
        "boolean" => {
            vec![json!("maybe"), json!("yes"), json!(""), json!(0), json!(1.0), json!([true]), deeper]
        }
        "string" if schema["enum"].is_array() => {
            vec![json!("no such choice"), json!(""), json!([]), deep]
        }
        "string" => vec![json!([]), json!({}), json!([7]), json!({ "a": "\u{1b}[31m" }), deep, deeper],
        "array" => vec![json!(7), json!(true), json!({}), json!("{}"), json!("[1"), deeper],
        "object" => vec![json!("x"), json!(7), json!([]), json!("[]"), json!("{"), deep],
        _ => Vec::new(),
    }
}

/// Values that are wrong further inside, and what must be said of each.
fn misfits_inside(schema: &Value) -> Vec<(Value, String)> {
    match safe::of(schema) {
        "array" if safe::of(&schema["items"]) == "string" => {
            vec![(json!([[]]), "[0]`".to_owned()), (json!(["x", {}]), "[1]`".to_owned())]
        }
        "array" => vec![(json!([7]), "[0]`".to_owned())],
        "object" if has_names(schema) => Vec::new(),
        "object" => vec![(json!({ "A": [] }), ".A`".to_owned())],
        _ => Vec::new(),
    }
}

/// A value with something inside that has no name which the schema knows.
fn unknown_inside(schema: &Value) -> Option<Value> {
    match safe::of(schema) {
        "array" if has_names(&schema["items"]) => Some(json!([{ "zebra": 1 }])),
        "object" if has_names(schema) => Some(json!({ "zebra": 1 })),
        _ => None,
    }
}

fn has_names(schema: &Value) -> bool {
    schema["properties"].as_object().is_some_and(|properties| !properties.is_empty())
}

/// Values that a schema accepts but that make no sense.
fn fools(schema: &Value) -> Vec<Value> {
    let long = "x".repeat(20_000);
    match safe::of(schema) {
        "integer" => {
            let numbers =
                [json!(0), json!(-1), json!(i64::MIN), json!(u32::MAX), json!(i64::MAX), json!(u64::MAX)];
            numbers.into_iter().chain([json!(1e15), json!("-0"), json!(" 7 ")]).collect()
        }
        "boolean" => vec![json!(true), json!("false")],
        "string" if schema["enum"].is_array() => Vec::new(),
        "string" => {
            let texts = [
                "",
                " ",
                "\u{0}",
                "a\u{0}b",
                "a\nb",
                "日本 \u{202e}\u{feff}",
                "\u{1b}[2J",
                "NaN",
                "-1",
                "{",
                "`",
            ];
            texts.into_iter().map(|text| json!(text)).chain([json!(7), json!(true), json!(long)]).collect()
        }
        "array" => vec![json!([]), json!(vec![""; 50]), json!([long])],
        "object" => vec![json!({}), json!({ "": "" })],
        _ => Vec::new(),
    }
}

/// How a complaint begins to show a value.
fn shown(value: &Value) -> String {
    format!("`{}", value.to_string().chars().take(40).collect::<String>())
}
