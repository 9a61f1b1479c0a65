//! Frames as the adapter has them, and as they are shown.

use std::path::Path;

use super::{DapDebugger, lock};
use crate::deadlines;
use crate::error::Result;
use crate::model::ids::RawId;
use crate::model::source::{Location, Source};
use crate::model::stack::{Stack, StackFrame};

impl DapDebugger {
    /// Frames of a thread. `name` gives the name under which a frame is shown, or none for one that is hidden.
    pub(crate) async fn frames(
        &self,
        thread: RawId,
        start: usize,
        levels: usize,
        name: fn(&str) -> Option<&str>,
    ) -> Result<Stack<RawId>> {
        let page = |number: usize| i64::try_from(number).ok();
        let arguments = ::dap::StackTraceArguments {
            thread_id: thread.0,
            start_frame: page(start),
            levels: page(levels),
        };
        let response = self.request::<::dap::StackTrace>(arguments, deadlines::REQUEST).await?;
        Ok(self.shown_frames(response, start, levels, name))
    }

    /// The frames of a response. `name` is that of [`Self::frames`].
    pub(crate) fn shown_frames(
        &self,
        response: ::dap::StackTraceResponse,
        start: usize,
        levels: usize,
        name: fn(&str) -> Option<&str>,
    ) -> Stack<RawId> {
        let total = response.total_frames.and_then(|total| usize::try_from(total).ok());
        let sent = response.stack_frames.len();
        // A server without paging sends everything.
        let has_pages = self.capabilities().supports_delayed_stack_trace_loading;
        let is_whole = sent > levels || (total == Some(sent) && !has_pages);
        let skipped = if is_whole { start } else { 0 };
        let frames: Vec<StackFrame<RawId>> = response
            .stack_frames
            .into_iter()
            .filter_map(|frame| {
                let name = (self.quirks().function)(name(&frame.name)?);
                let location = frame.source.map(|mut source| {
                    source.presentation_hint = source.presentation_hint.or(frame.presentation_hint);
                    self.location(source, frame.line, frame.column)
                });
                Some(StackFrame { id: RawId(frame.id), name, location })
            })
            .collect();
        let place = |frame: &StackFrame<RawId>| {
            let location = frame.location.as_ref()?;
            Some((frame.id, (location.source.path.clone()?, location.line)))
        };
        let plain = frames.iter().filter(|frame| (self.quirks().has_own_names)(&frame.name));
        let mut references = lock(&self.0.references);
        references.plain.extend(plain.map(|frame| frame.id));
        references.places.extend(frames.iter().filter_map(place));
        drop(references);
        let hidden = sent - frames.len();
        let total = total.unwrap_or(if is_whole { sent } else { start + sent }).saturating_sub(hidden);
        Stack { frames: frames.into_iter().skip(skipped).take(levels).collect(), total }
    }

    /// A place in a source, as the adapter has it.
    pub(crate) fn location(&self, source: ::dap::Source, line: i64, column: i64) -> Location {
        let path = source.path.clone().filter(|path| !path.starts_with('<'));
        let hint = source.presentation_hint.as_deref();
        let internal = matches!(hint, Some("subtle" | "deemphasize"))
            || path.as_deref().is_some_and(|path| self.adapter().is_internal(Path::new(path)));
        let name = source.path.clone().or_else(|| source.name.clone()).unwrap_or_default();
        if source.source_reference.is_some_and(|reference| reference > 0) {
            lock(&self.0.texts).insert(name.clone(), source);
        }
        let source = Source { path: path.map(Into::into), name, internal };
        Location {
            source,
            line: u32::try_from(line).unwrap_or(0),
            // An adapter without columns says 0.
            column: u32::try_from(column).unwrap_or(0).max(u32::from(line > 0)),
            generated: None,
        }
    }
}
