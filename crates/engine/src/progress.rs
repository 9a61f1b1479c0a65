//! News of work that takes its time, such as the start of a program.

/// What is being done at the moment, for those who wait.
#[derive(Clone, Debug)]
pub struct Progress(tokio::sync::watch::Sender<String>);

impl Progress {
    /// A place for one message.
    pub fn new() -> Self {
        Self(tokio::sync::watch::Sender::new(String::new()))
    }

    /// Says what is being done.
    pub fn say(&self, message: impl Into<String>) {
        self.0.send_replace(message.into());
    }

    /// The latest message.
    pub fn last(&self) -> String {
        self.0.borrow().clone()
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}
