//! Starts that take longer than the call that asked for them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use test_support::{Fixture, Language, PerLanguage, Texts, each};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, folder, written_in};

each![
    a_slow_start_continues_after_its_call_and_can_be_awaited,
    a_failed_start_is_reported_however_short_the_timeout,
];

/// An interpreter, or a debugger, that starts no program before a file is there.
const SLOW: Texts = Texts {
    name: "slow: debugger",
    python: r#"#!/bin/sh
case "$*" in
*stillframe_launch.py*) while [ ! -e "$0.go" ]; do sleep 0.02; done ;;
*cache_tag*) exec python3 -c "import platform, sys
print('Python ' + platform.python_version(), sys.implementation.cache_tag, '$0', sep='\n')" ;;
esac
exec python3 "$@"
"#,
    node: r#"#!/bin/sh
case "$*" in
*main.js*) while [ ! -e "$0.go" ]; do sleep 0.02; done ;;
esac
exec node "$@"
"#,
    c: r#"#!/bin/sh
while [ ! -e "$0.go" ]; do sleep 0.02; done
for name in lldb-dap lldb-dap-22 lldb-dap-21 lldb-dap-20 lldb-dap-19; do
    path=$(command -v $name) && exec "$path" "$@"
done
"#,
};

/// Programs of other names than Node's are taken for commands that start Node somewhere.
const INTERPRETER: Texts = Texts { name: "slow: name", python: "slow-python", node: "node", c: "lldb-dap" };

async fn with_slow_interpreter(language: Language, folder: &Path) -> Debugging {
    let interpreter = folder.join(INTERPRETER.of(language));
    std::fs::write(&interpreter, SLOW.of(language)).expect("the folder of a test can be written to");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&interpreter, executable).expect("a file of ours can be changed");
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": language.name(), "executablePath": interpreter });
    let created = server.ok("create_debug_session", arguments).await;
    Debugging { id: created.text_of("sessionId").to_owned(), server }
}

async fn a_slow_start_continues_after_its_call_and_can_be_awaited(language: Language) {
    let folder = folder();
    let program = Fixture::of(language, "swap_vars");
    let session = with_slow_interpreter(language, folder.path()).await;
    session.break_at(&program, "call").await;
    let arguments = json!({ "scriptPath": program.path(), "timeout": 0 });
    let running = session.ok("start_debugging", arguments.clone()).await;
    assert_eq!(running.outcome(), "running", "{}", running.text);
    let note = running.at("/notes/0").as_str().expect("a note");
    // In C, with what is compiled.
    assert!(note.starts_with("the program is still starting"), "{note}");
    session.fails("already_started", "start_debugging", arguments).await;
    std::fs::write(folder.path().join(format!("{}.go", INTERPRETER.of(language))), "").unwrap();
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("call")), "{}", stopped.text);
    session.finish_at_end().await;
}

async fn a_failed_start_is_reported_however_short_the_timeout(language: Language) {
    let broken = Texts {
        name: "broken_shortly",
        python: "if x\n",
        node: "if (x\n",
        c: "int main(void) { return x; }\n",
    };
    let (_folder, broken) = written_in(language, "broken", broken);
    let missing = language.file("/no/such");
    let session = Debugging::of(language).await;
    for script in [missing.as_str(), broken.path()] {
        let failed = session.call("start_debugging", json!({ "scriptPath": script, "timeout": 0 })).await;
        assert!(failed.is_error && failed.text.contains(script), "{}", failed.text);
    }
    let failed = session.fails("start_failed", "continue_execution", json!({})).await;
    let answer = PerLanguage {
        name: "slow: syntax error",
        python: "SyntaxError",
        node: "SyntaxError",
        c: "does not compile",
    }
    .of(language);
    assert!(failed.text_of("error").contains(answer), "{}", failed.text);
    session.finish().await;
}
