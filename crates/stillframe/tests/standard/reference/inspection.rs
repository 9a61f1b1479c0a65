//! `get_stack_trace`, `get_scopes`, `get_variables`, `get_local_variables` and `evaluate_expression`.

use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage, Language, PerLanguage, dynamic, each};

use super::has_fields;
use crate::debugging::{Debugging, Report};

each![
    a_stack_lists_its_frames_from_the_innermost,
    scopes_and_variables_are_found_from_the_stack,
    local_variables_come_in_one_call,
    an_empty_scope_is_reported_as_empty,
    locals_of_a_running_session_are_refused_in_the_documented_words,
    expressions_are_evaluated_as_in_the_examples,
    an_expression_can_change_the_program,
    an_undefined_name_is_an_error_in_the_languages_words,
    evaluation_needs_a_paused_session,
];

dynamic![
    // C has neither code nor variables of a module, nor variables that are not the user's.
    a_module_without_variables_is_empty_too,
    special_variables_are_included_on_request,
    module_metadata_is_omitted_by_default,
];

fn names(answer: &Answer) -> Vec<&str> {
    let variables = answer["variables"].as_array().expect("a list of variables");
    variables.iter().map(|variable| variable["name"].as_str().expect("a name")).collect()
}

fn number(language: Language, name: &str, value: &str) -> Value {
    let kind = language.words().number;
    json!({ "name": name, "value": value, "type": kind, "variablesReference": 0, "expandable": false })
}

async fn a_stack_lists_its_frames_from_the_innermost(language: Language) {
    let (program, session) = Debugging::paused(language, "swap_vars", "first_assignment").await;
    let stack = session.ok("get_stack_trace", json!({})).await;
    let functions = language.stack(&[language.words().swap, "main"]);
    assert_eq!(stack["count"], functions.len());
    let frames = stack["stackFrames"].as_array().unwrap();
    let names: Vec<_> = frames.iter().map(|frame| frame["name"].as_str().unwrap()).collect();
    assert_eq!(names, functions);
    let lines: Vec<_> = frames.iter().take(2).map(|frame| frame["line"].clone()).collect();
    assert_eq!(json!(lines), json!([program.line("first_assignment"), program.line("call")]));
    for frame in frames {
        has_fields(frame, &json!({ "id": 0, "name": "", "file": "", "line": 0, "column": 0 }));
        assert_eq!(frame["file"], program.path());
        // Python knows no columns; the first one is counted as 1.
        let column = frame["column"].as_u64().unwrap();
        assert!(if language == Language::Python { column == 1 } else { column >= 1 }, "{frame}");
    }
    session.finish().await;
}

async fn scopes_and_variables_are_found_from_the_stack(language: Language) {
    let (program, session) = Debugging::paused(language, "swap_vars", "first_assignment").await;
    let stack = session.ok("get_stack_trace", json!({})).await;
    let scopes = session.ok("get_scopes", json!({ "frameId": stack.at("/stackFrames/0/id") })).await;
    let locals = scopes.at("/scopes/0");
    let reference = &locals["variablesReference"];
    let documented = json!({
        "name": language.words().locals,
        "variablesReference": reference,
        "expensive": false,
        "presentationHint": "locals",
    });
    for (field, value) in documented.as_object().unwrap() {
        assert_eq!(&locals[field], value, "{field}");
    }
    let path = &locals["source"]["path"];
    assert!(path.is_null() || path == program.path(), "{locals}");
    let all = scopes["scopes"].as_array().unwrap();
    let globals = all.iter().rfind(|scope| scope["name"] == language.words().globals).unwrap();
    assert_eq!(globals["source"], json!({}));
    // Node has one for each block, and below those of C there are the registers.
    let last =
        PerLanguage { name: "inspection: last scope", python: "Globals", node: "Global", c: "Registers" }
            .of(language);
    assert_eq!(all.last().unwrap()["name"], last);
    let count = PerLanguage { name: "inspection: scopes", python: 2, node: all.len(), c: 3 }.of(language);
    assert_eq!(all.len(), count, "{}", scopes.text);

    let variables = session.ok("get_variables", json!({ "scope": reference })).await;
    assert_eq!(variables["variables"], json!([number(language, "a", "10"), number(language, "b", "20")]));
    assert_eq!((&variables["count"], &variables["variablesReference"]), (&json!(2), reference));
    let same = session.ok("get_variables", json!({ "variablesReference": reference })).await;
    assert_eq!(same["variables"], variables["variables"]);
    let arguments = json!({ "variablesReference": reference, "name": "a", "value": "11" });
    assert_eq!(session.ok("set_variable", arguments).await["value"], "11");
    let failed = session.fails("invalid_arguments", "get_variables", json!({})).await;
    assert_eq!(failed.at("/context/argument"), "variablesReference");

    let wrong = stack.at("/stackFrames/0/id");
    session.fails("reference_not_found", "get_variables", json!({ "scope": wrong })).await;
    session.finish().await;
}

async fn local_variables_come_in_one_call(language: Language) {
    let (program, session) = Debugging::paused(language, "swap_vars", "call").await;
    let locals = session.ok("get_local_variables", json!({ "includeSpecial": false })).await;
    assert_eq!(locals["variables"], json!([number(language, "x", "10"), number(language, "y", "20")]));
    assert_eq!((&locals["count"], &locals["scopeName"]), (&json!(2), &json!("Locals")));
    assert_eq!(
        locals["frame"],
        json!({ "name": "main", "file": program.path(), "line": program.line("call") })
    );
    assert_eq!(locals["message"], Value::Null, "there is nothing to add");
    session.finish().await;
}

async fn an_empty_scope_is_reported_as_empty(language: Language) {
    let (_, session) = Debugging::paused(language, "empty_scope", "inside").await;
    let locals = session.ok("get_local_variables", json!({})).await;
    assert_eq!((&locals["variables"], &locals["count"]), (&json!([]), &json!(0)));
    assert_eq!(locals.at("/frame/name"), "nothing");
    assert_eq!(
        (&locals["scopeName"], &locals["message"]),
        (&json!("Locals"), &json!("The Locals scope is empty."))
    );
    session.finish().await;
}

async fn a_module_without_variables_is_empty_too(language: DynamicLanguage) {
    let (program, session) = Debugging::with(language, "empty_scope").await;
    let arguments = json!({ "scriptPath": program.path(), "dapLaunchArgs": { "stopOnEntry": true } });
    session.ok("start_debugging", arguments).await;
    let locals = session.ok("get_local_variables", json!({})).await;
    assert_eq!(
        locals["frame"],
        json!({ "name": "<module>", "file": program.path(), "line": program.line("first") })
    );
    assert_eq!((&locals["variables"], &locals["count"]), (&json!([]), &json!(0)));
    assert_eq!(locals["message"], "The Locals scope is empty.");
    session.finish().await;
}

async fn special_variables_are_included_on_request(language: DynamicLanguage) {
    let (_, session) = Debugging::paused(language, "empty_scope", "special").await;
    let usual = session.ok("get_local_variables", json!({})).await;
    assert_eq!(names(&usual), ["plain"]);
    let all = session.ok("get_local_variables", json!({ "includeSpecial": true })).await;
    assert_eq!(names(&all), language.pick(["__hidden__", "plain"], ["plain", "this"]));
    session.finish().await;
}

async fn module_metadata_is_omitted_by_default(language: DynamicLanguage) {
    let (_, session) = Debugging::paused(language, "swap_vars", "first_assignment").await;
    let stack = session.ok("get_stack_trace", json!({})).await;
    let module = stack.at("/stackFrames/2/id");
    let usual = session.ok("get_local_variables", json!({ "frameId": module })).await;
    assert_eq!(names(&usual), Vec::<&str>::new());
    let all = session.ok("get_local_variables", json!({ "frameId": module, "includeSpecial": true })).await;
    let special = language.pick(["__builtins__", "__name__"], ["__filename", "exports"]);
    for name in ["main", language.words().swap].into_iter().chain(special) {
        assert!(names(&all).contains(&name), "{name}: {:?}", names(&all));
    }
    for name in names(&all) {
        let is_ours = ["pydev", "stillframe"].iter().any(|ours| name.contains(ours));
        assert!(!is_ours, "a variable of the debugger: {name}");
    }
    session.finish().await;
}

async fn locals_of_a_running_session_are_refused_in_the_documented_words(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    let refused = async |state: &str| {
        let failed = session.fails("not_paused", "get_local_variables", json!({})).await;
        assert_eq!(failed["error"], "Session is not paused", "{state}");
        let message = "Cannot get local variables. The session must be paused at a breakpoint.";
        assert_eq!(failed["message"], message, "{state}");
        assert_eq!(failed.at("/context/state"), state);
    };
    refused("created").await;
    assert_eq!(session.start(&program).await.outcome(), "ended");
    refused("ended").await;
    session.finish().await;
}

async fn expressions_are_evaluated_as_in_the_examples(language: Language) {
    let (_, session) = Debugging::paused(language, "swap_vars", "call").await;
    let words = language.words();
    let evens = language.shown_list(&["0", "2", "4", "6", "8"]);
    let compound = PerLanguage {
        name: "inspection: compound",
        python: ("[i*2 for i in range(5)]", evens.as_str(), words.list),
        node: ("[0, 1, 2, 3, 4].map((i) => i * 2)", evens.as_str(), words.list),
        c: ("swapped", "{a = 0, b = 0}", "pair"),
    }
    .of(language);
    let table = [
        ("x", "10", words.number, false),
        ("x + y", "30", words.number, false),
        (compound.0, compound.1, compound.2, true),
    ];
    for (expression, result, kind, expandable) in table {
        let value = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        let shown = language.plain(value.text_of("result"));
        assert_eq!((shown, &value["type"]), (result, &json!(kind)), "{expression}");
        assert_eq!(value["variablesReference"].as_u64().unwrap() > 0, expandable, "{expression}");
        assert_eq!(value["presentationHint"], json!({}), "{expression}");
    }
    let (both, children) = PerLanguage {
        name: "inspection: both",
        python: ("[x, y]", [("0", "10"), ("1", "20")]),
        node: ("[x, y]", [("0", "10"), ("1", "20")]),
        c: ("swapped", [("a", "0"), ("b", "0")]),
    }
    .of(language);
    let list = session.ok("evaluate_expression", json!({ "expression": both })).await;
    let items = session.ok("get_variables", json!({ "scope": list["variablesReference"] })).await;
    assert_eq!(items["variables"], json!(children.map(|(name, value)| number(language, name, value))));
    session.finish().await;
}

async fn an_expression_can_change_the_program(language: Language) {
    let (_, session) = Debugging::paused(language, "swap_vars", "call").await;
    session.ok("evaluate_expression", json!({ "expression": "x = 100" })).await;
    assert_eq!(session.evaluate("x").await, "100");
    let ended = session.run_to_the_end().await;
    assert_eq!(ended["output"], "x=20 y=20\n");
    session.finish().await;
}

async fn an_undefined_name_is_an_error_in_the_languages_words(language: Language) {
    let (_, session) = Debugging::paused(language, "swap_vars", "call").await;
    let arguments = json!({ "expression": "undefined_variable" });
    let failed = session.fails("evaluation_failed", "evaluate_expression", arguments).await;
    let error = PerLanguage { name: "inspection: error",
        python: "Name not found: Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n\
                 NameError: name 'undefined_variable' is not defined\n",
        node: "Name not found: ReferenceError: undefined_variable is not defined",
        c: "Name not found: use of undeclared identifier 'undefined_variable'",
    }
    .of(language);
    assert!(failed.text_of("error").starts_with(error), "{}", failed.text);
    session.finish().await;
}

async fn evaluation_needs_a_paused_session(language: Language) {
    let session = Debugging::of(language).await;
    let failed = session.fails("not_paused", "evaluate_expression", json!({ "expression": "1" })).await;
    assert_eq!(failed["error"], "Session is not paused");
    session.finish().await;
}
