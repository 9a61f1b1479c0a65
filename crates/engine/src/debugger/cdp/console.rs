//! What a program prints that was not started here: its pipes are not ours, so `console` is listened to.

use ::cdp::runtime::{ConsoleApiCalled, RemoteObject};

use crate::output::{Category, Output};

/// Adds what a call of `console` printed.
pub(super) fn print(called: &ConsoleApiCalled, output: &Output) {
    let category = match called.kind.as_str() {
        "error" | "warning" | "trace" | "assert" => Category::Stderr,
        "clear" | "startGroup" | "endGroup" | "profile" | "profileEnd" => return,
        _ => Category::Stdout,
    };
    let words: Vec<String> = called.args.iter().map(text).collect();
    output.append(category, &format!("{}\n", words.join(" ")));
}

/// Texts as they are, numbers as V8 writes them, objects by what V8 calls them.
fn text(value: &RemoteObject) -> String {
    if let Some(text) = value.value.as_ref().and_then(serde_json::Value::as_str) {
        return text.to_owned();
    }
    let described = value.unserializable_value.clone().or_else(|| value.description.clone());
    described.or_else(|| value.value.as_ref().map(ToString::to_string)).unwrap_or_else(|| value.kind.clone())
}
