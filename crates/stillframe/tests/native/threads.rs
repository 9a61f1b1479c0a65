//! Threads that come to a breakpoint at the same time.

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
