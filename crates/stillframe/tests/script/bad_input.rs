//! What is said of calls that cannot be. Nothing is started for them.

use serde_json::json;

use crate::{MAIN, Scripting};

#[tokio::test]
async fn impossible_requests_are_refused_before_anything_runs() {
    let marks = format!("require('node:fs').writeFileSync('ran', '');\n{MAIN}");
    let scripting = Scripting::with_files(&[("main.js", &marks), ("app.py", "print(1)\n")]).await;
    let good = json!({ "command": "node main.js", "breakpoint": { "file": "main.js", "line": 3 }, "expression": "1", "timeout": 5000 });
    let python = json!({ "file": "app.py", "line": 1 });
    let table = [
        ("timeout", json!(0), "`timeout` must be at least 1, not 0"),
        ("timeout", json!(-1), "`timeout` must not be negative"),
        ("timeout", json!(600_001), "`timeout` is 600001: the limit `longest_wait` is 600000"),
        ("timeout", json!(null), "`timeout` is missing; expected a whole number"),
        ("timeout", json!("soon"), "`timeout` must be a whole number, not `\"soon\"`"),
        ("maxHits", json!(0), "`maxHits` must be at least 1, not 0"),
        ("command", json!("  "), "`command` is empty"),
        ("expression", json!("a b"), "`a b` is not a valid expression: SyntaxError"),
        ("expression", json!(""), "`` is not a valid expression: SyntaxError"),
        ("condition", json!("a ="), "`a =` is not a valid expression: SyntaxError"),
        ("breakpoint", json!({ "file": "main.js" }), "`breakpoint.line` is missing; expected a whole number"),
        ("breakpoint", json!({ "file": "main.js", "line": 0 }), "lines start at 1"),
        ("breakpoint", json!({ "file": "main.js", "line": 999 }), "is past the end of the file"),
        ("breakpoint", json!({ "file": "mian.js", "line": 3 }), "did you mean"),
        ("cwd", json!("nowhere"), "no file `"),
        (
            "breakpoint",
            json!({ "file": "main.go", "line": 1 }),
            "`breakpoint.file` is Go; this tool debugs only Node.js and Python",
        ),
        (
            "breakpoint",
            python,
            "`command` begins with `node`; for a breakpoint in Python, use `python FILE ARGS`",
        ),
    ];
    for (name, value, message) in table {
        let mut arguments = good.clone();
        arguments[name] = value;
        let result = scripting.call(arguments.clone()).await;
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{arguments}: {result}"));
        assert!(text.contains(message), "{arguments}: {text}");
        assert_eq!(
            (&result["structuredContent"], &result["isError"]),
            (&json!({ "error": text }), &json!(true))
        );
    }
    assert!(!scripting.folder().join("ran").exists());
    scripting.finish().await;
}
