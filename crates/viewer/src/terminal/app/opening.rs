//! Things shown whole.

use super::super::view::{DetailForm, Overlay, Pane};
use super::App;
use crate::moment::{ComparedVariable, Moment};
use crate::readable::readable;
use crate::timeline::Filter;
use crate::words;

/// How many lines are shown.
const LINES: usize = 20_000;

impl App {
    /// Shows the selection in full, or its raw journal entry. In the sessions, shows the selected one alone, or all
    /// again.
    pub(super) fn open(&mut self, is_raw: bool) {
        let moment = self.moment.as_ref().map(|(_, _, moment)| moment).filter(|_| !is_raw);
        let (title, lines) = match (self.focus, moment) {
            (Pane::Sessions, _) if !is_raw => return self.open_session(),
            (Pane::Variables, Some(moment)) if !moment.variables.is_empty() => {
                ("Variables", variables(&moment.variables, 1))
            }
            (Pane::Stack, Some(moment)) if !moment.stack.is_empty() => ("Stack", stack(moment)),
            (Pane::Output, Some(moment)) if !moment.output.is_empty() => ("Output", output(moment)),
            _ => return self.open_entry(is_raw),
        };
        self.overlay =
            Overlay::Detail { title: title.to_owned(), lines, form: DetailForm::Readable, scroll: 0 };
    }

    /// Opens or closes what is chosen, in place.
    pub(super) fn toggle(&mut self) {
        if self.focus != Pane::Variables {
            return self.toggle_call();
        }
        let Some((path, (_, _, moment))) = self.chosen_value.clone().zip(self.moment.as_ref()) else {
            return;
        };
        let mut rows = moment.value_rows(&self.open_values).into_iter();
        match rows.find(|row| row.path == path).and_then(|row| row.is_open) {
            Some(true) => drop(self.open_values.remove(&path)),
            Some(false) => drop(self.open_values.insert(path)),
            None => self.notice = Some("the journal has no children of this value".to_owned()),
        }
    }

    fn open_session(&mut self) {
        let chosen = self.session_cursor.clone();
        let session = chosen.filter(|id| self.rows.filter().session.as_ref() != Some(id));
        self.show(Filter { session, ..self.rows.filter().clone() });
    }

    fn open_entry(&mut self, is_raw: bool) {
        let Some(number) = self.row().and_then(|row| self.rows.get(row)) else { return };
        let (lines, form) = if is_raw {
            (words::whole(&self.log, number), DetailForm::Json)
        } else {
            (readable(&self.log, number, &self.clock), DetailForm::Readable)
        };
        let title = format!("Entry {} of {}", number + 1, self.log.len());
        self.overlay = Overlay::Detail { title, lines, form, scroll: 0 };
    }
}

/// Variables with their parts.
fn variables(all: &[ComparedVariable], indent: usize) -> Vec<String> {
    let lines = all.iter().flat_map(|seen| {
        let variable = &seen.variable;
        let type_name = Some(&variable.type_name).filter(|name| !name.is_empty());
        let type_name = type_name.map(|name| format!(": {name}")).unwrap_or_default();
        let column = indent * 2;
        let line = format!("{:column$}{}{type_name} = {}", "", variable.name, variable.value);
        let before = seen.before.as_ref().map(|before| format!("{:column$}  was {before}", ""));
        let more = (seen.more > 0).then(|| format!("{:column$}  and {} more", "", seen.more));
        let parts = variables(&seen.parts, indent + 1);
        std::iter::once(line).chain(before).chain(parts).chain(more).collect::<Vec<_>>()
    });
    lines.collect()
}

fn stack(moment: &Moment) -> Vec<String> {
    moment.stack.iter().map(|frame| format!("  {}  {}:{}", frame.function, frame.file, frame.line)).collect()
}

fn output(moment: &Moment) -> Vec<String> {
    let lines = moment.output_lines().into_iter().map(|line| match line.category {
        Some(category) => format!("  {category}: {}", line.text),
        None => format!("── {}", line.text),
    });
    lines.take(LINES).collect()
}
