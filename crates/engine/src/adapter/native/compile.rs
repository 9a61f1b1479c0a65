//! Binaries made of a single source file, in the cache.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Host;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::parts::{create, part_of, unwritable};
use crate::process::ProcessSpec;
use crate::progress::Progress;
use crate::sources;

/// What compiles a source file, and how.
pub(in crate::adapter) struct Compiler {
    /// Their names, in the order in which they are looked for.
    pub(in crate::adapter) names: &'static [&'static str],
    /// Before the source.
    pub(in crate::adapter) flags: Vec<String>,
    /// The version of the language, empty for the compiler's own choice. A source that does not compile is tried with the
    /// first of the others that the compiler knows.
    pub(in crate::adapter) versions: &'static [&'static str],
    /// Arguments with which the compiler does nothing but check its options.
    pub(in crate::adapter) checks: &'static [&'static str],
    /// After it.
    pub(in crate::adapter) libraries: &'static [&'static str],
    /// Whether a line brings in another file, which may have changed where this one has not.
    pub(in crate::adapter) includes: fn(&str) -> bool,
}

/// Compiles a source file for debugging. What the compiler prints is the error; a file that has not changed is not
/// compiled again.
pub(in crate::adapter) async fn compile(
    host: &dyn Host,
    source: &Path,
    compiler: &Compiler,
    progress: &Progress,
) -> Result<PathBuf> {
    let Compiler { names, flags, versions, libraries, includes, .. } = compiler;
    progress.say(format!("compiling {}", source.display()));
    let text = host
        .read(source)
        .ok_or_else(|| Error::BadFile { path: source.to_owned(), problem: "cannot be read".to_owned() })?;
    let program = names.iter().find_map(|name| host.which(name)).ok_or_else(|| Error::Environment {
        problem: format!(
            "no compiler for `{}` was found: none of {} is on PATH",
            source.file_name().unwrap_or_default().to_string_lossy(),
            names.join(", ")
        ),
        remedy: "install one, or compile the program with debug information and give the path of the binary"
            .to_owned(),
    })?;
    let flag_text = format!("{}\0{}", flags.join("\0"), versions.join("\0"));
    let binary = place(
        host,
        source,
        &[text.as_bytes(), program.as_os_str().as_encoded_bytes(), flag_text.as_bytes()],
    )?;
    if host.is_file(&binary) && !text.lines().any(|line| includes(line.trim_start())) {
        if sources::is_newer(source, &binary) {
            // It was written again, with the same text. A time that cannot be set causes a needless warning.
            let _ = std::fs::File::open(&binary).and_then(|file| file.set_modified(SystemTime::now()));
        }
        return Ok(binary);
    }
    // A run of the program that is there already keeps its file.
    let part = part_of(&binary);
    let words = ["-o".into(), part.clone().into(), source.into()].into_iter();
    let args = flags.iter().map(OsString::from).chain(words).chain(libraries.iter().map(OsString::from));
    let spec = ProcessSpec {
        program,
        args: args.collect(),
        cwd: source.parent().filter(|folder| folder.is_dir()).map(Path::to_owned),
        ..ProcessSpec::default()
    };
    run(host, source, compiler, &spec).await?;
    std::fs::rename(&part, &binary).map_err(|error| unwritable(&binary, &error))?;
    Ok(binary)
}

/// Runs the compiler, with another version of the language if the source is not in the first.
async fn run(host: &dyn Host, source: &Path, compiler: &Compiler, spec: &ProcessSpec) -> Result<()> {
    let with = |version: &str, args: &[OsString]| {
        let version = Some(version).filter(|version| !version.is_empty()).map(OsString::from);
        ProcessSpec { args: version.into_iter().chain(args.iter().cloned()).collect(), ..spec.clone() }
    };
    let Some((first, others)) = compiler.versions.split_first() else { return Ok(()) };
    let first = host.run(&with(first, &spec.args), deadlines::BUILD).await?;
    if first.success {
        return Ok(());
    }
    let mut output = format!("{}{}", first.stdout, first.stderr);
    let checks: Vec<OsString> = compiler.checks.iter().map(OsString::from).collect();
    for version in others {
        if !host.run(&with(version, &checks), deadlines::HELPER).await?.success {
            continue;
        }
        let other = host.run(&with(version, &spec.args), deadlines::BUILD).await?;
        if other.success {
            return Ok(());
        }
        // The version that the source is written in has the fewest errors.
        let errors = format!("{}{}", other.stdout, other.stderr);
        if errors.lines().count() < output.lines().count() {
            output = errors;
        }
        break;
    }
    Err(Error::StartFailed { problem: format!("`{}` does not compile", source.display()), output })
}

/// Where something belongs in the cache that is made of these contents.
fn place(host: &dyn Host, source: &Path, contents: &[&[u8]]) -> Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (source, contents).hash(&mut hasher);
    let folder = host.cache_dir().join("native").join(format!("{:016x}", hasher.finish()));
    create(&folder)?;
    Ok(folder.join(source.file_stem().unwrap_or_default()))
}
