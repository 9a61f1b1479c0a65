//! `debug break`: where to stop.

use clap::Args;
use engine::model::breakpoint::HitCondition;
use engine::sources;
use serde_json::{Value, json};
use tools::LocationArg;

use super::client::Client;
use super::show;
use crate::one_shot::CommandOutput;

/// What to set, list or remove. Without arguments, breakpoints are listed.
#[derive(Debug, Args)]
pub(super) struct BreakArgs {
    /// `FILE:LINE`, `FILE:LINE:COLUMN`, `FILE:FUNCTION` or FUNCTION. Without it, list breakpoints.
    #[arg(value_parser = place)]
    place: Option<LocationArg>,
    #[command(flatten)]
    rule: RuleArgs,
    /// List the breakpoints.
    #[arg(long, conflicts_with = "place")]
    list: bool,
    /// Remove the breakpoint with this ID, such as `bp-1`, or all.
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "all", conflicts_with_all = ["place", "list"])]
    clear: Option<String>,
    /// Set the exceptions to stop at [default: uncaught].
    #[arg(long, value_name = "MODE", value_parser = MODES, conflicts_with_all = ["place", "list", "clear"])]
    exceptions: Option<String>,
}

/// The exceptions that can be chosen.
const MODES: [&str; 4] = ["none", "uncaught", "userUnhandled", "all"];

/// When it stops there.
#[derive(Debug, Default, Args)]
pub(super) struct RuleArgs {
    /// Stop only if this expression is true.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true, requires = "place")]
    condition: Option<String>,
    /// Stop only at these hits: `5`, `>= 5`, `% 5`.
    #[arg(long, value_name = "COUNT", requires = "place")]
    hit_condition: Option<HitCondition>,
    /// Print this message instead of stopping; put expressions in braces.
    #[arg(long, value_name = "MESSAGE", requires = "place")]
    log: Option<String>,
}

/// Reads a place. What names neither a file with a line nor a function of one is a function of any file.
pub(super) fn place(text: &str) -> Result<LocationArg, String> {
    let Ok(place) = text.parse::<LocationArg>();
    if place.line.is_some() || place.function.is_some() {
        return Ok(place);
    }
    if text.is_empty() || place.file.exists() || text.contains(['/', '\\', ':']) {
        return Err("expected FILE:LINE, FILE:FUNCTION or FUNCTION".to_owned());
    }
    if text.bytes().all(|letter| letter.is_ascii_digit()) {
        return Err(format!("a line needs its file: give FILE:{text}"));
    }
    Ok(LocationArg { file: "".into(), function: Some(text.to_owned()), ..place })
}

/// A breakpoint as tools take it.
pub(super) fn arguments(place: LocationArg, rule: &RuleArgs) -> Value {
    let file = Some(place.file).filter(|file| !file.as_os_str().is_empty());
    json!({
        "file": file.map(|file| sources::absolute(&file)),
        "line": place.line,
        "column": place.column,
        "function": place.function,
        "condition": rule.condition,
        "hitCondition": rule.hit_condition.map(|hit| hit.to_string()),
        "logMessage": rule.log,
    })
}

impl BreakArgs {
    /// Does it.
    pub(super) async fn run(self, client: &mut Client) -> anyhow::Result<CommandOutput> {
        if let Some(place) = self.place {
            return show::breakpoint(client.call("set_breakpoint", arguments(place, &self.rule)).await?);
        }
        let (tool, arguments) = match (self.clear, self.exceptions) {
            (Some(id), _) if id == "all" => ("clear_breakpoints", json!({})),
            (Some(id), _) => ("remove_breakpoint", json!({ "breakpointId": id })),
            (_, Some(mode)) => ("set_exception_breakpoints", json!({ "mode": mode })),
            _ => return show::breakpoints(client.call("list_breakpoints", json!({})).await?),
        };
        Ok(show::message(client.call(tool, arguments).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_line_or_a_function() {
        let table = [
            ("app.py:12", json!({ "file": sources::absolute("app.py".as_ref()), "line": 12 })),
            (
                "app.py:Cart.total",
                json!({ "file": sources::absolute("app.py".as_ref()), "function": "Cart.total" }),
            ),
            ("Cart.total", json!({ "function": "Cart.total" })),
            ("main", json!({ "function": "main" })),
        ];
        for (text, mut expected) in table {
            for field in ["file", "line", "column", "function", "condition", "hitCondition", "logMessage"] {
                expected.as_object_mut().unwrap().entry(field).or_insert(Value::Null);
            }
            assert_eq!(arguments(place(text).unwrap(), &RuleArgs::default()), expected, "{text}");
        }
        for wrong in ["", "src/app.py", "app.py:", "Cargo.toml", "22"] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }
}
