//! `restart_debugging`.

use serde_json::json;
use test_support::{Language, PerLanguage, each};

use crate::debugging::{Debugging, ENDLESS, Report, written_in};

each![
    a_restart_repeats_the_start,
    a_restart_ends_a_running_program_first,
    nothing_can_be_restarted_before_the_first_start,
];

async fn a_restart_repeats_the_start(language: Language) {
    let (program, session) = Debugging::with(language, "readers").await;
    session.break_at(&program, "read").await;
    let arguments = json!({ "scriptPath": program.path(), "args": ["again"], "env": { "COLOUR": "red" }, "stdin": "text" });
    session.ok("start_debugging", arguments).await;
    let read: &[(&str, &str)] = PerLanguage {
        name: "restarts: read",
        python: &[("[sys.argv[1:], os.environ['COLOUR'], text]", "[['again'], 'red', 'text']")][..],
        node: &[("[process.argv.slice(2), process.env.COLOUR, text]", "[ [ 'again' ], 'red', 'text' ]")],
        c: &[("argv[1]", "\"again\""), ("colour", "\"red\""), ("text", "\"text\"")],
    }
    .of(language);
    for round in 0..3 {
        let stopped = session.step("restart_debugging").await;
        assert_eq!(stopped.place(), (program.path(), program.line("read")), "round {round}");
        assert_eq!(
            stopped["message"],
            format!("Debugging started for {}. Current state: paused", program.path())
        );
        for (expression, expected) in read {
            let value = session.evaluate(expression).await;
            assert_eq!(language.plain(&value), *expected, "round {round}");
        }
    }
    session.run_to_the_end().await;
    let stopped = session.step("restart_debugging").await;
    assert_eq!(stopped.outcome(), "breakpoint", "also when it has ended");
    session.finish().await;
}

async fn a_restart_ends_a_running_program_first(language: Language) {
    let (_folder, program) = written_in(language, "endless", ENDLESS);
    let session = Debugging::of(language).await;
    let start = json!({ "scriptPath": program.path(), "timeout": 300 });
    assert_eq!(session.ok("start_debugging", start).await.outcome(), "running");
    let pid = async || session.ok("list_threads", json!({})).await.at("/threads/0/processId").clone();
    let before = pid().await;
    let again = session.ok("restart_debugging", json!({ "timeout": 300 })).await;
    assert_eq!(again.outcome(), "running");
    let after = pid().await;
    assert_ne!(before, after);
    let alive = session.server.mark().processes();
    assert!(!alive.iter().any(|(pid, _)| before == json!(pid)), "{alive:?}");
    session.finish().await;
}

async fn nothing_can_be_restarted_before_the_first_start(language: Language) {
    let session = Debugging::of(language).await;
    let failed = session.fails("not_started", "restart_debugging", json!({})).await;
    assert_eq!(
        failed["message"],
        "no program is being debugged: the session is created; call start_debugging"
    );
    session.finish().await;
}
