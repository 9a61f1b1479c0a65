//! What is promised of every tool, checked on the table.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::*;
use crate::{Effects, Next, ToolError, Words, confirmation, error};

/// The tools of the reference that `standard` comes from, in its order.
const REFERENCE: [&str; 16] = [
    "create_debug_session",
    "list_debug_sessions",
    "close_debug_session",
    "set_breakpoint",
    "start_debugging",
    "step_over",
    "step_into",
    "step_out",
    "continue_execution",
    "pause_execution",
    "get_stack_trace",
    "get_scopes",
    "get_variables",
    "get_local_variables",
    "evaluate_expression",
    "get_source_context",
];

/// Our own beside them.
const OWN: [&str; 19] = [
    "step_back",
    "reverse_continue",
    "diagnose_hang",
    "list_supported_languages",
    "list_breakpoints",
    "remove_breakpoint",
    "clear_breakpoints",
    "set_exception_breakpoints",
    "list_threads",
    "get_output",
    "restart_debugging",
    "attach_to_process",
    "detach_from_process",
    "set_variable",
    "run_until",
    "trace_values",
    "debug_test",
    "expose_session",
    "unexpose_session",
];

/// The tools of `quick`, which are those of *debugger-mcp*.
const QUICK: [&str; 9] = [
    "debug_launch",
    "debug_breakpoint",
    "debug_continue",
    "debug_step",
    "debug_evaluate",
    "debug_stack",
    "debug_variables",
    "debug_probe",
    "debug_stop",
];

/// The tools of `inspector` that are those of the system that it comes from.
const INSPECTOR: [&str; 30] = [
    "debugger_start",
    "debugger_stop_session",
    "debugger_set_breakpoint",
    "debugger_remove_breakpoint",
    "debugger_toggle_breakpoint",
    "debugger_list_breakpoints",
    "debugger_set_logpoint",
    "debugger_set_exception_breakpoint",
    "debugger_set_function_breakpoint",
    "debugger_set_hit_count_condition",
    "debugger_continue",
    "debugger_step_over",
    "debugger_step_into",
    "debugger_step_out",
    "debugger_pause",
    "debugger_inspect",
    "debugger_get_local_variables",
    "debugger_get_global_variables",
    "debugger_inspect_object",
    "debugger_add_watch",
    "debugger_remove_watch",
    "debugger_get_watches",
    "debugger_get_stack",
    "debugger_switch_stack_frame",
    "debugger_detect_hang",
    "debugger_run_test",
    "debugger_start_cpu_profile",
    "debugger_stop_cpu_profile",
    "debugger_take_heap_snapshot",
    "debugger_get_performance_metrics",
];

/// The tools of `recording`.
const RECORDING: [&str; 11] = [
    "record_run",
    "find_first",
    "find_origin",
    "find_writes",
    "state_at",
    "compare_moments",
    "count_hits",
    "compare_runs",
    "list_recordings",
    "export_recording",
    "remove_recordings",
];

/// Those that only look.
const READ_ONLY: [&str; 25] = [
    "find_first",
    "find_origin",
    "find_writes",
    "state_at",
    "compare_moments",
    "count_hits",
    "compare_runs",
    "list_recordings",
    "list_debug_sessions",
    "list_supported_languages",
    "list_breakpoints",
    "get_stack_trace",
    "get_scopes",
    "get_variables",
    "get_local_variables",
    "get_source_context",
    "list_threads",
    "get_output",
    "debug_stack",
    "debug_variables",
    "debugger_list_breakpoints",
    "debugger_get_local_variables",
    "debugger_get_global_variables",
    "debugger_inspect_object",
    "debugger_get_stack",
];

/// Those that let code of the program run, which may do anything, each time.
const RUNNING: [&str; 31] = [
    "record_run",
    "debugger_run_test",
    "diagnose_hang",
    "debugger_detect_hang",
    "start_debugging",
    "restart_debugging",
    "run_until",
    "trace_values",
    "debug_test",
    "debug-script",
    "continue_execution",
    "step_over",
    "step_into",
    "step_out",
    "step_back",
    "reverse_continue",
    "evaluate_expression",
    "set_variable",
    "debug_probe",
    "debug_launch",
    "debug_continue",
    "debug_step",
    "debug_evaluate",
    "debugger_start",
    "debugger_continue",
    "debugger_step_over",
    "debugger_step_into",
    "debugger_step_out",
    "debugger_inspect",
    "debugger_add_watch",
    "debugger_get_watches",
];

/// Those that may undo or end something, and do no more the second time.
const ENDING: [&str; 11] = [
    "remove_recordings",
    "close_debug_session",
    "remove_breakpoint",
    "clear_breakpoints",
    "detach_from_process",
    "debug_breakpoint",
    "debug_stop",
    "debugger_stop_session",
    "debugger_remove_breakpoint",
    "debugger_remove_watch",
    "debugger_stop_cpu_profile",
];

/// Those that add something each time.
const ADDING: [&str; 8] = [
    "create_debug_session",
    "attach_to_process",
    "set_breakpoint",
    "debugger_set_breakpoint",
    "debugger_set_logpoint",
    "debugger_set_function_breakpoint",
    "debugger_toggle_breakpoint",
    "debugger_start_cpu_profile",
];

fn entries() -> impl Iterator<Item = &'static Entry> {
    TOOLSETS.iter().flat_map(|toolset| toolset.tools)
}

fn names_of<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeSet<&'a str> {
    entries.map(|entry| entry.name).collect()
}

#[test]
fn standard_has_the_tools_of_the_reference_and_our_own() {
    let expected: BTreeSet<&str> = REFERENCE.into_iter().chain(OWN).collect();
    assert_eq!(names_of(standard::TOOLSET.tools.iter()), expected);
}

#[test]
fn script_is_one_tool() {
    assert_eq!(names_of(script::TOOLSET.tools.iter()), BTreeSet::from(["debug-script"]));
}

#[test]
fn quick_has_its_nine_tools_and_plain_text() {
    assert_eq!(names_of(quick::TOOLSET.tools.iter()), QUICK.into_iter().collect());
    for entry in quick::TOOLSET.tools {
        assert_eq!(((entry.output)(), (entry.failure)()), (None, None), "{}", entry.name);
    }
}

#[test]
fn recording_has_its_tools_and_plain_text() {
    assert_eq!(names_of(recording::TOOLSET.tools.iter()), RECORDING.into_iter().collect());
    for entry in recording::TOOLSET.tools {
        assert_eq!(((entry.output)(), (entry.failure)()), (None, None), "{}", entry.name);
    }
}

#[test]
fn inspector_has_its_tools_and_a_status_in_every_answer() {
    assert_eq!(names_of(inspector::TOOLSET.tools.iter()), INSPECTOR.into_iter().collect());
    for entry in inspector::TOOLSET.tools {
        for schema in [(entry.output)(), (entry.failure)()] {
            let required = schema.and_then(|schema| schema.get("required").cloned()).unwrap_or_default();
            let required = required.as_array().cloned().unwrap_or_default();
            assert!(required.contains(&json!("status")), "{}: {required:?}", entry.name);
        }
    }
}

#[test]
fn tool_names_are_unique() {
    let mut observed = BTreeSet::new();
    for entry in entries() {
        assert!(observed.insert(entry.name), "{} is there twice", entry.name);
    }
    let mut prompts = BTreeSet::new();
    for prompt in TOOLSETS.iter().flat_map(|toolset| toolset.prompts) {
        assert!(prompts.insert(prompt.name), "the prompt {} is there twice", prompt.name);
    }
}

#[test]
fn every_tool_and_toolset_has_a_description() {
    for entry in entries() {
        assert!(!entry.title.is_empty() && !entry.description.is_empty(), "{}", entry.name);
        assert!(
            entry.name.bytes().all(|byte| byte.is_ascii_lowercase() || b"_-".contains(&byte)),
            "{}",
            entry.name
        );
    }
    for toolset in TOOLSETS {
        assert!(!toolset.about.is_empty(), "{}", toolset.name);
        assert!(!toolset.instructions.is_empty(), "{}", toolset.name);
    }
}

/// Every object inside, with where it is.
fn visit(schema: &Value, path: &str, see: &mut impl FnMut(&Map<String, Value>, &str)) {
    match schema {
        Value::Object(object) => {
            see(object, path);
            for (name, inner) in object {
                visit(inner, &format!("{path}/{name}"), see);
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                visit(inner, &format!("{path}/{at}"), see);
            }
        }
        _ => {}
    }
}

#[test]
fn every_input_is_a_closed_object_of_typed_arguments() {
    for entry in entries() {
        let schema = (entry.input)();
        assert_eq!(schema.get("type"), Some(&json!("object")), "{}", entry.name);
        assert_eq!(schema.get("additionalProperties"), Some(&json!(false)), "{}", entry.name);
        visit(&Value::Object(schema), entry.name, &mut |object, path| {
            let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
            assert_eq!(object.get("additionalProperties"), Some(&json!(false)), "{path}");
            for (name, property) in properties {
                assert!(property.get("type").is_some_and(Value::is_string), "{path}/{name} has no type");
            }
            let required = object.get("required").and_then(Value::as_array).into_iter().flatten();
            for name in required.filter_map(Value::as_str) {
                assert!(properties.contains_key(name), "{path} needs {name}, which it does not have");
            }
        });
    }
}

#[test]
fn every_schema_has_an_object_at_its_root_and_null_nowhere() {
    for entry in entries() {
        for (kind, schema) in
            [("input", Some((entry.input)())), ("output", (entry.output)()), ("failure", (entry.failure)())]
        {
            let Some(schema) = schema else { continue };
            assert_eq!(schema.get("type"), Some(&json!("object")), "{kind} of {}", entry.name);
            let text = Value::Object(schema).to_string();
            // Some models' dialects of JSON Schema refuse it, and with it the whole list of tools.
            assert!(!text.contains("null"), "{kind} of {}: {text}", entry.name);
        }
    }
}

#[test]
fn tool_list_is_smaller_than_the_leading_servers() {
    let shown = |entry: &Entry| json!({ "name": entry.name, "description": entry.description, "inputSchema": (entry.input)() });
    let bytes = |toolset: &Toolset| {
        serde_json::to_vec(&toolset.tools.iter().map(shown).collect::<Vec<_>>()).unwrap().len()
    };
    let standard = bytes(&standard::TOOLSET);
    assert!(standard < 20_579, "{standard} bytes");
}

#[test]
fn an_error_does_not_repeat_itself() {
    let body = |error: ToolError| serde_json::to_value(error.body()).unwrap();
    let plain = body(ToolError::argument("line", "must not be negative"));
    assert_eq!((&plain["error"], plain.get("message")), (&json!("`line` must not be negative"), None));
    let more = body(ToolError::no_sessions());
    assert_eq!(more["message"], "no debug session is open; call create_debug_session first");
    assert!(more.to_string().len() <= 400, "{more}");
}

#[test]
fn annotations_match_behaviour() {
    for entry in entries() {
        let expected = match entry.name {
            name if READ_ONLY.contains(&name) => Effects::NONE,
            name if RUNNING.contains(&name) => Effects::RUNS,
            name if ENDING.contains(&name) => Effects::ENDS,
            name if ADDING.contains(&name) => Effects::ADDS,
            _ => Effects::SETS,
        };
        assert_eq!(entry.effects, expected, "{}", entry.name);
    }
    let listed = READ_ONLY.into_iter().chain(RUNNING).chain(ENDING).chain(ADDING).collect::<BTreeSet<_>>();
    assert!(listed.is_subset(&names_of(entries())), "{listed:?}");
}

/// The tools that may ask the user first, under `--confirm`. A new parameter of these names is about what a call changes.
const CONFIRMABLE: [&str; 20] = [
    "run_until",
    "trace_values",
    "create_debug_session",
    "set_breakpoint",
    "set_exception_breakpoints",
    "attach_to_process",
    "evaluate_expression",
    "set_variable",
    "expose_session",
    "debugger_set_breakpoint",
    "debugger_set_logpoint",
    "debugger_set_function_breakpoint",
    "debugger_set_hit_count_condition",
    "debugger_inspect",
    "debugger_add_watch",
    "debug_probe",
    "debug_breakpoint",
    "debug_evaluate",
    "debug-script",
    "remove_recordings",
];

#[test]
fn tools_that_change_something_can_ask_first() {
    let can_ask = |entry: &&Entry| {
        let schema = (entry.input)();
        let properties = schema.get("properties").and_then(Value::as_object);
        let names = properties.into_iter().flat_map(|properties| properties.keys());
        let is_listed = names.into_iter().any(|name| confirmation::is_confirmable(name));
        !entry.effects.read_only && (is_listed || entry.name == confirmation::REMOVE)
    };
    assert_eq!(names_of(entries().filter(can_ask)), CONFIRMABLE.into_iter().collect());
}

/// Whatever else a call has, and however its arguments are written.
#[test]
fn no_argument_keeps_a_call_from_asking() {
    let table = [
        ("attach_to_process", json!({ "processId": "7", "verifyTimeout": 1, "budget": 500 }), "process 7"),
        ("attach_to_process", json!({ "target": "ssh://x", "language": "python", "port": 1 }), ":1"),
        ("run_until", json!({ "target": "ssh://x", "port": 1, "timeout": "never" }), ":1"),
        ("run_until", json!({ "expressions": "[\"f()\"]" }), "`f()`"),
        ("set_variable", json!({ "name": "x", "value": 3 }), "`x` to `3`"),
        ("evaluate_expression", json!({ "expression": "f()", "sideEffects": "true" }), "`f()`"),
        ("evaluate_expression", json!({ "expression": "f()", "sideEffects": null }), "`f()`"),
        ("detach_from_process", json!({ "terminateProcess": "true" }), "end the attached program"),
    ];
    for (tool, arguments, expected) in table {
        let entry = entries().find(|entry| entry.name == tool).unwrap();
        let question = entry.question(arguments.as_object().unwrap()).unwrap_or_default();
        assert!(question.contains(expected), "{tool} {arguments}: {question}");
    }
}

/// Words that look like the name of a tool.
fn tool_names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_lowercase() && !"_-".contains(letter));
    let is_name = |word: &&str| word.contains('_') || word.starts_with("debug-");
    words.filter(|word| is_name(word) && word.len() > 1).collect()
}

#[test]
fn instructions_and_prompts_name_tools_that_exist() {
    for toolset in TOOLSETS {
        let known = names_of(toolset.tools.iter());
        let prompts = toolset.prompts.iter().map(|prompt| prompt.text);
        for text in prompts.chain([toolset.instructions]) {
            let named = tool_names(text);
            assert!(!named.is_empty(), "{text}");
            let unknown: Vec<&&str> = named.difference(&known).collect();
            assert!(unknown.is_empty(), "{unknown:?} in: {text}");
        }
    }
}

#[test]
fn next_steps_name_existing_tools() {
    let table: [(&Toolset, Words); 3] = [
        (&standard::TOOLSET, error::standard),
        (&inspector::TOOLSET, error::inspector),
        (&quick::TOOLSET, error::quick),
    ];
    for (toolset, words) in table {
        let known = names_of(toolset.tools.iter());
        for next in Next::ALL {
            let unknown: Vec<&str> = tool_names(words(next)).difference(&known).copied().collect();
            assert!(unknown.is_empty(), "{next:?} in {}: {unknown:?}", toolset.name);
        }
        assert!(tool_names(words(Next::Start)).len() == 1, "{}", toolset.name);
    }
}

#[test]
fn toolsets_are_chosen_by_name() {
    let names = |chosen: Vec<&'static Toolset>| chosen.iter().map(|toolset| toolset.name).collect::<Vec<_>>();
    let table = [("standard", vec!["standard"]), ("standard, standard", vec!["standard"])];
    for (list, expected) in table {
        assert_eq!(choose(list).map(names), Ok(expected), "{list}");
    }
    assert_eq!(choose("all").map(|chosen| chosen.len()), Ok(TOOLSETS.len()));
    let unknown = choose("standrad").unwrap_err();
    assert!(unknown.contains("`standrad`") && unknown.contains("standard"), "{unknown}");
    assert!(choose("").is_err());
    assert_eq!(choose("nodejs-debug-mcp").map(names), Ok(vec!["nodejs-debug-mcp"]));
    let both = choose("script,nodejs-debug-mcp").unwrap_err();
    assert!(both.contains("`debug-script`"), "{both}");
}
