//! The sessions of a journal, kept up as entries come at both ends.

use std::collections::HashMap;

use super::indexing::Indexer;
use super::records::{Detail, NONE, Record};
use super::{Kind, LOST, LoggedSession, servers};
use crate::plain;

/// In the order of their first entries.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: Vec<LoggedSession>,
    /// Their numbers in [`super::names::Names`].
    numbers: Vec<u32>,
    /// The place of each number in `known`.
    places: Vec<Option<usize>>,
    /// A later entry has set the state.
    is_settled: Vec<bool>,
    is_sorted: bool,
    /// What the journal says of those that are taken for lost.
    lost: HashMap<u32, &'static str>,
}

impl Sessions {
    pub(super) fn all(&self) -> &[LoggedSession] {
        &self.known
    }

    /// The place of a session.
    pub(super) fn place(&self, number: u32) -> Option<usize> {
        *self.places.get(usize::try_from(number).ok()?)?
    }

    /// The number of the session at a place.
    pub(super) fn number(&self, place: usize) -> u32 {
        self.numbers.get(place).copied().unwrap_or(NONE)
    }

    /// An entry was added at the end.
    pub(super) fn push_back(&mut self, number: usize, record: &Record, indexer: &Indexer) {
        self.find_again(record.session);
        let Some((known, is_settled)) = self.of(number, record, indexer) else { return };
        known.last = number;
        if let Some(state) = state(record)
            && (known.state != "closed" || record.kind == Kind::Created)
        {
            known.state = state;
            *is_settled = true;
        }
    }

    /// All numbers have moved up, because this many older entries were added.
    pub(super) fn move_up(&mut self, count: usize) {
        for known in &mut self.known {
            known.first += count;
            known.last += count;
        }
    }

    /// An older entry was added before the others.
    pub(super) fn push_front(&mut self, number: usize, record: &Record, indexer: &Indexer) {
        self.is_sorted = false;
        let Some((known, is_settled)) = self.of(number, record, indexer) else { return };
        known.first = number;
        if let Some(state) = state(record)
            && (!*is_settled || state == "closed")
        {
            known.state = state;
            *is_settled = true;
        }
    }

    /// An entry turned out to be of a session.
    pub(super) fn begins(&mut self, session: u32, number: usize) {
        let known = self.place(session).and_then(|place| self.known.get_mut(place));
        if let Some(known) = known.filter(|known| number < known.first) {
            known.first = number;
            self.is_sorted = false;
        }
    }

    /// The oldest entries were forgotten: all numbers have moved down.
    pub(super) fn forget(&mut self, count: usize) {
        let mut kept: Vec<_> =
            std::mem::take(&mut self.known).into_iter().zip(self.numbers.drain(..)).collect();
        kept.retain(|(known, _)| known.last >= count);
        for (known, _) in &mut kept {
            known.first = known.first.saturating_sub(count);
            known.last -= count;
        }
        self.places.fill(None);
        self.replace(kept);
    }

    /// Checks whether the servers of running sessions still exist; `time` is that of an entry. Returns whether one
    /// was lost.
    pub(super) fn look_for_servers(&mut self, time: impl Fn(usize) -> i64) -> bool {
        let mut is_lost = false;
        for (known, number) in self.known.iter_mut().zip(&self.numbers) {
            let goes_on = matches!(known.state, "created" | "paused" | "running");
            if let Some(server) = known.server.filter(|_| goes_on)
                && servers::is_gone(server, time(known.last))
            {
                self.lost.insert(*number, known.state);
                known.state = LOST;
                is_lost = true;
            }
        }
        is_lost
    }

    /// A session that was considered lost continues: the clock was set, so that its server seemed to be another
    /// process.
    fn find_again(&mut self, session: u32) {
        let told = self.lost.remove(&session);
        let known = self.place(session).and_then(|place| self.known.get_mut(place));
        if let Some((told, known)) = told.zip(known) {
            known.state = told;
        }
    }

    /// Puts them in order, after entries were put in front.
    pub(super) fn sort(&mut self) {
        if !std::mem::replace(&mut self.is_sorted, true) {
            let mut all: Vec<_> =
                std::mem::take(&mut self.known).into_iter().zip(self.numbers.drain(..)).collect();
            all.sort_by_key(|(known, _)| known.first);
            self.replace(all);
        }
    }

    fn replace(&mut self, all: Vec<(LoggedSession, u32)>) {
        (self.known, self.numbers) = all.into_iter().unzip();
        for (place, number) in self.numbers.iter().enumerate() {
            let slot = usize::try_from(*number).ok().and_then(|number| self.places.get_mut(number));
            if let Some(slot) = slot {
                *slot = Some(place);
            }
        }
    }

    fn of(
        &mut self,
        number: usize,
        record: &Record,
        indexer: &Indexer,
    ) -> Option<(&mut LoggedSession, &mut bool)> {
        if record.session == NONE {
            return None;
        }
        let index = usize::try_from(record.session).ok()?;
        if self.places.len() <= index {
            self.places.resize(index + 1, None);
            self.is_settled.resize(index + 1, false);
        }
        let is_new = self.places.get(index) == Some(&None);
        if is_new {
            *self.places.get_mut(index)? = Some(self.known.len());
            self.numbers.push(record.session);
            self.known.push(LoggedSession {
                id: String::new(),
                name: String::new(),
                language: String::new(),
                first: number,
                last: number,
                state: "created",
                server: None,
            });
        }
        let known = self.known.get_mut((*self.places.get(index)?)?)?;
        if is_new || matches!(record.kind, Kind::Created | Kind::State) {
            indexer.with_names(|names| {
                if let Some(found) = names.get(record.session) {
                    known.id.clone_from(&found.id);
                    found.shown().clone_into(&mut known.name);
                    known.language.clone_from(&found.language);
                    known.server = found.server;
                }
            });
        }
        Some((known, self.is_settled.get_mut(index)?))
    }
}

fn state(record: &Record) -> Option<&'static str> {
    match (record.kind, record.detail) {
        (Kind::Created, _) => Some("created"),
        (Kind::Closed, _) => Some("closed"),
        (_, Detail::Paused | Detail::Thrown) => Some("paused"),
        (_, Detail::Running) => Some("running"),
        (_, Detail::Stopped) => Some("stopped"),
        _ => None,
    }
}

/// How many sessions an error lists.
const LISTED: usize = 20;

/// The place of a session that a person names; else what to say.
pub(super) fn find(all: &[LoggedSession], wanted: &str) -> Result<usize, String> {
    if all.is_empty() {
        return Err("the journal has no sessions; for another journal, use --log-file".to_owned());
    }
    let last = |is_meant: &dyn Fn(&LoggedSession) -> bool| all.iter().rposition(is_meant);
    let exact = last(&|known| known.id == wanted).or_else(|| last(&|known| known.name == wanted));
    if let Some(place) = exact.or_else(|| (wanted == "last").then_some(all.len() - 1)) {
        return Ok(place);
    }
    let mut begins = all.iter().enumerate().filter(|(_, known)| known.id.starts_with(wanted));
    match (begins.next(), begins.next()) {
        (Some((place, _)), None) if !wanted.is_empty() => Ok(place),
        (Some(_), Some(_)) if !wanted.is_empty() => {
            let meant = all.iter().filter(|known| known.id.starts_with(wanted));
            Err(format!("several session IDs begin with `{}`:\n{}", plain::line(wanted), listed(meant)))
        }
        _ => Err(format!(
            "no session `{}`; give an ID or its beginning, a name, or `last`. Sessions:\n{}",
            plain::line(wanted),
            listed(all.iter())
        )),
    }
}

/// The newest first.
fn listed<'a>(all: impl DoubleEndedIterator<Item = &'a LoggedSession> + Clone) -> String {
    let mut lines: Vec<String> = all
        .clone()
        .rev()
        .take(LISTED)
        .map(|known| {
            let [id, name, language] =
                [&known.id, &known.name, &known.language].map(|text| plain::line(text));
            format!("  {id}  {name} ({language}, {})", known.state)
        })
        .collect();
    let count = all.count();
    if count > LISTED {
        lines.push(format!("  and {} older ones", count - LISTED));
    }
    lines.join("\n")
}
