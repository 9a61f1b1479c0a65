//! What Python programs are doing, seen without stopping them, by every version of Python that is there.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

#[path = "sampling_python/calls.rs"]
mod calls;
#[path = "recording_python/machine.rs"]
#[expect(dead_code, reason = "shared with tests that record")]
mod machine;
#[path = "sampling_python/scene.rs"]
mod scene;
#[path = "sampling_python/waits.rs"]
mod waits;
