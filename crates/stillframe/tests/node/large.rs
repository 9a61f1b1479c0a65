//! Sources of many megabytes, as compilers and bundlers make them.

use serde_json::json;
use test_support::Language;

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// A script of about so many megabytes, with a function at its end.
fn script(megabytes: usize) -> Script {
    let filler = format!("// {}\n", "a comment ".repeat(100)).repeat(megabytes * 1000);
    Script::new(&format!("{filler}function last(a) {{\n  return a; // @body\n}}\nlast(1);\n"))
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_function_of_a_large_file_is_found() {
    let script = script(6);
    for arguments in [json!({ "file": script.path(), "function": "last" }), json!({ "function": "last" })] {
        let session = Debugging::of(Language::Node).await;
        session.ok("set_breakpoint", arguments).await;
        let stopped = session.start(&script).await;
        assert_eq!(stopped.place(), (script.path(), script.line("body")), "{}", stopped.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn a_file_beyond_the_size_limit_is_reported_as_too_large() {
    let script = script(11);
    let session = Debugging::of(Language::Node).await;
    let arguments = json!({ "file": script.path(), "function": "last" });
    let failed = session.fails("file_unusable", "set_breakpoint", arguments).await;
    assert!(failed.text.contains("could not be searched for function `last`: it has 1"), "{}", failed.text);
    assert!(failed.text.contains("give `line` or `statement`"), "{}", failed.text);
    session.finish().await;
}
