//! Domain `Profiler`: samples of what runs. V8 takes them from a thread of its own, without stopping the program.

use serde::{Deserialize, Serialize};

use super::Empty;

plain_commands! {
    /// Makes the other commands of the domain possible.
    Enable = "Profiler.enable";
    /// Takes [`Enable`] back.
    Disable = "Profiler.disable";
    /// Begins to take samples.
    Start = "Profiler.start";
    /// Takes [`StartPreciseCoverage`] back.
    StopPreciseCoverage = "Profiler.stopPreciseCoverage";
}

/// Begins to count what runs. V8 drops all code that it has optimized for that.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StartPreciseCoverage {
    /// Counts calls rather than noting that there was one.
    pub call_count: bool,
    /// Counts blocks as well as functions.
    pub detailed: bool,
}

/// The result of [`StartPreciseCoverage`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CoverageStart {
    /// In seconds, on a clock of V8's.
    pub timestamp: f64,
}

/// What was called since [`StartPreciseCoverage`], or since the last such call.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct TakePreciseCoverage {}

/// The result of [`TakePreciseCoverage`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Coverage {
    /// The scripts of which something was called.
    pub result: Vec<ScriptCoverage>,
}

/// The functions of a script.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScriptCoverage {
    /// The script.
    pub script_id: String,
    /// Its functions.
    pub functions: Vec<FunctionCoverage>,
}

/// A function.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FunctionCoverage {
    /// Its name; empty for one without.
    pub function_name: String,
    /// The first is the function as a whole.
    pub ranges: Vec<CoverageRange>,
}

/// Part of a script, and how often it was run.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CoverageRange {
    /// In UTF-16 units from the start of the script.
    pub start_offset: u64,
    /// After its end.
    pub end_offset: u64,
    /// How often.
    pub count: u64,
}

/// How far apart samples are. It cannot be changed while they are taken.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetSamplingInterval {
    /// In microseconds.
    pub interval: u32,
}

/// Ends the taking of samples, and returns them. A thread that waits in native code answers when it comes back.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Stop {}

commands! {
    StartPreciseCoverage = "Profiler.startPreciseCoverage" => CoverageStart;
    TakePreciseCoverage = "Profiler.takePreciseCoverage" => Coverage;
    SetSamplingInterval = "Profiler.setSamplingInterval" => Empty;
    Stop = "Profiler.stop" => Stopped;
}

/// The result of [`Stop`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Stopped {
    /// The samples.
    pub profile: Profile,
}

/// Samples, merged into a tree of calls.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Profile {
    /// The calls; the first is the root of the tree.
    pub nodes: Vec<ProfileNode>,
    /// In microseconds, on a clock of V8's.
    pub start_time: f64,
    /// The same.
    pub end_time: f64,
    /// The number of the innermost call, for each sample.
    pub samples: Vec<i64>,
    /// Microseconds from the sample before, for each sample.
    pub time_deltas: Vec<i64>,
}

/// A call in a [`Profile`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileNode {
    /// Its number.
    pub id: i64,
    /// The function, and where it begins.
    pub call_frame: ProfileFrame,
    /// In how many samples it was the innermost.
    pub hit_count: i64,
    /// The numbers of what it called.
    pub children: Vec<i64>,
    /// On which lines it was when it was the innermost.
    pub position_ticks: Vec<PositionTick>,
}

/// A function in a [`Profile`]; also `(root)`, `(program)`, `(idle)` and `(garbage collector)`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileFrame {
    /// Its name; empty for one without.
    pub function_name: String,
    /// The script; `0` for native code.
    pub script_id: String,
    /// The script's name.
    pub url: String,
    /// Where it begins, 0-based; -1 if there is no such position.
    pub line_number: i64,
    /// 0-based.
    pub column_number: i64,
}

/// How often a line was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct PositionTick {
    /// 1-based.
    pub line: i64,
    /// In how many samples.
    pub ticks: i64,
}
