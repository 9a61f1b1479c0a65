//! Where two runs part.

mod definitions;
mod lines;
mod side;
mod threads;
mod values;
mod versions;
mod walk;

use self::threads::{MAIN, Pair, Threads};
use self::versions::{Versions, versions};
use self::walk::{Parting, part};
use super::state::headline;
use super::text::Lines;
use crate::error::{Error, Result};
use crate::memory::MemoryAt;
use crate::reading::{Event, Recording};
use crate::value::What;

/// How many threads besides the main one are compared at most.
const MOST_THREADS: usize = 20;

/// The first value and the first step in which two runs differ: in the main thread, and where its steps are the same, in
/// another one.
///
/// If their sources differ, lines are the same that a comparison of the two texts says are, or that were edited; steps of
/// lines that only one version has are left out.
pub fn diverged(one: &Recording, other: &Recording) -> Result<String> {
    if one.first_event()? > 1 || other.first_event()? > 1 {
        return Err(Error::question(
            "a recording of the last events has no beginning to compare; record both runs without `last`",
        ));
    }
    let recordings = [one, other];
    let versions = versions(one, other);
    let threads = Threads::of(one, other)?;
    let mut answer = Answer { recordings, versions: &versions, lines: Lines::default() };
    for edit in &versions.edits {
        answer.lines.add(format!("the sources differ in {edit}"));
    }
    let main = part(recordings, [MAIN; 2], &versions)?;
    let of_main = if threads.is_empty() { String::new() } else { " in the main thread".to_owned() };
    if main.steps.is_some() {
        answer.add(&main, &of_main)?;
        return Ok(answer.lines.finish());
    }
    // The first values that differ in the threads so far, and where.
    let mut first = (main, of_main.clone());
    for Pair { name, numbers } in threads.pairs.iter().take(MOST_THREADS) {
        let parting = part(recordings, *numbers, &versions)?;
        let place = format!(" in the thread `{name}`");
        if parting.steps.is_some() {
            answer.add_values(&first.0, &first.1)?;
            answer.add_same_steps(&of_main);
            answer.add(&parting, &place)?;
            return Ok(answer.lines.finish());
        }
        if parting.begins_before(&first.0) {
            first = (parting, place);
        }
    }
    let in_all = match threads.pairs.len() {
        0 => of_main,
        all if all > MOST_THREADS => format!(" in the first {} of {} threads", MOST_THREADS + 1, all + 1),
        all => format!(" in the {} threads", all + 1),
    };
    let (parting, place) = &first;
    answer.add_values(parting, if parting.values.is_some() { place } else { &in_all })?;
    answer.add_same_steps(&in_all);
    for (name, only) in
        ["first", "second"].into_iter().zip(&threads.only).filter(|(_, only)| !only.is_empty())
    {
        answer.lines.add(format!("only the {name} run has: {}", only.join(", ")));
    }
    Ok(answer.lines.finish())
}

/// What is written about two runs.
struct Answer<'a> {
    recordings: [&'a Recording; 2],
    versions: &'a Versions,
    lines: Lines,
}

impl Answer<'_> {
    /// Where two threads part. `place` is empty or begins with a space, such as ` in the main thread`.
    fn add(&mut self, parting: &Parting, place: &str) -> Result<()> {
        self.add_values(parting, place)?;
        if let Some((first, second)) = &parting.steps {
            return self.add_steps(parting, first, second, place);
        }
        self.add_same_steps(place);
        Ok(())
    }

    fn add_values(&mut self, parting: &Parting, place: &str) -> Result<()> {
        let Some((first, second)) = &parting.values else {
            let before = if parting.steps.is_some() { " before the runs diverge" } else { "" };
            self.lines.add(format!("no recorded value{place} differs{before}"));
            return Ok(());
        };
        self.lines.add(format!("first different value{place}:"));
        let [one, other] = self.recordings;
        for (name, recording, value) in [("first run: ", one, first), ("second run:", other, second)] {
            self.lines.add(format!("  {name} {}", value.text));
            // The state at the step that differs says more.
            if parting.steps.is_none() {
                add_state(&mut self.lines, recording, &value.event, 3)?;
            }
        }
        Ok(())
    }

    fn add_same_steps(&mut self, place: &str) {
        let apart = match self.versions.edits.as_slice() {
            [] => "",
            _ => ", apart from those of lines that only one has",
        };
        self.lines.add(format!("both runs take the same steps{place} as far as both are recorded{apart}"));
    }

    fn add_steps(&mut self, parting: &Parting, first: &Event, second: &Event, place: &str) -> Result<()> {
        let [one, other] = self.recordings;
        self.lines.add(format!("first different step{place}:"));
        let [version, _] = &self.versions.both;
        if let Some(decides) = line_before(one, first)? {
            let line = version.lines.get(&decides).copied();
            let is_edited = line.is_some_and(|line| line.is_edited);
            let after = match line {
                Some(line) if line.spot.is_none() => "after a line that only the first run has:",
                Some(_) if is_edited => "after the edited line:",
                _ => "after the same: ",
            };
            self.lines.add(format!("  {after} {}", one.place_text(Some(decides))));
            if is_edited && let Some(edited) = line_before(other, second)? {
                self.lines.add(format!("    in the second: {}", other.place_text(Some(edited))));
            }
        }
        let [before, other_before] = parting.only_here;
        for (name, recording, event, only_here) in
            [("first run: ", one, first, before), ("second run:", other, second, other_before)]
        {
            if let Some(only_here) = only_here {
                let headline = headline(recording, &only_here)?;
                self.lines.add(format!("  {name} last line that only this run has: {headline}"));
            }
            self.lines.add(format!("  {name} {}", headline(recording, event)?));
            add_state(&mut self.lines, recording, event, 6)?;
        }
        Ok(())
    }
}

/// Adds the callers and this many variables at an event.
fn add_state(lines: &mut Lines, recording: &Recording, event: &Event, most: usize) -> Result<()> {
    let frames = recording.stack(event)?;
    if let Some(callers) = recording.callers_text(&frames) {
        lines.add(format!("    {callers}"));
    }
    let memory = MemoryAt { recording, event: event.id };
    if let Some(frame) = frames.first() {
        for line in super::state::variables(recording, frame.call.owner, &memory)?.iter().take(most) {
            lines.add(format!("    {line}"));
        }
    }
    Ok(())
}

/// The line that ran before an event: of its call, or of the caller if the call begins.
fn line_before(recording: &Recording, event: &Event) -> Result<Option<i64>> {
    if event.what == What::Call {
        return Ok(recording.stack(event)?.get(1).and_then(|frame| frame.place));
    }
    let Some(call) = recording.call(event.call)? else { return Ok(None) };
    let line = recording.find_event(recording.line_before(&call, event.id)?)?;
    Ok(line.and_then(|line| line.place))
}
