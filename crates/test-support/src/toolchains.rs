//! Compilers, loaders, test runners and versions of Node.js, as npm installs them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use tokio::process::Command;
use tokio::sync::OnceCell;

use crate::repository;

/// Where they are installed. That is done at the first call, unless it was done before and nothing has changed.
pub async fn toolchains() -> PathBuf {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    INSTALLED.get_or_init(|| install("fixtures/toolchains")).await.clone()
}

/// Where earlier versions of test runners are installed.
pub async fn earlier_runners() -> PathBuf {
    static INSTALLED: OnceCell<PathBuf> = OnceCell::const_new();
    INSTALLED.get_or_init(|| install("fixtures/toolchains/earlier")).await.clone()
}

/// The oldest Node.js that is supported.
pub async fn oldest_node() -> PathBuf {
    install("fixtures/toolchains/oldest").await.join("node/bin/node")
}

async fn install(folder: &str) -> PathBuf {
    let name = folder;
    let folder = repository().join(folder);
    let modules = folder.join("node_modules");
    let _alone = alone().await;
    // npm writes this file last.
    let is_done = changed(&modules.join(".package-lock.json")) >= changed(&folder.join("package.json"));
    if !is_done {
        let advice = format!("run `npm install` in {name} to see what is wrong");
        // A lock file would name the registry that it was made with.
        let args = ["install", "--no-package-lock", "--no-audit", "--no-fund"];
        let done = run(Path::new("npm"), &args, &folder).await;
        done.unwrap_or_else(|problem| panic!("the toolchains cannot be installed: {problem}; {advice}"));
    }
    modules
}

/// Held while something is installed: two npm that install at once remove files that tests already use.
pub(crate) async fn alone() -> File {
    let lock = || {
        let folder = repository().join("target");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let file = File::create(folder.join("toolchains.lock")).expect("a file can be made");
        file.lock().expect("a file can be locked");
        file
    };
    tokio::task::spawn_blocking(lock).await.expect("the lock is waited for")
}

pub(crate) fn changed(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|file| file.modified()).ok()
}

/// Runs one of their commands in a folder. It must succeed.
pub async fn run_tool(folder: &Path, tool: &str, args: &[&str]) {
    let program = toolchains().await.join(".bin").join(tool);
    let done = run(&program, args, folder).await;
    done.unwrap_or_else(|problem| panic!("{tool} {args:?}: {problem}"));
}

/// Compiles a C source for debugging.
pub async fn compile(source: &str, binary: &str) {
    let done = run(Path::new("gcc"), &["-g", "-O0", "-o", binary, source], Path::new("/")).await;
    done.unwrap_or_else(|problem| panic!("{source}: {problem}"));
}

/// Compiles a C source to a library, for debugging.
pub async fn compile_library(source: &str, library: &str) {
    let args = ["-g", "-O0", "-shared", "-fPIC", "-o", library, source];
    let done = run(Path::new("gcc"), &args, Path::new("/")).await;
    done.unwrap_or_else(|problem| panic!("{source}: {problem}"));
}

/// Runs `go` in a folder. It must succeed.
pub async fn run_go(folder: &Path, args: &[&str]) {
    let done = run(Path::new("go"), args, folder).await;
    done.unwrap_or_else(|problem| panic!("go {args:?}: {problem}"));
}

/// Runs a script of Node.js in a folder. It must succeed.
pub async fn run_node(folder: &Path, args: &[&str]) {
    let done = run(Path::new("node"), args, folder).await;
    done.unwrap_or_else(|problem| panic!("node {args:?}: {problem}"));
}

#[expect(clippy::disallowed_methods, reason = "tools end by themselves, and with the test at the latest")]
pub(crate) async fn run(program: &Path, args: &[&str], folder: &Path) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.map_err(|error| error.to_string())?;
    let answer = [output.stdout, output.stderr].concat();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&answer).into_owned()) }
}

/// The browsers that will do, the smallest first.
const BROWSERS: [&str; 4] = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/// A browser on the `PATH`.
pub fn browser() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let programs = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = programs.into_iter().find(|program| program.is_file());
    found.unwrap_or_else(|| panic!("no browser on the PATH; install one of {BROWSERS:?}"))
}
