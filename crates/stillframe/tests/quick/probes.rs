//! `debug_probe`: one question, one answer, and nothing left.

use serde_json::{Value, json};
use test_support::{Dynamic, DynamicLanguage as Language, Fixture, Mark, dynamic};

use crate::client::{ADDS, ENDLESS, ToolClient, at, folder, scene, stop};

dynamic![
    a_probe_reports_the_stack_with_all_locals_and_the_values,
    a_probe_leaves_the_session_unchanged_and_no_process,
    a_condition_selects_the_hit,
    a_program_gets_its_arguments_directory_and_environment,
    an_unreached_line_is_reported_with_the_end,
    an_exception_before_the_line_is_shown,
    a_running_program_is_shown_at_its_current_line,
    a_blocked_program_is_shown_where_it_waits,
    a_deep_stack_is_shown_in_part,
    a_cancelled_call_leaves_no_process,
];

fn asked(program: &Fixture, name: &str, mut more: Value) -> Value {
    more["program"] = json!(program.path());
    more["line"] = json!(program.line(name));
    more
}

/// The server and its guardian, which stay, and nothing else.
fn is_alone(mark: &Mark) -> bool {
    mark.processes().len() <= 2
}

async fn a_probe_reports_the_stack_with_all_locals_and_the_values(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    let expressions = json!({ "file": program.path(), "expressions": ["total + item", "nope", "1 +"] });
    let reported = client.succeeds("debug_probe", asked(&program, "add", expressions)).await;
    let words = language.words();
    let (number, list, string) = (words.number, words.list, words.string);
    let (nope, broken) = language.pick(
        ("NameError: name 'nope' is not defined", "SyntaxError: invalid syntax"),
        ("ReferenceError: nope is not defined", "SyntaxError: Unexpected end of input"),
    );
    let expected = format!(
        "{}\nValues:\n  total + item: {number} = 1\n  nope: {nope}\n  1 +: {broken}\nStack:\n#0 add ({})\n  items: \
         {list} = {}\n  total: {number} = 0\n  item: {number} = 1\n#1 main ({})\n  name: {string} = 'hello world'\n",
        stop("breakpoint", &program, "add"),
        at(&program, "add"),
        language.shown_list(&["1", "2"]),
        at(&program, "call"),
    );
    assert!(reported.starts_with(&expected), "{reported}");
    let rest: Vec<&str> = reported.strip_prefix(&expected).unwrap().lines().collect();
    let module = format!("#2 <module> ({}:", language.file("app"));
    let has_module = rest.iter().any(|line| line.starts_with(&module));
    assert!(has_module && rest.ends_with(&["Output:", "begin"]), "{reported}");
    client.server.finish().await;
}

async fn a_probe_leaves_the_session_unchanged_and_no_process(language: Language) {
    let (folder, program, client) = scene(language, ADDS).await;
    client.succeeds("debug_probe", asked(&program, "add", json!({}))).await;
    assert!(is_alone(client.server.mark()), "{:?}", client.server.mark().processes());
    assert!(!folder.path().join(".debug_session.mcp.json").exists());

    client.stopped_at(&program, "return").await;
    let reported = client.succeeds("debug_probe", asked(&program, "add", json!({}))).await;
    assert!(reported.starts_with(&stop("breakpoint", &program, "add")), "{reported}");
    let number = language.words().number;
    assert_eq!(
        client.succeeds("debug_evaluate", json!({ "expression": "total" })).await,
        format!("({number}) 3")
    );
    client.server.finish().await;
}

async fn a_condition_selects_the_hit(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    let pass = json!({ "condition": "item > 1", "expressions": ["total"] });
    let reported = client.succeeds("debug_probe", asked(&program, "add", pass)).await;
    assert!(
        reported.contains(&format!("\n  total: {} = 1\nStack:\n", language.words().number)),
        "{reported}"
    );
    let broken = client.fails("debug_probe", asked(&program, "add", json!({ "condition": "1 +" }))).await;
    assert!(broken.starts_with("Error: `1 +` is not a valid expression: "), "{broken}");
    let nothing = client.fails("debug_probe", json!({ "program": program.path(), "line": 9999 })).await;
    assert!(nothing.contains(" is past the end of the file"), "{nothing}");
    client.server.finish().await;
}

async fn a_program_gets_its_arguments_directory_and_environment(language: Language) {
    let program = Fixture::of(language, "readers");
    let folder = folder();
    let cwd = folder.path().canonicalize().unwrap();
    let client = ToolClient::within(folder.path()).await;
    let expressions = language.pick(
        ["sys.argv[1:]", "os.getcwd()", "os.environ['COLOUR']"],
        ["process.argv.slice(2)", "process.cwd()", "process.env.COLOUR"],
    );
    let more =
        json!({ "args": ["a b"], "cwd": cwd, "env": { "COLOUR": "blue" }, "expressions": expressions });
    let reported = client.succeeds("debug_probe", asked(&program, "done", more)).await;
    for shown in [language.shown_list(&["'a b'"]), format!("'{}'", cwd.display()), "'blue'".to_owned()] {
        assert!(reported.contains(&format!(" = {shown}\n")), "{shown} in {reported}");
    }
    client.server.finish().await;
}

async fn an_unreached_line_is_reported_with_the_end(language: Language) {
    let program = Fixture::of(language, "endings");
    let folder = folder();
    let client = ToolClient::within(folder.path()).await;
    for (how, end) in [("exit", "exited with code 4"), ("crash", "was killed by SIGSEGV")] {
        let reported =
            client.succeeds("debug_probe", asked(&program, "never", json!({ "args": [how] }))).await;
        let note = format!("note: line {} of {} was not reached", program.line("never"), program.path());
        assert_eq!(reported, format!("Program {end}.\nOutput:\nabout to {how}\n{note}"));
    }
    client.server.finish().await;
}

async fn an_exception_before_the_line_is_shown(language: Language) {
    let program = Fixture::of(language, "endings");
    let folder = folder();
    let client = ToolClient::within(folder.path()).await;
    let more = json!({ "args": ["raise"], "expressions": ["how"], "condition": "how == ''" });
    let reported = client.succeeds("debug_probe", asked(&program, "never", more)).await;
    let raised = language.words().raised;
    let location = at(&program, "raise");
    assert!(
        reported.starts_with(&format!("Stopped (exception) at {location}\n{raised}: nobody catches this\n")),
        "{reported}"
    );
    assert!(
        reported.contains(&format!("\nValues:\n  how: {} = 'raise'\n", language.words().string)),
        "{reported}"
    );
    assert!(reported.contains("\nOutput:\nabout to raise\n"), "{reported}");
    let never = at(&program, "never");
    assert!(
        reported.ends_with(&format!("\nnote: {never} was not reached with `how == ''` true before that")),
        "{reported}"
    );
    client.server.finish().await;
}

async fn a_running_program_is_shown_at_its_current_line(language: Language) {
    let (_folder, program, client) = scene(language, ENDLESS).await;
    let reported = client.succeeds("debug_probe", asked(&program, "never", json!({ "timeout": 3000 }))).await;
    let begin = format!(
        "Still running at the timeout; {} was not reached in time.\nOutput:\nready\nStopped (pause) at ",
        at(&program, "never")
    );
    assert!(reported.starts_with(&begin), "{reported}");
    assert!(reported.contains("\nStack:\n#0 turn (") && reported.contains("\n  turns: "), "{reported}");
    assert!(is_alone(client.server.mark()), "{:?}", client.server.mark().processes());
    client.server.finish().await;
}

async fn a_blocked_program_is_shown_where_it_waits(language: Language) {
    const WAITS: Dynamic = Dynamic {
        python: "import time\n\n\ntime.sleep(1000)  # @waits\nprint('never')  # @never\n",
        node: "const cell = new Int32Array(new SharedArrayBuffer(4));\n\nAtomics.wait(cell, 0, 0, 1e6); // @waits\n\
               console.log('never'); // @never\n",
    };
    let (_folder, program, client) = scene(language, WAITS).await;
    let reported = client.succeeds("debug_probe", asked(&program, "never", json!({ "timeout": 3000 }))).await;
    let begin = format!(
        "Still running at the timeout; {} was not reached in time.\n{}\nStack:\n#0 <module> ({})",
        at(&program, "never"),
        stop("pause", &program, "waits"),
        at(&program, "waits"),
    );
    assert!(reported.starts_with(&begin), "{reported}");
    client.server.finish().await;
}

async fn a_deep_stack_is_shown_in_part(language: Language) {
    let text = language.pick(
        "def down(depth):\n    if depth:\n        return down(depth - 1)\n    return 0  # @bottom\n\n\ndown(30)\n",
        "function down(depth) {\n  if (depth) return down(depth - 1);\n  return 0; // @bottom\n}\ndown(30);\n",
    );
    let folder = folder();
    let program = Fixture::write(folder.path(), &language.file("deep"), text);
    let client = ToolClient::within(folder.path()).await;
    let reported = client.succeeds("debug_probe", asked(&program, "bottom", json!({}))).await;
    let frames = reported.lines().filter(|line| line.starts_with('#')).count();
    let depths = reported.lines().filter(|line| line.starts_with("  depth: ")).count();
    assert_eq!((frames, depths), (10, 10), "{reported}");
    assert!(reported.contains("\n... and 22 more"), "{reported}");
    client.server.finish().await;
}

async fn a_cancelled_call_leaves_no_process(language: Language) {
    let (_folder, program, client) = scene(language, ENDLESS).await;
    let arguments = asked(&program, "never", json!({ "timeout": 600_000 }));
    let params = json!({ "name": "debug_probe", "arguments": arguments });
    let (id, _waiting) = client.server.begin("tools/call", params).await;
    let is_program = |(_, line): &(u32, String)| line.contains(program.path());
    while !client.server.mark().processes().iter().any(is_program) {}
    let params = json!({ "requestId": id });
    client
        .server
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
        .await;
    while !is_alone(client.server.mark()) {}
    client.server.finish().await;
}
