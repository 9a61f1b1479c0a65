//! A table of programs, and what is to be said of each.

use std::fmt::Write;

use futures_util::{StreamExt, stream};
use test_support::{Answer, rows_to_try};

use crate::{STILLFRAME, diagnose, program};

/// The name of a program, the verdict, and what else must be reported: `@held` for the line of that name as
/// the place, or a kind of thing that is waited for, or an exit code, or nothing.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("while_true.js", "busy_loop", "@held"),
    ("for_ever.js", "busy_loop", "@held"),
    ("many_lines.js", "busy_loop", "@held"),
    ("past_the_end.js", "busy_loop", "@held"),
    ("wrong_direction.js", "busy_loop", "@held"),
    ("flag.js", "busy_loop", "@held"),
    ("nested.js", "busy_loop", "@held"),
    ("microtasks.js", "busy_loop", "@held"),
    ("refilled_queue.js", "busy_loop", "@held"),
    ("cycle_of_nodes.js", "busy_loop", "@held"),
    ("pattern.js", "busy_loop", "@held"),
    ("worker_spins.js", "busy_loop", "@held"),
    ("child_spins.js", "busy_loop", "@held"),
    ("values_repeat.js", "busy_loop", "@held"),
    ("immediates.js", "busy_event_loop", "@held"),
    ("ticks.js", "busy_event_loop", "@held"),
    ("microtasks_on_one_line.js", "busy_event_loop", "@held"),
    ("timers_without_rest.js", "busy_event_loop", "@held"),
    ("slow_count.js", "slow", "@held"),
    ("slow_items.js", "slow", ""),
    ("called_by_from.js", "slow", ""),
    ("recursion.js", "slow", "@held"),
    ("finishes.js", "completed", "0"),
    ("throws.js", "failed", "1"),
    ("exits_in_a_loop.js", "failed", "4"),
    ("falls_off_an_array.js", "failed", "1"),
    ("endless_recursion.js", "failed", "1"),
    ("server.js", "waiting", "server"),
    ("timer.js", "waiting", "timer"),
    ("reads_input.js", "waiting", "input"),
    ("reads_input_at_once.js", "waiting", "input"),
    ("runs_a_command.js", "waiting", "child"),
    ("child.js", "waiting", "child"),
    ("waits_for_memory.js", "deadlocked", "lock"),
    ("promise.js", "waiting", "timer"),
    ("while_true.py", "busy_loop", "@held"),
    ("many_lines.py", "busy_loop", "@held"),
    ("calls_in_a_loop.py", "busy_loop", "@held"),
    ("flag.py", "busy_loop", "@held"),
    ("nested.py", "busy_loop", "@held"),
    ("wrong_direction.py", "busy_loop", "@held"),
    ("cycle_of_nodes.py", "busy_loop", "@held"),
    ("pattern.py", "busy_loop", "@held"),
    ("thread_spins.py", "busy_loop", "@held"),
    ("task_spins.py", "busy_loop", "@held"),
    ("child_spins.py", "busy_loop", "@held"),
    ("forked_counts.py", "busy_loop", "@held"),
    ("forked_pattern.py", "busy_loop", "@held"),
    ("counts_for_ever.py", "busy_loop", "@held"),
    ("values_repeat.py", "busy_loop", "@held"),
    ("calls_soon.py", "busy_event_loop", "@held"),
    ("slow_count.py", "slow", "@held"),
    ("slow_items.py", "slow", ""),
    ("called_by_map.py", "slow", ""),
    ("recursion.py", "slow", "@held"),
    ("finishes.py", "completed", "0"),
    ("exits_in_a_loop.py", "failed", "4"),
    ("endless_recursion.py", "failed", "1"),
    ("another_thread_sets_it.py", "completed", "0"),
    ("sleeps.py", "waiting", "timer"),
    ("polls.py", "waiting", "timer"),
    ("reads_input.py", "waiting", "input"),
    ("server.py", "waiting", "server"),
    ("runs_a_command.py", "waiting", "child"),
    ("tasks.py", "waiting", "task"),
    ("signal_sets_it.py", "waiting", "task"),
    ("nothing_sets_it.py", "deadlocked", "task"),
    ("tasks_wait_for_each_other.py", "deadlocked", "@held"),
    ("two_locks.py", "deadlocked", "lock"),
    ("locks_on_one_line.py", "deadlocked", "lock"),
    ("locks_in_expressions.py", "deadlocked", "lock"),
    ("locks_in_one_with.py", "deadlocked", "lock"),
    ("lock_of_a_library.py", "deadlocked", "lock"),
    ("tasks_on_one_line.py", "deadlocked", "@held"),
    ("lock_held_by_itself.py", "deadlocked", "lock"),
    ("joins_each_other.py", "deadlocked", "thread"),
    ("three_philosophers.py", "deadlocked", "lock"),
    ("empty_queue.py", "deadlocked", "lock"),
];

/// One of so many is tried on each push.
const ONE_OF: usize = 20;
/// One at a time, each watched for two seconds: a busy one needs a processor to show that it repeats itself, and other
/// test programs run beside it.
const AT_ONCE: usize = 1;

#[tokio::test]
async fn every_program_gets_the_right_verdict() {
    let server = STILLFRAME.serve().await;
    let diagnoses = stream::iter(rows_to_try(PROGRAMS, ONE_OF)).map(|(name, verdict, beside)| {
        let server = &server;
        async move { (*name, *verdict, *beside, diagnose(server, name).await) }
    });
    let found: Vec<_> = diagnoses.buffered(AT_ONCE).collect().await;
    let mut wrong = String::new();
    for (name, verdict, beside, answer) in &found {
        println!("{name}: {}, {}", answer.at("/verdict"), answer.text_of("message"));
        // What pydevd says when its tracing has failed, and is off from then on.
        let is_traced = !answer.at("/output").to_string().contains("sys.settrace");
        if answer.at("/verdict") != verdict || !tells(name, beside, answer) || !is_traced {
            let _ = writeln!(wrong, "{name}: not {verdict} with {beside}, but {answer:#?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    server.finish().await;
}

/// Whether an answer reports everything besides the verdict.
fn tells(name: &str, beside: &str, answer: &Answer) -> bool {
    if let Some(marker) = beside.strip_prefix('@') {
        let program = program(name);
        let line = program.line(marker);
        let around = answer.at("/loop/startLine");
        let at = answer.at("/hungAt/line");
        answer.at("/hungAt/file") == program.path() && (around == line || at == line)
    } else if let Ok(code) = beside.parse::<i64>() {
        answer.at("/exitCode") == code && answer.at("/completed") == true
    } else if beside.is_empty() {
        true
    } else {
        let waits = answer.at("/waitsFor").as_array().cloned().unwrap_or_default();
        waits.iter().any(|wait| wait["kind"] == beside)
    }
}

#[test]
fn the_table_has_all_programs() {
    let names: Vec<_> = std::fs::read_dir(test_support::repository().join("fixtures/hang"))
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("a plain name"))
        .collect();
    let listed: Vec<_> = PROGRAMS.iter().map(|(name, _, _)| (*name).to_owned()).collect();
    let missing: Vec<_> = names.iter().filter(|name| !listed.contains(name)).collect();
    assert!(missing.is_empty() && names.len() == listed.len(), "{missing:?}");
    assert!(listed.len() >= 40);
}
