//! Binaries: as commands, and made of a single source file in the cache.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use super::Host;
use super::commands::{CommandFile, Commands, ProcessCommand};
use super::lldb::C;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::launch::{Launch, Program};
use crate::process::ProcessSpec;
use crate::progress::Progress;

impl Commands for C {
    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)> {
        let launch = Launch { args, ..Launch::new(Program::Script(file.path.clone())) };
        file.is_binary.then_some((None, launch))
    }

    /// A process that no interpreter runs is its own program.
    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf> {
        Some(process.executable.clone())
    }
}

/// Compilers, by the extension of a source, in the order in which they are looked for.
const COMPILERS: [(&str, &[&str]); 2] = [("c", &["cc", "gcc", "clang"]), ("", &["c++", "g++", "clang++"])];

/// A launch of a binary: the one that is asked for, or one made of the source that is.
pub(super) async fn build(
    host: &dyn Host,
    launch: Launch,
    extensions: &[&str],
    progress: &Progress,
) -> Result<Launch> {
    let Program::Script(path) = &launch.program else {
        let problem =
            "C and C++ need a binary or one source file to run; build the program, and give its path";
        return Err(Error::Unsupported(problem.to_owned()));
    };
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !extension.is_some_and(|extension| extensions.contains(&extension)) {
        return Ok(launch);
    }
    progress.say(format!("compiling {}", path.display()));
    let program = compile(host, path).await?;
    Ok(Launch { program: Program::Script(program), ..launch })
}

/// Compiles a source file for debugging. What the compiler prints is the error; nothing is compiled again for a file
/// that has not changed.
async fn compile(host: &dyn Host, source: &Path) -> Result<PathBuf> {
    let text = host
        .read(source)
        .ok_or_else(|| Error::BadFile { path: source.to_owned(), problem: "cannot be read".to_owned() })?;
    let extension = source.extension().unwrap_or_default().to_string_lossy().into_owned();
    let names = COMPILERS
        .iter()
        .find(|(of, _)| *of == extension || of.is_empty())
        .map_or(&[][..], |(_, names)| names);
    let compiler = names.iter().find_map(|name| host.which(name)).ok_or_else(|| Error::Environment {
        problem: format!(
            "no compiler for `.{extension}` files was found: none of {} is on PATH",
            names.join(", ")
        ),
        remedy: "install one, or compile the program with `-g -O0` and give the path of the binary"
            .to_owned(),
    })?;
    let program = place(host, source, &[text.as_bytes(), compiler.as_os_str().as_encoded_bytes()])?;
    // Headers may have changed where the source has not.
    let includes = text.lines().any(|line| line.trim_start().starts_with("#include \""));
    if host.is_file(&program) && !includes {
        return Ok(program);
    }
    // A run of the program that is there already keeps its file.
    let part = program.with_extension(std::process::id().to_string());
    let spec = ProcessSpec {
        program: compiler,
        args: [
            "-g".into(),
            "-O0".into(),
            "-o".into(),
            part.clone().into(),
            source.into(),
            "-lm".into(),
            "-pthread".into(),
        ]
        .into(),
        cwd: source.parent().filter(|folder| folder.is_dir()).map(Path::to_owned),
        ..ProcessSpec::default()
    };
    let compiled = host.run(&spec, deadlines::BUILD).await?;
    if !compiled.success {
        return Err(Error::StartFailed {
            problem: format!("`{}` does not compile", source.display()),
            output: format!("{}{}", compiled.stdout, compiled.stderr),
        });
    }
    std::fs::rename(&part, &program).map_err(|error| unwritable(&program, &error))?;
    Ok(program)
}

/// Where in the cache something belongs that is made of these contents.
fn place(host: &dyn Host, source: &Path, contents: &[&[u8]]) -> Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (source, contents).hash(&mut hasher);
    let folder = host.cache_dir().join("native").join(format!("{:016x}", hasher.finish()));
    std::fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    Ok(folder.join(source.file_stem().unwrap_or_default()))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::Environment {
        problem: format!("`{}` cannot be written: {error}", path.display()),
        remedy: "make room, or name another folder in STILLFRAME_CACHE_DIR".to_owned(),
    }
}
