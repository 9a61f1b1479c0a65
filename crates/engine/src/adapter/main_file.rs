//! Which program a process runs, by its command line.

use std::path::{Path, PathBuf};

use super::node::{names_code, takes_next_word};

/// Options of Python that take the next word, one letter each.
const OF_PYTHON: [char; 3] = ['W', 'X', 'Q'];
/// Options of debugpy's command line that take the next word (debugpy 1.8, `server/cli.py`). So do `--configure-*`.
const OF_DEBUGPY: [&str; 6] =
    ["--listen", "--connect", "--log-to", "--adapter-access-token", "--parent-session-pid", "--pid"];

/// The main file of a process, where it would be; the working folder of one whose program is in its command line.
/// None when the process runs no language that is known here, or the system does not tell.
pub(crate) fn main_of(pid: u32) -> Option<PathBuf> {
    let of = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
    let (executable, folder) = (std::fs::read_link(of("exe")).ok()?, std::fs::read_link(of("cwd")).ok()?);
    let texts = |name: &str| {
        let bytes = std::fs::read(of(name)).unwrap_or_default();
        let texts = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
        texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect::<Vec<String>>()
    };
    let environment = texts("environ");
    let search = environment.iter().find_map(|variable| variable.strip_prefix("PYTHONPATH="));
    let search: Vec<PathBuf> = std::env::split_paths(search.unwrap_or_default()).collect();
    let words = texts("cmdline");
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    program(executable.file_name()?.to_str()?, &words, &folder, &search)
}

/// The same of an interpreter's name, its words, its working folder, and where it looks for modules first.
fn program(interpreter: &str, words: &[&str], folder: &Path, search: &[PathBuf]) -> Option<PathBuf> {
    if interpreter.starts_with("python") || interpreter.starts_with("pypy") {
        Some(python(words, folder, search))
    } else if interpreter.starts_with("node") {
        Some(node(words, folder))
    } else {
        None
    }
}

fn python(words: &[&str], folder: &Path, search: &[PathBuf]) -> PathBuf {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "--check-hash-based-pycs" {
            words.next();
        }
        if word.starts_with("--") {
            continue;
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            return if word == "-" { folder.to_owned() } else { folder.join(word) };
        };
        let Some(at) = letters.find(|letter| OF_PYTHON.contains(&letter) || matches!(letter, 'c' | 'm'))
        else {
            continue;
        };
        let (option, glued) = letters.split_at(at).1.split_at(1);
        let value = if glued.is_empty() { words.next() } else { Some(glued) };
        match (option, value) {
            ("c", _) => return folder.to_owned(),
            ("m", Some("debugpy")) => return behind_debugpy(words, folder, search),
            ("m", Some(module)) => return module_file(module, folder, search),
            _ => {}
        }
    }
    folder.to_owned()
}

fn behind_debugpy<'w>(
    mut words: impl Iterator<Item = &'w str>,
    folder: &Path,
    search: &[PathBuf],
) -> PathBuf {
    while let Some(word) = words.next() {
        match word {
            "-c" => break,
            "-m" => return words.next().map_or(folder.to_owned(), |name| module_file(name, folder, search)),
            _ if OF_DEBUGPY.contains(&word) || word.starts_with("--configure-") => {
                words.next();
            }
            _ if word.starts_with('-') => {}
            _ => return folder.join(word),
        }
    }
    folder.to_owned()
}

/// Where a module is found first. One that is installed has no place of its own.
fn module_file(name: &str, folder: &Path, search: &[PathBuf]) -> PathBuf {
    let path = name.replace('.', "/");
    let folders = std::iter::once(folder.to_owned()).chain(search.iter().map(|one| folder.join(one)));
    let places = folders.flat_map(|one| [one.join(format!("{path}.py")), one.join(&path)]);
    places.into_iter().find(|place| place.exists()).unwrap_or_else(|| folder.to_owned())
}

fn node(words: &[&str], folder: &Path) -> PathBuf {
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if names_code(word) || word == "-" {
            break;
        }
        if takes_next_word(word) {
            words.next();
        } else if !word.starts_with('-') {
            return folder.join(word);
        }
    }
    folder.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_file_is_found_behind_options_and_their_values() {
        let base = tempfile::tempdir().unwrap();
        let (folder, library) = (base.path().join("work"), base.path().join("library"));
        for file in ["work/own.py", "library/far.py"] {
            let file = base.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let table = [
            ("python3.11", "a.py x.py", "work/a.py"),
            ("python3", "-u -W ignore -Xdev /o/a.py", "/o/a.py"),
            ("python3", "-uW ignore a.py", "work/a.py"),
            ("python3", "-c code a.py", "work"),
            ("python3", "-m own", "work/own.py"),
            ("python3", "-mfar a.py", "library/far.py"),
            ("python3", "-m pytest a.py", "work"),
            ("python3", "-m debugpy --listen 1 --configure-qt none --wait-for-client a.py", "work/a.py"),
            ("python3", "-m debugpy --listen 1 -m far", "library/far.py"),
            ("python3", "-", "work"),
            ("node", "-r ./x.js --import y a.js", "work/a.js"),
            ("node", "--inspect=0 ../a", "work/../a"),
            ("node", "--watch-path ../b --inspect-port 0 a.js", "work/a.js"),
            ("node", "--eval=1 a.js", "work"),
            ("node", "-e 1 a.js", "work"),
            ("nodejs", "", "work"),
        ];
        for (interpreter, words, expected) in table {
            let words: Vec<&str> = words.split_whitespace().collect();
            let found = program(interpreter, &words, &folder, std::slice::from_ref(&library));
            assert_eq!(found, Some(base.path().join(expected)), "{interpreter} {words:?}");
        }
        assert_eq!(program("ssh", &["a"], &folder, &[]), None);
    }
}
