//! What functions are called in their sources.

use ::cdp::debugger::Location as ScriptPlace;

use super::scripts::{Script, position};

/// The name of the function that begins at a place.
pub(super) async fn function_name(script: &Script, function: &str, place: &ScriptPlace) -> String {
    if function.is_empty() && begins_with_script(script, place) {
        return "<module>".to_owned();
    }
    source_name(script, function, Some(place)).await
}

/// Whether a function is all of its script.
pub(super) fn begins_with_script(script: &Script, place: &ScriptPlace) -> bool {
    (place.line_number, place.column_number.unwrap_or(0)) == script.start
}

/// The name of a function in its source. A function without one is `<anonymous>`.
pub(super) async fn source_name(script: &Script, name: &str, function: Option<&ScriptPlace>) -> String {
    let Some(place) = function else { return or_anonymous(name) };
    let (line, column) = position(place);
    if let Some(Ok(map)) = script.map().await
        && let Some(original) = map.original(line, column)
        && let Some(original) = original.name
        && !name.is_empty()
    {
        // A method keeps the class in front.
        return match name.rsplit_once('.') {
            Some((class, _)) => format!("{class}.{original}"),
            None => original.to_owned(),
        };
    }
    or_anonymous(name)
}

pub(super) fn or_anonymous(name: &str) -> String {
    if name.is_empty() { "<anonymous>".to_owned() } else { name.to_owned() }
}
