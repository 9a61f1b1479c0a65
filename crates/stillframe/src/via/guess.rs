//! Which folder there has the sources that are here, by the hashes of files: what `--map` would say.
//!
//! The relay lists the files here, the same program there looks for files of those names and sizes, and compares.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::adapter;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::connection::Connector;
use super::mapping::{Mapping, Origin};
use super::paths::Paths;
use super::program::hex_hash;
use crate::terminal;

/// The command that compares, on the other side.
pub(super) const COMMAND: &str = "match-sources";
/// How long comparing may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a machine is searched.
const SEARCH: Duration = Duration::from_secs(3);
/// How many files are compared, and how many entries of folders are read for that.
const FILES: usize = 3000;
const ENTRIES: usize = 100_000;
/// How deep folders are searched.
const DEPTH: usize = 10;
/// Small files are the same in many places, and large ones are no sources.
const SIZES: std::ops::RangeInclusive<u64> = 64..=512 * 1024;
/// Folders without sources of a project.
const SKIPPED: [&str; 10] = [
    "node_modules",
    "target",
    "__pycache__",
    "venv",
    "site-packages",
    "dist-packages",
    "proc",
    "sys",
    "dev",
    "vendor",
];
/// Where containers and servers have their programs.
const USUAL: [&str; 9] =
    ["/app", "/src", "/code", "/workspace", "/workspaces", "/srv", "/opt", "/usr/src", "/var/www"];
/// How many files must agree before a second folder is mapped.
const AGREEING: usize = 2;

/// A file to look for.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Wanted {
    name: String,
    size: u64,
    hash: String,
}

/// A file that was found.
#[derive(Debug, Serialize, Deserialize)]
struct Match {
    hash: String,
    path: String,
}

/// What the other side looks for.
#[derive(Debug, Serialize, Deserialize)]
struct Question<'q> {
    wanted: Vec<Cow<'q, Wanted>>,
    named: Cow<'q, [String]>,
}

/// What the other side has found, and what says which of several copies to use.
#[derive(Debug, Default, Serialize, Deserialize)]
struct FolderSearch {
    matches: Vec<Match>,
    /// The paths that were named and exist, without links.
    named: Vec<String>,
    /// Where processes run.
    running: Vec<String>,
}

impl FolderSearch {
    /// Whether a folder is the right one, however many files match.
    fn is_named(&self, there: &str) -> bool {
        self.named.iter().any(|path| Path::new(path).starts_with(there))
    }

    fn runs_in(&self, there: &str) -> bool {
        self.running.iter().any(|path| Path::new(path).starts_with(there))
    }
}

/// A guess, with the number of files that agree.
#[derive(Debug, PartialEq, Eq)]
struct Guess {
    mapping: Mapping,
    files: usize,
    /// Other folders there that at least as many files agree with.
    equals: Vec<String>,
}

/// What comparing sources has found.
#[derive(Debug, PartialEq, Eq)]
enum Compared {
    /// There was nothing to compare, or it was not possible.
    Nothing,
    /// No source that is here is there.
    NoMatch,
    /// Sources here are there.
    Matched(Vec<Guess>),
}

/// What one can do about a guess.
pub(super) struct Advice {
    /// Where no folder there has the sources.
    pub(super) none: &'static str,
    /// Where another folder is the right one.
    pub(super) other: &'static str,
}

/// The paths of both sides, by the sources in this folder that are there, and notes on them. The named
/// paths of a call, or of a command, say which of several copies to use.
pub(super) async fn paths(
    connector: &Connector,
    folder: PathBuf,
    named: &[String],
    advice: &Advice,
) -> anyhow::Result<(Paths, String)> {
    let target = &connector.target;
    let (mappings, remark) = match guess(connector, &folder, named).await? {
        Compared::Nothing => (Vec::new(), String::new()),
        Compared::NoMatch => {
            let folder = folder.display();
            let remark =
                format!("no folder on {target} is known to have the sources of `{folder}`; {}", advice.none);
            (Vec::new(), remark)
        }
        Compared::Matched(guesses) if guesses.is_empty() => (Vec::new(), String::new()),
        Compared::Matched(guesses) => {
            let remark = format!("{}; {}", basis(&guesses), advice.other);
            (guesses.into_iter().map(|guess| guess.mapping).collect(), remark)
        }
    };
    Ok((Paths::new(mappings, folder).on(target, Origin::Guessed), remark))
}

/// What guesses are based on.
fn basis(guesses: &[Guess]) -> String {
    let files: usize = guesses.iter().map(|guess| guess.files).sum();
    let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    let equals: Vec<String> =
        guesses.iter().flat_map(|guess| &guess.equals).map(|there| format!("`{there}`")).collect();
    let equals = match equals.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} fits at least as well"),
        several => format!("; {} fit at least as well", several.join(", ")),
    };
    format!("guessed from {files} with the same content{equals}")
}

/// The absolute paths in the words of a command that say where its program is: its source, or else what it starts, and
/// the folder that `--cwd` names. Others are data, wherever they are.
pub(super) fn program_paths<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<String> {
    let (mut source, mut started, mut folder) = (None, None, None);
    let mut before = "";
    for word in words.into_iter().flat_map(|text| text.split([' ', '='])) {
        let path = word.split(':').next().filter(|path| path.starts_with('/') && !path.starts_with("//"));
        if let Some(path) = path {
            let place = match before {
                "--cwd" => &mut folder,
                _ if adapter::by_extension(Path::new(path)).is_some() => &mut source,
                _ if before.starts_with('-') => continue,
                _ => &mut started,
            };
            place.get_or_insert(path);
        }
        before = word;
    }
    source.or(started).into_iter().chain(folder).map(str::to_owned).collect()
}

/// Compares the sources in this folder with those there.
async fn guess(connector: &Connector, folder: &Path, named: &[String]) -> anyhow::Result<Compared> {
    let home = etcetera::home_dir().ok();
    if folder.parent().is_none() || home.is_some_and(|home| home == folder) {
        return Ok(Compared::Nothing);
    }
    let root = folder.to_owned();
    let here = tokio::task::spawn_blocking(move || files_here(&root)).await?;
    if here.is_empty() {
        return Ok(Compared::Nothing);
    }
    let wanted = here.iter().map(|(_, wanted)| Cow::Borrowed(wanted)).collect();
    let question = serde_json::to_vec(&Question { wanted, named: named.into() })?;
    let mut connection = connector.start(&Paths::default(), &[COMMAND.to_owned()]).await?;
    let comparing = async {
        connection.stdin.write_all(&question).await?;
        connection.stdin.shutdown().await?;
        drop(connection.stdin);
        let mut found = Vec::new();
        connection.stdout.read_to_end(&mut found).await?;
        anyhow::Ok(serde_json::from_slice::<FolderSearch>(&found)?)
    };
    let Ok(Ok(found)) = timeout(PATIENCE, comparing).await else {
        terminal::hint("cannot compare the sources here with those there; give --map THERE=HERE");
        return Ok(Compared::Nothing);
    };
    if found.matches.is_empty() {
        return Ok(Compared::NoMatch);
    }
    let paths: HashMap<&str, &Path> =
        here.iter().map(|(path, wanted)| (wanted.hash.as_str(), path.as_path())).collect();
    let pairs = found.matches.iter().filter_map(|found| {
        let Match { hash, path } = found;
        Some((path.as_str(), *paths.get(hash.as_str())?))
    });
    Ok(Compared::Matched(vote(folder, pairs, &found)))
}

/// The other side: reads what is wanted from standard input, and prints what was found.
pub(crate) fn match_sources() -> anyhow::Result<()> {
    let mut question = Vec::new();
    std::io::stdin().read_to_end(&mut question)?;
    let Question { wanted, named } = serde_json::from_slice(&question)?;
    let running = texts(folders_of_processes());
    let roots = [std::env::current_dir()?].into_iter().chain(USUAL.map(PathBuf::from));
    let roots = roots.chain(etcetera::home_dir().ok()).chain(running.iter().map(PathBuf::from));
    let matches = find(&wanted, roots);
    let named = texts(named.iter().filter_map(|path| std::fs::canonicalize(path).ok()));
    terminal::print(&serde_json::to_string(&FolderSearch { matches, named, running })?)
}

/// Each of these paths once, without those that an answer cannot hold.
fn texts(paths: impl Iterator<Item = PathBuf>) -> Vec<String> {
    let texts: BTreeSet<String> = paths.filter_map(|path| path.to_str().map(str::to_owned)).collect();
    texts.into_iter().collect()
}

/// The working directories of processes that we may know.
fn folders_of_processes() -> impl Iterator<Item = PathBuf> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok())
}

fn find(wanted: &[Cow<'_, Wanted>], roots: impl Iterator<Item = PathBuf>) -> Vec<Match> {
    let by_name: HashSet<(&str, u64)> =
        wanted.iter().map(|wanted| (wanted.name.as_str(), wanted.size)).collect();
    let hashes: HashSet<&str> = wanted.iter().map(|wanted| wanted.hash.as_str()).collect();
    let mut search = Search::new();
    let mut found = Vec::new();
    for root in roots.filter(|root| root.parent().is_some()) {
        search.folder(&root, DEPTH, &mut |path, name, size| {
            if by_name.contains(&(name, size))
                && let Some(hash) = hash_of(path).filter(|hash| hashes.contains(hash.as_str()))
                && let Some(path) = path.to_str()
            {
                found.push(Match { hash, path: path.to_owned() });
            }
            found.len() < FILES
        });
    }
    found
}

/// The sources in a folder that exist once.
fn files_here(folder: &Path) -> Vec<(PathBuf, Wanted)> {
    let extensions: HashSet<&str> =
        adapter::ADAPTERS.iter().flat_map(|adapter| adapter.facts().extensions).copied().collect();
    let mut files = Vec::new();
    Search::new().folder(folder, DEPTH, &mut |path, name, size| {
        let is_source = name.rsplit_once('.').is_some_and(|(_, extension)| extensions.contains(extension));
        if is_source && let Some(hash) = hash_of(path) {
            files.push((path.to_owned(), Wanted { name: name.to_owned(), size, hash }));
        }
        files.len() < FILES
    });
    let mut counts: HashMap<String, usize> = HashMap::new();
    for (_, wanted) in &files {
        *counts.entry(wanted.hash.clone()).or_default() += 1;
    }
    files.retain(|(_, wanted)| counts.get(&wanted.hash) == Some(&1));
    files
}

fn hash_of(path: &Path) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| hex_hash(&bytes))
}

/// A search of folders within limits. It enters no folder twice, and follows no symbolic link.
struct Search {
    until: Instant,
    entries: usize,
    seen: HashSet<PathBuf>,
}

impl Search {
    fn new() -> Self {
        Self { until: Instant::now() + SEARCH, entries: 0, seen: HashSet::new() }
    }

    /// Visits files with their names and sizes. False once there is enough.
    fn folder(
        &mut self,
        folder: &Path,
        depth: usize,
        visit: &mut dyn FnMut(&Path, &str, u64) -> bool,
    ) -> bool {
        if !self.seen.insert(folder.to_owned()) {
            return true;
        }
        let mut folders = Vec::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            self.entries += 1;
            if self.entries > ENTRIES || Instant::now() > self.until {
                return false;
            }
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            if kind.is_dir() && depth > 0 && !SKIPPED.contains(&name) {
                folders.push(entry.path());
            } else if kind.is_file() {
                let size = entry.metadata().map_or(0, |metadata| metadata.len());
                if SIZES.contains(&size) && !visit(&entry.path(), name, size) {
                    return false;
                }
            }
        }
        folders.iter().all(|folder| self.folder(folder, depth - 1, visit))
    }
}

/// The mappings that most of the pairs (there, here) agree with. The folder here is never left.
fn vote<'p>(
    folder: &Path,
    pairs: impl Iterator<Item = (&'p str, &'p Path)>,
    found: &FolderSearch,
) -> Vec<Guess> {
    let mut votes: HashMap<(String, String), HashSet<&Path>> = HashMap::new();
    for (there, here) in pairs {
        if let Some(roots) = roots(folder, there, here) {
            votes.entry(roots).or_default().insert(here);
        }
    }
    let mut guesses = Vec::new();
    let mut explained: HashSet<&Path> = HashSet::new();
    loop {
        for files in votes.values_mut() {
            files.retain(|file| !explained.contains(file));
        }
        let known = votes.iter().filter(|(_, files)| !files.is_empty());
        let best = known.max_by_key(|((there, here), files)| {
            let size = Reverse((there.len(), there.clone(), here.clone()));
            (found.is_named(there), files.len(), there == here, found.runs_in(there), size)
        });
        let Some(((there, here), files)) = best else { return guesses };
        if !guesses.is_empty() && files.len() < AGREEING {
            return guesses;
        }
        let Some(mapping) = Mapping::new(there, here) else { return guesses };
        let fits = |other: &HashSet<&Path>| other.len() >= files.len();
        let equals = votes.iter().filter(|((_, other), files)| other == here && fits(files));
        let mut equals: Vec<String> = equals.map(|((there, _), _)| there.clone()).collect();
        equals.retain(|other| other != there);
        equals.sort();
        guesses.push(Guess { mapping, files: files.len(), equals });
        explained.extend(files.iter().copied());
    }
}

/// Two paths without the components at their ends that are the same.
fn roots(folder: &Path, there: &str, here: &Path) -> Option<(String, String)> {
    let (mut there, mut here) = (Path::new(there).parent()?, here.parent()?);
    while here != folder && there.file_name() == here.file_name() {
        let (Some(above_there), Some(above_here)) = (there.parent(), here.parent()) else { break };
        if above_there.parent().is_none() {
            break;
        }
        (there, here) = (above_there, above_here);
    }
    Some((there.to_str()?.to_owned(), here.to_str()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs, and what is mapped.
    type Row<'r> = (&'r [(&'r str, &'r str)], Vec<(String, String, usize)>);

    fn guesses(pairs: &[(&str, &str)], found: &FolderSearch) -> Vec<Guess> {
        let pairs = pairs.iter().map(|(there, here)| (*there, Path::new(*here)));
        vote(Path::new("/me/shop"), pairs, found)
    }

    fn voted(pairs: &[(&str, &str)]) -> Vec<(String, String, usize)> {
        let guesses = guesses(pairs, &FolderSearch::default()).into_iter();
        guesses.map(|guess| (guess.mapping.there, guess.mapping.here, guess.files)).collect()
    }

    fn mapped(there: &str, here: &str, files: usize) -> (String, String, usize) {
        (there.to_owned(), here.to_owned(), files)
    }

    #[test]
    fn the_folders_that_most_files_agree_with_are_mapped() {
        let table: &[Row<'_>] = &[
            (&[], vec![]),
            (&[("/app/a.py", "/me/shop/src/a.py")], vec![mapped("/app", "/me/shop/src", 1)]),
            // The innermost common folder stays, because a root folder cannot be mapped.
            (&[("/src/a.py", "/me/shop/src/a.py")], vec![mapped("/src", "/me/shop/src", 1)]),
            (&[("/app/src/web/a.py", "/me/shop/src/web/a.py")], vec![mapped("/app", "/me/shop", 1)]),
            // What is above the folder here is not meant.
            (&[("/x/shop/a.py", "/me/shop/a.py")], vec![mapped("/x/shop", "/me/shop", 1)]),
            (
                &[
                    ("/app/a.py", "/me/shop/src/a.py"),
                    ("/app/b.py", "/me/shop/src/b.py"),
                    ("/app/web/c.py", "/me/shop/src/web/c.py"),
                    ("/old/a.py", "/me/shop/src/a.py"),
                    ("/lib/d.py", "/me/shop/lib2/d.py"),
                    ("/usr/lib/e.py", "/me/shop/lib3/e.py"),
                    ("/usr/lib/f.py", "/me/shop/lib3/f.py"),
                ],
                vec![mapped("/app", "/me/shop/src", 3), mapped("/usr/lib", "/me/shop/lib3", 2)],
            ),
            (
                &[
                    ("/me/shop/src/a.py", "/me/shop/src/a.py"),
                    ("/copy/src/a.py", "/me/shop/src/a.py"),
                    ("/copy/src/b.py", "/me/shop/src/b.py"),
                ],
                vec![mapped("/copy", "/me/shop", 2)],
            ),
            (
                &[("/copy/src/a.py", "/me/shop/src/a.py"), ("/me/shop/src/a.py", "/me/shop/src/a.py")],
                vec![mapped("/me/shop", "/me/shop", 1)],
            ),
        ];
        for (pairs, expected) in table {
            assert_eq!(&voted(pairs), expected, "{pairs:?}");
        }
    }

    #[test]
    fn of_equal_copies_the_one_that_is_used_is_meant_and_the_others_are_reported() {
        let copies = ["/srv/1/a.py", "/srv/2/a.py", "/srv/3/a.py"].map(|there| (there, "/me/shop/a.py"));
        let chosen = |named: &str, running: &str| {
            let [named, running] = [named, running].map(|path| vec![path.to_owned()]);
            let found = FolderSearch { named, running, ..FolderSearch::default() };
            let guess = guesses(&copies, &found).remove(0);
            (guess.mapping.there.clone(), basis(&[guess]))
        };
        let basis =
            "guessed from 1 file with the same content; `/srv/2`, `/srv/3` fit at least as well".to_owned();
        assert_eq!(chosen("/srv", "/"), ("/srv/1".to_owned(), basis));
        assert_eq!(chosen("/srv", "/srv/3/web").0, "/srv/3");
        assert_eq!(chosen("/srv/2/a.py", "/srv/3").0, "/srv/2");
        let more = [copies[0], ("/srv/1/b.py", "/me/shop/b.py"), copies[1]];
        assert_eq!(guesses(&more, &FolderSearch::default())[0].equals, [""; 0]);
        let named = FolderSearch { named: vec!["/srv/2".to_owned()], ..FolderSearch::default() };
        let guess = guesses(&more, &named).remove(0);
        assert_eq!(
            (guess.mapping.there.as_str(), guess.equals.as_slice()),
            ("/srv/2", &["/srv/1".to_owned()][..])
        );
    }

    #[test]
    fn of_the_paths_of_a_command_only_those_of_its_program_say_which_copy_is_meant() {
        let table: [(&[&str], &[&str]); 4] = [
            (&["python3 --config /home/me/conf.yml relative/x /srv/2/x.py:3"], &["/srv/2/x.py"]),
            (&["probe", "--via", "ssh://box", "//box/x", "--config=/home/me/c.yml"], &[]),
            (&["hang", "--cwd", "/srv/4", "/srv/3/run", "/home/me"], &["/srv/3/run", "/srv/4"]),
            (&["test", "--cwd=/srv/4"], &["/srv/4"]),
        ];
        for (words, named) in table {
            assert_eq!(program_paths(words.iter().copied()), named, "{words:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_whose_name_is_not_unicode_does_not_prevent_guessing() {
        use std::os::unix::ffi::OsStrExt as _;
        let odd = PathBuf::from(std::ffi::OsStr::from_bytes(b"/srv/\xff"));
        assert_eq!(texts([odd, "/srv/1".into(), "/srv/1".into()].into_iter()), ["/srv/1"]);
    }

    #[test]
    fn files_are_found_by_their_content() {
        let [here, there] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let write = |folder: &Path, name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text.repeat(20)).unwrap();
            path
        };
        let kept = write(here.path(), "src/kept.py", "same text");
        write(here.path(), "src/changed.py", "a text 1");
        write(here.path(), "one.py", "twice the same");
        write(here.path(), "two.py", "twice the same");
        write(here.path(), "notes.txt", "not a source");
        write(here.path(), "node_modules/x.js", "not of this project");
        let found_there = write(there.path(), "app/deep/kept.py", "same text");
        write(there.path(), "app/changed.py", "a text 2");
        let files = files_here(here.path());
        let names: HashSet<&str> = files.iter().map(|(_, wanted)| wanted.name.as_str()).collect();
        assert_eq!(names, HashSet::from(["kept.py", "changed.py"]));
        let wanted: Vec<Cow<'_, Wanted>> = files.into_iter().map(|(_, wanted)| Cow::Owned(wanted)).collect();
        let found = find(&wanted, [there.path().to_owned(), there.path().join("app")].into_iter());
        assert_eq!(found.len(), 1, "{found:?}");
        let pairs = [(found[0].path.as_str(), kept.as_path())].into_iter();
        let guesses = vote(here.path(), pairs, &FolderSearch::default());
        assert_eq!(guesses[0].mapping.there, found_there.parent().unwrap().to_str().unwrap());
    }
}
