//! Where breakpoints are after the file was edited.

use serde_json::json;
use tempfile::TempDir;
use test_support::{Answer, Fixture, Language, Texts, each};

use crate::debugging::{Debugging, Report, folder};

each![
    a_statement_is_found_on_its_new_line_after_an_edit,
    a_statement_deleted_by_an_edit_is_named,
    a_line_that_lost_its_code_moves_and_returns,
    a_deleted_line_is_unverified_with_the_reason,
    a_deleted_file_does_not_prevent_a_restart,
];

/// The sum that is looked for, before an edit.
const BEFORE: Texts = Texts {
    name: "edits_before",
    python: "x = 1\ny = x + 1  # @sum\nprint(y)\n",
    node: "let x = 1;\nlet y = x + 1; // @sum\nconsole.log(y);\n",
    c: "int main(void) {\n    int x = 1;\n    int y = x + 1; // @sum\n    return 0 * y;\n}\n",
};

/// The text of the line that is edited.
fn sum(language: Language) -> String {
    format!("{} = {} + 1", language.variable("y"), language.variable("x"))
}

fn write(language: Language, folder: &TempDir, texts: Texts) -> Fixture {
    Fixture::write_in(language, folder.path(), "edited", texts)
}

async fn a_statement_is_found_on_its_new_line_after_an_edit(language: Language) {
    let folder = folder();
    let before = write(language, &folder, BEFORE);
    let session = Debugging::of(language).await;
    let text = sum(language);
    let set = session.ok("set_breakpoint", json!({ "file": before.path(), "statement": text })).await;
    let stopped = session.start(&before).await;
    assert_eq!(stopped.place(), (before.path(), before.line("sum")));

    let after = Texts {
        name: "edits_moved",
        python: "# New.\n\nx = 41\n\ny = x + 1  # @sum\nprint(y)\n",
        node: "// New.\n\nlet x = 41;\n\nlet y = x + 1; // @sum\nconsole.log(y);\n",
        c: "// New.\n\nint main(void) {\n    int x = 41;\n\n    int y = x + 1; // @sum\n    return 0 * y;\n}\n",
    };
    let after = write(language, &folder, after);
    let again = session.step("restart_debugging").await;
    assert_eq!((again.place(), again.variable("x")), ((after.path(), after.line("sum")), "41"));
    let listed = session.breakpoints().await;
    assert_eq!(listed[0]["breakpointId"], set["breakpointId"]);
    assert_eq!(listed[0]["line"], after.line("sum"));
    let moved = json!({
        "breakpointId": set["breakpointId"],
        "file": after.path(),
        "from": before.line("sum"),
        "to": after.line("sum"),
        "statement": text,
    });
    assert_eq!(again.at("/data/anchorResolution"), &json!({ "moved": [moved], "stale": [] }));
    session.finish().await;
}

async fn a_statement_deleted_by_an_edit_is_named(language: Language) {
    let folder = folder();
    let before = write(language, &folder, BEFORE);
    let session = Debugging::of(language).await;
    let text = sum(language);
    let set = session.ok("set_breakpoint", json!({ "file": before.path(), "statement": text })).await;
    session.start(&before).await;
    let after = Texts {
        name: "edits_gone",
        python: "x = 1\ny = x - 1  # @difference\nprint(y)\n",
        node: "let x = 1;\nlet y = x - 1; // @difference\nconsole.log(y);\n",
        c: "int main(void) {\n    int x = 1;\n    int y = x - 1; // @difference\n    return 0 * y;\n}\n",
    };
    let after = write(language, &folder, after);
    let again = session.step("restart_debugging").await;
    let (id, line) = (set.text_of("breakpointId"), after.line("difference"));
    let note = format!("{id}: its text `{text}` is no longer in {}; it stays on line {line}", after.path());
    assert_eq!(again["notes"], json!([note]));
    assert_eq!(again.at("/data/anchorResolution/stale/0/breakpointId"), id);
    assert!(again.at("/data/warning").as_str().unwrap().contains(id), "{}", again.text);
    assert_eq!(again.place(), (after.path(), line));
    session.finish().await;
}

/// Both ways to start a program again.
async fn again(session: &Debugging, tool: &str, program: &Fixture) -> Answer {
    if tool == "restart_debugging" {
        return session.step(tool).await;
    }
    session.run_to_the_end().await;
    session.start(program).await
}

async fn a_line_that_lost_its_code_moves_and_returns(language: Language) {
    let folder = folder();
    for tool in ["start_debugging", "restart_debugging"] {
        let before = write(language, &folder, BEFORE);
        let (session, _) = Debugging::stopped_at(&before, "sum").await;
        let after = Texts {
            name: "edits_comment",
            python: "x = 1\n\n# New.\ny = x + 2  # @new\nprint(y)\n",
            node: "let x = 1;\n\n// New.\nlet y = x + 2; // @new\nconsole.log(y);\n",
            c: "int main(void) {\n    int x = 1;\n\n    // New.\n    int y = x + 2; // @new\n    return 0 * y;\n}\n",
        };
        let after = write(language, &folder, after);
        let moved = again(&session, tool, &after).await;
        assert_eq!(moved.place(), (after.path(), after.line("new")), "{tool}: {}", moved.text);
        let listed = session.breakpoints().await;
        assert_eq!(
            (&listed[0]["line"], &listed[0]["requestedLine"]),
            (&json!(after.line("new")), &json!(before.line("sum")))
        );
        write(language, &folder, BEFORE);
        let back = again(&session, tool, &before).await;
        assert_eq!(back.place(), (before.path(), before.line("sum")), "{tool}: {}", back.text);
        session.finish().await;
    }
}

async fn a_deleted_line_is_unverified_with_the_reason(language: Language) {
    let folder = folder();
    for tool in ["start_debugging", "restart_debugging"] {
        let before = write(language, &folder, BEFORE);
        let (session, _) = Debugging::stopped_at(&before, "sum").await;
        let after = Texts {
            name: "edits_short",
            python: "x = 1\n",
            node: "let x = 1;\n",
            c: "int main(void) { return 0; }\n",
        };
        let after = write(language, &folder, after);
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

async fn a_deleted_file_does_not_prevent_a_restart(language: Language) {
    let folder = folder();
    let other = Texts {
        name: "edits_other",
        python: "z = 1  # @z\n",
        node: "const z = 1; // @z\n",
        c: "static int two(void) {\n    int z = 1; // @z\n    return z + 1;\n}\n",
    };
    let other = Fixture::write_in(language, folder.path(), "other", other);
    let program = write(language, &folder, BEFORE);
    let (session, _) = Debugging::stopped_at(&program, "sum").await;
    let by_line = session.break_at(&other, "z").await;
    let by_text = session.ok("set_breakpoint", json!({ "file": other.path(), "statement": "z = 1" })).await;
    std::fs::remove_file(other.path()).unwrap();
    let again = session.step("restart_debugging").await;
    assert_eq!(again.place(), (program.path(), program.line("sum")), "{}", again.text);
    let note = |set: &Answer| {
        let id = set.text_of("breakpointId");
        format!("{id}: no file `{}`; it stays on line {}", other.path(), other.line("z"))
    };
    assert_eq!(again["notes"], json!([note(&by_line), note(&by_text)]));
    session.finish().await;
}
