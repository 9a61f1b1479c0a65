//! Our own vocabulary for recordings: record a run once, then ask. Answers are plain text of at most 2 KB.

mod ask;
mod record;

use crate::{Entry, Toolset};

/// The vocabulary.
pub static TOOLSET: Toolset = Toolset {
    name: "recording",
    about: "record a whole run once, then ask when a value went wrong and what wrote it (Python, JavaScript)",
    instructions: INSTRUCTIONS,
    tools: TOOLS,
    prompts: &[],
};

const TOOLS: &[Entry] = &[
    Entry::of::<record::RecordRun>(),
    Entry::of::<ask::FindFirst>(),
    Entry::of::<ask::FindWrites>(),
    Entry::of::<ask::FindOrigin>(),
    Entry::of::<ask::StateAt>(),
    Entry::of::<ask::CompareMoments>(),
    Entry::of::<ask::CountHits>(),
    Entry::of::<ask::CompareRuns>(),
    Entry::of::<record::ListRecordings>(),
    Entry::of::<record::ExportRecording>(),
    Entry::of::<record::RemoveRecordings>(),
];

const INSTRUCTIONS: &str = "\
Find out when a value went wrong and what wrote it, in Python and JavaScript programs.
record_run runs a program or a test once and records every line, call, exception and change of a value. Then ask: \
find_first for the first moment at which something holds (`total < 0`), find_writes for what wrote a variable, an \
attribute or an item, find_origin for what its value was computed from, state_at for stack and variables at any moment, compare_moments, count_hits, and compare_runs for \
a passing and a failing run.
A moment is `FILE:LINE` (first hit), `FILE:LINE#3` (third hit), `FILE:LINE#last`, the number of an event from an \
earlier answer, `exception` (just before the exception that ended the program) or `end`.
Questions are about the newest recording unless you name another one.";
