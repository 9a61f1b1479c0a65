//! The frame that the client has selected.

use tokio::sync::watch;

use super::Session;
use crate::model::ids::Reference;

/// The selected frame, and the stop that it belongs to.
#[derive(Default)]
pub(super) struct Selection(watch::Sender<Option<(u64, Reference)>>);

impl Session {
    /// Selects the default frame until the program runs.
    pub fn select_frame(&self, frame: Reference) {
        let epoch = self.execution().stop().map(|stop| stop.epoch);
        self.shared.selection.0.send_replace(epoch.map(|epoch| (epoch, frame)));
    }

    /// The frame that was selected at this stop.
    pub fn selected_frame(&self) -> Option<Reference> {
        let (epoch, frame) = (*self.shared.selection.0.borrow())?;
        let execution = self.execution();
        execution.stop().filter(|stop| stop.epoch == epoch).map(|_| frame)
    }
}
