//! Crash dumps, made by gdb's `gcore` of a program that waits where it would crash.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use serde_json::json;

use crate::STILLFRAME;
use crate::debugging::Report;
use crate::source::Sources;

const TEXT: &str = "#include <pthread.h>\n#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n\
                    struct order { int id; const char *item; };\n\
                    static pthread_barrier_t both;\nstatic void *waits(void *unused) {\n    pthread_barrier_wait(&both);\n    pause(); // @waits\n    return unused;\n}\n\
                    static int total(const struct order *orders, int count) {\n    int sum = 0;\n    \
                    for (int at = 0; at < count; at++) sum += orders[at].id;\n    raise(SIGABRT); // @crash\n    return sum;\n}\n\
                    int main(void) {\n    pthread_t other;\n    struct order orders[2] = {{1, \"pen\"}, {2, \"ink\"}};\n    \
                    pthread_barrier_init(&both, NULL, 2);\n    pthread_create(&other, NULL, waits, NULL);\n    pthread_barrier_wait(&both);\n    return total(orders, 2);\n}\n";

/// A program that has crashed here, and its dump. The kernel may be set up to put dumps elsewhere, so that gdb makes it.
fn crashed(sources: &Sources) -> (PathBuf, PathBuf) {
    crashed_after(sources, "gcc -g -O0 -pthread -o crashes main.c")
}

/// The same for a program that this command makes.
fn crashed_after(sources: &Sources, command: &str) -> (PathBuf, PathBuf) {
    let program = sources.compiled(command, "crashes");
    let dump = sources.path("dump");
    let made = Command::new("gdb")
        .args([
            "-q",
            "-batch",
            "-nx",
            "-ex",
            "set confirm off",
            "-ex",
            "set debuginfod enabled off",
            "-ex",
            "run",
            "-ex",
        ])
        .arg(format!("generate-core-file {}", dump.display()))
        .args(["-ex", "kill"])
        .arg(&program)
        .current_dir(sources.folder())
        .stdin(Stdio::null())
        .output()
        .expect("gdb can be run");
    assert!(dump.is_file(), "{}", String::from_utf8_lossy(&made.stderr));
    (program, dump)
}

#[tokio::test]
async fn a_core_dump_shows_crash_values_and_threads_and_cannot_run() {
    let sources = Sources::new(&[("main.c", TEXT)]);
    let program = sources.file("main.c");
    let (_, dump) = crashed(&sources);
    let source = File::options().append(true).open(program.path()).unwrap();
    source.set_modified(SystemTime::now()).unwrap();
    let server = STILLFRAME.serve().await;
    let created = server.ok("create_debug_session", json!({ "language": "c" })).await;
    let id = created["sessionId"].clone();
    let opened = server.ok("attach_to_process", json!({ "sessionId": id, "coreFile": dump })).await;
    assert!(opened["notes"].to_string().contains("newer than the dump"), "{}", opened.text);
    assert_eq!(
        (opened.outcome(), opened.place()),
        ("exception", (program.path(), program.line("crash"))),
        "{}",
        opened.text
    );
    assert_eq!(opened.at("/exception/type"), "SIGABRT");
    assert_eq!((opened.variable("sum"), opened.variable("count")), ("3", "2"));
    let threads = server.ok("list_threads", json!({ "sessionId": id })).await;
    assert_eq!(threads["threads"].as_array().unwrap().len(), 2, "{}", threads.text);
    for tool in ["step_over", "step_into", "continue_execution"] {
        let refused = server.call(tool, json!({ "sessionId": id })).await;
        assert!(refused.is_error && refused.text.contains("crash dump"), "{tool}: {}", refused.text);
    }
    let paused = server.call("pause_execution", json!({ "sessionId": id })).await;
    assert!(paused.is_error && paused.text.contains("cannot be paused"), "{}", paused.text);
    let assigning = [
        ("set_variable", json!({ "sessionId": id, "name": "sum", "value": "5" })),
        ("evaluate_expression", json!({ "sessionId": id, "expression": "sum = 5" })),
        ("evaluate_expression", json!({ "sessionId": id, "expression": "total(orders, 1)" })),
    ];
    for (tool, arguments) in assigning {
        let refused = server.call(tool, arguments).await;
        assert!(
            refused.is_error && refused.text.contains("its values cannot be changed"),
            "{}",
            refused.text
        );
    }
    let line = program.line("crash");
    let breakpoint = json!({ "sessionId": id, "file": program.path(), "line": line });
    let set = server.ok("set_breakpoint", breakpoint).await;
    assert_eq!(set["verified"], false, "{}", set.text);
    assert!(set.text.contains("a crash dump does not run"), "{}", set.text);
    server.ok("close_debug_session", json!({ "sessionId": id })).await;
    server.finish().await;
}

/// What `stillframe probe` prints, in one line, and its exit code.
fn probed(sources: &Sources, words: &[&str]) -> (Option<i32>, String) {
    let cache = STILLFRAME.scratch;
    let done = STILLFRAME
        .command()
        .into_std()
        .arg("probe")
        .args(words)
        .env("STILLFRAME_CACHE_DIR", format!("{cache}/dumps"))
        .current_dir(sources.folder())
        .output();
    let done = done.expect("it can be run");
    let text = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    (done.status.code(), text.replace('\n', " "))
}

#[tokio::test]
async fn probe_reads_a_core_dump_and_refuses_other_files() {
    let sources = Sources::new(&[("main.c", TEXT)]);
    let (binary, dump) = crashed(&sources);
    let probe = |words: &[&str]| probed(&sources, words);
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let (code, printed) = probe(&["--core", &text(&dump), "-e", "orders[1].item"]);
    assert_eq!(code, Some(0), "{printed}");
    for part in ["SIGABRT", "\"ink\"", "sum    = 3", "other threads", "waits main.c"] {
        assert!(printed.contains(part), "`{part}` is not in:\n{printed}");
    }
    let (code, printed) = probe(&["--core", &text(&binary)]);
    assert!(code == Some(1) && printed.contains("is not a crash dump"), "{printed}");
    std::fs::rename(&binary, sources.path("elsewhere")).unwrap();
    let (_, printed) = probe(&["--core", &text(&dump)]);
    assert!(printed.contains("it does not exist; give its path"), "{printed}");
    let (code, printed) = probe(&["--core", &text(&dump), "elsewhere"]);
    assert!(code == Some(0) && printed.contains("sum    = 3"), "{printed}");
}

#[tokio::test]
async fn a_dump_is_not_read_with_another_build_of_its_program() {
    let later = TEXT.replace("int sum = 0;", "int taxes[9] = {1}; int sum = taxes[0] - 1;");
    let sources = Sources::new(&[("main.c", TEXT), ("later.c", &later)]);
    let (_, dump) = crashed(&sources);
    let dump = dump.to_str().unwrap();
    for flags in ["-Wl,--build-id=sha1", "-Wl,--build-id=none"] {
        let command = format!("gcc -g -O0 -pthread {flags} -o later later.c");
        sources.compiled(&command, "later");
        let (code, printed) = probed(&sources, &["--core", dump, "later"]);
        assert!(code == Some(1) && printed.contains("give the executable that crashed"), "{printed}");
    }
    sources.compiled("gcc -g -O0 -pthread -Wl,--build-id=sha1 -o crashes later.c", "crashes");
    let (code, printed) = probed(&sources, &["--core", dump]);
    assert!(code == Some(1) && printed.contains("its build ID is"), "{printed}");
}

#[tokio::test]
async fn a_dump_without_its_end_and_a_stripped_program_are_named() {
    let sources = Sources::new(&[("main.c", TEXT)]);
    let (program, dump) = crashed(&sources);
    let whole = std::fs::read(&dump).unwrap();
    let probe_part = |length: usize| {
        std::fs::write(sources.path("part"), &whole[..length]).unwrap();
        probed(&sources, &["--core", "part", "crashes"])
    };
    let (code, printed) = probe_part(300);
    assert!(code == Some(1) && printed.contains("is truncated: it has 300 bytes"), "{printed}");
    let (code, printed) = probe_part(whole.len() / 2);
    let expected = format!("it has {} bytes of ", whole.len() / 2);
    assert!(code == Some(1) && printed.contains(&expected), "{printed}");
    std::fs::write(sources.path("part"), "a report").unwrap();
    let (code, printed) = probed(&sources, &["--core", "part"]);
    assert!(code == Some(1) && printed.contains("it is a text"), "{printed}");

    let stripped = Command::new("strip").arg(&program).status().expect("strip can be run");
    assert!(stripped.success());
    let (code, printed) = probed(&sources, &["--core", dump.to_str().unwrap()]);
    assert!(code == Some(0) && printed.contains("`crashes` is stripped"), "{printed}");
}

#[tokio::test]
async fn a_dump_of_a_program_that_throws_names_the_exception() {
    let text = "#include <stdexcept>\n#include <string>\n\
                static int price(int number) {\n    \
                if (number > 3) throw std::out_of_range(\"no item \" + std::to_string(number)); // @throws\n    \
                return number;\n}\n\
                int main() { return price(7); }\n";
    let sources = Sources::new(&[("main.cpp", text)]);
    let (_, dump) = crashed_after(&sources, "g++ -g -O0 -o crashes main.cpp");
    let (code, printed) = probed(&sources, &["--core", dump.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("std::out_of_range: no item 7"), "{printed}");
    assert!(printed.contains("number = 7"), "{printed}");
}

#[tokio::test]
async fn a_dump_has_the_constants_that_are_only_in_the_file_of_the_program() {
    let text = "#include <csignal>\n#include <string_view>\n\
                struct Rate { int id; double percent; };\n\
                static const Rate rates[] = {{1, 0.5}, {2, 7.25}};\n\
                static int check(const Rate *rate, std::string_view name) {\n    \
                raise(SIGABRT); // @crash\n    return rate->id + int(name.size());\n}\n\
                int main() { return check(&rates[1], \"night\"); }\n";
    let sources = Sources::new(&[("main.cpp", text)]);
    let (_, dump) = crashed_after(&sources, "g++ -g -O0 -std=c++17 -o crashes main.cpp");
    let (code, printed) =
        probed(&sources, &["--core", dump.to_str().unwrap(), "-e", "*rate", "-e", "rates[0].percent"]);
    assert_eq!(code, Some(0), "{printed}");
    for part in ["\"night\"", "{id = 2, percent = 7.25}", "rates[0].percent = 0.5"] {
        assert!(printed.contains(part), "`{part}` is not in:\n{printed}");
    }
}
