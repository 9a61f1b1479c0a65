//! How far things may go: one table of what a user may set.
//!
//! Limits that a protocol or the machine imposes are not in this table; time limits of that kind are in
//! [`deadlines`](crate::deadlines). The reader of the configuration file, `stillframe config` and
//! `docs/reference/limits.md` are derived from this table.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::error::Error;
pub use crate::error::SetBy;
use crate::model::limits::Limits;

/// A line of the table.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Its name, as `[limits]` has it.
    pub name: &'static str,
    /// The same with the section.
    pub setting: &'static str,
    /// What it counts.
    pub unit: &'static str,
    /// The default values.
    pub default: u64,
    /// What may be set.
    pub range: RangeInclusive<u64>,
    /// What it bounds, and what happens there.
    pub about: &'static str,
}

impl SetBy {
    /// How the bound of that name is raised; none where it cannot be.
    pub fn raised(&self, name: &str) -> Option<String> {
        let place = match self {
            Self::Default => " in the user's stillframe.toml",
            Self::File(_) | Self::Variable(_) | Self::Option(_) => " there",
            Self::Maximum => return None,
        };
        let most = named(name).map_or(u64::MAX, |bound| *bound.range.end());
        Some(format!("the person who runs the server can raise `limits.{name}`{place}, up to {most}"))
    }
}

macro_rules! bounds {
    ($($(#[doc = $about:literal])+ $name:ident: $unit:literal, $default:expr, $range:expr;)+) => {
        /// The bounds that hold in a server.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Bounds {
            $($(#[doc = $about])+ pub $name: u64,)+
            /// Who has set those that are not as by default, by their names.
            pub set_by: BTreeMap<&'static str, SetBy>,
        }

        impl Default for Bounds {
            fn default() -> Self {
                Self { $($name: $default,)+ set_by: BTreeMap::new() }
            }
        }

        /// Every bound.
        pub static TABLE: &[Bound] = &[$(Bound {
            name: stringify!($name),
            setting: concat!("limits.", stringify!($name)),
            unit: $unit,
            default: $default,
            range: $range,
            about: concat!($($about),+),
        }),+];

        impl Bounds {
            /// The value of that name.
            pub fn get(&self, name: &str) -> Option<u64> {
                match name {
                    $(stringify!($name) => Some(self.$name),)+
                    _ => None,
                }
            }

            /// Sets the value of that name. One that is not known is left alone: readers know the table.
            pub fn set(&mut self, name: &str, value: u64, by: SetBy) {
                match name {
                    $(stringify!($name) => {
                        self.$name = value;
                        self.set_by.insert(stringify!($name), by);
                    })+
                    _ => {}
                }
            }
        }
    };
}

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

bounds! {
    /// Open sessions. Another one is refused.
    sessions: "sessions", 64, 1..=1_000;
    /// Debugged processes and workers of a session. Another one runs without a debugger, and the output says so.
    processes: "processes", 64, 1..=1_000;
    /// Breakpoints of a session. Another one is refused.
    breakpoints: "breakpoints", 1_000, 1..=10_000;
    /// Watched expressions of a session. Another one is refused.
    watches: "expressions", 20, 1..=200;
    /// Output kept for a session. The oldest is dropped, and `get_output` reports how much.
    output: "bytes", MIB, 4 * KIB..=256 * MIB;
    /// One answer of a tool. A longer one is truncated, and says how to get the rest.
    answer: "bytes", MIB, 16 * KIB..=64 * MIB;
    /// Frames in a stop report.
    frames: "frames", 5, 1..=1_000;
    /// Variables in a stop report.
    variables: "variables", 30, 0..=1_000;
    /// A value in a stop report.
    value: "characters", 200, 10..=100_000;
    /// Source lines before and after the current line in a stop report.
    source: "lines", 3, 0..=1_000;
    /// New output in a stop report; the end of it is shown.
    report_output: "bytes", 4_000, 0..=MIB;
    /// One recording of a run. At the limit, recording stops and the program keeps running.
    recording: "bytes", 256 * MIB, MIB..=64 * 1024 * MIB;
    /// All recordings together. The oldest are removed.
    recordings: "bytes", 1024 * MIB, MIB..=1024 * 1024 * MIB;
    /// The longest text of a value. Requesting more is refused.
    longest_value: "characters", 100_000, 200..=1_000_000;
    /// Children of a value in one answer. Requesting more is refused.
    children: "values", 10_000, 10..=100_000;
    /// Levels of an object in one answer. More is refused.
    depth: "levels", 10, 1..=50;
    /// Rows of a trace. More is refused.
    rows: "rows", 100_000, 1..=1_000_000;
    /// How long a call waits for the next stop unless it says otherwise.
    wait: "ms", 20_000, 100..=600_000;
    /// How long a call may wait. Requesting more is refused. Three things do not count: up to 5 s for a program to start,
    /// the time to build it in a call that starts it and waits, and a second or two of sampling if the program did not
    /// end.
    longest_wait: "ms", 600_000, 1_000..=86_400_000;
    /// How long a pause waits for the stop unless it says otherwise.
    pause: "ms", 2_000, 100..=600_000;
    /// How long a program may take to become ready for debugging.
    connect: "ms", 30_000, 1_000..=600_000;
    /// How long an expression may take unless the call says otherwise.
    evaluate: "ms", 5_000, 100..=120_000;
    /// How long an expression may take. Requesting more is refused.
    longest_evaluate: "ms", 120_000, 100..=3_600_000;
    /// How long a session may be idle before it is closed and its program ended; 0 for no limit.
    idle: "s", 0, 0..=604_800;
    /// How long a session of `stillframe debug` may be idle before it is closed and its program ended.
    debug_idle: "s", 900, 1..=604_800;
    /// Size of a journal file before it is rotated.
    journal_size: "bytes", 20 * MIB, 64 * KIB..=4 * KIB * MIB;
    /// Rotated journal files to keep.
    journal_files: "files", 4, 0..=100;
}

/// A bound as the size of something in memory.
fn size(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

impl Bounds {
    /// The size of a stop report when a call says nothing of it.
    pub fn report(&self) -> Limits {
        Limits {
            frames: size(self.frames),
            variables: size(self.variables),
            value: size(self.value),
            source: u32::try_from(self.source).unwrap_or(u32::MAX),
            output: size(self.report_output),
            changes: false,
        }
    }

    /// A length of text that is usual, within the longest.
    pub fn text(&self, usual: usize) -> usize {
        usual.min(size(self.longest_value))
    }

    /// A length of text: what a call asks for by an argument, else the default.
    pub fn requested_length(
        &self,
        argument: &str,
        asked: Option<usize>,
        usual: usize,
    ) -> Result<usize, Error> {
        match asked {
            Some(asked) => self.within("longest_value", argument, asked as u64).map(size),
            None => Ok(self.text(usual)),
        }
    }

    /// How many children: what a call asks for by its `count`, else the default.
    pub fn requested_count(&self, asked: Option<u64>, usual: u64) -> Result<u64, Error> {
        match asked {
            Some(asked) => self.within("children", "count", asked),
            None => Ok(usual.min(self.children)),
        }
    }

    /// The most bytes that are kept of a session's output.
    pub fn kept_output(&self) -> usize {
        size(self.output)
    }

    /// The most bytes of an answer.
    pub fn answer_size(&self) -> usize {
        size(self.answer)
    }

    /// How long to wait for a stop when a call says nothing of it.
    pub fn default_wait(&self) -> Duration {
        Duration::from_millis(self.wait).min(self.max_wait())
    }

    /// The longest wait.
    pub fn max_wait(&self) -> Duration {
        Duration::from_millis(self.longest_wait)
    }

    /// How long to wait for the stop of a pause when a call says nothing of it.
    pub fn default_pause(&self) -> Duration {
        Duration::from_millis(self.pause).min(self.max_wait())
    }

    /// How long an expression may take when a call says nothing of it.
    pub fn default_evaluate(&self) -> Duration {
        Duration::from_millis(self.evaluate).min(self.max_evaluate())
    }

    /// The longest that an expression may take.
    pub fn max_evaluate(&self) -> Duration {
        Duration::from_millis(self.longest_evaluate)
    }

    /// How long a program may take to become ready for debugging.
    pub fn connect_within(&self) -> Duration {
        Duration::from_millis(self.connect)
    }

    /// How long a session may go unused; none for as long as it likes.
    pub fn idle_after(&self) -> Option<Duration> {
        (self.idle > 0).then(|| Duration::from_secs(self.idle))
    }

    /// How long a session that a shell keeps may go without a command.
    pub fn debug_idle(&self) -> Duration {
        Duration::from_secs(self.debug_idle)
    }

    /// A value that a call requests with an argument. More than the bound is an error: a request is not lowered
    /// silently.
    pub fn within(&self, name: &'static str, argument: &str, asked: u64) -> Result<u64, Error> {
        let most = self.get(name).unwrap_or(u64::MAX);
        if asked > most { Err(self.reached(name, format!("`{argument}` is {asked}"))) } else { Ok(asked) }
    }

    /// How many rows a trace has when a call says nothing of it, where `usual` are usual.
    pub fn default_rows(&self, usual: u64) -> u64 {
        usual.min(self.rows)
    }

    /// A size that a call asks for by an argument, where the bound of that name is the default: it may be as large
    /// as that can be set.
    pub fn settable(&self, name: &'static str, argument: &str, asked: u64) -> Result<u64, Error> {
        let most = named(name).map_or(u64::MAX, |bound| *bound.range.end());
        if asked <= most {
            return Ok(asked);
        }
        let problem = format!("`{argument}` is {asked}");
        Err(Error::Limit { name, value: most, problem, set_by: SetBy::Maximum })
    }

    /// The error for a reached bound: `problem` says how.
    pub fn reached(&self, name: &'static str, problem: impl Into<String>) -> Error {
        let value = self.get(name).unwrap_or_default();
        let is_most = named(name).is_some_and(|bound| value >= *bound.range.end());
        let set_by =
            if is_most { SetBy::Maximum } else { self.set_by.get(name).cloned().unwrap_or_default() };
        Error::Limit { name, value, problem: problem.into(), set_by }
    }
}

impl Error {
    /// For a reached limit: who set it, and how to get below it.
    pub fn room(&self) -> Option<String> {
        let Self::Limit { name, value, set_by, .. } = self else { return None };
        let bound = named(name)?;
        let unit = bound.unit;
        let here = match *name {
            "sessions" => Some("close a session".to_owned()),
            "breakpoints" => Some("remove a breakpoint".to_owned()),
            "watches" => Some("remove a watch".to_owned()),
            "processes" => None,
            // The default of a call, which may request up to the maximum.
            "frames" | "variables" | "value" | "source" | "report_output" => {
                Some(format!("ask for {} to {value} {unit}", bound.range.start()))
            }
            _ => Some(format!("ask for {value} {unit} or less")),
        };
        let ways: Vec<String> = [here, set_by.raised(name)].into_iter().flatten().collect();
        let ways = ways.join(", or ");
        Some(if ways.is_empty() { set_by.to_string() } else { format!("{set_by}; {ways}") })
    }
}

/// The bound of that name.
pub fn named(name: &str) -> Option<&'static Bound> {
    TABLE.iter().find(|bound| bound.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_can_be_set_and_is_effective() {
        let bounds = Bounds::default();
        for bound in TABLE {
            assert!(bound.range.contains(&bound.default), "{}", bound.name);
            assert_eq!(bounds.get(bound.name), Some(bound.default), "{}", bound.name);
            assert!(bound.about.trim().ends_with('.'), "{}", bound.name);
        }
        assert_eq!(bounds.report(), Limits::default());
    }

    #[test]
    fn settings_override_defaults() {
        for bound in TABLE {
            let mut bounds = Bounds::default();
            bounds.set(bound.name, *bound.range.end(), SetBy::Option("--limit"));
            assert_eq!(bounds.get(bound.name), Some(*bound.range.end()));
        }
    }

    #[test]
    fn value_above_a_bound_is_refused_by_name() {
        let bounds = Bounds { rows: 2, ..Bounds::default() };
        assert_eq!((bounds.default_rows(200), bounds.default_rows(1)), (2, 1));
        assert_eq!(bounds.within("rows", "maxHits", 2).unwrap(), 2);
        let refused = bounds.within("rows", "maxHits", 3).unwrap_err();
        assert_eq!(refused.code(), "limit_reached");
        assert_eq!(refused.to_string(), "`maxHits` is 3: the limit `rows` is 2");
    }

    #[test]
    fn limit_hint_names_its_source_unless_it_is_a_maximum() {
        let mut bounds = Bounds::default();
        let by = |bounds: &Bounds| match bounds.reached("sessions", "full") {
            Error::Limit { set_by, .. } => (set_by.to_string(), set_by.raised("sessions")),
            _ => unreachable!(),
        };
        let raised = "the person who runs the server can raise `limits.sessions`";
        let usual = format!("{raised} in the user's stillframe.toml, up to 1000");
        assert_eq!(by(&bounds), ("the default".to_owned(), Some(usual)));
        let table = [
            (SetBy::File("/p/stillframe.toml:3".to_owned()), "set in /p/stillframe.toml:3"),
            (SetBy::Variable("STILLFRAME_LIMITS"), "set by the variable STILLFRAME_LIMITS"),
            (SetBy::Option("--limit"), "set by the option --limit"),
        ];
        for (set_by, said) in table {
            bounds.set("sessions", 999, set_by.clone());
            assert_eq!(by(&bounds), (said.to_owned(), Some(format!("{raised} there, up to 1000"))));
            bounds.set("sessions", 1000, set_by);
            assert_eq!(by(&bounds), ("the maximum".to_owned(), None));
        }
    }

    #[test]
    fn explicit_values_above_range_are_refused_and_defaults_lowered() {
        let bounds = Bounds { longest_value: 500, children: 20, ..Bounds::default() };
        assert_eq!(bounds.requested_length("maxLength", None, 1000).unwrap(), 500);
        assert_eq!(bounds.requested_length("maxLength", Some(500), 1000).unwrap(), 500);
        let refused = bounds.requested_length("maxLength", Some(501), 1000).unwrap_err();
        assert_eq!(refused.to_string(), "`maxLength` is 501: the limit `longest_value` is 500");
        assert_eq!(
            (bounds.requested_count(None, 100).unwrap(), bounds.requested_count(Some(3), 1).unwrap()),
            (20, 3)
        );
        assert!(bounds.requested_count(Some(21), 1).is_err());
        assert_eq!(bounds.settable("frames", "limits.frames", 1000).unwrap(), 1000);
        let refused = bounds.settable("frames", "limits.frames", 1001).unwrap_err();
        assert_eq!(refused.to_string(), "`limits.frames` is 1001: the limit `frames` is 1000");
    }

    #[test]
    fn default_timeouts_are_within_maximums() {
        let bounds = Bounds { longest_wait: 1_000, longest_evaluate: 200, ..Bounds::default() };
        assert_eq!(bounds.default_wait(), Duration::from_secs(1));
        assert_eq!(bounds.default_pause(), Duration::from_secs(1));
        assert_eq!(bounds.default_evaluate(), Duration::from_millis(200));
    }
}
