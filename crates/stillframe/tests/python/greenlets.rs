//! Greenlets of gevent, which replaces what threads are made of.

use serde_json::json;

use crate::debugging::Report;
use crate::script::{Script, with_packages};

#[tokio::test]
async fn a_greenlet_is_debugged_as_a_thread_is_and_a_thread_beside_it_too() {
    let script = Script::new(
        "\
import threading


def prepare(n):
    n += 1  # @prepares


threading.Thread(target=prepare, args=(7,)).start()
import time, gevent, gevent.monkey
gevent.monkey.patch_all()


def fetch(n):
    time.sleep(0.01)  # @waits
    value = n * n  # @squares
    return value


jobs = [gevent.spawn(fetch, n) for n in range(5)]
gevent.joinall(jobs)
print([job.value for job in jobs])
",
    );
    let session = with_packages().await;
    session.break_at(&script, "prepares").await;
    session.break_with(&script, "waits", json!({ "condition": "n == 3" })).await;
    let stopped = session.start(&script).await;
    assert_eq!(stopped.place(), (script.path(), script.line("prepares")), "{}", stopped.text);
    assert_eq!(session.evaluate("n").await, "7");
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (script.path(), script.line("waits")), "{}", stopped.text);
    assert_eq!(session.evaluate("n + 1").await, "4");
    // Other greenlets run while this one waits.
    let stepped = session.ok("step_over", json!({})).await;
    assert_eq!(stepped.place(), (script.path(), script.line("squares")), "{}", stepped.text);
    assert_eq!(session.evaluate("n").await, "3");
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "[0, 1, 4, 9, 16]\n"), "{}", ended.text);
    session.finish().await;
}
