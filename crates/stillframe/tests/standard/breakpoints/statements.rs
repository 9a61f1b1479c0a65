//! Breakpoints by the text of a line.

use serde_json::json;
use test_support::{Language, PerLanguage, each};

use super::lines;
use crate::debugging::{Debugging, Report};

each![
    part_of_a_line_is_enough_to_find_it,
    an_ambiguous_text_lists_every_match,
    near_line_selects_one_of_several_matches,
    of_two_places_neither_is_ignored_silently,
    unmatched_text_is_refused_with_the_most_similar_lines,
];

async fn part_of_a_line_is_enough_to_find_it(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let statement = format!("{} += {}", language.own("balance"), language.variable("amount"));
    let set = json!({ "file": program.path(), "statement": statement });
    assert_eq!(session.ok("set_breakpoint", set).await["line"], program.line("deposit"));
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("deposit")));
    session.finish().await;
}

async fn an_ambiguous_text_lists_every_match(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let (statement, matches, content) = PerLanguage {
        name: "statements: ambiguous",
        python: ("def deposit", ["deposit_header", "purse_header"], "coins"),
        node: ("return this.balance", ["deposit_return", "doubled"], "RATE"),
        c: ("return self->balance", ["deposit_return", "doubled"], "RATE"),
    }
    .of(language);
    let arguments = json!({ "file": program.path(), "statement": statement });
    let failed = session.fails("statement_not_found", "set_breakpoint", arguments).await;
    let error = format!("matches 2 lines; add text, or `nearLine` in `{}`", program.path());
    assert!(failed.text_of("error").ends_with(&error), "{}", failed.text);
    let found = lines(failed.at("/context/lines"));
    assert_eq!(found, matches.map(|name| u64::from(program.line(name))));
    assert!(failed.at("/context/lines/1/content").as_str().unwrap().contains(content), "{}", failed.text);
    session.finish().await;
}

async fn near_line_selects_one_of_several_matches(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    for (near, expected) in [("deposit", "deposit_return"), ("even", "kind_return")] {
        let arguments =
            json!({ "file": program.path(), "statement": "return", "nearLine": program.line(near) + 1 });
        assert_eq!(session.ok("set_breakpoint", arguments).await["line"], program.line(expected), "{near}");
    }
    session.finish().await;
}

async fn of_two_places_neither_is_ignored_silently(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let statement = format!("{} += {}", language.own("balance"), language.variable("amount"));
    let (line, given) = (program.line("deposit"), program.line("deposit") + 1);
    let set = json!({ "file": program.path(), "line": given, "statement": statement, "function": " " });
    let set = session.ok("set_breakpoint", set).await;
    assert_eq!(set["line"], line);
    let said =
        format!("`{statement}` is on line {line}; `line` {given} only selects among lines with that text");
    assert!(set.text_of("message").contains(&said), "{}", set.text);
    for (name, value) in [("line", json!(line)), ("statement", json!(statement))] {
        let set = json!({ "file": program.path(), "function": "deposit", name: value });
        let refused = session.fails("refused", "set_breakpoint", set).await;
        let said = format!("`function` and `{name}` name two places; give one of them");
        assert!(refused.text_of("error").contains(&said), "{}", refused.text);
    }
    let set = json!({ "file": program.path(), "function": language.words().deposit.0, "line": 0 });
    session.ok("set_breakpoint", set).await;
    let set = json!({ "file": program.path(), "function": "" });
    let refused = session.fails("refused", "set_breakpoint", set).await;
    assert!(refused.text_of("error").contains("needs `line`, `statement` or `function`"), "{}", refused.text);
    session.finish().await;
}

async fn unmatched_text_is_refused_with_the_most_similar_lines(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let statement = format!("{} -= amount", language.own("balance"));
    let arguments = json!({ "file": program.path(), "statement": statement });
    let failed = session.fails("statement_not_found", "set_breakpoint", arguments).await;
    assert_eq!(failed["error"], format!("`{statement}` matches no line in `{}`", program.path()));
    assert_eq!(lines(failed.at("/context/lines")).first(), Some(&u64::from(program.line("deposit"))));
    session.finish().await;
}
