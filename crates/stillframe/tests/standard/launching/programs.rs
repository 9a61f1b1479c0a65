//! Arguments, environment, working directory, standard input, entry, and a dry run.

use serde_json::{Value, json};
use test_support::{Fixture, Language, PerLanguage, Texts, each};

use crate::debugging::{Debugging, Report, folder, written, written_in};

each![
    arguments_environment_directory_and_input_reach_the_program,
    standard_input_is_a_file_or_empty,
    stop_on_entry_stops_before_any_code_runs,
    a_dry_run_shows_the_command_and_starts_nothing,
    threads_are_listed_with_their_names_and_states,
];

async fn arguments_environment_directory_and_input_reach_the_program(language: Language) {
    let program = Fixture::of(language, "readers");
    let folder = folder();
    let session = Debugging::of(language).await;
    let arguments = json!({
        "scriptPath": program.path(),
        "args": ["a b", "-x", "ü"],
        "env": { "COLOUR": "blue" },
        "cwd": folder.path(),
        "stdin": "one\ntwo",
    });
    let ended = session.ok("start_debugging", arguments).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    let written = session.written("stdout").await;
    let about_us =
        PerLanguage { name: "programs: debugger output", python: "python ", node: "node ", c: "c " }
            .of(language);
    let lines: Vec<&str> = written.lines().filter(|line| !line.starts_with(about_us)).collect();
    let cwd = format!("cwd {}", folder.path().canonicalize().unwrap().display());
    let (args, env, read) = PerLanguage {
        name: "programs: readers",
        python: ("args ['a b', '-x', 'ü']", "env blue True", "read 'one\\ntwo'"),
        node: ("args [ 'a b', '-x', 'ü' ]", "env blue true", "read [ 'one\\ntwo' ]"),
        c: ("args ['a b', '-x', 'ü']", "env blue true", "read 'one\\ntwo'"),
    }
    .of(language);
    assert_eq!(lines, [args, env, &cwd, read, "done"]);
    assert_eq!(session.written("stderr").await, "to stderr\n");
    session.finish().await;
}

async fn standard_input_is_a_file_or_empty(language: Language) {
    let program = Fixture::of(language, "readers");
    let folder = folder();
    let input = folder.path().join("input.txt");
    std::fs::write(&input, "from a file\n").unwrap();
    let session = Debugging::of(language).await;
    let table = [
        (json!({ "scriptPath": program.path(), "stdinFile": input }), "from a file\\n"),
        (json!({ "scriptPath": program.path() }), ""),
    ];
    session.break_at(&program, "read").await;
    for (arguments, text) in table {
        session.ok("start_debugging", arguments).await;
        assert_eq!(language.plain(&session.evaluate("text").await), language.text(text));
        session.run_to_the_end().await;
    }
    session.finish().await;
}

async fn stop_on_entry_stops_before_any_code_runs(language: Language) {
    let (program, session) = Debugging::with(language, "readers").await;
    let arguments = json!({ "scriptPath": program.path(), "dapLaunchArgs": { "stopOnEntry": true } });
    let entered = session.ok("start_debugging", arguments).await;
    let function = language.words().module.unwrap_or("main");
    assert_eq!((entered.outcome(), entered.at("/location/function")), ("entry", &json!(function)));
    assert_eq!(session.written("stdout").await, "");
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_breakpoint_in_a_library_is_hit_without_just_my_code() {
    let (_folder, program) = written("uses.py", "import textwrap\nprint(textwrap.dedent(' x'))\n");
    let session = Debugging::new().await;
    session.ok("set_breakpoint", json!({ "function": "dedent" })).await;
    let arguments = json!({ "scriptPath": program.path(), "dapLaunchArgs": { "justMyCode": false } });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!((stopped.outcome(), stopped.at("/location/function")), ("breakpoint", &json!("dedent")));
    assert_eq!(stopped.variable("text"), "' x'");
    assert_eq!(stopped.at("/stackFrames/0/internal"), true);
    session.finish().await;
}

async fn a_dry_run_shows_the_command_and_starts_nothing(language: Language) {
    let folder = folder();
    let texts = Texts {
        name: "touches",
        python: "import pathlib\npathlib.Path('touched').touch()\n",
        node: "require('node:fs').writeFileSync('touched', '');\n",
        c: "#include <stdio.h>\nint main(void) { return fclose(fopen(\"touched\", \"w\")); }\n",
    };
    let program = Fixture::write_in(language, folder.path(), "touches", texts);
    let session = Debugging::of(language).await;
    let arguments = json!({
        "scriptPath": program.path(),
        "args": ["--flag"],
        "cwd": folder.path(),
        "dryRunSpawn": true,
    });
    let dry = session.ok("start_debugging", arguments).await;
    assert_eq!((&dry["state"], dry.at("/data/dryRun")), (&json!("created"), &json!(true)));
    assert!(dry.text_of("message").starts_with(&format!("Dry run for {}: ", program.path())), "{}", dry.text);
    let command: Vec<&str> =
        dry.at("/data/command").as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let debugger = PerLanguage { name: "programs: debugger", python: "python", node: "node", c: "lldb-dap" }
        .of(language);
    assert!(command[0].contains(debugger), "{}", dry.text);
    // lldb-dap takes the rest by its protocol.
    if !language.is_compiled() {
        assert_eq!(command[command.len() - 2..], [program.path(), "--flag"]);
    }
    assert!(!folder.path().join("touched").exists());

    let missing = json!({ "scriptPath": language.file("/no/such"), "dryRunSpawn": true });
    session.fails("file_not_found", "start_debugging", missing).await;
    let start = json!({ "scriptPath": program.path(), "cwd": folder.path() });
    assert_eq!(session.ok("start_debugging", start).await.outcome(), "ended");
    assert!(folder.path().join("touched").exists());
    session.finish().await;
}

/// Has a second thread, which waits.
const TWO_THREADS: Texts = Texts {
    name: "two_threads",
    python: "\
import threading
done = threading.Event()
worker = threading.Thread(target=done.wait, name='worker')
worker.start()
print('both')  # @both
done.set()
",
    node: "\
const { Worker } = require('node:worker_threads');
const waits = \"require('node:worker_threads').parentPort.once('message', () => {})\";
const worker = new Worker(waits, { eval: true, name: 'worker' });
worker.once('online', () => {
  console.log('both'); // @both
  worker.postMessage('done');
});
",
    c: "\
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t done;
static void *work(void *unused) {
    pthread_barrier_wait(&done);
    return unused;
}
int main(void) {
    pthread_t worker;
    pthread_barrier_init(&done, NULL, 2);
    pthread_create(&worker, NULL, work, NULL);
    pthread_setname_np(worker, \"worker\");
    puts(\"both\"); // @both
    pthread_barrier_wait(&done);
    return pthread_join(worker, NULL);
}
",
};

async fn threads_are_listed_with_their_names_and_states(language: Language) {
    let (_folder, program) = written_in(language, "two", TWO_THREADS);
    let (session, stopped) = Debugging::stopped_at(&program, "both").await;
    let listed = session.ok("list_threads", json!({})).await;
    assert_eq!(listed["count"], 2);
    let threads = listed["threads"].as_array().unwrap();
    let main = threads.iter().find(|thread| thread["current"] == true).unwrap();
    // A thread of C is called as its program until it has a name of its own.
    let name = PerLanguage { name: "programs: main thread", python: "MainThread", node: "main", c: "two" }
        .of(language);
    assert_eq!((&main["name"], &main["state"]), (&json!(name), &json!("paused")));
    assert_eq!(&main["id"], stopped.at("/location/threadId"));
    let worker = threads.iter().find(|thread| thread["name"] == "worker").unwrap();
    assert_eq!(worker["processId"], main["processId"]);
    session.finish_at_end().await;
}
