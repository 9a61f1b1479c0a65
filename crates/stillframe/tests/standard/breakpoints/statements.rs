//! Breakpoints by the text of a line.

use serde_json::json;

use super::{bank, lines};
use crate::debugging::{Debugging, Report};

#[tokio::test]
async fn a_part_of_the_text_of_a_line_is_enough() {
    let program = bank();
    let session = Debugging::new().await;
    let set = json!({ "file": program.path(), "statement": "self.balance += amount" });
    assert_eq!(session.ok("set_breakpoint", set).await["line"], program.line("deposit"));
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("deposit")));
    session.finish().await;
}

#[tokio::test]
async fn an_ambiguous_text_lists_every_match() {
    let program = bank();
    let session = Debugging::new().await;
    let asked = json!({ "file": program.path(), "statement": "def deposit" });
    let failed = session.fails("statement_not_found", "set_breakpoint", asked).await;
    let error = format!("`def deposit` stands on 2 lines; add text, or `nearLine` in `{}`", program.path());
    assert_eq!(failed["error"], error);
    let found = lines(failed.at("/context/lines"));
    assert_eq!(found, [u64::from(program.line("docstring") - 1), u64::from(program.line("purse") - 1)]);
    assert!(failed.at("/context/lines/1/content").as_str().unwrap().contains("coins"), "{}", failed.text);
    session.finish().await;
}

#[tokio::test]
async fn near_line_picks_one_of_several_matches() {
    let program = bank();
    let session = Debugging::new().await;
    for (near, expected) in [("deposit", "deposit_return"), ("even", "kind_return")] {
        let asked =
            json!({ "file": program.path(), "statement": "return", "nearLine": program.line(near) + 1 });
        assert_eq!(session.ok("set_breakpoint", asked).await["line"], program.line(expected), "{near}");
    }
    session.finish().await;
}

#[tokio::test]
async fn a_text_that_is_nowhere_is_refused_with_the_lines_most_like_it() {
    let program = bank();
    let session = Debugging::new().await;
    let asked = json!({ "file": program.path(), "statement": "self.balance -= amount" });
    let failed = session.fails("statement_not_found", "set_breakpoint", asked).await;
    assert_eq!(
        failed["error"],
        format!("`self.balance -= amount` stands on no line in `{}`", program.path())
    );
    assert_eq!(lines(failed.at("/context/lines")).first(), Some(&u64::from(program.line("deposit"))));
    session.finish().await;
}
