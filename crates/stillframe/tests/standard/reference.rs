//! The sixteen tools of the tool reference: every documented field, type and wording.

pub(crate) mod attach;
mod execution;
mod inspection;
mod sessions;

use serde_json::{Value, json};
use test_support::{Language, each};

use crate::debugging::Debugging;

each![the_swap_vars_session,];

/// Fails unless an object has all of these fields, each of the type of the sample.
fn has_fields(object: &Value, sample: &Value) {
    let kind = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    for (name, wanted) in sample.as_object().expect("a sample is an object") {
        let found = object.get(name).unwrap_or_else(|| panic!("no `{name}` in {object}"));
        assert_eq!(kind(found), kind(wanted), "`{name}` in {object}");
    }
}

async fn the_swap_vars_session(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    let breakpoint = session.break_at(&program, "first_assignment").await;
    assert_eq!(breakpoint["verified"], false, "nothing runs yet");

    let stopped = session.start(&program).await;
    assert_eq!(stopped["state"], "paused");
    assert_eq!(stopped.at("/location/line"), program.line("first_assignment"));
    assert_eq!((stopped.variable("a"), stopped.variable("b")), ("10", "20"));

    let stepped = session.step("step_over").await;
    assert_eq!((stopped.variable("a"), stepped.variable("a")), ("10", "20"), "a is lost before b has it");
    let stepped = session.step("step_over").await;
    assert_eq!((stepped.variable("a"), stepped.variable("b")), ("20", "20"), "the bug");

    let ended = session.run_to_the_end().await;
    assert_eq!(ended["output"], "x=20 y=20\n");
    session.ok("close_debug_session", json!({})).await;
    session.finish().await;
}
