//! Programs of machine code: how they are built and read, and the debuggers that C, C++ and Rust share.

pub(super) mod compile;
mod core;
pub(super) mod ctest;
pub(super) mod debugger;
pub(super) mod declared;
mod elf;
mod formatters;
pub(super) mod gdb;
mod launcher;
pub(super) mod lldb_dap;
pub(super) mod optimized;
mod segments;
mod sources;
mod waits;

use std::path::{Path, PathBuf};

pub(super) use elf::Elf;
pub(super) use formatters::provide;
pub(super) use sources::names_source;

use self::core::Dump;
use super::{Host, Machine};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::parts::create;
use crate::process::ProcessSpec;

/// The file of a dump; `coredumpctl` extracts it if there is no such file.
pub(super) async fn find_dump(host: &dyn Host, name: &Path) -> Result<PathBuf> {
    if host.is_file(name) {
        return Ok(name.to_owned());
    }
    let missing = || Error::BadFile {
        path: name.to_owned(),
        problem: "is not a file, and there is no `coredumpctl` on PATH to find a dump by this name"
            .to_owned(),
    };
    let program = host.which("coredumpctl").ok_or_else(missing)?;
    let folder = host.cache_dir().join("native").join("dumps");
    create(&folder)?;
    let text = name.to_string_lossy().into_owned();
    let file = folder.join(text.replace('/', "_"));
    let mut args = vec!["dump".into(), "--output".into(), file.clone().into_os_string()];
    args.extend((text != "last").then(|| text.into()));
    let spec = ProcessSpec { program, args, ..ProcessSpec::default() };
    let dumped = host.run(&spec, deadlines::INSTALL).await?;
    if dumped.success && host.is_file(&file) {
        return Ok(file);
    }
    let problem = format!("is not a file, and coredumpctl found no such dump: {}", dumped.stderr.trim());
    Err(Error::BadFile { path: name.to_owned(), problem })
}

/// The program of a crash dump: the one that was given, or the one that the dump names.
pub(super) fn program_of_dump(host: &dyn Host, dump: &Path, given: Option<&Path>) -> Result<PathBuf> {
    let opened = Dump::open(host, dump)?;
    let program = given.map(Path::to_owned).or_else(|| opened.program());
    let program = program.ok_or_else(|| Error::BadFile {
        path: dump.to_owned(),
        problem: "does not name the program that crashed; give its path too".to_owned(),
    })?;
    let dump = dump.display();
    let problem = if !host.is_file(&program) {
        format!("is the program that left `{dump}`, but it does not exist; give its path")
    } else if let Some(difference) = opened.difference(&program) {
        format!("did not write `{dump}`: {difference}; give the executable that crashed, not a later build")
    } else {
        return Ok(program);
    };
    Err(Error::BadFile { path: program, problem })
}

/// Whether a program was built by Go, whose own debugger knows more of it.
pub(super) fn is_go(program: &Path) -> bool {
    Elf::read(&Machine, program).is_some_and(|elf| elf.has(".gopclntab"))
}

/// The signal by which the program of a crash dump ended, if the dump has it.
pub(super) fn signal_of_dump(host: &dyn Host, dump: &Path) -> Option<i32> {
    Dump::open(host, dump).ok()?.signal()
}

/// How large a dump may be that LLDB reads as a copy, with the memory that the kernel left out of it.
const LARGEST_COPIED: u64 = 1 << 30;

/// Why a crash dump does not show all there could be: what it lacks, and what its program lacks.
pub(super) fn notes_of_dump(host: &dyn Host, dump: &Path, given: Option<&Path>, flags: &str) -> Vec<String> {
    let Ok(opened) = Dump::open(host, dump) else { return Vec::new() };
    let program = given.map(Path::to_owned).or_else(|| opened.program());
    let is_large = host.size(dump) > LARGEST_COPIED && !program.as_deref().is_some_and(is_go);
    let unread = is_large.then(|| {
        "the dump has more than 1 GiB: in LLDB, constants and literals of the program, which the kernel leaves out of \
         a dump, read as zeros"
            .to_owned()
    });
    let unreadable = program.and_then(|program| without_debug_info(host, &program, flags));
    opened.truncation().into_iter().chain(unread).chain(unreadable).collect()
}

/// Why breakpoints in a crash dump do not bind.
pub(super) const DUMP_DOES_NOT_RUN: &str =
    "a crash dump does not run; start the program to stop at breakpoints";

/// Refuses a binary that this machine cannot run.
pub(super) fn check_binary(host: &dyn Host, path: &Path) -> Result<()> {
    let Some(elf) = Elf::read(host, path) else {
        return match foreign_system(&host.head(path)) {
            Some(system) => Err(Error::BadFile {
                path: path.to_owned(),
                problem: format!("is a program for {system}; build it for this machine"),
            }),
            None => Ok(()),
        };
    };
    // `lldb-dap` waits for it without end.
    if rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_err() {
        let problem = "may not be executed; run `chmod +x` on it".to_owned();
        return Err(Error::BadFile { path: path.to_owned(), problem });
    }
    match elf.foreign_machine() {
        Some(machine) => Err(Error::BadFile {
            path: path.to_owned(),
            problem: format!(
                "is built for {machine}, but this machine is {}; build it for this machine",
                std::env::consts::ARCH
            ),
        }),
        None => Ok(()),
    }
}

/// The system that a program is built for, by the beginning of its file, if it is not this machine's.
fn foreign_system(head: &[u8]) -> Option<&'static str> {
    const SYSTEMS: [(&[u8], &str, &str); 3] = [
        (b"\xcf\xfa\xed\xfe", "macos", "macOS"),
        (b"\xca\xfe\xba\xbe", "macos", "macOS"),
        (b"MZ", "windows", "Windows"),
    ];
    let found = SYSTEMS.iter().find(|(magic, ..)| head.starts_with(magic));
    found.filter(|(_, system, _)| *system != std::env::consts::OS).map(|(.., shown)| *shown)
}

/// Why breakpoints do not bind in a binary, according to the file.
pub(super) fn without_debug_info(host: &dyn Host, path: &Path, flags: &str) -> Option<String> {
    let elf = Elf::read(host, path)?;
    let problem = match (elf.has_debug_info(), elf.has_symbols()) {
        (true, _) => return None,
        (false, true) => "has no debug information",
        (false, false) => "is stripped: it has no debug information and no symbols",
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Some(format!("`{name}` {problem}; build it with {flags}"))
}
