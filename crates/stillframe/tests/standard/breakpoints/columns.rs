//! Columns: what a language has none of is said, and what makes no sense is refused.

use serde_json::{Value, json};
use test_support::{Language, each};

use crate::debugging::{Debugging, Report};

each![a_column_binds_or_is_reported_as_unsupported, invalid_columns_are_refused];

async fn a_column_binds_or_is_reported_as_unsupported(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let location = json!({ "file": program.path(), "line": program.line("loop"), "column": 13 });
    let set = session.call("set_breakpoint", location.clone()).await;
    let ran = session.call("run_until", json!({ "program": program.path(), "until": [location] })).await;
    if !language.words().has_columns {
        for failed in [set, ran] {
            assert_eq!(failed["code"], "unsupported", "{}", failed.text);
            let answer = " does not support column breakpoints: a breakpoint stops at the first statement of \
                        its line; leave out `column`";
            assert!(failed.text_of("error").ends_with(answer), "{}", failed.text);
        }
        assert_eq!(session.breakpoints().await, Vec::<Value>::new());
    } else if language == Language::Node {
        assert_eq!((&set["column"], &set["requestedColumn"]), (&json!(13), &Value::Null), "{}", set.text);
        let location = (program.path(), program.line("loop"));
        assert_eq!((ran.outcome(), ran.place()), ("breakpoint", location), "{}", ran.text);
    } else {
        // LLDB takes the last place on the line that is not behind the column.
        let location = (program.path(), program.line("loop"));
        assert_eq!((ran.outcome(), ran.place()), ("breakpoint", location), "{}", ran.text);
    }
    session.finish().await;
}

async fn invalid_columns_are_refused(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let code = if language.words().has_columns { "refused" } else { "unsupported" };
    for location in [
        json!({ "file": program.path(), "line": program.line("loop"), "column": 0 }),
        json!({ "file": program.path(), "function": "kind", "column": 3 }),
    ] {
        session.fails(code, "set_breakpoint", location).await;
    }
    session.fails("invalid_arguments", "set_breakpoint", json!({ "line": 1, "column": -1 })).await;
    session.finish().await;
}
