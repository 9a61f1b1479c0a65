//! From a line of a source to the places in scripts that were made of it.
//!
//! A source runs unchanged, or a compiler made scripts from it. Scripts on disk are found before they load, so that
//! V8 can bind a breakpoint in them at compilation: by their names first, and if none matches, by reading every map
//! of the project.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::scripts::{Script, Scripts};
use super::sources::Sources;
use crate::adapter::node::map_of;
use crate::javascript::is_plain;
use crate::safety::Safety;
use crate::source_map::{self, MapLocation, SourceMap};

/// A place for a breakpoint, 0-based.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ScriptSpot {
    /// The file whose scripts it is in.
    pub(super) path: PathBuf,
    pub(super) line: u32,
    /// In UTF-16 units; it means the first code at or after it.
    pub(super) column: u32,
    /// A compiler's map says so; otherwise the script is the source itself.
    pub(super) is_mapped: bool,
}

/// A script that a compiler made of a source.
#[derive(Clone, Debug)]
pub(super) struct CompiledScript {
    /// The file of the script.
    pub(super) path: PathBuf,
    pub(super) map: Arc<SourceMap>,
}

/// The most files of a project that are searched.
const MOST_FILES: usize = 20_000;
/// The most bytes of maps that are read in search of a source.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// The scripts that were made of a source, on disk and among those that are loaded.
pub(super) async fn made_of(sources: &Sources, source: &Path) -> Vec<CompiledScript> {
    let (searched, wanted) = (sources.clone(), source.to_owned());
    let search = move || {
        let program = &searched.program;
        find_made(&wanted, program.setup.program.as_deref(), &searched.scripts, &program.policy.safety)
    };
    let mut found = tokio::task::spawn_blocking(search).await.unwrap_or_default();
    found.extend(evaluated(&sources.scripts, source).await);
    found
}

/// The loaded modules of a bundle that were made of a source: their maps are nowhere on disk.
async fn evaluated(loaded: &Scripts, source: &Path) -> Option<CompiledScript> {
    let name = source.file_name()?.to_str()?;
    let mut modules = loaded.mapped();
    modules.retain(|script| script.is_module_of_bundle());
    modules.sort_by_key(|script| Reverse(script.id.parse::<u64>().unwrap_or(0)));
    for script in modules {
        if script.may_mention(name).await
            && let Some(Ok(map)) = script.map().await
            && map.source_of(source).is_some()
        {
            return Some(CompiledScript { path: script.path.clone()?, map: Arc::clone(map) });
        }
    }
    None
}

fn find_made(
    source: &Path,
    program: Option<&Path>,
    loaded: &Scripts,
    safety: &Safety,
) -> Vec<CompiledScript> {
    let mut found: Vec<CompiledScript> = Vec::new();
    let candidates = project_files(source, is_plain);
    let is_namesake = |path: &&PathBuf| path.file_stem() == source.file_stem() && path.as_path() != source;
    let named: Vec<&PathBuf> = candidates.iter().filter(is_namesake).collect();
    let main = program.filter(|program| *program != source).map(Path::to_owned);
    for path in named.into_iter().chain(main.as_ref()) {
        add(&mut found, source, path, safety);
    }
    for script in loaded.mapped() {
        if let Some(path) = script.file()
            && path != source
        {
            add(&mut found, source, path, safety);
        }
    }
    // A file that Node runs unchanged needs no compiler; any other needs one.
    if found.is_empty() && !is_plain(source) {
        search(&mut found, source, &candidates, safety);
    }
    found
}

/// The places for a line (0-based) of a source.
pub(super) fn spots(
    source: &Path,
    made: &[CompiledScript],
    line: u32,
    column: Option<u32>,
) -> Vec<ScriptSpot> {
    let itself = ScriptSpot { path: source.to_owned(), line, column: column.unwrap_or(0), is_mapped: false };
    let mut spots = vec![itself];
    for CompiledScript { path, map } in made {
        spots.extend(mapped(source, path, map, line, column));
    }
    spots
}

/// The places for a line of a source in one script that was made of it.
pub(super) fn mapped(
    source: &Path,
    script: &Path,
    map: &SourceMap,
    line: u32,
    column: Option<u32>,
) -> Vec<ScriptSpot> {
    let places = map.source_of(source).map(|id| map.places(id, line, column));
    let places = places.and_then(Result::ok).unwrap_or_default();
    let spot = |(line, column)| ScriptSpot { path: script.to_owned(), line, column, is_mapped: true };
    places.into_iter().map(spot).collect()
}

/// Why no script has the line: the reason of the last failed step.
pub(super) fn problem(source: &Path, script: &Script, map: &SourceMap, line: u32) -> Option<String> {
    let id = match map.find(source) {
        Ok(id) => id,
        Err(problem) => return Some(problem.to_string()),
    };
    let stale = script.path.as_deref().and_then(|built| source_map::staleness(map.source(id)?, built));
    let places = map.places(id, line, None).err();
    stale.or(places).map(|problem| problem.to_string())
}

fn add(found: &mut Vec<CompiledScript>, source: &Path, script: &Path, safety: &Safety) {
    if found.iter().any(|made| made.path == script) {
        return;
    }
    let Some(map) = map_of(script, safety) else { return };
    if map.source_of(source).is_some() {
        found.push(CompiledScript { path: real(script), map });
    }
}

/// Searches all maps of the project for one that names the source.
fn search(found: &mut Vec<CompiledScript>, source: &Path, candidates: &[PathBuf], safety: &Safety) {
    let Some(name) = source.file_name().and_then(|name| name.to_str()) else { return };
    let mut read = 0;
    for script in candidates {
        let Some(beside) = script.file_name().and_then(|name| name.to_str()) else { continue };
        let map = script.with_file_name(format!("{beside}.map"));
        let Ok(raw) = safety.read_map(&MapLocation::File(map)) else { continue };
        read += raw.len() as u64;
        if read > MOST_BYTES {
            return;
        }
        if source_map::may_mention(&raw, name) {
            add(found, source, script, safety);
        }
    }
}

/// All sources of the project that a file belongs to, or else of its folder.
pub(super) fn project_sources(program: &Path) -> Vec<PathBuf> {
    let is_source = |path: &Path| {
        crate::adapter::by_extension(path)
            .is_some_and(|adapter| adapter.facts().driver == crate::adapter::Driver::Node)
    };
    if project(program).is_some() {
        return project_files(program, is_source);
    }
    let folder = program.parent().map(std::fs::read_dir);
    let entries = folder.into_iter().flatten().flatten().flatten().take(MOST_FILES);
    entries.map(|entry| entry.path()).filter(|path| is_source(path)).collect()
}

/// Whether a script was made of a source that is there as well.
pub(super) fn is_made_of_another(script: &Path, safety: &Safety) -> bool {
    let map = is_plain(script).then(|| map_of(script, safety)).flatten();
    map.is_some_and(|map| map.sources().any(|source| source.path.as_ref().is_some_and(|path| path.is_file())))
}

/// The files of the project that a file belongs to, without libraries and hidden folders.
fn project_files(source: &Path, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let project = project(source);
    // Where nothing says how far a project reaches, a compiler writes beside its source.
    let is_deep = project.is_some();
    let mut scripts = Vec::new();
    let mut folders: Vec<PathBuf> =
        project.or_else(|| source.parent().map(Path::to_owned)).into_iter().collect();
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MOST_FILES {
                return scripts;
            }
            let name = entry.file_name();
            let name = name.to_string_lossy();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && is_deep && name != "node_modules" && !name.starts_with('.') => {
                    folders.push(entry.path());
                }
                Ok(kind) if !kind.is_dir() && is_wanted(Path::new(&*name)) => scripts.push(entry.path()),
                _ => {}
            }
        }
    }
    scripts
}

/// The nearest folder with a `package.json` or `tsconfig.json`.
fn project(source: &Path) -> Option<PathBuf> {
    let is_root =
        |folder: &&Path| ["package.json", "tsconfig.json"].iter().any(|name| folder.join(name).is_file());
    source.ancestors().skip(1).find(is_root).map(Path::to_owned)
}

/// Node reports scripts under their real paths.
pub(super) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
