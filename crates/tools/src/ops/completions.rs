//! Values that can be filled in: sessions, source files, and the functions and tests of a file.
//!
//! A person who types waits for this, and what is offered only saves typing: no debugger is started. The functions are
//! those at which a breakpoint can be set by name. Where the language cannot list them, and for tests, text is searched.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::LazyLock;

use engine::adapter::{self, AnalysisRequest, Guarded, Machine};
use engine::model::source::Function;
use engine::safety::Safety;
use regex::Regex;

use super::sources::{SearchLimits, below};
use crate::{Candidates, Context};

/// How many values are offered.
pub const MOST: usize = 100;
/// How far files are searched below the working directory: not in what a program made, or in copies of libraries.
const LIMITS: SearchLimits = SearchLimits { depth: 8, entries: 20_000, left_out: &["target", "vendor"] };
/// How much of a file is searched for names, in lines.
const LINES: usize = 20_000;

/// Values for an argument.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// The first of them.
    pub values: Vec<String>,
    /// How many there are.
    pub total: usize,
}

impl Completions {
    fn of(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(MOST);
        Self { values, total }
    }
}

/// The values that begin like what is typed. `file` is the source file that is chosen, for what is in it.
pub async fn complete(
    context: &Context,
    candidates: Candidates,
    typed: &str,
    file: Option<&str>,
) -> Completions {
    let safety = &context.sessions.policy().safety;
    match candidates {
        Candidates::Free => Completions::default(),
        Candidates::Sessions => Completions::of(sessions(context, typed)),
        Candidates::Files => {
            let folder = std::env::current_dir().unwrap_or_default();
            in_thread(safety, typed, move |safety, typed| files(&folder, typed, safety)).await
        }
        Candidates::Functions | Candidates::Tests => {
            let Some(file) = file.map(|file| engine::sources::absolute(Path::new(file))) else {
                return Completions::default();
            };
            if candidates == Candidates::Functions
                && let Some(known) = functions(&file, safety).await
            {
                return Completions::of(function_names(&known, typed));
            }
            let pattern = if candidates == Candidates::Tests { &TESTS } else { &FUNCTIONS };
            in_thread(safety, typed, move |safety, typed| names(&file, typed, pattern.as_ref(), safety)).await
        }
    }
}

/// Reads the disk, which may be slow, beside other requests.
async fn in_thread(
    safety: &Safety,
    typed: &str,
    read: impl FnOnce(&Safety, &str) -> Vec<String> + Send + 'static,
) -> Completions {
    let (safety, typed) = (safety.clone(), typed.to_owned());
    let values = tokio::task::spawn_blocking(move || read(&safety, &typed)).await;
    Completions::of(values.unwrap_or_default())
}

fn sessions(context: &Context, typed: &str) -> Vec<String> {
    let ids = context.sessions.list().into_iter().map(|session| session.id().to_string());
    ids.filter(|id| id.starts_with(typed)).collect()
}

/// The source files whose path below the folder, or whose name, begins like that; the nearest first. What is typed may
/// name another folder: `./`, `../`, or an absolute path.
fn files(folder: &Path, typed: &str, safety: &Safety) -> Vec<String> {
    let named = match typed.rfind('/') {
        Some(end) if typed.starts_with(['/', '.']) => &typed[..=end],
        _ => "",
    };
    let folder = folder.join(named);
    let shown = |path: &Path| format!("{named}{}", path.strip_prefix(&folder).unwrap_or(path).display());
    let begins = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        shown(path).starts_with(typed) || name.starts_with(typed)
    };
    let is_offered = |path: &Path| {
        adapter::by_extension(path).is_some() && begins(path) && safety.check_path(path).is_ok()
    };
    below(std::slice::from_ref(&folder), LIMITS, is_offered).files.iter().map(|path| shown(path)).collect()
}

/// The functions of a file, as its language reads it. None if nothing reads it without a debugger, as in a file that
/// cannot be parsed.
async fn functions(file: &Path, safety: &Safety) -> Option<Vec<Function>> {
    let adapter = adapter::by_extension(file)?;
    safety.check_path(file).ok()?;
    let found = if let Some(analysis) = adapter.source_analysis() {
        let host = Guarded::for_reading(&Machine, safety, None);
        let runtime = adapter.locate(&host, None, Some(file)).await.ok()?;
        let question = AnalysisRequest { file: Some(file), ..AnalysisRequest::default() };
        let code = analysis.analyze(&host, &runtime, question).await.ok()?;
        if code.unread.is_some() || code.problem.is_some() {
            return None;
        }
        code.functions
    } else {
        let (safety, file) = (safety.clone(), file.to_owned());
        let read = move || Some(adapter.functions(&safety.read_lines(&file).ok()?.join("\n")));
        tokio::task::spawn_blocking(read).await.ok()??
    };
    Some(found).filter(|found| !found.is_empty())
}

/// The names that begin like what is typed, in the file's order; with those around it where that is typed, or where
/// several functions have the same.
fn function_names(functions: &[Function], typed: &str) -> Vec<String> {
    let simple: Vec<String> = functions.iter().map(Function::simple_name).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in &simple {
        *counts.entry(name).or_default() += 1;
    }
    let offered = functions.iter().zip(&simple).filter_map(|(function, name)| {
        let begins = name.starts_with(typed);
        let is_only = counts.get(name.as_str()) == Some(&1);
        let offered = if begins && is_only { name } else { &function.name };
        (begins || function.name.starts_with(typed)).then_some(offered)
    });
    let mut seen = HashSet::new();
    offered.filter(|name| seen.insert(*name)).cloned().collect()
}

/// A definition in any of the languages: a keyword and a name, or a method with its opening brace.
static FUNCTIONS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*(?:[\w<>\[\](), ]+\s)?(?:def|function|func|fn)\b\*?\s*(?:\([^)]*\)\s*)?(?:self\.)?(?P<name>[\w$]+)",
        r"|^\s+(?:(?:async|static|public|private|protected|override|final)\s+)*(?:[\w<>\[\],.]+\s+)?",
        r"(?P<method>#?[A-Za-z_$][\w$]*)\s*\([^;{}]*\)[^;{}]*\{\s*$",
    ))
});

/// A function whose name begins with `test`, or a test that has its name as a text.
static TESTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"^\s*(?:[\w<>\[\], ]+\s)?(?:def|function|func|fn|void)\s+(?P<name>[Tt]est[\w$]*)",
        r#"|^\s*(?:it|test|specify|scenario)(?:\.\w+)?[ (]\s*(?:'(?P<single>[^']+)'|"(?P<double>[^"]+)"|`(?P<back>[^`]+)`)"#,
    ))
});

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

/// Keywords that are written like a method.
const KEYWORDS: [&str; 9] = ["if", "for", "while", "switch", "catch", "else", "return", "match", "function"];

/// The names in a file that begin like that, in the file's order.
fn names(file: &Path, typed: &str, pattern: Option<&Regex>, safety: &Safety) -> Vec<String> {
    let Some(pattern) = pattern else { return Vec::new() };
    let lines = safety.read_lines(file).unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for line in lines.iter().take(LINES) {
        let Some(found) = pattern.captures(line) else { continue };
        let Some(name) = found.iter().skip(1).flatten().next() else { continue };
        let name = name.as_str();
        if name.starts_with(typed) && !KEYWORDS.contains(&name) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: Option<&Regex>, text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("code.txt");
        std::fs::write(&file, text).unwrap();
        names(&file, "", pattern, &Safety::default())
    }

    #[test]
    fn functions_of_each_language_are_found() {
        let table = [
            ("class A:\n    async def total(self):\n        return sum(self)\n", vec!["total"]),
            ("export async function main() {\nfunction* each() {\n", vec!["main", "each"]),
            (
                "class A {\n  async load(x) {\n    if (x) {\n    while (y) {\n  #tidy() {\n",
                vec!["load", "#tidy"],
            ),
            ("func (b *Basket) Discount() {\nfunc main() {\n", vec!["Discount", "main"]),
            ("pub(crate) const fn total() {}\npub async fn main() {\n", vec!["total", "main"]),
            ("class A\n  def self.of(x)\n  def note(customer)\n", vec!["of", "note"]),
            ("class A {\n    public static int total(int a) {\n        return sum(a);\n", vec!["total"]),
            ("class A {\n    public function total(): float\n", vec!["total"]),
        ];
        for (text, expected) in table {
            assert_eq!(found(FUNCTIONS.as_ref(), text), expected, "{text}");
        }
    }

    /// What is offered of a file with this text for what is typed.
    async fn offered(name: &str, text: &str, typed: &str) -> Option<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let known = functions(&file, &Safety::default()).await?;
        Some(function_names(&known, typed))
    }

    #[tokio::test]
    async fn functions_are_those_that_the_language_knows() {
        let script = "class A {\n  async *each(x) {\n    for await (const y of x) {\n      yield y;\n    }\n  }\n\n  \
                      one() { return 1; }\n}\nconst twice = (x) => x * 2;\n";
        let generic = "package shop\n\nfunc Map[T any](of []T) int {\n\treturn len(of)\n}\n\nfunc (b *Basket) Total() \
                       int {\n\treturn 1\n}\n";
        let ruby = "class A\n  def total?\n    1\n  end\n\n  def <=>(other)\n    0\n  end\nend\n";
        let same = "class A:\n    def total(self):\n        pass\n\n\nclass B:\n    def total(self):\n        pass\n";
        let table: [(&str, &str, &str, &[&str]); 7] = [
            ("a.js", script, "", &["each", "one", "twice"]),
            ("a.js", script, "A.", &["A.each", "A.one"]),
            ("shop.go", generic, "", &["Map", "Total"]),
            ("a.rb", ruby, "", &["total?", "<=>"]),
            ("a.py", same, "t", &["A.total", "B.total"]),
            ("a.rs", "impl A {\n    fn total(&self) -> u32 {\n        1\n    }\n}\n", "to", &["total"]),
            ("a.php", "<?php\nclass A {\n    function &total() { return 1; }\n}\n", "", &["total"]),
        ];
        for (name, text, typed, expected) in table {
            assert_eq!(offered(name, text, typed).await.unwrap_or_default(), expected, "{name} {typed}");
        }
        assert_eq!(offered("broken.js", "class {\n  total() {\n", "").await, None, "read as text");
    }

    #[test]
    fn tests_of_each_runner_are_found() {
        let table = [
            ("def test_a():\n    def helper():\n    def test_b(self):\n", vec!["test_a", "test_b"]),
            (
                "test('adds', () => {\nit(\"has items\", x)\nit.only(`third`, x)\n",
                vec!["adds", "has items", "third"],
            ),
            ("func TestTotal(t *testing.T) {\n", vec!["TestTotal"]),
            ("    void testTotal() {\n    public void testSum() {\n", vec!["testTotal", "testSum"]),
            ("  it 'has items' do\n", vec!["has items"]),
        ];
        for (text, expected) in table {
            assert_eq!(found(TESTS.as_ref(), text), expected, "{text}");
        }
    }

    #[test]
    fn files_are_found_by_path_and_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for file in
            ["b.py", "src/cart.js", "src/deep/cart.py", "node_modules/x/cart.js", ".git/cart.py", "cart.txt"]
        {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        let table: [(&str, &[&str]); 7] = [
            ("", &["b.py", "src/cart.js", "src/deep/cart.py"]),
            ("cart", &["src/cart.js", "src/deep/cart.py"]),
            ("src/d", &["src/deep/cart.py"]),
            ("./b", &["./b.py"]),
            ("./src/de", &["./src/deep/cart.py"]),
            (&format!("{}/src/cart", root.display()), &[&root.join("src/cart.js").display().to_string()]),
            ("zebra", &[]),
        ];
        for (typed, expected) in table {
            assert_eq!(files(root, typed, &Safety::default()), expected, "{typed}");
        }
        let elsewhere = Safety { roots: Some(vec!["/nowhere".into()]), ..Safety::default() };
        assert_eq!(files(root, "", &elsewhere), [""; 0]);
    }
}
