//! The debugger of a program of machine code: LLDB's adapter, or GDB's where LLDB has none.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{DUMP_DOES_NOT_RUN, Host, gdb, lldb_dap, program_of_dump, without_debug_info};
use crate::adapter::Runtime;
use crate::adapter::plan::{DapSetup, Quirks, StartRequest};
use crate::error::{Error, Result};
use crate::model::launch::{Attach, Endpoint, Start};

const INSTALL: &str = "install LLDB 19 or newer (`apt-get install lldb-19`, `brew install llvm`) or GDB 14 or newer \
                       (`apt-get install gdb`), or give the path of `lldb-dap` or `gdb` as `executablePath`";

/// Finds LLDB's adapter on the `PATH`, or else GDB, or checks the one that was chosen.
pub(in crate::adapter) async fn locate(
    host: &dyn Host,
    executable: Option<&Path>,
    about: &str,
) -> Result<Runtime> {
    let missing = |problem: String| Error::Environment { problem, remedy: INSTALL.to_owned() };
    if let Some(chosen) = executable {
        // Another program would be run to no end: what it does with the protocol is unknown.
        let found = host.which(&chosen.to_string_lossy());
        let none = || match chosen.file_stem() {
            Some(name) if name == "cargo" => Error::Environment {
                problem: "`executablePath` is the debugger, not Cargo, if there is a `program`".to_owned(),
                remedy: "leave it out: Cargo builds a folder with a `Cargo.toml`".to_owned(),
            },
            _ => missing(format!("no `lldb-dap` or `gdb` at `{}`", chosen.display())),
        };
        let found = host.permitted(&found.filter(|path| is_lldb(path) || is_gdb(path)).ok_or_else(none)?)?;
        let version = if is_gdb(&found) {
            gdb::version(host, &found).await?.map_err(missing)?
        } else {
            lldb_dap::version(&found)
        };
        return Ok(runtime(found, version, "given as `executablePath`"));
    }
    if let Some(found) = lldb_dap::find(host) {
        let found = host.permitted(&found)?;
        let version = lldb_dap::version(&found);
        return Ok(runtime(found, version, "on PATH"));
    }
    let none =
        |why: &str| missing(format!("no debugger for {about} was found: no `lldb-dap` is on PATH, {why}"));
    let found = host.which("gdb").ok_or_else(|| none("and no `gdb`"))?;
    let found = host.permitted(&found)?;
    let version = gdb::version(host, &found).await?.map_err(|problem| none(&format!("and {problem}")))?;
    Ok(runtime(found, version, "on PATH, where no `lldb-dap` is"))
}

fn runtime(executable: PathBuf, version: String, origin: &str) -> Runtime {
    Runtime { executable, version, tag: "native".to_owned(), origin: origin.to_owned() }
}

fn is_lldb(path: &Path) -> bool {
    path.to_string_lossy().contains("/lldb-")
}

/// Whether a debugger is GDB, by its name.
pub(in crate::adapter) fn is_gdb(debugger: &Path) -> bool {
    let name = debugger.file_name().unwrap_or_default().to_string_lossy();
    name.contains("gdb") && !is_lldb(debugger)
}

/// What a debugger is asked to do, by its own arguments.
pub(super) struct Request<'a> {
    pub(super) adapter_id: &'static str,
    pub(super) quirks: &'static Quirks,
    pub(super) start: &'a Start,
    pub(super) arguments: Map<String, Value>,
    pub(super) binary: Option<PathBuf>,
    /// The flags that make debug information.
    pub(super) flags: &'static str,
}

impl Request<'_> {
    pub(super) fn setup(self, host: &dyn Host) -> DapSetup {
        let Self { adapter_id, quirks, start, arguments, binary, flags } = self;
        let launch = match start {
            Start::Launch(launch) => Some(launch),
            Start::Attach(_) => None,
        };
        let is_dump = start.is_dump();
        let request = if launch.is_some() { StartRequest::Launch } else { StartRequest::Attach };
        DapSetup {
            stdin: launch.map(|launch| launch.stdin.clone()).unwrap_or_default(),
            env: launch.map(|launch| launch.env.clone()).unwrap_or_default(),
            stops_on_entry: launch.is_some_and(|launch| launch.stop_on_entry),
            is_local: start.is_on_this_machine(),
            leaves_libraries: launch.is_none_or(|launch| launch.just_my_code),
            is_dump,
            no_code: if is_dump {
                Some(DUMP_DOES_NOT_RUN.to_owned())
            } else {
                binary.as_deref().and_then(|binary| without_debug_info(host, binary, flags))
            },
            binary,
            ..DapSetup::new(adapter_id, request, arguments, quirks)
        }
    }
}

/// The file of machine code that is debugged, as far as it is known.
pub(in crate::adapter) fn binary(host: &dyn Host, start: &Start) -> Result<Option<PathBuf>> {
    Ok(match start {
        Start::Launch(launch) => Some(PathBuf::from(launch.program.name())),
        Start::Attach(Attach { to: Endpoint::Process(pid), .. }) => host.program_of(*pid),
        Start::Attach(Attach { to: Endpoint::Core { file, program }, .. }) => {
            Some(program_of_dump(host, file, program.as_deref())?)
        }
        Start::Attach(_) => None,
    })
}

/// JSON as the arguments of a request.
pub(super) fn object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}

/// Whether code belongs to the system: the C library's debug information names its sources by relative paths, or by those
/// where Debian built it: `/build/glibc-B8Fxhg/glibc-2.36`, `/build/reproducible-path/glibc-2.40`.
pub(in crate::adapter) fn is_system(path: &Path) -> bool {
    let folder = path.strip_prefix("/build").ok().and_then(|inside| inside.iter().next()?.to_str());
    let is_random = |end: &str| {
        end.len() == 6
            && end.chars().all(|letter| letter.is_ascii_alphanumeric())
            && end.contains(|letter: char| !letter.is_ascii_lowercase())
    };
    let is_packaging = |folder: &str| {
        folder == "reproducible-path" || folder.rsplit_once('-').is_some_and(|(_, end)| is_random(end))
    };
    !path.is_absolute() || path.starts_with("/usr") || folder.is_some_and(is_packaging)
}

/// What keeps this machine from attaching by process id.
pub(in crate::adapter) fn attach_obstacle(host: &dyn Host) -> Option<String> {
    host.forbids_tracing().then(|| {
        "attaching by process ID is forbidden by /proc/sys/kernel/yama/ptrace_scope; as root, run `echo 0 > \
         /proc/sys/kernel/yama/ptrace_scope`, or run stillframe as root"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Machine;
    use crate::host::FakeMachine;

    async fn located(programs: &[(&str, &str)], chosen: Option<&str>) -> Result<(String, String)> {
        // No such files, so that nothing is kept from one case to the next.
        let path = |name: &str| PathBuf::from(format!("/no/{name}"));
        let mut machine = FakeMachine::default();
        for (name, printed) in programs {
            machine.files.insert(path(name), Some((*printed).to_owned()));
            machine.path.insert((*name).to_owned(), path(name));
            machine.path.insert(format!("/no/{name}"), path(name));
        }
        let found = locate(&machine, chosen.map(Path::new), "C and C++").await?;
        Ok((found.executable.display().to_string(), found.version))
    }

    const GDB_16: (&str, &str) = ("gdb", "GNU gdb (Debian 16.3-1) 16.3\nPython\n");

    #[tokio::test]
    async fn lldb_is_preferred_and_gdb_is_found_without_it() {
        let both = [("lldb-dap-19", ""), GDB_16];
        let found = |path: &str, version: &str| Ok((path.to_owned(), version.to_owned()));
        assert_eq!(located(&both, None).await, found("/no/lldb-dap-19", "19"));
        assert_eq!(located(&[GDB_16], None).await, found("/no/gdb", "16.3"));
        assert_eq!(located(&both, Some("/no/gdb")).await, found("/no/gdb", "16.3"));
        assert_eq!(located(&both, Some("/no/lldb-dap-19")).await, found("/no/lldb-dap-19", "19"));
    }

    #[tokio::test]
    async fn unsuitable_debuggers_are_reported_with_their_versions() {
        let old = ("gdb", "GNU gdb (Debian 13.1-3) 13.1\nPython\n");
        let table = [
            (&[][..], None, "no `lldb-dap` is on PATH, and no `gdb`"),
            (&[old], None, "and `/no/gdb` is GDB 13.1, but debugging needs GDB 14 or newer"),
            (&[old], Some("/no/gdb"), "`/no/gdb` is GDB 13.1, but debugging needs GDB 14 or newer"),
            (
                &[("gdb", "GNU gdb (GDB) Fedora Linux 15.1-1.fc39\n")],
                None,
                "and `/no/gdb` is GDB 15.1 without Python, which its debug adapter is written in",
            ),
            (&[("gdb", "hello\n")], None, "and `/no/gdb` did not report a version"),
            (&[("cat", "")], Some("/no/cat"), "no `lldb-dap` or `gdb` at `/no/cat`"),
            (&[], Some("cargo"), "`executablePath` is the debugger, not Cargo"),
        ];
        for (programs, chosen, expected) in table {
            let error = located(programs, chosen).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn sources_of_the_system_are_told_from_those_of_a_project() {
        let table = [
            ("/usr/include/c++/14/vector", true),
            ("./nptl/pthread_create.c", true),
            ("/build/glibc-B8Fxhg/glibc-2.36/string/strlen.c", true),
            ("/build/reproducible-path/gcc-14-14.2.0/build/libgcc.c", true),
            ("/build/src/main.cpp", false),
            ("/build/main.c", false),
            ("/build/order-server/main.cpp", false),
            ("/home/ann/build/main.c", false),
        ];
        for (path, expected) in table {
            assert_eq!(is_system(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn the_name_tells_gdb_from_lldb() {
        for (path, expected) in
            [("/no/gdb", true), ("/gdb/bin/lldb-dap", false), ("/opt/gdb-multiarch", true)]
        {
            assert_eq!(is_gdb(Path::new(path)), expected, "{path}");
        }
        assert_eq!(attach_obstacle(&Machine).is_some(), Machine.forbids_tracing());
    }
}
