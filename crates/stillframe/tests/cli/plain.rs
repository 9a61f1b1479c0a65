//! The text report: at most 80 columns, except for the program's output unless standard output is a terminal, and no
//! colours then either.

use test_support::{Fixture, repository};
use unicode_width::UnicodeWidthStr;

use crate::{STILLFRAME, folder, stillframe};

fn fits(text: &str) {
    let (report, _output) = text.split_once("\noutput\n").unwrap_or((text, ""));
    for line in report.lines() {
        // A tab counts as what a terminal makes of it at most.
        let width = line.width() + 8 * line.matches('\t').count();
        assert!(width <= 80, "{width} columns: {line:?}\nin\n{text}");
    }
    let control = text.chars().find(|char| char.is_control() && *char != '\n');
    assert_eq!(control, None, "{text:?}");
}

#[tokio::test]
async fn no_line_of_a_report_is_wider_than_80_columns() {
    let program = Fixture::python("wide");
    let location = format!("{}:{}", program.path(), program.line("stop"));
    let expressions = ["-e", "wide", "-e", "[control] * 30", "-e", "undefined_", "-e", "{}['a key ' * 30]"];
    let ran = stillframe(["probe", &location].into_iter().chain(expressions)).await.ended_with(0);
    fits(&ran.out);
    for section in ["values", "locals", "stack", "output"] {
        assert!(ran.out.contains(&format!("\n{section}\n")), "{section}: {}", ran.out);
    }
    assert!(ran.out.contains(&format!("\n  {}\n", "output ".repeat(40).trim_end())), "{}", ran.out);
}

#[tokio::test]
async fn an_exception_with_a_long_message_fits_too() {
    let program = Fixture::python("wide");
    let ran = stillframe(["probe", program.path(), "--", "fail"]).await.ended_with(4);
    fits(&ran.out);
    assert!(ran.out.contains("Failure: a message a message"), "{}", ran.out);
}

/// What moves a cursor, erases or ends a text would hide what was there.
#[tokio::test]
async fn control_sequences_are_escaped() {
    let folder = folder();
    let text = "text = '\\x1b[2Jgone\\0'\nprint('\\x1b[1A\\x1b[31mover\\0\\x07')\nend = 1  # @end\n";
    let program = Fixture::write(folder.path(), "escapes\nin two.py", text);
    let location = format!("{}:{}", program.path(), program.line("end"));
    let ran = stillframe(["probe", &location, "-e", "print(text) or '\\x9b1A'"]).await.ended_with(0);
    fits(&ran.out);
    for shown in ["\\x1b[1Aover\\x00\\x07", "\\x1b[2Jgone\\x00", "escapes\\x0ain two.py:3"] {
        assert!(ran.out.contains(shown), "{shown}: {}", ran.out);
    }
    let ran = stillframe(["trace", &location, "-e", "text"]).await.ended_with(0);
    fits(&ran.out);
    assert!(ran.out.contains("\\x1b[2Jgone\\x00"), "{}", ran.out);
}

#[tokio::test]
async fn a_long_path_fits_and_keeps_its_line() {
    let folder = folder();
    let below =
        folder.path().join("a_folder_with_a_name_of_some_length/and_another_one_below_it/and_a_third");
    std::fs::create_dir_all(&below).unwrap();
    let program = Fixture::write(&below, "program.py", "x = 1\nprint(x)  # @print\n");
    let line = program.line("print");
    let location = format!("{}:{line}", program.path());
    let ran = stillframe(["probe", &location]).await.ended_with(0);
    fits(&ran.out);
    assert!(ran.out.contains(&format!("program.py:{line}")), "{}", ran.out);
}

#[tokio::test]
async fn paths_below_the_working_directory_are_relative() {
    let mut command = STILLFRAME.command();
    command.args(["probe", "fixtures/swap_vars/main.py:main"]).current_dir(repository());
    command.env("STILLFRAME_CACHE_DIR", STILLFRAME.cache().await);
    let ran = command.output().await.unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(text.starts_with("breakpoint at fixtures/swap_vars/main.py:"), "{text}");
}

#[tokio::test]
async fn no_colours_without_a_terminal() {
    let program = Fixture::python("swap_vars");
    for arguments in [vec!["probe", program.path()], vec!["tools"], vec!["probe", "/no/such.py:1"]] {
        let ran = stillframe(&arguments).await;
        assert!(
            !ran.out.contains('\x1b') && !ran.err.contains('\x1b'),
            "{arguments:?}: {}{}",
            ran.out,
            ran.err
        );
        for line in ran.out.lines() {
            assert!(line.width() <= 80, "{line:?}");
        }
    }
}
