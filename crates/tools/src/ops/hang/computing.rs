//! The verdict on a program that computes.

use std::path::Path;

use engine::model::activity::{Callback, SampledFrame};
use engine::model::ids::ThreadId;
use engine::snapshot;

use super::Verdict;
use super::finding::{HangFinding, is_users, time};
use super::motion::{ComputeObservation, LoopProgress};
use super::watch::{COUNTING, HangWatch};

/// How many functions of an event loop are named.
const CALLBACKS: usize = 5;

impl HangWatch<'_> {
    /// The verdict on a program whose event loop keeps calling these.
    pub(super) fn turns(&self, callbacks: &[Callback]) -> HangFinding {
        let place = |callback: &Callback| {
            let location = callback.location.as_ref();
            location.map(|at| format!(" at {}:{}", at.source.name, at.line)).unwrap_or_default()
        };
        let mut evidence = vec![self.share(), "each call returns, and another one follows".to_owned()];
        evidence.extend(callbacks.iter().take(CALLBACKS).map(|callback| {
            let Callback { function, calls, .. } = callback;
            format!(
                "`{function}`{} was called at least {calls} times in {} ms",
                place(callback),
                COUNTING.as_millis()
            )
        }));
        let names = callbacks.iter().take(CALLBACKS);
        let names: Vec<String> =
            names.map(|callback| format!("`{}`{}", callback.function, place(callback))).collect();
        let message = format!("The event loop is never idle: it keeps calling {}", names.join(", "));
        HangFinding { verdict: Verdict::BusyEventLoop, message, evidence }
    }

    /// The verdict on a program that computes.
    pub(super) async fn computes(
        &self,
        observed: Option<&ComputeObservation>,
        samples: usize,
        thread: Option<ThreadId>,
    ) -> HangFinding {
        let mut evidence = vec![self.share()];
        let Some(observed) = observed else {
            evidence.push("it could not be suspended: it is inside one native call".to_owned());
            return self.in_one_call(self.sampled_stack(thread), evidence).await;
        };
        let place = format!("{}:{} in {}", observed.file.display(), observed.line, observed.function);
        if samples > 1 {
            evidence.push(format!("its values were read {samples} times"));
        } else if observed.found.is_none() {
            evidence.push("it could not be suspended: it is inside one native call".to_owned());
        } else if !matches!(observed.motion, LoopProgress::Certain | LoopProgress::Endless) {
            evidence.push("it could be sampled only once, so changes are unknown".to_owned());
            let message = format!("The program is CPU-bound; cannot tell whether it will finish: {place}");
            return HangFinding { verdict: Verdict::Unknown, message, evidence };
        }
        let Some((verdict, does, because)) = observed.motion.described(observed.found.is_some()) else {
            if samples > 1 {
                evidence.push("it was always on the same line".to_owned());
            }
            let stack = self.sampled_stack(thread);
            let file = &observed.file;
            let line = self.line(&file.display().to_string(), Some(file), observed.line).await;
            return self.in_one_call_at(&place, &line, &stack, evidence);
        };
        let rest = match observed.motion {
            LoopProgress::Nearer(Some(left)) => format!("; at this rate it needs {} more", time(left)),
            _ => String::new(),
        };
        evidence.extend(because.map(|because| format!("{because}{rest}")));
        let lines = observed.found.as_ref().map(|found| {
            let (start, end) = (found.lines.start(), found.lines.end());
            format!(", lines {start}-{end}")
        });
        let message = format!("The program {does}{}: {place}", lines.unwrap_or_default());
        HangFinding { verdict, message, evidence }
    }

    /// The verdict on a program that has been in native code since it was sampled.
    async fn in_one_call(&self, stack: Vec<SampledFrame>, evidence: Vec<String>) -> HangFinding {
        let user = stack.iter().find(|frame| is_users(frame)).and_then(|frame| frame.location.clone());
        let Some(location) = user else {
            return HangFinding {
                verdict: Verdict::Unknown,
                message: "The program is CPU-bound; its location is unknown".to_owned(),
                evidence,
            };
        };
        let line = self.line(&location.source.name, location.source.path.as_deref(), location.line).await;
        let place = format!("{}:{}", location.source.name, location.line);
        self.in_one_call_at(&place, &line, &stack, evidence)
    }

    /// A backtracking regular expression looks like this; so does a call that only takes long.
    fn in_one_call_at(
        &self,
        place: &str,
        line: &str,
        stack: &[SampledFrame],
        mut evidence: Vec<String>,
    ) -> HangFinding {
        let by_name = stack.first().is_some_and(|frame| frame.function.starts_with("RegExp:"))
            || self.calls_innermost().iter().any(|name| name.starts_with("RegExp:"));
        if by_name || matches_text(line) {
            evidence.push(format!("the line matches a regular expression: `{}`", line.trim()));
            return HangFinding {
                verdict: Verdict::BusyLoop,
                message: format!(
                    "The program is matching a regular expression that does not finish: {place}"
                ),
                evidence,
            };
        }
        HangFinding {
            verdict: Verdict::Unknown,
            message: format!(
                "The program is in one call that has not returned; cannot tell whether it will: {place}"
            ),
            evidence,
        }
    }

    /// A line of a source; empty where it cannot be read.
    async fn line(&self, name: &str, path: Option<&Path>, line: u32) -> String {
        let lines = snapshot::lines(self.session, name, path).await.unwrap_or_default();
        let at = usize::try_from(line).unwrap_or_default().saturating_sub(1);
        lines.into_iter().nth(at).unwrap_or_default()
    }

    fn calls_innermost(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut calls: Vec<_> = self.calls.iter().collect();
        while let Some(call) = calls.pop() {
            if call.calls.is_empty() && call.total * 2 > self.samples {
                names.push(call.function.clone());
            }
            calls.extend(&call.calls);
        }
        names
    }
}

impl LoopProgress {
    /// The verdict on a program of which this was seen, in a loop or elsewhere; what it does, and the evidence. None for
    /// one that stays at a line.
    fn described(self, in_loop: bool) -> Option<(Verdict, &'static str, Option<&'static str>)> {
        use Verdict::{BusyLoop, Slow};
        Some(match self {
            Self::Certain => {
                (BusyLoop, "is in a loop that can never end", Some("the source shows that it never ends"))
            }
            Self::Endless => (
                BusyLoop,
                "is in a loop without an exit",
                Some("only an error or an exit in a function that it calls can end the loop"),
            ),
            Self::Stuck => (
                BusyLoop,
                "is in a loop in which nothing changes",
                Some("no value that the loop depends on changed"),
            ),
            Self::Asks => (
                BusyLoop,
                "polls in a loop until a call ends it",
                Some(
                    "no value in the loop changes; its condition calls a function that has not ended it so far",
                ),
            ),
            Self::Repeats => (
                BusyLoop,
                "is in a loop whose values repeat",
                Some("the values that the loop depends on repeat"),
            ),
            Self::Away => (
                BusyLoop,
                "is in a loop that does not progress toward its end",
                Some("the values that the loop's condition compares do not converge"),
            ),
            Self::Nearer(_) => {
                (Slow, "is slow but makes progress in a loop", Some("the loop progresses toward its end"))
            }
            Self::Advances | Self::Changes if in_loop => (
                Slow,
                "is CPU-bound in a loop whose values change",
                Some("values change; cannot tell whether the loop progresses toward its end"),
            ),
            Self::Advances | Self::Changes => (Slow, "is CPU-bound, and values change", None),
            Self::Recursion => {
                (Slow, "is CPU-bound in a recursive function", Some("the function calls itself"))
            }
            Self::Still => return None,
        })
    }
}

/// Whether a line calls a function that usually matches a text against a pattern.
fn matches_text(line: &str) -> bool {
    const CALLS: [&str; 11] = [
        ".match(",
        ".search(",
        ".fullmatch(",
        ".findall(",
        ".finditer(",
        ".sub(",
        ".subn(",
        ".test(",
        ".exec(",
        ".matchAll(",
        ".replace(",
    ];
    CALLS.iter().any(|call| line.contains(call))
}
