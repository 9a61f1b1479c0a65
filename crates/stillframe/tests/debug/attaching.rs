//! Programs that run already.

use std::process::Stdio;

use test_support::Fixture;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::Shell;

/// A program that was started elsewhere, and ends with its input.
#[expect(clippy::disallowed_methods, reason = "a program that is not ours, which ends with its input")]
async fn running(program: &Fixture) -> Child {
    let mut command = Command::new("node");
    command.args(["--inspect-port=0", program.path()]).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("node runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    lines.next_line().await.expect("it writes").expect("a line");
    child
}

#[tokio::test]
async fn an_attached_program_continues_after_the_session() {
    let shell = Shell::new();
    let text = "let rounds = 0;\nsetInterval(() => {\n  rounds += 1; // @work\n}, 10);\n\
                process.stdin.on('end', () => process.exit(0)).resume();\nconsole.log('ready');\n";
    let program = Fixture::write(shell.path(), "server.js", text);
    let mut child = running(&program).await;
    let (pid, place) =
        (child.id().expect("it runs").to_string(), format!("{}:{}", program.path(), program.line("work")));
    let words = ["attach", "--pid", &pid, "--language", "javascript"];
    shell.debug(words).await.ended_with(0).says("Attached");
    shell.debug(["break", &place]).await.ended_with(0).says(": bound");
    shell.debug(["continue"]).await.ended_with(0).says("breakpoint at ");
    shell.debug(["eval", "rounds > 0"]).await.ended_with(0).says("true\n");
    shell.finish().await;
    assert_eq!(child.try_wait().unwrap(), None, "what was attached to runs on");
    drop(child.stdin.take());
    assert!(child.wait().await.unwrap().success());
}
