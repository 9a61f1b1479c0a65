//! `stillframe hang`.

use serde_json::Value;

use crate::{STILLFRAME, program};

/// What the command prints, and its exit code.
async fn hang(arguments: &[&str]) -> (String, i32) {
    let mut command = STILLFRAME.command();
    command.arg("hang").args(arguments);
    command.env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
    let output = command.output().await.expect("it can be started");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    (text, output.status.code().expect("it ends by itself"))
}

#[tokio::test]
async fn the_exit_code_reflects_the_verdict() {
    let table =
        [("finishes.js", 0), ("server.js", 3), ("while_true.js", 4), ("slow_count.js", 5), ("throws.js", 6)];
    for (name, expected) in table {
        let program = program(name);
        let (text, code) = hang(&["--timeout", "2", "--", "node", program.path()]).await;
        assert_eq!(code, expected, "{name}: {text}");
    }
    let (text, code) = hang(&["--", "no-such-command"]).await;
    assert_eq!((text.as_str(), code), ("", 1));
    assert_eq!(hang(&[]).await.1, 2);
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn the_report_fits_a_terminal_and_shows_the_line() {
    let program = program("many_lines.py");
    let (text, _) = hang(&["--timeout", "2", "--", "python3", program.path()]).await;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("while i < limit:"), "{text}");
    let (text, _) = hang(&["--timeout", "2", "--json", "--", "python3", program.path()]).await;
    let report: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(report["verdict"], "busy_loop");
}
