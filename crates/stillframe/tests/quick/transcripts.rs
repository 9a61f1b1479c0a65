//! What each tool says.

use serde_json::json;
use test_support::{Dynamic, DynamicLanguage as Language, Fixture, dynamic};

use crate::client::{ADDS, at, scene, stop};

dynamic![
    a_stop_shows_the_source_and_the_new_output,
    steps_go_over_into_and_out,
    a_stack_is_numbered_and_its_numbers_select_a_frame,
    variables_are_one_per_line_and_many_are_counted,
    an_empty_scope_says_so,
    strings_are_shown_unescaped,
    a_long_value_reports_its_length,
    an_expression_can_change_the_program,
];

async fn a_stop_shows_the_source_and_the_new_output(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    let stopped = client.stopped_at(&program, "add").await;
    assert_eq!(stopped, format!("{}\nOutput:\nbegin", stop("breakpoint", &program, "add")));
    // Output is reported only once.
    assert_eq!(client.step("debug_continue").await, stop("breakpoint", &program, "add"));
    assert_eq!(client.step("debug_continue").await, "Program exited with code 0.\nOutput:\n3");
    client.server.finish().await;
}

async fn steps_go_over_into_and_out(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "call").await;
    let into = client.succeeds("debug_step", json!({ "action": "step_in" })).await;
    assert_eq!(into, stop("step", &program, "first"));
    assert_eq!(client.step("debug_step").await, stop("step", &program, "loop"));
    // V8 has no place between a return and the next statement of the caller.
    let back = language.pick("call", "print");
    let out = client.succeeds("debug_step", json!({ "action": "step_out" })).await;
    assert_eq!(out, stop("step", &program, back));
    let unknown = client.fails("debug_step", json!({ "action": "over" })).await;
    let takes = "must be `\"next\"` or `\"step_in\"` or `\"step_out\"`, not `\"over\"`";
    assert_eq!(unknown, format!("Error: `action` {takes}"));
    client.server.finish().await;
}

async fn a_stack_is_numbered_and_its_numbers_select_a_frame(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "add").await;
    let stack = client.step("debug_stack").await;
    let frames: Vec<&str> = stack.lines().collect();
    assert_eq!(frames[0], format!("#0 add ({})", at(&program, "add")));
    assert_eq!(frames[1], format!("#1 main ({})", at(&program, "call")));
    assert!(frames[2].starts_with("#2 <module> (app."), "{stack}");
    assert_eq!(frames.len(), 3);
    let one = client.succeeds("debug_stack", json!({ "count": 1 })).await;
    assert_eq!(one, format!("{}\n... and 2 more; raise `count` to see them", frames[0]));

    let string = language.words().string;
    let name = json!({ "expression": "name", "frame": 1 });
    assert_eq!(client.succeeds("debug_evaluate", name).await, format!("({string}) hello world"));
    let callers = client.succeeds("debug_variables", json!({ "frame": 1 })).await;
    assert!(callers.starts_with(&format!("  name: {string} = 'hello world'")), "{callers}");
    let beyond = client.fails("debug_variables", json!({ "frame": 9 })).await;
    assert_eq!(beyond, "Error: `frame` is past the end of the stack: #9");
    client.server.finish().await;
}

async fn variables_are_one_per_line_and_many_are_counted(language: Language) {
    let (folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "add").await;
    let (list, number) = (language.words().list, language.words().number);
    let items = language.shown_list(&["1", "2"]);
    let expected = format!("  items: {list} = {items}\n  total: {number} = 0\n  item: {number} = 1");
    assert_eq!(client.step("debug_variables").await, expected);

    let names: Vec<String> = (0..120).map(|number| format!("name_{number:03}")).collect();
    let lines = |start: &str, end: &str| {
        let line = |name: &String| format!("{start}{name} = 0{end}");
        names.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    let text = match language {
        Language::Python => format!("def f():\n{}\n    return 1  # @end\n\n\nf()\n", lines("    ", "")),
        Language::Node => {
            format!("function f() {{\n{}\n  return 1; // @end\n}}\nf();\n", lines("  const ", ";"))
        }
    };
    let program = Fixture::write(folder.path(), &language.file("many"), &text);
    client.stopped_at(&program, "end").await;
    let shown = client.step("debug_variables").await;
    assert_eq!((shown.lines().count(), shown.lines().last()), (101, Some("  ... and 20 more")), "{shown}");
    client.server.finish().await;
}

async fn an_empty_scope_says_so(language: Language) {
    const EMPTY: Dynamic = Dynamic {
        python: "def empty():\n    return 1  # @nothing\n\n\nempty()\n",
        node: "function empty() {\n  return 1; // @nothing\n}\nempty();\n",
    };
    let (_folder, program, client) = scene(language, EMPTY).await;
    client.stopped_at(&program, "nothing").await;
    let answer = client.step("debug_variables").await;
    assert!(answer.starts_with("The scope ") && answer.ends_with(" has no variables."), "{answer}");
    client.server.finish().await;
}

async fn strings_are_shown_unescaped(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "add").await;
    let string = language.words().string;
    let table = [
        (r#""it's""#, "it's"),
        // Control characters are shown.
        (r"'two\nlines \\ \x1b'", "two\nlines \\ \\x1b"),
        ("'\u{e9}\u{1f600}'", "\u{e9}\u{1f600}"),
        ("''", ""),
    ];
    for (expression, told) in table {
        let value = client.succeeds("debug_evaluate", json!({ "expression": expression })).await;
        assert_eq!(value, format!("({string}) {told}"), "{expression}");
    }
    client.server.finish().await;
}

async fn a_long_value_reports_its_length(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "add").await;
    let expression = language.pick("'ab' * 5000", "'ab'.repeat(5000)");
    let string = language.words().string;
    let value = client.succeeds("debug_evaluate", json!({ "expression": expression, "max_length": 4 })).await;
    let note = "note: only the beginning of 10000 characters is shown; raise `max_length` for more";
    assert_eq!(value, format!("({string}) abab...\n{note}"));
    let value =
        client.succeeds("debug_evaluate", json!({ "expression": expression, "max_length": 10_000 })).await;
    assert_eq!(value, format!("({string}) {}", "ab".repeat(5000)));
    client.server.finish().await;
}

async fn an_expression_can_change_the_program(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "return").await;
    client.succeeds("debug_evaluate", json!({ "expression": "total = 40" })).await;
    assert_eq!(client.step("debug_continue").await, "Program exited with code 0.\nOutput:\n40");
    client.server.finish().await;
}
