//! Scripts that start several JVMs, as the wrappers of build tools do.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use test_support::Fixture;
use tokio::process::Command;

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, folder};

const PROGRAM: &str = r#"
class Prepares {
    public static void main(String[] arguments) {
        System.out.println("prepared");
    }
}

class Starts {
    public static void main(String[] arguments) throws Exception {
        System.out.println("starts");
        Process started = new ProcessBuilder("java", "-cp", ".", "Main", "--version").inheritIO().start();
        System.exit(started.waitFor());
    }
}

class Main {
    public static void main(String[] arguments) throws Exception {
        int answer = 6 * 7;
        System.out.println(answer); // @print
    }
}
"#;

/// A project with a script that does this. Classes of the program are in the folder.
async fn project(folder: &Path, name: &str, text: &str) -> Fixture {
    let program = Fixture::write(folder, "Main.java", PROGRAM);
    let compiled = Command::new("javac").args(["-g", "-d"]).arg(folder).arg(program.path()).status().await;
    assert!(compiled.expect("javac runs").success());
    let script = folder.join(name);
    std::fs::write(&script, format!("#!/bin/sh\n{text}")).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    program
}

/// The JVM that runs the code is started by another one, which a script starts.
#[tokio::test]
async fn a_breakpoint_is_hit_in_the_jvm_that_runs_its_code() {
    let folder = folder();
    let script = "java -version\njava -cp . Prepares\njava -cp . Starts\necho done\nexit 3\n";
    let program = project(folder.path(), "start", script).await;
    let server = STILLFRAME.serve().await;
    let arguments = json!({
        "language": "java", "executablePath": folder.path().join("start"), "cwd": folder.path(),
        "until": [{ "file": program.path(), "line": program.line("print") }], "expressions": ["answer"],
        "close": false, "timeout": 60_000,
    });
    let stopped = server.ok("run_until", arguments).await;
    assert_eq!(stopped.place(), (program.path(), program.line("print")), "{}", stopped.text);
    assert_eq!(stopped.at("/values/0/value"), "42", "{}", stopped.text);
    let session = Debugging { id: stopped.text_of("sessionId").to_owned(), server };
    let threads = session.ok("list_threads", json!({})).await;
    let rows = threads["threads"].as_array().unwrap();
    let is_known = rows.iter().all(|thread| thread["name"].as_str().unwrap().contains("(process "));
    assert!(is_known, "the processes are known: {}", threads.text);
    let ended = session.go_on().await;
    assert_eq!((&ended["state"], &ended["exitCode"]), (&json!("ended"), &json!(3)), "{}", ended.text);
    assert_eq!(session.written("stdout").await, "prepared\nstarts\n42\ndone\n");
    session.finish().await;
}

/// Between two JVMs there is no thread, but there is a program.
#[tokio::test]
async fn a_script_without_a_jvm_is_a_running_program() {
    let folder = folder();
    let script = "java -cp . Prepares\nuntil [ -e go ]; do sleep 0.05; done\njava -cp . Main\n";
    let program = project(folder.path(), "gradlew", script).await;
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "java", "executablePath": folder.path().join("gradlew") });
    let id = server.ok("create_debug_session", arguments).await.text_of("sessionId").to_owned();
    let session = Debugging { server, id };
    session.ok("start_debugging", json!({ "cwd": folder.path(), "timeout": 0 })).await;
    while session.written("stdout").await != "prepared\n" {}
    assert_eq!(session.ok("list_debug_sessions", json!({})).await["sessions"][0]["state"], "running");
    session.break_at(&program, "print").await;
    std::fs::write(folder.path().join("go"), "").unwrap();
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("print")), "{}", stopped.text);
    session.finish_at_end().await;
}
