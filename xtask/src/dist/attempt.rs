//! `cargo xtask dist --try`: installs each package as a user does, and debugs with it as a host does.
//!
//! Everything is in a temporary folder with an empty home. Packages come from the files that were made: npm has a
//! registry on this machine that knows nothing else, and pip looks in the folder only.

mod registry;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use self::registry::Registry;
use super::platforms::{PLATFORMS, Platform};
use super::release::Release;
use super::{SUMS, digest};
use crate::repository;

/// A way to install, with its name.
type Attempt = (&'static str, fn(&Scene) -> Result<()>);

const ATTEMPTS: &[Attempt] = &[
    ("checksums", checksums),
    ("tarball", tarball),
    ("npm", npm),
    ("PyPI", pypi),
    ("Debian", debian),
    ("MCPB", mcpb),
    ("Gemini CLI", gemini),
    ("Claude Code", claude_code),
];

pub(super) fn run(folder: &Path, release: &Release) -> Result<ExitCode> {
    let platform =
        PLATFORMS.iter().find(|platform| platform.is_here()).context("no package is for this machine")?;
    let mut failed = false;
    for (name, attempt) in ATTEMPTS {
        let scene = Scene::new(folder, release, platform)?;
        let began = Instant::now();
        let outcome = attempt(&scene);
        let took = began.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => println!("{name:<12} installed and used in {took:.1} s"),
            Err(problem) => {
                failed = true;
                println!("{name:<12} FAILED: {problem:#}");
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// A user who has nothing yet.
struct Scene<'a> {
    dist: &'a Path,
    release: &'a Release,
    platform: &'a Platform,
    place: TempDir,
}

impl<'a> Scene<'a> {
    fn new(dist: &'a Path, release: &'a Release, platform: &'a Platform) -> Result<Self> {
        let scene = Self { dist, release, platform, place: tempfile::tempdir()? };
        std::fs::create_dir_all(scene.place.path().join("home/.cursor"))?;
        Ok(scene)
    }

    /// The path of a file of the release.
    fn file(&self, name: &str) -> PathBuf {
        self.dist.join(name)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    #[expect(clippy::disallowed_methods, reason = "installers, which end by themselves")]
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.place.path()).env("HOME", self.path("home"));
        for name in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "STILLFRAME_CACHE_DIR"] {
            command.env_remove(name);
        }
        command
    }

    /// Debugs the README's example, and then starts the server from a host's file and lets `doctor` use it.
    fn use_program(&self, words: &[&str], environment: &[(&str, &str)]) -> Result<()> {
        let (program, before) = words.split_first().context("there is no command")?;
        let run = |arguments: &[&str]| {
            let mut command = self.command(program);
            command.args(before).args(arguments).envs(environment.iter().copied());
            output(&mut command)
        };
        let version = run(&["--version"])?;
        ensure!(version.trim() == format!("stillframe {}", self.release.version), "it says `{version}`");
        let example = repository::root().join("examples/inventory.js");
        let place = format!("{}:deliver", example.display());
        let seen = run(&["probe", &place, "--condition", "label === \"IK-0499\"", "-e", "LABEL.lastIndex"])?;
        ensure!(seen.contains("LABEL.lastIndex = 7"), "a probe printed: {seen}");
        let added = run(&["init", "cursor", "--yes", "--command", &words.join(" ")])?;
        ensure!(added.contains("✓ wrote ~/.cursor/mcp.json"), "init printed: {added}");
        let report: Value = serde_json::from_str(&run(&["doctor", "--host", "cursor", "--json"])?)?;
        ensure!(report.get("ok") == Some(&Value::Bool(true)), "doctor reports: {report}");
        Ok(())
    }
}

/// Runs a command to its end, and returns what it printed.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{command:?} failed: {out}{err}");
    Ok(out.into_owned())
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path is no text")
}

fn checksums(scene: &Scene<'_>) -> Result<()> {
    let sums = std::fs::read_to_string(scene.file(SUMS)).context("run `cargo xtask dist` first")?;
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").context("a line of another form")?;
        ensure!(digest(&std::fs::read(scene.file(name))?) == sum, "`{name}` has other bytes");
    }
    Ok(())
}

fn tarball(scene: &Scene<'_>) -> Result<()> {
    let name = format!("stillframe-{}-{}", scene.release.version, scene.platform.target);
    output(scene.command("tar").arg("-xzf").arg(scene.file(&format!("{name}.tar.gz"))))?;
    let folder = scene.path(&name);
    for file in ["LICENSE-MIT", "THIRD-PARTY.md", "completions/_stillframe", "man/man1/stillframe-probe.1"] {
        ensure!(folder.join(file).is_file(), "there is no `{file}`");
    }
    scene.use_program(&[text(&folder.join("stillframe"))?], &[])
}

/// `npx -y stillframe`, with nothing installed.
fn npm(scene: &Scene<'_>) -> Result<()> {
    let release = &scene.release.version;
    let registry = Registry::start(&[
        ("stillframe".to_owned(), scene.file(&format!("npm-stillframe-{release}.tgz"))),
        (
            scene.platform.npm_package(),
            scene.file(&format!("npm-stillframe-{}-{release}.tgz", scene.platform.short())),
        ),
    ])?;
    std::fs::write(
        scene.path("home/.npmrc"),
        format!("registry={}\nupdate-notifier=false\n", registry.address()),
    )?;
    scene.use_program(&["npx", "-y", "stillframe"], &[])
}

fn pypi(scene: &Scene<'_>) -> Result<()> {
    output(scene.command("python3").args(["-m", "venv", "env"]))?;
    let pip =
        ["-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", "--find-links"];
    output(scene.command(scene.path("env/bin/python")).args(pip).arg(scene.dist).arg("stillframe"))?;
    let program = scene.path("env/bin/stillframe");
    // The first program in Python has its debugger installed.
    let place = format!("{}:receipt", repository::root().join("examples/basket.py").display());
    let seen = output(scene.command(&program).args(["probe", &place, "-e", "basket.owner"]))?;
    ensure!(seen.contains("basket.owner = 'Ann'"), "a probe printed: {seen}");
    scene.use_program(&[text(&program)?], &[])
}

/// Installs with dpkg into a folder of its own. In a user namespace, that needs no rights.
fn debian(scene: &Scene<'_>) -> Result<()> {
    let package = scene.file(&format!("stillframe_{}_{}.deb", scene.release.version, scene.platform.debian));
    let described = output(scene.command("dpkg-deb").arg("--info").arg(&package))?;
    ensure!(described.contains(&format!("Version: {}", scene.release.version)), "{described}");
    std::fs::create_dir_all(scene.path("system/var/lib/dpkg"))?;
    let dpkg = ["--map-root-user", "dpkg", "--root=system", "--log=system/dpkg.log", "--install"];
    output(scene.command("unshare").args(dpkg).arg(&package))?;
    ensure!(scene.path("system/usr/share/man/man1/stillframe.1.gz").is_file(), "there is no manual page");
    scene.use_program(&[text(&scene.path("system/usr/bin/stillframe"))?], &[])
}

/// Has the makers of the format check the manifest, and runs what it says, as Claude Desktop does.
fn mcpb(scene: &Scene<'_>) -> Result<()> {
    let bundle = scene.file(&format!("stillframe-{}-{}.mcpb", scene.release.version, scene.platform.short()));
    unzip(scene, &bundle, "bundle")?;
    let checker = repository::root().join("fixtures/toolchains/node_modules/.bin/mcpb");
    output(scene.command(checker).arg("validate").arg("bundle/manifest.json"))?;
    let manifest = json(&scene.path("bundle/manifest.json"))?;
    let command = text_at(&manifest, "/server/mcp_config/command")?;
    let program = command.replace("${__dirname}", text(&scene.path("bundle"))?);
    scene.use_program(&[&program], &[])
}

fn gemini(scene: &Scene<'_>) -> Result<()> {
    let (system, processor) = scene.platform.node;
    std::fs::create_dir(scene.path("extension"))?;
    let archive = scene.file(&format!("{system}.{processor}.stillframe.tar.gz"));
    output(scene.command("tar").arg("-xzf").arg(archive).args(["-C", "extension"]))?;
    ensure!(scene.path("extension/skills/stillframe/SKILL.md").is_file(), "there is no skill");
    let manifest = json(&scene.path("extension/gemini-extension.json"))?;
    let command = text_at(&manifest, "/mcpServers/stillframe/command")?;
    let program = command.replace("${extensionPath}", text(&scene.path("extension"))?).replace("${/}", "/");
    scene.use_program(&[&program], &[])
}

/// The plugin has no program: what its `.mcp.json` starts was tried with npm.
fn claude_code(scene: &Scene<'_>) -> Result<()> {
    unzip(scene, &scene.file(&format!("stillframe-{}-claude-code.zip", scene.release.version)), "plugin")?;
    let servers = json(&scene.path("plugin/.mcp.json"))?;
    let package = text_at(&servers, "/mcpServers/stillframe/args/1")?;
    ensure!(package == format!("stillframe@{}", scene.release.version), "it starts `{package}`");
    for file in [".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"] {
        ensure!(text_at(&json(&scene.path("plugin").join(file))?, "/name")? == "stillframe", "`{file}`");
    }
    ensure!(scene.path("plugin/skills/stillframe/SKILL.md").is_file(), "there is no skill");
    Ok(())
}

fn json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

/// The text at a place in some JSON.
fn text_at<'a>(value: &'a Value, pointer: &str) -> Result<&'a str> {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .with_context(|| format!("no text at `{pointer}` in {value}"))
}

/// Unpacks with the permissions that the archive has.
fn unzip(scene: &Scene<'_>, archive: &Path, into: &str) -> Result<()> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(archive)?)?;
    Ok(archive.extract(scene.path(into))?)
}
