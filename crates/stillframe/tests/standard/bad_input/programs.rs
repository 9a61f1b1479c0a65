//! Programs that cannot be started: it is said at once, and the session stays usable.

use serde_json::{Value, json};
use test_support::{Fixture, Language, PerLanguage, Texts, each};

use crate::debugging::{Debugging, Report, folder, written_in};

each![
    a_missing_script_is_reported_with_similar_ones,
    a_directory_is_not_a_script,
    an_unreadable_script_is_reported_with_the_reason,
    pipes_and_devices_are_refused_as_script_source_and_input,
    a_syntax_error_is_reported_in_the_languages_words,
    a_breakpoint_in_a_file_with_a_syntax_error_reports_it,
    a_missing_working_directory_is_named,
    a_missing_stdin_file_is_named,
    a_missing_or_unsuitable_interpreter_is_reported_with_advice,
    a_missing_module_is_named,
    a_second_start_is_refused_while_the_first_runs,
];

/// A start that fails, after which the session still debugs a good program.
async fn fails_and_stays_usable(language: Language, code: &str, arguments: Value, error: &str) {
    let session = Debugging::of(language).await;
    let failed = session.fails(code, "start_debugging", arguments).await;
    assert_eq!(failed["error"], error);
    let program = Fixture::of(language, "swap_vars");
    session.break_at(&program, "call").await;
    assert_eq!(session.start(&program).await.place(), (program.path(), program.line("call")));
    session.finish().await;
}

async fn a_missing_script_is_reported_with_similar_ones(language: Language) {
    let there = Texts {
        name: "nothing",
        python: "x = 1\n",
        node: "let x = 1;\n",
        c: "int main(void) { return 0; }\n",
    };
    let (_folder, there) = written_in(language, "report", there);
    let missing = there.path().replace("report", "reprot");
    fails_and_stays_usable(
        language,
        "file_not_found",
        json!({ "scriptPath": missing }),
        &format!("no file `{missing}`"),
    )
    .await;
    let session = Debugging::of(language).await;
    let failed = session.fails("file_not_found", "start_debugging", json!({ "scriptPath": missing })).await;
    assert_eq!(failed.at("/context/similar"), &json!([there.path()]));
    session.finish().await;
}

#[tokio::test]
async fn a_script_is_not_a_compiled_program() {
    let script = Fixture::of(Language::Python, "swap_vars");
    let session = Debugging::of(Language::C).await;
    let start = json!({ "scriptPath": script.path() });
    let failed = session.fails("file_unusable", "start_debugging", start).await;
    let error = format!("`{}` is Python, and this session debugs C and C++", script.path());
    assert_eq!(failed["error"], error);
    session.finish().await;
}

async fn a_directory_is_not_a_script(language: Language) {
    let folder = folder();
    if !matches!(language, Language::Python) {
        // Only Python runs it.
        std::fs::write(folder.path().join("__main__.py"), "").unwrap();
    }
    let path = folder.path().display().to_string();
    fails_and_stays_usable(
        language,
        "file_unusable",
        json!({ "scriptPath": path }),
        &format!("`{path}` is a directory"),
    )
    .await;
}

/// Permissions do not stop the superuser, so the test stands in for a file that cannot be read with a
/// broken link in a circle, which cannot either.
#[cfg(unix)]
async fn an_unreadable_script_is_reported_with_the_reason(language: Language) {
    let folder = folder();
    let path = folder.path().join(language.file("circle"));
    std::os::unix::fs::symlink(&path, &path).unwrap();
    let path = path.display().to_string();
    fails_and_stays_usable(
        language,
        "file_unusable",
        json!({ "scriptPath": path }),
        &format!("`{path}` cannot be read: Too many levels of symbolic links (os error 40)"),
    )
    .await;
}

/// Opening a pipe without a writer, or reading a device to its end, would take forever.
#[cfg(unix)]
async fn pipes_and_devices_are_refused_as_script_source_and_input(language: Language) {
    let folder = folder();
    let pipe = folder.path().join(language.file("pipe")).display().to_string();
    let (program, session) = Debugging::paused(language, "swap_vars", "call").await;
    let make = PerLanguage {
        name: "programs: make a pipe",
        python: "__import__('os').mkfifo(\"{}\")",
        node: "process.mainModule.require('node:child_process').execFileSync('mkfifo', [\"{}\"])",
        c: "(int)mkfifo(\"{}\", 0600)",
    };
    let expression = make.of(language).replace("{}", &pipe);
    session.evaluate(&expression).await;
    let other = session.server.ok("create_debug_session", json!({ "language": language.name() })).await;
    let other = &other["sessionId"];
    for path in [pipe.as_str(), "/dev/zero"] {
        for (tool, arguments) in [
            ("start_debugging", json!({ "scriptPath": path })),
            ("start_debugging", json!({ "scriptPath": program.path(), "stdinFile": path })),
            ("set_breakpoint", json!({ "file": path, "line": 1 })),
            ("set_breakpoint", json!({ "file": path, "function": "main" })),
            ("get_source_context", json!({ "file": path, "line": 1 })),
        ] {
            let mut arguments = arguments;
            arguments["sessionId"] = other.clone();
            let failed = session.server.fails("file_unusable", tool, arguments).await;
            let error = format!("`{path}` is a pipe, a socket or a device, not a regular file");
            assert_eq!(failed["error"], error);
        }
    }
    let empty = json!({ "sessionId": other, "scriptPath": program.path(), "stdinFile": "/dev/null" });
    assert_eq!(session.server.ok("start_debugging", empty).await.outcome(), "ended");
    assert_eq!(session.evaluate("x").await, "10");
    session.finish().await;
}

/// A condition that is never closed.
const BROKEN: Texts = Texts {
    name: "broken",
    python: "x = 1\nif x\n    print(x)\n",
    node: "let x = 1;\nif (x\nconsole.log(x);\n",
    c: "int main(void) {\n    int x = 1;\n    if (x\n    return x;\n}\n",
};

async fn a_syntax_error_is_reported_in_the_languages_words(language: Language) {
    let (_folder, program) = written_in(language, "broken", BROKEN);
    let path = program.path();
    let (code, error) = PerLanguage {
        name: "programs: syntax error",
        python: ("file_unusable", "cannot be compiled: SyntaxError: expected ':' at line 2, `if x`"),
        node: (
            "file_unusable",
            "cannot be compiled: SyntaxError: Unexpected identifier 'console' at line 3, `console.log(x);`",
        ),
        // What the compiler printed is in the message.
        c: ("start_failed", "does not compile"),
    }
    .of(language);
    fails_and_stays_usable(language, code, json!({ "scriptPath": path }), &format!("`{path}` {error}")).await;
}

async fn a_breakpoint_in_a_file_with_a_syntax_error_reports_it(language: Language) {
    let (_folder, program) = written_in(language, "broken", BROKEN);
    let session = Debugging::of(language).await;
    let arguments = json!({ "file": program.path(), "line": 1 });
    if matches!(language, Language::Python | Language::Ruby | Language::Php) {
        let failed = session.fails("file_unusable", "set_breakpoint", arguments).await;
        assert!(failed.text_of("error").contains("cannot be compiled: SyntaxError: "), "{}", failed.text);
    } else if language == Language::Node {
        // It may be in a dialect that something compiles before Node runs it.
        let set = session.ok("set_breakpoint", arguments).await;
        assert!(set.text_of("message").contains("has an error"), "{}", set.text);
    } else {
        // It is compiled at the start, and may be a part of a program that is compiled elsewhere.
        let set = session.ok("set_breakpoint", arguments).await;
        assert_eq!(set["verified"], false, "{}", set.text);
    }
    session.finish().await;
}

async fn a_missing_working_directory_is_named(language: Language) {
    let program = Fixture::of(language, "swap_vars");
    fails_and_stays_usable(
        language,
        "file_unusable",
        json!({ "scriptPath": program.path(), "cwd": "/no/such/folder" }),
        "`/no/such/folder` is not a directory",
    )
    .await;
}

async fn a_missing_stdin_file_is_named(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    let arguments = json!({ "scriptPath": program.path(), "stdinFile": "/no/such/input" });
    let failed = session.call("start_debugging", arguments).await;
    assert!(failed.is_error, "{}", failed.text);
    assert!(failed.text_of("error").contains("`/no/such/input`"), "{}", failed.text);
    assert_eq!(session.start(&program).await.outcome(), "ended");
    session.finish().await;
}

async fn a_missing_or_unsuitable_interpreter_is_reported_with_advice(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    // What is not called node is taken for a command that starts Node somewhere.
    let table: &[(&str, &str)] = PerLanguage {
        name: "programs: missing debugger",
        python: &[
            ("/no/such/python", "no Python interpreter `/no/such/python`"),
            ("/bin/false", "`/bin/false` is not a Python interpreter"),
        ][..],
        node: &[("/no/such/node", "no program `/no/such/node`")],
        c: &[
            ("/no/such/lldb-dap", "no `lldb-dap` or `gdb` at `/no/such/lldb-dap`"),
            ("/bin/false", "no `lldb-dap` or `gdb` at `/bin/false`"),
        ],
    }
    .of(language);
    for (interpreter, error) in table {
        let arguments = json!({ "language": language.name(), "executablePath": interpreter });
        let created = session.server.ok("create_debug_session", arguments).await;
        let request = json!({ "sessionId": created["sessionId"], "scriptPath": program.path() });
        let failed = session.server.fails("environment", "start_debugging", request).await;
        assert!(failed.text_of("error").starts_with(*error), "{}", failed.text);
        assert!(failed.text_of("message").contains("executablePath"), "{}", failed.text);
    }
    session.finish().await;
}

async fn a_missing_module_is_named(language: Language) {
    let session = Debugging::of(language).await;
    let report = session.call("start_debugging", json!({ "module": "no_such_module_anywhere" })).await;
    let answer = PerLanguage {
        name: "programs: missing module",
        python: "No module named no_such_module_anywhere",
        node: "`no_such_module_anywhere`",
        c: "C and C++ need a binary or one source file to run",
    };
    assert!(report.text.contains(answer.of(language)), "{}", report.text);
    session.finish().await;
}

async fn a_second_start_is_refused_while_the_first_runs(language: Language) {
    let (program, session) = Debugging::paused(language, "swap_vars", "call").await;
    let arguments = json!({ "scriptPath": program.path() });
    let failed = session.fails("already_started", "start_debugging", arguments).await;
    assert_eq!(
        failed["message"],
        "a program is already being debugged; call restart_debugging to start it again, or \
         close_debug_session to end it"
    );
    assert_eq!(session.evaluate("x").await, "10");
    session.finish().await;
}
