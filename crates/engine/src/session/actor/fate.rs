//! What became of a program that another process runs, now that the connection to its debugger is closed.

use std::sync::Arc;
use std::time::Duration;

use crate::deadlines;
use crate::debugger::Debugger;
use crate::model::stop::End;
use crate::output::Output;
use crate::process;

/// How it ended, once its output is complete.
pub(super) async fn of(debugger: Option<Arc<dyn Debugger>>, output: Output) -> End {
    // The program may end with its debugger, which is kept until then.
    let end = match debugger.as_ref().and_then(|debugger| debugger.end()) {
        Some(end) => end,
        None => of_process(debugger.as_ref().and_then(|debugger| debugger.pid())).await,
    };
    // The pipes of the adapter are those of the program, and stay open.
    output.caught_up().await;
    end
}

/// The same for a program that was attached to.
async fn of_process(pid: Option<u32>) -> End {
    let Some(pid) = pid else { return End::Lost };
    let poll = Duration::from_millis(10);
    for _ in 0..(deadlines::GOODBYE.as_millis() / poll.as_millis()) {
        if !process::exists(pid) {
            return End::Gone;
        }
        tokio::time::sleep(poll).await;
    }
    End::Lost
}
