//! Values that a call may have without doing harm, by the name of the argument.

use std::path::Path;

use serde_json::{Value, json};

/// Above the largest number that Linux gives to a process (2²²).
const NOBODY: u32 = 4_194_399;

/// A value for an argument.
pub(crate) fn value(name: &str, schema: &Value, folder: &Path) -> Value {
    let missing = folder.join("nothing-here.py").display().to_string();
    match name {
        "file" | "scriptPath" | "program" | "stdinFile" | "executablePath" | "executable_path" => {
            json!(missing)
        }
        "cwd" => json!(folder),
        "command" => json!(format!("python3 {missing}")),
        "breakpoint" => json!({ "file": missing, "line": 1 }),
        "points" => json!([{ "file": missing, "line": 1, "expressions": ["1"] }]),
        "until" => json!([{ "file": missing, "line": 1 }]),
        "language" => json!("python"),
        "host" => json!("127.0.0.1"),
        // The port of `tcpmux`, which is not in use.
        "port" => json!(1),
        "processId" => json!(NOBODY),
        "expression" | "condition" | "exceptionCondition" | "value" if of(schema) == "string" => json!("1"),
        "breakpointId" => json!("bp-42"),
        _ => any(schema),
    }
}

/// A value that a schema takes.
fn any(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match of(schema) {
        "integer" | "number" => json!(999),
        "boolean" => json!(false),
        "array" => json!([]),
        "object" => json!({}),
        _ => json!("x"),
    }
}

/// The type that a schema takes.
pub(crate) fn of(schema: &Value) -> &str {
    schema["type"].as_str().unwrap_or_default()
}
