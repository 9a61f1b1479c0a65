//! Interpreters, and the world that a program finds: the same as without a debugger.

mod program_environment;

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::STILLFRAME;
use crate::debugging::Debugging;
use crate::script::{Script, plain, run, text};

/// A session that uses a certain interpreter.
async fn with_interpreter(executable: &str) -> Debugging {
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "python", "executablePath": executable });
    let created = server.ok("create_debug_session", arguments).await;
    Debugging { id: created.text_of("sessionId").to_owned(), server }
}

/// A virtual environment in the folder of a script, without pip.
async fn environment(script: &Script, name: &str) -> String {
    let made = plain(script.folder(), &["-m", "venv", "--without-pip", name]).await;
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    text(&script.path_of(&format!("{name}/bin/python"))).to_owned()
}

/// A program that answers as an interpreter of some version does.
fn fake(script: &Script, body: &str) -> String {
    let path = script.path_of("fake-python");
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    text(&path).to_owned()
}

#[tokio::test]
async fn the_virtual_environment_beside_the_program_is_used_unchanged() {
    let script = Script::new("import sys\nprint(sys.prefix)\n");
    environment(&script, ".venv").await;
    let packages = |script: &Script| {
        let lib = std::fs::read_dir(script.path_of(".venv/lib")).unwrap().flatten().next().unwrap();
        let entries = std::fs::read_dir(lib.path().join("site-packages")).unwrap().flatten();
        entries.map(|entry| entry.file_name()).collect::<Vec<_>>()
    };
    let before = packages(&script);
    let (session, ended) = script.start().await;
    assert_eq!(ended["output"], format!("{}\n", text(&script.path_of(".venv"))), "{}", ended.text);
    assert_eq!(packages(&script), before, "nothing is installed into it");
    session.finish().await;
}

#[tokio::test]
async fn a_generic_python_command_uses_the_virtual_environment() {
    let script = Script::new("import sys\nprint(sys.prefix)\nimport not_installed\n");
    environment(&script, ".venv").await;
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "command": "python main.py", "cwd": text(script.folder()) });
    let found = server.ok("diagnose_hang", arguments).await;
    assert_eq!((found.text_of("verdict"), &found["completed"]), ("failed", &json!(true)), "{}", found.text);
    let prefix = text(&script.path_of(".venv")).to_owned();
    assert!(found.text_of("output").contains(&format!("{prefix}\n")), "{}", found.text);
    let evidence = found["evidence"].to_string();
    assert!(evidence.contains(&format!("it runs under `{prefix}/bin/python")), "{evidence}");
    server.finish().await;
}

#[tokio::test]
async fn a_given_interpreter_overrides_the_virtual_environment() {
    let script = Script::new("import sys\nprint(sys.prefix)\n");
    environment(&script, ".venv").await;
    let other = environment(&script, "other").await;
    let session = with_interpreter(&other).await;
    let ended = session.start(&script).await;
    assert_eq!(ended["output"], format!("{}\n", text(&script.path_of("other"))));
    session.finish().await;
}

/// debugpy of another version in the user's environment is neither used nor hidden.
#[tokio::test]
async fn the_users_own_debugpy_does_not_interfere() {
    let script = Script::new(
        "import sys\nfound = 'debugpy' in sys.modules\nimport debugpy\nprint(debugpy.__version__)  # @here\n",
    );
    let python = environment(&script, ".venv").await;
    let site = run(&python, script.folder(), &["-c", "import site; print(site.getsitepackages()[0])"]).await;
    let package = std::path::Path::new(site.stdout.trim()).join("debugpy");
    std::fs::create_dir(&package).unwrap();
    std::fs::write(package.join("__init__.py"), "__version__ = 'of the user'\n").unwrap();
    std::fs::create_dir(package.join("_vendored")).unwrap();
    std::fs::write(package.join("_vendored/__init__.py"), "raise RuntimeError('not this one')\n").unwrap();
    let (session, stopped) = script.stopped_at("here").await;
    assert_eq!(session.evaluate("1 + 1").await, "2", "{}", stopped.text);
    session.finish_at_end().await;
}

#[tokio::test]
async fn too_old_interpreters_are_refused_by_name_and_version() {
    let script = Script::new("print(1)\n");
    for (version, tag) in [("2.7.18", "cpython-27"), ("3.6.15", "cpython-36"), ("3.7.16", "cpython-37")] {
        let answer = format!("Python {version}\n{tag}\n/old/python");
        // Python 2 does not know `-I`.
        let refuse = if version.starts_with('2') { "[ \"$1\" = -I ] && exit 2\n" } else { "" };
        let path = fake(&script, &format!("{refuse}echo '{answer}'"));
        let session = with_interpreter(&path).await;
        let failed =
            session.fails("unsupported", "start_debugging", json!({ "scriptPath": script.path() })).await;
        let error = format!(
            "`{path}` is Python {version}, but debugging needs Python 3.8 or newer; give a newer one as \
             `executablePath`"
        );
        assert_eq!(failed["error"], error);
        session.finish().await;
    }
}

#[tokio::test]
async fn an_interpreter_that_is_not_python_is_refused_at_once() {
    let script = Script::new("print(1)\n");
    let path = fake(&script, "echo hello; exit 0");
    let missing = text(&script.path_of("missing")).to_owned();
    for (path, problem) in [
        (path.clone(), format!("`{path}` is not a Python interpreter")),
        (missing.clone(), format!("no Python interpreter `{missing}`")),
    ] {
        let session = with_interpreter(&path).await;
        let failed =
            session.fails("environment", "start_debugging", json!({ "scriptPath": script.path() })).await;
        assert_eq!(failed["error"], problem);
        assert_ne!(failed["message"], Value::Null);
        session.finish().await;
    }
}
