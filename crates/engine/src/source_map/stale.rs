//! Whether a map still matches the file on disk.

use std::borrow::Cow;
use std::path::Path;

use super::MapSource;
use super::place::LARGEST;
use super::problem::MapProblem;

/// What speaks against a map that names this source. `built` is the file that the map is in: the map itself,
/// or the script with the inline map.
///
/// If the map contains the source's text, the text decides, regardless of line ends. Otherwise times do, and only
/// show that lines may be off. None if all is well or this is unknown: no such file, or only a part of it
/// (`App.vue?vue&type=script`).
pub fn staleness(source: &MapSource, built: &Path) -> Option<MapProblem> {
    let path = source.path.as_deref()?;
    if source.name.contains('?') {
        return None;
    }
    let now = std::fs::metadata(path).ok().filter(|found| found.is_file() && found.len() <= LARGEST)?;
    if let Some(content) = &source.content {
        let on_disk = std::fs::read(path).ok()?;
        let is_same = one_line_end(&String::from_utf8_lossy(&on_disk)) == one_line_end(content);
        return (!is_same).then(|| MapProblem::Differs { path: path.to_owned() });
    }
    let then = std::fs::metadata(built).ok()?.modified().ok()?;
    (now.modified().ok()? > then)
        .then(|| MapProblem::Newer { path: path.to_owned(), built: built.to_owned() })
}

/// The text without its byte order mark, with one kind of line end.
fn one_line_end(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}
