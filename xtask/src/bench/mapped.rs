//! A project of many compiled scripts: what a breakpoint in one of its sources costs.
//!
//! The files are as TypeScript's compiler lays them out, with a map beside each script. How many of the maps
//! are opened is counted by the kernel, so it does not depend on the machine's speed.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use serde_json::json;

use super::bare_cdp::Bare;
use super::client::Client;
use super::scene::{Scene, Tools};
use super::table::{median, milliseconds, row};

/// How many scripts the project has, the main one not counted.
const SCRIPTS: usize = 2_000;
/// The one with the breakpoint.
const WANTED: usize = 1_234;
/// How many functions each source has.
const FUNCTIONS: usize = 30;
/// The line of the breakpoint in the source and in the script, counted from 1.
const SOURCE_LINE: u32 = 2;
const SCRIPT_LINE: u32 = 5;
/// How often the program is started.
const STARTS: usize = 9;

/// Measures the way to the first stop, and prints it.
pub(super) fn measure(tools: &Tools, node: &Path) -> anyhow::Result<()> {
    let project = Project::generate()?;
    let source = project.0.path().join(format!("src/m{WANTED}.ts"));
    let scene = Scene::compiled(tools, project.script("main"), source, SOURCE_LINE);
    let mut server = tools.serve()?;
    let (mut bare_times, mut our_times, mut opened) = (Vec::new(), Vec::new(), 0);
    for _ in 0..STARTS {
        let began = Instant::now();
        let place = (project.script(&format!("m{WANTED}")), SCRIPT_LINE);
        let mut bare = Bare::stopped_in(node, &scene.program, &place.0, place.1)?;
        bare.locals()?;
        bare_times.push(began.elapsed());
        bare.end();
        let maps = Opened::watch(&project.dist())?;
        let began = Instant::now();
        let session = scene.stopped(&mut server)?;
        our_times.push(began.elapsed());
        opened = opened.max(maps.count(OsStr::new("map"))?);
        server.call("close_debug_session", &json!({ "sessionId": session }))?;
    }
    server.end()?;
    let (bare, ours) = (median(bare_times), median(our_times));
    row("first stop, 2,000 mapped scripts", bare, ours, "1.10 x");
    println!(
        "{:<36}{:>9.1} ms, {opened} maps opened",
        "  of it ours",
        milliseconds(ours.saturating_sub(bare))
    );
    Ok(())
}

/// The generated project. Its folder goes with it.
struct Project(tempfile::TempDir);

impl Project {
    fn generate() -> anyhow::Result<Self> {
        let project = Self(tempfile::tempdir()?);
        let root = project.0.path();
        std::fs::create_dir(root.join("src"))?;
        std::fs::create_dir(project.dist())?;
        std::fs::write(
            root.join("tsconfig.json"),
            r#"{"compilerOptions":{"outDir":"dist","sourceMap":true}}"#,
        )?;
        for number in 0..SCRIPTS {
            project.write(&format!("m{number}"), &module())?;
        }
        project.write("main", &main_module())?;
        Ok(project)
    }

    fn dist(&self) -> PathBuf {
        self.0.path().join("dist")
    }

    fn script(&self, name: &str) -> PathBuf {
        self.dist().join(format!("{name}.js"))
    }

    fn write(&self, name: &str, module: &Module) -> anyhow::Result<()> {
        let map = json!({
            "version": 3, "file": format!("{name}.js"), "sourceRoot": "",
            "sources": [format!("../src/{name}.ts")], "names": [], "mappings": module.mappings,
        });
        let script = format!("{}//# sourceMappingURL={name}.js.map", module.script);
        std::fs::write(self.0.path().join(format!("src/{name}.ts")), &module.source)?;
        std::fs::write(self.script(name), script)?;
        Ok(std::fs::write(self.dist().join(format!("{name}.js.map")), map.to_string())?)
    }
}

/// A source, what a compiler makes of it, and which place is which.
struct Module {
    source: String,
    script: String,
    mappings: String,
}

/// Functions of four lines. A group of `mappings` has the steps of the column in the script, of the source, of
/// its line and of its column; groups of a line begin anew after each `;`.
fn module() -> Module {
    let names: Vec<String> = (0..FUNCTIONS).map(|number| format!("work{number}")).collect();
    let exports: Vec<String> = names.iter().map(|name| format!("exports.{name} = {name};")).collect();
    let exports = exports.join(" ");
    let opening = "\"use strict\";\nObject.defineProperty(exports, \"__esModule\", { value: true });";
    let mut module = Module {
        source: String::new(),
        script: format!("{opening}\n{exports}\n"),
        // Three lines without a source.
        mappings: ";;;".to_owned(),
    };
    for (number, name) in names.iter().enumerate() {
        let body = "{\n    const doubled = value * 2;\n    return doubled;\n}\n";
        // Writing to a text cannot fail.
        let _ = write!(module.source, "export function {name}(value: number): number {body}");
        let _ = write!(module.script, "function {name}(value) {body}");
        module.mappings.push_str(if number == 0 { "AAAA;" } else { "AACA;" });
        module.mappings.push_str("IACI;IACA;AACJ;");
    }
    module
}

/// Loads all modules, then calls one of them. Each line is the same in source and script.
fn main_module() -> Module {
    let mut text = String::new();
    for number in 0..SCRIPTS {
        let _ = writeln!(text, "const m{number} = require(\"./m{number}\");");
    }
    let _ = writeln!(text, "m{WANTED}.work0(21);");
    let mappings = format!("AAAA{}", ";AACA".repeat(SCRIPTS));
    Module { source: text.clone(), script: text, mappings }
}

/// The files of a folder that are opened from now on.
struct Opened(OwnedFd);

impl Opened {
    fn watch(folder: &Path) -> anyhow::Result<Self> {
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        inotify::add_watch(&events, folder, WatchFlags::OPEN)?;
        Ok(Self(events))
    }

    /// How often one with this extension was opened.
    fn count(self, extension: &OsStr) -> anyhow::Result<usize> {
        let mut space = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(self.0, &mut space);
        let mut count = 0;
        loop {
            match events.next() {
                Ok(event) => {
                    anyhow::ensure!(
                        !event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW),
                        "more files were opened than can be counted"
                    );
                    let name = event.file_name().map(|name| Path::new(OsStr::from_bytes(name.to_bytes())));
                    count += usize::from(name.and_then(Path::extension) == Some(extension));
                }
                Err(Errno::AGAIN) => return Ok(count),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breakpoint_lines_have_the_same_code() {
        let module = module();
        let line = |text: &str, number: u32| text.lines().nth(number as usize - 1).unwrap().to_owned();
        assert_eq!(line(&module.source, SOURCE_LINE), line(&module.script, SCRIPT_LINE));
        assert_eq!(module.mappings.matches(';').count(), module.script.lines().count());
    }

    #[test]
    fn opened_files_are_counted_by_their_extension() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.map", "b.map", "a.js"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let opened = Opened::watch(folder.path()).unwrap();
        for name in ["a.map", "a.js", "a.map"] {
            std::fs::read(folder.path().join(name)).unwrap();
        }
        assert_eq!(opened.count(OsStr::new("map")).unwrap(), 2);
    }
}
