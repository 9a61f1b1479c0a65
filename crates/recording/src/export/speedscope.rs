//! Speedscope's own format, with an evented profile for each thread.
//!
//! Source: <https://www.speedscope.app/file-format-schema.json>.

use std::collections::HashMap;
use std::io::Write;

use serde_json::{Value, json};

use super::{Timeline, json as write_json};
use crate::error::Result;
use crate::reading::Recording;
use crate::spans::{Change, Track};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

pub(super) fn write(
    recording: &Recording,
    name: &str,
    timeline: &Timeline,
    out: &mut dyn Write,
) -> Result<()> {
    let (frames, numbers) = frames(recording);
    let title = format!("{name}: {} ({})", recording.fact("command")?, timeline.note());
    write!(out, "{{\"$schema\":\"{SCHEMA}\",\"exporter\":\"stillframe\",\"name\":")?;
    write_json(out, &title)?;
    write!(out, ",\"shared\":{{\"frames\":")?;
    write_json(out, &frames)?;
    write!(out, "}},\"profiles\":[")?;
    for (at, track) in recording.tracks()?.into_iter().enumerate() {
        write!(out, "{}", if at > 0 { ",\n" } else { "\n" })?;
        profile(recording, track, &numbers, timeline, out)?;
    }
    writeln!(out, "\n]}}")?;
    Ok(())
}

/// All functions, and the place of each among them. Each process numbers the same function differently.
fn frames(recording: &Recording) -> (Vec<Value>, HashMap<i64, usize>) {
    let mut codes: Vec<_> = recording.codes.iter().collect();
    codes.sort_unstable_by_key(|(id, _)| **id);
    let mut frames = Vec::new();
    let mut numbers = HashMap::new();
    let mut known = HashMap::new();
    for (id, code) in codes {
        let number = *known.entry((&code.path, &code.name, code.line)).or_insert_with(|| {
            frames.push(json!({ "name": &*code.name, "file": &*code.path, "line": code.line }));
            frames.len() - 1
        });
        numbers.insert(*id, number);
    }
    (frames, numbers)
}

fn profile(
    recording: &Recording,
    track: Track,
    numbers: &HashMap<i64, usize>,
    timeline: &Timeline,
    out: &mut dyn Write,
) -> Result<()> {
    let name = recording.full_track_name(track)?;
    let unit = if timeline.clock.is_some() { "microseconds" } else { "none" };
    write!(out, "{{\"type\":\"evented\",\"name\":")?;
    write_json(out, &name)?;
    let (start, end) = (timeline.at(recording.first_event()?), timeline.at(recording.last_event()? + 1));
    write!(out, ",\"unit\":\"{unit}\",\"startValue\":{start},\"endValue\":{end},\"events\":[")?;
    let mut separator = "\n";
    recording.walk(Some(track), &mut |step| {
        let Some(frame) = numbers.get(&step.code) else { return Ok(()) };
        let kind = match step.change {
            Change::Begin => "O",
            Change::End => "C",
            Change::Throw => return Ok(()),
        };
        let at = timeline.at(step.at);
        write!(out, "{separator}{{\"type\":\"{kind}\",\"frame\":{frame},\"at\":{at}}}")?;
        separator = ",\n";
        Ok(())
    })?;
    write!(out, "]}}")?;
    Ok(())
}
