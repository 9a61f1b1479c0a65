//! From the name of a source in a map to a path on this machine.

use std::cell::OnceCell;
use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;

/// How many folders above the map are searched for a source that a bundler named from the project's root.
const ANCESTORS: usize = 16;

/// Makes paths of the names in one map.
pub(super) struct Resolver<'a> {
    base: &'a Path,
    /// Where the root of the project may be, the nearest first. Found when a name needs it.
    roots: OnceCell<Vec<&'a Path>>,
}

impl<'a> Resolver<'a> {
    /// Names are resolved against the folder of the map, or of the script whose inline map it is.
    pub(super) fn new(base: &'a Path) -> Self {
        Self { base, roots: OnceCell::new() }
    }

    /// The path of a source, or None if its name cannot be made one. A file that exists is given without
    /// links.
    pub(super) fn path(&self, name: &str, source_root: Option<&str>) -> Option<PathBuf> {
        if name.is_empty() {
            return None;
        }
        let name = rooted(name, source_root);
        let path = match scheme(&name) {
            None => in_folder(self.base, &name),
            Some(scheme) if scheme.eq_ignore_ascii_case("file") => file_url_path(&name)?,
            Some(scheme) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => {
                return None;
            }
            Some(_) => match name.split_once("://") {
                Some((_, rest)) => self.bundled(rest)?,
                // `node:fs` is not a file, but a file name may have a colon.
                None => Some(in_folder(self.base, &name)).filter(|path| path.is_file())?,
            },
        };
        // `..`, `#top` and the like resolve to a folder around the map, which is not a source.
        (!self.base.starts_with(&path)).then(|| path.canonicalize().unwrap_or(path))
    }

    /// The file that a bundler means by `webpack://package/./src/x.ts` and the like, given the text after `://`. The
    /// name is relative to the project's root, which is unknown: the folders above the map are tried. Without a
    /// package, it may also be relative to the root of the disk.
    fn bundled(&self, rest: &str) -> Option<PathBuf> {
        let (package, name) = rest.split_once('/')?;
        let name = name.strip_prefix("[project]/").unwrap_or(name);
        let disk = package.is_empty().then_some(Path::new("/"));
        let folders = self.roots().iter().copied().chain(disk);
        folders.map(|folder| in_folder(folder, name)).find(|path| path.is_file())
    }

    /// The folders from the map's own up to the one with the repository.
    fn roots(&self) -> &[&'a Path] {
        self.roots.get_or_init(|| {
            let folders: Vec<&Path> = self.base.ancestors().take(ANCESTORS).collect();
            let last = folders.iter().position(|folder| folder.join(".git").exists());
            folders.into_iter().take(last.map_or(ANCESTORS, |last| last + 1)).collect()
        })
    }
}

/// The scheme of a URL. One letter is a drive of Windows, not a scheme.
pub(super) fn scheme(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(':')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(is_part);
    is_scheme.then_some(scheme)
}

/// The path of a `file:` URL of this machine.
pub fn file_url_path(url: &str) -> Option<PathBuf> {
    let rest = url.get("file:".len()..)?;
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    if !path.starts_with('/') {
        return None;
    }
    let end = path.find(['?', '#']).unwrap_or(path.len());
    let path = percent_decode_str(path.get(..end)?).decode_utf8_lossy().into_owned();
    // `/C:/x` is `C:/x` where there are drives.
    let path = if cfg!(windows) { path.trim_start_matches('/').to_owned() } else { path };
    Some(normalised(Path::new(&path)))
}

/// Takes `.` and `..` out by the text alone, as URLs are resolved.
pub(super) fn normalised(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                // Above the root is the root; a relative path may begin above where it is.
                if !whole.pop() && !whole.has_root() {
                    whole.push(part);
                }
            }
            _ => whole.push(part),
        }
    }
    whole
}

/// The name below the map's `sourceRoot`, unless it is absolute.
fn rooted(name: &str, root: Option<&str>) -> String {
    let root = root.unwrap_or_default();
    if root.is_empty() || name.starts_with('/') || scheme(name).is_some() || Path::new(name).is_absolute() {
        return name.to_owned();
    }
    format!("{}/{name}", root.strip_suffix('/').unwrap_or(root))
}

/// What a relative URL means in a folder. Some tools write a plain path there, with `%`, `?` or `#` in it:
/// what exists decides, and then the rules of URLs do.
pub(super) fn in_folder(folder: &Path, name: &str) -> PathBuf {
    let literal = normalised(&folder.join(name));
    if !name.contains(['%', '?', '#']) || literal.is_file() {
        return literal;
    }
    let decoded = |name: &str| {
        let name = percent_decode_str(name).decode_utf8_lossy();
        normalised(&folder.join(name.as_ref()))
    };
    let whole = decoded(name);
    if whole.is_file() {
        return whole;
    }
    let end = name.find(['?', '#']).unwrap_or(name.len());
    decoded(name.get(..end).unwrap_or(name))
}
