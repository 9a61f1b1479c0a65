//! Mistakes: what is said, where, and the exit code.

use test_support::Fixture;

use crate::{folder, stillframe};

#[tokio::test]
async fn undebuggable_program_exits_1_with_one_line_on_stderr() {
    let program = Fixture::python("bank");
    let path = program.path();
    let folder = folder();
    let broken = Fixture::write(folder.path(), "broken.py", "if x\n").path().to_owned();
    let length = std::fs::read_to_string(path).unwrap().lines().count();
    let table = [
        (vec!["/no/such.py:3".to_owned()], "no file `/no/such.py`".to_owned()),
        (
            vec![format!("{path}:9999")],
            format!("line 9999 of `{path}` is past the end of the file, which has {length} lines"),
        ),
        (vec![format!("{path}:0")], format!("line 0 of `{path}` does not exist: lines start at 1")),
        (vec![format!("{path}:bil")], format!("`{path}` has no function `bil`; it has `bill`")),
        (
            vec![path.to_owned(), "--statement".to_owned(), "nowhere to be found".to_owned()],
            format!("`nowhere to be found` matches no line in `{path}`"),
        ),
        (
            vec![format!("{path}:main"), "--condition".to_owned(), "(".to_owned()],
            "`(` is not a valid expression: SyntaxError: ".to_owned(),
        ),
        (
            vec![broken.clone()],
            format!("`{broken}` cannot be compiled: SyntaxError: expected ':' at line 1, `if x`"),
        ),
        (
            vec![path.to_owned(), "--executable-path".to_owned(), "/no/python".to_owned()],
            "no Python interpreter `/no/python`".to_owned(),
        ),
        (
            vec!["notes.txt:3".to_owned()],
            "the language of `notes.txt` is unknown; name what runs it as `--executable-path`".to_owned(),
        ),
    ];
    for (arguments, error) in table {
        let ran = stillframe(std::iter::once("probe".to_owned()).chain(arguments)).await.ended_with(1);
        // What takes more than a second also reports its progress.
        let said: Vec<_> = ran.err.lines().filter(|line| !line.ends_with(" bytes of output")).collect();
        assert!(said.len() == 1 && said[0].starts_with(&format!("error: {error}")), "{}", ran.err);
        assert_eq!(ran.out, "");
    }
}

#[tokio::test]
async fn usage_error_exits_2_and_names_the_argument() {
    let table: [(&[&str], &str); 8] = [
        (&["probe"], "<PLACE>"),
        (&["prob"], "'prob'"),
        (&["probe", "x.py:1", "--expresion", "1"], "--expresion"),
        (&["probe", "x.py:1", "--timeout", "soon"], "soon"),
        (&["probe", "x.py:1", "--hit-condition", "often"], "often"),
        (&["probe", "x.py:1", "--env", "NOVALUE"], "NAME=VALUE"),
        (&["setup", "cobol"], "cobol"),
        (&["tools", "--toolset", "nope"], "nope"),
    ];
    for (arguments, named) in table {
        let ran = stillframe(arguments).await.ended_with(2);
        assert!(ran.err.contains(named), "{arguments:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{arguments:?}");
    }
}

#[tokio::test]
async fn commands_have_no_limit_of_time() {
    let folder = folder();
    let program = folder.path().join("quick.py");
    std::fs::write(&program, "total = 1\nprint(total)\n").unwrap();
    let program = program.to_str().unwrap();
    let place = format!("{program}:2");
    // A week, and the most that there is.
    for timeout in ["604800", "31536000"] {
        let table: [&[&str]; 5] = [
            &["test", "--timeout", timeout, "--", "python3", program],
            &["hang", "--timeout", timeout, "--", "python3", program],
            &["record", "--timeout", timeout, "--", "python3", program],
            &["probe", "--timeout", timeout, &place],
            &["trace", "--timeout", timeout, &place, "-e", "total"],
        ];
        for arguments in table {
            stillframe(arguments).await.ended_with(0);
        }
    }
    let most = u64::MAX.to_string();
    for command in ["test", "hang", "record"] {
        let ran = stillframe([command, "--timeout", &most, "--", "python3", program]).await.ended_with(2);
        assert!(ran.err.contains("1..=31536000"), "{}", ran.err);
    }
}

#[tokio::test]
async fn help_lists_exit_codes_and_fits_the_terminal() {
    let ran = stillframe(["probe", "--help"]).await.ended_with(0);
    assert!(ran.out.contains("Exit codes: 0 stopped at the location"), "{}", ran.out);
    let common = stillframe(["--help"]).await.ended_with(0).out;
    let has_common = |text: &str| ["--allow-root", "--log-file"].map(|option| text.contains(option));
    assert_eq!((has_common(&common), has_common(&ran.out)), ([true; 2], [false; 2]));
    assert!(ran.out.ends_with("Options of every command: stillframe --help\n"), "{}", ran.out);
    for line in ran.out.lines() {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "{line:?}");
    }
}
