//! Watching values.

use super::super::Session;
use super::super::references::Kind;
use crate::debugger::DataRequest;
use crate::error::{Error, Result};
use crate::model::breakpoint::{AdjustedPosition, Binding, Breakpoint, BreakpointTarget, Request, Rule};
use crate::model::data_breakpoint::{DataAccess, DataTarget};
use crate::model::ids::Reference;

impl Session {
    /// Watches a value in a frame of the current stop.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the debugger cannot watch it.
    pub async fn add_data_breakpoint(
        &self,
        frame: Reference,
        expression: String,
        access: DataAccess,
        rule: Rule,
    ) -> Result<Breakpoint> {
        self.policy().safety.check_data_breakpoint()?;
        let request = expression.clone();
        let (target, data_id) = self
            .read(
                Kind::Frame,
                frame,
                move |debugger, frame| {
                    debugger.data_breakpoint_info(DataRequest { expression: request, frame, access })
                },
                |_, origin, data_id| Ok((origin.target, data_id)),
            )
            .await?;
        let place = BreakpointTarget::Data(DataTarget { expression, access, target, data_id });
        let breakpoint = self.add_breakpoint(Request { place, rule }, AdjustedPosition::default()).await?;
        let Binding::Refused(reason) = &breakpoint.binding else { return Ok(breakpoint) };
        let (id, label) = (breakpoint.id, breakpoint.label());
        self.remove_breakpoints(move |other, _| other == id).await?;
        Err(Error::Unsupported(format!("`{label}` cannot be watched: {reason}")))
    }
}
