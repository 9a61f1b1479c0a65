//! What the targets keep open, which a fuzzer that calls them a million times would run out of.

use std::path::Path;

use fuzz_targets::TARGETS;
use test_support::ResourceUsage;

/// Rounds over a corpus: so many that one file kept for each input is seen.
const ROUNDS: usize = 20;

/// The only test of its process, as others would open files meanwhile.
#[test]
fn no_target_leaks_open_files() {
    for (target, check) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let files = std::fs::read_dir(&folder).unwrap().flatten();
        let input = std::fs::read(files.map(|entry| entry.path()).min().unwrap()).unwrap();
        check(&input);
        let before = ResourceUsage::of(std::process::id());
        for _ in 0..ROUNDS {
            check(&input);
        }
        let after = ResourceUsage::of(std::process::id());
        println!("{target}: {} files, then {}", before.files, after.files);
        assert!(after.files < before.files + ROUNDS / 2, "{target} keeps files: {before}, then {after}");
    }
}
