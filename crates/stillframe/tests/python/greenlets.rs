//! Greenlets of gevent, which replaces what threads are made of.

use serde_json::json;
use test_support::python_with_packages;

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};
use crate::script::Script;

#[tokio::test]
async fn a_greenlet_is_debugged_as_a_thread_is() {
    let script = Script::new(
        "\
from gevent import monkey
monkey.patch_all()
import time
import gevent


def fetch(n):
    time.sleep(0.01)  # @waits
    value = n * n  # @squares
    return value


jobs = [gevent.spawn(fetch, n) for n in range(5)]
gevent.joinall(jobs)
print([job.value for job in jobs])
",
    );
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "python", "executablePath": python_with_packages().await });
    let id = server.ok("create_debug_session", arguments).await.text_of("sessionId").to_owned();
    let session = Debugging { server, id };
    session.break_with(&script, "waits", json!({ "condition": "n == 3" })).await;
    let stopped = session.start(&script).await;
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
