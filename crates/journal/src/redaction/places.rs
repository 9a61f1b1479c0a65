//! Paths that reveal an identity, or how a machine is set up.

use std::path::Path;

use memchr::memmem::Finder;

/// A user's home, to be found in texts.
#[derive(Clone, Debug)]
pub(super) struct Home(Vec<Finder<'static>>);

impl Home {
    /// None for a home that is a root: it says nothing, and everything begins with it.
    pub(super) fn new(home: &Path) -> Option<Self> {
        let text = home.to_str()?.trim_end_matches(['/', '\\']);
        if !home.is_absolute() || text.len() < 3 || home.parent().is_none() {
            return None;
        }
        // Windows' paths have their separators doubled where they are written as a literal.
        let mut forms = vec![text.to_owned()];
        if text.contains('\\') {
            forms.push(text.replace('\\', r"\\"));
        }
        Some(Self(forms.iter().map(|form| Finder::new(form.as_bytes()).into_owned()).collect()))
    }

    /// The text with `~` instead of it, where it matches whole components; none where it does not.
    pub(super) fn shorten(&self, text: &str) -> Option<String> {
        let mut shortened: Option<String> = None;
        for finder in &self.0 {
            let source = shortened.as_deref().unwrap_or(text);
            let length = finder.needle().len();
            let bytes = source.as_bytes();
            let mut parts: Vec<&str> = Vec::new();
            let mut from = 0;
            for at in finder.find_iter(bytes) {
                if begins(bytes.get(..at).unwrap_or_default())
                    && ends(bytes.get(at + length..).unwrap_or_default())
                {
                    parts.extend(source.get(from..at));
                    from = at + length;
                }
            }
            if from > 0 {
                parts.extend(source.get(from..));
                shortened = Some(parts.join("~"));
            }
        }
        shortened
    }
}

/// Whether a path can begin after this.
fn begins(before: &[u8]) -> bool {
    match before {
        [.., b':', b'/', b'/'] | [.., b'\\', b'n' | b't' | b'r'] | [] => true,
        [.., byte] => {
            !(byte.is_ascii_alphanumeric()
                || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'\\' | b'~')
                || *byte >= 0x80)
        }
    }
}

/// Whether a component ends before this.
fn ends(behind: &[u8]) -> bool {
    match behind {
        [b'.', next, ..] => !(next.is_ascii_alphanumeric() || matches!(next, b'_' | b'-')),
        [byte, ..] => !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'~') || *byte >= 0x80),
        [] => true,
    }
}

/// The path of an interpreter, relative to the folder it is in; else only its name. None if it is not an absolute
/// path.
pub(super) fn relative(path: &str, folder: Option<&Path>) -> Option<String> {
    let is_windows =
        path.as_bytes().get(1..3).is_some_and(|two| two == br":\" || two == b":/") || path.starts_with(r"\\");
    let is_home = path.starts_with("~/");
    if !path.starts_with('/') && !is_windows && !is_home {
        return None;
    }
    let below = folder.and_then(|folder| Path::new(path).strip_prefix(folder).ok()).and_then(Path::to_str);
    if let Some(below) = below.filter(|below| !below.is_empty()) {
        return Some(below.to_owned());
    }
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn home_directory_is_shortened_by_whole_components() {
        let home = Home::new(Path::new("/home/ann")).unwrap();
        let table = [
            ("/home/ann", "~"),
            ("/home/ann/app.py", "~/app.py"),
            ("at /home/ann/a.js:3 and \"/home/ann/b.js\"", "at ~/a.js:3 and \"~/b.js\""),
            ("file:///home/ann/a.mjs", "file://~/a.mjs"),
            (r"'a\n/home/ann/x'", r"'a\n~/x'"),
            ("PATH=/home/ann/bin:/home/ann/.local/bin", "PATH=~/bin:~/.local/bin"),
            ("in /home/ann.", "in ~."),
        ];
        for (text, expected) in table {
            assert_eq!(home.shorten(text).as_deref(), Some(expected));
        }
        for text in ["/home/annabel", "/home/ann-2/x", "/mnt/home/ann/x", "/home/ann.old/x", "/home", ""] {
            assert_eq!(home.shorten(text), None, "{text}");
        }
        assert!(Home::new(Path::new("/")).is_none());
        assert!(Home::new(Path::new("")).is_none());
    }

    #[test]
    fn interpreters_are_recognized_by_folder_or_name() {
        let folder = Some(Path::new("/work/app"));
        let table = [
            ("/usr/bin/python3", Some("python3")),
            ("/work/app/.venv/bin/python", Some(".venv/bin/python")),
            ("/work/application/bin/node", Some("node")),
            ("~/.pyenv/shims/python", Some("python")),
            (r"C:\Python\python.exe", Some("python.exe")),
            ("python3", None),
            (".venv/bin/python", None),
            ("", None),
        ];
        for (path, expected) in table {
            assert_eq!(relative(path, folder).as_deref(), expected, "{path}");
        }
    }
}
