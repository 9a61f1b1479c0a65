//! Breakpoints, as a user asks for them and as they are bound.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::data_breakpoint::DataTarget;
use super::ids::BreakpointId;
use super::record::Record;

/// What a user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where.
    pub place: BreakpointTarget,
    /// Under which circumstances, and to what end.
    pub rule: Rule,
}

/// Where a breakpoint is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakpointTarget {
    /// On a line.
    Line {
        /// The file.
        path: PathBuf,
        /// 1-based, as requested.
        line: u32,
        /// 1-based, in UTF-16 units, as requested; none for the first code on the line.
        column: Option<u32>,
        /// What the line was found by; it is looked for again when the program is restarted.
        anchor: Option<Anchor>,
    },
    /// At the entry of a function.
    Function {
        /// Its name, with the class in front for a method.
        name: String,
    },
    /// At the storage of a value.
    Data(DataTarget),
}

impl BreakpointTarget {
    /// The name of the requested function, whether its place is known or not.
    pub fn function(&self) -> Option<&str> {
        match self {
            Self::Function { name } | Self::Line { anchor: Some(Anchor::Function(name)), .. } => Some(name),
            Self::Line { .. } | Self::Data(_) => None,
        }
    }
}

/// What a line is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its text, or part of it.
    Statement(String),
    /// It is the first of this function.
    Function(String),
}

/// The function that a breakpoint is bound in, where it was requested by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionLocation {
    /// Its file.
    pub file: PathBuf,
    /// The line with its name, 1-based; none if the debugger knows only where it stops.
    pub declared: Option<u32>,
}

/// Where a breakpoint will be set, if that differs from the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdjustedPosition {
    /// The line with the name of the requested function.
    pub declared: Option<u32>,
    /// On this line, because the requested one has no code.
    pub line: Option<u32>,
    /// At this column of the line asked for, because no code begins at the one asked for.
    pub column: Option<u32>,
    /// The columns of the line where code begins; only with `column`.
    pub columns: Vec<u32>,
}

/// When a breakpoint acts, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Only where this expression is true.
    pub condition: Option<String>,
    /// Only at these passes, counted among those where the condition is true.
    pub hit_condition: Option<HitCondition>,
    /// Print this, with `{expressions}` filled in, and do not stop.
    pub log_message: Option<String>,
    /// Record this, and do not stop.
    pub record: Option<Record>,
}

impl Rule {
    /// It stops at each hit where a condition is true; a blank condition is none.
    pub fn on(condition: Option<String>) -> Self {
        let condition = condition.filter(|condition| !condition.trim().is_empty());
        Self { condition, ..Self::default() }
    }

    /// It stops at each hit.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// What must be an expression.
    pub fn expressions(&self) -> impl Iterator<Item = &str> {
        let recorded = self.record.iter().flat_map(|record| &record.expressions);
        self.condition.iter().chain(recorded).map(String::as_str)
    }
}

/// At which passes a breakpoint acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitCondition {
    /// How the count is compared.
    pub operator: HitOperator,
    /// With what.
    pub count: u64,
}

impl HitCondition {
    /// Whether it is true at the hit of this number.
    pub fn is_met(self, hit: u64) -> bool {
        match self.operator {
            HitOperator::Equal => hit == self.count,
            HitOperator::Greater => hit > self.count,
            HitOperator::GreaterOrEqual => hit >= self.count,
            HitOperator::Less => hit < self.count,
            HitOperator::LessOrEqual => hit <= self.count,
            HitOperator::Multiple => hit.is_multiple_of(self.count),
        }
    }
}

/// How a count is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitOperator {
    /// Exactly at this pass.
    Equal,
    /// After it.
    Greater,
    /// At it and after it.
    GreaterOrEqual,
    /// Before it.
    Less,
    /// Up to it.
    LessOrEqual,
    /// At every Nth hit.
    Multiple,
}

impl HitOperator {
    /// As written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Multiple => "%",
        }
    }
}

impl fmt::Display for HitCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.operator.as_str(), self.count)
    }
}

/// The text is not a hit condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a number of hits: `5`, `== 5`, `> 5`, `>= 5`, `< 5`, `<= 5` or `% 5`")]
pub struct NotAHitCondition;

impl FromStr for HitCondition {
    type Err = NotAHitCondition;

    /// Reads `5`, `== 5`, `> 5`, `>= 5`, `< 5`, `<= 5` and `% 5`.
    fn from_str(text: &str) -> Result<Self, NotAHitCondition> {
        let text = text.trim();
        // The longer spellings come first, because the shorter ones are their beginnings.
        let operators = [
            ("==", HitOperator::Equal),
            (">=", HitOperator::GreaterOrEqual),
            ("<=", HitOperator::LessOrEqual),
            (">", HitOperator::Greater),
            ("<", HitOperator::Less),
            ("%", HitOperator::Multiple),
            ("", HitOperator::Equal),
        ];
        let (rest, operator) = operators
            .into_iter()
            .find_map(|(sign, operator)| Some((text.strip_prefix(sign)?, operator)))
            .ok_or(NotAHitCondition)?;
        let count = rest.trim().parse().map_err(|_| NotAHitCondition)?;
        if count == 0 && operator == HitOperator::Multiple {
            return Err(NotAHitCondition);
        }
        Ok(Self { operator, count })
    }
}

/// The state of one breakpoint in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Its name.
    pub id: BreakpointId,
    /// Where it was requested.
    pub place: BreakpointTarget,
    /// When it acts.
    pub rule: Rule,
    /// If not: it is kept, and not set.
    pub enabled: bool,
    /// Where it is set, if that differs.
    pub planned: AdjustedPosition,
    /// What became of it.
    pub binding: Binding,
    /// What became of it in a run that has ended.
    pub fate: BreakpointFate,
    /// How often it stopped the program or logged.
    pub hits: u64,
    /// Number of failures of its condition or log message, and the last one.
    pub failures: Option<Failures>,
}

/// What became of a breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Not bound yet, because there is no program, or its code is not known yet.
    Pending(Pending),
    /// Bound to this line. It differs from the requested one if that has no code.
    Bound {
        /// 1-based; `None` for a function whose line is not known before it is entered.
        line: Option<u32>,
        /// 1-based; `None` where the debugger has no columns.
        column: Option<u32>,
        /// The columns of that line where code begins, if the requested one is none of them.
        columns: Vec<u32>,
        /// Why the location may be wrong.
        warning: Option<String>,
        /// The function, if only its name was requested.
        function: Option<FunctionLocation>,
    },
    /// It cannot be set.
    Refused(String),
}

/// What became of a breakpoint in a run that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BreakpointFate {
    /// There was no such run, or it had nothing to say.
    #[default]
    Unknown,
    /// It was bound, on this line and column where these are known.
    Bound(Option<(u32, Option<u32>)>),
    /// It never was, for this reason.
    Unbound(String),
    /// It could not be, for this reason.
    Refused(String),
}

/// Why a breakpoint is not bound yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// No program runs.
    NotStarted,
    /// It is switched off.
    Disabled,
    /// The debugger is receiving it.
    Underway,
    /// The program runs, and its debugger is gone.
    Undebugged,
    /// The debugger waits for the code to be loaded.
    NotLoaded(String),
}

/// Conditions or log messages that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    /// How often.
    pub count: u64,
    /// The language's message at the last time.
    pub message: String,
}

impl Breakpoint {
    /// Whether it was bound to a place.
    pub fn is_verified(&self) -> bool {
        matches!(self.binding, Binding::Bound { .. })
    }

    /// The name of the requested function, whether its place is known or not.
    pub fn function(&self) -> Option<&str> {
        self.place.function()
    }

    /// The function at whose entry the debugger sets it, by name.
    pub fn at_entry_of(&self) -> Option<&str> {
        match &self.place {
            BreakpointTarget::Function { name } => Some(name),
            BreakpointTarget::Line { .. } | BreakpointTarget::Data(_) => None,
        }
    }

    /// What it watches.
    pub fn data(&self) -> Option<&DataTarget> {
        match &self.place {
            BreakpointTarget::Data(data) => Some(data),
            _ => None,
        }
    }

    /// The text by which its line was found.
    pub fn statement(&self) -> Option<&str> {
        match &self.place {
            BreakpointTarget::Line { anchor: Some(Anchor::Statement(text)), .. } => Some(text),
            _ => None,
        }
    }

    /// The line that it was requested on.
    pub fn requested_line(&self) -> Option<u32> {
        match &self.place {
            BreakpointTarget::Line { line, .. } => Some(*line),
            BreakpointTarget::Function { .. } | BreakpointTarget::Data(_) => None,
        }
    }

    /// The line that it is on, or will be, as far as is known.
    pub fn line(&self) -> Option<u32> {
        match (&self.binding, &self.fate) {
            (Binding::Bound { line: Some(line), .. }, _)
            | (Binding::Pending(_), BreakpointFate::Bound(Some((line, _)))) => Some(*line),
            _ => self.planned.line.or_else(|| self.requested_line()),
        }
    }

    /// The line with the name of the requested function, while it is bound; its own line where that is not known.
    pub fn declared_line(&self) -> Option<u32> {
        let Binding::Bound { line, function, .. } = &self.binding else { return None };
        self.function()?;
        let declared = function.as_ref().and_then(|function| function.declared);
        declared.or(self.planned.declared).or(*line)
    }

    /// The column that it was requested at.
    pub fn requested_column(&self) -> Option<u32> {
        match &self.place {
            BreakpointTarget::Line { column, .. } => *column,
            BreakpointTarget::Function { .. } | BreakpointTarget::Data(_) => None,
        }
    }

    /// The column that it is at, or will be, as far as is known; only when one was requested.
    pub fn column(&self) -> Option<u32> {
        let asked = self.requested_column()?;
        match (&self.binding, &self.fate) {
            (Binding::Bound { column: Some(column), .. }, _)
            | (Binding::Pending(_), BreakpointFate::Bound(Some((_, Some(column))))) => Some(*column),
            _ => self.planned.column.or(Some(asked)),
        }
    }

    /// The columns of its line where code begins, if the requested one is none of them.
    pub fn columns(&self) -> &[u32] {
        match &self.binding {
            Binding::Bound { columns, .. } if !columns.is_empty() => columns,
            _ => &self.planned.columns,
        }
    }

    /// Why the place that it is bound to may not be the intended one.
    pub fn warning(&self) -> Option<&str> {
        match &self.binding {
            Binding::Bound { warning, .. } => warning.as_deref(),
            _ => None,
        }
    }

    /// Where it is, in short: `app.py:22`, or the name of its function.
    pub fn label(&self) -> String {
        match &self.place {
            BreakpointTarget::Line { path, line, .. } => {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                format!("{file}:{}", self.line().unwrap_or(*line))
            }
            BreakpointTarget::Function { name } => name.clone(),
            BreakpointTarget::Data(data) => data.expression.clone(),
        }
    }

    /// The file that it was requested in.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            BreakpointTarget::Line { path, .. } => Some(path),
            BreakpointTarget::Function { .. } | BreakpointTarget::Data(_) => None,
        }
    }

    /// The file that it is in, as far as that is known: a function that was requested by name has one once it is bound.
    pub fn file(&self) -> Option<&Path> {
        match &self.binding {
            Binding::Bound { function: Some(function), .. } => Some(&function.file),
            _ => self.path(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_conditions_are_parsed_and_printed() {
        let table = [
            ("5", Some("== 5")),
            (" ==5 ", Some("== 5")),
            (">= 10", Some(">= 10")),
            ("<=3", Some("<= 3")),
            (">2", Some("> 2")),
            ("< 2", Some("< 2")),
            ("% 100", Some("% 100")),
            ("%0", None),
            ("", None),
            ("abc", None),
            ("-1", None),
            ("=> 5", None),
            ("5.5", None),
        ];
        for (text, expected) in table {
            let read = text.parse::<HitCondition>().ok().map(|condition| condition.to_string());
            assert_eq!(read.as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn breakpoint_ids_are_parsed_with_and_without_prefix() {
        assert_eq!("bp-7".parse(), Ok(BreakpointId(7)));
        assert_eq!("7".parse(), Ok(BreakpointId(7)));
        assert!("bp-".parse::<BreakpointId>().is_err());
    }
}
