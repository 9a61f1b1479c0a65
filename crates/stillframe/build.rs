//! Puts the functions of `start.ld` next to each other in a release for Linux.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=start.ld");
    println!("cargo:rerun-if-env-changed=STILLFRAME_UNORDERED");
    let is = |name, expected| env::var(name).is_ok_and(|value| value == expected);
    let is_asked_for = is("PROFILE", "release") && env::var_os("STILLFRAME_UNORDERED").is_none();
    if is_asked_for && is("CARGO_CFG_TARGET_OS", "linux") && !is_linker_chosen() {
        let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo:rustc-link-arg-bins=-Wl,-T,{folder}/start.ld");
    }
}

/// Whether it is another linker than rustc's own or GNU's, which may not take a script of this kind.
fn is_linker_chosen() -> bool {
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let mut flags = flags.split('\u{1f}');
    env::var_os("RUSTC_LINKER").is_some()
        || flags.any(|flag| flag.trim_start_matches("-C").starts_with("link"))
}
