//! What is in the corpora, through the targets, without `cargo fuzz`.

#![expect(clippy::panic, reason = "a test that cannot be done has failed")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fuzz_targets::TARGETS;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_target_passes_its_corpus() {
    for (target, check) in TARGETS {
        let folder = fuzz().join("corpus").join(target);
        let names = names_in(&folder);
        assert!(!names.is_empty(), "{target} has no corpus");
        for name in names {
            let input = std::fs::read(folder.join(&name)).unwrap();
            println!("{target}/{name}");
            check(&input);
        }
    }
}

#[test]
fn every_corpus_has_a_target() {
    let targets: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names_in(&fuzz().join("corpus")), targets);
}
