//! Crash dumps, made by gdb's `gcore` when the program ends itself.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::debugging::Report;
use crate::{Module, STILLFRAME};

const TEXT: &str = "\
package main

import \"time\"

type order struct {
\tid   int
\titem string
}

func total(orders []order) int {
\tsum := 0
\tfor _, one := range orders {
\t\tsum += one.id
\t}
\tpanic(\"out of ink\") // @crash
}

func sleeps() { time.Sleep(time.Hour) }

func main() {
\tgo sleeps()
\ttime.Sleep(50 * time.Millisecond)
\tprintln(total([]order{{1, \"pen\"}, {2, \"ink\"}}))
}
";

/// A program that has crashed here, and its dump. The kernel may be set up to put dumps elsewhere, so that gdb makes it.
fn crashed(module: &Module) -> (PathBuf, PathBuf) {
    build(module);
    let (program, dump) = (module.path("crashes"), module.path("dump"));
    let generate = format!("generate-core-file {}", dump.display());
    // The runtime sends itself SIGURG.
    let quiet = "handle SIGURG nostop noprint pass";
    let commands = ["set confirm off", "set debuginfod enabled off", quiet, "run", &generate, "kill"];
    let made = Command::new("gdb")
        .args(["-q", "-batch", "-nx"])
        .args(commands.iter().flat_map(|command| ["-ex", *command]))
        .arg(&program)
        .env("GOTRACEBACK", "crash")
        .current_dir(module.folder())
        .stdin(Stdio::null())
        .output()
        .expect("gdb can be run");
    assert!(dump.is_file(), "{}", String::from_utf8_lossy(&made.stderr));
    (program, dump)
}

fn build(module: &Module) {
    let built = Command::new("go")
        .args(["build", "-gcflags=all=-N -l", "-o", "crashes", "."])
        .current_dir(module.folder())
        .output()
        .expect("Go can be run");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

#[tokio::test]
async fn a_core_dump_shows_panic_values_and_goroutines_and_cannot_run() {
    let module = Module::new(&[("main.go", TEXT)]);
    let program = module.file("main.go");
    let (_, dump) = crashed(&module);
    let server = STILLFRAME.serve().await;
    let created = server.ok("create_debug_session", json!({ "language": "go" })).await;
    let id = created["sessionId"].clone();
    let opened = server.ok("attach_to_process", json!({ "sessionId": id, "coreFile": dump })).await;
    assert_eq!(
        (opened.outcome(), opened.place()),
        ("exception", (program.path(), program.line("crash"))),
        "{}",
        opened.text
    );
    assert_eq!(opened.at("/exception/type"), "SIGABRT", "{}", opened.text);
    assert_eq!(opened.at("/exception/message"), "out of ink", "{}", opened.text);
    assert_eq!(opened.variable("sum"), "3", "{}", opened.text);
    let threads = server.ok("list_threads", json!({ "sessionId": id })).await;
    assert!(threads.text.contains("[sleep]"), "{}", threads.text);
    for tool in ["step_over", "step_into", "continue_execution"] {
        let refused = server.call(tool, json!({ "sessionId": id })).await;
        assert!(refused.is_error && refused.text.contains("crash dump"), "{tool}: {}", refused.text);
    }
    let assigning = json!({ "sessionId": id, "name": "sum", "value": "5" });
    let refused = server.call("set_variable", assigning).await;
    assert!(refused.is_error && refused.text.contains("its values cannot be changed"), "{}", refused.text);
    server.ok("close_debug_session", json!({ "sessionId": id })).await;

    let changed = TEXT.replace("out of ink", "out of pens");
    std::fs::write(program.path(), changed).unwrap();
    build(&module);
    let other = server.ok("create_debug_session", json!({ "language": "go" })).await;
    let opening = json!({ "sessionId": other["sessionId"], "coreFile": dump });
    let refused = server.call("attach_to_process", opening).await;
    assert!(refused.is_error && refused.text.contains("its build ID is"), "{}", refused.text);
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn probe_reads_a_core_dump() {
    let module = Module::new(&[("main.go", TEXT)]);
    let (_, dump) = crashed(&module);
    let done = STILLFRAME
        .command()
        .into_std()
        .args(["probe", "--core", dump.to_str().unwrap(), "-e", "orders[1].item"])
        .env("STILLFRAME_CACHE_DIR", format!("{}/dumps", STILLFRAME.scratch))
        .current_dir(module.folder())
        .output()
        .expect("it can be run");
    let printed = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{printed}");
    for part in ["SIGABRT", "out of ink", "\"ink\"", "other threads", "sleeps main.go"] {
        assert!(printed.contains(part), "`{part}` is not in:\n{printed}");
    }
}
