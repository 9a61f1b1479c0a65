//! News of work that takes its time, such as the start of a program.

use tokio::sync::watch;
use tokio::time::Instant;

/// What is being done at the moment, for those who wait.
#[derive(Clone, Debug)]
pub struct Progress {
    message: watch::Sender<String>,
    prepared: watch::Sender<Option<Instant>>,
}

impl Progress {
    /// A place for one message.
    pub fn new() -> Self {
        Self { message: watch::Sender::default(), prepared: watch::Sender::default() }
    }

    /// Says what is being done.
    pub fn say(&self, message: impl Into<String>) {
        self.message.send_replace(message.into());
    }

    /// The latest message.
    pub fn last(&self) -> String {
        self.message.borrow().clone()
    }

    /// A start begins, for which a debugger may have to be installed and the program to be built.
    pub fn begin_start(&self) {
        self.say("");
        self.prepared.send_replace(None);
    }

    /// All that is there now, and the program can run.
    pub fn end_preparation(&self) {
        self.say("");
        self.prepared.send_replace(Some(Instant::now()));
    }

    /// Since when it can run; none if that is still to come.
    pub fn prepared_at(&self) -> Option<Instant> {
        *self.prepared.borrow()
    }

    /// Waits until it can run.
    pub async fn prepared(&self) -> Instant {
        let mut seen = self.prepared.subscribe();
        let at = seen.wait_for(Option::is_some).await.ok().and_then(|at| *at);
        at.unwrap_or_else(Instant::now)
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}
