//! The same rules as in MCP sessions: limits, safety, redaction, the journal.

use test_support::Fixture;

use crate::{STILLFRAME, Shell};

#[tokio::test]
async fn policy_applies_from_the_start_of_a_session() {
    let shell = Shell::new();
    let program = Fixture::write(shell.path(), "app.py", "x = 1\nprint(x)  # @stop\n");
    let inside = shell.path().display().to_string();
    let outside = Fixture::python("swap_vars");
    let words = ["--allow-root", &inside, "launch", outside.path()];
    shell.debug(words).await.ended_with(1).says("outside");
    shell.assert_nothing_left();

    let location = format!("{}:{}", program.path(), program.line("stop"));
    let rules = ["--read-only", "--allow-program", program.path(), "--limit", "breakpoints=1"];
    let words = [&rules[..], &["launch", program.path(), "--break", &location]].concat();
    shell.debug(words).await.ended_with(0);
    assert_eq!(shell.debug(["eval", "x + 1"]).await.ended_with(0).out, "2\n");
    shell.debug(["eval", "open('f')"]).await.ended_with(1).says("is a call, which may have side effects");
    shell.debug(["break", "app.py:1"]).await.ended_with(1).says("`breakpoints`");
    let ran = shell.debug(["--no-redact", "eval", "x"]).await.ended_with(1);
    ran.says("`--no-redact` applies to a whole session: pass it to `launch` or `attach`");
    shell.finish().await;
}

#[tokio::test]
async fn credentials_are_redacted_unless_the_session_shows_them() {
    let shell = Shell::new();
    let text = "password = 'swordfish'\nprint()  # @stop\n";
    let program = Fixture::write(shell.path(), "app.py", text);
    let location = format!("{}:{}", program.path(), program.line("stop"));
    for (options, shows) in [(&[][..], false), (&["--no-redact"], true)] {
        let words = [options, &["launch", program.path(), "--break", &location]].concat();
        for ran in
            [shell.debug(words).await, shell.debug(["locals"]).await, shell.debug(["eval", "password"]).await]
        {
            let ran = ran.ended_with(0);
            assert_eq!(ran.out.contains("swordfish"), shows, "{}", ran.out);
            assert_eq!(ran.out.contains("\nhidden: "), !shows, "{}", ran.out);
        }
        shell.debug(["stop"]).await.ended_with(0);
    }
    shell.assert_nothing_left();
}

#[tokio::test]
async fn a_session_is_written_to_the_journal() {
    let (shell, program) = (Shell::new(), Fixture::python("swap_vars"));
    let location = format!("{}:{}", program.path(), program.line("return"));
    let words = ["launch", program.path(), "--break", &location];
    shell.debug(words).await.ended_with(0);
    shell.debug(["eval", "a + b"]).await.ended_with(0);
    shell.debug(["stop"]).await.ended_with(0);
    shell.assert_nothing_left();
    let mut report = STILLFRAME.command();
    let report = report.arg("report").arg("--log-file").arg(shell.journal()).output().await.unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    for answer in ["main.py", "start_debugging", "evaluate_expression", "a + b"] {
        assert!(report.contains(answer), "{answer}: {report}");
    }
}
