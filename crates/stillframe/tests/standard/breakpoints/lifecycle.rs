//! Breakpoints that are changed, removed, listed, and carried over a restart.

use serde_json::{Value, json};
use test_support::{Language, Texts, each};

use super::state;
use crate::debugging::{Debugging, Report, written_in};

each![
    a_breakpoint_is_disabled_and_enabled_under_the_same_id,
    a_breakpoint_can_be_set_disabled,
    updating_a_breakpoint_keeps_what_is_not_given,
    an_empty_condition_removes_it,
    an_empty_hit_condition_removes_it,
    a_breakpoint_set_while_the_program_is_paused_is_bound_at_once,
    a_breakpoint_set_while_the_program_runs_is_bound_at_once,
    a_breakpoint_is_removed_just_as_it_is_hit,
    a_step_survives_breakpoint_changes,
    breakpoints_are_listed_and_removed_by_id_place_and_function,
    removing_an_unknown_breakpoint_is_an_error,
    clearing_removes_the_breakpoints_of_a_file_or_all,
    breakpoints_survive_a_restart_with_new_hit_counts,
];

async fn a_breakpoint_is_disabled_and_enabled_under_the_same_id(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_at(&program, "deposit").await;
    let id = &set["breakpointId"];
    session.start(&program).await;
    let disabled = session.ok("set_breakpoint", json!({ "breakpointId": id, "enabled": false })).await;
    assert_eq!((&disabled["breakpointId"], &disabled["enabled"]), (id, &json!(false)));
    assert_eq!((&disabled["verified"], &disabled["reason"]), (&json!(false), &json!("it is disabled")));
    session.break_at(&program, "odd").await;
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("odd")));

    let enabled = session.ok("set_breakpoint", json!({ "breakpointId": id, "enabled": true })).await;
    assert_eq!((&enabled["breakpointId"], &enabled["verified"]), (id, &json!(true)));
    let again = session.step("restart_debugging").await;
    assert_eq!(again.place(), (program.path(), program.line("deposit")));
    session.finish().await;
}

async fn a_breakpoint_can_be_set_disabled(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_with(&program, "deposit", json!({ "enabled": false })).await;
    assert_eq!(set["enabled"], false);
    assert_eq!(session.start(&program).await.outcome(), "ended");
    session.finish().await;
}

async fn updating_a_breakpoint_keeps_what_is_not_given(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_with(&program, "deposit", json!({ "condition": "amount > 3" })).await;
    let id = &set["breakpointId"];
    let changed = session.ok("set_breakpoint", json!({ "breakpointId": id, "hitCondition": "2" })).await;
    assert_eq!((&changed["condition"], &changed["hitCondition"]), (&json!("amount > 3"), &json!("== 2")));
    assert_eq!(session.start(&program).await.variable("amount"), "5");
    // LLDB reads a condition of C at the next hit.
    if !language.is_compiled() {
        let arguments = json!({ "breakpointId": id, "condition": "amount >" });
        session.fails("bad_expression", "set_breakpoint", arguments).await;
    }
    session.finish_at_end().await;
}

async fn an_empty_condition_removes_it(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_with(&program, "deposit", json!({ "condition": "amount > 3" })).await;
    let changed = json!({ "breakpointId": set["breakpointId"], "condition": "" });
    assert_eq!(session.ok("set_breakpoint", changed).await["condition"], Value::Null);
    assert_eq!(session.start(&program).await.variable("amount"), "1");
    session.finish().await;
}

async fn an_empty_hit_condition_removes_it(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_with(&program, "deposit", json!({ "hitCondition": "> 3" })).await;
    let changed = json!({ "breakpointId": set["breakpointId"], "hitCondition": "" });
    assert_eq!(session.ok("set_breakpoint", changed).await["hitCondition"], Value::Null);
    assert_eq!(session.start(&program).await.variable("amount"), "1");
    session.finish().await;
}

async fn a_breakpoint_set_while_the_program_is_paused_is_bound_at_once(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "main_first").await;
    assert_eq!(session.break_at(&program, "odd").await["verified"], true);
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("odd")));
    session.finish().await;
}

/// Counts forever, with pauses.
const COUNTS: Texts = Texts {
    name: "life_counts",
    python: "import time\nn = 0  # @first\nwhile True:\n    n += 1  # @count\n    time.sleep(0.01)\n",
    node: "let n = 0; // @first\nsetInterval(() => {\n  n += 1; // @count\n}, 10);\n",
    c: "\
#include <unistd.h>
int main(void) {
    unsigned n = 0; // @first
    for (;; usleep(10000))
        n++; // @count
}
",
};

async fn a_breakpoint_set_while_the_program_runs_is_bound_at_once(language: Language) {
    let (_folder, program) = written_in(language, "counts", COUNTS);
    let (session, _) = Debugging::stopped_at(&program, "first").await;
    let running = session.ok("continue_execution", json!({ "timeout": 200 })).await;
    assert_eq!(running["state"], "running");
    assert_eq!(session.break_at(&program, "count").await["verified"], true);
    let stopped = session.go_on().await;
    assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", (program.path(), program.line("count"))));
    session.finish().await;
}

/// Reaches its location once a millisecond, forever.
const TICKS: Texts = Texts {
    name: "life_ticks",
    python: "\
import time
i = 0
while True:
    i += 1
    time.sleep(0.001)  # @here
",
    node: "\
let i = 0;
setInterval(() => {
  i += 1; // @here
}, 1);
",
    c: "\
#include <unistd.h>
int main(void) {
    int i = 0;
    for (;;) {
        i++;
        usleep(1000); // @here
    }
}
",
};

async fn a_breakpoint_is_removed_just_as_it_is_hit(language: Language) {
    let (_folder, program) = written_in(language, "ticks", TICKS);
    let (session, _) = Debugging::stopped_at(&program, "here").await;
    for round in 0..8 {
        session.ok("continue_execution", json!({ "timeout": 0 })).await;
        session.ok("clear_breakpoints", json!({})).await;
        let paused = session.step("pause_execution").await;
        assert!(matches!(paused.outcome(), "pause" | "breakpoint"), "round {round}: {}", paused.text);
        session.break_at(&program, "here").await;
        let stopped = session.go_on().await;
        assert_eq!(stopped.outcome(), "breakpoint", "round {round}: {}", stopped.text);
    }
    session.finish().await;
}

/// A line that takes until there is a file beside it.
const WAITS: Texts = Texts {
    name: "life_waits",
    python: "\
import os, sys, time
def wait():
    while not os.path.exists(sys.argv[0] + '.go'):
        time.sleep(0.005)
    return 1  # @returned
waited = wait()  # @wait
print(waited)  # @after
print('never stopped')  # @end
",
    node: "\
const fs = require('node:fs');
function wait() {
  while (!fs.existsSync(__filename + '.go')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
  return 1; // @returned
}
const waited = wait(); // @wait
console.log(waited); // @after
console.log('never stopped'); // @end
",
    c: "\
#include <stdio.h>
#include <unistd.h>
int wait_for_it(void) {
    while (access(__FILE__ \".go\", F_OK)) usleep(5000);
    return 1; // @returned
}
int main(void) {
    int waited;
    waited = wait_for_it(); // @wait
    printf(\"%d\\n\", waited); // @after
    puts(\"never stopped\"); // @end
}
",
};

async fn a_step_survives_breakpoint_changes(language: Language) {
    let (_folder, program) = written_in(language, "waits", WAITS);
    let (session, _) = Debugging::stopped_at(&program, "wait").await;
    let stepping = session.ok("step_over", json!({ "timeout": 0 })).await;
    assert_eq!(stepping["state"], "running", "{}", stepping.text);
    session.break_at(&program, "end").await;
    session.ok("clear_breakpoints", json!({})).await;
    std::fs::write(format!("{}.go", program.path()), "").unwrap();
    let stepped = session.go_on().await;
    assert_eq!((stepped.outcome(), stepped.place()), ("step", (program.path(), program.line("after"))));
    session.finish_at_end().await;
}

async fn breakpoints_are_listed_and_removed_by_id_place_and_function(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let by_id = session.break_at(&program, "odd").await["breakpointId"].clone();
    let by_place = session.break_at(&program, "else").await["breakpointId"].clone();
    let by_function =
        session.ok("set_breakpoint", json!({ "function": "kind" })).await["breakpointId"].clone();
    let stays = session.break_at(&program, "deposit").await["breakpointId"].clone();
    let listed = session.breakpoints().await;
    let ids: Vec<_> = listed.iter().map(|breakpoint| breakpoint["breakpointId"].clone()).collect();
    assert_eq!(json!(ids), json!([by_id, by_place, by_function, stays]));

    let removals = [
        (json!({ "breakpointId": by_id }), by_id),
        (json!({ "file": program.path(), "line": program.line("else") }), by_place),
        (json!({ "function": "kind" }), by_function),
    ];
    for (arguments, id) in removals {
        let removed = session.ok("remove_breakpoint", arguments).await;
        assert_eq!(removed["removed"].as_array().unwrap().len(), 1, "{}", removed.text);
        assert_eq!(removed.at("/removed/0/breakpointId"), &id);
        assert_eq!(removed["message"], format!("Removed breakpoint {}", id.as_str().unwrap()));
    }
    let listed = session.ok("list_breakpoints", json!({ "file": program.path() })).await;
    assert_eq!((&listed["count"], listed.at("/breakpoints/0/breakpointId")), (&json!(1), &stays));
    assert_eq!(session.start(&program).await.place(), (program.path(), program.line("deposit")));
    session.finish().await;
}

async fn removing_an_unknown_breakpoint_is_an_error(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let failed =
        session.fails("breakpoint_not_found", "remove_breakpoint", json!({ "breakpointId": "bp-99" })).await;
    assert_eq!(failed["error"], "no breakpoint `bp-99`");
    let nowhere = json!({ "file": program.path(), "line": program.line("odd") });
    session.fails("invalid_arguments", "remove_breakpoint", nowhere).await;
    session.fails("invalid_arguments", "remove_breakpoint", json!({ "function": "kind" })).await;
    let failed = session.fails("invalid_arguments", "remove_breakpoint", json!({})).await;
    assert_eq!(failed["error"], "`breakpointId` is missing; give it, or `file` and `line`, or `function`");
    session.finish().await;
}

async fn clearing_removes_the_breakpoints_of_a_file_or_all(language: Language) {
    let one = Texts {
        name: "life_one",
        python: "x = 1  # @one\n",
        node: "const x = 1; // @one\n",
        c: "int main(void) { return 1; } // @one\n",
    };
    let (_folder, other) = written_in(language, "other", one);
    let (program, session) = Debugging::paused(language, "bank", "main_first").await;
    session.break_at(&other, "one").await;
    session.break_at(&program, "odd").await;
    session.ok("clear_breakpoints", json!({ "file": other.path() })).await;
    assert_eq!(session.breakpoints().await.len(), 2);
    let cleared = session.ok("clear_breakpoints", json!({})).await;
    assert_eq!(cleared["message"], "Removed 2 breakpoints");
    assert_eq!(session.breakpoints().await, Vec::<Value>::new());
    session.finish_at_end().await;
}

async fn breakpoints_survive_a_restart_with_new_hit_counts(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "deposit").await;
    session.go_on().await;
    let line = program.line("deposit");
    assert_eq!(state(&session.breakpoints().await[0]), json!([line, line, true, true, 2]));
    let again = session.step("restart_debugging").await;
    assert_eq!((again.place(), again.variable("amount")), ((program.path(), line), "1"));
    assert_eq!(state(&session.breakpoints().await[0]), json!([line, line, true, true, 1]));
    session.finish().await;
}
