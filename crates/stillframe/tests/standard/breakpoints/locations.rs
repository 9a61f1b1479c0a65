//! Breakpoints by line, on lines with and without code.

use serde_json::{Value, json};
use test_support::{Fixture, Language, PerLanguage, each};

use super::{bank, lines, state};
use crate::debugging::{Debugging, Report};

each![
    a_breakpoint_on_a_line_with_code_is_bound_there,
    a_breakpoint_on_a_blank_line_moves_to_the_next_line_with_code,
    a_breakpoint_on_a_comment_moves_to_the_next_line_with_code,
    a_breakpoint_between_functions_does_not_move_into_one,
    a_breakpoint_on_a_docstring_moves_to_the_first_statement,
    a_breakpoint_on_else_moves_to_the_first_line_of_its_branch,
    a_breakpoint_on_the_end_of_a_multiline_call_moves_to_the_next_statement,
    a_breakpoint_inside_a_multiline_call_binds,
    a_line_past_the_end_is_refused_with_suggested_lines,
    line_zero_is_refused,
    a_missing_file_is_refused_at_once_with_similar_ones,
    matching_expected_content_sets_the_breakpoint,
    mismatched_expected_content_is_refused_with_its_actual_line,
    a_breakpoint_without_a_location_is_refused_with_advice,
];

async fn a_breakpoint_on_a_line_with_code_is_bound_there(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_at(&program, "deposit").await;
    assert_eq!((&set["verified"], &set["requestedLine"]), (&json!(false), &Value::Null));
    assert_eq!(set["reason"], "no program is running; it binds when one starts");
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("deposit")));
    assert_eq!(stopped["breakpointIds"], json!([set["breakpointId"]]));
    let listed = session.breakpoints().await;
    assert_eq!(state(&listed[0]), json!([program.line("deposit"), program.line("deposit"), true, true, 1]));
    assert_eq!(listed[0]["reason"], Value::Null);
    session.finish().await;
}

/// Sets a breakpoint on a line without code, checks that the answer says where it moved, and that the
/// program stops there.
async fn goes_to(program: &Fixture, asked: u32, to: &str) {
    let session = Debugging::of(program.language()).await;
    let set = session.ok("set_breakpoint", json!({ "file": program.path(), "line": asked })).await;
    let line = program.line(to);
    if !program.language().reads_sources() {
        // Of C, the debugger knows which lines hold code once the program is loaded.
        assert_eq!((&set["line"], &set["verified"]), (&json!(asked), &json!(false)), "{}", set.text);
        let stopped = session.start(program).await;
        assert_eq!(stopped.place(), (program.path(), line), "{}", stopped.text);
        assert_eq!(state(&session.breakpoints().await[0]), json!([line, asked, true, true, 1]));
        return session.finish().await;
    }
    assert_eq!((&set["line"], &set["requestedLine"]), (&json!(line), &json!(asked)), "{}", set.text);
    let text = set.at("/context/lineContent").as_str().expect("a line").trim().to_owned();
    let location = format!("{}:{line}", program.path());
    let message =
        format!("Breakpoint set at {location} (`{text}`), because line {asked} has no code to stop at");
    assert_eq!(set["message"], message);
    let stopped = session.start(program).await;
    assert_eq!(stopped.place(), (program.path(), line));
    assert_eq!(state(&session.breakpoints().await[0]), json!([line, asked, true, true, 1]));
    session.finish().await;
}

async fn a_breakpoint_on_a_blank_line_moves_to_the_next_line_with_code(language: Language) {
    let program = bank(language);
    goes_to(&program, program.line("deposit") + 1, "deposit_return").await;
}

async fn a_breakpoint_on_a_comment_moves_to_the_next_line_with_code(language: Language) {
    let program = bank(language);
    goes_to(&program, program.line("comment"), "deposit").await;
}

async fn a_breakpoint_between_functions_does_not_move_into_one(language: Language) {
    let program = bank(language);
    if language.is_compiled() {
        // Lines outside functions have no code there.
        let session = Debugging::of(language).await;
        session.break_at(&program, "comment_of_module").await;
        let ended = session.start(&program).await;
        assert_eq!(ended.outcome(), "ended", "{}", ended.text);
        assert_eq!(session.breakpoints().await[0]["verified"], false);
        return session.finish().await;
    }
    goes_to(&program, program.line("comment_of_module"), "rate").await;
}

async fn a_breakpoint_on_a_docstring_moves_to_the_first_statement(language: Language) {
    let program = bank(language);
    goes_to(&program, program.line("docstring"), "deposit").await;
}

async fn a_breakpoint_on_else_moves_to_the_first_line_of_its_branch(language: Language) {
    let program = bank(language);
    goes_to(&program, program.line("else"), "even").await;
}

async fn a_breakpoint_on_the_end_of_a_multiline_call_moves_to_the_next_statement(language: Language) {
    let program = bank(language);
    goes_to(&program, program.line("closing"), "bill_return").await;
}

async fn a_breakpoint_inside_a_multiline_call_binds(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_at(&program, "argument").await;
    assert_eq!((&set["line"], &set["requestedLine"]), (&json!(program.line("argument")), &Value::Null));
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("argument")));
    assert_eq!(stopped.at("/location/function"), "bill");
    session.finish().await;
}

#[tokio::test]
async fn a_breakpoint_on_a_decorator_moves_to_the_definition_and_reports_it() {
    let program = bank(Language::Python);
    let session = Debugging::new().await;
    let set = session.break_at(&program, "decorator").await;
    let (line, body) = (program.line("decorator"), program.line("bill_body"));
    let target_location = format!("{}:{line}", program.path());
    let note = format!(
        "line {line} defines `bill`: it stops at the definition, not at calls; the body begins \
         on line {body}"
    );
    assert_eq!(set["message"], format!("Breakpoint set at {target_location}; {note}"));
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), line));
    assert_eq!(stopped.at("/location/function"), "<module>");
    // Python passes the line twice: it reads the decorator, and then calls it with the function.
    let again = session.go_on().await;
    assert_eq!(again.place(), (program.path(), line));
    session.finish_at_end().await;
}

async fn a_line_past_the_end_is_refused_with_suggested_lines(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let arguments = json!({ "file": program.path(), "line": 9999 });
    let failed = session.fails("line_unusable", "set_breakpoint", arguments).await;
    let length = std::fs::read_to_string(program.path()).unwrap().lines().count();
    let error =
        format!("line 9999 of `{}` is past the end of the file, which has {length} lines", program.path());
    assert_eq!(failed["error"], error);
    // Which lines of C hold code is known once the program is loaded.
    if !language.is_compiled() {
        let nearest = lines(failed.at("/context/nearest"));
        assert_eq!(nearest.last(), Some(&u64::from(program.line("start"))));
    }
    assert_eq!(session.breakpoints().await, Vec::<Value>::new());
    session.finish().await;
}

async fn line_zero_is_refused(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let arguments = json!({ "file": program.path(), "line": 0 });
    let failed = session.fails("line_unusable", "set_breakpoint", arguments).await;
    assert!(failed.text_of("error").ends_with("does not exist: lines start at 1"), "{}", failed.text);
    session.finish().await;
}

async fn a_missing_file_is_refused_at_once_with_similar_ones(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let missing = program.path().replace("/main.", "/mian.");
    let arguments = json!({ "file": missing, "line": 3 });
    let failed = session.fails("file_not_found", "set_breakpoint", arguments).await;
    assert_eq!(failed["error"], format!("no file `{missing}`"));
    assert_eq!(failed["message"], format!("no file `{missing}`; did you mean {}?", program.path()));
    assert_eq!(failed.at("/context/similar"), &json!([program.path()]));
    session.finish().await;
}

async fn matching_expected_content_sets_the_breakpoint(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let expected = format!("{}  +=  {}", language.own("balance"), language.variable("amount"));
    let expected = json!({ "expectedContent": expected });
    let set = session.break_with(&program, "deposit", expected).await;
    assert_eq!(set["line"], program.line("deposit"));
    session.finish().await;
}

async fn mismatched_expected_content_is_refused_with_its_actual_line(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let other = PerLanguage {
        name: "places: other content",
        python: "name = \"odd\"",
        node: "name = 'odd'",
        c: "name = \"odd\"",
    }
    .of(language);
    let arguments = json!({
        "file": program.path(),
        "line": program.line("deposit"),
        "expectedContent": other,
    });
    let failed = session.fails("line_unusable", "set_breakpoint", arguments).await;
    let line = program.line("deposit");
    let found = PerLanguage {
        name: "places: found content",
        python: "self.balance += amount  # @deposit",
        node: "this.balance += amount; // @deposit",
        c: "self->balance += amount; // @deposit",
    }
    .of(language);
    let problem = format!("is `{found}`, not `{other}`");
    assert_eq!(failed["error"], format!("line {line} of `{}` {problem}", program.path()));
    assert_eq!(lines(failed.at("/context/nearest")), [u64::from(program.line("odd"))]);
    assert_eq!(session.breakpoints().await, Vec::<Value>::new());
    session.finish().await;
}

async fn a_breakpoint_without_a_location_is_refused_with_advice(language: Language) {
    let session = Debugging::of(language).await;
    let failed = session.call("set_breakpoint", json!({})).await;
    assert_eq!(failed["error"], "a breakpoint needs `file` with `line` or `statement`, or `function`");
    let failed = session.call("set_breakpoint", json!({ "file": bank(language).path() })).await;
    assert_eq!(failed["error"], "a breakpoint in a file needs `line`, `statement` or `function`");
    session.finish().await;
}
