//! The files of modules, by the rules of Python's import.

use std::path::{Path, PathBuf};

use super::interpreter::ENVIRONMENTS;
use crate::adapter::Host;
use crate::adapter::by_name::{Lookup, NamedFile, is_there};
use crate::model::launch::{Launch, Program};

/// What files of modules end in.
const ENDINGS: [&str; 4] = [".py", ".pyc", ".so", ".pyd"];
/// What a package runs.
const OF_PACKAGE: [&str; 4] = ["__init__.py", "__main__.py", "__init__.pyc", "__main__.pyc"];
/// Modules that Python imports by itself.
const CUSTOM: [&str; 2] = ["sitecustomize", "usercustomize"];
/// Files from which pytest has options, and so plugins.
const SETTINGS: [&str; 5] = ["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"];
const CONFTEST: &str = "conftest.py";

/// The files that are read for a module, and for the packages around it.
pub(super) fn files(lookup: &Lookup<'_>, word: &str) -> Vec<NamedFile> {
    names(word).into_iter().flat_map(|name| files_of(lookup, name)).collect()
}

fn files_of(lookup: &Lookup<'_>, name: &str) -> Vec<NamedFile> {
    let mut found = Vec::new();
    let folders = std::iter::once(lookup.folder.to_owned()).chain(lookup.folders_in("PYTHONPATH"));
    for base in folders {
        let paths = walk(lookup.host, &base, name);
        found.extend(paths.into_iter().map(|path| NamedFile { base: base.clone(), path }));
    }
    for packages in site_packages(lookup) {
        let base = packages.ancestors().nth(3).unwrap_or(&packages).to_owned();
        let paths = walk(lookup.host, &packages, name);
        let on_the_way = (!paths.is_empty()).then(|| packages.clone());
        let paths = on_the_way.into_iter().chain(paths);
        found.extend(paths.map(|path| NamedFile { base: base.clone(), path }));
        for base in named_by_pth(lookup.host, &packages) {
            let paths = walk(lookup.host, &base, name);
            found.extend(paths.into_iter().map(|path| NamedFile { base: base.clone(), path }));
        }
    }
    found
}

/// What Python and pytest read without being asked to.
pub(super) fn implicitly_loaded_files(lookup: &Lookup<'_>, launch: &Launch) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        CUSTOM.iter().flat_map(|name| files_of(lookup, name)).map(|found| found.path).collect();
    let words = launch.runtime_args.iter().chain(&launch.args);
    let is_pytest = match &launch.program {
        Program::Module(name) => name == "pytest" || launch.args.iter().any(|word| word == "pytest"),
        Program::Script(path) => path.file_name().is_some_and(|name| name == "pytest"),
        Program::Command => launch.args.iter().chain(&launch.runtime_args).any(|word| word == "pytest"),
        Program::Package(_) => false,
    };
    if !is_pytest {
        return paths;
    }
    let named = words.map(|word| lookup.folder.join(word.split("::").next().unwrap_or_default()));
    let folders = named.filter(|path| path.exists()).chain([lookup.folder.to_owned()]);
    let mut folders: Vec<PathBuf> =
        folders.flat_map(|path| path.ancestors().map(Path::to_owned).collect::<Vec<_>>()).collect();
    folders.sort();
    folders.dedup();
    for folder in folders {
        paths.extend([folder.join(CONFTEST)].into_iter().filter(|path| is_there(path)));
        for text in SETTINGS.iter().filter_map(|name| lookup.host.read(&folder.join(name))) {
            paths.extend(
                plugins(&text).into_iter().flat_map(|name| files_of(lookup, name)).map(|found| found.path),
            );
        }
    }
    paths
}

/// The plugins in the options that a file of settings has: `-p name`, `-pname`.
fn plugins(text: &str) -> Vec<&str> {
    let ends = |char: char| char.is_whitespace() || "\"',=[]".contains(char);
    let words: Vec<&str> = text.split(ends).filter(|word| !word.is_empty()).collect();
    let names = words.iter().zip(words.iter().skip(1).chain([&""])).filter_map(|(word, next)| match *word {
        "-p" => Some(*next),
        word => word.strip_prefix("-p"),
    });
    names.filter(|name| is_name(name)).collect()
}

/// The names that a word may be: `pkg.module`, and what is glued to an option, as in `-mpkg.module` or `-Bmpkg`.
fn names(word: &str) -> Vec<&str> {
    let glued = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let suffixes = glued
        .into_iter()
        .flat_map(|rest| rest.match_indices(['m', 'p']).filter_map(move |(at, _)| rest.get(at + 1..)));
    let all = suffixes.chain(glued.is_none().then_some(word));
    all.filter(|name| is_name(name)).collect()
}

fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|char: char| char.is_alphabetic() || char == '_')
            && part.chars().all(|char| char.is_alphanumeric() || char == '_')
    };
    name.split('.').all(is_part)
}

/// What is there of a module in a folder of the search path: packages on the way, and the file itself. A name may go on
/// after the module, with a class and a method.
fn walk(host: &dyn Host, folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folder = folder.to_owned();
    for part in name.split('.') {
        let is_module = |file: &String| {
            file.strip_prefix(part)
                .is_some_and(|rest| rest.starts_with('.') && ENDINGS.iter().any(|end| rest.ends_with(end)))
        };
        found.extend(
            host.names_in(&folder).iter().filter(|file| is_module(file)).map(|file| folder.join(file)),
        );
        let package = folder.join(part);
        if !is_there(&package) {
            break;
        }
        let own = OF_PACKAGE.iter().map(|file| package.join(file)).filter(|file| is_there(file));
        found.extend(std::iter::once(package.clone()).chain(own));
        folder = package;
    }
    found
}

/// Where packages are installed for the environments around the working folder, and for the interpreter.
fn site_packages(lookup: &Lookup<'_>) -> Vec<PathBuf> {
    let environments: Vec<PathBuf> = match lookup.executable {
        Some(program) => program.parent().and_then(Path::parent).map(Path::to_owned).into_iter().collect(),
        None => {
            lookup.folder.ancestors().flat_map(|folder| ENVIRONMENTS.map(|name| folder.join(name))).collect()
        }
    };
    let environments = environments.into_iter().filter(|one| is_there(&one.join("pyvenv.cfg")));
    let libraries = environments.map(|environment| environment.join("lib"));
    let versions = libraries.flat_map(|lib| {
        let names = lookup.host.names_in(&lib).into_iter().filter(|name| name.starts_with("python"));
        names.map(|name| lib.join(name).join("site-packages")).collect::<Vec<_>>()
    });
    versions.filter(|packages| is_there(packages)).collect()
}

/// The folders that files in `site-packages` add to the search path.
fn named_by_pth(host: &dyn Host, packages: &Path) -> Vec<PathBuf> {
    let files = host.names_in(packages).into_iter().map(|name| packages.join(name));
    let texts = files.filter(|file| file.extension().is_some_and(|end| end == "pth"));
    let texts = texts.filter_map(|file| host.read(&file));
    let lines = |text: String| {
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("import "));
        lines.map(|line| packages.join(line)).collect::<Vec<_>>()
    };
    texts.flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_names_are_parsed_from_arguments() {
        let table: [(&str, &[&str]); 8] = [
            ("pkg.module", &["pkg.module"]),
            ("-mpkg", &["pkg", "kg"]),
            ("-Bmpkg.sub", &["pkg.sub", "kg.sub"]),
            ("-pplugin", &["plugin", "lugin"]),
            ("--module", &[]),
            ("a/b.py", &[]),
            ("1.5", &[]),
            ("a..b", &[]),
        ];
        for (word, expected) in table {
            assert_eq!(names(word), expected, "{word}");
        }
        let settings = "[pytest]\naddopts = -q -p one -ptwo\nmore = [\"-p\", \"three.four\", \"--pdb\"]\n";
        assert_eq!(plugins(settings), ["one", "two", "three.four"]);
    }
}
