//! Where Delve is found, how it is installed, and what its messages mean.

use std::path::{Path, PathBuf};

use tokio::sync::Mutex;

use super::super::known::Known;
use super::super::{Host, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::process::ProcessSpec;
use crate::progress::Progress;

/// Why an expression that calls functions has no value.
pub(super) const NEEDS_CALL: &str = "function calls need an explicit `call`, as in `call f(1)`";

/// How Delve begins to refuse a breakpoint on a line without code.
pub(super) const NO_STATEMENT: &str = "could not find statement at ";

/// The version that is installed where there is none, and that all facts in this project were measured with.
const VERSION: &str = "1.27.2";

/// Folders of the standard library, and of modules that are not the user's.
const LIBRARIES: [&str; 6] =
    ["/usr/local/go/", "/usr/lib/go", "/usr/share/go", "/pkg/mod/", "/libexec/src/", "/sdk/go1."];

/// The newest Delve of the search path, of the folders in which `go install` puts programs, and of the cache.
pub(super) async fn locate(host: &dyn Host, executable: Option<&Path>) -> Result<Runtime> {
    if let Some(path) = executable {
        // Another program would be run to no end: what it does with the question is unknown.
        let is_delve =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains("dlv"));
        let found =
            host.which(&path.to_string_lossy()).filter(is_delve).ok_or_else(|| Error::Environment {
                problem: format!("no `dlv` at `{}`", path.display()),
                remedy: "give the path of Delve's `dlv` as `executablePath`, or leave it out".to_owned(),
            })?;
        let version = version(host, &found).await?;
        return Ok(runtime(found, version, "given as `executablePath`"));
    }
    let mut newest: Option<(Vec<u32>, Runtime)> = None;
    for (path, origin) in candidates(host) {
        let Ok(version) = version(host, &path).await else { continue };
        let number = numbers(&version);
        if newest.as_ref().is_none_or(|(best, _)| number > *best) {
            newest = Some((number, runtime(path, version, origin)));
        }
    }
    if let Some((_, newest)) = newest {
        return Ok(newest);
    }
    go(host).map_err(|_| Error::Environment {
        problem: "no debugger for Go was found: neither `dlv` nor a `go` that can install it".to_owned(),
        remedy:
            "install Go (`apt-get install golang-go`, `brew install go`, or https://go.dev/dl), then run \
                 `stillframe setup go`"
                .to_owned(),
    })?;
    Ok(runtime(cached(host), VERSION.to_owned(), "in the cache"))
}

fn runtime(executable: PathBuf, version: String, origin: &str) -> Runtime {
    Runtime { executable, version, tag: "native".to_owned(), origin: origin.to_owned() }
}

fn cached(host: &dyn Host) -> PathBuf {
    host.cache_dir().join("go").join(format!("dlv-{VERSION}")).join("dlv")
}

fn candidates(host: &dyn Host) -> Vec<(PathBuf, &'static str)> {
    let home = host.env("HOME").map(|home| PathBuf::from(home).join("go"));
    let paths = host.env("GOPATH").map(PathBuf::from).or(home).map(|path| path.join("bin"));
    let bin = host.env("GOBIN").map(PathBuf::from);
    let mut found: Vec<_> = host.which("dlv").map(|path| (path, "on PATH")).into_iter().collect();
    found.extend(bin.map(|path| (path.join("dlv"), "in GOBIN")));
    found.extend(paths.map(|path| (path.join("dlv"), "in GOPATH")));
    found.push((cached(host), "in the cache"));
    found.retain(|(path, _)| host.is_file(path));
    found
}

/// The command `go`, which need not be on the search path where it was unpacked as its makers say.
pub(super) fn go(host: &dyn Host) -> Result<PathBuf> {
    let usual = Some(PathBuf::from("/usr/local/go/bin/go")).filter(|path| host.is_file(path));
    host.which("go").or(usual).ok_or_else(|| Error::Environment {
        problem: "no `go` on PATH to build the program".to_owned(),
        remedy:
            "install Go (`apt-get install golang-go`, `brew install go`, or https://go.dev/dl), or give the \
                 path of a binary that was built with `go build -gcflags='all=-N -l'`"
                .to_owned(),
    })
}

/// The versions of `dlv`, which starts a second process when it is asked.
static VERSIONS: Known<String> = Known::new();

async fn version(host: &dyn Host, path: &Path) -> Result<String> {
    VERSIONS.or_ask(path.to_owned(), path, ask(host, path)).await
}

async fn ask(host: &dyn Host, path: &Path) -> Result<String> {
    let program = host.permitted(path)?;
    let spec = ProcessSpec { program, args: vec!["version".into()], ..ProcessSpec::default() };
    let said = host.run(&spec, deadlines::HELPER).await?;
    let version = said.stdout.lines().find_map(|line| line.strip_prefix("Version: "));
    version.map(|version| version.trim().to_owned()).ok_or_else(|| Error::Environment {
        problem: format!("cannot read the Delve version of `{}`", path.display()),
        remedy: "reinstall it: `stillframe setup go`".to_owned(),
    })
}

fn numbers(version: &str) -> Vec<u32> {
    version.split(['.', '-']).map_while(|part| part.parse().ok()).collect()
}

/// Installs Delve into the cache, unless it is there.
pub(super) async fn provide(host: &dyn Host, runtime: &Runtime, progress: &Progress) -> Result<PathBuf> {
    static INSTALLING: Mutex<()> = Mutex::const_new(());
    let _turn = INSTALLING.lock().await;
    let path = runtime.executable.clone();
    if host.is_file(&path) {
        return Ok(path);
    }
    progress.say(format!("installing Delve {VERSION} into {}", host.cache_dir().display()));
    let module = format!("github.com/go-delve/delve/cmd/dlv@v{VERSION}");
    let folder = path.parent().unwrap_or(&path).to_string_lossy().into_owned();
    let spec = ProcessSpec {
        program: go(host)?,
        args: vec!["install".into(), module.clone().into()],
        // What the user sets for a project does not hold for this.
        env: [("GOBIN", Some(folder)), ("GOFLAGS", None)]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
        ..ProcessSpec::default()
    };
    let installed = host.run(&spec, deadlines::INSTALL).await.map_err(|error| match error {
        // Go keeps what it has compiled.
        Error::Deadline { after, .. } => {
            let what = format!("the installation of Delve {VERSION}, which continues if you try again,");
            Error::Deadline { what, after }
        }
        other => other,
    })?;
    if installed.success {
        return Ok(path);
    }
    let said = installed.stderr.trim();
    Err(Error::Environment {
        problem: format!("Delve {VERSION} could not be installed: {said}"),
        remedy: format!("with access to Go modules on the network, run `go install {module}`"),
    })
}

/// A message, without the title that the adapter puts before it, and with what to do about it.
pub(super) fn message(text: &str) -> String {
    let text = text.split_once(": ").filter(|(title, _)| is_title(title)).map_or(text, |(_, rest)| rest);
    let text = text.trim_end();
    if text.contains("debuggee must not be built with") || text.contains("could not open debug info") {
        return "the binary has no debug information; build it without `-ldflags=-s -w` and without `-trimpath`, with \
                `go build -gcflags='all=-N -l'`"
            .to_owned();
    }
    if text.contains("is too old for this version of Delve") || text.contains("is too old for Go version") {
        let text = text.split(", suppress this error").next().unwrap_or(text);
        let text = text.trim_end_matches([',', ' ', '(', ')']);
        return format!(
            "{text}); install a Delve for that version of Go (`go install \
             github.com/go-delve/delve/cmd/dlv@latest`), or build the program with another Go"
        );
    }
    if let Some(place) = text.strip_prefix(NO_STATEMENT) {
        let place = place.split(", please").next().unwrap_or(place);
        return format!(
            "no code for {place} is in the program: the linker leaves out functions that nothing calls"
        );
    }
    if let Some(place) = text.strip_prefix("Breakpoint exists at ") {
        let place = place.rsplit_once(" at ").map_or(place, |(place, _)| place);
        return format!(
            "another breakpoint is at {place} already, and Delve sets a single one at an address"
        );
    }
    if text == "function calls not allowed without using 'call'" {
        return NEEDS_CALL.to_owned();
    }
    if text.starts_with("location \"") && text.ends_with("\" not found") && text.contains('.') {
        return format!(
            "{text}; Delve names a package by the end of its import path: `v2.New` in `example.com/lru/v2`"
        );
    }
    text.to_owned()
}

/// The message of a refused call. Delve does not find what has type parameters, nor what the linker has left out.
pub(super) fn refused_call(message: String) -> String {
    let is_unknown = message.contains(" has no member ") || message.starts_with("could not find symbol ");
    if is_unknown {
        message
            + "; Delve cannot call generic functions and methods, nor those that the program never calls: the \
                   linker leaves them out"
    } else {
        message
    }
}

fn is_title(title: &str) -> bool {
    ["Unable to ", "Failed to "].iter().any(|start| title.starts_with(start))
}

pub(super) fn is_library(path: &Path) -> bool {
    let path = path.to_string_lossy();
    LIBRARIES.iter().any(|part| path.contains(part)) || !path.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::FakeMachine;

    fn machine(files: &[(&str, &str)], path: Option<&str>) -> FakeMachine {
        let files = files.iter().map(|(path, version)| {
            (PathBuf::from(path), Some(format!("Delve Debugger\nVersion: {version}\nBuild: x\n")))
        });
        let path = path.map(|path| ("dlv".to_owned(), PathBuf::from(path)));
        let home = ("HOME".to_owned(), "/home/ann".to_owned());
        FakeMachine {
            files: files.collect(),
            path: path.into_iter().collect(),
            env: [home].into(),
            ..FakeMachine::default()
        }
    }

    #[tokio::test]
    async fn the_newest_delve_is_chosen() {
        let table = [
            (vec![("/bin/dlv", "1.9.1")], Some("/bin/dlv"), "/bin/dlv", "on PATH"),
            (
                vec![("/bin/dlv", "1.9.1"), ("/home/ann/go/bin/dlv", "1.27.2")],
                Some("/bin/dlv"),
                "/home/ann/go/bin/dlv",
                "in GOPATH",
            ),
            (vec![("/cache/go/dlv-1.27.2/dlv", "1.27.2")], None, "/cache/go/dlv-1.27.2/dlv", "in the cache"),
        ];
        for (files, path, expected, origin) in table {
            let found = locate(&machine(&files, path), None).await.unwrap();
            assert_eq!((found.executable, found.origin.as_str()), (PathBuf::from(expected), origin));
        }
    }

    #[tokio::test]
    async fn missing_delve_and_go_are_both_named() {
        let Err(Error::Environment { problem, remedy }) = locate(&FakeMachine::default(), None).await else {
            panic!("it is not there");
        };
        assert!(problem.contains("`dlv`") && remedy.contains("stillframe setup go"), "{problem} {remedy}");
    }

    #[test]
    fn error_titles_are_stripped_from_messages() {
        let table = [
            ("Unable to evaluate expression: key not found", "key not found"),
            ("key: value", "key: value"),
            ("Failed to launch: no: such file", "no: such file"),
        ];
        for (text, expected) in table {
            assert_eq!(message(text), expected);
        }
        let left_out = "could not find statement at /x/sum.go:51, please use a line with a statement";
        assert!(message(left_out).starts_with("no code for /x/sum.go:51 is in the program"));
        assert_eq!(
            message("Breakpoint exists at /x/sum.go:51 at 484535"),
            "another breakpoint is at /x/sum.go:51 already, and Delve sets a single one at an address"
        );
        let stripped = "Failed to launch: could not launch process: decoding dwarf section info at offset 0x0: too \
                        short - debuggee must not be built with 'go run' or -ldflags='-s -w', which strip debug info";
        assert!(message(stripped).starts_with("the binary has no debug information; "));
    }
}
