//! Scripts that were compiled twice: a loader rewrote what another compiler had made.

use std::sync::OnceLock;

use super::{NONE, Segment, SourceMap};

impl SourceMap {
    /// The map from a script to what its source was made of, by the map of that source.
    #[must_use]
    pub fn followed_by(&self, map_of_source: &Self) -> Self {
        let follow = |segment: &Segment| {
            let original = (segment.original_line, segment.original_column);
            let further = map_of_source.covering(original).filter(|_| segment.source != NONE);
            let nowhere = Segment { source: NONE, name: NONE, ..*segment };
            further.map_or(nowhere, |further| Segment {
                line: segment.line,
                column: segment.column,
                ..*further
            })
        };
        Self {
            segments: self.segments.iter().map(follow).collect(),
            sources: map_of_source.sources.clone(),
            names: map_of_source.names.clone(),
            reverse: OnceLock::new(),
        }
    }
}
