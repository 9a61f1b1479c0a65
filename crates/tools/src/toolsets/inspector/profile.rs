//! A CPU profile, and its evaluation.

use std::fmt::Write;
use std::time::Duration;

use engine::model::performance::{CpuProfile, FunctionTime};
use schemars::JsonSchema;
use serde::Serialize;

/// How many functions are reported.
const FUNCTIONS: usize = 10;
/// A function that takes more than this many percent of the time by itself is a bottleneck.
const BOTTLENECK: f64 = 5.0;

/// A profile. Times are in microseconds, as V8's own profiles have them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProfileResult {
    profile: ProfileData,
    analysis: Analysis,
    /// Description.
    formatted_analysis: String,
}
/// Size of the profile.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProfileData {
    /// On a clock of the process that only goes forward.
    start_time: u64,
    end_time: u64,
    duration: u64,
    /// Number of distinct calls: functions with their callers.
    node_count: usize,
    sample_count: usize,
}
/// Where the time was spent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Analysis {
    total_time: u64,
    /// Idle part of that.
    idle_time: u64,
    /// Most self time first.
    top_functions: Vec<FunctionData>,
    /// Those with more than 5 % self time.
    bottlenecks: Vec<Bottleneck>,
}

/// A function that is worth making faster.
#[derive(Debug, Serialize, JsonSchema)]
struct Bottleneck {
    #[serde(flatten)]
    function: FunctionData,
    reason: String,
    /// As `selfPercentage`.
    impact: f64,
}

/// The time of a function, over all calls of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FunctionData {
    function_name: String,
    /// Absolute path; absent for native code.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Where it begins; 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// In the function itself.
    self_time: u64,
    /// Including its callees.
    total_time: u64,
    self_percentage: f64,
    /// The same.
    percentage: f64,
    total_percentage: f64,
    /// Number of samples in which it was the innermost.
    hit_count: u64,
}

impl FunctionData {
    fn new(function: &FunctionTime, all: u64) -> Self {
        let (own, total) = (micros(function.own), micros(function.total));
        let location = function.location.as_ref();
        Self {
            function_name: function.function.clone(),
            file: location.map(|location| location.source.name.clone()),
            line: location.map(|location| location.line),
            self_time: own,
            total_time: total,
            self_percentage: percent(own, all),
            percentage: percent(own, all),
            total_percentage: percent(total, all),
            hit_count: function.hits,
        }
    }
}

impl Bottleneck {
    fn new(function: &FunctionData) -> Self {
        let impact = function.self_percentage;
        Self { function: function.clone(), reason: format!("{impact} % of the time is in it"), impact }
    }
}

impl From<&CpuProfile> for ProfileResult {
    fn from(profile: &CpuProfile) -> Self {
        let all = micros(profile.duration);
        let functions: Vec<FunctionData> =
            profile.functions.iter().map(|function| FunctionData::new(function, all)).collect();
        let is_bottleneck = |function: &&FunctionData| function.self_percentage > BOTTLENECK;
        let analysis = Analysis {
            total_time: all,
            idle_time: micros(profile.idle),
            bottlenecks: functions.iter().filter(is_bottleneck).map(Bottleneck::new).collect(),
            top_functions: functions.into_iter().take(FUNCTIONS).collect(),
        };
        Self {
            profile: ProfileData {
                start_time: micros(profile.begin),
                end_time: micros(profile.begin + profile.duration),
                duration: all,
                node_count: profile.calls,
                sample_count: profile.samples,
            },
            formatted_analysis: formatted(&analysis, profile.samples),
            analysis,
        }
    }
}

fn formatted(analysis: &Analysis, samples: usize) -> String {
    let mut text =
        format!("{} in {samples} samples, {} of it idle\n", ms(analysis.total_time), ms(analysis.idle_time));
    for function in &analysis.top_functions {
        let place = match (&function.file, function.line) {
            (Some(file), Some(line)) => format!("  {file}:{line}"),
            _ => String::new(),
        };
        let FunctionData { function_name, self_percentage, self_time, total_time, .. } = function;
        let times = format!("{} itself, {} with what it called", ms(*self_time), ms(*total_time));
        let _ = writeln!(text, "{self_percentage:5.1} %  {function_name}  {times}{place}");
    }
    text
}

fn ms(micros: u64) -> String {
    format!("{}.{} ms", micros / 1000, micros % 1000 / 100)
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// How many percent a part is, to a tenth.
#[expect(clippy::cast_precision_loss, reason = "bytes and microseconds are far below what a double counts")]
pub(super) fn percent(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { (part as f64 / all as f64 * 1000.0).round() / 10.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_above_five_percent_are_bottlenecks() {
        let function = |name: &str, own: u64, total: u64| FunctionTime {
            function: name.to_owned(),
            location: None,
            own: Duration::from_micros(own),
            total: Duration::from_micros(total),
            hits: own / 1000,
        };
        let profile = CpuProfile {
            begin: Duration::from_secs(1),
            duration: Duration::from_millis(100),
            calls: 3,
            samples: 100,
            idle: Duration::from_millis(10),
            functions: vec![function("hot", 80_000, 80_000), function("main", 5_000, 90_000)],
        };
        let taken = ProfileResult::from(&profile);
        let Analysis { bottlenecks, top_functions, .. } = &taken.analysis;
        let reasons: Vec<_> = bottlenecks
            .iter()
            .map(|one| (one.function.function_name.as_str(), one.reason.as_str()))
            .collect();
        assert_eq!(reasons, [("hot", "80 % of the time is in it")], "5 % is not more than 5 %");
        let names: Vec<_> = top_functions.iter().map(|one| one.function_name.as_str()).collect();
        assert_eq!(names, ["hot", "main"]);
        assert_eq!((taken.profile.start_time, taken.profile.end_time), (1_000_000, 1_100_000));
        let text = "100.0 ms in 100 samples, 10.0 ms of it idle\n \
                    80.0 %  hot  80.0 ms itself, 80.0 ms with what it called\n  \
                    5.0 %  main  5.0 ms itself, 90.0 ms with what it called\n";
        assert_eq!(taken.formatted_analysis, text);
    }
}
