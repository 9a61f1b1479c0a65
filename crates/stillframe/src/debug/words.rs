//! Hints of answers, translated to the command line.

use serde_json::Value;

/// The tools that answers name, and the commands in their places.
const COMMANDS: &[(&str, &str)] = &[
    ("list_debug_sessions", "list"),
    ("create_debug_session", "launch"),
    ("start_debugging", "launch"),
    ("restart_debugging", "restart"),
    ("close_debug_session", "stop"),
    ("continue_execution", "continue"),
    ("pause_execution", "pause"),
    ("list_breakpoints", "break --list"),
    ("get_stack_trace", "stack"),
    ("get_scopes", "locals"),
    ("get_variables", "locals"),
    ("get_local_variables", "locals"),
    ("get_output", "output"),
    ("evaluate_expression", "eval"),
];

/// A sentence that may name tools.
pub(super) fn for_shell(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split_inclusive(|letter| !is_part(letter)).map(|word| {
        let name = word.trim_end_matches(|letter| !is_part(letter));
        let command = COMMANDS.iter().find(|(tool, _)| *tool == name);
        let rest = word.get(name.len()..).unwrap_or_default();
        command.map_or_else(|| word.to_owned(), |(_, command)| format!("`stillframe debug {command}`{rest}"))
    });
    words.collect::<String>().replace("call `stillframe", "run `stillframe")
}

/// Why a call has failed.
pub(super) fn failure(data: &Value) -> String {
    let text = |field: &str| data.get(field)?.as_str().filter(|text| !text.is_empty());
    for_shell(text("message").or_else(|| text("error")).or(data.as_str()).unwrap_or("the call failed"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tools_map_to_commands() {
        let said =
            "The program is running; call continue_execution to wait for it, or pause_execution to stop it";
        let expected = "The program is running; run `stillframe debug continue` to wait for it, or \
                        `stillframe debug pause` to stop it";
        assert_eq!(for_shell(said), expected);
        let again = "run `stillframe debug restart` to start it again";
        assert_eq!(for_shell("call restart_debugging to start it again"), again);
        assert_eq!(
            failure(&json!({ "error": "no", "message": "no; see get_output" })),
            "no; see `stillframe debug output`"
        );
        assert_eq!(failure(&json!({ "error": "no", "message": "" })), "no");
        assert_eq!(failure(&json!("no")), "no");
    }
}
