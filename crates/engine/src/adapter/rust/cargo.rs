//! Programs that Cargo or rustc builds before they are debugged.

mod messages;
mod rehearsal;
mod tests_of;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use self::messages::{Built, Executable};
use self::tests_of::Choice;
use super::super::Host;
use crate::adapter::native::{self, compile};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program};
use crate::process::{HelperOutput, ProcessSpec, search_path};
use crate::progress::Progress;
use crate::test_reports::TestReports;

const MANIFEST: &str = "Cargo.toml";

/// The profiles of what is debugged, with all the debug information that there is.
const FULL: [&str; 4] =
    ["profile.dev.debug=2", "profile.test.debug=2", "profile.dev.strip=false", "profile.test.strip=false"];

/// A launch of a binary: the requested one, or one made of the sources that are.
pub(super) async fn build(
    host: &dyn Host,
    sysroot: &str,
    launch: Launch,
    progress: &Progress,
) -> Result<Launch> {
    match launch.program.clone() {
        Program::Package(folder) => of_package(host, sysroot, &folder, launch, progress).await,
        Program::Module(name) => {
            let folder = launch.working_folder();
            let words = tests_of::target_words(host, &folder, &name).await?;
            let launch = Launch { runtime_args: words, ..launch };
            of_package(host, sysroot, &folder, launch, progress).await
        }
        Program::Script(path) => of_path(host, sysroot, &path, launch, progress).await,
        Program::Command => Err(Error::Unsupported(
            "give a binary, a `.rs` file, the folder of a Cargo package, or a target as `module`".to_owned(),
        )),
    }
}

/// A path is a package if it is a folder with a manifest, or the manifest.
pub(super) fn program(host: &dyn Host, path: PathBuf) -> Program {
    match path.parent() {
        Some(folder) if path.ends_with(MANIFEST) => Program::Package(folder.to_owned()),
        _ if host.is_file(&path.join(MANIFEST)) => Program::Package(path),
        _ => Program::Script(path),
    }
}

async fn of_path(
    host: &dyn Host,
    sysroot: &str,
    path: &Path,
    launch: Launch,
    progress: &Progress,
) -> Result<Launch> {
    if path.extension().is_none_or(|extension| extension != "rs") {
        native::check_binary(host, path)?;
        return Ok(tests_of::of_binary(host, sysroot, path, launch).await);
    }
    if let Some((folder, words)) = target_of(host, path) {
        let runtime_args = if launch.runtime_args.is_empty() { words } else { launch.runtime_args.clone() };
        return of_package(host, sysroot, &folder, Launch { runtime_args, ..launch }, progress).await;
    }
    let text = host.read(path).unwrap_or_default();
    let has_main = text.lines().any(|line| line.contains("fn main("));
    let is_test = !has_main && text.contains("#[test]");
    let flags = std::iter::once("-g").chain(is_test.then_some("--test"));
    let compiler = compile::Compiler {
        names: &["rustc"],
        flags: flags.map(str::to_owned).collect(),
        versions: &["--edition=2021", "--edition=2024"],
        checks: &["--print", "sysroot"],
        libraries: &[],
        includes: |line| line.starts_with("mod ") || line.starts_with("pub mod ") || line.contains("include"),
    };
    let program = compile::compile(host, path, &compiler, progress).await?;
    let launch = Launch { program: Program::Script(program), ..launch };
    Ok(if is_test { tests_of::as_tests(launch, true) } else { launch })
}

/// The package that a source file is the root of a target in, and the words that choose it.
fn target_of(host: &dyn Host, source: &Path) -> Option<(PathBuf, Vec<String>)> {
    // The manifest of a workspace alone has no targets.
    let is_package = |folder: &&Path| {
        let manifest = host.read(&folder.join(MANIFEST)).unwrap_or_default();
        manifest.lines().any(|line| line.trim() == "[package]")
    };
    let package = source.ancestors().skip(1).find(is_package)?;
    let inside = source.strip_prefix(package).ok()?.with_extension("");
    let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let words: Vec<&str> = match parts.as_slice() {
        ["src", "bin", name, ..] => vec!["build", "--bin", name],
        ["examples", name, ..] => vec!["build", "--example", name],
        ["tests", name, ..] => vec!["test", "--test", name],
        ["benches", name, ..] => vec!["bench", "--bench", name],
        ["src", "lib"] => vec!["test", "--lib"],
        ["src", "main"] => vec!["build", "--bins"],
        // A module of a package with a program, or else of a library, whose tests are its program.
        ["src", ..] if host.is_file(&package.join("src/main.rs")) => vec!["build", "--bins"],
        ["src", ..] => vec!["test", "--lib"],
        _ => return None,
    };
    Some((package.to_owned(), words.into_iter().map(str::to_owned).collect()))
}

async fn of_package(
    host: &dyn Host,
    sysroot: &str,
    folder: &Path,
    launch: Launch,
    progress: &Progress,
) -> Result<Launch> {
    if launch.runtime_args.iter().any(|word| word == "--doc") {
        return Err(Error::Unsupported(
            "the tests in the documentation cannot be debugged: each is compiled into a program of its own; copy one \
             into a test"
                .to_owned(),
        ));
    }
    let mut words = as_build(&launch.runtime_args);
    let mut built = run_cargo(host, folder, &words, &[], progress).await?;
    if built.executables.is_empty() && launch.runtime_args.is_empty() {
        progress.say("a library runs in its tests");
        (words, built) = tests_of_library(host, sysroot, folder, &launch, progress).await?;
    }
    if built.executables.iter().any(|executable| !executable.has_variables) {
        progress.say("rebuilding with debug information");
        built = run_cargo(host, folder, &words, &FULL, progress).await?;
    }
    if words.iter().any(|word| is_test(word)) {
        // Those that the tests may start, and examples, are built beside them.
        built.executables.retain(|executable| executable.is_test);
    }
    if let Program::Script(source) = &launch.program {
        // Each package of a workspace may have a `src/main.rs`. Cargo may know the folder by another path.
        let is_it = |one: &Executable| one.package.join(&one.source) == *source;
        let is_inside =
            |one: &Executable| source.strip_prefix(folder).is_ok_and(|source| one.source == source);
        let rules: [&dyn Fn(&Executable) -> bool; 2] = [&is_it, &is_inside];
        if let Some(rule) = rules.into_iter().find(|rule| built.executables.iter().any(*rule)) {
            built.executables.retain(rule);
        }
    }
    let has_documentation = runs_documentation(host, &words, &built, &launch);
    let (executable, is_failing) = match tests_of::choose(host, sysroot, built.executables, &launch).await? {
        Choice::Single(executable) => (executable, false),
        Choice::Tests(programs) => {
            rehearsal::first_that_fails(host, sysroot, programs, &launch, progress).await?
        }
    };
    // Cargo comes to it after the other tests, if these pass.
    if has_documentation && (!is_failing || rehearsal::keeps_going(&launch)) {
        rehearsal::run_documentation(host, folder, &launch, progress).await?;
    }
    let mut env = executable.environment(host, sysroot);
    env.extend(launch.env.clone());
    let cwd = launch.cwd.clone().or_else(|| executable.is_test.then(|| executable.package.clone()));
    let launch = Launch {
        program: Program::Script(executable.path.clone()),
        runtime_args: Vec::new(),
        cwd: cwd.or_else(|| Some(folder.to_owned())),
        env,
        ..launch
    };
    Ok(if executable.is_test { tests_of::as_tests(launch, executable.has_harness) } else { launch })
}

/// The tests inside a library or, if it has none, those beside it, and the words that build them.
async fn tests_of_library(
    host: &dyn Host,
    sysroot: &str,
    folder: &Path,
    launch: &Launch,
    progress: &Progress,
) -> Result<(Vec<String>, Built)> {
    let build = async |words: &[&str]| {
        let words = as_build(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let built = run_cargo(host, folder, &words, &[], progress).await?;
        Ok::<_, Error>((words, built))
    };
    let (words, built) = build(&["test", "--lib"]).await?;
    for executable in &built.executables {
        if tests_of::has_tests(host, sysroot, executable, launch).await {
            return Ok((words, built));
        }
    }
    build(&["test"]).await
}

/// Whether a word of a command line of Cargo is the command that runs tests.
fn is_test(word: &str) -> bool {
    matches!(word, "test" | "t" | "bench")
}

/// Whether a command runs the examples in the documentation of a library, too.
fn runs_documentation(host: &dyn Host, words: &[String], built: &Built, launch: &Launch) -> bool {
    const TARGETS: [&str; 5] = ["--lib", "--bin", "--test", "--example", "--all-targets"];
    launch.env.contains_key(TestReports::VARIABLE)
        && words.iter().any(|word| matches!(word.as_str(), "test" | "t"))
        && !words
            .iter()
            .any(|word| word == "--bench" || TARGETS.iter().any(|target| word.starts_with(target)))
        && built
            .executables
            .iter()
            .any(|one| one.kind == "lib" && rehearsal::has_documentation(host, &one.package.join("src")))
}

/// What builds the program that a command of Cargo would run.
fn as_build(words: &[String]) -> Vec<String> {
    let mut built: Vec<String> = words.to_vec();
    if built.iter().any(|word| is_test(word)) {
        built.push("--no-run".to_owned());
    } else if let Some(run) = built.iter_mut().find(|word| matches!(word.as_str(), "run" | "r")) {
        "build".clone_into(run);
    } else if !built.iter().any(|word| matches!(word.as_str(), "build" | "b")) {
        built.insert(0, "build".to_owned());
    }
    built
}

async fn run_cargo(
    host: &dyn Host,
    folder: &Path,
    words: &[String],
    settings: &[&str],
    progress: &Progress,
) -> Result<Built> {
    let cargo = host.which("cargo").ok_or_else(|| Error::Environment {
        problem: "this is a Cargo package, but there is no `cargo` on PATH".to_owned(),
        remedy: "install Rust with rustup (https://rustup.rs), or give a built binary".to_owned(),
    })?;
    progress.say(format!("cargo {}", words.join(" ")));
    let mut args: Vec<OsString> = words.iter().map(OsString::from).collect();
    args.push("--message-format=json".into());
    for setting in settings {
        args.extend(["--config".into(), setting.into()]);
    }
    let spec = ProcessSpec {
        program: cargo,
        args,
        cwd: Some(folder.to_owned()),
        env: BTreeMap::from([("CARGO_TERM_COLOR".to_owned(), Some("never".to_owned()))]),
        ..ProcessSpec::default()
    };
    let said = |line: &str| progress.say(line.trim());
    let HelperOutput { success, stdout, stderr } = host.run_telling(&spec, deadlines::BUILD, &said).await?;
    let built = Built::read(&stdout);
    if success {
        return Ok(built);
    }
    let output = if built.errors.is_empty() { stderr } else { built.errors };
    let problem = format!("`cargo {}` in `{}` failed", words.join(" "), folder.display());
    Err(Error::StartFailed { problem, output })
}

/// The function that a stop on entry is in.
pub(super) fn main_of(binary: &Path) -> String {
    let stem = binary.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // Cargo puts a hash after the names of tests: `shop-0123456789abcdef`.
    let name = match stem.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => &stem,
    };
    format!("{}::main", name.replace('-', "_"))
}

impl Executable {
    /// What Cargo would add to the environment.
    fn environment(&self, host: &dyn Host, sysroot: &str) -> BTreeMap<String, Option<String>> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let libraries = [folder.to_owned(), folder.join("deps"), Path::new(sysroot).join("lib")];
        // The standard library is linked like others where the tests of a macro are.
        let targets = Path::new(sysroot).join("lib/rustlib");
        let mut names = host.names_in(&targets);
        names.retain(|name| name.starts_with(std::env::consts::ARCH));
        let standard = names.iter().map(|name| targets.join(name).join("lib"));
        let before = std::env::var_os("LD_LIBRARY_PATH").map(|path| path.to_string_lossy().into_owned());
        let path = search_path(libraries.into_iter().chain(standard), before.as_deref());
        let mut env: BTreeMap<_, _> =
            path.map(|path| ("LD_LIBRARY_PATH".to_owned(), Some(path))).into_iter().collect();
        env.insert("CARGO_MANIFEST_DIR".to_owned(), Some(self.package.display().to_string()));
        env
    }
}
