//! What the words of a command name.

use std::path::{Component, Path, PathBuf};

use crate::host::Host;
use crate::source_map::file_url_path;

/// Programs that find files by patterns and variables, which cannot be predicted.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "busybox"];
/// How the names of variables begin that give code and files to loaders, shells, libraries and package managers. Below
/// `HOME`, shells and package managers have common prefixes. Languages add further variables.
const VARIABLES: [&str; 9] =
    ["PATH", "HOME", "XDG_", "LD_", "DYLD_", "GCONV_PATH", "OPENSSL_", "BASH_ENV", "ENV"];

/// Whether an executable is what anybody gets who calls a command by its name: its file, links resolved, is in
/// a folder of the search path.
pub(super) fn is_on_search_path(host: &dyn Host, executable: &Path) -> bool {
    let Ok(real) = executable.canonicalize() else { return false };
    real.is_file() && real.parent().is_some_and(|folder| is_search_folder(host, folder))
}

/// Whether a folder is one of the search path, links resolved. Some of those are not there.
pub(super) fn is_search_folder(host: &dyn Host, folder: &Path) -> bool {
    let path = host.env("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let real = folder.canonicalize().ok();
    folders.any(|one| one == folder || real.is_some() && one.canonicalize().ok() == real)
}

/// What a word of a command may name: files and folders that are there, and whatever has more than a name, there
/// or not, because who is given it may complete the name. A part ends where an option's value begins, or a
/// test's name, or an element of a list, or where a shell would split it.
pub(super) fn paths_in(folder: &Path, word: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = parts_of(word)
        .into_iter()
        .filter_map(|part| match part.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("file:") => file_url_path(part),
            _ => Some(folder.join(part)).filter(|path| !is_url(part) && is_path(part, path)),
        })
        .filter(|path| !super::roots::is_nothing(path))
        .collect();
    paths.sort();
    paths.dedup();
    paths
}

/// A word, and the parts of it that may be names.
pub(crate) fn parts_of(word: &str) -> Vec<&str> {
    let parts = word.split(ends_part).flat_map(elements);
    let mut named: Vec<&str> = std::iter::once(word).chain(parts).filter(|part| !part.is_empty()).collect();
    named.sort_unstable();
    named.dedup();
    named
}

fn ends_part(letter: char) -> bool {
    letter.is_whitespace() || "'\"=;&|<>()`,".contains(letter)
}

/// A part, what it is without a test's name, the elements of a list, and the value that follows an option without
/// anything between them, as in `-c/a/pytest.ini`.
fn elements(part: &str) -> Vec<&str> {
    let mut found = vec![part, part.split("::").next().unwrap_or(part)];
    if !is_url(part) {
        found.extend(part.split(':'));
    }
    if part.starts_with('-')
        && let Some(value) = part.find(['/', '.']).and_then(|at| part.get(at..))
    {
        found.extend(value.split(':'));
    }
    found
}

/// `http://localhost/`, which names no file.
fn is_url(part: &str) -> bool {
    part.split_once("://").is_some_and(|(scheme, _)| !scheme.is_empty() && !scheme.contains('/'))
}

fn is_path(part: &str, whole: &Path) -> bool {
    let mut components = Path::new(part).components();
    let is_more = matches!(
        (components.next(), components.next()),
        (Some(Component::RootDir | Component::Prefix(_) | Component::ParentDir), _) | (Some(_), Some(_))
    );
    // Neither an option nor a list is a path, and its content is checked separately.
    let is_one = !part.starts_with('-') && !part.contains(|letter| letter == ':' || ends_part(letter));
    (is_more && is_one) || whole.symlink_metadata().is_ok()
}

/// Whether files and code are named by a variable: those of its value count as words of a command.
pub(super) fn names_files(variable: &str) -> bool {
    VARIABLES.iter().any(|start| variable.starts_with(start))
}

/// The shell that is to run a text, in a command or after others in it: `env bash -c TEXT`.
pub(super) fn shell_of_text<'w>(words: &[&'w str]) -> Option<&'w str> {
    let name = |word: &'w str| Path::new(word).file_name().and_then(|name| name.to_str());
    let is_text = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.contains('c');
    let at = words.iter().position(|word| name(word).is_some_and(|name| SHELLS.contains(&name)))?;
    let (shell, rest) = words.get(at..)?.split_first()?;
    // The applet of busybox is a word of its own.
    let options = rest.iter().skip_while(|word| SHELLS.contains(word));
    options.take_while(|word| word.starts_with('-')).any(is_text).then_some(*shell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_command_arguments_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.js");
        std::fs::write(&file, "").unwrap();
        let table = [
            "a.js",
            "./a.js",
            "--require=a.js",
            "node a.js",
            "'a.js'",
            "a.js::test_one",
            "cat<a.js;x",
            "x:a.js",
            "sub/a.js",
            "-c./a.js",
        ];
        for word in table {
            let found = paths_in(folder.path(), word);
            assert!(found.iter().any(|found| found.ends_with("a.js")), "{word}: {found:?}");
        }
        for word in ["b.js", "-e", "", "/dev/null", "node:test", "http://127.0.0.1:80/x", "--a.b", "not"] {
            assert_eq!(paths_in(folder.path(), word), Vec::<PathBuf>::new(), "{word}");
        }
    }

    #[test]
    fn paths_that_lead_outside_are_found_even_if_missing() {
        let table = [
            ("/x/y", "/x/y"),
            ("--require=/x/y", "/x/y"),
            ("../x", "/w/../x"),
            ("-c/x/pytest.ini", "/x/pytest.ini"),
            ("-c../x", "/w/../x"),
            ("file:/x/y", "/x/y"),
            ("FILE:///x/%79?z", "/x/y"),
            ("file://localhost/x/y", "/x/y"),
            ("--import=file:///x/y", "/x/y"),
            ("..", "/w/.."),
            ("lib:/x/y", "/x/y"),
        ];
        for (word, expected) in table {
            let found = paths_in(Path::new("/w"), word);
            assert!(found.contains(&PathBuf::from(expected)), "{word}: {found:?}");
        }
    }

    #[test]
    fn shells_that_run_a_string_are_detected() {
        let table: [(&[&str], Option<&str>); 7] = [
            (&["sh", "-c", "x"], Some("sh")),
            (&["/bin/bash", "-e", "-uc", "x"], Some("/bin/bash")),
            (&["env", "A=1", "zsh", "-c", "x"], Some("zsh")),
            (&["busybox", "sh", "-c", "x"], Some("busybox")),
            (&["bash", "x.sh", "-c"], None),
            (&["node", "-c", "x.js"], None),
            (&["pytest", "-c", "pytest.ini"], None),
        ];
        for (words, expected) in table {
            assert_eq!(shell_of_text(words), expected, "{words:?}");
        }
    }
}
