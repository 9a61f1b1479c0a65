//! Virtual environments: the one that is given, the one beside the program, and modules in them.

use std::path::{Path, PathBuf};

use serde_json::json;
use test_support::Fixture;
use tokio::sync::OnceCell;

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, folder};

#[expect(clippy::disallowed_methods, reason = "what a user does before debugging, which ends by itself")]
async fn run(program: &Path, arguments: &[&str]) {
    let done = tokio::process::Command::new(program).args(arguments).output().await.expect("it runs");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// The interpreter of an environment that has pytest; made once for all tests.
async fn with_pytest() -> &'static Path {
    static MADE: OnceCell<PathBuf> = OnceCell::const_new();
    MADE.get_or_init(async || {
        let environment = Path::new(STILLFRAME.scratch).join("environment-with-pytest");
        let python = environment.join("bin/python");
        if !environment.join("bin/pytest").is_file() {
            run(Path::new("python3"), &["-m", "venv", "--clear", &environment.display().to_string()]).await;
            run(&python, &["-m", "pip", "install", "--quiet", "pytest"]).await;
        }
        python
    })
    .await
}

#[tokio::test]
async fn a_module_of_a_given_environment_runs_and_stops_in_user_code() {
    let folder = folder();
    let source = "def test_sum():\n    total = sum([1, 2])\n    assert total == 3  # @assert\n";
    let tests = Fixture::write(folder.path(), "test_sum.py", source);
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "python", "executablePath": with_pytest().await });
    let created = server.ok("create_debug_session", arguments).await;
    let session = Debugging { id: created.text_of("sessionId").to_owned(), server };
    session.break_at(&tests, "assert").await;
    let arguments = json!({ "module": "pytest", "args": ["-q", "test_sum.py"], "cwd": folder.path() });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", (tests.path(), tests.line("assert"))));
    assert_eq!(stopped.variable("total"), "3");
    let frames = stopped["stackFrames"].as_array().unwrap();
    assert_eq!(frames.len(), 1, "pytest's own frames are hidden: {}", stopped.text);
    let ended = session.run_to_the_end().await;
    assert!(ended.text_of("output").contains("1 passed"), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn a_module_runs_to_its_end() {
    let session = Debugging::new().await;
    let arguments = json!({ "language": "python", "executablePath": with_pytest().await });
    let created = session.server.ok("create_debug_session", arguments).await;
    let request = json!({ "sessionId": created["sessionId"], "module": "pytest", "args": ["--version"] });
    let ended = session.server.ok("start_debugging", request).await;
    assert_eq!(ended["exitCode"], 0, "{}", ended.text);
    assert!(ended.text_of("output").contains("pytest "), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn the_virtual_environment_beside_the_program_is_used_without_a_debugger_in_it() {
    let folder = folder();
    let environment = folder.path().join(".venv");
    run(Path::new("python3"), &["-m", "venv", "--without-pip", &environment.display().to_string()]).await;
    let below = folder.path().join("src");
    std::fs::create_dir(&below).unwrap();
    let program =
        Fixture::write(&below, "prefix.py", "import sys\nprefix = sys.prefix\nprint(prefix)  # @print\n");
    let (session, _) = Debugging::stopped_at(&program, "print").await;
    assert_eq!(session.evaluate("prefix").await, format!("'{}'", environment.display()));
    session.run_to_the_end().await;

    let dry = json!({ "scriptPath": program.path(), "dryRunSpawn": true });
    let dry = session.ok("start_debugging", dry).await;
    let origin = format!("(from the virtual environment `{}`)", environment.display());
    assert!(dry.text_of("message").contains(&origin), "{}", dry.text);
    let installed = environment.join("lib").read_dir().unwrap().flatten();
    for version in installed {
        let packages = version.path().join("site-packages");
        assert_eq!(packages.read_dir().unwrap().count(), 0, "nothing is installed into it");
    }
    session.finish().await;
}
