//! A call that waits always comes back, and can be taken up again.

use serde_json::json;
use test_support::{Fixture, Language, Texts, each};

use crate::debugging::{Debugging, Report, written_in};

each![
    a_continue_without_waiting_can_be_awaited_later,
    a_wait_that_times_out_reports_running_with_the_output_so_far,
    a_start_and_a_step_can_be_awaited_later,
    inspecting_a_paused_program_does_not_resume_it,
    nothing_can_be_continued_before_the_start_and_after_the_end,
];

/// Works between two places until a file is there.
const SLOW: Texts = Texts {
    name: "waits_slow",
    python: "\
import os, sys, time
print('working')  # @first
while not os.path.exists(sys.argv[0] + '.go'): time.sleep(0.01)
x = 1  # @second
print('done')
",
    node: "\
const fs = require('node:fs');
console.log('working'); // @first
while (!fs.existsSync(__filename + '.go'));
const x = 1; // @second
console.log('done');
",
    c: "\
#include <stdio.h>
#include <unistd.h>
int main(void) {
    puts(\"working\"); // @first
    while (access(__FILE__ \".go\", F_OK)) usleep(10000);
    int x = 1; // @second
    printf(\"done\\n\" + 0 * x);
}
",
};

fn let_go(program: &Fixture) {
    std::fs::write(format!("{}.go", program.path()), "").expect("the folder of a test can be written to");
}

async fn a_continue_without_waiting_can_be_awaited_later(language: Language) {
    let (_folder, program) = written_in(language, "slow", SLOW);
    let (session, _) = Debugging::stopped_at(&program, "first").await;
    session.break_at(&program, "second").await;
    let running = session.ok("continue_execution", json!({ "wait": false })).await;
    assert_eq!(running.outcome(), "running");
    let_go(&program);
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("second")));
    session.finish_at_end().await;
}

async fn a_wait_that_times_out_reports_running_with_the_output_so_far(language: Language) {
    let (_folder, program) = written_in(language, "slow", SLOW);
    let (session, _) = Debugging::stopped_at(&program, "first").await;
    let mut output = String::new();
    while output.is_empty() {
        let running = session.ok("continue_execution", json!({ "timeout": 300 })).await;
        assert_eq!(running.outcome(), "running", "{}", running.text);
        let message = "Continued execution. The program is running; call continue_execution to wait for it, \
                       or pause_execution to stop it";
        assert_eq!(running["message"], message);
        output.push_str(running.text_of("output"));
    }
    assert_eq!(output, "working\n");
    let_go(&program);
    let ended = session.run_to_the_end().await;
    assert_eq!(ended["output"], "done\n", "what was told is not told again");
    session.finish().await;
}

/// Waits for one file, and on a line of its own for another.
const WAITS_TWICE: Texts = Texts {
    name: "waits_twice",
    python: "\
import os, sys, time
def wait_for(name):
    while not os.path.exists(sys.argv[0] + name): time.sleep(0.01)
wait_for('.go')
wait_for('.on')  # @wait
y = 2  # @two
",
    node: "\
const fs = require('node:fs');
function waitFor(name) {
  while (!fs.existsSync(__filename + name));
}
waitFor('.go');
waitFor('.on'); // @wait
const y = 2; // @two
",
    c: "\
#include <unistd.h>
static void wait_for(const char *path) {
    while (access(path, F_OK)) usleep(10000);
}
int main(void) {
    wait_for(__FILE__ \".go\");
    wait_for(__FILE__ \".on\"); // @wait
    int y = 2; // @two
    return y - 2;
}
",
};

async fn a_start_and_a_step_can_be_awaited_later(language: Language) {
    let (_folder, program) = written_in(language, "slow", WAITS_TWICE);
    let session = Debugging::of(language).await;
    session.break_at(&program, "wait").await;
    let running =
        session.ok("start_debugging", json!({ "scriptPath": program.path(), "timeout": 100 })).await;
    assert_eq!(running.outcome(), "running");
    let_go(&program);
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("wait")));
    let running = session.ok("step_over", json!({ "timeout": 100 })).await;
    assert_eq!(running.outcome(), "running");
    std::fs::write(format!("{}.on", program.path()), "").unwrap();
    let stepped = session.go_on().await;
    assert_eq!((stepped.outcome(), stepped.place()), ("step", (program.path(), program.line("two"))));
    session.finish().await;
}

async fn inspecting_a_paused_program_does_not_resume_it(language: Language) {
    let (program, session) = Debugging::paused(language, "steps", "call").await;
    for tool in ["get_stack_trace", "get_local_variables", "list_threads", "get_output", "pause_execution"] {
        session.ok(tool, json!({})).await;
    }
    let listed = session.server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(listed.at("/sessions/0/state"), "paused");
    let stack = session.ok("get_stack_trace", json!({})).await;
    assert_eq!(stack.at("/stackFrames/0/line"), program.line("call"));
    session.finish().await;
}

async fn nothing_can_be_continued_before_the_start_and_after_the_end(language: Language) {
    let (program, session) = Debugging::with(language, "steps").await;
    for tool in ["continue_execution", "step_over", "step_into", "step_out", "pause_execution"] {
        let failed = session.call(tool, json!({})).await;
        assert!(failed.is_error, "{tool}: {}", failed.text);
        assert!(failed.text_of("message").contains("start_debugging"), "{tool}: {}", failed.text);
    }
    assert_eq!(session.start(&program).await.outcome(), "ended");
    for tool in ["continue_execution", "step_over", "step_into", "step_out", "pause_execution"] {
        let failed = session.call(tool, json!({})).await;
        assert!(failed.is_error, "{tool}: {}", failed.text);
        assert!(failed.text_of("message").contains("restart_debugging"), "{tool}: {}", failed.text);
    }
    session.finish().await;
}
