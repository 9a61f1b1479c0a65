//! Every target of `crates/fuzz-targets`, in one program, because linking it takes longer than compiling it. The
//! environment says which one it is this time.

#![no_main]

use std::sync::LazyLock;

use fuzz_targets::{Target, VARIABLE, find};

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var(VARIABLE).unwrap_or_default();
    find(&name).unwrap_or_else(|| panic!("`{name}` is no target; {VARIABLE} names one"))
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| (CHOSEN.1)(data));
