//! Builds what is to be debugged, without optimizations, into the cache.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use super::super::Host;
use super::super::native::{self, Elf};
use super::{delve, rehearsal, unusable};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program};
use crate::parts::create;
use crate::process::ProcessSpec;
use crate::progress::Progress;

/// Flags of `go test` that take a value, which the test binary takes under the same name after `test.`.
const TEST_VALUES: [&str; 17] = [
    "run",
    "skip",
    "count",
    "timeout",
    "bench",
    "benchtime",
    "parallel",
    "cpu",
    "list",
    "shuffle",
    "fuzz",
    "fuzztime",
    "fuzzminimizetime",
    "blockprofile",
    "cpuprofile",
    "memprofile",
    "trace",
];
/// The same without a value.
const TEST_SWITCHES: [&str; 5] = ["v", "short", "failfast", "benchmem", "fullpath"];
/// Flags of the build that take the next word.
const BUILD_VALUES: [&str; 14] = [
    "tags",
    "ldflags",
    "gcflags",
    "asmflags",
    "mod",
    "modfile",
    "overlay",
    "p",
    "pkgdir",
    "toolexec",
    "buildmode",
    "C",
    "exec",
    "covermode",
];

/// What is built: words of `go build` or `go test -c`, and the words of the program.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    is_test: Option<bool>,
    flags: Vec<String>,
    packages: Vec<String>,
    args: Vec<String>,
}

impl Wanted {
    /// Reads the words of the command `go`, with `test`, `run` or `build` in front or without.
    fn of(words: &[String]) -> Self {
        let mut wanted = Self::default();
        let mut words = words.iter().cloned().peekable();
        wanted.is_test = match words.peek().map(String::as_str) {
            Some("test") => Some(true),
            Some("run" | "build") => Some(false),
            _ => None,
        };
        if wanted.is_test.is_some() {
            words.next();
        }
        let is_test = wanted.is_test == Some(true);
        while let Some(word) = words.next() {
            let Some(flag) = word.strip_prefix('-').map(|flag| flag.trim_start_matches('-').to_owned())
            else {
                if !is_test
                    && !wanted.packages.is_empty()
                    && !wanted.packages.iter().all(|one| is_source(one))
                {
                    wanted.args.push(word);
                    wanted.args.extend(words);
                    break;
                }
                wanted.packages.push(word);
                continue;
            };
            if flag == "args" {
                wanted.args.extend(words);
                break;
            }
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (flag, None),
            };
            let name = name.strip_prefix("test.").unwrap_or(&name).to_owned();
            if is_test && TEST_SWITCHES.contains(&name.as_str()) {
                wanted.args.push(format!(
                    "-test.{name}{}",
                    value.map(|value| format!("={value}")).unwrap_or_default()
                ));
            } else if is_test && TEST_VALUES.contains(&name.as_str()) {
                let value = value.or_else(|| words.next()).unwrap_or_default();
                wanted.args.push(format!("-test.{name}={value}"));
            } else {
                let takes_next = value.is_none() && BUILD_VALUES.contains(&name.as_str());
                wanted.flags.push(word);
                wanted.flags.extend(takes_next.then(|| words.next()).flatten());
            }
        }
        wanted
    }

    /// The test that makes up inputs, rather than only reading those that it has.
    fn fuzzed(&self) -> Option<&str> {
        let mut tests = self.args.iter().filter_map(|word| word.strip_prefix("-test.fuzz="));
        tests.find(|test| !test.is_empty())
    }
}

/// Refuses a binary without debug information: Delve would start it, and know nothing of it.
fn check_debug_info(host: &dyn Host, path: &Path) -> Result<()> {
    if Elf::read(host, path).is_none_or(|elf| elf.has_debug_info()) {
        return Ok(());
    }
    Err(Error::Environment {
        problem: format!(
            "`{}` has no debug information: it was stripped, or built with `-ldflags=-s -w`",
            path.display()
        ),
        remedy: "build it with `go build -gcflags='all=-N -l'`, without these flags, or give its source folder as \
                 the program"
            .to_owned(),
    })
}

/// A launch of a binary: the requested one, or one built of sources.
pub(super) async fn build(host: &dyn Host, launch: Launch, progress: &Progress) -> Result<Launch> {
    let (folder, mut wanted) = match &launch.program {
        Program::Script(path) if path.extension().is_some_and(|extension| extension == "go") => {
            of_file(host, path, &launch)
        }
        Program::Script(path) => {
            native::check_binary(host, path)?;
            check_debug_info(host, path)?;
            return Ok(launch);
        }
        Program::Package(folder) => (folder.clone(), Wanted::of(&launch.runtime_args)),
        Program::Module(name) => {
            let wanted = Wanted { packages: vec![name.clone()], ..Wanted::of(&launch.runtime_args) };
            (launch.working_folder(), wanted)
        }
        Program::Command => {
            return Err(unusable("Go needs a file, a package folder or a binary to run".to_owned()));
        }
    };
    if let Some(test) = wanted.fuzzed() {
        let is_name = test.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let test = if is_name && test.starts_with("Fuzz") { test } else { "FuzzNAME" };
        return Err(unusable(format!(
            "`go test -fuzz` calls the fuzz test in processes of its own, which are not debugged; run it without the \
             debugger, then debug the input that it reports: `go test -run={test}/INPUT`"
        )));
    }
    if wanted.packages.is_empty() {
        wanted.packages.push(".".to_owned());
    }
    let title = launch.program.name();
    let builder = Builder { host, go: delve::go(host)?, folder, title, env: launch.env.clone() };
    if wanted.is_test == Some(true)
        && let Some(reports) = rehearsal::reports(&launch.env)
        && let Some(package) = builder.first_that_fails(&wanted.packages, reports, &launch, progress).await?
    {
        wanted.packages = vec![package];
        // Files would be named from the folder of the package, which the command does not name.
        wanted.args.insert(0, "-test.fullpath".to_owned());
    }
    let is_files = wanted.packages.iter().all(|package| is_source(package));
    let of_package = if is_files && wanted.is_test.is_none() {
        None
    } else {
        Some(builder.package(&wanted.packages).await?)
    };
    let is_test =
        wanted.is_test.unwrap_or_else(|| of_package.as_ref().is_some_and(|(name, _)| name != "main"));
    progress.say(format!("building {}", launch.program.name()));
    let program = builder.build(&wanted, is_test).await?;
    let package_folder = of_package.map(|(_, folder)| folder).filter(|_| is_test);
    let args = wanted.args.into_iter().chain(if is_test { Vec::new() } else { launch.args.clone() });
    let args = args.chain(if is_test { Wanted::of(&with_test(&launch.args)).args } else { Vec::new() });
    let (args, cwd) = (args.collect(), launch.cwd.clone().or(package_folder));
    Ok(Launch { program: Program::Script(program), args, cwd, runtime_args: Vec::new(), ..launch })
}

fn with_test(args: &[String]) -> Vec<String> {
    std::iter::once("test".to_owned()).chain(args.iter().cloned()).collect()
}

/// A file is built with its package where it belongs to one, and alone where it is a program of its own. A test is one
/// of its package.
fn of_file(host: &dyn Host, path: &Path, launch: &Launch) -> (PathBuf, Wanted) {
    let folder = path.parent().unwrap_or(path).to_owned();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let wanted = Wanted::of(&launch.runtime_args);
    if name.ends_with("_test.go") {
        return (folder, Wanted { is_test: Some(true), ..Wanted::of(&with_test(&launch.runtime_args)) });
    }
    let is_main = |name: &str| {
        let text = host.read(&folder.join(name)).unwrap_or_default();
        text.lines().any(|line| line.starts_with("func main()"))
    };
    let in_module = folder.ancestors().any(|folder| host.is_file(&folder.join("go.mod")));
    let others: Vec<String> = host
        .names_in(&folder)
        .into_iter()
        .filter(|other| is_source(other) && !other.ends_with("_test.go") && *other != name)
        .collect();
    let is_alone = !in_module || (is_main(&name) && others.iter().any(|other| is_main(other)));
    let packages = if is_alone { vec![name] } else { vec![".".to_owned()] };
    (folder, Wanted { packages, ..wanted })
}

/// Whether a name is that of a source of Go.
pub(super) fn is_source(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "go")
}

struct Builder<'a> {
    host: &'a dyn Host,
    go: PathBuf,
    folder: PathBuf,
    /// What is built, as the user has named it.
    title: String,
    env: std::collections::BTreeMap<String, Option<String>>,
}

impl Builder<'_> {
    /// Of several packages that have tests, the one to debug. None for a single one, and for files.
    async fn first_that_fails(
        &self,
        packages: &[String],
        reports: &str,
        launch: &Launch,
        progress: &Progress,
    ) -> Result<Option<String>> {
        let is_one = packages.len() == 1 && !packages.iter().any(|package| package.contains("..."));
        if is_one || packages.iter().all(|package| is_source(package)) {
            return Ok(None);
        }
        let format = "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}";
        let mut words: Vec<OsString> = ["list", "-find", "-f", format].map(Into::into).into();
        words.extend(packages.iter().map(Into::into));
        let listed = self.run(words).await?;
        let listed: Vec<&str> = listed.lines().filter(|line| !line.is_empty()).collect();
        let &[_, _, ..] = listed.as_slice() else { return Ok(listed.first().map(|only| (*only).to_owned())) };
        // Tests may not end.
        progress.end_preparation();
        progress.say(format!("running the tests of {} packages to see which one fails", listed.len()));
        let mut words: Vec<OsString> = vec!["test".into(), "-json".into()];
        words.extend(launch.runtime_args.iter().skip(1).map(Into::into));
        let ran = self.host.run(&self.spec(words), deadlines::BUILD).await?;
        Ok(rehearsal::choose(&listed, &ran.stdout, Some(reports)).map(str::to_owned))
    }

    /// The name and the folder of the requested package.
    async fn package(&self, packages: &[String]) -> Result<(String, PathBuf)> {
        let mut words: Vec<OsString> = ["list", "-find", "-f", "{{.Name}}\t{{.Dir}}"].map(Into::into).into();
        words.extend(packages.iter().map(Into::into));
        let said = self.run(words).await?;
        let found: Vec<&str> = said.lines().collect();
        match found[..] {
            [one] => {
                let (name, folder) = one.split_once('\t').unwrap_or((one, ""));
                Ok((name.to_owned(), PathBuf::from(folder)))
            }
            _ => Err(unusable(format!(
                "`{}` matches {} packages, but only one can be debugged at a time; give one, such as \
                 `./cart`",
                packages.join(" "),
                found.len()
            ))),
        }
    }

    async fn build(&self, wanted: &Wanted, is_test: bool) -> Result<PathBuf> {
        let mut hasher = DefaultHasher::new();
        (&self.folder, &wanted.flags, &wanted.packages, is_test, &self.env).hash(&mut hasher);
        let place = self.host.cache_dir().join("go").join(format!("{:016x}", hasher.finish()));
        create(&place)?;
        let stem = self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let program = place.join(if is_test { format!("{stem}.test") } else { stem });
        let command: &[&str] = if is_test { &["test", "-c"] } else { &["build"] };
        let mut words: Vec<OsString> = command.iter().map(Into::into).collect();
        if !wanted.flags.iter().any(|flag| flag.contains("gcflags")) {
            words.push("-gcflags=all=-N -l".into());
        }
        words.extend(["-o".into(), program.clone().into()]);
        words.extend(wanted.flags.iter().chain(&wanted.packages).map(Into::into));
        self.run(words).await?;
        if !self.host.is_file(&program) {
            let folder = self.folder.display();
            return Err(unusable(format!(
                "`{folder}` is a library without tests, which cannot run; give a folder or file of `package \
                 main`, or a test"
            )));
        }
        Ok(program)
    }

    fn spec(&self, args: Vec<OsString>) -> ProcessSpec {
        ProcessSpec {
            program: self.go.clone(),
            args,
            env: self.env.clone(),
            cwd: Some(self.folder.clone()),
            ..ProcessSpec::default()
        }
    }

    /// Runs `go`. What it prints is the error, with the full path before each line number.
    async fn run(&self, args: Vec<OsString>) -> Result<String> {
        let ran = self.host.run(&self.spec(args), deadlines::BUILD).await?;
        if ran.success {
            return Ok(ran.stdout);
        }
        let folder = self.folder.display();
        let lines = ran.stderr.lines().chain(ran.stdout.lines()).filter(|line| !line.starts_with("# "));
        let lines = lines.map(|line| match line.strip_prefix("./") {
            Some(rest) => format!("{folder}/{rest}\n"),
            None => format!("{line}\n"),
        });
        // `go test` runs some of the checks of `go vet`.
        let has = |start: &str| ran.stderr.lines().any(|line| line.starts_with(start));
        let is_vet = has("# [") && !has("vet: ");
        let problem = if is_vet {
            "does not pass `go vet`; run with `-vet=off` to skip it"
        } else {
            "does not compile"
        };
        Err(Error::StartFailed { problem: format!("`{}` {problem}", self.title), output: lines.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_fuzz_test_makes_up_inputs_only_on_request() {
        let table = [
            ("test -fuzz=FuzzSlug -fuzztime 1s", Some("FuzzSlug")),
            ("test -fuzz= .", None),
            ("test -fuzztime=1s", None),
        ];
        for (text, test) in table {
            assert_eq!(Wanted::of(&words(text)).fuzzed(), test, "{text}");
        }
    }

    #[test]
    fn go_arguments_split_into_flags_packages_and_program_arguments() {
        let table = [
            ("test -run TestAdd -v ./cart", Some(true), "", "./cart", "-test.run=TestAdd -test.v"),
            (
                "test -tags e2e -race -count=1 . -args -x",
                Some(true),
                "-tags e2e -race",
                ".",
                "-test.count=1 -x",
            ),
            ("run -tags a ./cmd/shop -port 1", Some(false), "-tags a", "./cmd/shop", ""),
            ("run . list all", Some(false), "", ".", "list all"),
            ("", None, "", "", ""),
            ("-race", None, "-race", "", ""),
        ];
        for (text, is_test, flags, packages, args) in table {
            let wanted = Wanted::of(&words(text));
            assert_eq!(wanted.is_test, is_test, "{text}");
            assert_eq!(wanted.packages, words(packages), "{text}");
            if !args.is_empty() {
                assert_eq!(wanted.args, words(args), "{text}");
                assert_eq!(wanted.flags, words(flags), "{text}");
            }
        }
    }
}
