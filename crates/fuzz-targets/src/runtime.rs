//! What targets of asynchronous code run in.

use std::cell::RefCell;

use tokio::runtime::{Builder, Runtime};

thread_local! {
    static RUNTIME: RefCell<Runtime> =
        RefCell::new(Builder::new_current_thread().enable_all().build().expect("a runtime can be made"));
}

/// Runs a future to its end, on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.with_borrow(|runtime| {
        runtime.block_on(async {
            let result = future.await;
            // A task that was ended keeps its files until the runtime has had a turn.
            tokio::task::yield_now().await;
            result
        })
    })
}
