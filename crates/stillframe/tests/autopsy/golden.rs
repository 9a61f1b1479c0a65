//! Answers as they are kept in files, without what differs from one run or version to the next.

use std::path::Path;

use serde_json::{Map, Value, json};
use test_support::repository;

/// Compares a failure with `golden/NAME.json`; `STILLFRAME_UPDATE_GOLDEN=1` writes it. The project's folder is
/// `PROJECT` in it, and of what is not in the project only the fact is kept.
pub(crate) fn assert_golden(name: &str, failure: &Value, project: &Path) {
    let folder = project.canonicalize().expect("the project is there");
    let text =
        serde_json::to_string(failure).expect("JSON").replace(folder.to_str().expect("UTF-8"), "PROJECT");
    let stable = stable(serde_json::from_str(&text).expect("JSON"));
    let path = repository().join("crates/stillframe/tests/autopsy/golden").join(format!("{name}.json"));
    let text = serde_json::to_string_pretty(&stable).expect("JSON") + "\n";
    if std::env::var_os("STILLFRAME_UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(&path).expect("the golden file is there");
    assert_eq!(text, golden, "{}", path.display());
}

fn stable(value: Value) -> Value {
    match value {
        Value::Object(object) => Value::Object(object.into_iter().filter_map(entry).collect::<Map<_, _>>()),
        Value::Array(values) => Value::Array(values.into_iter().filter(is_of_project).map(stable).collect()),
        other => other,
    }
}

/// Numbers of frames and values count up over the whole session; columns, and how many attributes an object of a
/// library has, belong to a version.
fn entry((name, value): (String, Value)) -> Option<(String, Value)> {
    match (name.as_str(), value) {
        ("stack", Value::Array(frames)) => {
            let is_own = |frame: &Value| frame.as_str().is_none_or(|frame| frame.contains("PROJECT"));
            Some((name, Value::Array(frames.into_iter().filter(is_own).collect())))
        }
        ("id" | "frameId" | "variablesReference" | "children" | "column", _) => None,
        ("stack" | "details", Value::String(text)) => Some((name, json!(own_lines(&text)))),
        (_, value) => Some((name, stable(value))),
    }
}

/// A frame of a library or of the runtime has its lines elsewhere in another version, and what Vite names so holds
/// all that a module exports.
fn is_of_project(value: &Value) -> bool {
    value["file"].as_str().is_none_or(|file| file.starts_with("PROJECT"))
        && value["name"].as_str().is_none_or(|name| !name.starts_with("__vite"))
}

fn own_lines(text: &str) -> String {
    let is_place = |line: &str| ["at ", "File "].iter().any(|word| line.trim_start().starts_with(word));
    // Newer versions of Python mark the part of the line.
    let is_mark = |line: &str| !line.trim().is_empty() && line.trim().chars().all(|mark| "^~".contains(mark));
    let is_own = |line: &&str| (!is_place(line) || line.contains("PROJECT")) && !is_mark(line);
    text.lines().filter(is_own).collect::<Vec<_>>().join("\n")
}
