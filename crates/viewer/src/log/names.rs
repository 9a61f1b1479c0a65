//! The sessions that entries name, as numbers.

use std::borrow::Cow;
use std::collections::HashMap;

use super::scan::Scan;

/// Every session that an entry was found of, in the order of finding.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<Box<[u8]>, u32>,
    all: Vec<Name>,
}

/// What entries say about their session.
#[derive(Debug, Default)]
pub(super) struct Name {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) language: String,
    /// What was debugged first.
    pub(super) program: String,
    /// The process id of who writes.
    pub(super) server: Option<u32>,
}

impl Name {
    /// Its display name: a session without a given name is called by its program.
    pub(super) fn shown(&self) -> &str {
        let number = self.title.strip_prefix("Debug-");
        let is_given = number.is_none_or(|number| number.bytes().any(|byte| !byte.is_ascii_digit()));
        if self.program.is_empty() || (is_given && !self.title.is_empty()) {
            &self.title
        } else {
            &self.program
        }
    }
}

impl Names {
    /// The number of the session of an entry.
    pub(super) fn number(&mut self, entry: &Scan<'_>) -> Option<u32> {
        let id = entry.session_id?;
        let number = if let Some(number) = self.numbers.get(id) {
            *number
        } else {
            let number = u32::try_from(self.all.len()).ok()?;
            self.numbers.insert(id.into(), number);
            self.all.push(Name { id: decoded(id), ..Name::default() });
            number
        };
        let known = self.all.get_mut(usize::try_from(number).ok()?)?;
        fill(&mut known.title, entry.session_name);
        fill(&mut known.language, entry.language);
        fill(&mut known.program, entry.program);
        known.server = known.server.or(entry.server);
        Some(number)
    }

    pub(super) fn get(&self, number: u32) -> Option<&Name> {
        self.all.get(usize::try_from(number).ok()?)
    }
}

fn fill(text: &mut String, found: Option<&[u8]>) {
    if text.is_empty()
        && let Some(found) = found
    {
        *text = decoded(found);
    }
}

/// The text inside a JSON string.
fn decoded(inside: &[u8]) -> String {
    let text = String::from_utf8_lossy(inside);
    if !text.contains('\\') {
        return text.into_owned();
    }
    serde_json::from_str::<Cow<'_, str>>(&format!("\"{text}\""))
        .map_or(text.clone().into_owned(), Cow::into_owned)
}
