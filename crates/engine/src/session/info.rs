//! What does not change in the life of a session.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::adapter::{Adapter, Host};
use crate::model::ids::SessionId;
use crate::policy::SharedPolicy;

/// The identity of a session, and what it was made with.
pub(super) struct SessionInfo {
    pub(super) id: SessionId,
    pub(super) name: String,
    pub(super) adapter: &'static dyn Adapter,
    pub(super) host: &'static dyn Host,
    /// The user's choice of interpreter.
    pub(super) executable: Option<PathBuf>,
    pub(super) created: Timestamp,
    pub(super) policy: SharedPolicy,
}
