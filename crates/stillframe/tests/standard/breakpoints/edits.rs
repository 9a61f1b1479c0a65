//! Where breakpoints are after the file was edited.

use serde_json::json;
use test_support::Fixture;

use crate::debugging::{Debugging, Report, folder};

#[tokio::test]
async fn a_statement_is_found_again_on_its_new_line_after_an_edit() {
    let folder = folder();
    let before = Fixture::write(folder.path(), "edited.py", "x = 1\ny = x + 1  # @sum\nprint(y)\n");
    let session = Debugging::new().await;
    let set = session.ok("set_breakpoint", json!({ "file": before.path(), "statement": "y = x + 1" })).await;
    let stopped = session.start(&before).await;
    assert_eq!(stopped.place(), (before.path(), before.line("sum")));

    let after =
        Fixture::write(folder.path(), "edited.py", "# New.\n\nx = 41\n\ny = x + 1  # @sum\nprint(y)\n");
    let again = session.step("restart_debugging").await;
    assert_eq!((again.place(), again.variable("x")), ((after.path(), after.line("sum")), "41"));
    let listed = session.breakpoints().await;
    assert_eq!(listed[0]["breakpointId"], set["breakpointId"]);
    assert_eq!(listed[0]["line"], after.line("sum"));
    session.finish().await;
}

#[tokio::test]
async fn a_statement_that_is_gone_after_an_edit_is_named() {
    let folder = folder();
    let before = Fixture::write(folder.path(), "edited.py", "x = 1\ny = x + 1  # @sum\nprint(y)\n");
    let session = Debugging::new().await;
    let set = session.ok("set_breakpoint", json!({ "file": before.path(), "statement": "y = x + 1" })).await;
    session.start(&before).await;
    let after = Fixture::write(folder.path(), "edited.py", "x = 1\ny = x - 1  # @difference\nprint(y)\n");
    let again = session.step("restart_debugging").await;
    let (id, line) = (set.text_of("breakpointId"), after.line("difference"));
    let note =
        format!("{id}: its text `y = x + 1` is not in {} any more; it stays on line {line}", after.path());
    assert_eq!(again["notes"], json!([note]));
    assert_eq!(again.place(), (after.path(), line));
    session.finish().await;
}

const BEFORE: &str = "x = 1\ny = x + 1  # @sum\nprint(y)\n";

/// Both ways to start a program again.
async fn again(session: &Debugging, tool: &str, program: &Fixture) -> test_support::Answer {
    if tool == "restart_debugging" {
        return session.step(tool).await;
    }
    session.run_to_the_end().await;
    session.start(program).await
}

#[tokio::test]
async fn a_line_that_has_lost_its_code_gives_way_and_gets_it_back() {
    let folder = folder();
    for tool in ["start_debugging", "restart_debugging"] {
        let before = Fixture::write(folder.path(), "edited.py", BEFORE);
        let (session, _) = Debugging::stopped_at(&before, "sum").await;
        let after =
            Fixture::write(folder.path(), "edited.py", "x = 1\n\n# New.\ny = x + 2  # @new\nprint(y)\n");
        let moved = again(&session, tool, &after).await;
        assert_eq!(moved.place(), (after.path(), after.line("new")), "{tool}: {}", moved.text);
        let listed = session.breakpoints().await;
        assert_eq!(
            (&listed[0]["line"], &listed[0]["requestedLine"]),
            (&json!(after.line("new")), &json!(before.line("sum")))
        );
        Fixture::write(folder.path(), "edited.py", BEFORE);
        let back = again(&session, tool, &before).await;
        assert_eq!(back.place(), (before.path(), before.line("sum")), "{tool}: {}", back.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn a_line_that_is_gone_is_unverified_with_the_reason() {
    let folder = folder();
    for tool in ["start_debugging", "restart_debugging"] {
        let before = Fixture::write(folder.path(), "edited.py", BEFORE);
        let (session, _) = Debugging::stopped_at(&before, "sum").await;
        let after = Fixture::write(folder.path(), "edited.py", "x = 1\n");
        let ended = again(&session, tool, &after).await;
        assert_eq!(ended.outcome(), "ended", "{tool}: {}", ended.text);
        let listed = session.breakpoints().await;
        let problem = format!(
            "line {} of `{}` is past the end of the file, which has 1 lines",
            before.line("sum"),
            after.path()
        );
        assert_eq!((&listed[0]["verified"], &listed[0]["reason"]), (&json!(false), &json!(problem)));
        assert_eq!(
            ended["notes"],
            json!([format!("{}: {problem}", listed[0]["breakpointId"].as_str().unwrap())])
        );
        session.finish().await;
    }
}

#[tokio::test]
async fn a_file_that_is_gone_does_not_keep_the_program_from_starting_again() {
    let folder = folder();
    let other = Fixture::write(folder.path(), "other.py", "z = 1  # @z\n");
    let program = Fixture::write(folder.path(), "main.py", BEFORE);
    let (session, _) = Debugging::stopped_at(&program, "sum").await;
    let by_line = session.break_at(&other, "z").await;
    let by_text = session.ok("set_breakpoint", json!({ "file": other.path(), "statement": "z = 1" })).await;
    std::fs::remove_file(other.path()).unwrap();
    let again = session.step("restart_debugging").await;
    assert_eq!(again.place(), (program.path(), program.line("sum")), "{}", again.text);
    let note = |set: &test_support::Answer| {
        let id = set.text_of("breakpointId");
        format!("{id}: there is no file `{}`; it stays on line {}", other.path(), other.line("z"))
    };
    assert_eq!(again["notes"], json!([note(&by_line), note(&by_text)]));
    session.finish().await;
}
