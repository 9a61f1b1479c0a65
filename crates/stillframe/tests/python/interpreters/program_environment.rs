//! What a program sees of itself: compared with what it sees without a debugger.

use serde_json::{Value, json};

use crate::debugging::{Debugging, Report};
use crate::script::{Script, plain, text};

/// Asserts that a program writes the same, and ends with the same code, with and without a debugger.
async fn is_the_same(script: &Script, args: &[&str], launch: Value) {
    let expected = plain(script.folder(), args).await;
    let session = Debugging::new().await;
    let mut arguments = launch;
    arguments["cwd"] = json!(script.folder());
    session.ok("set_exception_breakpoints", json!({ "mode": "none" })).await;
    let ended = session.ok("start_debugging", arguments).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    assert_eq!(session.written("stdout").await, expected.stdout);
    assert_eq!(session.written("stderr").await, expected.stderr);
    assert_eq!(ended["exitCode"], json!(expected.code));
    session.finish().await;
}

/// What Python defines in the main module.
const MAIN: &str = r#"
import atexit, sys, threading
main = sys.modules["__main__"]
print(__name__, globals().get("__file__"), __package__, __spec__ and __spec__.name, main.__dict__ is globals())
print(sorted(globals()), globals().get("__annotations__"), type(__builtins__), type(__loader__))
print(threading.Thread(target=print).name)
atexit.register(lambda: print(sys.modules["__main__"] is main))
"#;

const LOOK: &str = r#"
import os
print(sys.argv, sys.path[0], sys.flags.isolated, sys.dont_write_bytecode)
print([part for part in sys.path if "stillframe" in part or "debugpy" in part])
print(os.getcwd(), threading.current_thread().name, threading.active_count())
print(sys.getrecursionlimit(), sys.excepthook is sys.__excepthook__, sys.stdin.isatty(), sys.stdout.encoding)
"#;

/// Shows all of it.
fn look() -> String {
    format!("{MAIN}{LOOK}")
}

#[tokio::test]
async fn a_script_has_its_name_arguments_path_and_main_module() {
    let script = Script::new(&look());
    is_the_same(
        &script,
        &[script.path(), "one two", "", "-x"],
        json!({ "scriptPath": script.path(), "args": ["one two", "", "-x"] }),
    )
    .await;
}

#[tokio::test]
async fn a_module_has_its_name_arguments_path_and_main_module() {
    let script = Script::new("");
    std::fs::create_dir(script.path_of("package")).unwrap();
    script.file("package/__init__.py", "");
    script.file("package/__main__.py", &look());
    is_the_same(&script, &["-m", "package", "-x"], json!({ "module": "package", "args": ["-x"] })).await;
}

#[tokio::test]
async fn a_child_process_has_the_main_module_of_python() {
    let script = Script::new(
        "import subprocess, sys, zipapp\nzipapp.create_archive('app')\nwith open('child.py') as file:\n    code = file.read()\nfor words in ['child.py'], ['app.pyz'], ['-m', 'child'], ['-c', code], ['-c', 'from __future__ import annotations; ' + code]:\n    print(subprocess.check_output([sys.executable, *words], text=True))\n",
    );
    script.file("child.py", MAIN);
    script.file("app/__main__.py", MAIN);
    is_the_same(&script, &[script.path()], json!({ "scriptPath": script.path() })).await;
}

#[tokio::test]
async fn a_traceback_is_the_same_as_without_a_debugger() {
    let script = Script::new(
        "def inner():\n    return {}['key']\n\ndef outer():\n    try:\n        inner()\n    except KeyError as error:\n        raise ValueError('wrapped') from error\n\nouter()\n",
    );
    is_the_same(&script, &[script.path()], json!({ "scriptPath": script.path() })).await;
}

#[tokio::test]
async fn tracebacks_of_imports_and_syntax_errors_are_the_same_as_without_a_debugger() {
    let script = Script::new("import helper\n");
    script.file("helper.py", "import broken\n");
    script.file("broken.py", "def broken(:\n");
    is_the_same(&script, &[script.path()], json!({ "scriptPath": script.path() })).await;
}

#[tokio::test]
async fn the_programs_excepthook_gets_the_original_exception() {
    let script = Script::new(
        "import sys, traceback\ndef hook(kind, error, trace):\n    print('hook', kind.__name__, [frame.name for frame in traceback.extract_tb(trace)], error.__traceback__ is trace)\nsys.excepthook = hook\ndef f():\n    raise ValueError(1)\nf()\n",
    );
    is_the_same(&script, &[script.path()], json!({ "scriptPath": script.path() })).await;
}

#[tokio::test]
async fn a_missing_module_is_reported_in_pythons_words() {
    let script = Script::new("");
    let session = Debugging::new().await;
    let ended = session
        .call("start_debugging", json!({ "module": "not_there_at_all", "cwd": script.folder() }))
        .await;
    assert!(ended.text.contains("No module named not_there_at_all"), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn python_path_variables_are_respected() {
    let script = Script::new("import sys, helper\nprint(helper.__file__, sys.path[0])\n");
    std::fs::create_dir(script.path_of("lib")).unwrap();
    let helper = script.file("lib/helper.py", "");
    let session = Debugging::new().await;
    let lib = script.path_of("lib");
    let arguments = json!({ "scriptPath": script.path(), "env": { "PYTHONPATH": lib } });
    let ended = session.ok("start_debugging", arguments).await;
    assert_eq!(ended["output"], format!("{} {}\n", helper.path(), script.folder().display()));
    session.finish().await;
}

/// From Python 3.11 on the folder of the program is not on the path then; before, the variable means nothing.
#[tokio::test]
async fn the_safe_path_option_is_respected() {
    let script = Script::new("import os, sys\nprint(os.path.dirname(__file__) in sys.path, len(sys.path))\n");
    let code = "import os, runpy, subprocess, sys\nprint(subprocess.run([sys.executable, sys.argv[1]], env={**os.environ, 'PYTHONSAFEPATH': '1'}, capture_output=True, text=True).stdout, end='')";
    let expected = plain(script.folder(), &["-c", code, script.path()]).await;
    let session = Debugging::new().await;
    let arguments = json!({ "scriptPath": script.path(), "env": { "PYTHONSAFEPATH": "1" } });
    let ended = session.ok("start_debugging", arguments).await;
    assert_eq!(ended["output"], json!(expected.stdout));
    session.finish().await;
}

/// Our mark, unbuffered output and words to pydevd are all that is added.
#[tokio::test]
async fn the_environment_has_only_a_few_additional_variables() {
    let script = Script::new("import json, os\nprint(json.dumps(sorted(os.environ)))\n");
    let expected = plain(script.folder(), &[script.path()]).await;
    let names = |text: &str| serde_json::from_str::<Vec<String>>(text).expect("a list");
    let (session, ended) = script.start().await;
    let mut known = names(&expected.stdout);
    // The tests' own, and what a shell says of the program that it starts.
    let ours =
        ["STILLFRAME_CACHE_DIR", "STILLFRAME_LOG_FILE", "STILLFRAME_CONFIG", "STILLFRAME_TEST_MARK", "_"];
    known.extend(ours.map(str::to_owned));
    let mut added = names(ended.text_of("output"));
    added.retain(|name| !known.contains(name) && name != "PYTHONUNBUFFERED" && !name.starts_with("PYDEVD_"));
    assert_eq!(added, ["STILLFRAME_SESSION"]);
    session.finish().await;
}

/// A program that traces itself takes the tracer away, up to Python 3.11. Uncaught exceptions stop even then.
#[tokio::test]
async fn a_program_that_removes_the_tracer_runs_and_stops_at_its_uncaught_exception() {
    let script = Script::new(
        "import sys\nseen = []\nsys.settrace(lambda frame, event, arg: seen.append(event))\ndef f():\n    pass\nf()\nsys.settrace(None)\nprint(len(seen) > 0)\nraise ValueError('at last')  # @raise\n",
    );
    let (session, stopped) = script.start().await;
    assert_eq!(stopped.place(), (script.path(), script.line("raise")), "{}", stopped.text);
    assert_eq!(session.written("stdout").await, "True\n");
    let warning = "sys.settrace() should not be used when the debugger is being used.";
    assert!(session.written("stderr").await.contains(warning), "{}", stopped.text);
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)));
    session.finish().await;
}

#[tokio::test]
async fn a_folder_and_an_archive_have_their_names_arguments_path_and_main_module() {
    let script = Script::new("");
    script.file("app/__main__.py", &format!("import helper\n{}", look()));
    script.file("app/helper.py", "print(__name__, __file__)\n");
    let (folder, archive) = (script.path_of("app"), script.path_of("app.pyz"));
    plain(script.folder(), &["-m", "zipapp", "app", "-o", text(&archive)]).await;
    for program in [text(&folder), text(&archive)] {
        is_the_same(&script, &[program, "-x"], json!({ "scriptPath": program, "args": ["-x"] })).await;
    }
}

#[tokio::test]
async fn a_folder_stops_at_breakpoints_and_an_archive_at_its_exception() {
    let script = Script::new("");
    script.file("app/__main__.py", "from helper import share\nshare(0)\n");
    let helper = script.file("app/helper.py", "def share(parts):\n    return 6 / parts  # @here\n");
    let (folder, archive) = (script.path_of("app"), script.path_of("app.pyz"));
    plain(script.folder(), &["-m", "zipapp", "app", "-o", text(&archive)]).await;
    let session = Debugging::new().await;
    session.break_at(&helper, "here").await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": text(&folder) })).await;
    assert_eq!(stopped.place(), (helper.path(), helper.line("here")), "{}", stopped.text);
    session.finish().await;
    let session = Debugging::new().await;
    let stopped = session.ok("start_debugging", json!({ "scriptPath": text(&archive) })).await;
    assert_eq!(stopped.at("/exception/type"), "ZeroDivisionError", "{}", stopped.text);
    assert_eq!((stopped.place().1, stopped.variable("parts")), (helper.line("here"), "0"));
    let until = json!({ "program": text(&folder), "until": [{ "function": "share" }] });
    let stopped = session.server.ok("run_until", until).await;
    assert_eq!(stopped.place(), (helper.path(), helper.line("here")), "{}", stopped.text);
    session.finish().await;
}
