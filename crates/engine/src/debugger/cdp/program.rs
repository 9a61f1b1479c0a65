//! The program that is debugged: what its threads and processes have in common.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::adapter::plan::CdpSetup;
use crate::adapter::{Adapter, AnalysisRequest, Host, Runtime};
use crate::model::source::Code;
use crate::output::Output;
use crate::policy::SharedPolicy;

/// A program of Node's.
#[derive(Debug)]
pub(super) struct NodeProgram {
    pub(super) adapter: &'static dyn Adapter,
    pub(super) host: &'static dyn Host,
    pub(super) runtime: Arc<Runtime>,
    pub(super) setup: CdpSetup,
    /// We started the program, so its pipes are ours.
    pub(super) is_ours: bool,
    /// One of its processes has come to the user's code, for a stop on entry.
    pub(super) has_entered: AtomicBool,
    pub(super) output: Output,
    pub(super) policy: SharedPolicy,
}

impl NodeProgram {
    /// Whether a file is the user's: none of Node's, no library, and not our hook.
    pub(super) fn is_users(&self, path: &Path) -> bool {
        !self.adapter.is_internal(path) && !self.setup.is_hook(path)
    }

    /// Whether no stop is to be in a file: in our hook, and in a library unless it is the user's code too.
    pub(super) fn is_skipped(&self, path: &Path) -> bool {
        self.setup.is_hook(path) || (self.setup.just_my_code && self.adapter.is_internal(path))
    }

    /// Whether nothing of the program may be changed.
    pub(super) fn is_read_only(&self) -> bool {
        self.policy.safety.read_only
    }

    /// What a source holds; nothing when that cannot be known.
    pub(super) async fn analyze(&self, path: &Path) -> Option<Code> {
        let question = AnalysisRequest { file: Some(path), ..AnalysisRequest::default() };
        self.adapter.source_analysis()?.analyze(self.host, &self.runtime, question).await.ok()
    }
}
