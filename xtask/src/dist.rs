//! `cargo xtask dist`: the released program for this machine's platform, with its bill of materials and checksums, in
//! `target/dist`.
//!
//! The same commit built with the same compiler gives the same bytes: paths of the machine are replaced, and nothing
//! depends on the time. `--check` builds a copy in another folder again, and compares.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::{repository, sbom};

const PROGRAM: &str = "stillframe";
const BILL: &str = "stillframe.cdx.json";
const SUMS: &str = "SHA256SUMS";

/// Builds, and with `--check` builds again. With `--bill` only the bill of materials is made, and printed.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--bill"] => {
            print!("{}", sbom::text(&repository::host()?)?);
            return Ok(ExitCode::SUCCESS);
        }
        [] | ["--check"] => {}
        _ => bail!("takes `--check`, `--bill` or nothing"),
    }
    let root = repository::root();
    let built = build(root, &root.join("target/dist/build"))?;
    let files = [(PROGRAM, built.clone()), (BILL, sbom::text(&repository::host()?)?.into_bytes())];
    let folder = root.join("target/dist");
    let mut sums = String::new();
    for (name, bytes) in &files {
        std::fs::write(folder.join(name), bytes).with_context(|| format!("cannot write `{name}`"))?;
        writeln!(sums, "{}  {name}", digest(bytes))?;
    }
    std::fs::copy(folder.join("build/release").join(PROGRAM), folder.join(PROGRAM))?;
    std::fs::write(folder.join(SUMS), &sums)?;
    print!("{sums}");
    if arguments.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let elsewhere = tempfile::tempdir()?;
    let copy = elsewhere.path().join("another/place");
    copy_to(&copy)?;
    let again = build(&copy, &elsewhere.path().join("built"))?;
    if again == built {
        println!("built again in another folder: the same {} bytes", built.len());
        return Ok(ExitCode::SUCCESS);
    }
    let kept = folder.join("different");
    std::fs::write(&kept, &again)?;
    println!("built again in another folder: other bytes; they are in `{}`", kept.display());
    Ok(ExitCode::FAILURE)
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Builds the sources in a folder into another, and gives the program.
fn build(sources: &Path, target: &Path) -> Result<Vec<u8>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).context("cargo has no home")?;
    let sources = sources.canonicalize()?;
    let flags = [(sources.as_path(), "/stillframe"), (home.as_path(), "/cargo")]
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    let built = repository::cargo()
        .current_dir(&sources)
        .args(["build", "--release", "--locked", "--package", PROGRAM, "--target-dir"])
        .arg(target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .context("cannot run cargo")?;
    ensure!(built.success(), "the program cannot be built");
    std::fs::read(target.join("release").join(PROGRAM)).context("the program is not where it was built")
}

/// Copies what git tracks.
fn copy_to(folder: &Path) -> Result<()> {
    for path in repository::output("git", &["ls-files", "-z"])?.split_terminator('\0') {
        let (from, to) = (repository::root().join(path), folder.join(path));
        if from.symlink_metadata().is_ok_and(|found| found.is_file()) {
            let parent = to.parent().unwrap_or(folder);
            std::fs::create_dir_all(parent)?;
            std::fs::copy(&from, &to).with_context(|| format!("cannot copy `{path}`"))?;
        }
    }
    Ok(())
}
