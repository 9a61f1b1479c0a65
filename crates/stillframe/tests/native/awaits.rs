//! Steps in async functions of Rust: over `.await`, where the future has to wait, and out of them.

use serde_json::json;

use crate::STILLFRAME;
use crate::source::Sources;

/// Futures that wait for another thread, which they are polled again by.
const NAPS: &str = r#"
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

struct Nap(bool);

impl Future for Nap {
    type Output = u32;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        if self.0 {
            return Poll::Ready(7);
        }
        self.0 = true;
        let waker = context.waker().clone();
        thread::spawn(move || {
            // sleep: the future waits for as long.
            thread::sleep(Duration::from_millis(20));
            waker.wake();
        });
        Poll::Pending
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future<Output: Send> + Send>(future: F, is_elsewhere: bool, together: Option<&Barrier>) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        together.map(Barrier::wait);
        let mut poll = || future.as_mut().poll(&mut Context::from_waker(&waker));
        let polled = if is_elsewhere { thread::scope(|scope| scope.spawn(poll).join().unwrap()) } else { poll() };
        match polled {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

async fn nap(count: u32) -> u32 {
    let mut sum = count;
    sum += Nap(false).await; // @waits
    sum // @awake
}

async fn both(who: u32) -> u32 {
    println!("{who}");
    let first = nap(1).await; // @first
    let second = nap(2).await; // @second
    first + second // @sum
}

fn main() {
    let how = std::env::args().nth(1);
    if how.as_deref() == Some("together") {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| block_on(both(2), false, Some(&barrier)));
            block_on(both(1), false, Some(&barrier));
        });
    } else {
        println!("{}", block_on(both(1), how.is_some(), None));
    }
}
"#;

#[tokio::test]
async fn a_step_over_an_await_ends_after_it() {
    a_step_over_an_await_ends_after_it_with(&[]).await;
}

#[tokio::test]
async fn a_step_over_an_await_ends_in_the_thread_that_polls_again() {
    a_step_over_an_await_ends_after_it_with(&["elsewhere"]).await;
}

/// Another thread comes to the same code at the same time.
#[tokio::test]
async fn a_step_over_an_await_follows_one_of_two_futures_that_are_polled_together() {
    a_step_over_an_await_ends_after_it_with(&["together"]).await;
}

async fn a_step_over_an_await_ends_after_it_with(args: &[&str]) {
    let sources = Sources::new(&[("naps.rs", NAPS)]);
    let program = sources.file("naps.rs");
    let server = STILLFRAME.serve().await;
    let created = server.ok("create_debug_session", json!({ "language": "rust" })).await;
    let id = json!({ "sessionId": created["sessionId"] });
    let at = |marker: &str| json!({ "sessionId": created["sessionId"], "file": program.path(), "line": program.line(marker) });
    let mut first = at("first");
    first["condition"] = json!("who == 1");
    server.ok("set_breakpoint", first).await;
    let script = json!({ "sessionId": created["sessionId"], "scriptPath": program.path(), "args": args });
    let started = server.ok("start_debugging", script).await;
    assert_eq!(started.at("/location/line"), &json!(program.line("first")), "{}", started.text);
    for (marker, name, value) in [("second", "first", "8"), ("sum", "second", "9")] {
        let stepped = server.ok("step_over", id.clone()).await;
        assert_eq!(stepped["reason"], "step", "{}", stepped.text);
        assert_eq!(stepped.at("/location/line"), &json!(program.line(marker)), "{}", stepped.text);
        assert_eq!((stepped.variable(name), stepped.variable("who")), (value, "1"), "{}", stepped.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn a_step_out_of_an_async_function_runs_until_it_returns() {
    let sources = Sources::new(&[("naps.rs", NAPS)]);
    let program = sources.file("naps.rs");
    let server = STILLFRAME.serve().await;
    let created = server.ok("create_debug_session", json!({ "language": "rust" })).await;
    let id = json!({ "sessionId": created["sessionId"] });
    let waits =
        json!({ "sessionId": created["sessionId"], "file": program.path(), "line": program.line("waits") });
    let set = server.ok("set_breakpoint", waits).await;
    let script = json!({ "sessionId": created["sessionId"], "scriptPath": program.path() });
    server.ok("start_debugging", script).await;
    let set = json!({ "sessionId": created["sessionId"], "breakpointId": set["breakpointId"] });
    server.ok("remove_breakpoint", set).await;
    let out = server.ok("step_out", id.clone()).await;
    assert_eq!(out.at("/location/line"), &json!(program.line("first")), "{}", out.text);
    let over = server.ok("step_over", id).await;
    assert_eq!(over.at("/location/line"), &json!(program.line("second")), "{}", over.text);
    assert_eq!(over.variable("first"), "8", "{}", over.text);
    server.finish().await;
}
