//! Values that Python programs write down while they run, by every version of Python that is there and in
//! either way: by a condition of pydevd's, and past pydevd where Python lets us.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

#[path = "recording_python/attached.rs"]
mod attached;
#[path = "recording_python/changes.rs"]
mod changes;
#[path = "recording_python/machine.rs"]
mod machine;
#[path = "recording_python/passes.rs"]
mod passes;
#[path = "recording_python/processes.rs"]
mod processes;
#[path = "recording_python/rows.rs"]
mod rows;
#[path = "recording_python/scene.rs"]
mod scene;
