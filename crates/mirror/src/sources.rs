//! Sources by the names that editors have for them: a path, or a number for a text that is in no file.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use engine::model::source::Source;

/// How many texts without a file get a number. Further ones cannot be opened.
const NUMBERED: usize = 10_000;

/// The sources without a file that were sent to an editor.
#[derive(Debug, Default)]
pub(crate) struct Sources(Mutex<Vec<String>>);

impl Sources {
    /// A source as an editor opens it.
    pub(crate) fn describe(&self, source: &Source) -> dap::Source {
        let path = source.path.as_deref().filter(|path| path.is_file());
        let file = path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        dap::Source {
            name: Some(file.unwrap_or_else(|| source.name.clone())),
            source_reference: if path.is_some() { None } else { self.number(&source.name) },
            path: path.map(|path| path.display().to_string()),
            presentation_hint: source.internal.then(|| "deemphasize".to_owned()),
        }
    }

    fn number(&self, name: &str) -> Option<i64> {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = names.iter().position(|known| known == name);
        let at = known.or_else(|| {
            (names.len() < NUMBERED).then(|| {
                names.push(name.to_owned());
                names.len() - 1
            })
        })?;
        i64::try_from(at + 1).ok()
    }

    /// The name of the source with this number.
    pub(crate) fn name(&self, number: i64) -> Option<String> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(at).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_without_a_file_keeps_its_reference() {
        let sources = Sources::default();
        let text = |name: &str| Source { path: None, name: name.to_owned(), internal: true };
        let numbers = ["a", "b", "a"].map(|name| sources.describe(&text(name)).source_reference);
        assert_eq!(numbers, [Some(1), Some(2), Some(1)]);
        let names = [-1, 0, 1, 2, 3].map(|number| sources.name(number));
        assert_eq!(names, [None, None, Some("a".to_owned()), Some("b".to_owned()), None]);
        let file = sources.describe(&Source::file(file!().replace("crates/mirror/", "")));
        assert_eq!((file.name.as_deref(), file.source_reference), (Some("sources.rs"), None));
        let gone = sources.describe(&Source::file("/no/such/file.py"));
        assert_eq!((gone.path, gone.source_reference), (None, Some(3)));
    }
}
