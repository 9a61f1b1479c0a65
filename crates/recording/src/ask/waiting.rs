//! Calls that were suspended when the run ended.

use std::collections::{HashMap, HashSet};

use super::statement;
use crate::error::Result;
use crate::moment::UNSETTLED;
use crate::reading::{Code, Recording, list};
use crate::value::What;

/// How many events at the end of a recording are searched to find where calls were suspended.
const MOST_EVENTS: i64 = 200_000;

/// How many calls are named.
const MOST: usize = 3;

impl Recording {
    /// Calls that were in an `await` when the run ended, each as a line: those that others waited for, innermost first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn waiting(&self) -> Result<Vec<String>> {
        let open = self.rows("SELECT id, caller FROM calls WHERE ended IS NULL", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let open: HashMap<i64, i64> = open.into_iter().collect();
        let mut left: HashSet<i64> = open.keys().copied().collect();
        let since = self.last_event()? - MOST_EVENTS;
        let mut suspended = Vec::new();
        self.find_event_where("WHERE id > ? ORDER BY id DESC", [since], |event| {
            if left.remove(&event.call) && event.what == What::Yield {
                suspended.push(*event);
            }
            Ok(left.is_empty())
        })?;
        suspended
            .retain(|event| self.statement_of(event).is_some_and(|text| statement::has_word(&text, "await")));
        let callers: HashSet<i64> =
            suspended.iter().filter_map(|event| open.get(&event.call)).copied().collect();
        // Nothing records that an exception leaves a module where it waits.
        let may_have_left = self.fact("end")? != UNSETTLED && self.unhandled()?.is_some();
        let modules = if may_have_left { self.codes_where(Code::is_module) } else { Vec::new() };
        let of_modules = format!("SELECT id FROM calls WHERE ended IS NULL AND code IN ({})", list(&modules));
        let of_modules = self.rows(&of_modules, [], |row| row.get::<_, i64>(0))?;
        suspended.retain(|event| !callers.contains(&event.call) && !of_modules.contains(&event.call));
        suspended.reverse();
        let mut lines = Vec::new();
        for event in suspended.iter().take(MOST) {
            let from = self.callers_text(&self.stack(event)?).map(|callers| format!(", {callers}"));
            let place = self.place_text(event.place);
            lines.push(format!("still waiting: {place} (event {}){}", event.id, from.unwrap_or_default()));
        }
        let more = suspended.len().saturating_sub(MOST);
        if more > 0 {
            lines.push(format!("still waiting: {more} more"));
        }
        Ok(lines)
    }
}
