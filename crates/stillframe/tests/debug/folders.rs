//! Which session a command is about.

use test_support::Fixture;

use crate::{Shell, TICKS};

#[tokio::test]
async fn sessions_of_one_folder_have_names() {
    let (shell, program) = (Shell::new(), Fixture::python("swap_vars"));
    let location = |name: &str| format!("{}:{}", program.path(), program.line(name));
    let (first, second) = (location("first_assignment"), location("return"));
    shell.debug(["launch", program.path(), "--break", &first]).await.ended_with(0);
    let words = ["--session", "two", "launch", program.path(), "--break", &second];
    shell.debug(words).await.ended_with(0);
    assert_eq!(shell.debug(["eval", "a"]).await.out, "10\n");
    assert_eq!(shell.debug(["eval", "a", "--session", "two"]).await.out, "20\n");
    let ran = shell.debug(["list"]).await.ended_with(0);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
    ran.says("--session two: main.py (python) is paused\n");
    shell.debug(["--session", "two", "stop"]).await.ended_with(0);
    shell.debug(["--session", "two", "stop"]).await.ended_with(1).says("no debug session `two` is open");
    shell.debug(["--session", "../two", "stop"]).await.ended_with(2);
    shell.debug(["step"]).await.ended_with(0);
    shell.finish().await;
}

#[tokio::test]
async fn a_session_is_found_from_subfolders_but_not_from_another_repository() {
    let (shell, program) = (Shell::new(), Fixture::python("swap_vars"));
    let location = format!("{}:{}", program.path(), program.line("return"));
    shell.debug(["launch", program.path(), "--break", &location]).await.ended_with(0);
    let below = shell.path().join("src/deep");
    let other = shell.path().join("other/src");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::create_dir_all(other.join("../.git")).unwrap();
    for (folder, code) in [(below, 0), (other, 1)] {
        let status = shell.command(["status"]).await.current_dir(folder).output().await.unwrap();
        assert_eq!(status.status.code(), Some(code));
    }
    shell.finish().await;
}

#[tokio::test]
async fn a_running_program_is_not_replaced_and_an_ended_one_is() {
    let shell = Shell::new();
    let ticks = Fixture::write(shell.path(), "ticks.py", TICKS);
    let swap = Fixture::python("swap_vars");
    shell.debug(["launch", swap.path()]).await.ended_with(3);
    shell.debug(["launch", ticks.path(), "--timeout", "1"]).await.ended_with(5);
    let ran = shell.debug(["launch", swap.path()]).await.ended_with(1);
    ran.says(
        "a debug session is already open here: ticks.py is running; end it with `stillframe debug stop`",
    );
    shell.finish().await;
}

#[tokio::test]
async fn only_one_of_two_simultaneous_starts_succeeds() {
    let shell = Shell::new();
    let ticks = Fixture::write(shell.path(), "ticks.py", TICKS);
    let words = ["launch", ticks.path(), "--timeout", "1"];
    let (one, other) = tokio::join!(shell.debug(words), shell.debug(words));
    let mut codes = [one.code, other.code];
    codes.sort_unstable();
    assert_eq!(codes, [1, 5], "{}{}", one.err, other.err);
    let err = one.err + &other.err;
    assert!(err.contains("a debug session is already "), "{err}");
    shell.finish().await;
}

/// The file belongs to someone else.
#[tokio::test]
async fn a_foreign_file_is_left_alone() {
    let (shell, program) = (Shell::new(), Fixture::python("swap_vars"));
    let file = shell.path().join(".debug_session.json");
    let others = r#"{"language":"python","socket":"/tmp/agent.sock","pid":1}"#;
    std::fs::write(&file, others).unwrap();
    for words in [&["launch", program.path()][..], &["status"], &["stop"]] {
        shell.debug(words).await.ended_with(1).says("is not a stillframe session file");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), others);
    std::fs::remove_file(file).unwrap();
    shell.assert_nothing_left();
}
