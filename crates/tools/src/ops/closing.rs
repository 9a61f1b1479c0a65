//! Closing a session with the call that opened it.

use engine::session::Session;

use crate::Context;

/// Closes a session when the call that opened it is given up.
#[derive(Debug)]
pub struct CloseUnlessKept<'a> {
    context: &'a Context,
    session: &'a Session,
    armed: bool,
}

impl<'a> CloseUnlessKept<'a> {
    /// Unarmed, it closes nothing by itself.
    pub fn new(context: &'a Context, session: &'a Session, armed: bool) -> Self {
        Self { context, session, armed }
    }

    /// The call has come to its end: closes the session, or keeps it.
    pub async fn settle(mut self, close: bool) {
        if close {
            self.context.sessions.close(self.session).await;
        }
        self.armed = false;
    }
}

impl Drop for CloseUnlessKept<'_> {
    fn drop(&mut self) {
        if self.armed {
            let (sessions, session) = (self.context.sessions.clone(), self.session.clone());
            tokio::spawn(async move { sessions.close(&session).await });
        }
    }
}
