//! The one session, and the sessions of other toolsets.

use serde_json::json;
use test_support::{Answer, DynamicLanguage as Language, Fixture, Mark, Server, dynamic};

use crate::client::{ADDS, ENDLESS, ToolClient, app, at, folder, name_of, scene, stop};

dynamic![
    a_second_launch_ends_the_first_and_keeps_the_breakpoints,
    a_failed_launch_keeps_the_breakpoints,
    a_launch_reports_defaulted_arguments,
    a_refused_launch_keeps_the_session,
    stop_discards_everything,
    stop_works_while_a_call_waits,
    other_toolsets_do_not_see_the_session,
];

fn programs(mark: &Mark, program: &Fixture) -> usize {
    mark.processes().iter().filter(|(_, line)| line.contains(program.path())).count()
}

async fn a_second_launch_ends_the_first_and_keeps_the_breakpoints(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "add").await;
    assert_eq!(programs(client.server.mark(), &program), 1);
    let launched = client.step("debug_launch").await;
    let expected = format!(
        "Debugger started for {} ({}). Ready for breakpoints.\nThe previous program was ended.\nKept 1 \
         breakpoint: {}.",
        language.file("app"),
        name_of(language),
        at(&program, "add"),
    );
    assert_eq!(launched, expected);
    assert_eq!(programs(client.server.mark(), &program), 1);
    assert!(client.step("debug_continue").await.starts_with(&stop("breakpoint", &program, "add")));
    client.server.finish().await;
}

async fn a_failed_launch_keeps_the_breakpoints(language: Language) {
    let folder = folder();
    let program = app(language, &folder, ADDS);
    let text = std::fs::read_to_string(program.path()).unwrap();
    let client = ToolClient::within(folder.path()).await;
    client.stopped_at(&program, "add").await;
    std::fs::write(program.path(), format!("{text}\n)\n")).unwrap();
    let failed = client.fails("debug_launch", json!({})).await;
    assert!(failed.starts_with("Error: ") && failed.contains("SyntaxError"), "{failed}");
    assert!(failed.contains("; The previous program was ended."), "{failed}");
    let next = client.fails("debug_continue", json!({})).await;
    assert!(next.starts_with("Error: the program was not started: "), "{next}");
    std::fs::write(program.path(), text).unwrap();
    let launched = client.step("debug_launch").await;
    assert!(launched.ends_with(&format!("\nKept 1 breakpoint: {}.", at(&program, "add"))), "{launched}");
    assert!(client.step("debug_continue").await.starts_with(&stop("breakpoint", &program, "add")));
    client.server.finish().await;
}

async fn a_launch_reports_defaulted_arguments(language: Language) {
    let program = Fixture::of(language, "readers");
    let folder = folder();
    let client = ToolClient::within(folder.path()).await;
    let first = json!({ "program": program.path(), "args": ["a b"], "env": { "COLOUR": "blue" } });
    let [arguments, colour] = language
        .pick(["len(sys.argv)", "os.environ.get('COLOUR')"], ["process.argv.length", "process.env.COLOUR"]);
    let evaluate = async |expression| {
        client.break_at(&program, "done").await;
        client.step("debug_continue").await;
        client.succeeds("debug_evaluate", json!({ "expression": expression })).await
    };
    let (number, string) = (language.words().number, language.words().string);
    let with = language.pick(2, 3);
    client.succeeds("debug_launch", first).await;
    assert_eq!(evaluate(arguments).await, format!("({number}) {with}"));
    client.step("debug_launch").await;
    assert_eq!(evaluate(colour).await, format!("({string}) blue"));
    client.succeeds("debug_launch", json!({ "args": [] })).await;
    assert_eq!(evaluate(arguments).await, format!("({number}) {}", with - 1));
    // A program that is named is started as it is asked for.
    client.succeeds("debug_launch", json!({ "program": program.path() })).await;
    assert_ne!(evaluate(colour).await, format!("({string}) blue"));
    client.server.finish().await;
}

async fn a_refused_launch_keeps_the_session(language: Language) {
    let (folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "add").await;
    let missing = client.fails("debug_launch", json!({ "program": language.file("ap") })).await;
    assert!(missing.starts_with("Error: no file `"), "{missing}");
    let unknown =
        client.fails("debug_launch", json!({ "program": program.path(), "language": "cobol" })).await;
    assert_eq!(
        unknown,
        "Error: `cobol` is not supported; supported languages: python, node, rust, c, java, go, ruby, php"
    );
    for missing in ["", "no-such-program"] {
        let missing = client.fails("debug_launch", json!({ "program": missing })).await;
        assert!(missing.starts_with("Error: no file `"), "{missing}");
    }
    std::fs::write(folder.path().join("Makefile"), "all:\n").unwrap();
    let untold = client.fails("debug_launch", json!({ "program": "Makefile" })).await;
    let problem = "`language` is missing, and `Makefile` does not determine it; supported languages: python, \
                   node, rust, c, java, go, ruby, php";
    assert_eq!(untold, format!("Error: {problem}"));
    let number = language.words().number;
    assert_eq!(
        client.succeeds("debug_evaluate", json!({ "expression": "total" })).await,
        format!("({number}) 0")
    );
    client.server.finish().await;
}

async fn stop_discards_everything(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    client.stopped_at(&program, "add").await;
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    assert_eq!(programs(client.server.mark(), &program), 0);
    let failed = client.fails("debug_continue", json!({})).await;
    assert_eq!(failed, "Error: no program is being debugged; call debug_launch to start a program");
    client.launch(&program).await;
    assert_eq!(client.step("debug_continue").await, "Program exited with code 0.\nOutput:\nbegin\n3");
    client.server.finish().await;
}

async fn stop_works_while_a_call_waits(language: Language) {
    let (_folder, program, client) = scene(language, ENDLESS).await;
    client.launch(&program).await;
    let mut answer = String::new();
    while !answer.ends_with("ready") {
        answer = client.succeeds("debug_continue", json!({ "timeout": 1 })).await;
    }
    let mut messages = client.server.notifications();
    let arguments = json!({ "timeout": 600_000 });
    let params =
        json!({ "name": "debug_continue", "arguments": arguments, "_meta": { "progressToken": "wait" } });
    let (_, waiting) = client.server.begin("tools/call", params).await;
    // It is known to wait when it says so.
    while messages.recv().await.unwrap()["method"] != "notifications/progress" {}
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    let waited = Server::reply("debug_continue", waiting).await.unwrap();
    assert_eq!(Answer::of("debug_continue", &waited).text, "Program was ended by the session.");
    client.server.finish().await;
}

async fn other_toolsets_do_not_see_the_session(language: Language) {
    let folder = folder();
    let program = app(language, &folder, ADDS);
    let client = ToolClient::with(folder.path(), "standard,quick").await;
    client.stopped_at(&program, "add").await;
    assert_eq!(client.server.ok("list_debug_sessions", json!({})).await["count"], 0);
    let failed = client.server.fails("session_not_found", "continue_execution", json!({})).await;
    assert_eq!(failed["message"], "no debug session is open; call create_debug_session first");
    let location = json!({ "line": program.line("return") });
    let until = json!({ "program": program.path(), "until": [location] });
    client.server.ok("run_until", until).await;
    // Theirs is the only one for them, and ours for us.
    assert_eq!(
        client.server.ok("evaluate_expression", json!({ "expression": "total" })).await["result"],
        "3"
    );
    let number = language.words().number;
    assert_eq!(
        client.succeeds("debug_evaluate", json!({ "expression": "total" })).await,
        format!("({number}) 0")
    );
    client.server.finish().await;
}
