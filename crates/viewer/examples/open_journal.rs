//! Opens a journal and says how long that took and how much memory: `open_journal FILE`.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use viewer::log::Log;
use viewer::moment::Moment;
use viewer::{report, words};

/// As many entries as a screen shows.
const SCREEN: usize = 60;
/// How many moments are asked for, all over the journal.
const MOMENTS: usize = 200;

fn main() -> io::Result<()> {
    let path = PathBuf::from(std::env::args().nth(1).ok_or_else(|| io::Error::other("open_journal FILE"))?);
    let mut out = io::stdout().lock();

    let began = Instant::now();
    let mut log = Log::open(&path)?;
    let lines: Vec<String> =
        (log.len().saturating_sub(SCREEN)..log.len()).map(|number| words::of(&log, number)).collect();
    let session = log.sessions().len().saturating_sub(1);
    let moment = Moment::at(&log, session, log.len().saturating_sub(1));
    writeln!(out, "the end is there after          {:>10.1?}", began.elapsed())?;
    writeln!(out, "  lines {}, variables {}", lines.len(), moment.variables.len())?;

    let (mut polls, mut longest) = (0, Duration::ZERO);
    loop {
        let poll = Instant::now();
        let is_complete = log.poll().is_complete;
        longest = longest.max(poll.elapsed());
        polls += 1;
        if is_complete {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    writeln!(out, "everything is there after       {:>10.1?}", began.elapsed())?;
    writeln!(out, "  polls {polls}, the longest {longest:.1?}")?;
    writeln!(out, "  entries {}, sessions {}, skipped {}", log.len(), log.sessions().len(), log.skipped())?;

    let mut slowest = Duration::ZERO;
    let began = Instant::now();
    for step in 0..MOMENTS {
        let number = log.len() * step / MOMENTS;
        let session = log.summary(number).and_then(|summary| summary.session).unwrap_or(0);
        let one = Instant::now();
        let _ = Moment::at(&log, session, number);
        slowest = slowest.max(one.elapsed());
    }
    let mean = began.elapsed() / u32::try_from(MOMENTS).unwrap_or(1);
    writeln!(out, "a moment takes                  {mean:>10.1?}   the slowest {slowest:.1?}")?;

    let began = Instant::now();
    let text = report::report(&log, log.sessions().len().saturating_sub(1));
    writeln!(out, "the report of the last session  {:>10.1?}   {} bytes", began.elapsed(), text.len())?;
    for line in fs::read_to_string("/proc/self/status").unwrap_or_default().lines() {
        if line.starts_with("VmHWM") || line.starts_with("VmRSS") {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
