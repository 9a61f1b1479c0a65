//! Where two runs part.

mod definitions;
mod lines;
mod side;
mod values;
mod versions;
mod walk;

use self::versions::versions;
use self::walk::part;
use super::state::headline;
use super::text::Lines;
use crate::error::{Error, Result};
use crate::memory::MemoryAt;
use crate::reading::{Event, Recording};
use crate::value::What;

/// The first value and the first step in which two runs of the main thread differ.
///
/// If their sources differ, lines are the same that a comparison of the two texts says are, or that were edited; steps of
/// lines that only one version has are left out.
pub fn diverged(one: &Recording, other: &Recording) -> Result<String> {
    if one.first_event()? > 1 || other.first_event()? > 1 {
        return Err(Error::question(
            "a recording of the last events has no beginning to compare; record both runs without `last`",
        ));
    }
    let mut lines = Lines::default();
    let versions = versions(one, other);
    for edit in &versions.edits {
        lines.add(format!("the sources differ in {edit}"));
    }
    // What is not compared is not the same, either.
    let of_thread = if has_threads(one)? || has_threads(other)? { " of the main thread" } else { "" };
    let parting = part([one, other], &versions)?;
    if let Some((first, second)) = &parting.values {
        lines.add("first different value:");
        for (name, recording, value) in [("first run: ", one, first), ("second run:", other, second)] {
            lines.add(format!("  {name} {}", value.text));
            // The state at the step that differs says more.
            if parting.steps.is_none() {
                add_state(&mut lines, recording, &value.event, 3)?;
            }
        }
    } else if parting.steps.is_some() {
        lines.add(format!("no recorded value{of_thread} differs before the runs diverge"));
    } else {
        lines.add(format!("no recorded value{of_thread} differs"));
    }
    match &parting.steps {
        None => {
            let apart = match versions.edits.as_slice() {
                [] => "",
                _ => ", apart from those of lines that only one has",
            };
            let in_thread = if of_thread.is_empty() { "" } else { " in the main thread" };
            lines.add(format!("both runs take the same steps{in_thread} as far as both are recorded{apart}"));
        }
        Some((first, second)) => {
            lines.add("first different step:");
            let [version, _] = &versions.both;
            if let Some(decides) = line_before(one, first)? {
                let line = version.lines.get(&decides).copied();
                let is_edited = line.is_some_and(|line| line.is_edited);
                let after = match line {
                    Some(line) if line.spot.is_none() => "after a line that only the first run has:",
                    Some(_) if is_edited => "after the edited line:",
                    _ => "after the same: ",
                };
                lines.add(format!("  {after} {}", one.place_text(Some(decides))));
                if is_edited && let Some(edited) = line_before(other, second)? {
                    lines.add(format!("    in the second: {}", other.place_text(Some(edited))));
                }
            }
            let [before, other_before] = parting.only_here;
            for (name, recording, event, only_here) in
                [("first run: ", one, first, before), ("second run:", other, second, other_before)]
            {
                if let Some(only_here) = only_here {
                    lines.add(format!(
                        "  {name} last line that only this run has: {}",
                        headline(recording, &only_here)?
                    ));
                }
                lines.add(format!("  {name} {}", headline(recording, event)?));
                add_state(&mut lines, recording, event, 6)?;
            }
        }
    }
    Ok(lines.finish())
}

/// Whether code of the program ran outside of the main thread.
fn has_threads(recording: &Recording) -> Result<bool> {
    let threads = "SELECT EXISTS (SELECT 1 FROM calls WHERE thread <> 1)";
    Ok(recording.database.query_row(threads, [], |row| row.get(0))?)
}

/// Adds the callers and so many variables at an event.
fn add_state(lines: &mut Lines, recording: &Recording, event: &Event, most: usize) -> Result<()> {
    let frames = recording.stack(event)?;
    if let Some(callers) = recording.callers_text(&frames) {
        lines.add(format!("    {callers}"));
    }
    let memory = MemoryAt { recording, event: event.id };
    if let Some(frame) = frames.first() {
        for line in super::state::variables(recording, frame, &memory)?.iter().take(most) {
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
