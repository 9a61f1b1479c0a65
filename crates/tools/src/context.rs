//! What a tool call has around it.

use std::sync::Arc;

use engine::bounds::Bounds;
use engine::session::Session;
use engine::sessions::Sessions;
use mirror::Exposures;
use recording::Interrupts;

use crate::ToolError;
use crate::toolsets::quick::Quick;

/// The surroundings of one call.
#[derive(Clone, Debug)]
pub struct Context {
    /// The open sessions.
    pub sessions: Sessions,
    /// The one session of the vocabulary that has no ids.
    pub quick: Quick,
    /// The sessions that editors can attach to.
    pub exposures: Exposures,
    /// Answers show likely credentials.
    pub shows_credentials: bool,
    /// The receiver of progress, if any.
    pub report: Option<Report>,
    /// Interrupts the program that a call runs to its end; none if such a call is only given up.
    pub interrupt: Option<Arc<Interrupts>>,
}

/// Receives the progress of a long call.
#[derive(Clone)]
pub struct Report(Arc<dyn Fn(String) + Send + Sync>);

impl Report {
    /// Calls this with each message.
    pub fn new(hear: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    /// Reports.
    pub fn say(&self, message: String) {
        (self.0)(message);
    }
}

impl std::fmt::Debug for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Report")
    }
}

impl Context {
    /// How far things may go.
    pub fn bounds(&self) -> &Bounds {
        &self.sessions.policy().bounds
    }

    /// For calls without progress reports.
    pub fn new(sessions: Sessions) -> Self {
        Self {
            sessions,
            quick: Quick::default(),
            exposures: Exposures::default(),
            shows_credentials: false,
            report: None,
            interrupt: None,
        }
    }

    /// The same for one of several clients of a server: it leaves nothing for another server to recover, which could
    /// not tell whose it was.
    #[must_use]
    pub fn of_several(&self) -> Self {
        Self { quick: Quick::unrecovered(), ..self.clone() }
    }

    /// The same, with answers that show or redact likely credentials.
    #[must_use]
    pub fn showing_credentials(&self, shows_credentials: bool) -> Self {
        Self { shows_credentials, ..self.clone() }
    }

    /// The same, for a call that may report progress.
    #[must_use]
    pub fn reporting(&self, report: Option<Report>) -> Self {
        Self { report, ..self.clone() }
    }

    /// The same, for a call whose program may be interrupted.
    #[must_use]
    pub fn interrupted_by(&self, interrupt: Arc<Interrupts>) -> Self {
        Self { interrupt: Some(interrupt), ..self.clone() }
    }

    /// The same, for one call whose session is recorded.
    #[must_use]
    pub fn for_call(&self) -> Self {
        Self { sessions: self.sessions.for_call(), ..self.clone() }
    }

    /// The session of the vocabulary that has no ids.
    pub(crate) async fn quick_session(&self) -> Result<Session, ToolError> {
        let session = self.quick.session().await?;
        self.sessions.note(&session);
        Ok(session)
    }

    /// Ends all sessions in an orderly way.
    pub async fn close(&self) {
        // Side by side, because there may be little time for either.
        tokio::join!(self.quick.leave(), self.sessions.close_all());
    }

    /// The session of that id; without one, the only open session.
    pub fn session(&self, id: Option<&str>) -> Result<Session, ToolError> {
        let session = self.find(id)?;
        self.sessions.note(&session);
        Ok(session)
    }

    fn find(&self, id: Option<&str>) -> Result<Session, ToolError> {
        let open = self.sessions.list();
        let Some(id) = id else {
            return match open.as_slice() {
                [only] => Ok(only.clone()),
                [] => Err(ToolError::no_sessions()),
                several => Err(ToolError::which_session(several)),
            };
        };
        self.sessions.find(id).ok_or_else(|| ToolError::no_session(id, &open))
    }
}
