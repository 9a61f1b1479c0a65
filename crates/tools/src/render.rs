//! From what the engine gives to the data of answers. Pure: nothing here waits or asks.

mod breakpoint;
mod hang;
mod json;
mod report;
mod strings;
mod test;
mod trace;
mod traces;
mod trigger;
mod variable;

use std::fmt::Write;

use engine::model::ids::Reference;
use engine::model::source::Location;
use engine::model::stack::StackFrame;
use engine::output::Excerpt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use breakpoint::{BreakpointData, failed, unbound};
pub use hang::{HangReport, LoopData, PlaceData, WaitData};
pub use json::plain;
pub use report::{
    CallerData, ExceptionData, LocationData, StopReport, after, describe_stop, more, with_failures,
};
pub use strings::unquoted;
pub use test::{
    AssertionData, BriefData, CapturedData, CountsData, FailureData, HangData, Shown, SideData, TestData,
};
pub use trace::{CellData, OmittedRows, PointData, RowArguments, RowData, Totals, TraceReport};
pub use traces::detailed;
pub use trigger::TriggerReport;
pub use variable::{ValueData, ValueReadInfo, VariableData, expression_value, variables};

/// A frame of a stack.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct FrameData {
    /// Valid until the program resumes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The function.
    pub name: String,
    /// Absolute path, or a name for code without a file.
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based.
    pub column: u32,
    /// Location of the generated code that runs, if this file was compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<GeneratedData>,
    /// Belongs to a library or to the runtime.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub internal: bool,
}

impl From<&StackFrame<Reference>> for FrameData {
    fn from(frame: &StackFrame<Reference>) -> Self {
        let location = frame.location.as_ref();
        Self {
            id: Some(frame.id.0),
            name: frame.name.clone(),
            file: location.map(|location| location.source.name.clone()).unwrap_or_default(),
            line: location.map_or(0, |location| location.line),
            column: location.map_or(0, |location| location.column),
            generated: location.and_then(GeneratedData::of),
            internal: frame.is_internal(),
        }
    }
}

/// A place in a script that a compiler made.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GeneratedData {
    /// Absolute path of the script, or the debugger's name for it.
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based.
    pub column: u32,
}

impl GeneratedData {
    /// That of a place, when there is one.
    pub fn of(location: &Location) -> Option<Self> {
        let generated = location.generated.as_ref()?;
        Some(Self { file: generated.script.clone(), line: generated.line, column: generated.column })
    }
}

/// A line of source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LineData {
    /// 1-based.
    pub line: u32,
    /// Text.
    pub content: String,
}

/// The lines from `line - around` to `line + around`.
pub fn surrounding(lines: &[String], line: u32, around: u32) -> Vec<LineData> {
    let window = line.saturating_sub(around)..=line.saturating_add(around);
    (1..)
        .zip(lines)
        .filter(|(number, _)| window.contains(number))
        .map(|(line, content)| LineData { line, content: content.clone() })
        .collect()
}

/// Source for a model to read: numbered, with `>` at the current line.
pub fn window(lines: &[(u32, String)], current: u32) -> String {
    let width = lines.last().map_or(1, |(line, _)| line.to_string().len());
    let mut text = String::new();
    for (line, content) in lines {
        let mark = if *line == current { '>' } else { ' ' };
        text.push_str(format!("{mark} {line:>width$} | {content}").trim_end());
        text.push('\n');
    }
    text
}

/// Output in one text, each line whole; pieces that are not the program's standard output are labelled.
pub fn output_text(excerpt: &Excerpt) -> String {
    use engine::output::Category;
    let mut text = String::new();
    for piece in &excerpt.clone().with_whole_lines().pieces {
        if piece.category != Category::Stdout {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            let _ = write!(text, "[{}] ", piece.category);
        }
        text.push_str(&piece.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use engine::output::{Category, Output};

    use super::*;

    #[test]
    fn source_window_marks_the_line_and_aligns_numbers() {
        let lines = [(9, "a = 1".to_owned()), (10, String::new()), (11, "  b".to_owned())];
        assert_eq!(window(&lines, 11), "   9 | a = 1\n  10 |\n> 11 |   b\n");
        assert_eq!(window(&[], 1), "");
    }

    #[test]
    fn surrounding_lines_stay_inside_the_file() {
        let lines: Vec<String> = (1..=4).map(|line| line.to_string()).collect();
        let numbers =
            |line, around| surrounding(&lines, line, around).iter().map(|line| line.line).collect::<Vec<_>>();
        assert_eq!(numbers(1, 2), [1, 2, 3]);
        assert_eq!(numbers(4, 1), [3, 4]);
        assert_eq!(numbers(9, 2), [0; 0]);
        assert_eq!(numbers(2, u32::MAX), [1, 2, 3, 4]);
    }

    #[test]
    fn output_is_labelled_unless_it_is_standard_output() {
        let output = Output::new();
        output.append(Category::Stdout, "one");
        output.append(Category::Stderr, "two\n");
        output.append(Category::Log, "three\n");
        assert_eq!(output_text(&output.read(0, 100)), "one\n[stderr] two\n[log] three\n");
        output.append(Category::Stdout, " and a half\n");
        assert_eq!(output_text(&output.read(0, 100)), "one and a half\n[stderr] two\n[log] three\n");
    }
}
