//! Things shown whole.

use super::super::view::{Overlay, Pane};
use super::App;
use crate::moment::Moment;
use crate::timeline::Filter;
use crate::words;

/// How many lines are shown.
const LINES: usize = 20_000;

impl App {
    /// Shows what is chosen, whole. In the sessions, shows the chosen one alone, or all again.
    pub(super) fn open(&mut self) {
        let moment = self.moment.as_ref().map(|(_, _, moment)| moment);
        let (title, lines) = match (self.focus, moment) {
            (Pane::Sessions, _) => return self.open_session(),
            (Pane::Variables, Some(moment)) if !moment.variables.is_empty() => {
                ("Variables", variables(moment))
            }
            (Pane::Stack, Some(moment)) if !moment.stack.is_empty() => ("Stack", stack(moment)),
            (Pane::Output, Some(moment)) if !moment.output.is_empty() => ("Output", output(moment)),
            _ => return self.open_entry(),
        };
        self.overlay = Overlay::Detail { title: title.to_owned(), lines, is_json: false, scroll: 0 };
    }

    fn open_session(&mut self) {
        let chosen = self.session_cursor.clone();
        let session = chosen.filter(|id| self.rows.filter().session.as_ref() != Some(id));
        self.show(Filter { session, ..self.rows.filter().clone() });
    }

    fn open_entry(&mut self) {
        let Some(number) = self.row().and_then(|row| self.rows.get(row)) else { return };
        let lines = words::whole(&self.log, number);
        let time = self.log.summary(number).map_or(0, |summary| summary.timestamp);
        let title = format!("Entry {} of {}, {}", number + 1, self.log.len(), self.clock.moment(time));
        self.overlay = Overlay::Detail { title, lines, is_json: true, scroll: 0 };
    }
}

fn variables(moment: &Moment) -> Vec<String> {
    let lines = moment.variables.iter().flat_map(|seen| {
        let variable = &seen.variable;
        let type_name = Some(&variable.type_name).filter(|name| !name.is_empty());
        let type_name = type_name.map(|name| format!(": {name}")).unwrap_or_default();
        let line = format!("{}{type_name} = {}", variable.name, variable.value);
        let before = seen.before.as_ref();
        [Some(line), before.map(|before| format!("  was {before}"))].into_iter().flatten()
    });
    lines.collect()
}

fn stack(moment: &Moment) -> Vec<String> {
    moment.stack.iter().map(|frame| format!("{}  {}:{}", frame.function, frame.file, frame.line)).collect()
}

fn output(moment: &Moment) -> Vec<String> {
    let lines = moment.output_lines().into_iter().map(|line| match line.category {
        Some(category) => format!("{category}: {}", line.text),
        None => format!("── {}", line.text),
    });
    lines.take(LINES).collect()
}
