//! Closing a session when the call that it belongs to is given up.

use engine::session::Session;

use crate::Context;

/// Closes a session on drop unless it is disarmed.
#[derive(Debug)]
pub struct CloseOnDrop<'a> {
    context: &'a Context,
    session: Session,
    armed: bool,
}

impl<'a> CloseOnDrop<'a> {
    /// For a private session, or one that is closed afterwards in any case. If it is not `armed`, it is left alone
    /// when the call is cancelled.
    pub fn new(context: &'a Context, session: &Session, armed: bool) -> Self {
        Self { context, session: session.clone(), armed }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The call is done: closes the session, or leaves it open.
    pub async fn settle(mut self, close: bool) {
        if close {
            self.context.sessions.close(&self.session).await;
        }
        self.armed = false;
    }
}

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            let (sessions, session) = (self.context.sessions.clone(), self.session.clone());
            tokio::spawn(async move { sessions.close(&session).await });
        }
    }
}
