//! What to say where a mapping is wrong or missing: of its folder there, and of a file that is only here.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::super::mapping::{Mapping, Origin};
use super::{Direction, Paths};

/// How we say that a file is missing.
const MISSING: &str = "no file `";

impl Paths {
    fn given(&self) -> impl Iterator<Item = &Mapping> {
        self.mappings.iter().filter(|_| self.origin == Origin::Given)
    }

    /// The folders there that `--map` names.
    pub(in crate::via) fn given_there(&self) -> Vec<&str> {
        self.given().map(|mapping| mapping.there.as_str()).collect()
    }

    /// Takes note of what folders of [`Self::given_there`], by their numbers, are without links.
    pub(in crate::via) fn set_resolved(&self, folders: &[(usize, String)]) {
        let mapping =
            |(number, there): &(usize, String)| Mapping::new(there, &self.given().nth(*number)?.here);
        // A new connection finds the same.
        let _ = self.resolved.set(folders.iter().filter_map(mapping).collect());
    }

    /// What to say of folders that a mapping names, and that are not there.
    pub(in crate::via) fn missing_folders(&self, there: &[String]) -> Vec<String> {
        let missing = self.mappings.iter().filter(|mapping| there.contains(&mapping.there));
        let said = missing.map(|Mapping { there, here }| {
            format!("there is no folder `{there}` on {} (`{here}` here, by {})", self.machine, self.origin)
        });
        said.collect()
    }

    /// Our words from there. A file that is missing there and is here has both of its paths: its mapping may be wrong,
    /// or missing too.
    pub(in crate::via) fn words<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let missing = text.split_once(MISSING).and_then(|(before, rest)| {
            let (there, after) = rest.split_once('`')?;
            let [before, after] = [before, after].map(|text| self.text(text, Direction::Here));
            let (machine, by) = (&self.machine, self.origin);
            if let Cow::Owned(here) = self.text(there, Direction::Here) {
                let both = format!("`{there}` on {machine} (`{here}` here, by {by})");
                return Path::new(&here).is_file().then(|| format!("{before}there is no {both}{after}"));
            }
            let here = self.unmapped(Path::new(there))?.display().to_string();
            let why = format!("`{here}` is here, and no `--map` names its folder there");
            Some(format!("{before}no file `{there}` on {machine} ({why}){after}"))
        });
        missing
            .filter(|_| !self.machine.is_empty())
            .map_or_else(|| self.text(text, Direction::Here), Cow::Owned)
    }

    /// The file here that a path there may mean, which begins in a folder that is not mapped.
    fn unmapped(&self, there: &Path) -> Option<PathBuf> {
        let mut end = there.components();
        let shorter = std::iter::from_fn(|| end.next().map(|_| self.folder.join(end.as_path())));
        std::iter::once(there.to_owned()).chain(shorter).find(|file| file.is_file())
    }

    /// Whether a message may have something to rewrite.
    pub(in crate::via) fn concern(&self, message: &[u8]) -> bool {
        !self.is_empty() || message.windows(MISSING.len()).any(|part| part == MISSING.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_missing_there_has_both_of_its_paths() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().display().to_string();
        std::fs::write(folder.path().join("main.py"), "").unwrap();
        let mapped = || Paths::new(vec![Mapping::new("/app", &here).unwrap()], folder.path().to_owned());
        let (given, guessed) =
            (mapped().on(&"ssh://box", Origin::Given), mapped().on(&"ssh://box", Origin::Guessed));
        let by = |by: &str| {
            format!(
                "Error: there is no `/app/main.py` on ssh://box (`{here}/main.py` here, by {by}); see {here}"
            )
        };
        let missing = "Error: no file `/app/main.py`; see /app";
        assert_eq!(given.words(missing), by("`--map`"));
        assert_eq!(guessed.words(missing), by("a guess, which `--map` overrides"));
        assert_eq!(given.words("no file `/app/none.py`"), format!("no file `{here}/none.py`"));
        let linked = Paths::new(vec![Mapping::new("/current", &here).unwrap()], folder.path().to_owned());
        linked.set_resolved(&[(0, "/releases/7".to_owned())]);
        assert_eq!(linked.words("see /releases/7/main.py"), format!("see {here}/main.py"));
        assert_eq!(linked.text(&here, Direction::There), "/current");
        let unmapped = Paths::new(Vec::new(), folder.path().to_owned()).on(&"ssh://box", Origin::Given);
        let why = format!("`{here}/main.py` is here, and no `--map` names its folder there");
        for missing in [format!("no file `{here}/main.py`"), "no file `/root/main.py`".to_owned()] {
            assert_eq!(unmapped.words(&missing), format!("{missing} on ssh://box ({why})"));
        }
        let missing = "no file `/root/none.py`";
        assert_eq!(unmapped.words(missing), missing);
        assert!(unmapped.concern(missing.as_bytes()) && !unmapped.concern(b"{}"));
        assert_eq!(
            given.missing_folders(&["/app".to_owned()]),
            [format!("there is no folder `/app` on ssh://box (`{here}` here, by `--map`)")]
        );
    }
}
