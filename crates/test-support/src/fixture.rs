//! Programs to debug, and the names of their lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Language, Program};

/// The root of the repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate is in crates/test-support").to_owned()
}

/// A source file whose lines have names: `# @name` or `// @name` at the end of a line.
#[derive(Clone, Debug)]
pub struct Fixture {
    path: PathBuf,
    lines: BTreeMap<String, u32>,
}

impl Fixture {
    /// `fixtures/SCENARIO/main.EXTENSION`.
    pub fn of(language: impl Into<Language>, scenario: &str) -> Self {
        let language = language.into();
        Self::read(repository().join("fixtures").join(scenario).join(language.file("main")))
    }

    /// `fixtures/SCENARIO/main.py`.
    pub fn python(scenario: &str) -> Self {
        Self::of(Language::Python, scenario)
    }

    /// `fixtures/SCENARIO/main.js`.
    pub fn node(scenario: &str) -> Self {
        Self::of(Language::Node, scenario)
    }

    /// Any file.
    pub fn read(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let text = std::fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| panic!("fixture {}: {error}", path.display()));
        let mut lines = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            for name in markers(line) {
                let known = lines.insert(name.to_owned(), number);
                assert!(known.is_none(), "{}: @{name} is there twice", path.display());
            }
        }
        Self { path, lines }
    }

    /// Writes a file into a folder, and reads it as a fixture.
    pub fn write(folder: &Path, name: &str, text: &str) -> Self {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the folder of a test can be written to");
        Self::read(path)
    }

    /// Writes the text of a language into a folder, as a file of that language.
    pub fn write_in<L: Into<Language> + Copy>(
        language: L,
        folder: &Path,
        stem: &str,
        program: impl Program<L>,
    ) -> Self {
        Self::write(folder, &language.into().file(stem), program.text(language))
    }

    /// The language of its extension; Python when it has none that is known.
    pub fn language(&self) -> Language {
        let extension = self.path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let known = Language::ALL.iter().copied().find(|language| language.extension() == extension);
        known.unwrap_or(match extension {
            "cjs" | "mjs" | "ts" | "cts" | "mts" => Language::Node,
            "cpp" => Language::C,
            _ => Language::Python,
        })
    }

    /// Its absolute path.
    pub fn path(&self) -> &str {
        self.path.to_str().expect("fixtures have plain names")
    }

    /// The number of the line with that name.
    pub fn line(&self, name: &str) -> u32 {
        let line = self.lines.get(name).copied();
        line.unwrap_or_else(|| panic!("{} has no @{name}", self.path.display()))
    }
}

/// The names in a line's comment.
fn markers(line: &str) -> impl Iterator<Item = &str> {
    let comment = ["# @", "// @"].iter().find_map(|start| line.find(start));
    let comment = comment.map_or("", |at| line.get(at..).unwrap_or_default());
    comment.split_whitespace().filter_map(|word| word.strip_prefix('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of a scenario's lines.
    fn names(language: Language, scenario: &str) -> Vec<String> {
        Fixture::of(language, scenario).lines.into_keys().collect()
    }

    /// A name that one language has no line for is not asked for in bodies that are for all of them.
    #[test]
    fn fixtures_of_a_scenario_have_the_same_markers() {
        let only_python = ["bill_header", "decorator", "kind_header"];
        for scenario in ["bank", "empty_scope", "endings", "readers", "steps", "swap_vars", "values"] {
            let mut python = names(Language::Python, scenario);
            python.retain(|name| !only_python.contains(&name.as_str()));
            let mut node = names(Language::Node, scenario);
            node.retain(|name| name != "kind_header");
            assert_eq!(node, python, "{scenario}");
            for language in Language::ALL {
                let there = names(*language, scenario);
                let is_missing = |name: &&String| {
                    !there.contains(name) && !language.without_lines().contains(&name.as_str())
                };
                let missing: Vec<_> = python.iter().filter(is_missing).collect();
                assert!(
                    *language == Language::Python || missing.is_empty(),
                    "{scenario} in {} lacks {missing:?}",
                    language.name()
                );
            }
        }
        assert_eq!(names(Language::Node, "traced"), names(Language::Python, "traced"));
    }

    #[test]
    fn the_language_of_a_file_is_known_by_its_extension() {
        for language in Language::ALL {
            assert_eq!(Fixture::of(*language, "bank").language(), *language);
        }
    }

    #[test]
    fn markers_are_comments() {
        let table: [(&str, &[&str]); 5] = [
            ("x = 1  # @one", &["one"]),
            ("x = 1  // @one @two", &["one", "two"]),
            ("@decorator", &[]),
            ("mail = 'a@b'", &[]),
            ("x  # says @hello", &[]),
        ];
        for (line, expected) in table {
            assert_eq!(markers(line).collect::<Vec<_>>(), expected, "{line}");
        }
    }
}
