//! Where it stops, and what it reports there.

use serde_json::{Value, json};
use test_support::{Dynamic, DynamicLanguage, Fixture, Language, PerLanguage, dynamic, each};

use super::{plain, run};
use crate::STILLFRAME;
use crate::debugging::{Debugging, ENDLESS, Report, folder, written_in};

each![
    run_until_stops_at_a_line_and_evaluates_there,
    run_until_stops_at_the_text_of_a_line,
    run_until_stops_at_a_function_and_a_method,
    run_until_stops_once_a_condition_is_true,
    run_until_stops_at_the_first_of_several_locations,
    run_until_without_a_location_stops_at_an_exception,
    run_until_without_a_location_and_exception_runs_to_the_end,
    an_unreached_location_ends_with_the_program,
    a_line_without_code_is_reported_with_the_line_used_instead,
    run_until_continues_an_existing_session_and_keeps_its_breakpoints,
    locations_can_be_strings_and_default_to_the_program_file,
    run_until_passes_launch_options_to_the_program,
    all_expressions_share_one_deadline,
];

dynamic![
    // C has no exceptions that could be caught.
    caught_exceptions_stop_if_all_are_requested,
    // Of C it is known before the program starts.
    a_location_that_is_not_loaded_is_explained_at_the_timeout,
    a_session_keeps_the_exceptions_that_it_stops_at,
    a_program_can_be_an_executable_with_arguments,
    // C refuses a name that its compiled program does not have.
    a_missing_function_is_refused_with_similar_names,
];

async fn run_until_stops_at_a_line_and_evaluates_there(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let words = language.words();
    let owner = language.own("owner");
    let three = language.shown_list(&["1", "1", "1"]);
    let compound = PerLanguage {
        name: "until: compound",
        python: ("[amount] * 3", three.as_str(), words.list),
        node: ("[amount, amount, amount]", three.as_str(), words.list),
        c: ("*self", "{owner = \"Ann\", balance = 0}", "account"),
    };
    let compound = compound.of(language);
    let arguments = json!({
        "until": [{ "line": program.line("deposit") }],
        "expressions": ["amount", owner, "missing", compound.0],
    });
    let ran = run(&server, language, arguments).await;
    assert_eq!((ran.outcome(), ran.place()), ("breakpoint", (program.path(), program.line("deposit"))));
    assert_eq!((ran.variable("amount"), ran.at("/location/function")), ("1", &json!(words.deposit.1)));
    let values = ran["values"].as_array().unwrap();
    let shown: Vec<_> = values
        .iter()
        .map(|value| json!([value["expression"], plain(language, &value["value"]), value["type"]]))
        .collect();
    assert_eq!(
        json!(shown),
        json!([
            ["amount", "1", words.number],
            [owner, language.text("Ann"), words.string],
            ["missing", null, null],
            compound,
        ])
    );
    assert_eq!(ran.at("/values/2/error"), &json!(language.undefined("missing")));
    assert!(ran.at("/values/3/variablesReference").as_u64() > Some(0), "{}", ran.text);
    server.finish().await;
}

async fn run_until_stops_at_the_text_of_a_line(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let statement = format!(
        "name = {}",
        PerLanguage { name: "until: even", python: "\"even\"", node: "'even'", c: "\"even\"" }.of(language)
    );
    let ran = run(&server, language, json!({ "until": [{ "statement": statement }] })).await;
    assert_eq!(ran.place(), (program.path(), program.line("even")));
    server.finish().await;
}

async fn run_until_stops_at_a_function_and_a_method(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let ran = run(&server, language, json!({ "until": [{ "function": "kind" }] })).await;
    assert_eq!((ran.place(), ran.variable("number")), ((program.path(), program.line("kind")), "3"));
    let arguments = json!({ "until": [{ "function": language.words().deposit.0, "file": program.path() }] });
    let ran = run(&server, language, arguments).await;
    assert_eq!(ran.place(), (program.path(), program.line("deposit")));
    server.finish().await;
}

async fn run_until_stops_once_a_condition_is_true(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let balance = language.own("balance");
    let location = json!({ "line": program.line("deposit"), "condition": format!("{balance} > 9") });
    let ran = run(&server, language, json!({ "until": [location], "expressions": [balance] })).await;
    assert_eq!((ran.variable("amount"), ran.at("/values/0/value")), ("5", &json!("10")));
    server.finish().await;
}

async fn run_until_stops_at_the_first_of_several_locations(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let locations =
        json!([{ "line": program.line("even") }, { "line": program.line("odd") }, { "function": "bill" }]);
    let ran = run(&server, language, json!({ "until": locations })).await;
    assert_eq!(ran.place(), (program.path(), program.line("odd")));
    server.finish().await;
}

async fn run_until_without_a_location_stops_at_an_exception(language: Language) {
    let program = Fixture::of(language, "endings");
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "program": program.path(), "args": ["raise"], "expressions": ["how"] });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!((ran.outcome(), ran.place()), ("exception", (program.path(), program.line("raise"))));
    assert_eq!(
        (ran.at("/exception/type"), plain(language, ran.at("/values/0/value"))),
        (&json!(language.words().raised), json!(language.text("raise")))
    );
    server.finish().await;
}

async fn caught_exceptions_stop_if_all_are_requested(language: DynamicLanguage) {
    let texts = Dynamic {
        python: "try:\n    {}['a']  # @caught\nexcept KeyError:\n    pass\nprint('on')\n",
        node: "try {\n  null.a(); // @caught\n} catch {\n  // Nothing.\n}\nconsole.log('on');\n",
    };
    let (_folder, program) = written_in(language, "catches", texts);
    let server = STILLFRAME.serve().await;
    let ran = server.ok("run_until", json!({ "program": program.path(), "exceptions": "all" })).await;
    assert_eq!((ran.outcome(), ran.place()), ("exception", (program.path(), program.line("caught"))));
    assert_eq!(ran.at("/exception/uncaught"), false);
    let ran = server.ok("run_until", json!({ "program": program.path() })).await;
    assert_eq!((ran.outcome(), ran.text_of("output")), ("ended", "on\n"));
    server.finish().await;
}

async fn a_location_that_is_not_loaded_is_explained_at_the_timeout(language: DynamicLanguage) {
    let (folder, program) = written_in(language, "endless", ENDLESS);
    let texts = Dynamic { python: "x = 1  # @elsewhere\n", node: "let x = 1; // @elsewhere\n" };
    let other = Fixture::write_in(language, folder.path(), "other", texts);
    let server = STILLFRAME.serve().await;
    for close in [true, false] {
        let until = json!([{ "file": other.path(), "line": other.line("elsewhere") }]);
        let ran = json!({ "program": program.path(), "until": until, "timeout": 2_000, "close": close });
        let ran = server.ok("run_until", ran).await;
        let notes = ran["notes"].to_string();
        let (_, name) = other.path().rsplit_once('/').unwrap();
        let label = format!("{name}:{}", other.line("elsewhere"));
        let why = format!("the breakpoint at {label} is not bound: its file is not loaded yet");
        assert!(notes.contains(&why) && notes.contains("the timeout of 2000 ms was reached"), "{notes}");
    }
    server.finish().await;
}

async fn a_session_keeps_the_exceptions_that_it_stops_at(language: DynamicLanguage) {
    let texts = Dynamic {
        python: "first = 1  # @first\ntry:\n    {}['a']  # @caught\nexcept KeyError:\n    pass\n{}['b']\n",
        node: "let first = 1; // @first\ntry {\n  null.a(); // @caught\n} catch {\n  // Nothing.\n}\nnull.b();\n",
    };
    let (_folder, program) = written_in(language, "throws", texts);
    for (mode, outcome) in [("all", "exception"), ("none", "ended")] {
        let (session, _) = Debugging::stopped_at(&program, "first").await;
        session.ok("set_exception_breakpoints", json!({ "mode": mode })).await;
        let ran = session.ok("run_until", json!({ "close": false })).await;
        assert_eq!(ran.outcome(), outcome, "{}", ran.text);
        if outcome == "exception" {
            assert_eq!(ran.place(), (program.path(), program.line("caught")), "{}", ran.text);
        }
        let listed = session.ok("list_breakpoints", json!({})).await;
        assert_eq!(listed.at("/exceptions/mode"), mode, "{}", listed.text);
        session.finish().await;
    }
}

async fn run_until_without_a_location_and_exception_runs_to_the_end(language: Language) {
    let server = STILLFRAME.serve().await;
    let ran = run(&server, language, json!({})).await;
    assert_eq!(
        (ran.outcome(), &ran["exitCode"], ran.text_of("output")),
        ("ended", &json!(0), "odd even\n6\n")
    );
    server.finish().await;
}

async fn an_unreached_location_ends_with_the_program(language: Language) {
    let program = Fixture::of(language, "endings");
    let server = STILLFRAME.serve().await;
    let arguments = json!({
        "program": program.path(),
        "args": ["exit"],
        "until": [{ "line": program.line("never") }],
        "expressions": ["how"],
    });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!((ran.outcome(), &ran["exitCode"], &ran["values"]), ("ended", &json!(4), &Value::Null));
    let first = format!("Line {} of {} was not reached", program.line("never"), program.path());
    assert!(ran.text_of("message").starts_with(&first), "{}", ran.text);
    server.finish().await;
}

async fn a_line_without_code_is_reported_with_the_line_used_instead(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let (asked, taken) = (program.line("comment"), program.line("deposit"));
    let ran = run(&server, language, json!({ "until": [{ "line": asked }] })).await;
    assert_eq!(ran.place(), (program.path(), taken));
    assert_eq!(
        ran["notes"],
        json!([format!("line {asked} has no code to stop at; stopping on line {taken}")])
    );
    server.finish().await;
}

async fn run_until_continues_an_existing_session_and_keeps_its_breakpoints(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "main_first").await;
    let arguments = json!({
        "until": [{ "file": program.path(), "line": program.line("even") }],
        "expressions": ["number"],
    });
    let ran = session.ok("run_until", arguments).await;
    assert_eq!((&ran["sessionId"], &ran["closed"]), (&json!(session.id), &json!(false)));
    assert_eq!(
        (ran.place(), ran.at("/values/0/value")),
        ((program.path(), program.line("even")), &json!("4"))
    );
    let kept = session.breakpoints().await;
    assert_eq!(kept.len(), 1, "its own place is forgotten");
    assert_eq!(kept[0]["line"], program.line("main_first"));
    session.finish_at_end().await;
}

async fn run_until_passes_launch_options_to_the_program(language: Language) {
    let program = Fixture::of(language, "readers");
    let folder = folder();
    let server = STILLFRAME.serve().await;
    let expressions = PerLanguage {
        name: "until: expressions",
        python: ["text", "sys.argv[1:]", "os.environ['COLOUR']", "os.getcwd()"],
        node: ["text", "process.argv.slice(2)", "process.env.COLOUR", "process.cwd()"],
        c: ["text", "argv[1]", "colour", "folder"],
    };
    let expressions = expressions.of(language);
    let arguments = json!({
        "program": program.path(),
        "args": ["one", "two"],
        "env": { "COLOUR": "blue" },
        "cwd": folder.path(),
        "stdin": "line\n",
        "until": [{ "line": program.line("read") }],
        "expressions": expressions,
    });
    let ran = server.ok("run_until", arguments).await;
    let values: Vec<_> =
        ran["values"].as_array().unwrap().iter().map(|value| plain(language, &value["value"])).collect();
    let text = |text: &str| language.text(text);
    let cwd = text(&folder.path().canonicalize().unwrap().display().to_string());
    let args =
        if language.is_compiled() { text("one") } else { language.shown_list(&[&text("one"), &text("two")]) };
    assert_eq!(json!(values), json!([text("line\\n"), args, text("blue"), cwd]));
    server.finish().await;
}

async fn all_expressions_share_one_deadline(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let endless = language.words().sleep;
    let arguments = json!({
        "until": [{ "line": program.line("deposit") }],
        "expressions": ["amount", endless, endless, endless, "amount"],
    });
    let ran = run(&server, language, arguments).await;
    assert_eq!(ran.at("/values/0/value"), "1");
    assert!(ran.at("/values/1/error").as_str().unwrap().contains("did not end within"), "{}", ran.text);
    let late = "the expressions before this one did not end within 10000 ms; call evaluate_expression to \
                read it separately";
    // A debugger of compiled code gives an expression less time, so there is some left for the last one.
    let last = if language.is_compiled() { (Value::Null, json!("1")) } else { (json!(late), Value::Null) };
    assert_eq!((ran.at("/values/4/error"), ran.at("/values/4/value")), (&last.0, &last.1));
    server.finish().await;
}

async fn locations_can_be_strings_and_default_to_the_program_file(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let until = format!("{}:{}", program.path(), program.line("main_first"));
    let ran = run(&server, language, json!({ "until": [until] })).await;
    assert_eq!(ran.place(), (program.path(), program.line("main_first")));
    let session = Debugging { id: ran.text_of("sessionId").to_owned(), server };
    let until = json!([{ "line": program.line("deposit") }]);
    let ran = session.ok("run_until", json!({ "until": until })).await;
    assert_eq!(ran.place(), (program.path(), program.line("deposit")));
    session.finish().await;
}

async fn a_program_can_be_an_executable_with_arguments(language: DynamicLanguage) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let executable = if language == DynamicLanguage::Python { "python3" } else { "node" };
    let until = json!([{ "file": program.path(), "line": program.line("deposit") }]);
    let arguments = json!({ "executablePath": executable, "args": [program.path()], "until": until });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(ran.place(), (program.path(), program.line("deposit")));
    let point = json!({ "file": program.path(), "line": program.line("deposit"), "expressions": "amount" });
    let arguments = json!({ "executablePath": executable, "args": [program.path()], "points": point });
    assert_eq!(server.ok("trace_values", arguments).await["closed"], true);
    for arguments in [json!({ "executablePath": executable }), json!({ "args": ["x"] })] {
        let failed = server.fails("invalid_arguments", "run_until", arguments).await;
        assert_eq!(failed.at("/context/argument"), "program", "{}", failed.text);
    }
    server.finish().await;
}

async fn a_missing_function_is_refused_with_similar_names(language: DynamicLanguage) {
    let server = STILLFRAME.serve().await;
    let ran = run(&server, language.into(), json!({ "until": ["deposti"] })).await;
    let answer = ran.text_of("message");
    assert!(
        answer.starts_with("No function `deposti` was entered") && answer.contains("; did you mean `"),
        "{answer}"
    );
    assert!(answer.contains("deposit` in main."), "{answer}");
    server.finish().await;
}
