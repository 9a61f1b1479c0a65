//! The output of `trace`: a table that fits the terminal.

use std::fmt::Write;

use engine::model::stop::headline;
use tools::render::{CellData, PointData, RowData, TraceReport};
use unicode_width::UnicodeWidthStr;

use crate::probe::report::short;
use crate::terminal::{
    self, BAD, FAINT, GOOD, HEADING, PLACE, WARN, WIDTH, fit, styled, truncate_start, wrapped,
};

/// No column is made narrower than this.
const NARROWEST: usize = 6;
/// Between two columns.
const GAP: &str = "  ";

/// The places, the table, and what else there is to know.
pub(super) fn to_text(report: &TraceReport) -> String {
    let mut text = String::new();
    for point in &report.points {
        text.push_str(&place(point, report.points.len() > 1));
    }
    text.push_str(&Table::of(report).text(report));
    let is_good = !report.rows.is_empty() && report.ended_by != "stop";
    text.push_str(&styled(if is_good { GOOD } else { WARN }, wrapped(&report.report.message, "")));
    if let Some(exception) = &report.report.exception {
        text.push_str(&styled(
            BAD,
            wrapped(&headline(&exception.type_name, exception.message.as_deref().unwrap_or_default()), ""),
        ));
    }
    let output = terminal::output(&report.report.output);
    if !output.is_empty() {
        let _ = write!(text, "{}\n{output}", styled(HEADING, "output"));
    }
    let of_points =
        report.points.iter().flat_map(|point| point.failure.iter().map(failure).chain(point.notes.clone()));
    for note in of_points.chain(report.report.notes.iter().cloned()) {
        text.push_str(&styled(WARN, wrapped(&format!("note: {note}"), "")));
    }
    text
}

fn failure(failure: &String) -> String {
    format!("the condition failed {failure}")
}

fn place(point: &PointData, is_numbered: bool) -> String {
    let number = if is_numbered { format!("{} ", point.point) } else { String::new() };
    let place = match (&point.function, point.line) {
        (Some(function), _) => function.clone(),
        (None, line) => format!("{}:{}", short(&point.file), line.unwrap_or_default()),
    };
    let line = point.text.as_deref().unwrap_or_default();
    let place = truncate_start(&place, WIDTH - number.width());
    let room = WIDTH.saturating_sub(number.width() + place.width() + GAP.len());
    if room < NARROWEST * 2 {
        return format!("{number}{}\n", styled(PLACE, place));
    }
    format!("{number}{}{GAP}{}\n", styled(PLACE, place), styled(FAINT, fit(line, room)))
}

/// Columns of text. The first ones are numbers, and as wide as they need to be.
struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<(String, bool)>>,
    numbers: usize,
}

impl Table {
    /// With one place each expression has a column; with several, they are named in each row.
    fn of(report: &TraceReport) -> Self {
        let has = |one: fn(&RowData) -> bool| report.rows.iter().any(one);
        let (points, threads, pids) =
            (has(|row| row.point.is_some()), has(|row| row.thread.is_some()), has(|row| row.pid.is_some()));
        let mut heads = vec!["hit".to_owned(), "ms".to_owned()];
        heads.extend(points.then(|| "at".to_owned()));
        heads.extend(pids.then(|| "process".to_owned()));
        let numbers = heads.len();
        heads.extend(threads.then(|| "thread".to_owned()));
        let named = report.points.len() > 1;
        match report.points.first() {
            Some(point) if !named => heads.extend(point.expressions.iter().cloned()),
            _ => heads.push("values".to_owned()),
        }
        let row = |row: &RowData| {
            let plain = |text: String| (text, false);
            let mut cells = vec![plain(row.hit.to_string()), plain(format!("{:.3}", row.time))];
            cells.extend(row.point.map(|point| plain(point.to_string())));
            cells.extend(pids.then(|| plain(row.pid.map(|pid| pid.to_string()).unwrap_or_default())));
            cells.extend(threads.then(|| plain(row.thread.clone().unwrap_or_default())));
            if named {
                cells.push(together(row, report));
            } else {
                cells.extend(row.values.iter().enumerate().map(|(at, cell)| {
                    let name = report.points.first().and_then(|point| point.expressions.get(at));
                    shown(name.map_or("", String::as_str), cell)
                }));
            }
            cells
        };
        Self { heads, rows: report.rows.iter().map(row).collect(), numbers }
    }

    fn text(&self, report: &TraceReport) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let widths = self.widths();
        let mut text = String::new();
        let heads: Vec<(String, bool)> = self.heads.iter().map(|head| (head.clone(), false)).collect();
        let _ = writeln!(text, "{}", styled(HEADING, self.line(&heads, &widths)));
        let cut_after = report.omitted.as_ref().map(|omitted| (omitted.from - 1, omitted.count));
        for (at, row) in self.rows.iter().enumerate() {
            if let Some((_, count)) = cut_after.filter(|(after, _)| *after == at) {
                let _ = writeln!(text, "{}", styled(FAINT, format_args!("… {count} rows")));
            }
            let _ = writeln!(text, "{}", self.line(row, &widths));
        }
        text
    }

    /// The widest columns give way until all fit.
    fn widths(&self) -> Vec<usize> {
        let natural = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.width());
            cells.chain(self.heads.get(column).map(|head| head.width())).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.heads.len()).map(natural).collect();
        let room = WIDTH.saturating_sub(GAP.len() * widths.len().saturating_sub(1));
        while widths.iter().sum::<usize>() > room
            && let Some(widest) = widths.iter_mut().skip(self.numbers).max_by_key(|width| **width)
            && *widest > NARROWEST
        {
            *widest -= 1;
        }
        widths
    }

    fn line(&self, cells: &[(String, bool)], widths: &[usize]) -> String {
        let cell = |(at, ((text, is_error), width)): (usize, (&(String, bool), &usize))| {
            let text = fit(text, *width);
            let gap = " ".repeat(width.saturating_sub(text.width()));
            match (at < self.numbers, is_error) {
                (true, _) => format!("{gap}{text}"),
                (false, true) => format!("{}{gap}", styled(BAD, text)),
                (false, false) => format!("{text}{gap}"),
            }
        };
        let cells: Vec<String> = cells.iter().zip(widths).enumerate().map(cell).collect();
        cells.join(GAP).trim_end().to_owned()
    }
}

fn shown(name: &str, cell: &CellData) -> (String, bool) {
    let value = cell.value.as_deref().map(|value| terminal::value(name, cell.type_name.as_deref(), value));
    match (value, &cell.error) {
        (Some(value), _) if cell.truncated && !value.ends_with("...") => (format!("{value}…"), false),
        (Some(value), _) => (value.to_owned(), false),
        (None, error) => (error.clone().unwrap_or_default(), true),
    }
}

/// All values of a row, with their names.
fn together(row: &RowData, report: &TraceReport) -> (String, bool) {
    let point = report.points.iter().find(|point| Some(point.point) == row.point);
    let names = point.map(|point| point.expressions.as_slice()).unwrap_or_default();
    let named = names.iter().zip(&row.values).map(|(name, cell)| format!("{}={}", name, shown(name, cell).0));
    (named.collect::<Vec<_>>().join(GAP), row.values.iter().all(|cell| cell.error.is_some()))
}
