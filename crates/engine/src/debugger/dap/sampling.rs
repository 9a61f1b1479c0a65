//! What a program does while it runs, as an adapter has sampled it, or as a short pause shows it (`stacks.rs`).

mod stacks;

use std::time::Duration;

use serde::Deserialize;

use super::DapDebugger;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::activity::{Activity, CallNode, SampledFrame, ThreadActivity, WaitKind, Waiting};
use crate::model::ids::RawId;
use crate::model::source::Location;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Report {
    threads: Vec<Thread>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Thread {
    id: i64,
    name: String,
    /// The operating system's number.
    os: Option<u32>,
    samples: u64,
    calls: Vec<Call>,
    /// Function, file and line, innermost first.
    stack: Vec<(String, String, u32)>,
    blocked: Option<Wait>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call {
    function: String,
    file: String,
    total: u64,
    lines: Vec<(u32, u64)>,
    calls: Vec<Self>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wait {
    kind: String,
    what: String,
    file: Option<String>,
    line: Option<u32>,
    timed: bool,
    holders: Vec<i64>,
}

pub(super) async fn start(debugger: &DapDebugger, interval: Duration) -> Result<()> {
    if debugger.quirks().stack_sampling.is_some() {
        return Ok(());
    }
    if !debugger.quirks().samples {
        return Err(Error::Unsupported("this debugger does not support sampling".to_owned()));
    }
    let interval = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
    let arguments = ::dap::StartSamplingArguments { interval };
    debugger.request::<::dap::StartSampling>(arguments, deadlines::REQUEST).await?;
    Ok(())
}

/// Nothing of a program that cannot answer at the moment.
pub(super) async fn activity(debugger: &DapDebugger) -> Result<Activity> {
    if let Some(sampling) = debugger.quirks().stack_sampling {
        return stacks::activity(debugger, sampling).await;
    }
    if !debugger.quirks().samples {
        return Ok(Activity::default());
    }
    let answer = debugger.request::<::dap::Activity>(::dap::Empty {}, deadlines::REQUEST).await;
    let report: Report = match answer {
        Ok(answer) => serde_json::from_value(answer)
            .map_err(|error| Error::Refused(format!("the samples cannot be read: {error}")))?,
        Err(Error::Deadline { .. }) => Report::default(),
        Err(error) => return Err(error),
    };
    let threads = report.threads.into_iter().map(|thread| thread.into_activity(debugger)).collect();
    Ok(Activity { threads, ..Activity::default() })
}

pub(super) async fn stop(debugger: &DapDebugger) -> Result<()> {
    if debugger.quirks().samples {
        // One that cannot stop now has no reader for its samples.
        let _ = debugger.request::<::dap::StopSampling>(::dap::Empty {}, deadlines::ACTIVITY).await;
    }
    Ok(())
}

impl Thread {
    fn into_activity(self, debugger: &DapDebugger) -> ThreadActivity {
        let frame = |(function, file, line): (String, String, u32)| SampledFrame {
            function,
            location: Some(place(debugger, file, line)),
        };
        ThreadActivity {
            thread: RawId(self.id),
            name: self.name,
            os_thread: self.os,
            is_daemon: self.id != 1,
            samples: self.samples,
            calls: self.calls.into_iter().map(|call| call.into_node(debugger)).collect(),
            stack: self.stack.into_iter().map(frame).collect(),
            blocked: self.blocked.map(|wait| wait.into_waiting(debugger)),
        }
    }
}

impl Call {
    fn into_node(self, debugger: &DapDebugger) -> CallNode {
        CallNode {
            function: self.function,
            // Where it begins is not known. Samples of one function that are collected later belong to the same call.
            location: Some(place(debugger, self.file, 0)),
            total: self.total,
            lines: self.lines,
            calls: self.calls.into_iter().map(|call| call.into_node(debugger)).collect(),
        }
    }
}

impl Wait {
    fn into_waiting(self, debugger: &DapDebugger) -> Waiting {
        Waiting {
            kind: WaitKind::named(&self.kind),
            what: self.what,
            location: self.file.zip(self.line).map(|(file, line)| place(debugger, file, line)),
            is_timed: self.timed,
            holders: self.holders.into_iter().map(RawId).collect(),
            task: None,
        }
    }
}

fn place(debugger: &DapDebugger, file: String, line: u32) -> Location {
    let source = ::dap::Source { path: Some(file), ..::dap::Source::default() };
    debugger.location(source, line.into(), 0)
}
