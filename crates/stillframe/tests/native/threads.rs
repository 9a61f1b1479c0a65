//! Threads that come to a breakpoint at the same time.

use std::collections::BTreeMap;

use serde_json::json;
use test_support::Language;

use crate::debugging::{Debugging, Report};
use crate::source::Sources;

/// Three threads that come to a line together, three times.
const MEETS: &str = "\
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t barrier;

static void *run(void *argument) {
  long id = (long)argument, sum = 0;
  for (int pass = 0; pass < 3; pass++) {
    pthread_barrier_wait(&barrier);
    sum += id * pass; // @pass
  }
  return (void *)sum;
}

int main(void) {
  pthread_t threads[3];
  pthread_barrier_init(&barrier, NULL, 3);
  for (long id = 0; id < 3; id++) pthread_create(&threads[id], NULL, run, (void *)id);
  for (int id = 0; id < 3; id++) pthread_join(threads[id], NULL);
  return 0;
}
";

#[tokio::test]
async fn rules_apply_to_each_thread_that_comes_to_a_line() {
    let sources = Sources::new(&[("meets.c", MEETS)]);
    let program = sources.file("meets.c");
    for (rule, stops, logged) in [
        (json!({ "logMessage": "{id}/{pass}" }), 0, 9),
        (json!({ "condition": "id == 2" }), 3, 0),
        (json!({ "hitCondition": "% 3" }), 3, 0),
        (json!({ "condition": "id > 0", "logMessage": "{id}" }), 0, 6),
    ] {
        let session = Debugging::of(Language::C).await;
        session.break_with(&program, "pass", rule.clone()).await;
        let (mut report, mut stopped) = (session.start(&program).await, 0);
        while report.outcome() == "breakpoint" {
            stopped += 1;
            report = session.go_on().await;
        }
        assert_eq!(report.outcome(), "ended", "{rule}: {}", report.text);
        let log = session.written("log").await;
        assert_eq!((stopped, log.lines().count()), (stops, logged), "{rule}: {log}");
        session.finish().await;
    }
}

/// Four threads that come to two lines all the time, five times each.
const WALKS: &str = "\
#include <pthread.h>
#include <unistd.h>

static int weigh(int id, int pass) {
  int weight = id * 10 + pass;
  return weight; // @weighed
}

static void *run(void *argument) {
  int id = (int)(long)argument, sum = 0;
  for (int pass = 0; pass < 5; pass++) {
    sum += weigh(id, pass);
    usleep(2000);
    sum++; // @awake
  }
  return (void *)(long)sum;
}

int main(void) {
  pthread_t threads[4];
  for (long id = 0; id < 4; id++) pthread_create(&threads[id], NULL, run, (void *)id);
  for (int id = 0; id < 4; id++) pthread_join(threads[id], NULL);
  return 0;
}
";

#[tokio::test]
async fn each_hit_is_reported_once_while_steps_and_other_threads_interrupt_each_other() {
    let sources = Sources::new(&[("walks.c", WALKS)]);
    let program = sources.file("walks.c");
    let session = Debugging::of(Language::C).await;
    session.break_at(&program, "weighed").await;
    session.break_at(&program, "awake").await;
    let (mut hits, mut is_step) = (BTreeMap::new(), false);
    let mut report = session.start(&program).await;
    while report["state"] == "paused" {
        match report.outcome() {
            "breakpoint" => {
                let (id, pass) = (report.variable("id").to_owned(), report.variable("pass").to_owned());
                *hits.entry((report.place().1, id, pass)).or_insert(0) += 1;
            }
            outcome => assert!(is_step && outcome == "step", "{}", report.text),
        }
        is_step = !is_step;
        report = session.step(if is_step { "step_over" } else { "continue_execution" }).await;
    }
    assert_eq!(report.outcome(), "ended", "{}", report.text);
    assert!(hits.values().all(|count| *count == 1), "{hits:?}");
    assert_eq!(hits.len(), 40, "{hits:?}");
    session.finish().await;
}

#[tokio::test]
async fn a_step_that_only_shows_another_thread_says_that_the_program_has_not_moved() {
    // When threads come to the line in the same moment is up to the system.
    let sources = Sources::new(&[("meets.c", &MEETS.replace("pass < 3", "pass < 200"))]);
    let program = sources.file("meets.c");
    let session = Debugging::of(Language::C).await;
    session.break_at(&program, "pass").await;
    let mut before = session.start(&program).await;
    let shown = loop {
        let report = session.step("step_over").await;
        if report["notes"].to_string().contains("the program has not moved: ") {
            break report;
        }
        before = if report.outcome() == "step" { session.go_on().await } else { report };
        assert_eq!(before.outcome(), "breakpoint", "{}", before.text);
    };
    assert_eq!((shown.outcome(), shown.place()), ("breakpoint", before.place()), "{}", shown.text);
    assert_ne!(shown.at("/location/threadId"), before.at("/location/threadId"), "{}", shown.text);
    session.finish().await;
}
