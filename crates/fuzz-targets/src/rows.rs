//! Rows that a program writes while it runs.

use std::collections::BTreeMap;

use engine::recording::{RecordedRows, Recorder};

use crate::runtime::block_on;

/// So few that inputs reach it.
const MOST: u64 = 8;

/// Lines of a recorder.
///
/// A row is kept or counted; kept rows are within the limit and in the order of time; no location reports fewer hits
/// than it has rows; and taken rows are gone.
pub fn rows(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    block_on(async {
        let recorder = Recorder::new(MOST).expect("a pipe can be made");
        for line in text.lines() {
            recorder.read(line);
        }
        let RecordedRows { rows, hits, dropped } = recorder.recorded();
        assert_eq!(rows.len() as u64 + dropped, recorder.len());
        assert!(rows.len() as u64 <= MOST);
        assert!(rows.is_sorted_by(|one, next| one.time.total_cmp(&next.time).is_le()));
        let mut of_place = BTreeMap::new();
        for row in &rows {
            *of_place.entry(row.id).or_insert(0_u64) += 1;
        }
        for (place, count) in of_place {
            assert!(hits.get(&place).is_some_and(|hits| *hits >= count), "{place:?}: {hits:?}");
        }
        assert_eq!(recorder.take().rows.len(), rows.len());
        assert!(recorder.take().rows.is_empty());
    });
}
