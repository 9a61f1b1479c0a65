//! What the rows of the languages lack, and what they have without need.

use std::collections::BTreeSet;
use std::path::Path;

use test_support::{Language, repository};

/// The first line of a literal whose `name` is a row's, and of one whose `name` is a program's.
const ROW: &str = "PerLanguage {";
const PROGRAM: &str = "Texts {";

/// A source of this suite: the path of its module, its bodies, and what stands in it.
struct Module {
    path: String,
    bodies: Vec<String>,
    items: Vec<Item>,
}

/// A function or a constant.
struct Item {
    name: String,
    /// Other modules can use it.
    is_shared: bool,
    text: String,
}

impl Module {
    /// All of the suite.
    fn all() -> Vec<Self> {
        let suite = repository().join("crates/stillframe/tests/standard");
        let (mut modules, mut folders) = (Vec::new(), vec![suite.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("the suite can be read") {
                let path = entry.expect("the suite can be read").path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("languages.rs") {
                    let text = std::fs::read_to_string(&path).expect("a source can be read");
                    modules.push(Self::read(path.strip_prefix(&suite).expect("it is below"), &text));
                }
            }
        }
        modules
    }

    fn read(path: &Path, text: &str) -> Self {
        let path = path.with_extension("");
        let path: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
        let (mut bodies, mut items) = (Vec::new(), Vec::<Item>::new());
        for list in text.split("\neach![").skip(1) {
            let list = list.split_once("];").expect("a list has an end").0;
            let names = list.lines().filter(|line| !line.trim_start().starts_with("//"));
            let names = names.flat_map(|line| line.split(',')).map(|name| name.trim().to_owned());
            bodies.extend(names.filter(|name| !name.is_empty()));
        }
        let mut is_open = false;
        for line in text.lines() {
            let item = line.trim_start_matches("pub(crate) ").trim_start_matches("async ");
            let name = item.strip_prefix("fn ").or_else(|| item.strip_prefix("const "));
            if let Some(name) = name {
                let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
                let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default().to_owned();
                items.push(Item { name, is_shared: line.starts_with("pub"), text: String::new() });
                is_open = true;
            }
            if let Some(item) = items.last_mut().filter(|_| is_open) {
                item.text += line;
                item.text += "\n";
            }
            // What follows, such as a list of bodies, is of no item.
            is_open &= !line.starts_with("each![") && !line.starts_with("dynamic![");
        }
        Self { path: path.join("::"), bodies, items }
    }

    /// Whether a body that a language has no excuse from comes to an item, at most so many uses away.
    fn needs(&self, item: &Item, language: Language, all: &[Self], uses: usize) -> bool {
        if self.bodies.contains(&item.name) {
            return language.excuse(&format!("standard::{}::{}", self.path, item.name)).is_none();
        }
        let is_user = |other: &&Item| other.name != item.name && has_word(&other.text, &item.name);
        let of_module = |module: &Self| {
            let mut users = module.items.iter().filter(is_user);
            users.any(|user| module.needs(user, language, all, uses - 1))
        };
        uses > 0 && if item.is_shared { all.iter().any(of_module) } else { of_module(self) }
    }

    /// The names in the literals of an item, each with whether it is a program's.
    fn names(item: &Item) -> Vec<(&str, bool)> {
        let literals = item.text.split("name: \"");
        let parts: Vec<&str> = literals.collect();
        let names = parts.windows(2).map(|pair| {
            let (before, name) = (pair[0].trim_end(), pair[1].split('"').next().unwrap_or_default());
            (name, before.ends_with(ROW), before.ends_with(PROGRAM))
        });
        names.filter(|(_, row, program)| *row || *program).map(|(name, _, program)| (name, program)).collect()
    }
}

/// Whether a text has a name that is not part of a longer one.
fn has_word(text: &str, name: &str) -> bool {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    text.match_indices(name).any(|(at, _)| {
        !is_part(text[..at].chars().next_back()) && !is_part(text[at + name.len()..].chars().next())
    })
}

/// The languages that have nothing in the tests themselves.
fn added() -> impl Iterator<Item = Language> {
    let here = [Language::Python, Language::Node, Language::C];
    Language::ALL.iter().copied().filter(move |language| !here.contains(language))
}

#[test]
fn each_language_defines_what_the_bodies_need_or_what_it_cannot_do() {
    let mut missing = BTreeSet::new();
    let all = Module::all();
    for module in &all {
        for item in &module.items {
            for (language, (name, is_program)) in
                added().flat_map(|language| Module::names(item).into_iter().map(move |name| (language, name)))
            {
                let file = format!("fixtures/{name}/{}", language.file("main"));
                let is_there = if is_program {
                    repository().join(&file).is_file() || language.spelled(name).is_some()
                } else {
                    language.spelled(name).is_some()
                };
                if !is_there && module.needs(item, language, &all, 4) {
                    let row = format!("language/{}.rs: `{name}`", language.module());
                    let what = if is_program { file } else { row };
                    missing.insert(format!("{what}, for {}::{}", module.path, item.name));
                }
            }
        }
    }
    let missing: Vec<_> = missing.into_iter().collect();
    assert!(missing.is_empty(), "missing, or the body belongs in `cannot`:\n{}", missing.join("\n"));
}

#[test]
fn rows_refer_only_to_existing_bodies_and_names() {
    let modules = Module::all();
    let names: BTreeSet<&str> = modules
        .iter()
        .flat_map(|module| &module.items)
        .flat_map(Module::names)
        .map(|(name, _)| name)
        .collect();
    let paths = modules.iter().flat_map(|module| {
        module.bodies.iter().map(move |body| format!("::standard::{}::{body}::", module.path))
    });
    let paths: Vec<String> = paths.collect();
    for language in added() {
        for name in language.spelled_names() {
            assert!(names.contains(name), "language/{}.rs: no body uses `{name}`", language.module());
        }
        for what in language.cannot_do() {
            let is_there = paths.iter().any(|path| path.contains(&format!("::{what}::")));
            assert!(is_there, "language/{}.rs: there is no body `{what}`", language.module());
        }
    }
}

#[test]
fn test_bodies_and_names_are_found_in_a_source() {
    let text = "\neach![\n    one,\n    // A comment.\n    two,\n];\n\nconst WAITS: Texts = Texts { name: \"waits\", python: \"name: \\\"\" };\n\n\
                async fn one(language: Language) {\n    use_of(WAITS);\n    PerLanguage { name: \"row\" };\n}\n\nfn helps() {}\n";
    let module = Module::read(Path::new("a/b.rs"), text);
    assert_eq!(
        (module.path.as_str(), &module.bodies[..]),
        ("a::b", &["one".to_owned(), "two".to_owned()][..])
    );
    let found: Vec<_> = module.items.iter().map(|item| (item.name.as_str(), Module::names(item))).collect();
    assert_eq!(found, [("WAITS", vec![("waits", true)]), ("one", vec![("row", false)]), ("helps", vec![])]);
}
