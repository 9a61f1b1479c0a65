//! Starting, looking, stepping and going on.

use serde_json::json;
use test_support::{DynamicLanguage, Fixture};

use crate::{Shell, TICKS};

fn at(program: &Fixture, name: &str) -> String {
    format!("{}:{}", program.path(), program.line(name))
}

/// From the first stop to the end of the program.
async fn a_session_goes_from_command_to_command(language: DynamicLanguage) {
    let (shell, program) = (Shell::new(), Fixture::of(language, "swap_vars"));
    let location = at(&program, "second_assignment");
    let ran = shell.debug(["launch", program.path(), "--break", &location]).await.ended_with(0);
    assert!(ran.out.starts_with("breakpoint at "), "{}", ran.out);
    let ran = ran.says(&format!("\n> {} |", program.line("second_assignment")));
    assert!(ran.out.contains("locals\n  a = 20\n  b = 20\nstack\n  swap"), "{}", ran.out);

    let ran = shell.debug(["locals"]).await.ended_with(0);
    assert_eq!(ran.out, "a = 20\nb = 20\n");
    let ran = shell.debug(["locals", "--frame", "1"]).await.ended_with(0);
    assert_eq!(ran.out, "x = 10\ny = 20\n");
    let ran = shell.debug(["eval", "a + b"]).await.ended_with(0);
    assert_eq!(ran.out, "40\n");
    let ran = shell.debug(["eval", "-x", "--frame", "1"]).await.ended_with(0);
    assert_eq!(ran.out, "-10\n");
    let ran = shell.debug(["stack"]).await.ended_with(0);
    let [inner, outer, ..] = ran.out.lines().collect::<Vec<_>>()[..] else { panic!("{}", ran.out) };
    assert!(inner.starts_with(" 0 swap") && outer.starts_with(" 1 main "), "{}", ran.out);

    let ran = shell.debug(["step"]).await.ended_with(0).says("  b = 20\n");
    assert!(ran.out.starts_with("step at "), "{}", ran.out);
    let ran = shell.debug(["status"]).await.ended_with(0).says(" is paused\npaused at ").says("  b = 20\n");
    ran.says(&format!("\n> {} |", program.line("return")));
    shell.debug(["step", "out"]).await.ended_with(0).says(" in main");

    let ran = shell.debug(["continue"]).await.ended_with(3);
    assert_eq!(ran.out, "The program exited with code 0\noutput\n  x=20 y=20\n");
    assert_eq!(shell.debug(["output"]).await.ended_with(0).out, "x=20 y=20\n");
    shell.debug(["output", "--since", "5"]).await.ended_with(0).says("y=20\n");
    shell.debug(["status"]).await.ended_with(0).says(" has ended\n");
    let restart = "the program has ended; run `stillframe debug restart` to start it again";
    shell.debug(["step"]).await.ended_with(1).says(restart);
    shell.debug(["restart"]).await.ended_with(0).says("  b = 20\n");
    shell.finish().await;
}

#[tokio::test]
async fn python() {
    a_session_goes_from_command_to_command(DynamicLanguage::Python).await;
}

#[tokio::test]
async fn node() {
    a_session_goes_from_command_to_command(DynamicLanguage::Node).await;
}

#[tokio::test]
async fn json_output_is_the_tools_answer() {
    let (shell, program) = (Shell::new(), Fixture::python("swap_vars"));
    let target_location = at(&program, "return");
    let report =
        shell.debug(["launch", program.path(), "-b", &target_location, "--json"]).await.ended_with(0).json();
    assert_eq!((&report["success"], &report["state"]), (&json!(true), &json!("paused")));
    assert_eq!(report["location"]["line"], program.line("return"));
    let value = shell.debug(["--json", "eval", "a"]).await.ended_with(0).json();
    assert_eq!((&value["result"], &value["type"]), (&json!("20"), &json!("int")));
    let locals = shell.debug(["locals", "--json"]).await.ended_with(0).json();
    assert_eq!(locals["variables"][0]["name"], "a");
    let status = shell.debug(["status", "--json"]).await.ended_with(0).json();
    assert_eq!(
        (&status["name"], &status["stop"]["location"]["function"]),
        (&json!("main.py"), &json!("swap_variables"))
    );
    shell.debug(["eval", "a = 7"]).await.ended_with(0);
    let end = shell.debug(["continue", "--json"]).await.ended_with(3).json();
    assert_eq!((&end["state"], &end["exitCode"]), (&json!("ended"), &json!(0)));
    assert_eq!(end["output"], "x=7 y=20\n");
    shell.finish().await;
}

#[tokio::test]
async fn breakpoints_are_set_listed_and_removed_while_stopped() {
    let (shell, program) = (Shell::new(), Fixture::python("bank"));
    let location = at(&program, "deposit");
    shell.debug(["launch", program.path(), "--stop-on-entry"]).await.ended_with(0).says("entry at ");
    let ran = shell.debug(["break", &location, "--condition", "amount > 4"]).await.ended_with(0);
    let ran = ran.says("bp-1 ").says(", if amount > 4: bound\n");
    ran.says(&format!("\n> {} |", program.line("deposit")));
    shell.debug(["continue"]).await.ended_with(0).says("  amount = 5\n");
    let ran = shell.debug(["break"]).await.ended_with(0);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
    ran.says("bound, hits: 1\n");
    shell.debug(["break", "--clear", "bp-1"]).await.ended_with(0).says("Removed breakpoint bp-1");
    shell
        .debug(["break", "Account.deposit", "--log", "got {amount}"])
        .await
        .ended_with(0)
        .says(", log got {amount}");
    shell.debug(["continue"]).await.ended_with(3).says("[log] got 6\n");
    shell.debug(["break", "--clear"]).await.ended_with(0);
    shell.debug(["break", "--list"]).await.ended_with(0).says("no breakpoints\n");
    shell.finish().await;
}

#[tokio::test]
async fn a_command_is_started_as_typed() {
    let (shell, program) = (Shell::new(), Fixture::python("endings"));
    let line = at(&program, "about");
    let words = ["launch", "--break", &line, "--env", "COLOUR=blue", "--", "python3", program.path(), "exit"];
    shell.debug(words).await.ended_with(0).says("  how = 'exit'\n");
    let environment = "__import__('os').environ['COLOUR']";
    assert_eq!(shell.debug(["eval", environment]).await.ended_with(0).out, "'blue'\n");
    shell.debug(["continue"]).await.ended_with(3).says("The program exited with code 4\n");
    shell.finish().await;
}

#[tokio::test]
async fn an_uncaught_exception_exits_4() {
    let (shell, program) = (Shell::new(), Fixture::python("endings"));
    let ran = shell.debug(["launch", program.path(), "--", "raise"]).await.ended_with(4);
    ran.says("exception at ").says("ValueError: nobody catches this\n");
    shell.debug(["continue"]).await.ended_with(3).says("The program exited with code 1\n");
    let chosen = shell.debug(["break", "--exceptions", "none"]).await.ended_with(0);
    chosen.says("Stopping at none exceptions (before: uncaught)");
    shell.debug(["restart"]).await.ended_with(3).says("The program exited with code 1\n");
    shell.finish().await;
}

/// Two commands at once: one waits for what the other brings about.
#[tokio::test]
async fn a_pause_stops_a_program_that_another_command_waits_for() {
    let shell = Shell::new();
    let program = Fixture::write(shell.path(), "ticks.py", TICKS);
    let ran = shell.debug(["launch", program.path(), "--timeout", "1"]).await.ended_with(5);
    ran.says("The program is running; run `stillframe debug continue` to wait for it");
    let (waits, paused) = tokio::join!(shell.debug(["continue"]), async {
        shell.continued(1).await;
        shell.debug(["pause"]).await
    });
    paused.ended_with(0).says("pause at ");
    waits.ended_with(0).says("pause at ");
    // Stopping the session ends commands that wait.
    let (waits, stopped) = tokio::join!(shell.debug(["continue"]), async {
        shell.continued(2).await;
        shell.debug(["stop"]).await
    });
    stopped.ended_with(0);
    waits.ended_with(3).says("The program was ended by the session\n");
    shell.assert_nothing_left();
}
