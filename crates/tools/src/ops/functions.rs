//! Breakpoints on functions whose names match.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use engine::model::breakpoint::{Breakpoint, Rule};
use engine::model::launch::Start;
use engine::session::Session;
use engine::session::placing::PlaceRequest;
use engine::sources::distance;
use regex::{Regex, RegexBuilder};

use super::sources::{FoundFiles, SearchLimits, below};
use crate::ToolError;

/// How many breakpoints one pattern sets.
const MOST: usize = 50;
/// How many files are read in search of functions.
const FILES: usize = 100;
/// How far files are searched below the program's folder.
const LIMITS: SearchLimits = SearchLimits { depth: 5, entries: 20_000, left_out: &[] };
/// How many similar names, or files, are named.
const SIMILAR: usize = 3;

/// What functions are called.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// Just that, or `Class.method`.
    Name(String),
    /// Whatever this finds something in: in a qualified name, or in a last part if no qualified name matches.
    Matching(Regex),
}

impl Pattern {
    /// Reads a name, or a regular expression: one between slashes, with `i` after them where case does not
    /// count, or whatever holds a sign that no name of a function has.
    pub fn read(text: &str) -> Result<Self, ToolError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ToolError::argument("functionName", "is empty"));
        }
        let between = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
        let (pattern, flags) = match between {
            Some((pattern, flags)) => (pattern, flags),
            None if !text.contains(['^', '*', '+', '?', '(', '[', '{', '|', '\\']) => {
                return Ok(Self::Name(text.to_owned()));
            }
            None => (text, ""),
        };
        if let Some(flag) = flags.chars().find(|flag| *flag != 'i') {
            let problem = format!("has the unsupported flag `{flag}`; use `i` or none");
            return Err(ToolError::argument("functionName", problem));
        }
        let built = RegexBuilder::new(pattern).case_insensitive(flags == "i").build();
        built.map(Self::Matching).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
            ToolError::argument("functionName", format!("is not a valid regular expression: {reason}"))
        })
    }
}

/// The functions that a regular expression finds something in, and the others: in their qualified names, such as
/// `Shop.order`, or in the last parts of these if it matches no qualified name.
fn matching<F>(regex: &Regex, functions: Vec<F>, name: impl Fn(&F) -> &str) -> (Vec<F>, Vec<F>) {
    let (matching, others): (Vec<F>, Vec<F>) =
        functions.into_iter().partition(|function| regex.is_match(name(function)));
    if !matching.is_empty() {
        return (matching, others);
    }
    others.into_iter().partition(|function| {
        let last = name(function).rsplit(['.', ':', '#']).next();
        last.is_some_and(|last| regex.is_match(last))
    })
}

/// The breakpoints that were set.
#[derive(Debug, Default)]
pub struct FunctionBreakpointsSet {
    /// Each with notes on its place. At least one.
    pub breakpoints: Vec<(Breakpoint, Option<String>)>,
    /// Notes about omitted functions.
    pub notes: Vec<String>,
}

/// Sets breakpoints at the entries of the requested functions. A name may be that of any function; a regular
/// expression is matched with those of the source files in and below the folder of the program.
pub async fn set_breakpoints(
    session: &Session,
    pattern: &Pattern,
    rule: &Rule,
) -> Result<FunctionBreakpointsSet, ToolError> {
    let mut set = FunctionBreakpointsSet::default();
    let regex = match pattern {
        Pattern::Name(name) => {
            let (function, rule) = (Some(name.clone()), rule.clone());
            set.breakpoints.push(
                session.set_breakpoint(PlaceRequest { function, rule, ..PlaceRequest::default() }).await?,
            );
            return Ok(set);
        }
        Pattern::Matching(regex) => regex,
    };
    let folders = folders(session).await?;
    let FoundFiles { files, is_cut } = files(session, &folders).await;
    let mut functions = Vec::new();
    for file in &files {
        // A file that cannot be read as the language has no functions.
        let code = session.code(file).await.unwrap_or_default();
        functions.extend(code.functions.into_iter().map(|function| (file, function.name)));
    }
    let (meant, others) = matching(regex, functions, |(_, name)| name);
    for (file, function) in meant.into_iter().take(MOST) {
        let (file, function) = (Some(file.clone()), Some(function));
        let wanted = PlaceRequest { file, function, rule: rule.clone(), ..PlaceRequest::default() };
        set.breakpoints.push(session.set_breakpoint(wanted).await?);
    }
    if set.breakpoints.is_empty() {
        let names: Vec<String> = others.into_iter().map(|(_, name)| name).take(10).collect();
        return Err(ToolError::no_function(regex.as_str(), &shown(&folders), &names));
    }
    if set.breakpoints.len() == MOST {
        set.notes.push(format!("only the first {MOST} matches have a breakpoint"));
    }
    if is_cut {
        set.notes.push(format!("only {} files in {} were searched", files.len(), shown(&folders)));
    }
    Ok(set)
}

/// What to say of functions that were not entered, by their names: the files that have such a function, or else the names
/// that are like it.
pub(super) async fn similar_functions<'a>(
    session: &Session,
    names: impl Iterator<Item = &'a str>,
) -> HashMap<String, String> {
    let names: HashSet<&str> = names.collect();
    if names.is_empty() {
        return HashMap::new();
    }
    let folders = folders(session).await.unwrap_or_default();
    let mut known = Vec::new();
    for file in files(session, &folders).await.files {
        let below = folders.iter().find_map(|folder| file.strip_prefix(folder).ok());
        let shown = below.unwrap_or(&file).display().to_string();
        let functions = session.code(&file).await.unwrap_or_default().functions;
        known.extend(functions.into_iter().map(|function| (function.name, shown.clone())));
    }
    names.into_iter().map(|name| (name.to_owned(), similar(name, &known))).collect()
}

/// The files that have a function, or else the names that are like its; of functions with their files.
fn similar(name: &str, known: &[(String, String)]) -> String {
    let (mut with_it, mut similar) = (Vec::new(), Vec::new());
    for (function, file) in known {
        let distance = distance(&function.to_lowercase(), &name.to_lowercase())
            .min(distance(&last_part(function).to_lowercase(), &last_part(name).to_lowercase()));
        if function == name || function.ends_with(&format!(".{name}")) {
            with_it.push(file.as_str());
        } else if distance <= name.len().div_ceil(3).min(3) {
            similar.push((distance, format!("`{function}` in {file}")));
        }
    }
    similar.sort();
    similar.dedup();
    similar.truncate(SIMILAR);
    with_it.dedup();
    with_it.truncate(SIMILAR);
    let similar: Vec<String> = similar.into_iter().map(|(_, name)| name).collect();
    match (with_it.as_slice(), similar.as_slice()) {
        ([], []) => String::new(),
        ([], similar) => format!("; did you mean {}?", similar.join(" or ")),
        (files, _) => format!("; it is in {}", files.join(", ")),
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Where the program's files are: around it, and in its working directory if it is a command, such as one that a package
/// manager has installed elsewhere.
async fn folders(session: &Session) -> Result<Vec<PathBuf>, ToolError> {
    let program = session.program_file().await;
    let mut folders: Vec<PathBuf> =
        program.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
    if program.is_none_or(|program| !is_source(session, &program)) {
        let cwd = match session.last_start().await? {
            Some(Start::Launch(launch)) => launch.cwd,
            _ => None,
        };
        let cwd = cwd.or_else(|| std::env::current_dir().ok()).unwrap_or_default();
        if !folders.contains(&cwd) {
            folders.push(cwd);
        }
    }
    Ok(folders)
}

fn shown(folders: &[PathBuf]) -> String {
    let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    folders.join(" and ")
}

fn is_source(session: &Session, path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| session.adapter().facts().extensions.contains(&extension))
}

/// The source files of the session's language in and below folders, those of libraries left out; the nearest first.
async fn files(session: &Session, folders: &[PathBuf]) -> FoundFiles {
    let (session, folders) = (session.clone(), folders.to_vec());
    let search = move || {
        let adapter = session.adapter();
        let is_own =
            |path: &Path| is_source(&session, path) && !is_hidden(path) && !adapter.is_internal(path);
        let found = below(&folders, LIMITS, is_own);
        let mut seen = HashSet::new();
        let files = found.files.into_iter().flat_map(|path| {
            // The functions of a compiled file are those of its sources.
            let sources = session.sources_of(&path);
            if sources.is_empty() { vec![path] } else { sources }
        });
        let mut files = files.filter(|file| !adapter.is_internal(file) && seen.insert(file.clone()));
        let first = files.by_ref().take(FILES).collect();
        FoundFiles { files: first, is_cut: found.is_cut || files.next().is_some() }
    };
    tokio::task::spawn_blocking(search).await.unwrap_or_default()
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_matches_by_its_own_name_and_by_the_qualified_one() {
        let regex = |text| match Pattern::read(text) {
            Ok(Pattern::Matching(regex)) => regex,
            other => panic!("{other:?}"),
        };
        let matched =
            |pattern, names: &[&'static str]| matching(&regex(pattern), names.to_vec(), |name| name).0;
        let methods = ["Shop.handleOrder", "Shop::handleOrder", "Shop#handleOrder"];
        assert_eq!(matched("/^handle/", &methods), methods);
        assert_eq!(matched("/^Shop/", &methods), methods);
        assert_eq!(matched("/^handle/", &["Shop.rehandle"]), [""; 0]);
        assert_eq!(matched("/^[^.]+$/", &["main", "Shop.order"]), ["main"]);
    }

    #[test]
    fn a_pattern_is_a_name_unless_it_has_wildcards() {
        let table = [
            ("handle", "name handle"),
            (" Account.deposit ", "name Account.deposit"),
            ("$", "name $"),
            ("/^handle/", "matching ^handle"),
            ("/HANDLE/i", "matching HANDLE"),
            ("handle.*", "matching handle.*"),
            ("^(get|set)_", "matching ^(get|set)_"),
            ("", "`functionName` is empty"),
            ("/x/g", "`functionName` has the unsupported flag `g`; use `i` or none"),
            ("/(/", "`functionName` is not a valid regular expression: unclosed group"),
        ];
        for (text, expected) in table {
            let read = match Pattern::read(text) {
                Ok(Pattern::Name(name)) => format!("name {name}"),
                Ok(Pattern::Matching(regex)) => format!("matching {}", regex.as_str()),
                Err(error) => error.message,
            };
            assert_eq!(read, expected, "{text}");
        }
    }
}
