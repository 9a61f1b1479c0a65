//! Breakpoints that a run has ended without.

use std::fmt;

use engine::model::breakpoint::{Binding, Breakpoint, BreakpointFate, BreakpointTarget, Pending, Rule};
use engine::model::ids::BreakpointId;
use engine::model::stop::End;
use engine::session::Session;
use engine::sources;

use super::functions::similar_functions;

/// The most that are listed.
const MOST: usize = 5;

/// A breakpoint that did not act in a run that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// Which.
    pub id: BreakpointId,
    /// Where it is, in short.
    pub label: String,
    /// What became of it.
    fate: UnreachedReason,
}

/// What became of a breakpoint that did not act.
#[derive(Clone, Debug, PartialEq, Eq)]
enum UnreachedReason {
    /// No function of that name was entered, with this rule.
    NotEntered(String),
    /// It was never bound, for this reason.
    NeverBound(String),
    /// It was never reached, with this rule.
    NeverReached(String),
}

impl Unreached {
    /// A sentence about it, in a vocabulary that has no ids.
    pub fn sentence(&self) -> String {
        match &self.fate {
            UnreachedReason::NotEntered(_) => self.fate.to_string(),
            fate => format!("the breakpoint at {} {fate}", self.label),
        }
    }
}

impl fmt::Display for UnreachedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEntered(text) => f.write_str(text),
            Self::NeverBound(reason) => write!(f, "was never bound: {reason}"),
            Self::NeverReached(rule) => write!(f, "was never reached{rule}"),
        }
    }
}

/// Names it by its id.
impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, label, fate } = self;
        match fate {
            UnreachedReason::NotEntered(_) => write!(f, "{id}: {fate}"),
            UnreachedReason::NeverBound(_) => write!(f, "{id} {fate}"),
            UnreachedReason::NeverReached(_) => write!(f, "{id} at {label} {fate}"),
        }
    }
}

/// The breakpoints that a run did not hit. Nothing if it was ended or detached early: it could still have hit them.
pub async fn unreached(session: &Session, end: &End) -> Vec<Unreached> {
    if !matches!(end, End::Exited(_) | End::Killed { by_us: false, .. } | End::Gone) {
        return Vec::new();
    }
    let breakpoints = session.breakpoints().await.unwrap_or_default();
    let mut unreached: Vec<Unreached> = breakpoints.iter().filter_map(unreached_breakpoint).collect();
    let not_entered =
        unreached.iter().take(MOST).filter(|one| matches!(one.fate, UnreachedReason::NotEntered(_)));
    let similar = similar_functions(session, not_entered.map(|one| one.label.as_str())).await;
    for one in &mut unreached {
        if let (UnreachedReason::NotEntered(text), Some(similar)) = (&mut one.fate, similar.get(&one.label)) {
            text.push_str(similar);
        }
    }
    unreached
}

/// Those that are listed, and how many more there are.
pub fn shown(unreached: &[Unreached]) -> (&[Unreached], usize) {
    let told = unreached.get(..MOST).unwrap_or(unreached);
    (told, unreached.len() - told.len())
}

/// A breakpoint whose condition failed was reached, and is reported with that.
fn unreached_breakpoint(breakpoint: &Breakpoint) -> Option<Unreached> {
    let Breakpoint { id, hits: 0, failures: None, enabled: true, .. } = breakpoint else { return None };
    let fate = match (&breakpoint.place, &breakpoint.fate) {
        // That a value did not change says nothing about where it was watched.
        (_, BreakpointFate::Unknown) | (BreakpointTarget::Data(_), _) => return None,
        (BreakpointTarget::Function { name }, fate) => {
            UnreachedReason::NotEntered(format!("{}{}", not_entered(name, fate), rule(&breakpoint.rule)))
        }
        (_, BreakpointFate::Unbound(reason)) if may_have_been_loaded(reason) => {
            UnreachedReason::NeverReached(rule(&breakpoint.rule))
        }
        (_, BreakpointFate::Unbound(reason) | BreakpointFate::Refused(reason)) => {
            UnreachedReason::NeverBound(reason.clone())
        }
        (BreakpointTarget::Line { .. }, BreakpointFate::Bound(_)) => {
            UnreachedReason::NeverReached(rule(&breakpoint.rule))
        }
    };
    Some(Unreached { id: *id, label: breakpoint.label(), fate })
}

/// A sentence about a place that a run was to stop at and did not.
pub(super) fn not_stopped_at(breakpoint: &Breakpoint) -> String {
    let what = match &breakpoint.place {
        BreakpointTarget::Line { path, line, .. } => {
            format!("line {} of {} was not reached", breakpoint.line().unwrap_or(*line), path.display())
        }
        BreakpointTarget::Function { name } => not_entered(name, &breakpoint.fate),
        BreakpointTarget::Data(data) => format!("`{}` was not accessed", data.expression),
    };
    let why = match (&breakpoint.place, &breakpoint.fate) {
        (_, BreakpointFate::Unbound(reason)) if may_have_been_loaded(reason) => String::new(),
        (
            BreakpointTarget::Line { .. },
            BreakpointFate::Unbound(reason) | BreakpointFate::Refused(reason),
        ) => {
            format!(": {reason}")
        }
        _ => String::new(),
    };
    format!("{what}{}{why}", rule(&breakpoint.rule))
}

/// Says why a breakpoint in a program that is elsewhere is not bound.
pub(super) fn never_bound(breakpoint: &Breakpoint) -> Option<String> {
    match &breakpoint.binding {
        Binding::Refused(reason) | Binding::Pending(Pending::NotLoaded(reason)) => {
            Some(format!("the breakpoint at {} is not bound: {reason}", breakpoint.label()))
        }
        Binding::Bound { .. } | Binding::Pending(_) => None,
    }
}

/// A program that ends abruptly takes along what it was about to say of the files that it has loaded.
fn may_have_been_loaded(reason: &str) -> bool {
    reason == sources::NOT_LOADED_YET
}

/// One that was not found may have been entered all the same.
fn not_entered(name: &str, fate: &BreakpointFate) -> String {
    let undefined = if is_unbound(fate) { ", and the loaded files define none" } else { "" };
    format!("no function `{name}` was entered{undefined}")
}

/// Whether a breakpoint is on a function that was not found, so that nothing else is to be said of it.
pub(super) fn is_on_unknown_function(breakpoint: &Breakpoint) -> bool {
    breakpoint.at_entry_of().is_some() && breakpoint.hits == 0 && is_unbound(&breakpoint.fate)
}

fn is_unbound(fate: &BreakpointFate) -> bool {
    matches!(fate, BreakpointFate::Unbound(_) | BreakpointFate::Refused(_))
}

/// What would have had to be true.
pub fn rule(rule: &Rule) -> String {
    let condition = rule.condition.as_ref();
    let condition = condition.map(|condition| format!(" with `{condition}` true")).unwrap_or_default();
    let hit = rule.hit_condition.as_ref();
    let hit = hit.map(|hit| format!(" often enough for `{hit}`")).unwrap_or_default();
    format!("{condition}{hit}")
}

#[cfg(test)]
mod tests {
    use engine::model::breakpoint::{AdjustedPosition, Failures};
    use engine::model::data_breakpoint::{DataAccess, DataTarget};
    use engine::model::ids::TargetId;

    use super::*;

    fn breakpoint(fate: BreakpointFate) -> Breakpoint {
        let place =
            BreakpointTarget::Line { path: "/src/app.js".into(), line: 10, column: None, anchor: None };
        Breakpoint {
            id: BreakpointId(2),
            place,
            rule: Rule::default(),
            enabled: true,
            planned: AdjustedPosition::default(),
            binding: Binding::Pending(Pending::NotStarted),
            fate,
            hits: 0,
            failures: None,
        }
    }

    #[test]
    fn an_unhit_breakpoint_is_reported_with_the_reason() {
        let unbound = || breakpoint(BreakpointFate::Unbound("the program has not loaded it".to_owned()));
        let bound = || breakpoint(BreakpointFate::Bound(None));
        let rule = Rule {
            condition: Some("x > 1".to_owned()),
            hit_condition: "% 5".parse().ok(),
            ..Rule::default()
        };
        let failures = Some(Failures { count: 1, message: "no".to_owned() });
        let planned = AdjustedPosition { line: Some(12), ..AdjustedPosition::default() };
        let watch = BreakpointTarget::Data(DataTarget {
            expression: "items".to_owned(),
            access: DataAccess::Write,
            target: TargetId::PROGRAM,
            data_id: "1".to_owned(),
        });
        let returned = breakpoint(BreakpointFate::Refused("its storage is gone".to_owned()));
        let table = [
            (unbound(), Some("bp-2 was never bound: the program has not loaded it")),
            (bound(), Some("bp-2 at app.js:10 was never reached")),
            (Breakpoint { planned, ..bound() }, Some("bp-2 at app.js:12 was never reached")),
            (
                Breakpoint { rule, ..bound() },
                Some("bp-2 at app.js:10 was never reached with `x > 1` true often enough for `% 5`"),
            ),
            (Breakpoint { hits: 1, ..bound() }, None),
            (Breakpoint { enabled: false, ..bound() }, None),
            (Breakpoint { failures, ..bound() }, None),
            (breakpoint(BreakpointFate::Unknown), None),
            (Breakpoint { place: watch, ..returned }, None),
        ];
        for (breakpoint, expected) in table {
            let told = unreached_breakpoint(&breakpoint).map(|unreached| unreached.to_string());
            assert_eq!(told.as_deref(), expected, "{breakpoint:?}");
        }
    }

    #[test]
    fn breakpoints_without_ids_are_named_by_location() {
        let unbound = unreached_breakpoint(&breakpoint(BreakpointFate::Unbound(
            "the program has not loaded it".to_owned(),
        )))
        .unwrap();
        let said = "the breakpoint at app.js:10 was never bound: the program has not loaded it";
        assert_eq!(unbound.sentence(), said);
    }

    #[test]
    fn five_are_listed_and_the_rest_counted() {
        let one = unreached_breakpoint(&breakpoint(BreakpointFate::Bound(None))).unwrap();
        let count = |of: usize| {
            let all = vec![one.clone(); of];
            let (told, more) = shown(&all);
            (told.len(), more)
        };
        assert_eq!((count(0), count(5), count(12)), ((0, 0), (5, 0), (5, 7)));
    }
}
