//! Pausing programs that are busy, asleep, or wait in the operating system.

use serde_json::json;
use test_support::{Dynamic, DynamicLanguage, Language, Program, Texts, each};

use crate::debugging::{Debugging, ENDLESS, Report, written_in};

each![a_busy_loop_is_paused, a_sleep_is_paused, a_pause_works_while_another_call_waits_and_answers_both,];

/// Starts a program that says `ready` when it is about to do what it never ends with, pauses it, and
/// checks that it is paused on the named line and lives on.
async fn pauses<L: Into<Language> + Copy>(language: L, texts: impl Program<L>) {
    let (_folder, program) = written_in(language, "endless", texts);
    let session = Debugging::of(language).await;
    session.ok("start_debugging", json!({ "scriptPath": program.path(), "timeout": 0 })).await;
    while session.written("stdout").await != "ready\n" {
        let report = session.ok("continue_execution", json!({ "timeout": 50 })).await;
        assert_eq!(report.outcome(), "running", "{}", report.text);
    }
    let paused = session.ok("pause_execution", json!({ "timeout": 20_000 })).await;
    assert_eq!((paused.outcome(), paused.place()), ("pause", (program.path(), program.line("here"))));
    assert_eq!(session.evaluate("number + 1").await, "2");
    // It continues its work.
    assert_eq!(session.ok("continue_execution", json!({ "timeout": 100 })).await.outcome(), "running");
    session.finish().await;
}

async fn a_busy_loop_is_paused(language: Language) {
    let texts = Texts {
        name: "pauses_busy",
        python: "number = 1\nprint('ready')\nwhile True: number = 1  # @here\n",
        // In one line, because what it says arrives before `log` has returned.
        node: "let number = 1;\nconsole.log('ready'); for (;;) number = 1; // @here\n",
        c: "\
#include <stdio.h>
int main(void) {
    volatile int number = 1;
    puts(\"ready\"), fflush(stdout); for (;;) number = 1; // @here
}
",
    };
    pauses(language, texts).await;
}

async fn a_sleep_is_paused(language: Language) {
    let texts = Texts {
        name: "pauses_sleep",
        python: "import time\nnumber = 1\nprint('ready')\ntime.sleep(1000)  # @here\n",
        // What waits in the operating system cannot be paused; what waits in turns can.
        node: "\
const number = 1;
const cell = new Int32Array(new SharedArrayBuffer(4));
console.log('ready'); while (Atomics.wait(cell, 0, 0, 10)); // @here
",
        c: "\
#include <stdio.h>
#include <unistd.h>
int main(void) {
    int number = 1;
    puts(\"ready\"), fflush(stdout), usleep(1000000000), number++; // @here
}
",
    };
    pauses(language, texts).await;
}

#[tokio::test]
async fn an_idle_server_is_paused() {
    let source = "\
import socket
number = 1
server = socket.create_server(('127.0.0.1', 0))
print('ready')
server.accept()  # @here
";
    // Where the system calls back instead, nothing is on the stack: see the tests of that language.
    pauses(DynamicLanguage::Python, Dynamic { python: source, node: "" }).await;
}

async fn a_pause_works_while_another_call_waits_and_answers_both(language: Language) {
    let (_folder, program) = written_in(language, "endless", ENDLESS);
    let session = Debugging::of(language).await;
    session.ok("start_debugging", json!({ "scriptPath": program.path(), "timeout": 200 })).await;
    let waits = session.go_on();
    let pauses = session.ok("pause_execution", json!({ "timeout": 10_000 }));
    let (waited, paused) = tokio::join!(waits, pauses);
    assert_eq!((waited.outcome(), paused.outcome()), ("pause", "pause"));
    session.finish().await;
}
