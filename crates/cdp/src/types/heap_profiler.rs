//! Domain `HeapProfiler`: what is in the memory of a program.

use serde::{Deserialize, Serialize};

use super::Empty;

plain_commands! {
    /// Collects garbage now.
    CollectGarbage = "HeapProfiler.collectGarbage";
}

/// Takes a snapshot. It arrives in [`Chunk`]s before the answer; the thread is suspended meanwhile.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TakeHeapSnapshot {
    /// Reports its progress.
    pub report_progress: bool,
}

commands! {
    TakeHeapSnapshot = "HeapProfiler.takeHeapSnapshot" => Empty;
}

/// Parameters of [`crate::Event::HeapSnapshotChunk`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Chunk {
    /// The next piece of the JSON of a snapshot.
    pub chunk: String,
}
