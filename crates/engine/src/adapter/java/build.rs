//! What a launch needs before it can run: a source file is compiled, and a main class found.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use super::bridge::compiler;
use super::jdk::Jdk;
use crate::adapter::braces::tokens;
use crate::adapter::{Host, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program};
use crate::parts::{create, part_of, put, unwritable};
use crate::progress::Progress;

/// How many files are checked for changes.
const MOST_SOURCES: usize = 5000;
/// Beside compiled classes: the path of their source.
const SOURCE: &str = "source";
const CLASS_PATHS: [&str; 3] = ["-cp", "-classpath", "--class-path"];
/// Where build tools put classes.
const OUTPUTS: [&str; 4] = ["target/classes", "build/classes/java/main", "out/production/classes", "bin"];

pub(super) async fn build(
    host: &dyn Host,
    runtime: &Runtime,
    launch: Launch,
    progress: &Progress,
) -> Result<Launch> {
    match &launch.program {
        Program::Script(path) if extension(path) == "java" => {
            progress.say(format!("compiling {}", path.display()));
            let jdk = Jdk::find(host, Some(&runtime.executable))?;
            let (classes, main) = compile(host, &jdk, path, &launch.runtime_args).await?;
            Ok(with_classes(launch, &classes, main))
        }
        Program::Script(path) if extension(path) == "class" => {
            let root = path.parent().unwrap_or(Path::new("."));
            let main = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let root = root.to_owned();
            Ok(with_classes(launch, &root, main))
        }
        Program::Module(name) => {
            let name = name.clone();
            main_class(launch, &name)
        }
        Program::Script(_) | Program::Package(_) | Program::Command => Ok(launch),
    }
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// The class path that the arguments of the JVM name, and where.
fn class_path(args: &[String]) -> Option<(usize, &str)> {
    let at = args.iter().position(|word| CLASS_PATHS.contains(&word.as_str()))?;
    Some((at + 1, args.get(at + 1)?))
}

fn with_classes(mut launch: Launch, classes: &Path, main: String) -> Launch {
    let classes = classes.to_string_lossy();
    match class_path(&launch.runtime_args).map(|(at, path)| (at, format!("{classes}:{path}"))) {
        Some((at, path)) => {
            if let Some(word) = launch.runtime_args.get_mut(at) {
                *word = path;
            }
        }
        None => launch.runtime_args.extend(["-cp".to_owned(), classes.into_owned()]),
    }
    launch.program = Program::Module(main);
    launch
}

/// A class is looked for where build tools put it, unless a class path is given. One that is not in the folders of its
/// class path is an error.
fn main_class(mut launch: Launch, name: &str) -> Result<Launch> {
    let folder = launch.working_folder();
    let has_own = launch.env.contains_key("CLASSPATH") || std::env::var_os("CLASSPATH").is_some();
    let is_module =
        name.contains('/') || launch.runtime_args.iter().any(|word| word == "-m" || word == "-jar");
    if class_path(&launch.runtime_args).is_none() && !has_own && !is_module {
        let outputs = OUTPUTS.iter().map(|output| folder.join(output)).filter(|output| output.is_dir());
        let path: Vec<String> =
            outputs.map(|path| path.display().to_string()).chain([".".to_owned()]).collect();
        launch.runtime_args.extend(["-cp".to_owned(), path.join(":")]);
    }
    let Some((_, path)) = class_path(&launch.runtime_args).filter(|_| !is_module) else { return Ok(launch) };
    let entries: Vec<PathBuf> = path.split(':').map(|entry| folder.join(entry)).collect();
    let file = format!("{}.class", name.replace('.', "/"));
    let is_known = entries.iter().all(|entry| entry.is_dir() || !entry.exists());
    if is_known && !entries.iter().any(|entry| entry.join(&file).is_file()) {
        return Err(Error::StartFailed {
            problem: format!(
                "class `{name}` is not on the class path `{path}`; give the qualified name of the class, and the \
                 class path as `runtimeArgs`: [\"-cp\", \"FOLDER\"]"
            ),
            output: String::new(),
        });
    }
    Ok(launch)
}

/// Compiles a source file, with those of its folder that it uses. What the compiler prints is the error. Nothing is
/// compiled again as long as nothing in the folder changes.
async fn compile(host: &dyn Host, jdk: &Jdk, source: &Path, args: &[String]) -> Result<(PathBuf, String)> {
    let text = host
        .read(source)
        .ok_or_else(|| Error::BadFile { path: source.to_owned(), problem: "cannot be read".to_owned() })?;
    let main = main_of(&text).ok_or_else(|| Error::StartFailed {
        problem: format!("`{}` defines no class", source.display()),
        output: String::new(),
    })?;
    let package = package_of(&text);
    let mut root = source.parent().unwrap_or(Path::new("/"));
    for _ in package.iter().flat_map(|package| package.split('.')) {
        root = root.parent().unwrap_or(root);
    }
    let class_path = class_path(args).map(|(_, path)| path);
    let folder = place(host, jdk, source, root, class_path);
    let classes = folder.join("classes");
    let main = package.as_ref().map_or(main.clone(), |package| format!("{package}.{main}"));
    if host.is_file(&folder.join(SOURCE)) {
        return Ok((classes, main));
    }
    let part = part_of(&folder);
    create(&part)?;
    let mut words: Vec<std::ffi::OsString> = vec!["-g".into(), "-d".into(), part.join("classes").into()];
    words.extend(["-sourcepath".into(), root.into()]);
    words.extend(class_path.into_iter().flat_map(|path| ["-cp".into(), path.into()]));
    words.push(source.into());
    let compiled = host.run(&compiler(jdk, words), deadlines::BUILD).await?;
    if !compiled.success {
        let _ = std::fs::remove_dir_all(&part);
        return Err(Error::StartFailed {
            problem: format!("`{}` does not compile", source.display()),
            output: format!("{}{}", compiled.stdout, compiled.stderr),
        });
    }
    std::fs::write(part.join(SOURCE), source.to_string_lossy().as_bytes())
        .map_err(|error| unwritable(&part, &error))?;
    put(&part, &folder, || host.is_file(&folder.join(SOURCE)))?;
    Ok((classes, main))
}

/// Where in the cache the classes belong that are made of these sources.
fn place(host: &dyn Host, jdk: &Jdk, source: &Path, root: &Path, class_path: Option<&str>) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (source, host.read(source), &jdk.version, class_path).hash(&mut hasher);
    let mut folders = vec![root.to_owned()];
    let mut left = MOST_SOURCES;
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries.into_iter().take(left) {
            left -= 1;
            let path = entry.path();
            let is_package = entry.file_type().is_ok_and(|kind| kind.is_dir())
                && source.parent().is_some_and(|parent| parent != root);
            if is_package {
                folders.push(path);
            } else if extension(&path) == "java" {
                let changed = entry.metadata().and_then(|data| data.modified()).ok();
                (path, changed).hash(&mut hasher);
            }
        }
    }
    host.cache_dir().join("java").join(format!("program-{:016x}", hasher.finish()))
}

/// The sources of a program that was compiled here.
pub(super) fn sources_of(host: &dyn Host, launch: &Launch) -> Vec<String> {
    let entries = class_path(&launch.runtime_args).map(|(_, path)| path.split(':')).into_iter().flatten();
    entries.filter_map(|entry| host.read(&Path::new(entry).parent()?.join(SOURCE))).collect()
}

fn package_of(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("package "))?;
    Some(line.split(';').next()?.trim().to_owned())
}

/// The class with the method `main`, or else the first: types that begin outside of all braces.
fn main_of(text: &str) -> Option<String> {
    let mut types: Vec<String> = Vec::new();
    let mut depth = 0_usize;
    for pair in tokens(text).windows(2) {
        let [before, token] = pair else { continue };
        let is_type = ["class", "record", "enum", "interface"].iter().any(|word| before.is(word));
        if token.is("{") {
            depth += 1;
        } else if token.is("}") {
            depth = depth.saturating_sub(1);
        } else if depth == 1 && before.is("void") && token.is("main") {
            return types.pop();
        } else if depth == 0 && is_type && token.is_name() {
            types.push(token.text.clone());
        }
    }
    types.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_class_is_the_one_with_a_main_method() {
        let table = [
            ("class A { }\nclass B { public static void main(String[] a) { } }", Some("B")),
            ("// class X {\nrecord P(int x) { }\ninterface I { }", Some("P")),
            ("class A { String s = \"} class Q {\"; class N { void main() { } } }", Some("A")),
            ("@Uses(A.class) final class Shop$1 { static void main(String... a) { } }", Some("Shop$1")),
            ("/** class Y { */ enum E { A('{', \"\"\"\n} class Z {\"\"\"); } class F { }", Some("E")),
            ("int x;", None),
        ];
        for (text, expected) in table {
            assert_eq!(main_of(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn package_declaration_is_parsed() {
        assert_eq!(package_of("/* x */\npackage a.b;\nclass C { }").as_deref(), Some("a.b"));
        assert_eq!(package_of("class C { }"), None);
    }
}
