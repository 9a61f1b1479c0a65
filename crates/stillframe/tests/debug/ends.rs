//! Whatever ends a session, nothing is left of it.

use std::process::Stdio;
use std::time::Duration;

use test_support::{Fixture, Signal, eventually, interrupt};

use crate::{CommandRun, Shell, TICKS};

async fn ticking() -> (Shell, Fixture) {
    let shell = Shell::new();
    let program = Fixture::write(shell.path(), "ticks.py", TICKS);
    shell.debug(["launch", program.path(), "--timeout", "1"]).await.ended_with(5);
    (shell, program)
}

#[tokio::test]
async fn a_failed_start_leaves_nothing_behind() {
    let (shell, program) = (Shell::new(), Fixture::python("swap_vars"));
    let past = format!("{}:99", program.path());
    let table: [(&[&str], &str); 5] = [
        (&["launch", "nowhere.py"], "no file `"),
        (&["launch", program.path(), "--break", &past], "past the end of the file"),
        (&["launch", program.path(), "--executable-path", "/nowhere/python"], "/nowhere/python"),
        (&["launch", "--", "no-such-command"], "`no-such-command` was not found"),
        (&["attach", "--language", "python", "--port", "1"], "1"),
    ];
    for (words, problem) in table {
        shell.debug(words).await.ended_with(1).says(problem);
        shell.assert_nothing_left();
    }
    shell.debug(["launch"]).await.ended_with(2).says("<FILE>");
    shell
        .debug(["locals"])
        .await
        .ended_with(1)
        .says("no debug session is open in this folder or a parent folder");
    shell.assert_nothing_left();
}

/// Not writable, not even by root.
#[tokio::test]
async fn an_unwritable_folder_is_reported_before_the_start() {
    let (shell, program) = (Shell::new(), Fixture::python("swap_vars"));
    let mut command = shell.command(["launch", program.path()]).await;
    let ran = CommandRun::of(command.current_dir("/proc").output().await.expect("it runs")).ended_with(1);
    ran.says("cannot write the session file `/proc/.debug_session.json`");
    shell.assert_nothing_left();
}

#[tokio::test]
async fn a_killed_background_process_takes_its_program_along() {
    let (shell, program) = ticking().await;
    shell.mark.kill(shell.background());
    shell.mark.assert_gone_within(Duration::from_secs(2));
    // The first command reports it, and removes the file.
    shell.debug(["locals"]).await.ended_with(1).says("its background process was killed");
    shell.assert_nothing_left();

    // And so does who begins another one.
    shell.debug(["launch", program.path(), "--timeout", "1"]).await.ended_with(5);
    shell.mark.kill(shell.background());
    shell.debug(["launch", program.path(), "--timeout", "1"]).await.ended_with(5);
    shell.finish().await;
}

#[tokio::test]
async fn an_idle_session_ends() {
    let shell = Shell::new();
    let program = Fixture::write(shell.path(), "ticks.py", TICKS);
    let words = ["launch", program.path(), "--timeout", "1", "--limit", "debug_idle=1"];
    shell.debug(words).await.ended_with(5);
    // A command that waits is one: this one does for longer.
    shell.debug(["continue", "--timeout", "2"]).await.ended_with(5);
    shell.mark.assert_gone_within(Duration::from_secs(4));
    shell.assert_nothing_left();
}

#[tokio::test]
async fn a_background_process_ends_cleanly_on_request() {
    let (shell, _) = ticking().await;
    shell.mark.signal(shell.background(), Signal::TERM);
    shell.mark.assert_gone_within(Duration::from_secs(3));
    shell.assert_nothing_left();
}

/// The background process minds neither that nor the end of the terminal, which only reaches its own session.
#[tokio::test]
async fn an_interrupted_command_leaves_the_session_unchanged() {
    let (shell, _) = ticking().await;
    let mut command = shell.command(["continue"]).await;
    let waits = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    shell.continued(1).await;
    interrupt(waits.id().expect("it runs"));
    let ran = CommandRun::of(waits.wait_with_output().await.expect("it ends")).ended_with(130);
    ran.says("interrupted: a started program keeps running");
    shell.debug(["status"]).await.ended_with(0).says("ticks.py (python) is running\n");
    let background = shell.background();
    let stat = std::fs::read_to_string(format!("/proc/{background}/stat")).expect("it lives");
    // After the name in brackets: state, parent, process group, session.
    let session = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(3).map(str::to_owned));
    assert_eq!(session, Some(background.to_string()), "it has a session of its own");
    shell.finish().await;
}

/// A launch that is killed at once leaves no session behind.
#[tokio::test]
async fn a_launch_killed_before_the_program_starts_leaves_nothing_behind() {
    let (shell, program) = (Shell::new(), Fixture::python("swap_vars"));
    let mut command = shell.command(["launch", program.path(), "--stop-on-entry"]).await;
    let mut launch = command.stdout(Stdio::null()).spawn().expect("it runs");
    let file = shell.path().join(".debug_session.json");
    eventually(|| file.exists()).await;
    launch.kill().await.expect("it is ours");
    // It may have been fast enough to start the program, which is then as good as any.
    if shell.debug(["stop"]).await.code == 0 {
        shell.mark.assert_gone_within(Duration::from_secs(2));
    }
    shell.mark.assert_gone_within(Duration::from_secs(2));
    shell.assert_nothing_left();
}
