//! `probe`: where it stops, what it is given, and its exit codes.

use serde_json::{Value, json};
use test_support::{Fixture, Language, compile};

use crate::{folder, stillframe};

fn at(program: &Fixture, name: &str) -> String {
    format!("{}:{}", program.path(), program.line(name))
}

#[tokio::test]
async fn a_line_stops_and_its_values_are_shown() {
    let program = Fixture::python("swap_vars");
    let ran = stillframe(["probe", &at(&program, "second_assignment")]).await.ended_with(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    let line = program.line("second_assignment");
    assert!(
        lines[0].starts_with("breakpoint at ") && lines[0].ends_with(" in swap_variables"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains(&format!("> {line} |     b = a  # @second_assignment\n")), "{}", ran.out);
    assert!(ran.out.contains("locals\n  a = 20\n  b = 20\n"), "{}", ran.out);
    assert!(ran.out.contains("stack\n  swap_variables "), "{}", ran.out);
    // A machine that is busy may have it tell how long it takes.
    let is_progress = |line: &str| line.starts_with("running for ");
    assert!(ran.err.lines().all(is_progress), "{}", ran.err);
}

#[tokio::test]
async fn callers_are_shown_with_their_variables() {
    let program = Fixture::python("swap_vars");
    let location = at(&program, "second_assignment");
    let ran = stillframe(["probe", &location]).await.ended_with(0);
    let stack = ran.out.split_once("\nstack\n").expect("a stack").1;
    let lines: Vec<&str> = stack.lines().collect();
    assert!(lines[0].starts_with("  swap_variables "), "{}", ran.out);
    assert!(lines[1].starts_with("  main ") || lines[2].starts_with("  main "), "{}", ran.out);
    assert!(lines.contains(&"    x = 10") && lines.contains(&"    y = 20"), "{}", ran.out);

    let report = stillframe(["probe", &location, "--json"]).await.ended_with(0).json();
    assert_eq!(report["callers"][0]["id"], report["stackFrames"][1]["id"]);
    assert_eq!(
        (&report["callers"][0]["name"], &report["callers"][0]["line"]),
        (&json!("main"), &json!(program.line("call")))
    );
    let locals = report["callers"][0]["locals"].as_array().expect("a list");
    let values: Vec<(&Value, &Value)> =
        locals.iter().map(|local| (&local["name"], &local["value"])).collect();
    assert_eq!(values, [(&json!("x"), &json!("10")), (&json!("y"), &json!("20"))]);
}

#[tokio::test]
async fn a_caller_that_has_returned_has_no_variables() {
    let folder = folder();
    let text = "async function inner() {\n  await null;\n  return 1; // @stop\n}\nasync function outer() {\n  \
                const kept = await inner();\n  return kept;\n}\nouter();\n";
    let program = Fixture::write(folder.path(), "waits.js", text);
    let ran = stillframe(["probe", &at(&program, "stop"), "--json"]).await.ended_with(0);
    assert_eq!(ran.json()["stackFrames"][1]["name"], "async outer");
    assert_eq!(ran.json()["callers"], Value::Null);
}

#[tokio::test]
async fn a_binary_is_recognized_by_its_first_bytes() {
    let (folder, program) = (folder(), Fixture::of(Language::C, "swap_vars"));
    let binary = folder.path().join("binary").display().to_string();
    compile(program.path(), &binary).await;
    let location = at(&program, "second_assignment");
    let ran = stillframe(["probe", &location, "--program", &binary, "-e", "a", "--json"]).await.ended_with(0);
    assert_eq!(ran.json()["values"][0]["value"], "20", "{}", ran.out);
    let ran = stillframe(["hang", "--", &binary]).await.ended_with(0);
    assert!(ran.out.contains("exited with code 0"), "{}", ran.out);
}

#[tokio::test]
async fn a_script_without_an_extension_is_recognized_by_its_first_line() {
    let folder = folder();
    for text in [
        "#!/usr/bin/env -S python3 -u\na = 2\nprint(a)  # @stop\n",
        "#!/usr/bin/env node\nconst a = 2;\nconsole.log(a); // @stop\n",
    ] {
        let program = Fixture::write(folder.path(), "tool", text);
        let ran = stillframe(["probe", &at(&program, "stop"), "-e", "a", "--json"]).await.ended_with(0);
        assert_eq!(ran.json()["values"][0]["value"], "2", "{}", ran.out);
    }
}

#[tokio::test]
async fn a_column_stops_in_languages_with_columns() {
    let folder = folder();
    let program = Fixture::write(folder.path(), "line.js", "let a = 1; a += 1; console.log(a);\n");
    let location = format!("{}:1:20", program.path());
    let ran = stillframe(["probe", &location, "-e", "a", "--json"]).await.ended_with(0);
    assert_eq!(ran.json()["values"][0]["value"], "2");

    let program = Fixture::python("bank");
    let ran = stillframe(["probe", &format!("{}:1:20", program.path())]).await.ended_with(1);
    assert!(ran.err.contains("Python does not support column breakpoints"), "{}", ran.err);
}

#[tokio::test]
async fn a_function_stops_at_its_entry() {
    let program = Fixture::python("bank");
    let target_location = format!("{}:Account.deposit", program.path());
    let ran = stillframe(["probe", &target_location, "--json"]).await.ended_with(0);
    assert_eq!(ran.json()["location"]["line"], program.line("deposit"));
}

#[tokio::test]
async fn a_file_alone_runs_to_its_end() {
    let ran = stillframe(["probe", Fixture::python("swap_vars").path()]).await.ended_with(0);
    assert_eq!(ran.out, "The program exited with code 0\noutput\n  x=20 y=20\n");
}

#[tokio::test]
async fn a_statement_stops_by_its_text() {
    let program = Fixture::python("bank");
    let arguments = ["probe", program.path(), "--statement", "name = \"even\"", "--json"];
    let ran = stillframe(arguments).await.ended_with(0);
    assert_eq!(ran.json()["location"]["line"], program.line("even"));
}

#[tokio::test]
async fn conditions_and_counts_select_the_hit() {
    let program = Fixture::python("bank");
    let location = at(&program, "deposit");
    let table = [
        (vec!["--condition", "amount > 4"], "5"),
        (vec!["--condition", "-amount < -4"], "5"),
        (vec!["--hit-condition", "3"], "3"),
        (vec!["--hit-condition", ">= 2", "--condition", "amount % 2 == 0"], "4"),
    ];
    for (options, amount) in table {
        let mut arguments = vec!["probe", &location, "--json", "-e", "amount"];
        arguments.extend(options.iter().copied());
        let ran = stillframe(arguments).await.ended_with(0);
        assert_eq!(ran.json()["values"][0]["value"], amount, "{options:?}");
    }
}

#[tokio::test]
async fn several_expressions_are_evaluated_in_order() {
    let program = Fixture::python("swap_vars");
    let location = at(&program, "call");
    let arguments = ["probe", &location, "-e", "x + y", "--expression", "nope", "-e", "[x] * 2"];
    let ran = stillframe(arguments).await.ended_with(0);
    let values =
        "values\n  x + y = 30\n  nope: NameError: name 'nope' is not defined\n  [x] * 2 = [10, 10]\n";
    assert!(ran.out.contains(values), "{}", ran.out);
}

#[tokio::test]
async fn the_program_gets_arguments_environment_directory_and_input() {
    let program = Fixture::python("readers");
    let folder = folder();
    let input = folder.path().join("input.txt");
    std::fs::write(&input, "from a file").unwrap();
    let (input, cwd) =
        (input.display().to_string(), folder.path().canonicalize().unwrap().display().to_string());
    let location = at(&program, "done");
    let arguments = [
        "probe",
        &location,
        "--json",
        "--stdin",
        &input,
        "--env",
        "COLOUR=blue=green",
        "--cwd",
        &cwd,
        "-e",
        "text",
        "-e",
        "sys.argv[1:]",
        "-e",
        "os.environ['COLOUR']",
        "-e",
        "os.getcwd()",
        "--",
        "--flag",
        "a b",
    ];
    let ran = stillframe(arguments).await.ended_with(0);
    let values: Vec<Value> =
        ran.json()["values"].as_array().unwrap().iter().map(|value| value["value"].clone()).collect();
    let expected = json!(["'from a file'", "['--flag', 'a b']", "'blue=green'", format!("'{cwd}'")]);
    assert_eq!(json!(values), expected);
}

#[tokio::test]
async fn json_contains_the_report_and_values() {
    let program = Fixture::python("swap_vars");
    let ran = stillframe(["probe", &at(&program, "return"), "--json", "-e", "a"]).await.ended_with(0);
    let report = ran.json();
    assert_eq!((&report["success"], &report["state"]), (&json!(true), &json!("paused")));
    assert_eq!(report["reason"], "breakpoint");
    assert_eq!(report["location"]["file"], program.path());
    assert_eq!(report["location"]["function"], "swap_variables");
    assert_eq!(report["locals"][0]["name"], "a");
    assert_eq!(report["stackFrames"][1]["name"], "main");
    assert_eq!(
        (&report["values"][0]["expression"], &report["values"][0]["value"]),
        (&json!("a"), &json!("20"))
    );
    assert!(report["source"].as_str().unwrap().contains("return a, b"));
}

#[tokio::test]
async fn a_program_that_ends_before_the_location_exits_3() {
    let program = Fixture::python("endings");
    let location = at(&program, "never");
    let crash = "note: if the crash was in an extension, pass `nativeToo` (`--native-too`) or set a breakpoint in one \
                 of its source files before you start the program again: then it stops at the crash with its stack";
    for (how, said, note) in [
        ("exit", "The program exited with code 4\n", ""),
        ("os_exit", "The program exited with code 3\n", ""),
        ("crash", "The program was killed by SIGSEGV\n", crash),
        ("return", "The program exited with code 0\n", ""),
    ] {
        let ran = stillframe(["probe", &location, "--", how]).await.ended_with(3);
        let line = program.line("never");
        let missed = format!("Line {line} of {} was not reached. ", program.path());
        // Long lines are broken, so the text is compared by its words.
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&ran.out), words(&format!("{missed}{said}output\n  about to {how}\n{note}")));
    }
}

#[tokio::test]
async fn a_failing_program_without_a_location_exits_3() {
    let program = Fixture::python("endings");
    let ran = stillframe(["probe", program.path(), "--json", "--", "exit"]).await.ended_with(3);
    assert_eq!((&ran.json()["state"], &ran.json()["exitCode"]), (&json!("ended"), &json!(4)));
}

#[tokio::test]
async fn an_uncaught_exception_exits_4() {
    let program = Fixture::python("endings");
    for location in [at(&program, "never"), program.path().to_owned()] {
        let ran = stillframe(["probe", &location, "-e", "how", "--", "raise"]).await.ended_with(4);
        assert!(ran.out.starts_with("exception at "), "{}", ran.out);
        assert!(ran.out.contains("\nValueError: nobody catches this\n"), "{}", ran.out);
        assert!(ran.out.contains("values\n  how = 'raise'\n"), "{}", ran.out);
    }
}

#[tokio::test]
async fn a_program_still_running_at_the_timeout_exits_5() {
    let folder = folder();
    let source = "import time\nprint('begun')\nwhile time:\n    time.sleep(0.01)\nx = 1  # @never\n";
    let program = Fixture::write(folder.path(), "endless.py", source);
    let ran = stillframe(["probe", &at(&program, "never"), "--timeout", "3", "--json"]).await.ended_with(5);
    assert_eq!((&ran.json()["state"], &ran.json()["output"]), (&json!("running"), &json!("begun\n")));
    let ran = stillframe(["probe", &at(&program, "never"), "--timeout", "3"]).await.ended_with(5);
    assert_eq!(ran.out, "still running at the timeout\noutput\n  begun\n");
}

#[tokio::test]
async fn likely_credentials_are_redacted_unless_shown_on_request() {
    let folder = folder();
    let text = "kept = 'note ' * 12 + 'gh' + 'p_' + 'A1b2C3' * 6\nprint(kept)  # @stop\n";
    let program = Fixture::write(folder.path(), "secret.py", text);
    let location = at(&program, "stop");
    let note = "hidden: 2 values that look like credentials (start with --no-redact to see them)\n";
    let ran = stillframe(["probe", &location, "-e", "kept"]).await.ended_with(0);
    assert!(!ran.out.contains("A1b2C3A1b2C3") && ran.out.ends_with(note), "{}", ran.out);
    let ran = stillframe(["probe", &location, "-e", "kept", "--json"]).await.ended_with(0);
    assert!(!ran.out.contains("A1b2C3A1b2C3"), "{}", ran.out);
    assert_eq!(ran.json()["hidden"], note.trim_start_matches("hidden: ").trim_end());
    let ran = stillframe(["probe", &location, "-e", "kept", "--json", "--no-redact"]).await.ended_with(0);
    assert!(ran.out.contains("A1b2C3A1b2C3") && ran.json()["hidden"].is_null(), "{}", ran.out);
}

/// The interpreter of a module is the program's; the place is in a process that it starts.
#[tokio::test]
async fn a_place_in_a_child_process_of_a_module() {
    let child = Fixture::read(test_support::repository().join("fixtures/mixed/child.js"));
    let folder = child.path().trim_end_matches("/child.js");
    let options = ["--executable-path", "python3", "--module", "main", "--cwd", folder];
    let location = at(&child, "inside");
    let words = ["probe", &location].into_iter().chain(options).chain(["--", "js"]);
    let ran = stillframe(words).await.ended_with(0);
    assert!(ran.out.contains("  prices = Map(1) { 'tea' => 3 }\n"), "{}", ran.out);
}

/// So is a command's: its arguments name the program.
#[tokio::test]
async fn a_place_in_a_child_process_of_a_command() {
    let child = Fixture::read(test_support::repository().join("fixtures/mixed/child.py"));
    let folder = child.path().trim_end_matches("/child.py");
    let location = at(&child, "inside");
    let options = ["-e", "count", "--executable-path", "node", "--cwd", folder, "--", "main.js"];
    let ran = stillframe(["probe", &location].into_iter().chain(options)).await.ended_with(0);
    assert!(ran.out.contains("\n  count = 2\n"), "{}", ran.out);
}

/// The name of the file says its language, or else the command that runs it.
#[tokio::test]
async fn a_place_in_a_file_without_an_extension() {
    let folder = folder();
    for name in ["Rakefile", "Tasks"] {
        let tasks = "task(:bill) do\n  total = 6 * 7\n  puts total # @total\nend\n";
        let tasks = Fixture::write(folder.path(), name, tasks);
        let location = at(&tasks, "total");
        let options = ["-e", "total", "--executable-path", "rake", "--", "-f", tasks.path(), "bill"];
        let ran = stillframe(["probe", &location].into_iter().chain(options)).await.ended_with(0);
        assert!(ran.out.contains("\n  total = 42\n"), "{name}: {}", ran.out);
    }
}

#[tokio::test]
async fn the_causes_of_an_exception_are_shown() {
    let folder = folder();
    let text = "def low():\n    return {}['key']\n\ntry:\n    low()\nexcept KeyError as error:\n    raise ValueError('no such thing') from error\n";
    let program = Fixture::write(folder.path(), "main.py", text);
    let ran = stillframe(["probe", program.path()]).await.ended_with(4);
    assert!(ran.out.contains("\nKeyError: 'key'\n\nThe above exception was the direct cause"), "{}", ran.out);
}
