//! The model: one string with all output. A reader at a cursor receives the text there, from the first character that
//! begins at or after it, up to the limit, but at least one character; output older than a megabyte may be gone.

use proptest::prelude::*;

use crate::output::{Category, Output};

/// What is kept at least, in bytes: what goes when there is too much goes by pieces.
const KEPT: usize = (1 << 20) - (8 << 10);

#[derive(Clone, Debug)]
enum Operation {
    Append(Category, String, usize),
    Read { back: usize, limit: usize },
    Tail { back: usize, limit: usize },
}

fn operations() -> impl Strategy<Value = Operation> {
    let category = prop_oneof![Just(Category::Stdout), Just(Category::Stderr)];
    let times = prop_oneof![4 => Just(1_usize), 2 => 100..5000_usize, 1 => Just(60_000_usize)];
    let reads = || (0..1_300_000_usize, 0..40_usize);
    let near = || (0..60_usize, 0..40_usize);
    prop_oneof![
        3 => (category, "[a-zé日😀\n]{0,12}", times).prop_map(|(category, text, times)| Operation::Append(category, text, times)),
        2 => near().prop_map(|(back, limit)| Operation::Read { back, limit }),
        1 => reads().prop_map(|(back, limit)| Operation::Read { back, limit }),
        1 => near().prop_map(|(back, limit)| Operation::Tail { back, limit }),
    ]
}

/// What a reader is given of a text from a cursor on.
fn from(written: &str, cursor: usize, limit: usize) -> &str {
    let rest = &written[written.ceil_char_boundary(cursor.min(written.len()))..];
    match rest.chars().next() {
        None => "",
        _ if limit == 0 => "",
        Some(first) => &rest[..rest.floor_char_boundary(limit).max(first.len_utf8())],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn readers_get_what_was_written(operations in prop::collection::vec(operations(), 1..25)) {
        let output = Output::new();
        let mut written = String::new();
        for operation in operations {
            match operation {
                Operation::Append(category, text, times) => {
                    let text = text.repeat(times);
                    output.append(category, &text);
                    written.push_str(&text);
                    prop_assert_eq!(output.end(), written.len() as u64);
                }
                Operation::Read { back, limit } => {
                    let cursor = written.len().saturating_sub(back);
                    let read = output.read(cursor as u64, limit);
                    prop_assert_eq!(read.next, read.start + read.text().len() as u64);
                    prop_assert_eq!(read.more, written.len() as u64 - read.next);
                    if written.len() - cursor <= KEPT {
                        prop_assert_eq!(read.text(), from(&written, cursor, limit));
                        prop_assert_eq!(read.dropped, 0);
                    } else {
                        // The returned text is at the reported position.
                        let start = usize::try_from(read.start).unwrap();
                        prop_assert!(written[start..].starts_with(&read.text()));
                        prop_assert!(written.len() - start >= KEPT.min(written.len() - cursor) || limit == 0);
                    }
                }
                Operation::Tail { back, limit } => {
                    let since = written.len().saturating_sub(back);
                    let cursor = since.max(written.len().saturating_sub(limit));
                    let tail = output.tail(since as u64, limit);
                    prop_assert_eq!(tail.text(), from(&written, cursor, limit));
                    if limit > 0 {
                        prop_assert_eq!(tail.skipped, tail.start - since as u64);
                    }
                }
            }
        }
    }
}
