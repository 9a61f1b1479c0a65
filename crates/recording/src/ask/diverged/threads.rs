//! Which threads of two runs correspond.

use crate::error::Result;
use crate::reading::Recording;

/// The number of the main thread.
pub(super) const MAIN: i64 = 1;

/// A thread of both runs.
#[derive(Debug)]
pub(super) struct Pair {
    /// Its name in the first run.
    pub(super) name: String,
    /// Its numbers.
    pub(super) numbers: [i64; 2],
}

/// The threads besides the main ones that ran code of the program.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// Those of both runs, by their names, and in the order in which they began where these are the same.
    pub(super) pairs: Vec<Pair>,
    /// The names of those that only one run has.
    pub(super) only: [Vec<String>; 2],
}

impl Threads {
    /// Those of two recordings.
    pub(super) fn of(one: &Recording, other: &Recording) -> Result<Self> {
        let mut threads = Self::default();
        let mut theirs = threads_of(other)?;
        for (number, name) in threads_of(one)? {
            let is_same = |(_, other): &(i64, String)| kind(other) == kind(&name);
            match theirs.iter().position(is_same) {
                Some(at) => {
                    let numbers = [number, theirs.remove(at).0];
                    threads.pairs.push(Pair { name, numbers });
                }
                None => threads.only[0].push(name),
            }
        }
        threads.only[1].extend(theirs.into_iter().map(|(_, name)| name));
        Ok(threads)
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.only.iter().all(Vec::is_empty)
    }
}

/// A thread's name without the number of its process, which is another one in each run.
fn kind(name: &str) -> &str {
    let is_process = name.starts_with("process ");
    if is_process { name.trim_end_matches(|c: char| c.is_ascii_digit()) } else { name }
}

/// The number and the name of each.
fn threads_of(recording: &Recording) -> Result<Vec<(i64, String)>> {
    let tracks = recording.tracks()?.into_iter().filter(|track| track.stored() != MAIN);
    tracks.map(|track| Ok((track.stored(), recording.track_name(track)?))).collect()
}
