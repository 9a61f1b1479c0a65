//! The scripts of one thread of JavaScript, and the files that they were made of.
//!
//! V8 does not read source maps. A script's map is read once, when it is first needed.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use ::cdp::debugger::{GetScriptSource, Location};
use tokio::sync::OnceCell;

use super::v8::V8Client;
use crate::adapter::node::{map_beside, map_through_file, read_map};
use crate::javascript::{ScriptOutline, is_plain, offset};
use crate::lock::lock;
use crate::policy::SharedPolicy;
use crate::source_map::{self, MapProblem, Position, SourceMap};

/// A script.
#[derive(Debug)]
pub(super) struct Script {
    /// V8's number for it.
    pub(super) id: String,
    /// What V8 calls it: a `file:` URL, a plain path, `node:…`, or nothing for evaluated code.
    pub(super) url: String,
    /// The file that `url` names; the URL itself of a module that a bundler has evaluated with its map, such as
    /// `webpack-internal:///./src/main.ts`.
    pub(super) path: Option<PathBuf>,
    /// It is an ES module.
    pub(super) is_module: bool,
    /// Where its code begins in the file, 0-based; `(0, 0)` unless it was cut out of another text.
    pub(super) start: (i32, i32),
    /// Where it ends, 0-based.
    pub(super) end: (i32, i32),
    /// Its source map: as the script says it, or else the file beside it.
    map_url: Option<String>,
    /// The file that the names in it are relative to.
    base: Option<PathBuf>,
    maps: OnceCell<Result<Maps, MapProblem>>,
    /// Says whether the map may be read.
    policy: SharedPolicy,
    /// Has its text.
    v8: V8Client,
    text: OnceCell<Arc<str>>,
    /// None when it cannot be parsed.
    outline: OnceLock<Option<ScriptOutline>>,
}

/// The map of a script.
#[derive(Debug)]
struct Maps {
    /// As the compiler or loader made it.
    own: Arc<SourceMap>,
    /// From the script to what users write: if a loader rewrote a compiled file, beyond that file.
    to_sources: Arc<SourceMap>,
}

impl Maps {
    fn read(url: &str, base: &Path, file: Option<&Path>, policy: &SharedPolicy) -> Result<Self, MapProblem> {
        let own = read_map(url, base, &policy.safety)?;
        let beyond = file.and_then(|file| map_through_file(&own, url, file, &policy.safety));
        let to_sources = beyond.map_or_else(|| Arc::clone(&own), Arc::new);
        Ok(Self { own, to_sources })
    }
}

impl Script {
    /// `evaluator` is the file that was loaded last.
    pub(super) fn new(
        parsed: ::cdp::debugger::Script,
        evaluator: Option<PathBuf>,
        policy: SharedPolicy,
        v8: V8Client,
    ) -> Self {
        let file = path_of(&parsed.url);
        let named = parsed.source_map_url.filter(|url| !url.is_empty());
        let map_url = named.or_else(|| map_beside(file.as_deref().filter(|file| is_plain(file))?));
        let is_evaluated =
            parsed.url.contains("://") && map_url.as_ref().is_some_and(|url| url.starts_with("data:"));
        let url = (file.is_none() && is_evaluated).then(|| PathBuf::from(&parsed.url));
        Self {
            policy,
            v8,
            base: if url.is_some() { evaluator } else { file.clone() },
            path: file.or(url),
            is_module: parsed.is_module,
            start: (parsed.start_line, parsed.start_column),
            end: (parsed.end_line, parsed.end_column),
            map_url,
            id: parsed.script_id,
            url: parsed.url,
            maps: OnceCell::new(),
            text: OnceCell::new(),
            outline: OnceLock::new(),
        }
    }

    /// A bundler has evaluated it, with its map.
    pub(super) fn is_module_of_bundle(&self) -> bool {
        self.path.is_some() && self.file().is_none()
    }

    /// The file that `url` names.
    pub(super) fn file(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| path.is_absolute())
    }

    /// A place in its file, as one in its text: a loader may have put code before the first line. 0-based.
    pub(super) fn in_text(&self, (line, column): Position) -> Position {
        let (first, indent) = self.start;
        let line = i64::from(line) - i64::from(first);
        let column = if line == 0 { i64::from(column) - i64::from(indent) } else { i64::from(column) };
        (u32::try_from(line).unwrap_or(0), u32::try_from(column).unwrap_or(0))
    }

    /// A place in its text, as V8 knows it. 0-based.
    pub(super) fn in_file(&self, (line, column): Position) -> Location {
        let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        let (first, indent) = self.start;
        let column = number(column).saturating_add(if line == 0 { indent } else { 0 });
        let line_number = number(line).saturating_add(first);
        Location { script_id: self.id.clone(), line_number, column_number: Some(column) }
    }

    /// It was made by a compiler that left a map.
    pub(super) fn is_mapped(&self) -> bool {
        self.map_url.is_some()
    }

    /// Its text. Asked for at the first call.
    pub(super) async fn text(&self) -> Option<Arc<str>> {
        let read = || async {
            let question = GetScriptSource { script_id: self.id.clone() };
            self.v8.request(question).await.map(|source| source.script_source.into())
        };
        self.text.get_or_try_init(read).await.ok().cloned()
    }

    /// Its text, and the byte of a place in it.
    pub(super) async fn text_at(&self, place: &Location) -> Option<(Arc<str>, usize)> {
        let text = self.text().await?;
        let offset = offset(&text, self.in_text(position(place)))?;
        Some((text, usize::try_from(offset).ok()?))
    }

    /// What its text says of a place; none when it cannot be read or parsed. Parsed at the first call.
    pub(super) async fn at_outline<T: Send + 'static>(
        self: Arc<Self>,
        place: &Location,
        answer: impl FnOnce(&ScriptOutline, Position) -> T + Send + 'static,
    ) -> Option<T> {
        let text = self.text().await?;
        let place = self.in_text(position(place));
        let work = move || {
            let outline = self.outline.get_or_init(|| ScriptOutline::of(&text));
            outline.as_ref().map(|outline| answer(outline, place))
        };
        tokio::task::spawn_blocking(work).await.ok()?
    }

    /// The map; none when the script has none. Read at the first call.
    pub(super) async fn map(&self) -> Option<Result<&Arc<SourceMap>, &MapProblem>> {
        Some(self.maps().await?.map(|maps| &maps.to_sources))
    }

    /// The map that has this source. The one that a loader made of the script's own file leads to the file itself.
    pub(super) async fn map_to(&self, source: &Path) -> Option<Result<&Arc<SourceMap>, &MapProblem>> {
        let is_own_file = self.path.as_deref() == Some(source);
        Some(self.maps().await?.map(|maps| if is_own_file { &maps.own } else { &maps.to_sources }))
    }

    async fn maps(&self) -> Option<Result<&Maps, &MapProblem>> {
        let url = self.map_url.clone()?;
        let (base, file) = (self.base.clone()?, self.file().map(Path::to_owned));
        let policy = Arc::clone(&self.policy);
        let read = || async move {
            let work = tokio::task::spawn_blocking(move || Maps::read(&url, &base, file.as_deref(), &policy));
            work.await.unwrap_or_else(|error| Err(MapProblem::Corrupt { reason: error.to_string() }))
        };
        Some(self.maps.get_or_init(read).await.as_ref())
    }

    /// Whether its map could be about a file of this name, without decoding it.
    pub(super) async fn may_mention(&self, file_name: &str) -> bool {
        let (Some(url), Some(path)) = (self.map_url.clone(), self.base.clone()) else { return false };
        if let Some(Ok(maps)) = self.maps.get() {
            let ends_so = |name: &Path| name.file_name().is_some_and(|name| name == file_name);
            return maps.to_sources.sources().any(|source| source.path.as_deref().is_some_and(ends_so));
        }
        let (file_name, policy) = (file_name.to_owned(), Arc::clone(&self.policy));
        let work = tokio::task::spawn_blocking(move || {
            let raw = policy.safety.read_map(&source_map::place(&url, &path));
            raw.is_ok_and(|raw| source_map::may_mention(&raw, &file_name))
        });
        work.await.unwrap_or(false)
    }
}

/// The file that a script's URL names. Loaders append a query to make a URL another one.
pub(super) fn path_of(url: &str) -> Option<PathBuf> {
    if url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
        return source_map::file_url_path(url);
    }
    let path = Path::new(url);
    path.is_absolute().then(|| path.to_owned())
}

/// 0-based line and column; V8 leaves a column out where it is 0.
pub(super) fn position(place: &Location) -> Position {
    let number = |value: i32| u32::try_from(value).unwrap_or(0);
    (number(place.line_number), number(place.column_number.unwrap_or(0)))
}

/// How many scripts without a name are kept. Each of our evaluations is one.
const NAMELESS: usize = 500;

/// All scripts of a thread.
#[derive(Debug, Default)]
pub(super) struct Scripts(Mutex<ScriptTable>);

#[derive(Debug, Default)]
struct ScriptTable {
    by_id: HashMap<String, Arc<Script>>,
    /// Those without a name, oldest first.
    nameless: VecDeque<String>,
    /// The file outside of libraries that was loaded last.
    last_file: Option<PathBuf>,
}

impl Scripts {
    /// The file outside of libraries that was loaded last.
    pub(super) fn last_file(&self) -> Option<PathBuf> {
        lock(&self.0).last_file.clone()
    }

    /// `is_library`: its file is one of a library's.
    pub(super) fn add(&self, script: Script, is_library: bool) -> Arc<Script> {
        let script = Arc::new(script);
        let mut table = lock(&self.0);
        if let Some(file) = script.file().filter(|_| !is_library) {
            table.last_file = Some(file.to_owned());
        }
        if script.path.is_none() && !script.url.starts_with("node:") {
            table.nameless.push_back(script.id.clone());
            if table.nameless.len() > NAMELESS
                && let Some(oldest) = table.nameless.pop_front()
            {
                table.by_id.remove(&oldest);
            }
        }
        table.by_id.insert(script.id.clone(), Arc::clone(&script));
        script
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Script>> {
        lock(&self.0).by_id.get(id).cloned()
    }

    /// Those that a compiler made.
    pub(super) fn mapped(&self) -> Vec<Arc<Script>> {
        self.matching(Script::is_mapped)
    }

    /// The latest loaded one of those requested. A file that is evaluated again is a new script.
    pub(super) fn newest(&self, is_wanted: impl Fn(&Script) -> bool) -> Option<Arc<Script>> {
        self.matching(is_wanted).into_iter().max_by_key(|script| script.id.parse::<u64>().unwrap_or(0))
    }

    /// The files that are loaded, each once.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            lock(&self.0).by_id.values().filter_map(|script| script.path.clone()).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// A position in a script, 0-based, for messages.
    pub(super) fn name_of(&self, id: &str, line: i32, column: i32) -> Option<String> {
        let script = self.get(id)?;
        let name = script.path.as_ref().map_or_else(|| script.url.clone(), |path| path.display().to_string());
        (!name.is_empty()).then(|| format!("{name}:{}:{}", line.saturating_add(1), column.saturating_add(1)))
    }

    fn matching(&self, is_wanted: impl Fn(&Script) -> bool) -> Vec<Arc<Script>> {
        lock(&self.0).by_id.values().filter(|script| is_wanted(script)).cloned().collect()
    }
}
