//! Steps of programs that use libraries: code whose sources are not there.

use serde_json::json;
use test_support::Fixture;
use tokio::process::Command;

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, folder};

const LIBRARY: &str = "\
package org.tools;

import java.util.function.IntUnaryOperator;

public class Runner {
    public static int twice(int count) {
        int twice = count * 2;
        return twice;
    }

    public static int call(IntUnaryOperator work, int count) {
        int called = work.applyAsInt(count);
        return called;
    }

    public static void serve(Runnable request) throws InterruptedException {
        Thread thread = new Thread(() -> {
            request.run();
            twice(1);
        });
        thread.start();
        thread.join();
    }
}
";

const PROGRAM: &str = "\
import org.tools.Runner;

class Main {
    static int half(int count) {
        return count / 2; // @half
    }

    static int more(int count) {
        return count + 1; // @more
    }

    static void request() {
        System.out.println(\"request\"); // @request
    } // @done

    public static void main(String[] arguments) throws InterruptedException {
        int all = Runner.twice(2); // @plain
        all += Runner.call(Main::more, 1); // @calls
        all += half(Runner.twice(4)); // @both
        Runner.serve(Main::request); // @serves
        System.out.println(all);
    }
}
";

#[tokio::test]
async fn steps_end_in_code_of_the_user() {
    let folder = folder();
    let classes = folder.path().join("classes");
    let library = Fixture::write(folder.path(), "Runner.java", LIBRARY);
    let program = Fixture::write(folder.path(), "Main.java", PROGRAM);
    let compiled = Command::new("javac")
        .args(["-g", "-d"])
        .arg(&classes)
        .args([library.path(), program.path()])
        .status();
    assert!(compiled.await.expect("javac runs").success());
    std::fs::remove_file(library.path()).unwrap();
    let server = STILLFRAME.serve().await;
    let asked = json!({
        "command": ["java", "-cp", classes, "Main"], "cwd": folder.path(),
        "until": [{ "file": program.path(), "line": program.line("plain") }], "timeout": 60_000,
    });
    let id = server.ok("run_until", asked).await.text_of("sessionId").to_owned();
    let session = Debugging { server, id };
    for name in ["more", "request"] {
        session.break_at(&program, name).await;
    }
    for (tool, line) in [
        ("step_into", "calls"),
        ("continue_execution", "more"),
        ("step_over", "calls"),
        ("step_over", "both"),
        ("step_into", "half"),
        ("step_out", "both"),
        ("step_over", "serves"),
        ("continue_execution", "request"),
        ("step_over", "done"),
    ] {
        let stopped = session.step(tool).await;
        assert_eq!(stopped.place(), (program.path(), program.line(line)), "{tool}: {}", stopped.text);
    }
    // Nothing of the user's is left in that thread.
    let ended = session.step("step_over").await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    session.finish().await;
}
