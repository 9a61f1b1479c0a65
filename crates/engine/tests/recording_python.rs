//! Recording values in Python programs, with every installed version of Python and by both methods: a condition of
//! pydevd, and `sys.monitoring` where Python has it.

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
#[path = "recording_python/hits.rs"]
mod hits;
#[path = "recording_python/machine.rs"]
mod machine;
#[path = "recording_python/processes.rs"]
mod processes;
#[path = "recording_python/rows.rs"]
mod rows;
#[path = "recording_python/scene.rs"]
mod scene;
