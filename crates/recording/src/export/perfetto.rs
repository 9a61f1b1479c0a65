//! Chrome's trace event format.
//!
//! Source: "Trace Event Format", <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

use std::io::Write;

use serde_json::{Value, json};

use super::{Timeline, VALUE, json as write_json};
use crate::ask::{arguments, exception};
use crate::error::Result;
use crate::memory::MemoryAt;
use crate::reading::Recording;
use crate::spans::{Change, Step};
use crate::value::Word;

pub(super) fn write(
    recording: &Recording,
    name: &str,
    timeline: &Timeline,
    out: &mut dyn Write,
) -> Result<()> {
    let facts = json!({
        "recording": name,
        "command": recording.fact("command")?,
        "end": recording.fact("end")?,
        "time": timeline.note(),
    });
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":")?;
    write_json(out, &facts)?;
    write!(out, ",\"traceEvents\":[")?;
    let mut separator = "\n";
    let mut put = |event: &Value| -> Result<()> {
        write!(out, "{separator}")?;
        separator = ",\n";
        write_json(out, event)
    };
    for event in names(recording)? {
        put(&event)?;
    }
    recording.walk(None, &mut |step| put(&event(recording, timeline, step)?))?;
    writeln!(out, "\n]}}")?;
    Ok(())
}

/// The names of processes and threads.
fn names(recording: &Recording) -> Result<Vec<Value>> {
    let mut events = Vec::new();
    for track in recording.tracks()? {
        let process = match track.process {
            1 => recording.fact("command")?,
            _ => track.process_name(),
        };
        let of = |what: &str, name: &str| json!({ "ph": "M", "pid": track.process, "tid": track.thread, "name": what, "args": { "name": name } });
        events.push(of("process_name", &process));
        events.push(of("thread_name", &recording.track_name(track)?));
    }
    Ok(events)
}

fn event(recording: &Recording, timeline: &Timeline, step: &Step) -> Result<Value> {
    let (name, place) = recording.step_names(step);
    let (ts, pid, tid) = (timeline.at(step.at), step.track.process, step.track.thread);
    let memory = MemoryAt { recording, event: step.at };
    Ok(match step.change {
        Change::Begin => {
            let given = recording
                .call(step.call)?
                .map(|call| arguments(recording, call.owner, step.at))
                .transpose()?;
            let mut args = json!({ "event": step.at, "function at": place });
            if let Some(given) = given.filter(|given| !given.is_empty())
                && let Some(args) = args.as_object_mut()
            {
                args.insert("arguments".to_owned(), given.into());
            }
            json!({ "ph": "B", "ts": ts, "pid": pid, "tid": tid, "name": name, "cat": "call", "args": args })
        }
        Change::End => {
            let value = step
                .value
                .map(|value| recording.value_text(Word::of(value), &memory, 1, VALUE))
                .transpose()?;
            let args = value.map_or_else(|| json!({}), |value| json!({ "value": value }));
            // The format does not ask for the name, but some readers of it do.
            json!({ "ph": "E", "name": name, "ts": ts, "pid": pid, "tid": tid, "args": args })
        }
        Change::Throw => {
            let thrown = recording.event(step.at)?;
            let args = json!({ "event": step.at, "line": recording.place_text(thrown.place) });
            let name = exception(recording, &thrown)?;
            json!({ "ph": "i", "s": "t", "ts": ts, "pid": pid, "tid": tid, "name": name, "cat": "exception", "args": args })
        }
    })
}
