//! `cargo xtask dist`: what a release gives away, in `target/dist`, with checksums and a bill of materials.
//!
//! The program is built for each platform of the table ([`platforms`]) that the compiler has the standard library for,
//! and put in each kind of package. The same commit built with the same compiler gives the same bytes: paths of the
//! machine are replaced, and nothing depends on the time. `--check` builds a copy in another folder again, and
//! compares; `--try` installs each package that was made for this machine and debugs with it.

mod archive;
mod attempt;
mod bundles;
mod documents;
mod licenses;
mod npm;
mod platforms;
mod release;
mod tarball;
mod wheel;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use self::documents::Documents;
use self::platforms::{PLATFORMS, Platform};
use self::release::Release;
use crate::{repository, sbom};

const PROGRAM: &str = "stillframe";
/// As pip calls it. It is a compiler for every target, with the headers.
const ZIG: &str = "ziglang==0.17.1";
const BILL: &str = "stillframe.cdx.json";
const SUMS: &str = "SHA256SUMS";

/// Makes the packages, of all platforms or of one. With `--bill` only the bill of materials is made, and printed.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let folder = repository::root().join("target/dist");
    match arguments.as_slice() {
        ["--bill"] => print!("{}", sbom::text(&repository::host()?)?),
        ["--try"] => return attempt::run(&folder, &Release::read()?),
        ["--check"] => return check(&folder),
        [] => make(&folder, PLATFORMS.iter().collect())?,
        [target] => {
            let platform = PLATFORMS.iter().find(|platform| platform.target == *target);
            make(&folder, vec![platform.with_context(|| format!("unknown option or target `{target}`"))?])?;
        }
        _ => bail!("takes `--check`, `--try`, `--bill`, a target or nothing"),
    }
    Ok(ExitCode::SUCCESS)
}

/// A program and the platform it is for.
type Built<'a> = (&'a Platform, Vec<u8>);

fn make(folder: &Path, platforms: Vec<&Platform>) -> Result<()> {
    let release = Release::read()?;
    let build_folder = folder.join("build");
    let mut built: Vec<Built<'_>> = Vec::new();
    let mut documents = None;
    for platform in platforms {
        if !platform.can_be_built()? {
            println!("not built: {}; to add it: rustup target add {0}", platform.target);
            continue;
        }
        built.push((platform, build(platform, repository::root(), &build_folder)?));
        if platform.is_here() {
            documents = Some(Documents::of(&program_in(&build_folder, platform))?);
        }
    }
    let documents =
        documents.context("none of the programs runs on this machine, so there are no documents")?;
    let files = packages(&release, &built, &documents)?;
    clear(folder)?;
    let mut sums = String::new();
    for (name, bytes) in &files {
        std::fs::write(folder.join(name), bytes).with_context(|| format!("cannot write `{name}`"))?;
        writeln!(sums, "{}  {name}", digest(bytes))?;
        println!("{:>11}  {name}", bytes.len());
    }
    std::fs::write(folder.join(SUMS), &sums)?;
    Ok(())
}

/// Every file of a release but the checksums.
fn packages(release: &Release, built: &[Built<'_>], documents: &Documents) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = vec![npm::launcher(release)?, bundles::claude_code(release)?];
    let mut mcpb = Vec::new();
    for (platform, program) in built {
        files.push(tarball::tarball(release, platform, program, documents)?);
        files.push(tarball::debian(release, platform, program, documents)?);
        files.push(npm::program(release, platform, program)?);
        files.push(wheel::wheel(release, platform, program)?);
        files.push(bundles::gemini(release, platform, program)?);
        let bundle = bundles::mcpb(release, platform, program)?;
        mcpb.push((*platform, digest(&bundle.1)));
        files.push(bundle);
    }
    files.push(("server.json".to_owned(), bundles::server_json(release, &mcpb)?));
    files.push((BILL.to_owned(), sbom::text(&repository::host()?)?.into_bytes()));
    files.sort();
    Ok(files)
}

/// Removes the files of an earlier release, and keeps what cargo has built.
fn clear(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove `{}`", path.display()))?;
        }
    }
    Ok(())
}

/// Builds the program of this machine twice, in different folders.
fn check(folder: &Path) -> Result<ExitCode> {
    let platform =
        PLATFORMS.iter().find(|platform| platform.is_here()).context("no program for this machine")?;
    let built = build(platform, repository::root(), &folder.join("build"))?;
    let elsewhere = tempfile::tempdir()?;
    let copy = elsewhere.path().join("another/place");
    copy_to(&copy)?;
    let again = build(platform, &copy, &elsewhere.path().join("built"))?;
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

/// Builds the sources in a folder into another, and returns the program.
fn build(platform: &Platform, sources: &Path, target: &Path) -> Result<Vec<u8>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo"))).context("cargo has no home")?;
    let sources = sources.canonicalize()?;
    let mut flags = [(sources.as_path(), "/stillframe"), (home.as_path(), "/cargo")]
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .to_vec();
    flags.extend(platform.linker.map(|linker| format!("-Clinker={linker}")));
    let mut cargo = repository::cargo();
    if let Some(name) = platform.zig {
        // As a module of Python, because cargo's builds give the program itself a target that it does not know.
        let compiler = format!("python3 -m ziglang cc -target {name}");
        cargo.env(format!("CC_{}", platform.target.replace('-', "_")), compiler).env("PYTHONPATH", zig()?);
    }
    let built = cargo
        .current_dir(&sources)
        .args(["build", "--release", "--locked", "--package", PROGRAM, "--target", platform.target])
        .arg("--target-dir")
        .arg(target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .context("cannot run cargo")?;
    ensure!(built.success(), "the program cannot be built for {}", platform.target);
    std::fs::read(program_in(target, platform)).context("the program is not where it was built")
}

/// The folder with the Zig compiler, which is installed there when it is not.
fn zig() -> Result<PathBuf> {
    let folder = repository::root().join("target/tools/zig");
    if !folder.join("ziglang").is_dir() {
        let target = folder.to_str().context("the path of the repository is not UTF-8")?;
        repository::output("python3", &["-m", "pip", "install", "--quiet", "--target", target, ZIG])?;
    }
    Ok(folder)
}

fn program_in(target: &Path, platform: &Platform) -> PathBuf {
    target.join(platform.target).join("release").join(PROGRAM)
}

/// Copies what git tracks.
fn copy_to(folder: &Path) -> Result<()> {
    for path in repository::output("git", &["ls-files", "-z"])?.split_terminator('\0') {
        let (from, to) = (repository::root().join(path), folder.join(path));
        if from.is_file() {
            let parent = to.parent().unwrap_or(folder);
            std::fs::create_dir_all(parent)?;
            std::fs::copy(&from, &to).with_context(|| format!("cannot copy `{path}`"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::archive::Entry;
    use super::*;

    /// A release that is not this one.
    pub(super) fn release() -> Release {
        Release {
            version: "1.2.3".to_owned(),
            description: "A debugger: with a few more words.".to_owned(),
            license: "MIT".to_owned(),
            repository: "https://github.com/ann/stillframe".to_owned(),
            readme: "# Read me\n".to_owned(),
            skill: "---\nname: stillframe\n---\n".to_owned(),
            licenses: vec![Entry::file("LICENSE-MIT", "MIT\n"), Entry::file("THIRD-PARTY.md", "others\n")],
        }
    }

    #[test]
    fn each_platform_has_one_package_of_each_kind_and_the_same_bytes_each_time() {
        let documents = || Documents {
            manual: vec![Entry::file("stillframe.1", ".TH\n")],
            completions: ["stillframe.bash", "_stillframe", "stillframe.fish"]
                .map(|file| Entry::file(file, "complete\n"))
                .to_vec(),
        };
        let built: Vec<Built<'_>> =
            PLATFORMS.iter().map(|platform| (platform, b"program".to_vec())).collect();
        let files = packages(&release(), &built, &documents()).unwrap();
        assert_eq!(files, packages(&release(), &built, &documents()).unwrap());
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "linux.arm64.stillframe.tar.gz",
                "linux.x64.stillframe.tar.gz",
                "npm-stillframe-1.2.3.tgz",
                "npm-stillframe-linux-arm64-1.2.3.tgz",
                "npm-stillframe-linux-x64-1.2.3.tgz",
                "server.json",
                "stillframe-1.2.3-aarch64-unknown-linux-musl.tar.gz",
                "stillframe-1.2.3-claude-code.zip",
                "stillframe-1.2.3-linux-arm64.mcpb",
                "stillframe-1.2.3-linux-x64.mcpb",
                "stillframe-1.2.3-py3-none-manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl",
                "stillframe-1.2.3-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl",
                "stillframe-1.2.3-x86_64-unknown-linux-musl.tar.gz",
                "stillframe.cdx.json",
                "stillframe_1.2.3_amd64.deb",
                "stillframe_1.2.3_arm64.deb",
            ]
        );
    }

    #[test]
    fn the_release_knows_its_licences() {
        let release = Release::read().unwrap();
        let third_party = release.licenses.iter().find(|entry| entry.path == "THIRD-PARTY.md").unwrap();
        let text = String::from_utf8(third_party.bytes.clone()).unwrap();
        for part in ["- tokio 1.", "- rmcp 3.", "Permission is hereby granted", "Apache License"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("- proptest "), "for tests only");
        assert!(release.registry_name().unwrap().starts_with("io.github."));
    }

    #[test]
    fn the_dockerfile_is_short_and_runs_as_a_user() {
        let text = std::fs::read_to_string(repository::root().join("packaging/Dockerfile")).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() <= 30);
        assert!(lines.iter().any(|line| line.starts_with("USER ") && !line.contains("root")));
        let label = format!(
            "io.modelcontextprotocol.server.name=\"{}\"",
            Release::read().unwrap().registry_name().unwrap()
        );
        assert!(text.contains(&label), "{label}");
    }
}
