//! How this vocabulary answers: one object with `status`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::answer::as_json;
use crate::{Answer, Reply, ToolError, error, schema};

/// The data of a call that succeeded, answered with `status`.
#[derive(Debug)]
pub(super) struct StatusAnswer<T>(pub(super) T);

/// A call that went well.
#[derive(Serialize, JsonSchema)]
struct Success<T> {
    /// Always `success`.
    status: &'static str,
    #[serde(flatten)]
    data: T,
}

/// A call that failed.
#[derive(Serialize, JsonSchema)]
struct Failure {
    /// Always `error`.
    status: &'static str,
    /// What kind of failure it is. It does not change between versions.
    code: String,
    /// What was wrong, and what to do next.
    message: String,
    /// Data about it; `cause` names the failure more exactly than `code`.
    context: Map<String, Value>,
}

impl<T: Serialize + JsonSchema> Answer for StatusAnswer<T> {
    fn reply(self) -> Reply {
        as_json(&Success { status: "success", data: self.0 }, false)
    }

    fn failure(failed: &ToolError, tool: &str) -> Reply {
        let mut context = failed.context.clone();
        context.insert("cause".to_owned(), Value::from(failed.code));
        let message = failed.with_hint(error::inspector);
        as_json(&Failure { status: "error", code: code(failed.code, tool), message, context }, true)
    }

    fn schema() -> Option<Map<String, Value>> {
        Some(schema::output::<Success<T>>())
    }

    fn failure_schema() -> Option<Map<String, Value>> {
        Some(schema::output::<Failure>())
    }
}

/// The code of a failure: of its own where the reader can do something about the very thing that was named, else
/// that of the tool.
fn code(cause: &str, tool: &str) -> String {
    let own = match cause {
        "invalid_arguments" => "INVALID_ARGUMENTS",
        "session_not_found" | "session_closed" => "SESSION_NOT_FOUND",
        "session_ambiguous" => "SESSION_AMBIGUOUS",
        "limit_reached" => "LIMIT_REACHED",
        "not_paused" => "NOT_PAUSED",
        "breakpoint_not_found" => "BREAKPOINT_NOT_FOUND",
        "watch_not_found" => "WATCH_NOT_FOUND",
        "object_not_found" | "object_released" => "OBJECT_NOT_FOUND",
        _ => return of_tool(tool),
    };
    own.to_owned()
}

/// `STEP_OVER_FAILED` of `debugger_step_over`, as far as the vocabulary has no other name for it.
fn of_tool(tool: &str) -> String {
    let failed = match tool {
        "debugger_start" => "SESSION_START_FAILED",
        "debugger_set_breakpoint" => "BREAKPOINT_SET_FAILED",
        "debugger_set_logpoint" => "LOGPOINT_SET_FAILED",
        "debugger_set_exception_breakpoint" => "EXCEPTION_BREAKPOINT_SET_FAILED",
        "debugger_set_function_breakpoint" => "FUNCTION_BREAKPOINT_SET_FAILED",
        "debugger_set_hit_count_condition" => "HIT_COUNT_CONDITION_SET_FAILED",
        "debugger_start_cpu_profile" => "CPU_PROFILE_START_FAILED",
        "debugger_stop_cpu_profile" => "CPU_PROFILE_STOP_FAILED",
        "debugger_take_heap_snapshot" => "HEAP_SNAPSHOT_FAILED",
        "debugger_get_performance_metrics" => "PERFORMANCE_METRICS_FAILED",
        "debugger_switch_stack_frame" => "SWITCH_FRAME_FAILED",
        "debugger_detect_hang" => "HANG_DETECTION_FAILED",
        _ => {
            let name = tool.strip_prefix("debugger_").unwrap_or(tool);
            return format!("{}_FAILED", name.to_uppercase());
        }
    };
    failed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_codes_match_the_reference_server() {
        let table = [
            ("session_not_found", "debugger_continue", "SESSION_NOT_FOUND"),
            ("start_failed", "debugger_start", "SESSION_START_FAILED"),
            ("file_not_found", "debugger_set_breakpoint", "BREAKPOINT_SET_FAILED"),
            ("unsupported", "debugger_take_heap_snapshot", "HEAP_SNAPSHOT_FAILED"),
            ("refused", "debugger_step_over", "STEP_OVER_FAILED"),
            ("evaluation_failed", "debugger_inspect", "INSPECT_FAILED"),
            ("limit_reached", "debugger_inspect", "LIMIT_REACHED"),
            ("not_paused", "debugger_inspect", "NOT_PAUSED"),
            ("object_released", "debugger_inspect_object", "OBJECT_NOT_FOUND"),
            ("not_started", "debugger_stop_session", "STOP_SESSION_FAILED"),
            ("frame_not_found", "debugger_switch_stack_frame", "SWITCH_FRAME_FAILED"),
        ];
        for (cause, tool, expected) in table {
            assert_eq!(code(cause, tool), expected, "{cause} of {tool}");
        }
    }
}
